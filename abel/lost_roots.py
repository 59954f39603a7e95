"""Does a multiplication or a division of both sides take a root away (paper, "Illegal actions")?

Dividing x*(x - a) = 0 by x loses x = 0. What is divided by is compared with lhs - rhs, both as
quotients of polynomials over a prime field (FLINT's `nmod_poly`), with pseudo-random constants: a
common factor is a root that is lost, unless it occurs twice.
"""

from __future__ import annotations

import cmath
import math
import struct
from itertools import zip_longest
from zlib import crc32

from flint import nmod_poly
from sympy import Abs, Add, Expr, Mul, Pow, Rational, exp

from abel.equation import MINUS_ONE, X, has_x, remember
from abel.numeric import values
from abel.rewrite import TooLarge, power, product

Fraction = tuple[nmod_poly, nmod_poly]  # numerator and denominator
Multiplier = tuple[Expr, int, nmod_poly, nmod_poly]  # generator, index of its root, and a fraction

# (PRIME - 1)/2 is a prime, too, and 2, 3, ..., 37 are squares modulo PRIME: a square has just one
# n-th root that is a square, which stands for the n-th root of a positive number.
PRIME = 2303367434092484759
MAX_DEGREE = 64
MAX_ROOT = 256  # index of a root that polynomials are written in
NOT_WHOLE = 1e-3  # what is so far from an integer is none
ZERO, ONE, GENERATOR = (nmod_poly(row, PRIME) for row in ([], [1], [0, 1]))
APART, SHARES, KILLS = 0, 1, 2


class RootGuard:
    """Tells which multiplications and divisions of both sides of lhs = rhs would take a root away.

    Rational functions are compared in one generator at a time: x, or one of the functions of x that
    the term is made of; all else is set to random constants. One copy of a repeated factor may go:
    a*x**2 = 0 divided by x keeps its root.
    """

    def __init__(self, lhs: Expr, rhs: Expr) -> None:
        self.lhs, self.rhs = lhs, rhs
        self.roots = merged(root_indices(lhs), root_indices(rhs))
        self.numerators: dict[tuple[Expr, int], nmod_poly] = {}
        self.overlaps: dict[tuple[Divisor, bool], int] = {}

    def loses(self, term: Expr, inverse: bool) -> bool:
        """Whether multiplying by `term` (dividing, if `inverse`) takes a root away."""
        return (inverse or has_denominator(term)) and self.overlap(divisor(term), inverse) == KILLS

    def overlap(self, by: Divisor, inverse: bool) -> int:
        """How the multiplier's denominator meets the numerator of lhs - rhs, at the worst."""
        known = self.overlaps.get((by, inverse))
        if known is None:
            known = self.overlaps[by, inverse] = self.find_overlap(by, inverse)
        return known

    def find_overlap(self, by: Divisor, inverse: bool) -> int:
        if by.factors:
            # Coprime to every factor, or robbed by one: no need to look at the product.
            worst = max([self.overlap(factor, inverse) for factor in by.factors])
            if worst != SHARES:
                return worst
        roots = merged(self.roots, by.roots)
        if not roots:
            found = by.fractions(inverse)
        else:
            indices = tuple([roots.get(g, 1) for g in generators(by.term)])
            if max(indices, default=1) > MAX_ROOT:  # it cannot be told
                return KILLS
            found = multipliers(by.term, inverse, indices)
        worst = APART
        for generator, root, above, below in found:
            if top := self.numerator(generator, root):
                worst = max(worst, meet(top if above.degree() == 0 else top * above, below))
        return worst

    def numerator(self, generator: Expr, root: int) -> nmod_poly:
        """The numerator of lhs - rhs over the prime field, up to a constant factor."""
        key = (generator, root)
        found = self.numerators.get(key)
        if found is None:
            left_top, left_below = fraction(self.lhs, generator, root)
            right_top, right_below = fraction(self.rhs, generator, root)
            found = left_top * right_below - right_top * left_below
            self.numerators[key] = found
        return found


