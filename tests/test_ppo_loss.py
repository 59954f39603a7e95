"""The losses and the advantages, against numbers worked by hand."""

import math

import numpy as np
import pytest
import torch

from train_ppo import gae, imitation_weights, policy_shift, ppo_loss, replay_loss, value_loss


def loss_of(ratio: float, advantage: float) -> tuple[float, float]:
    """The loss at one ratio, and its gradient with respect to the new log-probability."""
    new = torch.tensor([math.log(ratio)], requires_grad=True)
    loss = ppo_loss(new, torch.zeros(1), torch.tensor([advantage]), 0.2)
    loss.backward()
    return loss.item(), new.grad.item()


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "gradient"),
    [
        (1.0, 2.0, -2.0, -2.0),  # inside the range: plain policy gradient
        (1.5, 2.0, -2.4, 0.0),  # good and already likelier by more than 20%: nothing more to gain
        (0.5, 2.0, -1.0, -1.0),  # good but less likely: pulled back in full
        (0.5, -2.0, 1.6, 0.0),  # bad and already unlikelier: nothing more
        (1.5, -2.0, 3.0, 3.0),  # bad but likelier: pushed down in full
    ],
)
def test_clipping_on_both_signs_of_the_advantage(ratio, advantage, loss, gradient):
    assert loss_of(ratio, advantage) == pytest.approx((loss, gradient), abs=1e-6)


def test_ratio_one_clips_nothing_and_moves_nothing():
    kl, share = policy_shift(torch.zeros(4), torch.zeros(4), 0.2)
    assert kl == 0 and share == 0


def test_kl_and_clip_share_by_hand():
    new = torch.log(torch.tensor([1.5, 1.0]))
    kl, share = policy_shift(new, torch.zeros(2), 0.2)
    assert kl.item() == pytest.approx((0.5 - math.log(1.5)) / 2) and share == 0.5


def test_value_loss_is_half_the_mean_squared_error():
    values, returns = torch.tensor([2.0, 1.0]), torch.tensor([1.5, 3.0])
    assert value_loss(values, returns) == pytest.approx(0.5 * (0.25 + 4.0) / 2)


def column(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers)[:, None]


def test_gae_by_hand_over_a_truncation():
    rewards, values = column(1.0, 0.0, 2.0), column(0.5, 1.0, 0.0)
    next_values = column(1.0, 4.0, 3.0)  # step 1 was truncated: 4 is its own last state's value
    terminated = column(0, 0, 0).bool()
    ended = column(0, 1, 0).bool()
    result = gae(rewards, values, next_values, terminated, ended, 0.5, 0.5)
    last = 2.0 + 0.5 * 3.0 - 0.0
    middle = 0.0 + 0.5 * 4.0 - 1.0  # bootstraps, but the trace stops
    first = (1.0 + 0.5 * 1.0 - 0.5) + 0.25 * middle
    assert result[:, 0].tolist() == pytest.approx([first, middle, last])


def test_termination_stops_the_bootstrap():
    args = (column(1.0), column(0.5), column(100.0))
    yes, no = column(1).bool(), column(0).bool()
    assert gae(*args, yes, yes, 0.9, 0.95).item() == pytest.approx(0.5)
    assert gae(*args, no, yes, 0.9, 0.95).item() == pytest.approx(0.5 + 90)


def test_lambda_one_is_the_return_minus_the_value():
    rewards, values = torch.randn(6, 3), torch.randn(6, 3)
    ends = torch.zeros(6, 3, dtype=torch.bool)
    ends[-1] = True
    next_values = torch.cat([values[1:], torch.zeros(1, 3)])
    advantages = gae(rewards, values, next_values, ends, ends, 0.9, 1.0)
    returns = torch.zeros(3)
    for t in reversed(range(6)):
        returns = rewards[t] + 0.9 * returns
        assert torch.allclose(advantages[t], returns - values[t], atol=1e-5)


def test_replay_loss_is_the_mean_negative_log_likelihood():
    assert replay_loss(torch.log(torch.tensor([0.5, 0.25]))) == pytest.approx(1.5 * math.log(2))


def test_self_imitation_draws_what_turned_out_better():
    outcomes, values = np.array([1.0, 1.0, 0.2]), np.array([0.0, 0.5, 0.9])
    assert imitation_weights(outcomes, values).tolist() == [1.0, 0.25, 0.0]
    assert imitation_weights(values, values).tolist() == [1.0, 1.0, 1.0]


def test_one_update_moves_a_toy_policy_the_right_way():
    logits = torch.zeros(3, requires_grad=True)
    old = torch.full((3,), -math.log(3))
    loss = ppo_loss(logits.log_softmax(-1), old, torch.tensor([1.0, 0.0, -1.0]), 0.2)
    loss.backward()
    with torch.no_grad():
        moved = (logits - logits.grad).softmax(-1)
    assert moved[0] > 1 / 3 > moved[2]
