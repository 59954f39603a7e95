"""Equations without a root: said so where the sizes of numbers decide it, with the reason.

The outermost function around x is undone as long as it has one value only: log(u) = v is u = exp(v)
or nothing. Where v certainly lies outside of the function's range there is no root, real or
complex. What letters would decide is not decided.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp
from flint import acb, arb
from sympy import Abs, Add, Expr, I, Mul, Pow, exp, pi

from abel.equation import MINUS_ONE, ONE, ZERO, Equation, X, has_x, split_factor, split_summand
from abel.render import Formula, as_text
from abel.rewrite import (
    base_exponent,
    call,
    difference,
    expand,
    grows_past,
    negate,
    power,
    product,
)
from abel.verify import Point, is_identity

MAX_LEVELS, MAX_EXPANDED = 12, 300
EVERY = "every "
EVERY_X = EVERY + "{} for which it is defined is a root"
NO_ROOT = "there is no root: "


def why_no_root(equation: Equation) -> str:
    """The reason why there is no single root to be found; empty if none is known."""
    side = difference(equation.lhs, equation.rhs)
    if grows_past(side, MAX_EXPANDED):
        return ""
    if is_identity(side):
        return EVERY_X.format(equation.unknown)
    reason = equation.told(never_zero(side, MAX_LEVELS))
    return NO_ROOT + reason if reason else ""


def text(expr: Expr) -> str:
    return as_text(Formula(expr))


def never_zero(side: Expr, levels: int) -> str:
    """Why an expression is not 0 for any x for which it is defined; empty if that is not known."""
    if levels == 0:
        return ""
    side = without_denominators(side)
    free, rest = split_summand(side)
    if rest is ZERO:
        return (
            f"it comes to {text(free)} = 0" if certainly(free, lambda z: not z.contains(0)) else ""
        )
    if free is ZERO and isinstance(rest, Mul):
        factors = [factor for factor in rest.args if has_x(factor)]
        reasons = [never_zero(factor, levels - 1) for factor in factors]
        return "; ".join(dict.fromkeys(reasons)) if all(reasons) else ""
    factor, core = split_factor(rest)
    if isinstance(core, Add | Mul) or not core.args:
        return ""
    value = negate(product(free, power(factor, MINUS_ONE)))
    return out_of_range(core, value, levels)


def never_real(equation: Equation) -> bool:
    """Whether no real x solves c*sin(u) = d, or cos, with u real for real x: for d/c is out of
    [-1, 1].
    """
    free, rest = split_summand(difference(equation.lhs, equation.rhs))
    factor, core = split_factor(rest)
    if not isinstance(core, sp.sin | sp.cos) or not is_real_for_real(core.args[0]):
        return False
    value = negate(product(free, power(factor, MINUS_ONE)))
    return certainly(value, lambda z: abs(z.real) > 1 or not z.imag.contains(0))


def is_real_for_real(expr: Expr) -> bool:
    """Whether a polynomial in x and real numbers, with sines, cosines and exponentials, which is
    real wherever x is.
    """
    if not expr.args:
        return expr == X or (expr.is_number and expr.is_real is True)
    if isinstance(expr, Pow) and not (expr.exp.is_Integer and expr.exp.is_positive):
        return False
    kinds = (Add, Mul, Pow, exp, sp.sin, sp.cos)
    return isinstance(expr, kinds) and all(map(is_real_for_real, expr.args))


def without_denominators(side: Expr) -> Expr:
    """A sum times what it is divided by, which is not 0; other sides as they are."""
    below = dict.fromkeys(
        power(base_exponent(factor)[0], -base_exponent(factor)[1])
        for term in Add.make_args(side)
        for factor in Mul.make_args(term)
        if base_exponent(factor)[1].p < 0 and has_x(factor)
    )
    if not below or not isinstance(side, Add):
        return side
    multiplied = product(side, *below)
    return side if grows_past(multiplied, MAX_EXPANDED) else expand(multiplied)


def out_of_range(core: Expr, value: Expr, levels: int) -> str:
    """Why core = value has no solution."""
    says, inside = f"{text(core)} is never {text(value)}", core.args[0]
    if isinstance(core, exp) or (isinstance(core, Pow) and not has_x(core.base)):
        return says if value is ZERO else ""
    if isinstance(core, Pow) and core.exp.is_Rational:
        if core.exp.is_negative and value is ZERO:
            return says
        if core.exp.is_Integer:
            return "" if value is not ZERO else never_zero(core.base, levels - 1)
        if value is ZERO:
            return never_zero(core.base, levels - 1)
        most = abs(core.exp)  # of the angle, in half turns
        if most < 1 and certainly(value, lambda z: abs(z.arg()) > as_arb(most) * arb.pi()):
            return says
        if abs(core.exp.p) != 1 or not within(value, most):
            return ""
        return never_zero(difference(core.base, power(value, ONE / core.exp)), levels - 1)
    if isinstance(core, Abs):
        if certainly(value, lambda z: z.real < 0 or not z.imag.contains(0)):
            return says
        return never_zero(inside, levels - 1) if value is ZERO else ""
    for function, outside, undo in RANGES:
        if isinstance(core, function):
            if value in POLES.get(function, ()) or certainly(value, outside):
                return says
            if undo is None or not is_number(value):
                return ""
            return never_zero(difference(inside, call(undo, value)), levels - 1)
    return ""


def within(value: Expr, most: sp.Rational) -> bool:
    """Whether the angle of a number is certainly below so many half turns."""
    return certainly(value, lambda z: abs(z.arg()) < as_arb(most) * arb.pi())


def as_arb(number: sp.Rational) -> arb:
    return arb(int(number.p)) / int(number.q)


def is_number(value: Expr) -> bool:
    return not value.free_symbols


def certainly(value: Expr, question: Callable[[acb], bool]) -> bool:
    """Whether it is certain of a number, with enough bits, that the question has the answer yes."""
    return is_number(value) and bool(Point({}).settle(value, lambda z: question(z) or None))


# Values that a function never takes, and how it is undone where it takes one: only by this.
POLES = {sp.tan: (I, negate(I)), sp.atan: (pi / 2, -pi / 2)}
RANGES: tuple[tuple[type, Callable[[acb], bool], type | None], ...] = (
    (sp.tan, lambda z: False, None),
    (sp.atan, lambda z: abs(z.real) > arb.pi() / 2, sp.tan),
    (sp.asin, lambda z: abs(z.real) > arb.pi() / 2, sp.sin),
    (sp.acos, lambda z: z.real < 0 or z.real > arb.pi(), sp.cos),
    (sp.log, lambda z: abs(z.imag) > arb.pi(), exp),
)
