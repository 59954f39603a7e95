"""Decoding a policy (greedy, beam), and search without one (breadth first, A*).

A policy is any function from observations to log-probabilities of their legal actions and to
values; it is called once a depth for all equations together, so a network sees large batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, nsmallest
from typing import Any, NamedTuple

import numpy as np

from abel.actions import Action, settle
from abel.cov import Transform, unwind
from abel.env import EnvConfig, as_equation
from abel.equation import Equation
from abel.trace import Trace
from abel.transitions import Form, Observation, TransitionCache
from abel.verify import Verdict

Policy = Callable[[Sequence[Observation]], tuple[list[np.ndarray], np.ndarray]]
MAX_FRONTIER = 100_000  # states that a search without a policy keeps waiting, about 3 kB each


class Node(NamedTuple):
    """A partial solution: where it stands and how it got there."""

    form: Form
    observation: Observation
    stack: tuple[Transform, ...]
    num_cov: int
    log_prob: float  # of all actions so far
    path: tuple[tuple, ...]  # (observation, action index, form after, transform) of each step


# Changes a policy's log-probabilities in a node, to take a decision out of its hands.
Steer = Callable[[Node, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Solution:
    """What a search found for one equation.

    `path` leads to the root; where a beam found none, it is its most probable path at the end.
    """

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
    policy: Policy,
    problems: Sequence[Any],
    config: EnvConfig,
    cache: TransitionCache,
    steer: Steer | None = None,
) -> list[Solution]:
    """The most probable action in every state: a beam of width 1."""
    return beam(
        policy, problems, config, cache, width=1, value_coef=0, complexity_coef=0, steer=steer
    )


def beam(
    policy: Policy,
    problems: Sequence[Any],
    config: EnvConfig,
    cache: TransitionCache,
    *,
    width: int,
    value_coef: float,
    complexity_coef: float,
    steer: Steer | None = None,
) -> list[Solution]:
    """Keep the `width` best partial solutions of every equation, deduplicated by the form reached.

    The score of a path is the paper's: sum of log pi(a_t | s_t) + value_coef * V(s_T)
    - complexity_coef * C(s_T).
    """
    equations = [as_equation(problem) for problem in problems]
    solutions: dict[int, Solution] = {}
    spent = [0] * len(equations)
    reached: list[tuple[tuple, ...]] = [()] * len(equations)
    beams: dict[int, list[Node]] = {}
    for i, equation in enumerate(equations):
        form = cache.form(*settle(equation.lhs, equation.rhs))
        observation = cache.observe(form, config.max_cov > 0)
        beams[i] = [Node(form, observation, (), 0, 0.0, ())] if observation.actions else []
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
            if steer is not None:
                ahead = [steer(node, each) for node, each in zip(nodes, ahead)]
            limit = None if value_coef or complexity_coef else width
            found = expand(nodes, ahead, config, cache, limit)
            spent[i] += len(found)
            reached[i] = found[0].path if found else reached[i]
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
        solutions.get(i, Solution(equation, False, None, None, reached[i], spent[i]))
        for i, equation in enumerate(equations)
    ]


def expand(
    nodes: list[Node],
    log_probs: list[np.ndarray],
    config: EnvConfig,
    cache: TransitionCache,
    limit: int | None,
) -> list[Node]:
    """Successors with distinct forms, most probable first; all of them, or as many as `limit`."""
    totals = np.concatenate([node.log_prob + ahead for node, ahead in zip(nodes, log_probs)])
    owner = np.repeat(np.arange(len(nodes)), [len(ahead) for ahead in log_probs])
    action = np.concatenate([np.arange(len(ahead)) for ahead in log_probs])
    found: dict[Form, Node] = {}
    for k in np.argsort(-totals, kind="stable"):
        if not np.isfinite(totals[k]) or (limit is not None and len(found) >= limit):
            break
        node, index = nodes[owner[k]], int(action[k])
        form, transform = node.form.successors[index] or cache.successor(node.form, index)
        if form in found:
            continue
        num_cov = node.num_cov + (
            transform is not None and node.observation.actions[index].op == "cov"
        )
        stack = node.stack if transform is None else (*node.stack, transform)
        observation = cache.observe(form, num_cov < config.max_cov)
        path = (*node.path, (node.observation, index, form, transform))
        found[form] = Node(form, observation, stack, num_cov, float(totals[k]), path)
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


# ---- Without a policy ----


def search(
    problem: Any,
    config: EnvConfig,
    cache: TransitionCache,
    *,
    budget: int,
    weight: float,
    tick: Callable[[int], None] = lambda expansions: None,
) -> Solution:
    """Expand states by depth + weight * C until a root is proved or `budget` states are expanded.

    Weight 0 is breadth first; otherwise it is A* with the complexity as its guess of the steps
    that are left. A state waits as its two sides and the way to it, so that the cache may forget
    it; past MAX_FRONTIER waiting states the worse half is dropped.
    """
    equation = as_equation(problem)
    start = settle(equation.lhs, equation.rhs)
    seen = {start}
    # (priority, number, sides, stack, changes of variables, depth, actions as nested pairs)
    frontier: list[tuple] = [(0.0, 0, start, (), 0, 0, None)]
    expansions = transitions = 0
    while frontier and expansions < budget:
        _, _, sides, stack, num_cov, depth, history = heappop(frontier)
        form = cache.form(*sides)
        observation = cache.observe(form, num_cov < config.max_cov)
        expansions += 1
        tick(expansions)
        for index, action in enumerate(observation.actions):
            after, transform = form.successors[index] or cache.successor(form, index)
            transitions += 1
            key = (after.lhs, after.rhs)
            if key in seen:
                continue
            seen.add(key)
            stack_after = stack if transform is None else (*stack, transform)
            actions = (history, action)
            if after.solved_form:
                root = unwind(stack_after, after.rhs)
                verdict = cache.verdict(equation, root)
                if verdict:
                    path = retrace(start, actions, config, cache)
                    return Solution(equation, True, root, verdict, path, transitions)
            if depth + 1 < config.max_steps:
                count = num_cov + (transform is not None and action.op == "cov")
                priority = depth + 1 + weight * after.complexity
                heappush(
                    frontier, (priority, transitions, key, stack_after, count, depth + 1, actions)
                )
        if len(frontier) > MAX_FRONTIER:
            kept = nsmallest(MAX_FRONTIER // 2, frontier)  # sorted, so it is a heap
            seen -= {entry[2] for entry in frontier} - {entry[2] for entry in kept}
            frontier = kept
    return Solution(equation, False, None, None, (), transitions)


def retrace(
    sides: tuple, history: tuple | None, config: EnvConfig, cache: TransitionCache
) -> tuple[tuple, ...]:
    """The path of a `Solution` from the actions taken, given as nested pairs, last outermost."""
    actions: list[Action] = []
    while history is not None:
        history, action = history
        actions.append(action)
    form, num_cov, path = cache.form(*sides), 0, []
    for action in reversed(actions):
        observation = cache.observe(form, num_cov < config.max_cov)
        index = observation.actions.index(action)
        form, transform = form.successors[index] or cache.successor(form, index)
        num_cov += transform is not None and action.op == "cov"
        path.append((observation, index, form, transform))
    return tuple(path)
