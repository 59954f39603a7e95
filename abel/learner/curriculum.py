"""Which training equation comes next: a class first, then an equation of it, both by weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

CurriculumName = Literal[
    "uniform", "inverse", "frontier", "balanced", "lp", "lp-optimistic", "ucb-lp", "thompson"
]  # fmt: skip
COUNTS = ("num_solved", "visits", "solved", "failed", "fast", "slow")  # what a checkpoint keeps


def inverse_weights(num_solved: np.ndarray) -> np.ndarray:
    """Probabilities inversely proportional to 1 + how often each equation was solved."""
    weights = 1.0 / (1.0 + num_solved)
    return weights / weights.sum()


def frontier_weights(num_solved: np.ndarray, class_of: np.ndarray) -> np.ndarray:
    """Inverse weights, but classes that have been solved before get at least half of the draws:
    what is within reach is practised, however many equations are out of it.
    """
    weights = inverse_weights(num_solved)
    known = np.bincount(class_of, num_solved)[class_of] > 0
    share = weights[known].sum()
    if 0 < share < 0.5:
        weights *= np.where(known, 0.5 / share, 0.5 / (1 - share))
    return weights


def learning_progress(fast: np.ndarray, slow: np.ndarray) -> np.ndarray:
    """How much each class's success rate has moved lately, up or down."""
    return np.abs(fast - slow)


def lp_weights(progress: np.ndarray, floor: float) -> np.ndarray:
    """Probabilities proportional to progress, each at least `floor` / number of classes."""
    total = progress.sum()
    share = progress / total if total > 0 else np.full(len(progress), 1 / len(progress))
    return floor / len(progress) + (1 - floor) * share


def ucb_weights(progress: np.ndarray, visits: np.ndarray, beta: float) -> np.ndarray:
    """The paper's UCB-LP: w_c proportional to p_c + beta * sqrt(log T / n_c)."""
    visits = np.maximum(visits, 1)
    weights = progress + beta * np.sqrt(np.log(max(visits.sum(), 2)) / visits)
    return weights / weights.sum()


def thompson_class(solved: np.ndarray, failed: np.ndarray, rng: np.random.Generator) -> int:
    """Draw success rates from Beta posteriors; take the class nearest to a coin toss."""
    rate = rng.beta(1 + solved, 1 + failed)
    return int(np.argmax(rate * (1 - rate)))


class Curriculum:
    """Counts of solves and failures, and the draw of the next equation."""

    def __init__(
        self,
        families: Sequence[str],
        *,
        name: CurriculumName,
        ucb_beta: float,
        lp_floor: float,
        seed: int,
    ) -> None:
        self.name, self.ucb_beta, self.lp_floor = name, ucb_beta, lp_floor
        self.classes = sorted(set(families))
        self.class_of = np.array([self.classes.index(family) for family in families])
        self.members = [np.flatnonzero(self.class_of == c) for c in range(len(self.classes))]
        self.num_solved = np.zeros(len(families))
        # Per class: visits, solves and failures (fading), success rates, fast and slow.
        self.visits, self.solved, self.failed, self.fast, self.slow = np.zeros(
            (5, len(self.classes))
        )
        if name == "lp-optimistic":  # what was never tried counts as moving fast
            self.fast += 1.0
        self.rng = np.random.default_rng(seed)

    def class_weights(self) -> np.ndarray:
        """Probability of each class; in the first three kinds the sum over its equations."""
        if self.name in ("inverse", "uniform", "frontier"):
            weights = self.equation_weights(np.arange(len(self.class_of)))
            return np.bincount(self.class_of, weights, len(self.classes))
        if self.name == "balanced":  # means, not sums: a small class is not drowned by a large one
            means = np.array([np.mean(1 / (1 + self.num_solved[m])) for m in self.members])
            return means / means.sum()
        if self.name == "thompson":
            return np.bincount([self.draw_class()], minlength=len(self.classes)).astype(float)
        progress = learning_progress(self.fast, self.slow)
        if self.name in ("lp", "lp-optimistic"):
            return lp_weights(progress, self.lp_floor)
        return ucb_weights(progress, self.visits, self.ucb_beta)

    def equation_weights(self, members: np.ndarray) -> np.ndarray:
        if self.name == "uniform":
            return np.full(len(members), 1 / len(members))
        if self.name == "frontier":
            return frontier_weights(self.num_solved, self.class_of)
        return inverse_weights(self.num_solved[members])

    def draw_class(self) -> int:
        if self.name == "thompson":
            return thompson_class(self.solved, self.failed, self.rng)
        return int(self.rng.choice(len(self.classes), p=self.class_weights()))

    def choose(self) -> int:
        """The index of the next equation."""
        if self.name in ("inverse", "uniform", "frontier"):
            members = np.arange(len(self.class_of))
        else:
            members = self.members[self.draw_class()]
        return int(members[draw(np.cumsum(self.equation_weights(members)), 1, self.rng)[0]])

    def record(self, index: int, solved: bool) -> None:
        """Note how an episode on equation `index` ended."""
        c = self.class_of[index]
        self.num_solved[index] += solved
        self.visits[c] += 1
        self.solved[c] = 0.995 * self.solved[c] + solved
        self.failed[c] = 0.995 * self.failed[c] + (not solved)
        self.fast[c] += 0.05 * (solved - self.fast[c])
        self.slow[c] += 0.005 * (solved - self.slow[c])

    def state_dict(self) -> dict[str, Any]:
        counts = {name: getattr(self, name).tolist() for name in COUNTS}
        return counts | {"rng": self.rng.bit_generator.state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name in COUNTS:
            value = np.array(state[name])
            if value.shape != getattr(self, name).shape:
                raise ValueError(f"{name} of the curriculum is for other training equations")
            setattr(self, name, value)
        self.rng.bit_generator.state = state["rng"]


def draw(cumulative: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Indices [count], with repetition, given the running sum of their weights."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    picks = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], side="right")
    return np.minimum(picks, len(cumulative) - 1)
