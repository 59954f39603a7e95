"""Curricula by hand-worked weights."""

import numpy as np
import pytest

from abel.learner.curriculum import SolveCounts
from abel.paper.curricula import (
    class_shares,
    inverse_weights,
    learning_progress,
    lp_weights,
    thompson_class,
    ucb_weights,
)
from train_ppo import choose, draw, frontier_weights

NAMES = ["uniform", "inverse", "frontier", "balanced", "lp", "lp-optimistic", "ucb-lp", "thompson"]


def counts_of(num_solved: list[int], families: str) -> SolveCounts:
    counts = SolveCounts(list(families), seed=0)
    counts.num_solved[:] = num_solved
    return counts


def shares(name: str, counts: SolveCounts) -> list[float]:
    return class_shares(name, counts, frontier_weights).tolist()


def test_inverse_weights_by_hand():
    assert inverse_weights(np.array([0, 1, 3])).tolist() == pytest.approx([4 / 7, 2 / 7, 1 / 7])


def test_the_frontier_gets_half_of_the_draws_by_hand():
    """Class a was solved: 1/2 + 1/4 of 0.75 + 3 becomes one half, in the same proportion."""
    weights = frontier_weights(counts_of([1, 3, 0, 0, 0], "aabbc"))
    assert weights.tolist() == pytest.approx([1 / 3, 1 / 6, 1 / 6, 1 / 6, 1 / 6])
    even = frontier_weights(counts_of([0, 0, 0], "aab"))  # nothing solved
    assert even.tolist() == pytest.approx([1 / 3] * 3)
    most = frontier_weights(counts_of([1, 0, 0], "aab"))  # more than half already: inverse weights
    assert most.tolist() == pytest.approx([0.2, 0.4, 0.4])


def test_learning_progress_sees_falls_too():
    assert learning_progress(np.array([0.5, 0.1]), np.array([0.2, 0.4])).tolist() == pytest.approx(
        [0.3, 0.3]
    )


def test_lp_weights_keep_a_floor():
    assert lp_weights(np.array([3.0, 1.0]), 0.2).tolist() == pytest.approx([0.7, 0.3])
    assert lp_weights(np.zeros(4), 0.2).tolist() == [0.25] * 4


def test_an_optimistic_start_turns_to_what_was_never_tried():
    counts = SolveCounts(["a", "b"], seed=0, optimistic=True)
    assert shares("lp-optimistic", counts) == [0.5, 0.5]
    for _ in range(200):
        counts.record(0, False)
    assert shares("lp-optimistic", counts)[1] > 0.89


def test_ucb_weights_by_hand():
    weights = ucb_weights(np.array([0.5, 0.0]), np.array([90, 10]), 2.0)
    raw = [0.5 + 2 * np.sqrt(np.log(100) / 90), 2 * np.sqrt(np.log(100) / 10)]
    assert weights.tolist() == pytest.approx([r / sum(raw) for r in raw])
    assert weights[1] > weights[0]  # hardly visited beats some progress


def test_thompson_prefers_the_class_that_is_neither_solved_nor_hopeless():
    rng = np.random.default_rng(0)
    solved, failed = np.array([500.0, 250.0, 0.0]), np.array([0.0, 250.0, 500.0])
    picks = [thompson_class(solved, failed, rng) for _ in range(50)]
    assert picks.count(1) == 50


@pytest.mark.parametrize("name", NAMES)
def test_looking_at_the_shares_does_not_change_the_next_draw(name):
    """Logging Thompson's weights once took numbers from the stream of the draws."""
    counts = SolveCounts(["a"] * 5 + ["b"] * 3, seed=3)
    before = str(counts.rng.bit_generator.state)
    assert sum(shares(name, counts)) == pytest.approx(1)
    assert str(counts.rng.bit_generator.state) == before


def test_thompsons_shares_are_those_of_its_draws():
    counts = SolveCounts(["a", "b"], seed=3)
    for _ in range(400):
        counts.record(0, True)  # a is mastered, b was never tried
    assert shares("thompson", counts)[1] > 0.9


def test_draw_follows_the_weights():
    rng = np.random.default_rng(0)
    counts = np.bincount(draw(np.cumsum([1.0, 0.0, 3.0]), 4000, rng), minlength=3)
    assert counts[1] == 0 and counts[2] / 4000 == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize("name", NAMES)
def test_every_curriculum_draws_and_resumes(name):
    families = ["a"] * 5 + ["b"] * 3
    first, second = SolveCounts(families, seed=3), SolveCounts(families, seed=4)
    for _ in range(60):
        index = choose(name, first)
        first.record(index, index % 2 == 0)
    second.load_state_dict(first.state_dict())
    assert [choose(name, first) for _ in range(30)] == [choose(name, second) for _ in range(30)]
    assert sum(shares(name, first)) == pytest.approx(1)


def test_balanced_weights_do_not_count_equations():
    counts = SolveCounts(["large"] * 98 + ["small"] * 2, seed=0)
    assert shares("balanced", counts) == [0.5, 0.5]
    for index in (98, 98, 98, 99):
        counts.record(index, True)
    for index in range(98):
        counts.record(index, True)
    assert shares("balanced", counts) == pytest.approx([4 / 7, 3 / 7])  # 1/2 against 3/8


@pytest.mark.parametrize("name", ["frontier", "balanced"])
def test_what_was_solved_before_gets_half_of_the_draws(name):
    counts = SolveCounts(["near"] + ["far"] * 4 + ["out of reach"] * 5, seed=0)
    for _ in range(9):
        counts.record(0, True)
    assert counts.known.tolist() == [False, True, False]
    rest = [0.5 * 4 / 9, 0.5 * 5 / 9] if name == "frontier" else [0.25, 0.25]
    assert shares(name, counts) == pytest.approx([rest[0], 0.5, rest[1]])


def test_inverse_sampling_turns_to_what_is_not_mastered():
    counts = SolveCounts(["a"] * 4, seed=0)
    for _ in range(200):
        counts.record(0, True)
    assert [choose("inverse", counts) for _ in range(300)].count(0) < 5
