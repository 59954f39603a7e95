"""Conditions on coefficients and integers: shown to people, and decided at points.

A number is a ball of python-flint that holds it for certain, so a condition is true, false, or not
decided; never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import flint
import sympy as sp
from flint import acb, arb, fmpq
from sympy import And, Eq, Expr, Float, Ge, Gt, Le, Lt, Mod, Ne, Not, Or, Pow, Rational, Symbol

Point = Mapping[Symbol, Any]  # exact numbers: integers, rationals, floats

BITS = (100, 400, 1600)  # of precision, tried in turn until a condition is decided
SIGNS = {Ne: "!=", Eq: "=", Ge: ">=", Gt: ">", Le: "<=", Lt: "<"}


# ---- Shown ----


def condition_text(condition: Any) -> str:
    """A condition as people write it: a >= 0 and n != 4 and n mod 3 != 1."""
    if isinstance(condition, And | Or):
        word = " and " if isinstance(condition, And) else " or "
        return word.join(in_brackets(part, condition) for part in in_order(condition))
    if isinstance(condition, Not):
        return f"not ({condition_text(condition.args[0])})"
    if type(condition) in SIGNS:
        lhs, rhs = map(side_text, condition.args)
        return f"{lhs} {SIGNS[type(condition)]} {rhs}"
    return sp.sstr(condition)


def in_brackets(part: Any, whole: Any) -> str:
    text = condition_text(part)
    return f"({text})" if isinstance(part, And | Or) and part.func is not whole.func else text


def in_order(condition: Any) -> list[Any]:
    """The parts of a condition, those on coefficients before those on integers."""
    return sorted(
        condition.args, key=lambda part: (bool(integers_of(part)), sp.default_sort_key(part))
    )


def side_text(side: Any) -> str:
    if isinstance(side, Mod):
        value, modulus = (f"({arg})" if arg.args else str(arg) for arg in side.args)
        return f"{value} mod {modulus}"
    return sp.sstr(side)


def valid_when_text(condition: Any) -> str:
    """What is put behind a root that holds under a condition; nothing where it always holds."""
    return "" if condition is None else f", valid when {condition_text(condition)}"


def integers_of(condition: Any) -> list[Symbol]:
    return sorted((s for s in condition.free_symbols if s.is_integer), key=lambda s: s.name)


# ---- Decided at a point ----


def holds_at(condition: Any, point: Point) -> bool | None:
    """Whether a condition is true at a point; None where that cannot be decided."""
    if condition is None or condition in (True, sp.true):
        return True
    if condition in (False, sp.false):
        return False
    if isinstance(condition, And | Or):
        parts = [holds_at(part, point) for part in condition.args]
        decisive = isinstance(condition, Or)
        return decisive if decisive in parts else None if None in parts else not decisive
    if isinstance(condition, Not):
        found = holds_at(condition.args[0], point)
        return None if found is None else not found
    return relation_holds_at(condition, point) if type(condition) in SIGNS else None


def relation_holds_at(relation: Any, point: Point) -> bool | None:
    lhs, rhs = (without_mod(side, point) for side in relation.args)
    if lhs is None or rhs is None:
        return None
    for bits in BITS:
        gap = enclosure(lhs - rhs, point, bits)
        if gap is None:
            continue
        if isinstance(relation, Eq | Ne):
            found = None if gap.contains(0) and gap != 0 else gap == 0
            if found is not None:
                return found is isinstance(relation, Eq)
        elif not gap.imag.contains(0):
            return False  # a number that is not real has no order
        elif gap.imag == 0 and decided(relation, gap.real) is not None:
            return decided(relation, gap.real)
    return None


def decided(relation: Any, gap: arb) -> bool | None:
    """The sign of lhs - rhs in an order relation, where the ball shows it."""
    true, false = {
        Ge: (gap >= 0, gap < 0), Gt: (gap > 0, gap <= 0),
        Le: (gap <= 0, gap > 0), Lt: (gap < 0, gap >= 0),
    }[type(relation)]  # fmt: skip
    return True if true else False if false else None


def without_mod(side: Expr, point: Point) -> Expr | None:
    """A side with n mod 4 worked out; None where n is no known integer."""
    for part in sorted(side.atoms(Mod), key=str):
        value = part.subs({symbol: Rational(point[symbol]) for symbol in part.free_symbols})
        if not value.is_Rational:
            return None
        side = side.subs(part, value)
    return side


# ---- Numbers in balls ----


def enclosure(expr: Expr, point: Point, bits: int) -> acb | None:
    """A ball with the value of `expr` in it, principal branches; None where there is no bound.

    The point may also give balls. On a branch cut, and nowhere else, only exact numbers are told
    from their neighbours: a ball across a cut has the values of both sides in it.
    """
    before, flint.ctx.prec = flint.ctx.prec, bits
    try:
        value = ball(expr, point)
        return value if value.is_finite() else None
    except (KeyError, ArithmeticError, ValueError, RecursionError):
        return None
    finally:
        flint.ctx.prec = before


def ball(expr: Expr, point: Point) -> acb:
    if expr in point:
        value = point[expr]
        return value if isinstance(value, acb) else exact(Rational(value))
    if isinstance(expr, Rational | Float):
        return exact(Rational(expr))
    if isinstance(expr, sp.Add):
        return sum((ball(arg, point) for arg in expr.args), acb(0))
    if isinstance(expr, sp.Mul):
        value = acb(1)
        for arg in expr.args:
            value *= ball(arg, point)
        return value
    if isinstance(expr, Pow):
        return power(ball(expr.base, point), expr.exp, point)
    return FUNCTIONS[type(expr)](*[ball(arg, point) for arg in expr.args])


def exact(number: Rational) -> acb:
    return acb(arb(fmpq(number.p, number.q)))


def power(base: acb, exponent: Expr, point: Point) -> acb:
    if isinstance(exponent, Rational) and exponent.q <= 2:
        whole = base ** int(exponent.p // exponent.q)
        return whole if exponent.q == 1 else whole * base.sqrt()
    if base == 0 and isinstance(exponent, Rational) and exponent > 0:
        return acb(0)
    times = ball(exponent, point)
    if base.imag == 0 and base.real > 0 and times.imag == 0:
        return acb(base.real**times.real)
    return (times * base.log()).exp()


def asin(z: acb) -> acb:
    if z.imag == 0 and -1 <= z.real <= 1:
        return acb(z.real.asin())
    one, i = acb(1), acb(0, 1)
    return -i * (i * z + (one - z * z).sqrt()).log()


def acos(z: acb) -> acb:
    if z.imag == 0 and -1 <= z.real <= 1:
        return acb(z.real.acos())
    return acb(arb.pi() / 2) - asin(z)


def atan(z: acb) -> acb:
    if z.imag == 0:
        return acb(z.real.atan())
    one, i = acb(1), acb(0, 1)
    return i / 2 * ((one - i * z).log() - (one + i * z).log())


FUNCTIONS: dict[type, Callable[..., acb]] = {
    sp.exp: acb.exp, sp.log: acb.log, sp.sin: acb.sin, sp.cos: acb.cos, sp.tan: acb.tan,
    sp.asin: asin, sp.acos: acos, sp.atan: atan, sp.LambertW: acb.lambertw,
    type(sp.pi): lambda: acb(arb.pi()), type(sp.E): lambda: acb(arb(1).exp()),
    type(sp.I): lambda: acb(0, 1),
}  # fmt: skip
