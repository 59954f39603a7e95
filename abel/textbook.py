"""A scripted solver: the steps a textbook would take, played in the environment.

No learning and no search: it says which equations have an honest route at all, before any
training. Its rules undo the outermost operation around x, after bringing x to one place.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Mul, Pow, acos, asin, cos, exp, log, sin

from abel.cov import propose
from abel.env import Env
from abel.equation import ONE, ZERO, has_x, split_factor, split_summand
from abel.rewrite import base_exponent

UNDO = {exp: "log", log: "exp", sin: "asin", cos: "acos", asin: "sin", acos: "cos"}


def solve(env: Env, relabel: bool = False) -> bool:
    """Play out the current episode of `env`; `relabel` renames constants whenever that is legal."""
    ended = env.ended
    while not ended:
        legal = {str(action): index for index, action in enumerate(env.actions)}
        wanted = ["relabel"] if relabel else []
        wanted += proposals(env.form.lhs, env.form.rhs)
        index = next((legal[name] for name in wanted if name in legal), None)
        if index is None:
            return False
        _, _, terminated, truncated, _ = env.step(index)
        ended = terminated or truncated
    return env.solved


def proposals(lhs: Expr, rhs: Expr) -> Iterator[str]:
    """Names of sensible next actions, best first."""
    if has_x(rhs):
        yield from (f"mul {d}" for d in denominators(lhs) + denominators(rhs))
        yield f"sub {rhs if not split_summand(rhs)[0] else split_summand(rhs)[1]}"
        return
    if propose(lhs, rhs) is not None:
        yield "cov"
    if isinstance(lhs, Add):
        free, rest = split_summand(lhs)
        if isinstance(rest, Add):  # x in several places
            yield "collect"
            yield from (f"mul {d}" for d in denominators(lhs))
            yield "expand"
        if free is not ZERO:
            yield f"sub {free}"
    elif isinstance(lhs, Mul):
        free, rest = split_factor(lhs)
        if free is not ONE:
            yield "mul -1" if free == -1 else f"div {free}"
        yield from (f"mul {d}" for d in denominators(rest))
        yield "expand"
        if rhs is ZERO:  # a factor that occurs twice may be divided out once
            yield from (f"div {factor}" for factor in Mul.make_args(rest))
            yield from (f"div {base_exponent(factor)[0]}" for factor in Mul.make_args(rest))
    if isinstance(lhs, Pow):
        if not has_x(lhs.base):
            yield "log"
        elif lhs.exp.is_Rational and lhs.exp.is_negative:
            yield f"mul {Pow(lhs.base, -lhs.exp)}"
        elif lhs.exp.is_Integer:
            yield "cbrt" if lhs.exp % 3 == 0 else "sqrt"
        elif lhs.exp.is_Rational and lhs.exp.q == 2:
            yield "square"
    elif type(lhs) in UNDO:
        yield UNDO[type(lhs)]
    yield "expand"
    yield "collect"


def denominators(expr: Expr) -> list[Expr]:
    """Functions of x under a fraction bar."""
    return [
        Pow(factor.base, -factor.exp)
        for term in Add.make_args(expr)
        for factor in Mul.make_args(term)
        if isinstance(factor, Pow) and factor.exp.is_Rational and factor.exp.is_negative
        if has_x(factor.base)
    ]