def decides(lhs: Expr, rhs: Expr, term: Expr) -> bool:
    """Whether the guard knows all there is to know about a division: everything is a rational
    function of x, or of one other function. Of sin(u) it does not know that it is 0 where u is.
    """
    everything = (lhs, rhs, term)
    found = {generator for expr in everything for generator in generators(expr)}
    return len(found) <= 1 and not any(root_indices(e) or e.has(Abs) for e in everything)


class Divisor:
    """What is asked about a term in every equation that has it; looked up by identity."""

    __slots__ = ("term", "factors", "roots", "plain")

    def __init__(self, term: Expr) -> None:
        self.term, self.roots = term, root_indices(term)
        self.factors = tuple(map(divisor, factors_with_x(term)))
        self.plain: dict[bool, list[Multiplier]] = {}

    def fractions(self, inverse: bool) -> list[Multiplier]:
        """The multiplier as fractions, where there are no roots."""
        if inverse not in self.plain:
            self.plain[inverse] = multipliers(self.term, inverse, ())
        return self.plain[inverse]


divisor = remember(Divisor)


def factors_with_x(term: Expr) -> tuple[Expr, ...]:
    """The factors of a product or power that can be looked at one by one."""
    if isinstance(term, Mul):
        return tuple(factor for factor in term.args if has_x(factor))
    if isinstance(term, Pow) and term.exp.is_Integer and term.exp.p > 0 and has_x(term.base):
        return (term.base,)
    return ()


@remember
def multipliers(term: Expr, inverse: bool, indices: tuple[int, ...]) -> list[Multiplier]:
    """The multiplier as a fraction in the roots of its generators, wherever it has a denominator;
    of that the factors that have no zeros are left out. No indices: there are no roots.
    """
    found = []
    for generator, root in zip_longest(generators(term), indices, fillvalue=1):
        above, below = fraction(term, generator, root)
        if inverse:
            above, below = below, above
        if isinstance(generator, exp | Pow):  # an exponential has no zeros: its powers may go
            while below.degree() > 0 and below[0] == 0:
                below //= GENERATOR
        if below.degree() > 0:
            found.append((generator, root, above, below))
    return found


def meet(top: nmod_poly, below: nmod_poly) -> int:
    """Whether `below` shares no factor with `top`, leaves a copy of each, or kills one."""
    common = top.gcd(below)
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
    return isinstance(expr, Add | Mul) and any(map(has_denominator, expr.args))


@remember
def generators(expr: Expr) -> tuple[Expr, ...]:
    """x and the functions of x that `expr` is a rational function of."""
    if not has_x(expr):
        return ()
    if isinstance(expr, Add | Mul) or (isinstance(expr, Pow) and expr.exp.is_Rational):
        args = expr.args if not isinstance(expr, Pow) else expr.args[:1]
        return tuple(dict.fromkeys(g for arg in args for g in generators(arg)))
    if isinstance(expr, Abs):  # 0 where what is inside is
        return generators(expr.args[0])
    return (expr,)


@remember
def root_indices(expr: Expr) -> dict[Expr, int]:
    """For every function of x under a root in `expr` the least n for which all of its roots are
    powers of its n-th root.
    """
    found: dict[Expr, int] = {}
    if not has_x(expr):
        return found
    if isinstance(expr, Pow) and expr.exp.is_Rational and not expr.exp.is_Integer:
        found = {expr.base: expr.exp.q}
    for arg in expr.args:
        found = merged(found, root_indices(arg))
    return found


def merged(first: dict[Expr, int], second: dict[Expr, int]) -> dict[Expr, int]:
    """The indices of the roots of both."""
    if first is second or not (first and second):
        return first or second
    return {**first, **{base: math.lcm(n, first.get(base, 1)) for base, n in second.items()}}


