"""Logarithms of products and powers taken apart."""

from __future__ import annotations

from sympy import E, Expr, LambertW, Pow, exp, log

from abel.equation import ONE, factors_of, has_x, remember
from abel.operations.legality import Facts, Sides
from abel.operations.row import Applied, Operation, both
from abel.rewrite import call, product, rebuild, total


@remember
def split_logarithms(expr: Expr) -> Expr:
    """log(u*v) = log(u) + log(v), log(u**v) = v*log(u) in all logarithms of x.

    On other branches this may be off by a turn: a root may be lost, and what is found is proved.
    """
    if not has_x(expr) or not expr.args:
        return expr
    args = [split_logarithms(arg) for arg in expr.args]
    if not isinstance(expr, log):
        return rebuild(expr, args)
    parts, numbers = [], []
    for factor in factors_of(args[0]):
        if not has_x(factor):
            numbers.append(factor)
        elif isinstance(factor, exp):
            parts.append(factor.args[0])
        elif isinstance(factor, Pow):
            parts.append(product(factor.exp, ONE if factor.base is E else call(log, factor.base)))
        else:
            parts.append(call(log, factor))
    if numbers:
        parts.append(call(log, product(*numbers)))
    return total(*parts)


def split_is_legal(sides: Sides, _: Facts | None) -> bool:
    if sides.room < 0:
        return False
    changed = any(split_logarithms(side) != side for side in sides[:2])
    return changed and sides.lead_on(both(split_logarithms))


def undo_lambert(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    """W(u) = r says that u = r*exp(r)."""
    if not isinstance(lhs, LambertW):
        raise ValueError(f"'{lhs}' is no LambertW")
    return lhs.args[0], product(rhs, call(exp, rhs)), None


def undo_lambert_is_legal(sides: Sides, _: Facts | None) -> bool:
    return isinstance(sides.lhs, LambertW) and sides.lead_on(undo_lambert)


ROWS = (
    Operation("split-logs", "split the logarithms", r"\text{split logarithms}",
              both(split_logarithms), split_is_legal, kind="rewriting", flags=("logs",)),
    Operation("undo-lambert", "undo LambertW", "W^{-1}", undo_lambert, undo_lambert_is_legal,
              flags=("logs",), keeps=True),
)  # fmt: skip
