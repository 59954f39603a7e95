"""Numeric tests that answer in microseconds what SymPy would answer in milliseconds, or never.

Complex floats at three fixed generic points show whether an expression is 0, finite, or depends on
x; where an equation leaves the range of floats at them, as exp(-300*x) = 2 does, x is taken smaller
or larger (`scale_of`). They only decide what is legal; whether a root is a root is decided exactly,
in `abel.verify`.
"""

from __future__ import annotations

import cmath
import math
from zlib import crc32

import mpmath
from sympy import Add, E, Expr, I, Mul, Pow, Rational, Symbol, pi

from abel.equation import Label, X, is_lower_lambert, remember

Values = tuple[complex, ...]  # at the three sample points

TOLERANCE = 1e-11
LARGEST, LARGEST_SCALED = 1e60, 1e200  # at the sample points, and where x is scaled there
WIDEST = 4096  # bits of the exponent of a number in the wide range
SCALES = tuple(s for k in (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256) for s in (-k, k))
# Infinity, not NaN: abs() of a complex NaN raises OverflowError if an earlier call left errno set.
NOT_FINITE: Values = (complex("inf"),) * 3

CONSTANTS = {pi: math.pi, E: math.e, I: 1j}
FUNCTIONS = {
    "exp": cmath.exp, "log": cmath.log, "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan,
    "asin": cmath.asin, "acos": cmath.acos, "atan": cmath.atan,
    "Abs": lambda z: complex(abs(z)),
    "LambertW": lambda z: lambert(z, 0),
}  # fmt: skip
WIDE = mpmath.MPContext()  # the digits of a float, exponents without end
WIDE_FUNCTIONS = {n: WIDE.fabs if n == "Abs" else getattr(WIDE, n.lower()) for n in FUNCTIONS}
LOWER = "LambertW(-1)"  # the other branch that has real values
FUNCTIONS[LOWER] = lambda z: lambert(z, -1)
WIDE_FUNCTIONS[LOWER] = lambda z: WIDE.lambertw(z, -1)
# The first two points differ in x only; the third has the constants' signs turned.
X_VALUES = (complex(0.7346, 0.2153), complex(-0.5871, 0.4129), complex(0.3917, -0.6348))


@remember
def values(expr: Expr) -> Values:
    """`expr` at the three sample points, or NOT_FINITE where it overflows or is undefined."""
    return sample(expr, list(map(values, expr.args)), 0)


@remember
def scaled_values(expr: Expr, scale: int) -> Values:
    return sample(expr, [scaled_values(arg, scale) for arg in expr.args], scale)


def values_at(expr: Expr, scale: int) -> Values:
    """`values` with x at 2**scale times the sample points."""
    return scaled_values(expr, scale) if scale else values(expr)


def sample(expr: Expr, parts: list[Values], scale: int) -> Values:
    """The values of `expr` from those of its arguments."""
    if not parts:
        if isinstance(expr, Label):
            return values_at(expr.block, scale)
        if isinstance(expr, Symbol):
            if expr != X:
                return constant_values(expr.name)
            return tuple(math.ldexp(1.0, scale) * v for v in X_VALUES) if scale else X_VALUES
        if isinstance(expr, Rational):
            try:
                return (complex(expr.p / expr.q),) * 3
            except OverflowError:
                return NOT_FINITE
        return (complex(CONSTANTS[expr]),) * 3 if expr in CONSTANTS else NOT_FINITE
    if NOT_FINITE in parts:
        return NOT_FINITE
    try:
        if isinstance(expr, Add):
            result: Values = tuple(map(sum, zip(*parts)))
        elif isinstance(expr, Mul):
            result = tuple(map(math.prod, zip(*parts)))
        elif isinstance(expr, Pow):
            exponent = expr.exp.p if expr.exp.is_Integer else None
            result = tuple(b ** (e if exponent is None else exponent) for b, e in zip(*parts))
        else:
            result = tuple(map(FUNCTIONS[name_of(expr)], parts[0]))
        return result if finite(result, scale) else NOT_FINITE
    except (OverflowError, ValueError, ZeroDivisionError, KeyError):
        return NOT_FINITE


def lambert(z: complex, branch: int) -> complex:
    """W(z) on a branch; at the float that is nearest to -1/e, mpmath raises TypeError."""
    return complex(-1) if z == -math.exp(-1) else complex(mpmath.fp.lambertw(z, branch))


def name_of(expr: Expr) -> str:
    """The name of a function in the tables; that of none for a branch that is not among them."""
    if len(expr.args) == 1:
        return type(expr).__name__
    return LOWER if is_lower_lambert(expr) else ""