@remember
def fraction(expr: Expr, generator: Expr, root: int) -> Fraction:
    """`expr` as a quotient of polynomials over the prime field in s, where generator = s**root."""
    if not has_x(expr) and generator is not X:  # the same in every generator
        return fraction(expr, X, 1)
    if isinstance(expr, Rational) and expr.q % PRIME:
        return constant(expr.p * pow(expr.q, -1, PRIME)), ONE
    if isinstance(expr, Add):  # no generator is a sum or a product
        top, below = ZERO, ONE
        for arg in expr.args:
            arg_top, arg_below = fraction(arg, generator, root)
            if arg_below != below:
                top, arg_top = top * arg_below, arg_top * below
                below = below * arg_below
            top = top + arg_top
        return top, below
    if isinstance(expr, Mul):
        top, below = ONE, ONE
        for arg in expr.args:
            arg_top, arg_below = fraction(arg, generator, root)
            top, below = top * arg_top, below * arg_below
        return top, below
    if isinstance(expr, Pow) and expr.exp.is_Rational and not has_x(expr):
        return constant(power_of_constant(residue(expr.base), expr)), ONE
    if expr == generator:
        return GENERATOR**root, ONE
    if isinstance(expr, Pow) and expr.exp.is_Rational:
        # A root of anything but the generator vanishes where its radicand does: taken to the full
        # power.
        is_root = expr.base == generator
        times = expr.exp.p * (root // expr.exp.q if is_root else 1)
        top, below = (GENERATOR, ONE) if is_root else fraction(expr.base, generator, root)
        if (top.length() + below.length()) * abs(times) <= MAX_DEGREE:
            top, below = (top, below) if times > 0 else (below, top)
            return top ** abs(times), below ** abs(times)
    if isinstance(expr, Abs):
        return fraction(expr.args[0], generator, root)
    times = exponential_power(expr, generator)
    if times and abs(times) <= MAX_DEGREE:
        term = GENERATOR ** abs(times)
        return (term, ONE) if times > 0 else (ONE, term)
    return constant(opaque(expr)), ONE


def residue(expr: Expr) -> int:
    """An expression without x in the prime field; one that divides by 0 has some value, too."""
    top, below = fraction(expr, X, 1)
    return int(top[0]) * pow(int(below[0]), -1, PRIME) % PRIME if below[0] != 0 else opaque(expr)


def power_of_constant(base: int, expr: Pow) -> int:
    """base**expr.exp in the prime field, by the rule for roots of positive numbers if the base is a
    square; some other element where there is no such root, or where 0 is divided by.
    """
    exponent, order = expr.exp, PRIME - 1
    if base == 0:
        return 0 if exponent.p > 0 else opaque(expr)
    if exponent.q > 1 and pow(base, order // 2, PRIME) == 1:
        order //= 2
    elif exponent.q % 2 == 0:
        return opaque(expr)
    return pow(base, exponent.p * pow(exponent.q, -1, order), PRIME)


def exponential_power(expr: Expr, generator: Expr) -> int:
    """n where expr = generator**n, of exponentials and of an n that is not too large; else 0."""
    if isinstance(expr, exp) and isinstance(generator, exp):
        over, under = values(expr.args[0])[0], values(generator.args[0])[0]
        if under and not cmath.isinf(over) and not cmath.isinf(under):
            # Mostly it is far from an integer, or too large a power: no need to divide exactly.
            if abs(over) > 2 * MAX_DEGREE * abs(under):
                return 0
            if abs(over / under - round((over / under).real)) > NOT_WHOLE:
                return 0
        try:
            ratio = product(expr.args[0], power(generator.args[0], MINUS_ONE))
        except TooLarge:
            return 0
        return ratio.p if ratio.is_Integer else 0
    return 0


def opaque(expr: Expr) -> int:
    """A pseudo-random square of the field that stands for `expr`: equal ones, equal elements."""
    value = values(expr)[0]
    if cmath.isinf(value):  # what overflows is told apart by how it is written
        return crc32(str(expr).encode()) ** 2 * 0x9E3779B97F4A7C15**2 % PRIME
    return crc32(struct.pack("dd", value.real, value.imag)) ** 2 * 0x9E3779B97F4A7C15**2 % PRIME


def constant(value: int) -> nmod_poly:
    return nmod_poly([value % PRIME], PRIME)
