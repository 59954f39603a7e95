"""Decoding a policy (greedy, beam), and search without one (breadth first, A*).

A policy is any function from observations to log-probabilities of their legal actions and to
values; it is called once a depth for all equations together, so a network sees large batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush, nsmallest
from typing import Any, NamedTuple

import numpy as np
from sympy import Expr

from abel.env import EnvConfig, as_equation, look
from abel.equation import Equation
from abel.operations import Action, settle
from abel.trace import Trace
from abel.transforms import Goal, unwind
from abel.transitions import Form, Observation, State, TransitionCache, advance, start_of
from abel.verify import Verdict

Policy = Callable[[Sequence[Observation]], tuple[list[np.ndarray], np.ndarray]]
VALUED_AT_ONCE = 2048  # states in a forward pass
MAX_TURN = 3  # steps that a look ahead may take along the greedy path: soon it leads nowhere
MOST_PROMISING = 16  # places that a look ahead goes on from
MAX_FRONTIER = 100_000  # states that a search without a policy keeps waiting, about 3 kB each


class Node(NamedTuple):
    """A partial solution: where it stands and how it got there."""

    place: State
    observation: Observation
    log_prob: float  # of all actions so far
    path: tuple[tuple, ...]  # (observation, action index, form after, transform) of each step
    seen: frozenset  # keys of the places on the way, this one included

    @property
    def form(self) -> Form:
        return self.place.form


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
    """Keep the `width` best partial solutions of every equation, deduplicated by the place reached.

    The score of a path is the paper's: sum of log pi(a_t | s_t) + value_coef * V(s_T)
    - complexity_coef * C(s_T). A step back to a place that the path has seen is passed over,
    so is one that changes nothing; the paper's decoders take them, and so does `loops`. A search
    may start elsewhere on the way from an equation: at its place in `starts`.
    """
    equations = [as_equation(problem) for problem in problems]
    solutions: dict[int, Solution] = {}
    spent = [0] * len(equations)
    reached: list[tuple[tuple, ...]] = [()] * len(equations)
    beams: dict[int, list[Node]] = {}
    for i, equation in enumerate(equations):
        place = start_of(equation, cache) if starts is None else starts[i]
        observation = look(place, config, cache)
        first = Node(place, observation, 0.0, (), frozenset([place.key]))
        beams[i] = [first] if observation.actions else []
        if starts is None and place.form.solved_form:  # it reads x = r already: no step is needed
            verdict = cache.verdict(equation, place.form.rhs)
            if verdict:
                solutions[i] = Solution(equation, True, place.form.rhs, verdict, (), 0)
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
            found, tried = expand(nodes, ahead, config, cache, limit, loops)
            spent[i] += tried
            reached[i] = found[0].path if found else reached[i]
            for node in found:
                if node.form.solved_form:
                    root = unwind(node.place.stack, node.form.rhs)
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
    loops: bool,
) -> tuple[list[Node], int]:
    """Successors at distinct places, most probable first, all of them or as many as `limit`; and
    the number of actions tried.
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
        place, transform = advance(node.place, taken, cache)
        tried += 1
        if place.key in found or (place.key in node.seen and not loops):
            continue
        path = (*node.path, (node.observation, index, place.form, transform))
        observation = look(place, config, cache)
        seen = node.seen | {place.key}
        found[place.key] = Node(place, observation, float(totals[k]), path, seen)
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


def look_ahead(
    policy: Policy,
    problems: Sequence[Any],
    config: EnvConfig,
    cache: TransitionCache,
    rng: np.random.Generator,
    *,
    width: int,
) -> list[Solution]:
    """Leave the greedy path at one of its first steps: of all places two steps from there, those of
    the highest return so far and value are followed by a beam. The shortest solution of each
    problem, if it has any.

    This is for a policy that knows all of a solution but its beginning: dividing by x**2 looks
    useless to it, and what `expand` makes of that looks familiar.
    """
    solutions = []
    for followed in greedy(policy, problems, config, cache):
        equation, spent = followed.equation, followed.transitions
        place = start_of(equation, cache)
        node = Node(place, look(place, config, cache), 0.0, (), frozenset([place.key]))
        last = min(len(followed.path), MAX_TURN)
        turn = int(rng.integers(last, size=2).min()) if last else 0
        for _, index, _, _ in followed.path[:turn]:
            (node,), _ = expand([node], [only(node, index)], config, cache, 1, True)
        chosen, tried = promising(policy, node, config, cache)
        rest = beam(
            policy, [equation] * len(chosen), config, cache,
            width=width, value_coef=0, complexity_coef=0, starts=[n.place for n in chosen],
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
    """The places up to two steps from `node` that look best, and the number of actions tried.

    A value is the return still to come. What was earned for making the equation smaller counts
    too, or large equations would look best: they have that reward ahead of them.
    """
    level, spent = [node], 0
    nearby: dict[int, Node] = {}
    for _ in range(2):
        if level:
            even = [np.zeros(len(each.observation.actions)) for each in level]
            level, tried = expand(level, even, config, cache, None, False)
            spent += tried
        level = [n for n in level if n.observation.actions and not n.form.solved_form]
        for each in level:  # of places that look alike, one will do
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
    if cache.form(*start).solved_form and (verdict := cache.verdict(equation, start[1])):
        return Solution(equation, True, start[1], verdict, (), 0)
    seen: set[tuple[Expr, Expr, tuple[Goal, ...]]] = {(*start, ())}
    # (priority, number, sides and open goals, stack, changes, depth, actions as nested pairs)
    frontier: list[tuple] = [(0.0, 0, (*start, ()), (), 0, 0, None)]
    expansions = transitions = 0
    while frontier and expansions < budget:
        _, _, (lhs, rhs, goals), stack, num_changes, depth, history = heappop(frontier)
        place = State(cache.form(lhs, rhs), stack, goals, num_changes)
        expansions += 1
        tick(expansions)
        for index, action in enumerate(look(place, config, cache).actions):
            after, _ = advance(place, action, cache)
            transitions += 1
            key = (after.form.lhs, after.form.rhs, after.goals)
            if key in seen:
                continue
            seen.add(key)
            actions = (history, action)
            if after.form.solved_form:
                root = unwind(after.stack, after.form.rhs)
                verdict = cache.verdict(equation, root)
                if verdict:
                    path = path_along(start, actions, config, cache)
                    return Solution(equation, True, root, verdict, path, transitions)
            if depth + 1 < config.max_steps:
                priority = depth + 1 + weight * after.form.complexity
                entry = (key, after.stack, after.num_changes, depth + 1, actions)
                heappush(frontier, (priority, transitions, *entry))
        if len(frontier) > MAX_FRONTIER:
            kept = nsmallest(MAX_FRONTIER // 2, frontier)  # sorted, so it is a heap
            seen -= {entry[2] for entry in frontier} - {entry[2] for entry in kept}
            frontier = kept
    return Solution(equation, False, None, None, (), transitions)


def path_along(
    sides: tuple, history: tuple | None, config: EnvConfig, cache: TransitionCache
) -> tuple[tuple, ...]:
    """The path of a `Solution` from the actions taken, given as nested pairs, last outermost."""
    actions: list[Action] = []
    while history is not None:
        history, action = history
        actions.append(action)
    place, path = State(cache.form(*sides)), []
    for action in reversed(actions):
        observation = look(place, config, cache)
        index = observation.actions.index(action)
        place, transform = advance(place, action, cache)
        path.append((observation, index, place.form, transform))
    return tuple(path)
