"""A scripted solver: the steps a textbook would take, played in the environment.

No learning and no search: it says which equations have an honest route at all, before any
training. Its rules undo the outermost operation around x, after bringing x to one place.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Mul, Pow, acos, asin, cos, exp, log, sin

from abel.env import Env
from abel.equation import MINUS_ONE, ZERO, has_x, split_factor, split_summand
from abel.operations import Action, propose
from abel.rewrite import base_exponent, power

UNDO = {exp: "log", log: "exp", sin: "asin", cos: "acos", asin: "sin", acos: "cos"}


def solve(env: Env, relabel: bool = False) -> bool:
    """Play out the current episode of `env`; `relabel` renames constants whenever that is legal."""
    while not env.ended:
        legal = {action: index for index, action in enumerate(env.actions)}
        wanted = [Action("relabel")] if relabel else []
        wanted += proposals(env.form.lhs, env.form.rhs)
        index = next((legal[action] for action in wanted if action in legal), None)
        if index is None:
            return False
        env.step(index)
    return env.solved


def proposals(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """Sensible next actions, best first; some may not be legal."""
    if has_x(rhs):
        yield from (Action("mul", term) for term in denominators(lhs) + denominators(rhs))
        yield from (Action("sub", term) for term in Add.make_args(rhs) if has_x(term))
        return
    if propose(lhs, rhs) is not None:
        yield Action("cov")
    if isinstance(lhs, Add):
        free, rest = split_summand(lhs)
        if isinstance(rest, Add):  # x in several places
            yield Action("collect")
            yield from (Action("mul", term) for term in denominators(lhs))
            yield Action("expand")
        yield Action("sub", free)
    elif isinstance(lhs, Mul):
        free, rest = split_factor(lhs)
        yield Action("mul -1") if free is MINUS_ONE else Action("div", free)
        yield from (Action("mul", term) for term in denominators(rest))
        yield Action("expand")
        if rhs is ZERO:  # a factor that occurs twice may be divided out once
            factors = Mul.make_args(rest)
            yield from (Action("div", factor) for factor in factors)
            yield from (Action("div", base_exponent(factor)[0]) for factor in factors)
    elif isinstance(lhs, Pow):
        if not has_x(lhs.base):
            yield Action("log")
        elif lhs.exp.is_Rational and lhs.exp.is_negative:
            yield Action("mul", power(lhs.base, -lhs.exp))
        elif lhs.exp.is_Integer:
            yield Action("cbrt" if lhs.exp % 3 == 0 else "sqrt")
        elif lhs.exp.is_Rational and lhs.exp.q % 2 == 0:
            yield Action("square")
    elif type(lhs) in UNDO:
        yield Action(UNDO[type(lhs)])
    yield Action("expand")
    yield Action("collect")


def denominators(expr: Expr) -> list[Expr]:
    """Functions of x under a fraction bar."""
    return [
        power(factor.base, -factor.exp)
        for term in Add.make_args(expr)
        for factor in Mul.make_args(term)
        if isinstance(factor, Pow) and factor.exp.is_Rational and factor.exp.is_negative
        if has_x(factor.base)
    ]
