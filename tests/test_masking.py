"""Masking over ragged action sets: hand-worked numbers and properties."""

import math

import pytest
import torch

from train_ppo import masked_entropy, masked_log_probs

GRAPH = torch.tensor([0, 0, 0, 1, 1])
ALL = torch.ones(5, dtype=torch.bool)


def test_log_probs_by_hand():
    logits = torch.tensor([0.0, math.log(2.0), 5.0, 1.0, 1.0])
    mask = torch.tensor([True, True, False, True, True])
    log_probs = masked_log_probs(logits, mask, GRAPH, 2)
    assert log_probs.exp().tolist() == pytest.approx([1 / 3, 2 / 3, 0.0, 0.5, 0.5])


def test_a_mask_equals_leaving_the_action_out():
    logits = torch.randn(5)
    mask = torch.tensor([True, False, True, True, True])
    short = masked_log_probs(logits[mask], ALL[:4], GRAPH[mask], 2)
    assert torch.allclose(masked_log_probs(logits, mask, GRAPH, 2)[mask], short)


def test_masked_logits_get_no_gradient():
    logits = torch.randn(5, requires_grad=True)
    mask = torch.tensor([True, True, False, True, True])
    log_probs = masked_log_probs(logits, mask, GRAPH, 2)
    (log_probs[0] + log_probs[3] + masked_entropy(log_probs, GRAPH, 2).sum()).backward()
    assert torch.isfinite(logits.grad).all() and logits.grad[2] == 0 and logits.grad[1] != 0


def test_exp_of_the_entropy_of_a_uniform_is_the_number_of_legal_actions():
    mask = torch.tensor([True, True, False, True, True])
    entropy = masked_entropy(masked_log_probs(torch.zeros(5), mask, GRAPH, 2), GRAPH, 2)
    assert entropy.exp().tolist() == pytest.approx([2.0, 2.0])


def test_entropy_by_hand():
    logits = torch.log(torch.tensor([0.25, 0.25, 0.5, 1.0, 1.0]))
    entropy = masked_entropy(masked_log_probs(logits, ALL, GRAPH, 2), GRAPH, 2)
    assert entropy.tolist() == pytest.approx([1.5 * math.log(2), math.log(2)])


def test_a_state_without_a_legal_action_is_not_hidden():
    mask = torch.tensor([False, False, False, True, True])
    assert masked_log_probs(torch.zeros(5), mask, GRAPH, 2)[:3].isnan().all()


def test_huge_logits_do_not_overflow():
    logits = torch.tensor([1e30, -1e30, 0.0, 5e4, 5e4])
    log_probs = masked_log_probs(logits, ALL, GRAPH, 2)
    assert log_probs.exp().tolist() == pytest.approx([1.0, 0.0, 0.0, 0.5, 0.5])
