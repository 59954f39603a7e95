"""Numbers of roots at a point: to tell roots apart, to count them, to compare them with others'.

What is real only because its imaginary parts cancel, as the roots of a cubic by Cardano's formula
are, lies exactly on a cut where it is negative, and no ball shows that. So it is proved: such a
number is its own conjugate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import mpmath
import sympy as sp
from flint import acb
from sympy import Add, Expr, I, Integer, Mul, Pow, Symbol, exp, log, pi

from abel.equation import num_nodes, remember
from abel.rewrite import negate, power, product, rebuild, total
from abel.verify import Point, is_identity

Value = Any  # a number of mpmath, or None where there is none
BITS = 320
MAX_REAL_NODES = 150  # of what is proved to be real
CUTS = (log, sp.asin, sp.acos, sp.atan, sp.LambertW)
ODD = (sp.sin, sp.tan, sp.cos, exp)  # whose value at the conjugate is the conjugate


def value_at(expr: Expr, letters: Mapping[Symbol, float]) -> Value:
    """The expression to 40 digits, for these letters; None where that cannot be told.

    With letters there are other points, so that nothing is proved at this one.
    """
    found = Point(letters).settle(expr, as_number)
    if found is not None or letters:
        return found
    ball = ball_of_number(expr)
    return None if ball is None else as_number(ball)


@remember  # forms of one root share their parts, and are compared by their balls
def ball_of_number(expr: Expr) -> acb | None:
    """A ball of an expression without letters, with what is proved to be real taken as real."""
    point = Point({})
    try:
        for part in arguments(expr):
            value = point.value(part, BITS)
            if value.imag.contains(0) and not value.imag.is_zero() and is_real(part, point):
                point.let(part, acb(value.real), BITS)
        value = point.value(expr, BITS)
    except (ArithmeticError, RecursionError):
        return None
    return value if value.is_finite() else None


def as_number(value: acb) -> Value:
    return mpmath.mpmathify(value) if value.rad() < 1e-40 * (1 + abs(value)) else None


def arguments(expr: Expr) -> Iterator[Expr]:
    """What stands inside a function with a cut, innermost first."""
    seen: set[Expr] = set()
    for node in sp.postorder_traversal(expr):
        if has_cut(node) and node.args[0] not in seen:
            seen.add(node.args[0])
            yield node.args[0]


def has_cut(node: Expr) -> bool:
    return isinstance(node, CUTS) or (isinstance(node, Pow) and not node.exp.is_Integer)


def is_real(number: Expr, point: Point) -> bool:
    """Whether it is proved that a number without letters is real."""
    if num_nodes(number) > MAX_REAL_NODES:
        return False
    mirrored = conjugate(number, point)
    return mirrored is not None and is_identity(total(number, negate(mirrored)))


def conjugate(expr: Expr, point: Point) -> Expr | None:
    """The conjugate of a number; None where a cut is too near."""
    if not expr.args:
        return negate(I) if expr is I else expr
    if has_cut(expr):
        return conjugate_of_root(expr, point)
    args = [conjugate(arg, point) for arg in expr.args]
    if None in args or not isinstance(expr, (Add, Mul, Pow, *ODD)):
        return None
    return rebuild(expr, args)


def conjugate_of_root(expr: Expr, point: Point) -> Expr | None:
    """Off the cut the function of the conjugate; on it, where the value is a limit from above, that
    limit is turned round.
    """
    inner = expr.args[0]
    value = point.value(inner, BITS)
    if value.imag.is_zero() and isinstance(expr, Pow | log):
        if value.real > 0:
            return expr if not isinstance(expr, Pow) or expr.exp.is_Rational else None
        if not value.real < 0:
            return None
        if isinstance(expr, log):
            return total(log(negate(inner)), product(Integer(-1), I, pi))
        if not expr.exp.is_Rational:
            return None
        return product(power(negate(inner), expr.exp), power(Integer(-1), -expr.exp))
    if value.imag.contains(0) or not isinstance(expr, Pow | log):
        return None
    mirrored = conjugate(inner, point)
    if mirrored is None or (isinstance(expr, Pow) and not expr.exp.is_Rational):
        return None
    return rebuild(expr, [mirrored, *expr.args[1:]])
