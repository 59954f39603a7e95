"""Certified numbers: values of expressions as balls (Arb, through python-flint).

A ball holds the true value, whatever was rounded on the way. So a ball without 0 is a proof of
"not 0", and a ball on one side of a cut is a proof of the branch. Every question has three answers:
yes, no, and None for "cannot tell", after the last precision. Something lies exactly on a cut only
if its imaginary part is exactly 0, as it is for what is made of real numbers by real operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sympy as sp
from flint import acb, arb, ctx, fmpq, fmpz
from sympy import (
    Add,
    And,
    E,
    Eq,
    Expr,
    Float,
    Ge,
    Gt,
    I,
    Le,
    Lt,
    Mul,
    Ne,
    Not,
    Or,
    Pow,
    Rational,
    Symbol,
    exp,
    pi,
)  # fmt: skip
from sympy.logic.boolalg import Boolean

from abel.equation import is_lower_lambert

PRECISIONS = (64, 256, 1024, 4096)  # bits, one after the other while a question is open
MAX_EXPONENT_BITS = 64  # of an integer power; and of a root's index

Answer = bool | None


class Undefined(ArithmeticError):
    """A division by what is exactly 0, a logarithm of it, or atan at I."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


# ---- Values ----


def _log(z: acb) -> acb:
    if z.is_zero():
        raise Undefined
    return z.log()


def _atan(z: acb) -> acb:
    if (1 + z * z).is_zero():
        raise Undefined
    return z.atan()


def lower_lambert(z: acb) -> acb:
    """LambertW(z, -1), which is cut along all negative numbers."""
    if z.is_zero():
        raise Undefined
    return z.lambertw(-1)


FUNCTIONS: dict[type, Callable[[acb], acb]] = {
    exp: acb.exp, sp.sin: acb.sin, sp.cos: acb.cos, sp.tan: acb.tan, sp.log: _log,
    sp.asin: acb.asin, sp.acos: acb.acos, sp.atan: _atan, sp.LambertW: acb.lambertw,
    sp.Abs: lambda z: acb(abs(z)),
}  # fmt: skip
CONSTANTS: dict[Expr, Callable[[], Any]] = {
    pi: arb.pi,
    E: arb.const_e,
    I: lambda: acb(0, 1),
}


def power(base: acb, exponent: Rational) -> acb:
    """The principal power."""
    if base.is_zero():
        if exponent.p < 0:
            raise Undefined
        return base
    if max(abs(exponent.p), exponent.q).bit_length() > MAX_EXPONENT_BITS:
        raise OverflowError
    if exponent.q == 1:
        return base**exponent.p
    root = base.sqrt() if exponent.q == 2 else base.root(exponent.q)
    return root if exponent.p == 1 else root**exponent.p


def ball_of(expr: Expr, known: dict[Expr, acb]) -> acb:
    """`expr` as a ball of the current precision; `known` has the symbols, and remembers the rest.

    OverflowError where a function has no numbers here.
    """
    found = known.get(expr)
    if found is not None:
        return found
    kind = type(expr)
    if kind is Add:
        found = sum([ball_of(arg, known) for arg in expr.args], start=acb(0))
    elif kind is Mul:
        found = acb(1)
        for arg in expr.args:
            found *= ball_of(arg, known)
    elif kind is Pow and isinstance(expr.exp, Rational):
        found = power(ball_of(expr.base, known), expr.exp)
    elif kind is Pow:
        found = (ball_of(expr.exp, known) * _log(ball_of(expr.base, known))).exp()
    elif kind in FUNCTIONS and len(expr.args) == 1:
        found = FUNCTIONS[kind](ball_of(expr.args[0], known))
    elif is_lower_lambert(expr):
        found = lower_lambert(ball_of(expr.args[0], known))
    elif isinstance(expr, (Rational, Float)):
        found = number(Rational(expr))
    elif expr in CONSTANTS:
        found = acb(CONSTANTS[expr]())
    else:
        raise OverflowError
    known[expr] = found
    return found


def number(value: Rational) -> acb:
    return acb(fmpz(value.p)) if value.q == 1 else acb(fmpq(int(value.p), int(value.q)))


