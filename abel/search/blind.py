"""Search without a policy: breadth first, and A* by complexity."""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush, nsmallest
from typing import Any, NamedTuple

from sympy import Expr

from abel.env import EnvConfig, as_equation, look
from abel.operations import Action, settle
from abel.search.decode import Solution
from abel.transforms import Pending, Transform
from abel.transitions import State, TransitionCache, advance

Key = tuple[Expr, Expr, tuple[Pending, ...]]  # two sides and the open goals
MAX_FRONTIER = 100_000  # states that wait, about 3 kB each; past it the worse half is dropped


class Waiting(NamedTuple):
    """A state in the queue, as its two sides and the way to it, so that the cache may forget it."""

    priority: float
    number: int  # of the transition that led here, so that ties are in order
    key: Key
    stack: tuple[Transform, ...]
    num_changes: int
    depth: int
    actions: tuple | None  # nested pairs, the last action outermost

    def state(self, cache: TransitionCache) -> State:
        lhs, rhs, goals = self.key
        return State(cache.form(lhs, rhs), self.stack, goals, self.num_changes)


def search(
    problem: Any,
    config: EnvConfig,
    cache: TransitionCache,
    *,
    budget: int,
    weight: float,
    max_transitions: float = math.inf,
    tick: Callable[[int], None] = lambda expansions: None,
) -> Solution:
    """Expand states by depth + weight * C until a root is proved, `budget` states are expanded or
    `max_transitions` steps are tried.

    Weight 0 is breadth first; otherwise it is A* with the complexity as its guess of the steps
    that are left.
    """
    equation = as_equation(problem)
    start = settle(equation.lhs, equation.rhs)
    if cache.form(*start).solved_form and (verdict := cache.verdict(equation, start[1])):
        return Solution(equation, True, start[1], verdict, (), 0)
    frontier = [Waiting(0.0, 0, (*start, ()), (), 0, 0, None)]
    seen: set[Key] = {frontier[0].key}
    expansions = transitions = 0
    while frontier and expansions < budget and transitions < max_transitions:
        waiting = heappop(frontier)
        state = waiting.state(cache)
        expansions += 1
        tick(expansions)
        for action in look(state, config, cache).actions:
            if transitions >= max_transitions:
                break
            after, _ = advance(state, action, cache)
            transitions += 1
            key = after.key
            if key in seen:
                continue
            seen.add(key)
            actions, depth = (waiting.actions, action), waiting.depth + 1
            if after.form.solved_form:
                root, verdict = cache.judge(equation, after)
                if verdict:
                    path = path_along(start, actions, config, cache)
                    return Solution(equation, True, root, verdict, path, transitions)
            if depth < config.max_steps:
                priority = depth + weight * after.form.complexity
                stack, num_changes = after.stack, after.num_changes
                entry = Waiting(priority, transitions, key, stack, num_changes, depth, actions)
                heappush(frontier, entry)
        if len(frontier) > MAX_FRONTIER:
            kept = nsmallest(MAX_FRONTIER // 2, frontier)  # sorted, so it is a heap
            seen -= {entry.key for entry in frontier} - {entry.key for entry in kept}
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
    state, path = State(cache.form(*sides)), []
    for action in reversed(actions):
        observation = look(state, config, cache)
        index = observation.actions.index(action)
        state, transform = advance(state, action, cache)
        path.append((observation, index, state.form, transform))
    return tuple(path)
