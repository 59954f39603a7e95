"""Inverse functions of a side: they cancel at its root, whatever the branch.

What a wrong branch leads to, `abel.verify` refutes.
"""

from __future__ import annotations

from sympy import Expr, Mul, Pow, Rational, exp, log

from abel.equation import ONE, factors_of, has_x, split_factor, summands_of
from abel.rewrite.nodes import INVERSE, base_exponent, call, power, product, total


def has_root(side: Expr, index: int) -> bool:
    """Whether the x-part of a side is an index-th power (an exponential always is)."""
    factors = factors_of(split_factor(side)[1])
    return all(type(f) is exp or base_exponent(f)[1].p % index == 0 for f in factors)


def root(side: Expr, index: int) -> Expr:
    """The index-th root of a side: root(a*x**2, 2) = sqrt(a)*x, and sqrt(side) if no power comes
    out.
    """
    if not has_x(side) or not has_root(side, index):
        return plain_root(side, index)
    free, rest = split_factor(side)
    taken = [
        call(exp, product(Rational(1, index), f.args[0]))
        if isinstance(f, exp)
        else exact_root(f, index)
        for f in factors_of(rest)
    ]
    return product(plain_root(free, index), *taken)


def plain_root(expr: Expr, index: int) -> Expr:
    if isinstance(expr, Mul) and expr.args[0].is_Rational and expr.args[0].is_positive:
        number, rest = expr.as_coeff_Mul()
        return product(power(number, Rational(1, index)), power(rest, Rational(1, index)))
    return power(expr, Rational(1, index))


def exact_root(factor: Expr, index: int) -> Expr:
    base, exponent = base_exponent(factor)
    return power(base, exponent / index)


def is_exponential(factor: Expr) -> bool:
    return type(factor) is exp or (isinstance(factor, Pow) and not has_x(factor.base))


def has_exponential(side: Expr) -> bool:
    """Whether the x-part of a side is a product of exponentials."""
    rest = split_factor(side)[1]
    return rest is not ONE and all(map(is_exponential, factors_of(rest)))


def logarithm(side: Expr) -> Expr:
    """log of a side: log(a*exp(u)) = log(a) + u, log(a*b**u) = log(a) + u*log(b)."""
    if not has_exponential(side):
        return call(log, side)
    free, rest = split_factor(side)
    exponents = [
        f.args[0] if isinstance(f, exp) else product(f.exp, call(log, f.base))
        for f in factors_of(rest)
    ]
    return total(call(log, free), *exponents)


def has_logarithm(side: Expr) -> bool:
    """Whether a summand has a logarithm as a factor, which exp would turn into a power."""
    return any(isinstance(f, log) for part in summands_of(side) for f in factors_of(part))


def never_zero(expr: Expr) -> bool:
    """Whether `expr` is plainly an exponential, or powers and multiples of such."""
    if isinstance(expr, exp):
        return True
    if isinstance(expr, Pow):
        return never_zero(expr.base) or not has_x(expr.base)
    if isinstance(expr, Mul):
        return all(never_zero(factor) or not has_x(factor) for factor in expr.args)
    return False


def undo(function: type, side: Expr) -> Expr:
    """An inverse trigonometric function of a side: undo(asin, sin(u)) = u."""
    return side.args[0] if isinstance(side, INVERSE[function]) else call(function, side)
