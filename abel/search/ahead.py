"""Looking ahead: off the greedy path for two steps, to what the policy values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from abel.encode import Observation
from abel.env import EnvConfig
from abel.search.decode import Node, Policy, Solution, beam, children, first_node, greedy
from abel.transitions import TransitionCache, start_of

VALUED_AT_ONCE = 2048  # states in a forward pass
MAX_TURN = 3  # steps that a look ahead may take along the greedy path: soon it leads nowhere
MOST_PROMISING = 16  # states that a look ahead goes on from


def look_ahead(
    policy: Policy,
    problems: Sequence[Any],
    config: EnvConfig,
    cache: TransitionCache,
    rng: np.random.Generator,
    *,
    width: int,
) -> list[Solution]:
    """Leave the greedy path at one of its first steps: of all states two steps from there, those of
    the highest return so far and value are followed by a beam. The shortest solution of each
    problem, if it has any.

    This is for a policy that knows all of a solution but its beginning: dividing by x**2 looks
    useless to it, and what `expand` makes of that looks familiar.
    """
    solutions = []
    for followed in greedy(policy, problems, config, cache):
        equation, spent = followed.equation, followed.transitions
        node = first_node(start_of(equation, cache), config, cache)
        last = min(len(followed.path), MAX_TURN)
        turn = int(rng.integers(last, size=2).min()) if last else 0
        for _, index, _, _ in followed.path[:turn]:
            (node,), _ = children([node], [only(node, index)], config, cache, 1, True)
        chosen, tried = promising(policy, node, config, cache)
        rest = beam(
            policy, [equation] * len(chosen), config, cache,
            width=width, value_coef=0, complexity_coef=0, starts=[n.state for n in chosen],
        )  # fmt: skip
        spent += tried + sum(solution.transitions for solution in rest)
        found = [
            replace(solution, path=start.path + solution.path)
            for start, solution in zip(chosen, rest)
            if solution.solved and len(start.path + solution.path) <= config.max_steps
        ]
        nothing = Solution(equation, False, None, None, (), 0)
        shortest = min(found, key=lambda solution: len(solution.path), default=nothing)
        solutions.append(replace(shortest, transitions=spent))
    return solutions


def promising(
    policy: Policy, node: Node, config: EnvConfig, cache: TransitionCache
) -> tuple[list[Node], int]:
    """The states up to two steps from `node` that look best, and the number of actions tried.

    A value is the return still to come. What was earned for making the equation smaller counts
    too, or large equations would look best: they have that reward ahead of them.
    """
    level, spent = [node], 0
    nearby: dict[int, Node] = {}
    for _ in range(2):
        if level:
            even = [np.zeros(len(each.observation.actions)) for each in level]
            level, tried = children(level, even, config, cache, None, False)
            spent += tried
        level = [n for n in level if n.observation.actions and not n.form.solved_form]
        for each in level:  # of states that look alike, one will do
            nearby.setdefault(int(each.observation.subtrees[0]), each)
    nodes = list(nearby.values())
    values = values_of(policy, [each.observation for each in nodes])
    sizes = np.array([each.form.complexity for each in nodes])
    order = np.argsort(config.complexity_coef * sizes - values, kind="stable")
    return [nodes[k] for k in order[:MOST_PROMISING]], spent


def only(node: Node, index: int) -> np.ndarray:
    """Log-probabilities that leave one action."""
    return np.where(np.arange(len(node.observation.actions)) == index, 0.0, -np.inf)


def values_of(policy: Policy, observations: Sequence[Observation]) -> np.ndarray:
    """The policy's values; equal trees have one value and are looked at once."""
    if not observations:
        return np.zeros(0)
    trees = [observation.subtrees[0] for observation in observations]
    _, first, which = np.unique(trees, return_index=True, return_inverse=True)
    parts = np.array_split(first, len(first) // VALUED_AT_ONCE + 1)
    return np.concatenate([policy([observations[i] for i in part])[1] for part in parts])[which]
