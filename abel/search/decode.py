"""Decoding a policy: greedy, and a beam.

A policy is any function from observations to log-probabilities of their legal actions and to
values; it is called once per depth for all equations together, so a network sees large batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from abel.encode import Observation
from abel.env import EnvConfig, as_equation, look
from abel.equation import Equation
from abel.trace import Trace
from abel.transitions import Form, State, TransitionCache, advance, start_of
from abel.verify import Verdict

Policy = Callable[[Sequence[Observation]], tuple[list[np.ndarray], np.ndarray]]


class Node(NamedTuple):
    """A partial solution: where it stands and how it got there."""

    state: State
    observation: Observation
    log_prob: float  # of all actions so far
    path: tuple[tuple, ...]  # (observation, action index, form after, transform) of each step
    seen: frozenset  # keys of the states on the way, this one included

    @property
    def form(self) -> Form:
        return self.state.form


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
    *,
    loops: bool = False,
    steer: Steer | None = None,
    starts: Sequence[State] | None = None,
) -> list[Solution]:
    """The most probable action in every state: a beam of width 1."""
    return beam(
        policy, problems, config, cache,
        width=1, value_coef=0, complexity_coef=0, loops=loops, steer=steer, starts=starts,
    )  # fmt: skip


def beam(
    policy: Policy,
    problems: Sequence[Any],
    config: EnvConfig,
    cache: TransitionCache,
    *,
    width: int,
    value_coef: float,
    complexity_coef: float,
    loops: bool = False,
    steer: Steer | None = None,
    starts: Sequence[State] | None = None,
) -> list[Solution]:
    """Keep the `width` best partial solutions of every equation, deduplicated by the state reached.

    The score of a path is the paper's: sum of log pi(a_t | s_t) + value_coef * V(s_T)
    - complexity_coef * C(s_T). A step back to a state that the path has seen is passed over,
    so is one that changes nothing; the paper's decoders take them, and so does `loops`. A search
    may start elsewhere on the way from an equation: at its state in `starts`.
    """
    states = [None] * len(problems) if starts is None else starts
    attempts = [begin(as_equation(p), state, config, cache) for p, state in zip(problems, states)]
    # Where the probability alone ranks the children, those past the width are not even made.
    limit = None if value_coef or complexity_coef else width
    for _ in range(config.max_steps):
        going = {i: a for i, a in enumerate(attempts) if a.nodes and a.solution is None}
        if not going:
            break
        rows = iter(asked([n for a in going.values() for n in a.nodes], policy, steer))
        found = {}
        for i, attempt in going.items():
            ahead = list(islice(rows, len(attempt.nodes)))
            found[i], tried = children(attempt.nodes, ahead, config, cache, limit, loops)
            attempt.note(found[i], tried, cache)
        for i, nodes in best(found, policy, width, value_coef, complexity_coef).items():
            attempts[i].nodes = nodes
    return [attempt.outcome() for attempt in attempts]


def asked(nodes: list[Node], policy: Policy, steer: Steer | None) -> list[np.ndarray]:
    """The log-probabilities of every node's actions, by the policy and whoever steers it."""
    log_probs, _ = policy([node.observation for node in nodes])
    if steer is None:
        return list(log_probs)
    return [steer(node, row) for node, row in zip(nodes, log_probs)]


@dataclass
class Attempt:
    """The beam of one equation, under way."""

    equation: Equation
    nodes: list[Node]
    solution: Solution | None = None
    reached: tuple[tuple, ...] = ()  # the most probable path so far
    spent: int = 0  # actions tried

    def note(self, found: list[Node], tried: int, cache: TransitionCache) -> None:
        """What a step of the beam has found: how far it is, and whether a root is proved."""
        self.spent += tried
        self.reached = found[0].path if found else self.reached
        for node in found:
            if node.form.solved_form:
                root, verdict = cache.judge(self.equation, node.state)
                if verdict:
                    path = node.path
                    self.solution = Solution(self.equation, True, root, verdict, path, self.spent)
                    return

    def outcome(self) -> Solution:
        nothing = Solution(self.equation, False, None, None, self.reached, self.spent)
        return self.solution or nothing


def begin(
    equation: Equation, state: State | None, config: EnvConfig, cache: TransitionCache
) -> Attempt:
    """An attempt at the equation itself, or from a state on the way."""
    node = first_node(start_of(equation, cache) if state is None else state, config, cache)
    attempt = Attempt(equation, [node] if node.observation.actions else [])
    if state is None:
        attempt.note([node], 0, cache)  # it may read x = r already: no step is needed
    return attempt


def first_node(state: State, config: EnvConfig, cache: TransitionCache) -> Node:
    return Node(state, look(state, config, cache), 0.0, (), frozenset([state.key]))


def children(
    nodes: list[Node],
    log_probs: list[np.ndarray],
    config: EnvConfig,
    cache: TransitionCache,
    limit: int | None,
    loops: bool,
) -> tuple[list[Node], int]:
    """The nodes one step on, at distinct states and most probable first: all of them, or as many
    as `limit`. And the number of actions tried.
    """
    totals = np.concatenate([node.log_prob + ahead for node, ahead in zip(nodes, log_probs)])
    owner = np.repeat(np.arange(len(nodes)), [len(ahead) for ahead in log_probs])
    action = np.concatenate([np.arange(len(ahead)) for ahead in log_probs])
    found: dict[tuple, Node] = {}
    tried = 0
    for k in np.argsort(-totals, kind="stable"):
        if not np.isfinite(totals[k]) or (limit is not None and len(found) >= limit):
            break
        node, index = nodes[owner[k]], int(action[k])
        taken = node.observation.actions[index]
        state, transform = advance(node.state, taken, cache)
        tried += 1
        if state.key in found or (state.key in node.seen and not loops):
            continue
        path = (*node.path, (node.observation, index, state.form, transform))
        observation = look(state, config, cache)
        seen = node.seen | {state.key}
        found[state.key] = Node(state, observation, float(totals[k]), path, seen)
    return list(found.values()), tried


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
