"""Curricula beside the default: the paper's inverse frequencies and UCB-LP, and others we tried.

Each weighs the training equations by what `SolveCounts` has seen. Most draw a class first and then
an equation of it. The default, `frontier`, is in train_ppo.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from abel.learner.curriculum import SolveCounts, practicing

CurriculumName = Literal[
    "uniform", "inverse", "frontier", "balanced", "lp", "lp-optimistic", "ucb-lp", "thompson"
]  # fmt: skip
Weights = Callable[[SolveCounts], np.ndarray]  # of all equations
UCB_BETA = 2.0  # exploration weight of ucb-lp
NUM_DRAWS = 100  # that estimate the probabilities of thompson
LP_FLOOR = 0.2  # share that lp spreads evenly over the classes


# ---- Weights ----


def inverse_weights(num_solved: np.ndarray) -> np.ndarray:
    """Probabilities inversely proportional to 1 + how often each equation was solved."""
    weights = 1.0 / (1.0 + num_solved)
    return weights / weights.sum()


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


def balanced_weights(counts: SolveCounts) -> np.ndarray:
    """Classes by the mean of their equations' inverse frequencies, not by the sum: a small class
    is not drowned by a large one. Those that have been solved before get at least half.
    """
    means = np.bincount(counts.class_of, 1 / (1 + counts.num_solved)) / np.bincount(counts.class_of)
    return practicing(means / means.sum(), counts.known)


def thompson_class(solved: np.ndarray, failed: np.ndarray, rng: np.random.Generator) -> int:
    """Draw success rates from Beta posteriors; take the class nearest to a coin toss."""
    rate = rng.beta(1 + solved, 1 + failed)
    return int(np.argmax(rate * (1 - rate)))


# ---- The draw ----


def class_weights(name: CurriculumName, counts: SolveCounts) -> np.ndarray:
    """Probability of each class, where a class is drawn before an equation of it."""
    if name == "balanced":
        return balanced_weights(counts)
    if name == "thompson":  # drawn with a stream of its own: looking must not change the next draw
        rng = np.random.default_rng(0)
        drawn = [thompson_class(counts.solved, counts.failed, rng) for _ in range(NUM_DRAWS)]
        return np.bincount(drawn, minlength=len(counts.classes)) / NUM_DRAWS
    progress = learning_progress(counts.fast, counts.slow)
    if name in ("lp", "lp-optimistic"):
        return lp_weights(progress, LP_FLOOR)
    return ucb_weights(progress, counts.visits, UCB_BETA)


def weigh(name: CurriculumName, counts: SolveCounts) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the equations to draw from, all or those of a class drawn here; their weights."""
    if name in EQUATION_WEIGHTS:
        return counts.everything, EQUATION_WEIGHTS[name](counts)
    if name == "thompson":
        drawn = thompson_class(counts.solved, counts.failed, counts.rng)
    else:
        drawn = int(counts.rng.choice(len(counts.classes), p=class_weights(name, counts)))
    members = counts.members[drawn]
    return members, inverse_weights(counts.num_solved[members])


EQUATION_WEIGHTS: dict[str, Weights] = {
    "uniform": lambda counts: np.full(len(counts.class_of), 1 / len(counts.class_of)),
    "inverse": lambda counts: inverse_weights(counts.num_solved),
}


def class_shares(name: CurriculumName, counts: SolveCounts, frontier: Weights) -> np.ndarray:
    """Probability that the next equation is of each class; `frontier` weighs for the default."""
    weights = (EQUATION_WEIGHTS | {"frontier": frontier}).get(name)
    if weights is None:
        return class_weights(name, counts)
    return np.bincount(counts.class_of, weights(counts), len(counts.classes))
