"""Sums of rows: equal to gathering and adding, to the last bit, and so are the gradients."""

import numpy as np
import pytest
import torch

from abel.learner.batch import Bags


def gathered(h, rows, bags, num_bags):
    return torch.zeros(num_bags, h.shape[1]).index_add(0, bags, h[rows])


@pytest.mark.parametrize("size", [(7, 5, 20), (300, 90, 2000), (70_000, 66_000, 3000)])
def test_sums_and_gradients_are_those_of_index_add_to_the_last_bit(size):
    num_rows, num_bags, count = size
    rng = np.random.default_rng(0)
    rows, bags = rng.integers(num_rows, size=count), rng.integers(num_bags, size=count)
    h = torch.randn(num_rows, 3, requires_grad=True)
    weight = torch.randn(num_bags, 3)
    tensors = torch.from_numpy(rows), torch.from_numpy(bags)
    expected = gathered(h, *tensors, num_bags)
    (slope,) = torch.autograd.grad((expected * weight).sum(), h)
    found = Bags(rows, bags, num_rows, num_bags).sums(h)
    (found_slope,) = torch.autograd.grad((found * weight).sum(), h)
    assert torch.equal(found, expected) and torch.equal(found_slope, slope)


def test_a_bag_without_rows_sums_to_0_and_turned_twice_it_is_the_same():
    bags = Bags(np.array([2, 0, 2]), np.array([3, 1, 1]), 3, 5)
    h = torch.tensor([[1.0], [10.0], [100.0]])
    assert bags.sums(h).flatten().tolist() == [0, 101, 0, 100, 0]
    assert bags.turned.sums(torch.arange(5.0)[:, None]).flatten().tolist() == [1, 0, 4]
    assert torch.equal(bags.turned.turned.index, bags.index)


def test_no_bags_have_no_sums_and_leave_no_gradient():
    none = np.empty(0, dtype=np.int64)
    h = torch.ones(3, 2, requires_grad=True)
    sums = Bags(none, none, 3, 0).sums(h)
    assert sums.shape == (0, 2)
    assert torch.autograd.grad(sums.sum(), h)[0].tolist() == [[0, 0]] * 3
