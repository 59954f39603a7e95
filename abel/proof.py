"""Exact proofs of the solving criterion: Laurent polynomials over QQ in coefficients and kernels.

Kernels are radicals, inverses, exponentials, logarithms and the like, reduced by what is known of
them, such as k**q = base. At depth 0 only rules that hold on every branch are used; at depth 1
branches are taken as they are at a given point, and each choice is recorded as a condition; at
depth 2 roots and logarithms of products are also split by sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, reduce, wraps
from itertools import product
from typing import Any, NamedTuple

import sympy as sp
from sympy import QQ, Add, Expr, Float, Ge, I, Le, Mul, Pow, Rational, Symbol, exp, pi
from sympy.logic.boolalg import Boolean
from sympy.polys.rings import PolyElement, PolyRing, ring

from abel.equation import ONE, ZERO, X, integer_bits, remember
from abel.residual import DIGITS_50, column, columns_at

MAX_BITS = 4096  # of a number in a proof
MAX_WORK, MAX_POWER = 30_000, 200  # products of terms in one proof; exponents
MAX_FACTOR_TERMS, MAX_FACTOR_SIZE = 16, 200  # terms, and product of (degree + 1), to be factored
HALF = Rational(1, 2)


class GiveUp(Exception):
    """A size guard was hit, or a function has no rule."""


class Retry(Exception):
    """A kernel needs a higher order: base**(1/6) in place of base**(1/2)."""


class _Kernel(NamedTuple):
    """What a generator stands for: a symbol, pi, or a function of `arg`."""

    # Pow: arg**(1/order); exp: exp(arg/order); INVERSE: 1/arg; PARITY: (-1)**arg; else kind(arg)
    kind: Any
    arg: PolyElement | None = None
    order: int = 1


INVERSE, PARITY = "inverse", "parity"
SMALL_PRIMES = tuple(sp.primerange(200))
REWRITTEN = {
    sp.sin: lambda u: (exp(I * u) - exp(-I * u)) * -I / 2,
    sp.cos: lambda u: (exp(I * u) + exp(-I * u)) / 2,
    sp.tan: lambda u: sp.sin(u) / sp.cos(u),
    sp.acos: lambda u: pi / 2 - sp.asin(u),
}


@lru_cache(maxsize=64)
def _ring(num_generators: int) -> PolyRing:
    return ring([f"g{i}" for i in range(num_generators)], QQ)[0]


def _rational(c: Any) -> Rational:
    return Rational(int(c.numerator), int(c.denominator))


def _qq(r: Rational | int) -> Any:
    return QQ(int(r.numerator), int(r.denominator))


def _lowest(f: PolyElement) -> tuple[int, ...]:
    """Exponents of the largest monomial that divides f; they may be negative."""
    return tuple(map(min, zip(*f)))


def _shifted(f: PolyElement, monom: tuple[int, ...]) -> PolyElement:
    """f / monom"""
    return f.ring.from_dict({tuple(map(int.__sub__, m, monom)): c for m, c in f.items()})


@remember
def _irreducible_factors(f: PolyElement) -> tuple[tuple[PolyElement, int], ...]:
    """Over QQ, without the constant, leading coefficients positive; f itself if costly."""
    degrees = f.degrees()
    used = [i for i, degree in enumerate(degrees) if degree]
    factors = [(f, 1)] if used else []
    small = len(f) <= MAX_FACTOR_TERMS and math.prod(d + 1 for d in degrees) <= MAX_FACTOR_SIZE
    if small and max(map(sum, f)) > 1:
        # SymPy factors faster without the generators that do not occur.
        narrow = _ring(len(used)).from_dict({tuple(m[i] for i in used): c for m, c in f.items()})
        factors = []
        for factor, e in narrow.factor_list()[1]:
            exponents = [(dict(zip(used, m)), c) for m, c in factor.items()]
            wide = {tuple(m.get(i, 0) for i in range(len(degrees))): c for m, c in exponents}
            factors.append((f.ring.from_dict(wide), e))
    return tuple((p if p.LC > 0 else -p, e) for p, e in factors)


def _small_factors(n: int) -> list[tuple[int, int]]:
    """Small primes of a positive integer with their powers, then what is left, a square or not."""
    found = []
    for p in SMALL_PRIMES:
        e = 0
        while n % p == 0:
            n, e = n // p, e + 1
        found.append((p, e))
    root = math.isqrt(n)
    found.append((root, 2) if root * root == n else (n, 1))
    return [(p, e) for p, e in found if p > 1 and e]


def _tentative(method: Callable) -> Callable:
    """Conditions that were noted on the way are forgotten if nothing came of it."""

    @wraps(method)
    def wrapper(self, *args):
        before = dict(self.conditions)
        result = method(self, *args)
        if not result:
            self.conditions = before
        return result

    return wrapper


class Tower:
    """The ring in which one proof happens, built kernel by kernel as expressions are converted.

    Depth 0 uses only what holds on every branch. Depth 1 takes the branches at a sample point and
    notes each choice in `conditions`. Depth 2 also splits roots and logarithms of products, by the
    signs there.
    """

    num_kernels = 20

    def __init__(self, symbols: list[Symbol], point: tuple[float, ...], depth: int, orders: dict):
        self.ring = _ring(len(symbols) + self.num_kernels)
        self.depth, self.orders = depth, orders
        self.numbers = columns_at([point], symbols, DIGITS_50)
        self.work = 0
        self.kernels: list[_Kernel] = []
        self.index: dict[tuple, int] = {}
        self.angles: dict[tuple, PolyElement] = {}  # u, by (sin, sin(u)), ...
        self.origins: dict[PolyElement, tuple[PolyElement, int]] = {}  # (u, n), by u**n
        self.logarithms: dict[PolyElement, PolyElement] = {}  # u, by exp(u)
        self.conditions: dict[Boolean, None] = {}
        self.tried: dict[PolyElement, int] = {}  # how deep it was tried to show that f is 0
        self.one, self.zero = self.ring.one, self.ring.zero
        self.known = {symbol: self.kernel(symbol) for symbol in symbols}
        self.known[I] = self.i = self.kernel(I, -self.one, 2)
        self.known[pi] = self.pi = self.kernel(pi)

    # Arithmetic

    def kernel(self, kind: object, arg: PolyElement | None = None, order: int = 1) -> PolyElement:
        """The generator for this kernel, perhaps a new one; its order is a multiple of `order`."""
        key = (kind, arg)
        self.orders[key] = order = math.lcm(order, self.orders.get(key, 1))
        place = self.index.setdefault(key, len(self.kernels))
        if place == len(self.kernels):
            if place == self.ring.ngens:
                raise GiveUp
            self.kernels.append(_Kernel(kind, arg, order))
        elif self.kernels[place].order != order:
            raise Retry
        return self.ring.gens[place]

    def times(self, f: PolyElement, g: PolyElement) -> PolyElement:
        self.spend(len(f) * len(g))
        return self.reduced(f * g)

    def spend(self, num_products: int) -> None:
        """Proofs are bounded by the number of terms that they multiply."""
        self.work += num_products
        if self.work > MAX_WORK:
            raise GiveUp

    def reduced(self, f: PolyElement) -> PolyElement:
        """f with k**order = arg put in for radicals and k*arg = 1 for inverses, outermost kernels
        first.
        """
        for i in reversed(range(len(self.kernels))):
            kind, arg, order = self.kernels[i]
            limit = {Pow: order, I: 2, sp.sin: 2, PARITY: 2, INVERSE: 1}.get(kind)
            if limit is None or all(0 <= monom[i] < limit for monom in f):
                continue
            parts: dict[int, dict] = {}
            for monom, c in f.items():
                whole, rest = divmod(monom[i], limit)
                parts.setdefault(whole, {})[monom[:i] + (rest,) + monom[i + 1 :]] = c
            top = max(0, *parts) if kind is INVERSE else 0
            if kind is sp.sin:
                arg = self.one - self.kernel(sp.cos, arg) ** 2
            f, arg = self.zero, self.one if kind is PARITY else arg
            for whole, part in parts.items():
                scale = self.power(arg, top - whole if kind is INVERSE else whole)
                f += self.times(self.ring.from_dict(part), scale)
            while top and (quotient := self.quotient(f, arg)) is not None:
                f, top = quotient, top - 1
            f *= self.ring.gens[i] ** top
        return f

    def quotient(self, f: PolyElement, g: PolyElement) -> PolyElement | None:
        """f / g if nothing remains; g is monic, and no monomial divides it."""
        rest, result, low = dict(f), {}, _lowest(f) if f else ()
        while rest:
            lead = max(rest)
            shift, c = tuple(map(int.__sub__, lead, g.LM)), rest[lead]
            if any(map(int.__lt__, shift, low)):
                return None
            result[shift] = c
            self.spend(len(g))
            for monom, k in g.items():
                place = tuple(map(int.__add__, monom, shift))
                rest[place] = rest.get(place, 0) - c * k
                if not rest[place]:
                    del rest[place]
        return self.ring.from_dict(result)

    def inverse(self, f: PolyElement) -> PolyElement:
        if not f:
            raise ZeroDivisionError
        low, lead = _lowest(f), f.LC
        core = _shifted(f, low) * (1 / lead)
        result = self.ring.from_dict({tuple(-e for e in low): 1 / lead})
        return self.reduced(result if core == 1 else result * self.kernel(INVERSE, core))

    def power(self, f: PolyElement, n: int) -> PolyElement:
        if n < 0:
            return self.power(self.inverse(f), -n)
        if len(f) == 1 and abs(f.LC) == 1:
            return self.reduced(f**n)
        if n > MAX_POWER:
            raise GiveUp
        result = self.one
        for bit in bin(n)[2:]:
            result = self.times(result, result)
            result = self.times(result, f) if bit == "1" else result
        return result

    # From SymPy and back

    def let_x(self, value: Expr) -> None:
        """What x stands for in what is converted from now on."""
        self.known[X] = self.convert(value)

    def convert(self, expr: Expr) -> PolyElement:
        if expr in self.known:
            return self.known[expr]
        kind, args = type(expr), [self.argument(expr, arg) for arg in expr.args]
        if isinstance(expr, (Rational, Float)) and integer_bits(Rational(expr)) <= MAX_BITS:
            result = self.one * _qq(Rational(expr))
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
        elif kind in (exp, sp.log):
            result = self.exp(args[0]) if kind is exp else self.log(args[0])
            if kind is exp:
                self.logarithms[result] = args[0]
        elif kind in REWRITTEN:
            result = self.convert(REWRITTEN[kind](expr.args[0]))
            self.angles[kind, result] = args[0]
        elif kind in (sp.asin, sp.atan):
            result = self.inverse_trig(kind, args[0])
        elif kind is sp.LambertW and len(args) == 1:
            result = self.kernel(kind, args[0])
        else:
            raise GiveUp
        self.known[expr] = result
        return result

    def argument(self, expr: Expr, arg: Expr) -> PolyElement:
        """An argument of `expr`, converted; `abel.named` has another way."""
        return self.convert(arg)

    def expression(self, f: PolyElement) -> Expr:
        terms = []
        for monom, c in f.terms():
            powers = [self.meaning(self.kernels[i]) ** e for i, e in enumerate(monom) if e]
            terms.append(Mul(_rational(c), *powers))
        return Add(*terms)

    def meaning(self, kernel: _Kernel) -> Expr:
        kind, arg, order = kernel
        if arg is None or kind is I:
            return kind
        inner = self.expression(arg)
        if kind is PARITY:
            return Pow(-ONE, inner, evaluate=False)
        if kind in (Pow, INVERSE):
            # Unevaluated: SymPy would ask its assumption engine about everything.
            return Pow(inner, Rational(1, order) if kind is Pow else -1, evaluate=False)
        return kind(inner / order, evaluate=False)

    # Signs and ranges of what is real; at depth 0 only those that hold everywhere

    def number(self, expr: Expr) -> tuple[complex, float]:
        return column(expr, self.numbers, DIGITS_50)[0]

    def assume(self, expr: Expr, low: Expr | None, high: Expr | None) -> bool:
        """Whether low <= expr <= high at the sample point; a condition from now on if it has
        symbols.
        """
        constant, expr = expr.as_coeff_Add()
        bounds = [(kind, b - constant) for kind, b in ((Ge, low), (Le, high)) if b is not None]
        for kind, bound in bounds:
            value, error = self.number(expr - bound)
            if abs(value) <= 8 * error or (value.real > 0) != (kind is Ge):
                return False
        if expr.free_symbols and self.depth:
            self.conditions |= {kind(expr, bound, evaluate=False): None for kind, bound in bounds}
        return self.depth > 0 or not expr.free_symbols

    @_tentative
    def sign(self, f: PolyElement) -> int | None:
        """1 or -1, with its condition noted; None if f is not real or too close to 0."""
        if not f or not self.real(f):
            return None
        value, error = self.number(self.expression(f))
        odd = [p for p, e in self.factors(f) if e % 2 and not self.positive(p)]
        core = math.prod(odd, start=self.one)
        single = self.kernels_in(core)[0] if len(core) == 1 and sum(core.LM) == 1 else None
        inner = single.arg if single and single.kind in (sp.asin, sp.atan, sp.log) else None
        if single and inner is not None:  # the sign of something simpler
            known = self.sign(inner - int(single.kind is sp.log))
        else:
            expr = self.expression(core)
            known = self.assume(expr, ZERO, None) or self.assume(expr, None, ZERO)
        return (1 if value.real > 0 else -1) if known and abs(value) > 8 * error else None

    @_tentative
    def real(self, f: PolyElement) -> bool:
        """Whether every kernel in f is real, its conditions noted."""
        return all(self.real_kernel(kernel) for kernel in self.kernels_in(f))

    def real_kernel(self, kernel: _Kernel) -> bool:
        kind, arg, _ = kernel
        if kind in (Pow, I, sp.log, sp.LambertW):
            return self.sign(arg) == 1
        if kind is sp.asin:
            return self.real(arg) and self.within(arg, -ONE, ONE)
        return arg is None or self.real(arg)

    def kernels_in(self, f: PolyElement) -> list[_Kernel]:
        return [kernel for i, kernel in enumerate(self.kernels) if any(monom[i] for monom in f)]

    @_tentative
    def within(self, f: PolyElement, low: Expr, high: Expr) -> bool:
        """Whether low <= f <= high, noted as a condition; multiples of pi move into the bounds."""
        shift = f.coeff(self.pi)
        f, shift = f - self.pi * shift, pi * _rational(shift)
        low, high = low - shift, high - shift
        if f and f.LC < 0:
            f, low, high = -f, -high, -low
        return self.assume(self.expression(f), None if self.positive(f) and low <= 0 else low, high)

    def positive(self, f: PolyElement) -> bool:
        """Whether a real f is plainly a sum of positive terms."""
        sure = [kernel.kind in (Pow, exp, pi, sp.LambertW) for kernel in self.kernels]
        even = all(sure[i] or e % 2 == 0 for monom in f for i, e in enumerate(monom) if e)
        return even and all(c > 0 for c in f.values())

    def factors(self, f: PolyElement) -> list[tuple[PolyElement, int]]:
        """Irreducible factors of f and their powers, without the constant."""
        low = _lowest(f)
        found = [*_irreducible_factors(_shifted(f, low))]
        for i, e in enumerate(low):
            if e and self.kernels[i].kind is INVERSE:
                found += [(p, -e * n) for p, n in _irreducible_factors(self.kernels[i].arg)]
            elif e:
                found.append((self.ring.gens[i], e))
        return found

    # Functions

    def split(self, f: PolyElement) -> list[tuple[PolyElement, Rational | int, bool]]:
        """f as a product of powers: (base, exponent, False) or (logarithm of base, exponent, True).

        Principal powers of f are products of theirs, and its logarithm is a sum: every base but one
        is positive, and that one has the exponent 1, or is alone with an exponent from 0 to 1.
        """
        base, n = self.origins.get(f, (self.zero, 0))
        if self.depth and (sign := self.sign(base)) and (sign > 0 or n % 2 == 0):
            return [(part, e * n, is_log) for part, e, is_log in self.split(base * sign)]
        if f in self.logarithms and self.real(self.logarithms[f]):
            return [(self.logarithms[f], 1, True)]
        content, rest = f.primitive()
        parts = []
        for number, sign in ((content.numerator, 1), (content.denominator, -1)):
            parts += [(self.one * p, sign * e, False) for p, e in _small_factors(int(number))]
        for i, e in enumerate(_lowest(rest)):
            if e and self.kernels[i].kind is exp and self.real(self.kernels[i].arg):
                parts.append((self.kernels[i].arg, Rational(e, self.kernels[i].order), True))
                rest = self.times(rest, self.power(self.ring.gens[i], -e))
        for p, e in self.factors(rest) if self.depth == 2 else ():
            if sign := self.sign(p):
                parts.append((p * sign, e, False))
                rest = self.times(rest, self.power(p * sign, -e))
        used = [(kernel, e) for kernel, e in zip(self.kernels, rest.LM) if e]
        if len(used) == len(rest) == rest.LC == 1 and used[0][0].kind in (Pow, I):
            (kernel, e), *_ = used
            return [*parts, (kernel.arg, Rational(e, kernel.order), False)]
        return parts if rest == 1 else [*parts, (rest, 1, False)]

    def root(self, f: PolyElement, r: Rational) -> PolyElement:
        """f**r"""
        if not f and r > 0:
            return f
        whole, r = divmod(r, 1)
        result = self.power(f, int(whole))
        for base, e, is_log in self.split(f) if r else ():
            part = self.exp(base * _qq(e * r)) if is_log else self.radical(base, e * r)
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

    def log(self, f: PolyElement) -> PolyElement:
        if not f:
            raise ZeroDivisionError
        result = self.zero
        for base, e, is_log in self.split(f):
            if not is_log:
                base = self.i * self.pi if base == -1 else self.kernel(sp.log, base)
            result += base * _qq(e)
        return result

    def exp(self, f: PolyElement) -> PolyElement:
        """Term by term where a rule applies; of the other terms, turns are kept whole at depth 1
        and 2.
        """
        result, turn = self.one, self.zero
        for monom, c in self.separated(f).terms():
            term, c = self.ring.from_dict({monom: QQ(1)}), _rational(c)
            part = self.exp_by_rule(monom, c)
            if part is None and self.depth and monom[self.i.LM.index(1)]:
                turn += term * _qq(c)
                part = self.one
            result = self.times(result, self.exp_kernel(term, c) if part is None else part)
        if turn:
            content, unit = turn.primitive()
            sign = 1 if unit.LC > 0 else -1
            result = self.times(result, self.exp_kernel(unit * sign, sign * _rational(content)))
        return result

    def separated(self, f: PolyElement) -> PolyElement:
        """f with log(2)/(log(2) - log(3)) = 1 + log(3)/(log(2) - log(3)) and the like: of the terms
        of such a denominator, the first is not left beside its inverse.
        """
        for k, (kind, arg, _) in zip(self.ring.gens, self.kernels):
            if kind is not INVERSE or arg is None:
                continue
            if sp.log not in {kernel.kind for kernel in self.kernels_in(arg)}:
                continue
            lead = self.ring.from_dict({arg.LM: arg.LC})  # arg is monic
            while divisible := [m for m in f if all(map(int.__ge__, m, (k * lead).LM))]:
                term = self.ring.from_dict({max(divisible): f[max(divisible)]})
                part = _shifted(term, (k * lead).LM)
                self.spend(len(arg))
                f = f - term + part - part * k * (arg - lead)
        return f

    def exp_by_rule(self, monom: tuple[int, ...], c: Rational) -> PolyElement | None:
        """exp(c*monom) if it is exp(c*log(u)) = u**c, exp(I*asin(u)) = sqrt(1 - u**2) + I*u, ..."""
        place_of_i = self.i.LM.index(1)
        turned = monom[place_of_i] == 1
        places = [i for i, e in enumerate(monom) if e and i != place_of_i]
        if turned and c.q == 1 and (whole := self.half_turns(monom, places)):
            return self.one if c % 2 == 0 else self.kernel(PARITY, whole)
        if len(places) != 1 or monom[places[0]] != 1:
            return None
        kind, u, _ = self.kernels[places[0]]
        if turned and kind is pi:
            return self.radical(-self.one, c)
        if turned and kind is sp.atan and c % 2 == 0:  # exp(2*I*atan(u)), for complex u as well
            iu = self.times(self.i, u) * (1 if c > 0 else -1)
            half_turn = self.times(self.one + iu, self.inverse(self.one - iu))
            return self.power(half_turn, int(abs(c) / 2))
        if turned and (kind is sp.asin or (kind is sp.atan and self.real(u))):
            iu, square = self.times(self.i, u) * (1 if c > 0 else -1), self.times(u, u)
            if kind is sp.asin:
                return self.root(self.root(self.one - square, HALF) + iu, abs(c))
            return self.root(self.times(self.one + iu, self.root(self.one + square, -HALF)), abs(c))
        if kind is sp.log and not turned:
            return self.root(u, c)
        if kind is sp.LambertW and not turned and c.q == 1:
            return self.power(self.times(u, self.inverse(self.ring.gens[places[0]])), int(c))
        return None

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
        order, angle = int(c.q), _shifted(unit, self.i.LM)
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
            n = round(self.number(self.expression(u))[0].real / math.pi)
            if self.within(u, pi * (n - HALF), pi * (n + HALF)):
                return (u - self.pi * n) * (-sign if n % 2 and kind is sp.asin else sign)
        return self.kernel(kind, f)

    # The proof

    @_tentative
    def vanishes(self, f: PolyElement, nesting: int = 4) -> bool:
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
        return False

    def principal(self, value: PolyElement, base: PolyElement, order: int, j: int) -> bool:
        """Whether value, with value**order = base**j, is the principal base**(j/order)."""
        expr = self.expression(value)
        if j == 1 and not expr.free_symbols:
            number, error = self.number(expr)
            return 1e9 * error < abs(number) and abs(DIGITS_50.arg(number)) < math.pi / order - 1e-6
        return self.sign(value) == 1 and (j == 1 or self.sign(base) == 1)
