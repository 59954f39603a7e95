"""Roots by construction: read off the way in which an equation was built, and proved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import sympy
from sympy import Add, Expr, Integer, Mul, Pow, Rational, acos, asin, cos, exp, log, pi, sin

from abel.datasets.decisions import Decisions
from abel.equation import ONE, Equation, X, has_x, split_factor, split_summand
from abel.operations.detector import exponential_rate
from abel.operations.let import occurrences
from abel.rewrite import call, coefficients, difference, expand, negate, power, product, shift
from abel.verify import Verdict, verify_root


def construct_root(equation: Equation) -> tuple[Expr, Verdict] | None:
    """A proved root, read off the way the equation was built; None if there is none."""
    for root in islice(candidates(equation), 32):
        verdict = verify_root(equation, root)
        if verdict:
            return root, verdict
    return None


def root_status(equation: Equation) -> str:
    """Where a root is proved: everywhere, under a condition, or none is."""
    found = construct_root(equation)
    if found is None:
        return "none"
    return "everywhere" if found[1].valid_when is None else "conditional"


def proved_root(equation: Equation, decisions: Decisions) -> str:
    return decisions.answer("root", str(equation), lambda: root_status(equation))


def candidates(equation: Equation) -> Iterator[Expr]:
    """What may be a root: undo one operation after the other, or use the family's formula."""
    side = difference(equation.lhs, equation.rhs)
    if occurrences(side, X) == 1:
        yield from unwrap(side, Integer(0))
    numerator = expand(sympy.fraction(sympy.together(side))[0])
    coeffs, rate = coefficients(numerator), exponential_rate(expand(side))
    if coeffs is not None:
        while coeffs and coeffs[0] == 0:
            coeffs = coeffs[1:]
            yield Integer(0)
        if len(coeffs) > 1:
            yield from shifted_roots(coeffs)
    elif rate is not None:
        a, b, c = exponential_coefficients(expand(side), rate)
        root = power(Add(product(c, c), product(Integer(-4), a, b)), Rational(1, 2))
        for sign in (ONE, -ONE):
            u = product(Add(negate(c), product(sign, root)), power(product(Integer(2), a), -ONE))
            yield product(call(log, u), power(rate, -ONE))


def shifted_roots(coeffs: tuple[Expr, ...]) -> Iterator[Expr]:
    """Roots of a polynomial that is a*(x + s)**n + k, as every linear and quadratic one is."""
    degree = len(coeffs) - 1
    s = product(Rational(-1, degree), coeffs[-2], power(coeffs[-1], -ONE))
    ratio = negate(product(shift(coeffs, s)[0], power(coeffs[-1], -ONE)))
    radical = power(ratio, Rational(1, degree)) if degree > 1 else ratio
    yield Add(s, radical) if degree > 1 else product(negate(coeffs[0]), power(coeffs[1], -ONE))
    if degree > 1:
        yield Add(s, negate(radical))


def exponential_coefficients(side: Expr, rate: Expr) -> tuple[Expr, Expr, Expr]:
    """(a, b, c) of a*exp(rate*x) + b*exp(-rate*x) + c."""
    rest, found = split_summand(side)[1], {1: Integer(0), -1: Integer(0)}
    for term in Add.make_args(rest):
        free, kernel = split_factor(term)
        found[1 if kernel == exp(rate * X) else -1] += free
    return found[1], found[-1], split_summand(side)[0]


def unwrap(side: Expr, value: Expr) -> Iterator[Expr]:
    """Solutions of side = value, where x occurs once: principal branches first."""
    if value.has(sympy.zoo, sympy.nan, sympy.oo):
        return
    if side == X:
        yield value
    elif isinstance(side, Add):
        free, rest = split_summand(side)
        yield from unwrap(rest, difference(value, free))
    elif isinstance(side, Mul):
        free, rest = split_factor(side)
        yield from unwrap(rest, product(value, power(free, -ONE)))
    elif isinstance(side, Pow) and has_x(side.base) and side.exp.is_Rational:
        if value == 0 and side.exp.is_negative:
            return
        root = power(value, 1 / side.exp)
        yield from unwrap(side.base, root)
        if side.exp.p % 2 == 0 and value != 0:
            yield from unwrap(side.base, negate(root))
    elif isinstance(side, exp):
        if value != 0:
            yield from unwrap(side.args[0], call(log, value))
    elif isinstance(side, log):
        yield from unwrap(side.args[0], call(exp, value))
    elif isinstance(side, sin):
        yield from unwrap(side.args[0], call(asin, value))
        yield from unwrap(side.args[0], Add(pi, negate(call(asin, value))))
    elif isinstance(side, cos):
        yield from unwrap(side.args[0], call(acos, value))
        yield from unwrap(side.args[0], negate(call(acos, value)))
        yield from unwrap(side.args[0], Add(2 * pi, negate(call(acos, value))))