def constant_values(name: str) -> Values:
    """A constant's values: a function of its name alone, so that every process agrees."""
    angle = crc32(name.encode()) / 2**32
    value = cmath.rect(0.6 + 0.9 * ((7.13 * angle) % 1), 1.3 * (angle - 0.5))
    return value, value, -value * complex(0.83, 0.27)


def largest(scale: int) -> float:
    return LARGEST_SCALED if scale else LARGEST


def finite(vals: Values, scale: int = 0) -> bool:
    return abs(vals[0]) + abs(vals[1]) + abs(vals[2]) < (LARGEST_SCALED if scale else LARGEST)


def is_solvable(lhs: Expr, rhs: Expr, scale: int = 0, plainness: float = 1.0) -> bool:
    """Whether lhs - rhs is finite at the sample points and depends on x."""
    left, right = values_at(lhs, scale), values_at(rhs, scale)
    return finite(left, scale) and finite(right, scale) and depends_on_x(left, right, plainness)


@remember
def scale_of(lhs: Expr, rhs: Expr) -> int:
    """The power of 2 by which x is multiplied at the samples, for lhs = rhs to be seen there.

    0 wherever the sample points will do, and where no others will do either. Constants may be
    larger where x is scaled, too, so that 10^70*b*x = 1 is in the range.
    """
    if is_solvable(lhs, rhs):
        return 0
    ways = ((scale, plainness) for plainness in (1000.0, 1.0) for scale in SCALES)
    return next((scale for scale, plainness in ways if is_solvable(lhs, rhs, scale, plainness)), 0)


@remember
def swelling(expr: Expr, scale: int) -> float:
    """How far from 1, up or down, products of some factors of `expr` can lie at the sample points.

    The product of all may be moderate, and the power of one of them out of range.
    """
    factors = expr.args if isinstance(expr, Mul) else (expr,)
    first = second = third = 1.0
    for factor in factors:
        a, b, c = map(abs, values_at(factor, scale))
        if not (a and b and c):
            return math.inf
        first, second, third = first * max(a, 1 / a), second * max(b, 1 / b), third * max(c, 1 / c)
    return max(first, second, third)


@remember
def is_zero(expr: Expr) -> bool:
    """Whether `expr` vanishes identically, relative to the size of what it is summed from."""
    if isinstance(expr, Mul):
        return any(map(is_zero, expr.args))
    if isinstance(expr, Add):
        if values(expr) is NOT_FINITE:
            return is_zero_in_wide_range(expr)
        sizes = [sum(map(abs, point)) for point in zip(*map(values, expr.args))]
        return all([abs(v) <= TOLERANCE * size for v, size in zip(values(expr), sizes)])
    return values(expr) == (0, 0, 0)


def is_zero_in_wide_range(expr: Add) -> bool:
    """`is_zero` where floats overflow: 10^70*b + 10^70*c is not 0; the undefined counts as 0."""
    try:
        terms = [[wide_value(arg, point) for arg in expr.args] for point in range(3)]
    except (ValueError, ZeroDivisionError, KeyError):
        return True
    except OverflowError:
        return False
    return all(abs(sum(row)) <= TOLERANCE * sum(map(abs, row)) for row in terms)


@remember
def wide_value(expr: Expr, point: int) -> mpmath.mpc:
    """`expr` at a sample point with the digits of a float and no limit on the exponent but one."""
    if isinstance(expr, Label):
        return wide_value(expr.block, point)
    if isinstance(expr, Rational):
        result = WIDE.mpc(WIDE.mpf(expr.p) / expr.q)
    elif not expr.args:
        if values(expr) is NOT_FINITE:
            raise ValueError(f"{expr} is no number")
        return WIDE.mpc(values(expr)[point])
    else:
        args = [wide_value(arg, point) for arg in expr.args]
        if isinstance(expr, Add | Mul):
            result = (WIDE.fsum if isinstance(expr, Add) else WIDE.fprod)(args)
        elif isinstance(expr, Pow):
            result = args[0] ** (expr.exp.p if expr.exp.is_Integer else args[1])
        else:
            result = WIDE_FUNCTIONS[name_of(expr)](args[0])
    size = WIDE.mag(result)
    if not (result == 0 or abs(size) < WIDEST):  # the next function of it could take forever
        raise OverflowError(f"{expr} is beyond 2**{WIDEST}")
    return WIDE.mpc(result)


def depends_on_x(left: Values, right: Values, plainness: float = 1.0) -> bool:
    """Whether left - right differs between the first two points, which differ in x only."""
    change = (left[0] - right[0]) - (left[1] - right[1])
    return abs(change) > plainness * TOLERANCE * sum(map(abs, (*left[:2], *right[:2])))
