"""Numeric tests that answer in microseconds what SymPy would answer in milliseconds, or never.

Two kinds of sample stand behind them. Complex floats at three fixed generic points show whether an
expression is 0, finite, or depends on x; where an equation leaves the range of floats at them, as
exp(-300*x) = 2 does, x is taken smaller or larger (`scale_of`). Polynomials over a prime field,
with random constants, show whether a division would lose a root (paper, "Illegal actions"). Both
only decide what is legal; whether a root is a root is decided exactly, in `abel.verify`.
"""

from __future__ import annotations

import cmath
import math
import struct
from zlib import crc32

import mpmath
from flint import nmod_poly
from sympy import Add, E, Expr, I, Mul, Pow, Rational, Symbol, exp, pi

from abel.equation import MINUS_ONE, Label, X, has_x, remember
from abel.rewrite import TooLarge, product
from abel.rewrite import power as power_of

Values = tuple[complex, ...]  # at the three sample points
Polynomial = list[int]  # coefficients modulo PRIME, constant first; the zero polynomial is []

TOLERANCE = 1e-11
LARGEST, LARGEST_SCALED = 1e60, 1e200  # at the sample points, and where x is scaled there
PRIME = (1 << 61) - 1
MAX_DEGREE = 64
MAX_ROOT = 256  # index of a root that polynomials are written in
WIDEST = 4096  # bits of the exponent of a number in the wide range
SCALES = tuple(s for k in (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256) for s in (-k, k))
# Infinity, not NaN: abs() of a complex NaN raises OverflowError if an earlier call left errno set.
NOT_FINITE: Values = (complex("inf"),) * 3

CONSTANTS = {pi: math.pi, E: math.e, I: 1j}
FUNCTIONS = {
    "exp": cmath.exp, "log": cmath.log, "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan,
    "asin": cmath.asin, "acos": cmath.acos, "atan": cmath.atan,
    "LambertW": lambda z: complex(mpmath.fp.lambertw(z)),
}  # fmt: skip
WIDE = mpmath.MPContext()  # the digits of a float, exponents without end
WIDE_FUNCTIONS = {name: getattr(WIDE, name.lower()) for name in FUNCTIONS}
# The first two points differ in x only; the third has the constants' signs turned.
X_VALUES = (complex(0.7346, 0.2153), complex(-0.5871, 0.4129), complex(0.3917, -0.6348))


@remember
def values(expr: Expr) -> Values:
    """`expr` at the three sample points, or NOT_FINITE where it overflows or is undefined."""
    return sample(expr, [values(arg) for arg in expr.args], 0)


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
            result = tuple(map(FUNCTIONS[type(expr).__name__], parts[0]))
        return result if finite(result, scale) else NOT_FINITE
    except (OverflowError, ValueError, ZeroDivisionError, KeyError):
        return NOT_FINITE


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
    sizes = [abs(v) for factor in Mul.make_args(expr) for v in values_at(factor, scale)]
    if not all(sizes):
        return math.inf
    return max(math.prod([max(s, 1 / s) for s in sizes[i::3]]) for i in range(3))


@remember
def is_zero(expr: Expr) -> bool:
    """Whether `expr` vanishes identically, relative to the size of what it is summed from."""
    if isinstance(expr, Mul):
        return any(is_zero(arg) for arg in expr.args)
    if isinstance(expr, Add):
        if values(expr) is NOT_FINITE:
            return is_zero_in_wide_range(expr)
        return all(
            abs(v) <= TOLERANCE * sum([abs(values(arg)[i]) for arg in expr.args])
            for i, v in enumerate(values(expr))
        )
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
            result = WIDE_FUNCTIONS[type(expr).__name__](args[0])
    size = WIDE.mag(result)
    if not (result == 0 or abs(size) < WIDEST):  # the next function of it could take forever
        raise OverflowError(f"{expr} is beyond 2**{WIDEST}")
    return WIDE.mpc(result)


def depends_on_x(left: Values, right: Values, plainness: float = 1.0) -> bool:
    """Whether left - right differs between the first two points, which differ in x only."""
    change = (left[0] - right[0]) - (left[1] - right[1])
    return abs(change) > plainness * TOLERANCE * sum(map(abs, (*left[:2], *right[:2])))


# ---- Lost roots: does multiplying f by m turn a root of f into no root? ----


APART, SHARES, KILLS = 0, 1, 2


