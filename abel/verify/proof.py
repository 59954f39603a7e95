"""Exact proofs of the solving criterion, in the ring of `abel.verify.kernels`.

At depth 0 only rules that hold on every branch are used; at depth 1 branches are taken as they are
at a given point, and each choice is recorded as a condition; at depth 2 roots and logarithms of
products are also split by sign. Where a number decides, it is a ball that excludes the other answer
(`abel.verify.balls`).
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import product
from typing import Any

import sympy as sp
from flint import acb, arb
from sympy import QQ, Add, Expr, Float, I, Mul, Pow, Rational, Symbol, exp, pi
from sympy.polys.rings import PolyElement

from abel.equation import ONE, X, integer_bits, is_lower_lambert, num_nodes
from abel.verify.balls import Point
from abel.verify.kernels import (
    INVERSE,
    LOWER,
    MAX_POWER,
    PARITY,
    GiveUp,
    as_qq,
    as_rational,
    lowest,
    prime_powers,
    shifted,
)
from abel.verify.signs import SignedRing, tentative

MAX_BITS = 4096  # of a number in a proof
NESTING = 4  # roots within roots that are looked into to see that something is 0
HALF = Rational(1, 2)
Parts = list[tuple[PolyElement, Rational | int, bool]]  # as `Tower.split` has them
SIMPLE = 16  # nodes of angles that SymPy may look at: for cos of nested roots it takes minutes
REWRITTEN = {
    sp.sin: lambda u: (exp(I * u) - exp(-I * u)) * -I / 2,
    sp.cos: lambda u: (exp(I * u) + exp(-I * u)) / 2,
    sp.tan: lambda u: sp.sin(u) / sp.cos(u),
    sp.acos: lambda u: pi / 2 - sp.asin(u),
}


def is_below(value: acb | arb, bound: arb) -> bool | None:
    """Whether |value| is below the bound; None if it cannot be told."""
    size = abs(value)
    return True if size < bound else False if size > bound else None


class Tower(SignedRing):
    """A proof under way.

    Depth 0 uses only what holds on every branch. Depth 1 takes the branches at a sample point and
    notes each choice in `conditions`. Depth 2 also splits roots and logarithms of products, by the
    signs there.
    """

    def __init__(self, symbols: list[Symbol], point: Point, depth: int, orders: dict) -> None:
        super().__init__(symbols, orders, point, depth)
        self.angles: dict[tuple, PolyElement] = {}  # u, by (sin, sin(u)), ...
        self.origins: dict[PolyElement, tuple[PolyElement, int]] = {}  # (u, n), by u**n
        self.logarithms: dict[PolyElement, PolyElement] = {}  # u, by exp(u)
        self.tried: dict[PolyElement, int] = {}  # how deep it was tried to show that f is 0

    # From SymPy

    def let_x(self, value: Expr) -> None:
        """What x stands for in what is converted from now on."""
        self.known[X] = self.convert(value)

    def convert(self, expr: Expr) -> PolyElement:
        if expr in self.known:
            return self.known[expr]
        kind, args = type(expr), [self.argument(expr, arg) for arg in expr.args]
        if isinstance(expr, (Rational, Float)) and integer_bits(Rational(expr)) <= MAX_BITS:
            result = self.one * as_qq(Rational(expr))
        elif kind is Add:
            result = self.reduced(sum(args, self.zero))
        elif kind is Mul:
            result = reduce(self.times, args)
        elif kind is Pow and isinstance(expr.exp, Rational):
            result = self.root(args[0], expr.exp)
            if expr.exp.q == 1 and abs(expr.exp) > 1:
                self.origins[result] = (args[0], int(expr.exp))
        elif kind is Pow:
            result = self.exp(self.times(args[1], self.log(args[0])))
        elif expr is sp.E:
            result = self.exp(self.one)
        elif len(args) == 1:
            result = self.function(kind, expr, args[0])
        elif is_lower_lambert(expr):
            self.divide_by(args[0])
            result = self.lambert(LOWER, args[0])
        else:
            raise GiveUp
        self.known[expr] = result
        return result

    def function(self, kind: type, expr: Expr, arg: PolyElement) -> PolyElement:
        """A function of one argument: `expr`, whose argument is `arg` once converted."""
        if kind is exp:
            result = self.exp(arg)
            self.logarithms[result] = arg
        elif kind is sp.log:
            result = self.log(arg)
        elif kind in REWRITTEN:
            simple = kind is sp.acos or num_nodes(expr) <= SIMPLE
            result = self.convert(REWRITTEN[kind](expr.args[0])) if simple else self.wave(kind, arg)
            self.angles[kind, result] = arg
        elif kind in (sp.asin, sp.atan):
            if kind is sp.atan:  # which has poles at I and -I
                self.divide_by(self.one + self.times(arg, arg))
            result = self.inverse_trig(kind, arg)
        elif kind is sp.Abs:
            result = self.absolute(arg)
        elif kind is sp.LambertW:
            result = self.lambert(kind, arg) if arg else self.zero
        else:
            raise GiveUp
        return result

    def argument(self, expr: Expr, arg: Expr) -> PolyElement:
        """An argument of `expr`, converted; `abel.verify.named` has another way."""
        return self.convert(arg)

    # Functions

    def split(self, f: PolyElement) -> Parts:
        """f as a product of powers: (base, exponent, False) or (logarithm of base, exponent, True).

        Principal powers of f are products of theirs, and its logarithm is a sum: every base but one
        is positive, and that one has the exponent 1, or is alone with an exponent from 0 to 1.
        """
        base, n = self.origins.get(f, (self.zero, 0))
        if self.depth and (sign := self.sign(base)) and (sign > 0 or n % 2 == 0):
            return [(part, e * n, is_log) for part, e, is_log in self.split(base * sign)]
        if f in self.logarithms and self.is_principal(self.logarithms[f]):
            return [(self.logarithms[f], 1, True)]
        content, rest = f.primitive()
        parts: Parts = []
        for number, sign in ((content.numerator, 1), (content.denominator, -1)):
            parts += [(self.one * p, sign * e, False) for p, e in prime_powers(int(number))]
        for peel in (self.peel_exponentials, self.peel_signed):
            peeled, rest = peel(rest)
            parts += peeled
        used = [(kernel, e) for kernel, e in zip(self.kernels, rest.LM) if e]
        if len(used) == len(rest) == rest.LC == 1 and used[0][0].kind in (Pow, I):
            (kernel, e), *_ = used
            return [*parts, (kernel.arg, Rational(e, kernel.order), False)]
        return parts if rest == 1 else [*parts, (rest, 1, False)]

    def peel_exponentials(self, f: PolyElement) -> tuple[Parts, PolyElement]:
        """The factors exp(u) with real u, by their logarithms, and what is left of f."""
        parts: Parts = []
        rest = f
        for (kind, u, order), e, kernel in zip(self.kernels, lowest(f), self.ring.gens):
            if e and kind is exp and self.real(u):
                parts.append((u, Rational(e, order), True))
                rest = self.times(rest, self.power(kernel, -e))
        return parts, rest

    def peel_signed(self, f: PolyElement) -> tuple[Parts, PolyElement]:
        """At depth 2, the factors whose sign is known, made positive, and what is left of f."""
        parts: Parts = []
        rest = f
        for p, e in self.factors(f) if self.depth == 2 else ():
            if sign := self.sign(p):
                parts.append((p * sign, e, False))
                rest = self.times(rest, self.power(p * sign, -e))
        return parts, rest

    def wave(self, kind: type, arg: PolyElement) -> PolyElement:
        """sin, cos or tan of a large angle, without SymPy."""
        if kind is sp.tan:
            return self.times(self.wave(sp.sin, arg), self.inverse(self.wave(sp.cos, arg)))
        turned = self.times(self.i, arg)
        up, down = self.exp(turned), self.exp(-turned)
        self.logarithms[up], self.logarithms[down] = turned, -turned
        if kind is sp.sin:
            return self.times(down - up, self.i) * as_qq(HALF)
        return (up + down) * as_qq(HALF)

    def is_principal(self, u: PolyElement) -> bool:
        """Whether log(exp(u)) is u."""
        if self.real(u):
            return True
        expr = self.expression(u)
        if expr.free_symbols:
            return False
        return bool(self.point.settle(expr, lambda z: is_below(z.imag, arb.pi())))

    def root(self, f: PolyElement, r: Rational) -> PolyElement:
        """f**r"""
        if not f and r > 0:
            return f
        whole, r = divmod(r, 1)
        result = self.power(f, int(whole))
        for base, e, is_log in self.split(f) if r else ():
            part = self.exp(base * as_qq(e * r)) if is_log else self.radical(base, e * r)
            result = self.times(result, part)
        return result

    def radical(self, base: PolyElement, r: Rational) -> PolyElement:
        """base**r by one kernel; (-1)**r = cos(pi*r) + I*sin(pi*r) where those are known"""
        if base == -1 and r.q <= 12:
            unit = sp.cos(pi * r) + I * sp.sin(pi * r)
            if not unit.has(sp.cos, sp.sin):
                return self.convert(unit)
        whole, r = divmod(r, 1)
        root = (
            self.kernel(Pow, base, int(r.q)) ** int(r * self.orders[Pow, base]) if r else self.one
        )
        return self.times(self.power(base, int(whole)), root)

    def lambert(self, branch: Any, f: PolyElement) -> PolyElement:
        """W(f), which is u where f = u*exp(u) with a real u: on the principal branch from -1 on, on
        the lower one up to -1.
        """
        bounds = (None, -ONE) if branch is LOWER else (-ONE, None)
        for (kind, arg, order), e, kernel in zip(self.kernels, lowest(f), self.ring.gens):
            if kind is not exp or not e or arg is None:
                continue
            u = arg * QQ(e, order)
            if self.times(u, self.power(kernel, e)) == f and self.real(u):
                if self.assume(self.expression(u), *bounds):
                    return u
        u = self.lower_value(f) if branch is LOWER else None
        return self.kernel(branch, f) if u is None else u

    def lower_value(self, f: PolyElement) -> PolyElement | None:
        """LambertW(f, -1) where that is known: -1 at -1/e; for f = c*log(b) with rational c and b
        the multiple n*log(b), if n*b**n is c: LambertW(-log(2)/2, -1) is -2*log(2).
        """
        if f == -self.exp(-self.one):
            return -self.one
        content, rest = f.primitive()
        factors = []  # of b, which is no power of another number, so that n is whole
        for monom, c in rest.terms():
            kernel = self.kernels[monom.index(1)] if sum(monom) == 1 == max(monom) else None
            if kernel is None or kernel.kind is not sp.log or not kernel.arg.is_ground:
                return None
            factors.append((kernel.arg.LC, int(c)))
        ratio = LOWER(self.expression(f)) / self.expression(rest)
        n = self.point.settle(ratio, lambda z: round(float(z.real.mid())))
        if not n or abs(n) * sum(abs(e) for _, e in factors) > MAX_POWER:
            return None
        u = rest * int(n)
        power = math.prod((p ** (e * int(n)) for p, e in factors), start=QQ(int(n)))
        return u if power == content and self.assume(self.expression(u), None, -ONE) else None

    def absolute(self, f: PolyElement) -> PolyElement:
        """|f| = sqrt(f**2) where f is real, and only there; factor by factor."""
        result = self.one * abs(f.LC)
        for base, e in self.factors(f) if f else ():
            if not self.real(base):
                raise GiveUp
            square = self.times(base, base)
            self.origins[square] = (base, 2)
            result = self.times(result, self.power(self.root(square, HALF), e))
        return result

    def log(self, f: PolyElement) -> PolyElement:
        self.divide_by(f)
        result = self.zero
        for base, e, is_log in self.split(f):
            if not is_log:
                base = self.i * self.pi if base == -1 else self.kernel(sp.log, base)
            result += base * as_qq(e)
        return result

    def exp(self, f: PolyElement) -> PolyElement:
        """Term by term where a rule applies; of the other terms, turns are kept whole at depth 1
        and 2.
        """
        result, turn = self.one, self.zero
        for monom, c in self.separated(f).terms():
            term, c = self.ring.from_dict({monom: QQ(1)}), as_rational(c)
            part = self.exp_by_rule(monom, c)
            if part is None and self.depth and monom[self.i.LM.index(1)]:
                turn += term * as_qq(c)
                part = self.one
            result = self.times(result, self.exp_kernel(term, c) if part is None else part)
        if turn:
            content, unit = turn.primitive()
            sign = 1 if unit.LC > 0 else -1
            result = self.times(result, self.exp_kernel(unit * sign, sign * as_rational(content)))
        return result

    def separated(self, f: PolyElement) -> PolyElement:
        """f with log(2)/(log(2) - log(3)) = 1 + log(3)/(log(2) - log(3)) and the like: of the terms
        of such a denominator, the first is not left beside its inverse.
        """
        for k, (kind, arg, _) in zip(self.ring.gens, self.kernels):
            if kind is not INVERSE or arg is None:
                continue
            lead = self.ring.from_dict({arg.LM: arg.LC})  # arg is monic
            while divisible := [m for m in f if all(map(int.__ge__, m, (k * lead).LM))]:
                term = self.ring.from_dict({max(divisible): f[max(divisible)]})
                part = shifted(term, (k * lead).LM)
                self.spend(len(arg))
                f = f - term + part - part * k * (arg - lead)
        return f

    def exp_by_rule(self, monom: tuple[int, ...], c: Rational) -> PolyElement | None:
        """exp(c*monom) if it is known: exp(I*pi*n), or of one kernel, with I or without."""
        place_of_i = self.i.LM.index(1)
        turned = monom[place_of_i] == 1
        places = [i for i, e in enumerate(monom) if e and i != place_of_i]
        if turned and c.q == 1 and (whole := self.half_turns(monom, places)):
            return self.one if c % 2 == 0 else self.kernel(PARITY, whole)
        if len(places) != 1 or monom[places[0]] != 1:
            return None
        kind, u, _ = self.kernels[places[0]]
        if turned:
            return self.exp_of_angle(kind, u, c)
        if kind is sp.log:  # exp(c*log(u)) = u**c
            return self.root(u, c)
        if kind in (sp.LambertW, LOWER) and c.q == 1:  # exp(W(u)) = u/W(u)
            return self.power(self.times(u, self.inverse(self.ring.gens[places[0]])), int(c))
        return None

    def exp_of_angle(self, kind: type, u: PolyElement, c: Rational) -> PolyElement | None:
        """exp(c*I*kind(u)) for pi, asin and atan."""
        if kind is pi:
            return self.radical(-self.one, c)
        if kind not in (sp.asin, sp.atan):
            return None
        iu = self.times(self.i, u) * (1 if c > 0 else -1)
        if kind is sp.asin:  # exp(I*asin(u)) = sqrt(1 - u**2) + I*u
            square = self.times(u, u)
            return self.root(self.root(self.one - square, HALF) + iu, abs(c))
        above, below = self.one + iu, self.one - iu
        if c % 2 == 0:  # exp(2*I*atan(u)) = (1 + I*u)/(1 - I*u)
            return self.power(self.times(above, self.inverse(below)), int(abs(c) / 2))
        if self.real(u):  # exp(I*atan(u)) = (1 + I*u)/sqrt(1 + u**2)
            square = self.times(u, u)
            return self.root(self.times(above, self.root(self.one + square, -HALF)), abs(c))
        # For every u that is not I or -I, principal roots:
        return self.root(self.times(self.root(above, HALF), self.root(below, -HALF)), abs(c))

    def half_turns(self, monom: tuple[int, ...], places: list[int]) -> PolyElement | None:
        """n if `monom` is I*pi*n with n a product of integer symbols: exp(I*pi*n) = (-1)**n."""
        counts = [i for i in places if self.kernels[i].kind is not pi]
        whole = [
            isinstance(kind := self.kernels[i].kind, Symbol) and kind.is_integer for i in counts
        ]
        if sum(monom[i] for i in places if i not in counts) != 1 or not counts or not all(whole):
            return None
        if min(monom[i] for i in counts) < 0:
            return None
        return self.ring.from_dict({tuple(e * (i in counts) for i, e in enumerate(monom)): QQ(1)})

    def exp_kernel(self, unit: PolyElement, c: Rational) -> PolyElement:
        """exp(c*unit); exp(I*u) = cos(u) + I*sin(u) for real u"""
        order, angle = int(c.q), shifted(unit, self.i.LM)
        if self.real(angle):
            turn = self.kernel(sp.cos, angle, order)
            turn += self.i * self.kernel(sp.sin, angle, order) * (1 if c > 0 else -1)
            return self.power(turn, int(abs(c) * self.orders[sp.cos, angle]))
        return self.power(self.kernel(exp, unit, order), int(c * self.orders[exp, unit]))

    def inverse_trig(self, kind: type, f: PolyElement) -> PolyElement:
        """What SymPy knows of asin(1/2); asin(sin(u)), atan(tan(u)) by the point; or a kernel."""
        kernels = self.kernels_in(f)
        constant = all(k.kind is Pow and k.arg is not None and k.arg.is_ground for k in kernels)
        if len(f) <= 2 and constant:
            value = kind(self.expression(f).doit())
            if not value.has(kind):
                return self.convert(value)
        inverses = (sp.sin, sp.cos) if kind is sp.asin else (sp.tan,)
        for inverse, sign in product(inverses, (1, -1)):
            u = self.angles.get((inverse, f * sign))
            if u is None or not self.real(u):
                continue
            u = self.pi * QQ(1, 2) - u if inverse is sp.cos else u
            n = self.point.settle(self.expression(u), lambda z: round(float(z.real) / math.pi))
            if n is not None and self.within(u, pi * (n - HALF), pi * (n + HALF)):
                return (u - self.pi * n) * (-sign if n % 2 and kind is sp.asin else sign)
        return self.kernel(kind, f)

    # The proof

    @tentative
    def vanishes(self, f: PolyElement, nesting: int = NESTING) -> bool:
        """Whether f is 0: at sight, or as a factor is high*k**j + low with k**j = -low/high."""
        f = self.reduced(f)
        if not f or nesting <= self.tried.get(f, 0):
            return not f
        self.tried[f] = nesting  # more often would not help, neither later nor on the way
        for (factor, _), i in product(self.factors(f), reversed(range(len(self.kernels)))):
            kind, base, order = self.kernels[i]
            exponents = sorted({monom[i] for monom in factor})
            if kind is not Pow or len(exponents) != 2:
                continue
            low, high = (
                self.ring.from_dict(
                    {m[:i] + (0,) + m[i + 1 :]: c for m, c in factor.items() if m[i] == e}
                )
                for e in exponents
            )
            j = exponents[1] - exponents[0]
            value = self.times(-low, self.inverse(high))
            difference = self.power(value, order) - self.power(base, j)
            if self.vanishes(difference, nesting - 1) and self.principal(value, base, order, j):
                return True
        return nesting == NESTING and (self.is_no_turn(f, self.one) or self.is_no_turn(f, self.i))

    @tentative
    def is_no_turn(self, f: PolyElement, unit: PolyElement) -> bool:
        """Whether f is 0 since exp(unit*f) is 1, and f too small for a turn of 2*pi: sums of
        logarithms (unit 1) or of angles (unit I), with rational factors.
        """
        kinds = {kernel.kind for kernel in self.kernels_in(f)}
        if kinds.isdisjoint((sp.log,) if unit == 1 else (sp.asin, sp.atan)):
            return False
        f = self.cleared(f) * math.lcm(*[int(c.denominator) for c in f.values()])
        if not self.vanishes(self.exp(self.times(unit, f)) - 1, NESTING - 1):
            return False
        expr = self.expression(f)
        if not expr.free_symbols:
            return bool(self.point.settle(expr, lambda z: is_below(z, arb(3))))
        return self.real(f) and (unit == 1 or self.within(f, -pi, pi))

    def cleared(self, f: PolyElement) -> PolyElement:
        """f times what it is divided by, which is not 0."""
        f = shifted(f, tuple(min(e, 0) for e in lowest(f)))
        for i, (kind, arg, _) in enumerate(self.kernels):
            if kind is INVERSE and arg is not None and (e := max(monom[i] for monom in f)):
                f = self.times(f, self.power(arg, e))
        return f

    def principal(self, value: PolyElement, base: PolyElement, order: int, j: int) -> bool:
        """Whether value, with value**order = base**j, is the principal base**(j/order)."""
        expr = self.expression(value)
        if j == 1 and not expr.free_symbols:
            return bool(self.point.settle(expr, lambda z: is_below(z.arg(), arb.pi() / order)))
        return self.sign(value) == 1 and (j == 1 or self.sign(base) == 1)
