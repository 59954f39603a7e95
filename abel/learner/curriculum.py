"""What a curriculum goes by: how often each equation and each class was tried and solved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

COUNTS = ("num_solved", "visits", "solved", "failed", "fast", "slow")  # what a checkpoint keeps


def practicing(weights: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Probabilities in which what is known has at least half; the rest keeps its proportions."""
    share = weights[known].sum()
    if 0 < share < 0.5:
        weights = weights * np.where(known, 0.5 / share, 0.5 / (1 - share))
    return weights


class SolveCounts:
    """Counts of solves and failures, with the random stream that equations are drawn with."""

    def __init__(self, families: Sequence[str], seed: int, optimistic: bool = False) -> None:
        self.classes = sorted(set(families))
        self.class_of = np.array([self.classes.index(family) for family in families])
        self.everything = np.arange(len(families))
        self.members = [np.flatnonzero(self.class_of == c) for c in range(len(self.classes))]
        self.num_solved = np.zeros(len(families))
        # Per class: visits, solves and failures (fading), success rates, fast and slow.
        self.visits, self.solved, self.failed, self.fast, self.slow = np.zeros(
            (5, len(self.classes))
        )
        if optimistic:  # what was never tried counts as moving fast
            self.fast += 1.0
        self.rng = np.random.default_rng(seed)

    @property
    def known(self) -> np.ndarray:
        """Which classes have been solved before, by any of their equations."""
        return np.bincount(self.class_of, self.num_solved, len(self.classes)) > 0

    def record(self, index: int, solved: bool) -> None:
        """Note how an episode on equation `index` ended."""
        c = self.class_of[index]
        self.num_solved[index] += solved
        self.visits[c] += 1
        # Solves and failures fade over about 200 episodes, rates follow the last 20 and 200.
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