class RootGuard:
    """Tells which multiplications and divisions of both sides of lhs = rhs would take a root away.

    Rational functions are compared in one generator at a time: x, or one of the functions of x that
    the term is made of; all else is set to random constants. One copy of a repeated factor may go:
    a*x**2 = 0 divided by x keeps its root.
    """

    def __init__(self, lhs: Expr, rhs: Expr) -> None:
        self.lhs, self.rhs = lhs, rhs
        self.has_root = has_root(lhs) or has_root(rhs)
        self.roots: dict[Expr, int] = {}
        self.numerators: dict[tuple[Expr, int], tuple[int, ...]] = {}
        self.overlaps: dict[tuple[Expr, bool], int] = {}

    def loses(self, term: Expr, inverse: bool) -> bool:
        """Whether multiplying by `term` (dividing, if `inverse`) takes a root away."""
        return (inverse or has_denominator(term)) and self.overlap(term, inverse) == KILLS

    def overlap(self, term: Expr, inverse: bool) -> int:
        """How the multiplier's denominator meets the numerator of lhs - rhs, at the worst."""
        known = self.overlaps.get((term, inverse))
        if known is None:
            known = self.overlaps[term, inverse] = self.find_overlap(term, inverse)
        return known

    def find_overlap(self, term: Expr, inverse: bool) -> int:
        if isinstance(term, Mul) or (
            isinstance(term, Pow) and term.exp.is_Integer and term.exp.p > 0
        ):
            # Coprime to every factor, or robbed by one: no need to look at the product.
            factors = term.args if isinstance(term, Mul) else term.args[:1]
            worst = max([self.overlap(f, inverse) for f in factors if has_x(f)], default=APART)
            if worst != SHARES:
                return worst
        worst = APART
        for generator in generators(term):
            root = 1
            if self.has_root or has_root(term):
                root = math.lcm(self.root_of(generator), root_index(term, generator))
            if root > MAX_ROOT:  # it cannot be told
                return KILLS
            above, below = denominator(term, inverse, generator, root)
            if len(below) > 1:
                top = self.numerator(generator, root)
                worst = max(worst, meet(top, above, below) if top else APART)
        return worst

    def root_of(self, generator: Expr) -> int:
        if generator not in self.roots:
            self.roots[generator] = math.lcm(
                *(root_index(s, generator) for s in (self.lhs, self.rhs))
            )
        return self.roots[generator]

    def numerator(self, generator: Expr, root: int) -> tuple[int, ...]:
        """The numerator of lhs - rhs over the prime field, up to a constant factor."""
        key = (generator, root)
        if key not in self.numerators:
            left_top, left_below = fraction(self.lhs, generator, root)
            right_top, right_below = fraction(self.rhs, generator, root)
            minus = [PRIME - c if c else 0 for c in right_top]
            top = add(multiply(left_top, right_below), multiply(minus, left_below))
            self.numerators[key] = monic(top)
        return self.numerators[key]


