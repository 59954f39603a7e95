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
from sympy import Add, E, Expr, Float, Ge, I, Le, Mul, Ne, Pow, Rational, Symbol, exp, pi
from sympy.logic.boolalg import And, Boolean, Or

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


FUNCTIONS: dict[type, Callable[[acb], acb]] = {
    exp: acb.exp, sp.sin: acb.sin, sp.cos: acb.cos, sp.tan: acb.tan, sp.log: _log,
    sp.asin: acb.asin, sp.acos: acb.acos, sp.atan: _atan, sp.LambertW: acb.lambertw,
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


def evaluate(expr: Expr, known: dict[Expr, acb]) -> acb:
    """`expr` as a ball of the current precision; `known` has the symbols, and remembers the rest.

    OverflowError where a function has no numbers here.
    """
    found = known.get(expr)
    if found is not None:
        return found
    kind = type(expr)
    if kind is Add:
        found = sum([evaluate(arg, known) for arg in expr.args], start=acb(0))
    elif kind is Mul:
        found = acb(1)
        for arg in expr.args:
            found *= evaluate(arg, known)
    elif kind is Pow and isinstance(expr.exp, Rational):
        found = power(evaluate(expr.base, known), expr.exp)
    elif kind is Pow:
        found = (evaluate(expr.exp, known) * _log(evaluate(expr.base, known))).exp()
    elif kind in FUNCTIONS and len(expr.args) == 1:
        found = FUNCTIONS[kind](evaluate(expr.args[0], known))
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


class Point:
    """The letters at one point, and what is known of expressions there, at every precision."""

    def __init__(self, values: Mapping[Symbol, float | acb], most: int = PRECISIONS[-1]) -> None:
        self.values = {symbol: acb(value) for symbol, value in values.items()}
        self.precisions = tuple(bits for bits in PRECISIONS if bits <= most)
        self.known: dict[int, dict[Expr, acb]] = {}

    def value(self, expr: Expr, bits: int) -> acb:
        known = self.known.setdefault(bits, dict(self.values))
        with precision(bits):
            return evaluate(expr, known)

    def let(self, symbol: Symbol, value: acb, bits: int) -> None:
        self.known.setdefault(bits, dict(self.values))[symbol] = value

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

    def nonzero(self, expr: Expr) -> bool:
        return bool(self.settle(expr, lambda z: None if z.contains(0) else True))

    def holds(self, condition: Boolean) -> Answer:
        """Whether a condition holds here: relations, integers excluded, And and Or of them."""
        if isinstance(condition, And | Or):
            answers = {self.holds(arg) for arg in condition.args}
            deciding = isinstance(condition, Or)
            if deciding in answers:
                return deciding
            return None if None in answers else not deciding
        if condition in (sp.true, sp.false):
            return bool(condition)
        if isinstance(condition, Ne):
            return self.differs(*condition.args)
        if not isinstance(condition, Ge | Le):
            return None
        sign = 1 if isinstance(condition, Ge) else -1
        return self.settle(condition.lhs - condition.rhs, lambda z: side(z, sign))

    def differs(self, left: Expr, right: Expr) -> Answer:
        if isinstance(left, sp.Mod):  # of an integer
            value = self.values[left.args[0]].real.unique_fmpz()
            return None if value is None else int(value) % int(left.args[1]) != int(right)
        difference = self.settle(
            left - right, lambda z: False if z.is_zero() else None if z.contains(0) else True
        )
        return difference


def side(value: acb, sign: int) -> Answer:
    """Whether sign*value is at least 0; what is not real is not."""
    if not value.imag.contains(0):
        return False
    if not value.imag.is_zero():
        return False if value.real * sign < 0 else None
    return True if value.real * sign >= 0 else False if value.real * sign < 0 else None
