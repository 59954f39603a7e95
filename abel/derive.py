"""The steps of a stored solution, derived anew: what they were applied to, and what came of it."""

from __future__ import annotations

from sympy import Expr, sstr

from abel.operations import OPERATIONS, Action
from abel.transforms import Transform, unwind
from abel.transitions import State, TransitionCache, land


def rules() -> TransitionCache:
    """How the environment applies actions, with every operation and term that it can offer."""
    return TransitionCache(operations=OPERATIONS, blocks=False, constants="raw", capacity=1000)


def root_at(state: State) -> Expr | None:
    """The root of the original equation where a state reads x = r."""
    solved = state.form.solved_form and not state.goals
    return unwind(state.stack, state.rhs) if solved else None


def term_of(action: Action) -> str | None:
    return None if action.term is None else sstr(action.term)


def push(
    action: Action, recorded: str | None, state: State, cache: TransitionCache
) -> tuple[State, Transform | None] | None:
    """The state after an action, before any goal that it reaches is filled in, and the transform
    that it pushed; None if it cannot be applied. `recorded` is the text that a document has for the
    transform.
    """
    row = OPERATIONS[action.op]
    apply = row.retell(recorded, state.lhs, state.rhs) if row.retell and recorded else None
    after = cache.attempt(action, state.form, apply)
    if after is None:
        return None
    lhs, rhs, transform = after
    return state.push(cache.form(lhs, rhs), transform, row.kind), transform


def take(
    action: Action, recorded: str | None, state: State, cache: TransitionCache
) -> tuple[State, str | None]:
    """Where an action leads, and the transform that it pushed, as text; `recorded` is the text that
    a document has for it.
    """
    pushed = push(action, recorded, state, cache)
    if pushed is None:  # what cannot be applied changes nothing, as in an episode
        return state, None
    there, transform = pushed
    landed = land(there, cache)
    if landed is not there:
        transform = landed.stack[-1]
    return landed, None if transform is None else str(transform)
