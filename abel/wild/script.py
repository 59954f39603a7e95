"""The script of open_world: sensible steps in order of preference, tried by a narrow beam.

No learning: it says which equations have an honest route with the rows of the preset `world`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from sympy import (
    Abs,
    Add,
    Expr,
    LambertW,
    Mul,
    Pow,
    atan,
    cos,
    exp,
    log,
    preorder_traversal,
    sin,
    tan,
)

from abel.datasets import textbook
from abel.encode import Observation
from abel.env import SUPPLIED, EnvConfig
from abel.env import WORLD as ROWS
from abel.equation import ZERO, Equation, X, has_x, split_factor, split_summand
from abel.operations import Action
from abel.operations.let import lets
from abel.operations.world.factoring import vanishing
from abel.rewrite import has_exponential
from abel.search import Node, Solution, beam
from abel.transitions import TransitionCache

WIDTH, LAST = 6, 40.0  # of the beam; how unlikely an action is that no rule proposes
WORLD = EnvConfig(
    terms="blocks", relabel=False, branches=True, substitutions="general", max_steps=20,
    cache_size=5000, tan=True, resolvent=True, max_changes=8, **SUPPLIED, **ROWS,
)  # fmt: skip


def rules(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """What to do next, best first; some may not be legal."""
    nodes = [n for side in (lhs, rhs) for n in preorder_traversal(side) if has_x(n)]
    for node in reversed([n for n in nodes if isinstance(n, Abs)]):
        yield from (Action("abs plus", node), Action("abs minus", node))
    yield from (Action("split", factor) for factor in vanishing(lhs, rhs))
    yield from (Action(name) for name in ("match-power", "lambert"))
    yield from isolated(lhs, rhs)
    yield from (Action(name) for name in ("factor", "sum-to-product", "let-root"))
    logs = [n for n in nodes if isinstance(n, log)]
    if any(isinstance(n.args[0], Mul | Pow) for n in logs):
        yield Action("split-logs")
    yield from alike(lhs, rhs)
    if any(isinstance(n, (sin, cos, tan)) for n in nodes):
        yield Action("expand-angles")
    if isinstance(rhs, Pow) or isinstance(split_factor(rhs)[1], Pow):
        yield from (Action("undo-power", n) for n in nodes if isinstance(n, Pow))
    if len(lets(lhs, rhs)) == 0:
        yield from radicals(lhs, rhs)
    yield from textbook.general_proposals(lhs, rhs)
    yield from (Action(name) for name in ("expand", "collect"))
    yield from radicals(lhs, rhs)
    if logs:
        yield Action("exp")
    if any(isinstance(n, exp) or (isinstance(n, Pow) and has_x(n.exp)) for n in nodes):
        yield Action("log")


def isolated(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """One function of x alone on the left."""
    core = split_factor(lhs)[1]
    if has_x(rhs):
        powers = [n for n in Mul.make_args(split_factor(rhs)[1]) if isinstance(n, Pow)]
        if isinstance(core, Pow) or core == X:
            yield from (Action("div", n) for n in powers)
        return
    if rhs is not ZERO:
        yield from (Action("undo-power", n) for n in Mul.make_args(core) if isinstance(n, Pow))
    if isinstance(core, Pow):
        yield Action("undo-power", core)
    if isinstance(lhs, (atan, tan)):
        yield Action({atan: "tan", tan: "atan"}[type(lhs)])
    if isinstance(lhs, (sin, cos)):
        yield Action("branch")
    if isinstance(lhs, LambertW):
        yield Action("undo-lambert")


def alike(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """The same kind of function, or an inverse, on both sides."""
    left, right = split_factor(lhs)[1], split_factor(rhs)[1]
    if has_exponential(left) and has_exponential(right):
        yield Action("log")
    if isinstance(left, log) or sum(isinstance(n, log) for n in Add.make_args(lhs)) > 1:
        yield Action("exp")
    if type(lhs).__name__ in ("asin", "acos", "atan"):
        yield from (Action(name) for name in ("sin", "cos", "tan"))
    if has_x(rhs) and isinstance(right, exp):
        yield Action("div", right)


def radicals(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """Where x stands under roots and beside them, a root is isolated and raised to a power."""
    for side, other in ((lhs, rhs), (rhs, lhs)):
        free, rest = split_summand(side)
        terms = [term for term in Add.make_args(rest) if has_x(term)]
        roots = [term for term in terms if is_root(term)]
        if not roots or not (len(terms) > 1 or has_x(other)):
            continue
        if len(terms) == 1 and free is ZERO:
            power = next(f for f in Mul.make_args(roots[0]) if has_x(f) and is_root(f))
            yield Action("square") if power.exp.q == 2 else Action("undo-power", power)
            yield Action("undo-power", power)
        else:
            yield from (Action("sub", term) for term in (*terms, free) if term is not roots[0])


def is_root(term: Expr) -> bool:
    parts = [f for f in Mul.make_args(split_factor(term)[1]) if isinstance(f, Pow)]
    return any(f.exp.is_Rational and f.exp.q > 1 for f in parts)


def uniform(observations: Sequence[Observation]) -> tuple[list[np.ndarray], np.ndarray]:
    return [np.zeros(len(o.actions)) for o in observations], np.zeros(len(observations))


def prefer(node: Node, _: np.ndarray) -> np.ndarray:
    """The rules in place of a policy: each proposal less likely than the one before."""
    ranks: dict[Action, int] = {}
    for action in rules(node.form.lhs, node.form.rhs):
        ranks.setdefault(action, len(ranks))
    return np.array([-0.5 * ranks.get(a, LAST) for a in node.observation.actions])


@cache
def solver_cache() -> TransitionCache:
    return WORLD.new_cache()


def play(problem: Any) -> Solution:
    """The script's solution of a problem or an equation."""
    return beam(
        uniform, [problem], WORLD, solver_cache(), width=WIDTH, value_coef=0, complexity_coef=0,
        steer=prefer,
    )[0]  # fmt: skip


def has_route(problem: Any | Equation) -> bool:
    """Whether the script proves a root."""
    try:
        return play(problem).solved
    except Exception:  # SymPy raises anything on odd input: then it has none
        return False