@remember
def denominator(
    term: Expr, inverse: bool, generator: Expr, root: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numerator and denominator of the multiplier, without factors that have no zeros."""
    above, below = fraction(term, generator, root)
    if inverse:
        above, below = below, above
    if isinstance(generator, exp | Pow):  # an exponential has no zeros: its powers may go
        below = below[next((i for i, c in enumerate(below) if c), 0) :]
    return tuple(above), tuple(below)


@remember
def meet(numerator: tuple[int, ...], above: tuple[int, ...], below: tuple[int, ...]) -> int:
    """Whether `below` shares no factor with numerator * above, leaves a copy of each, or kills one.

    Remembered, since most steps leave lhs - rhs as it is, up to a constant factor.
    """
    top, divisor = (nmod_poly([*p], PRIME) for p in (numerator, below))
    top *= nmod_poly([*above], PRIME)
    common = top.gcd(divisor)
    if common.degree() == 0:
        return APART
    rest = top // common
    while common.degree() > 0:
        shared = common.gcd(rest)
        if shared.degree() == 0:
            return KILLS
        common //= shared
    return SHARES


@remember
def has_denominator(expr: Expr) -> bool:
    """Whether a negative power of a function of x stands in `expr`, outside of functions."""
    if isinstance(expr, Pow) and expr.exp.is_Rational and has_x(expr.base):
        return expr.exp.p < 0 or has_denominator(expr.base)
    return isinstance(expr, Add | Mul) and any(has_denominator(arg) for arg in expr.args)


@remember
def generators(expr: Expr) -> tuple[Expr, ...]:
    """x and the functions of x that `expr` is a rational function of."""
    if not has_x(expr):
        return ()
    if isinstance(expr, Add | Mul) or (isinstance(expr, Pow) and expr.exp.is_Rational):
        args = expr.args if not isinstance(expr, Pow) else expr.args[:1]
        return tuple(dict.fromkeys(g for arg in args for g in generators(arg)))
    return (expr,)


@remember
def has_root(expr: Expr) -> bool:
    """Whether a fractional power occurs in `expr`."""
    if isinstance(expr, Pow) and expr.exp.is_Rational and not expr.exp.is_Integer:
        return True
    return any(has_root(arg) for arg in expr.args)


@remember
def root_index(expr: Expr, generator: Expr) -> int:
    """The least n for which every root of the generator in `expr` is a power of its n-th root."""
    if not has_root(expr):
        return 1
    if isinstance(expr, Pow) and expr.base == generator and expr.exp.is_Rational:
        return expr.exp.q
    return math.lcm(*(root_index(arg, generator) for arg in expr.args))


@remember
def fraction(expr: Expr, generator: Expr, root: int) -> tuple[Polynomial, Polynomial]:
    """`expr` as a quotient of polynomials over the prime field in s, where generator = s**root."""
    if not has_x(expr) and generator is not X:  # the same in every generator
        return fraction(expr, X, 1)
    if expr == generator:
        return [0] * root + [1], [1]
    if isinstance(expr, Rational) and expr.q % PRIME:
        return constant(expr.p * pow(expr.q, -1, PRIME)), [1]
    if isinstance(expr, Add):
        top: Polynomial = []
        below: Polynomial = [1]
        for arg in expr.args:
            arg_top, arg_below = fraction(arg, generator, root)
            if arg_below != below:
                top, arg_top = multiply(top, arg_below), multiply(arg_top, below)
                below = multiply(below, arg_below)
            top = add(top, arg_top)
        return top, below
    if isinstance(expr, Mul):
        top, below = [1], [1]
        for arg in expr.args:
            arg_top, arg_below = fraction(arg, generator, root)
            top, below = multiply(top, arg_top), multiply(below, arg_below)
        return top, below
    if isinstance(expr, Pow) and expr.exp.is_Rational:
        # A root of anything but the generator vanishes where its radicand does: taken to the full
        # power.
        times = expr.exp.p * (root // expr.exp.q if expr.base == generator else 1)
        top, below = (
            ([0, 1], [1]) if expr.base == generator else fraction(expr.base, generator, root)
        )
        if (len(top) + len(below)) * abs(times) <= MAX_DEGREE:
            top, below = (top, below) if times > 0 else (below, top)
            return power(top, abs(times)), power(below, abs(times))
    times = exponential_power(expr, generator)
    if times and abs(times) <= MAX_DEGREE:
        term = [0] * abs(times) + [1]
        return (term, [1]) if times > 0 else ([1], term)
    return constant(opaque(expr)), [1]


def exponential_power(expr: Expr, generator: Expr) -> int:
    """n where expr = generator**n and both are exponentials, else 0."""
    if isinstance(expr, exp) and isinstance(generator, exp):
        try:
            ratio = product(expr.args[0], power_of(generator.args[0], MINUS_ONE))
        except TooLarge:
            return 0
        return ratio.p if ratio.is_Integer else 0
    return 0


def opaque(expr: Expr) -> int:
    """A pseudo-random field element that stands for `expr`: equal expressions, equal elements."""
    value = values(expr)[0]
    if cmath.isinf(value):  # what overflows is told apart by how it is written
        return crc32(str(expr).encode()) * 0x9E3779B97F4A7C15 % PRIME
    return crc32(struct.pack("dd", value.real, value.imag)) * 0x9E3779B97F4A7C15 % PRIME


def constant(value: int) -> Polynomial:
    value %= PRIME
    return [value] if value else []


def monic(p: Polynomial) -> tuple[int, ...]:
    inverse = pow(p[-1], -1, PRIME) if p else 1
    return tuple([c * inverse % PRIME for c in p])


def add(p: Polynomial, q: Polynomial) -> Polynomial:
    if len(p) < len(q):
        p, q = q, p
    total = [(a + b) % PRIME for a, b in zip(p, q)] + p[len(q) :]
    while total and not total[-1]:
        total.pop()
    return total


def multiply(p: Polynomial, q: Polynomial) -> Polynomial:
    if p == [1] or not q:
        return q
    if q == [1] or not p:
        return p
    result = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        if a:
            for j, b in enumerate(q):
                result[i + j] += a * b
    return [c % PRIME for c in result]


def power(p: Polynomial, n: int) -> Polynomial:
    result = [1]
    for _ in range(n):
        result = multiply(result, p)
    return result