def as_ball(value: acb | float | Rational) -> acb:
    return number(value) if isinstance(value, Rational) else acb(value)


def enclosure(expr: Expr, values: Mapping[Symbol, Any], bits: int) -> acb | None:
    """A ball with the value of `expr` in it; None where there is no bound."""
    try:
        found = Point(values).value(expr, bits)
    except (ArithmeticError, RecursionError):
        return None
    return found if found.is_finite() else None


class Point:
    """The letters at one point, and what is known of expressions there, at every precision."""

    def __init__(self, values: Mapping[Symbol, Any], most: int = PRECISIONS[-1]) -> None:
        self.values = values
        self.precisions = tuple(bits for bits in PRECISIONS if bits <= most)
        self.known: dict[int, dict[Expr, acb]] = {}

    def at(self, bits: int) -> dict[Expr, acb]:
        """What is known with so many bits."""
        if bits not in self.known:
            with precision(bits):
                self.known[bits] = {s: as_ball(value) for s, value in self.values.items()}
        return self.known[bits]

    def value(self, expr: Expr, bits: int) -> acb:
        known = self.at(bits)
        with precision(bits):
            return ball_of(expr, known)

    def let(self, symbol: Symbol, value: acb, bits: int) -> None:
        self.at(bits)[symbol] = value

    def settle(self, expr: Expr, question: Callable[[acb], Any]) -> Any:
        """The first answer that is not None, with more and more bits."""
        for bits in self.precisions:
            try:
                value = self.value(expr, bits)
            except (ArithmeticError, RecursionError):
                return None
            if value.is_finite():
                with precision(bits):
                    answer = question(value)
                if answer is not None:
                    return answer
        return None

    def sign(self, expr: Expr) -> int | None:
        """1 or -1 for what is known to be real; None where it cannot be told, or is 0."""
        return self.settle(expr, lambda z: 1 if z.real > 0 else -1 if z.real < 0 else None)

    def holds(self, condition: Boolean | None) -> Answer:
        """Whether a condition holds here; None stands for one that always does."""
        if condition is None or condition in (sp.true, sp.false):
            return condition is None or bool(condition)
        if isinstance(condition, And | Or):
            answers = {self.holds(arg) for arg in condition.args}
            deciding = isinstance(condition, Or)
            if deciding in answers:
                return deciding
            return None if None in answers else not deciding
        if isinstance(condition, Not):
            answer = self.holds(condition.args[0])
            return None if answer is None else not answer
        if type(condition) not in SIDES:
            return None
        left, right = map(self.without_mod, condition.args)
        if left is None or right is None:
            return None
        return self.settle(left - right, lambda z: SIDES[type(condition)](z))

    def without_mod(self, expr: Expr) -> Expr | None:
        """With n mod 4 worked out; None where n is no known integer."""
        for part in sorted(expr.atoms(sp.Mod), key=str):
            found = {}
            for symbol in part.free_symbols:
                whole = self.at(PRECISIONS[0])[symbol].real.unique_fmpz()
                if whole is None:
                    return None
                found[symbol] = int(whole)
            expr = expr.xreplace({part: part.subs(found)})
        return expr


def is_zero(z: acb) -> Answer:
    return True if z.is_zero() else None if z.contains(0) else False


def is_positive(z: acb) -> Answer:
    """A number that is not real has no order."""
    if not z.imag.contains(0) or z.real <= 0:
        return False
    return True if z.imag.is_zero() and z.real > 0 else None


def is_negative(z: acb) -> Answer:
    return is_positive(-z)


def unless(first: Callable[[acb], Answer], z: acb) -> Answer:
    """Whether z is real, and `first` is not true of it."""
    if not z.imag.contains(0):
        return False
    if not z.imag.is_zero():
        return False if first(acb(z.real)) else None
    answer = first(z)
    return None if answer is None else not answer


# A relation of left and right, by left - right.
SIDES: dict[type, Callable[[acb], Answer]] = {
    Eq: is_zero, Gt: is_positive, Lt: is_negative,
    Ne: lambda z: None if is_zero(z) is None else not is_zero(z),
    Ge: lambda z: unless(is_negative, z), Le: lambda z: unless(is_positive, z),
}  # fmt: skip
