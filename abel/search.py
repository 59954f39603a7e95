"""Decoding a policy: greedy and beam search, many equations in lockstep.

A policy is any function from observations to log-probabilities of their legal actions and to
values; it is called once a depth for all equations together, so a network sees large batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from abel.actions import CHANGES, settle
from abel.cov import Transform, open_goals, unwind
from abel.env import EnvConfig, as_equation
from abel.equation import Equation
from abel.trace import Trace
from abel.transitions import Form, Observation, TransitionCache
from abel.verify import Verdict

Policy = Callable[[Sequence[Observation]], tuple[list[np.ndarray], np.ndarray]]


class Node(NamedTuple):
    """A partial solution: where it stands and how it got there."""

    form: Form
    observation: Observation
    stack: tuple[Transform, ...]
    num_cov: int
    log_prob: float  # of all actions so far
    path: tuple[tuple, ...]  # (observation, action index, form after, transform) of each step
    seen: frozenset  # states (form, open goals) on the way, this one included


@dataclass(frozen=True)
class Solution:
    """What a search found for one equation; `path` is empty where it found nothing."""

    equation: Equation
    solved: bool
    root: Any
    verdict: Verdict | None
    path: tuple[tuple, ...]
    transitions: int  # environment transitions spent

    def trace(self) -> Trace:
        steps = [(o.actions[a], form, transform) for o, a, form, transform in self.path]
        return Trace.of(self.equation, steps, self.root, self.verdict)


def greedy(
    policy: Policy, problems: Sequence[Any], config: EnvConfig, cache: TransitionCache
) -> list[Solution]:
    """The most probable action in every state: a beam of width 1."""
    return beam(policy, problems, config, cache, width=1, value_coef=0, complexity_coef=0)


def beam(
    policy: Policy,
    problems: Sequence[Any],
    config: EnvConfig,
    cache: TransitionCache,
    *,
    width: int,
    value_coef: float,
    complexity_coef: float,
) -> list[Solution]:
    """Keep the `width` best partial solutions of every equation, deduplicated by the form reached.

    The score of a path is the paper's: sum of log pi(a_t | s_t) + value_coef * V(s_T)
    - complexity_coef * C(s_T).
    """
    equations = [as_equation(problem) for problem in problems]
    solutions: dict[int, Solution] = {}
    spent = [0] * len(equations)
    beams: dict[int, list[Node]] = {}
    for i, equation in enumerate(equations):
        form = cache.form(*settle(equation.lhs, equation.rhs))
        observation = cache.observe(form, config.cap > 0, config.max_goals > 0)
        beams[i] = (
            [Node(form, observation, (), 0, 0.0, (), frozenset([(form, ())]))]
            if observation.actions
            else []
        )
    for _ in range(config.max_steps):
        beams = {i: nodes for i, nodes in beams.items() if nodes and i not in solutions}
        if not beams:
            break
        log_probs, _ = policy([node.observation for nodes in beams.values() for node in nodes])
        successors: dict[int, list[Node]] = {}
        start = 0
        for i, nodes in beams.items():
            ahead = log_probs[start : start + len(nodes)]
            start += len(nodes)
            limit = None if value_coef or complexity_coef else width
            found = expand(nodes, ahead, config, cache, limit)
            spent[i] += len(found)
            for node in found:
                if node.form.solved_form:
                    root = unwind(node.stack, node.form.rhs)
                    verdict = cache.verdict(equations[i], root)
                    if verdict:
                        solutions[i] = Solution(
                            equations[i], True, root, verdict, node.path, spent[i]
                        )
                        break
            successors[i] = found
        beams = best(successors, policy, width, value_coef, complexity_coef)
    return [
        solutions.get(i, Solution(equation, False, None, None, (), spent[i]))
        for i, equation in enumerate(equations)
    ]


def expand(
    nodes: list[Node],
    log_probs: list[np.ndarray],
    config: EnvConfig,
    cache: TransitionCache,
    limit: int | None,
) -> list[Node]:
    """Successors with distinct states, most probable first; all of them, or as many as `limit`.

    A state on the way to a node is none of its successors: decoding never goes in circles, and
    steps that change nothing are passed over.
    """
    totals = np.concatenate([node.log_prob + ahead for node, ahead in zip(nodes, log_probs)])
    owner = np.repeat(np.arange(len(nodes)), [len(ahead) for ahead in log_probs])
    action = np.concatenate([np.arange(len(ahead)) for ahead in log_probs])
    found: dict[tuple, Node] = {}
    for k in np.argsort(-totals, kind="stable"):
        if not np.isfinite(totals[k]) or (limit is not None and len(found) >= limit):
            break
        node, index = nodes[owner[k]], int(action[k])
        form, transform = node.form.successors[index] or cache.successor(node.form, index)
        num_cov = node.num_cov + (
            transform is not None and node.observation.actions[index].op in CHANGES
        )
        stack = node.stack if transform is None else (*node.stack, transform)
        if form.solved_form and open_goals(stack):
            form, stack = cache.reach_goal(form, stack)
            transform = stack[-1]
        state = form, open_goals(stack)
        if state in found or state in node.seen:
            continue
        observation = cache.observe(form, num_cov < config.cap, len(state[1]) < config.max_goals)
        path = (*node.path, (node.observation, index, form, transform))
        seen = node.seen | {state}
        found[state] = Node(form, observation, stack, num_cov, float(totals[k]), path, seen)
    return list(found.values())


def best(
    successors: dict[int, list[Node]],
    policy: Policy,
    width: int,
    value_coef: float,
    complexity_coef: float,
) -> dict[int, list[Node]]:
    """The `width` nodes of highest score for each equation."""
    everyone = [node for nodes in successors.values() for node in nodes]
    alive = [node for node in everyone if node.observation.actions]
    values = np.zeros(len(alive))
    if value_coef and alive:
        values = policy([node.observation for node in alive])[1]
    score = {
        id(node): node.log_prob + value_coef * value - complexity_coef * node.form.complexity
        for node, value in zip(alive, values)
    }
    return {
        i: sorted((n for n in nodes if id(n) in score), key=lambda n: -score[id(n)])[:width]
        for i, nodes in successors.items()
    }
