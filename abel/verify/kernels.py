"""Laurent polynomials over QQ in coefficients and kernels: the arithmetic of proofs.

Kernels are radicals, inverses, exponentials, logarithms and the like, reduced by what is known of
them, such as k**q = base. All that is divided by is kept in `divisors`: what is derived holds where
none of them is 0 (`abel.verify.domain`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly_ctx
from sympy import QQ, Add, Expr, I, LambertW, Mul, Pow, Rational, Symbol, pi
from sympy.polys.rings import PolyElement, PolyRing, ring

from abel.equation import MINUS_ONE, ONE, remember

MAX_WORK, MAX_POWER = 30_000, 200  # products of terms in one proof; exponents
WORD = 256  # bits of two coefficients that count as one product more
MAX_FACTOR_TERMS, MAX_FACTOR_SIZE = 16, 200  # terms, and product of (degree + 1), to be factored
SMALL_PRIMES = tuple(sp.primerange(200))
INVERSE, PARITY, NAME = "inverse", "parity", "name"  # kinds of kernels that are no functions


def LOWER(u: Expr, evaluate: bool = False) -> Expr:
    """LambertW(u, -1): the kind of a kernel that no class of SymPy stands for."""
    return LambertW(u, MINUS_ONE, evaluate=evaluate)


class GiveUp(Exception):
    """A size guard was hit, or a function has no rule."""


class Retry(Exception):
    """A kernel needs a higher order: base**(1/6) in place of base**(1/2)."""


class Kernel(NamedTuple):
    """What a generator stands for: a symbol, pi, or a function of `arg`."""

    # Pow: arg**(1/order); exp, sin, cos: of arg/order; INVERSE: 1/arg; PARITY: (-1)**arg;
    # NAME: arg itself; else kind(arg)
    kind: Any
    arg: PolyElement | None = None
    order: int = 1


@lru_cache(maxsize=64)
def _ring(num_generators: int) -> PolyRing:
    return ring([f"g{i}" for i in range(num_generators)], QQ)[0]


def as_rational(c: Any) -> Rational:
    return Rational(int(c.numerator), int(c.denominator))


def as_qq(r: Rational | int) -> Any:
    return QQ(int(r.numerator), int(r.denominator))


def lowest(f: PolyElement) -> tuple[int, ...]:
    """Exponents of the largest monomial that divides f; they may be negative."""
    return tuple(map(min, zip(*f)))


def shifted(f: PolyElement, monom: tuple[int, ...]) -> PolyElement:
    """f / monom"""
    return f.ring.from_dict({tuple(map(int.__sub__, m, monom)): c for m, c in f.items()})


@remember
def irreducible_factors(f: PolyElement) -> tuple[tuple[PolyElement, int], ...]:
    """Over QQ, without the constant, leading coefficients positive; f itself if costly."""
    degrees = f.degrees()
    used = [i for i, degree in enumerate(degrees) if degree]
    factors = [(f, 1)] if used else []
    small = len(f) <= MAX_FACTOR_TERMS and math.prod(d + 1 for d in degrees) <= MAX_FACTOR_SIZE
    if small and max(map(sum, f)) > 1:
        narrow = fmpq_mpoly_ctx.get([f"g{i}" for i in used], Ordering.lex).from_dict(
            {tuple(m[i] for i in used): fmpq(int(c.numerator), int(c.denominator))
             for m, c in f.items()}
        )  # fmt: skip
        factors = []
        for factor, e in narrow.factor()[1]:
            wide = {}
            for monom, c in factor.to_dict().items():
                exponents = dict(zip(used, map(int, monom)))
                place = tuple(exponents.get(i, 0) for i in range(len(degrees)))
                wide[place] = QQ(int(c.numerator), int(c.denominator))
            factors.append((f.ring.from_dict(wide), int(e)))
        factors.sort(key=lambda pair: (sum(pair[0].degrees()), len(pair[0]), sorted(pair[0])))
    return tuple((p if p.LC > 0 else -p, e) for p, e in factors)


def prime_powers(n: int) -> list[tuple[int, int]]:
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


def words(*factors: PolyElement) -> int:
    """What multiplying their coefficients costs, by the leading ones: numbers grow in proofs."""
    leading = [f.LC for f in factors if f]
    bits = sum(c.numerator.bit_length() + c.denominator.bit_length() for c in leading)
    return 1 + bits // WORD


class KernelRing:
    """The ring of one proof, built kernel by kernel as expressions are converted."""

    num_kernels = 20

    def __init__(self, symbols: list[Symbol], orders: dict) -> None:
        self.ring = _ring(len(symbols) + self.num_kernels)
        self.orders = orders
        self.work = 0
        self.kernels: list[Kernel] = []
        self.lettered: list[bool] = []  # whether a letter occurs in it
        self.index: dict[tuple, int] = {}
        self.divisors: dict[PolyElement, None] = {}  # what must not be 0
        self.one, self.zero = self.ring.one, self.ring.zero
        self.known: dict[Expr, PolyElement] = {symbol: self.kernel(symbol) for symbol in symbols}
        self.known[I] = self.i = self.kernel(I, -self.one, 2)
        self.known[pi] = self.pi = self.kernel(pi)

    def kernel(self, kind: object, arg: PolyElement | None = None, order: int = 1) -> PolyElement:
        """The generator for this kernel, perhaps a new one; its order is a multiple of `order`."""
        key = (kind, arg)
        self.orders[key] = order = math.lcm(order, self.orders.get(key, 1))
        place = self.index.setdefault(key, len(self.kernels))
        if place == len(self.kernels):
            if place == self.ring.ngens:
                raise GiveUp
            self.kernels.append(Kernel(kind, arg, order))
            self.lettered.append(isinstance(kind, Symbol) if arg is None else self.has_letters(arg))
        elif self.kernels[place].order != order:
            raise Retry
        return self.ring.gens[place]

    def times(self, f: PolyElement, g: PolyElement) -> PolyElement:
        self.spend(len(f) * len(g) * words(f, g))
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
        rest, result, low = dict(f), {}, lowest(f) if f else ()
        while rest:
            lead = max(rest)
            shift, c = tuple(map(int.__sub__, lead, g.LM)), rest[lead]
            if any(map(int.__lt__, shift, low)):
                return None
            result[shift] = c
            self.spend(len(g) * words(f, g))
            for monom, k in g.items():
                place = tuple(map(int.__add__, monom, shift))
                rest[place] = rest.get(place, 0) - c * k
                if not rest[place]:
                    del rest[place]
        return self.ring.from_dict(result)

    def divide_by(self, f: PolyElement) -> None:
        """Note that f must not be 0."""
        if not f:
            raise ZeroDivisionError
        if not f.is_ground:
            self.divisors[f] = None

    def inverse(self, f: PolyElement) -> PolyElement:
        self.divide_by(f)
        low, lead = lowest(f), f.LC
        core = shifted(f, low) * (1 / lead)
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

    def kernels_in(self, f: PolyElement) -> list[Kernel]:
        return [kernel for i, kernel in enumerate(self.kernels) if any(monom[i] for monom in f)]

    def factors(self, f: PolyElement) -> list[tuple[PolyElement, int]]:
        """Irreducible factors of f and their powers, without the constant."""
        low = lowest(f)
        found = [*irreducible_factors(shifted(f, low))]
        for i, e in enumerate(low):
            if e and self.kernels[i].kind is INVERSE:
                found += [(p, -e * n) for p, n in irreducible_factors(self.kernels[i].arg)]
            elif e:
                found.append((self.ring.gens[i], e))
        return found

    def has_letters(self, f: PolyElement) -> bool:
        return any(self.lettered[i] for monom in f for i, e in enumerate(monom) if e)

    def expression(self, f: PolyElement) -> Expr:
        """A number is left unevaluated: SymPy would ask its assumption engine about every power,
        which can take forever for logarithms inside each other.
        """
        evaluate, terms = self.has_letters(f), []
        for monom, c in f.terms():
            powers = [
                Pow(self.meaning(self.kernels[i]), e, evaluate=evaluate or e == 1)
                for i, e in enumerate(monom) if e
            ]  # fmt: skip
            terms.append(Mul(as_rational(c), *powers, evaluate=evaluate))
        return Add(*terms, evaluate=evaluate)

    def meaning(self, kernel: Kernel) -> Expr:
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
