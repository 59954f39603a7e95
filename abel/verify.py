"""The solving criterion: is a candidate a root of the equation as it was given?

"Solved" is decided only here. Coefficients are real, a root may be complex, and sqrt, log, powers, asin,
acos, atan are principal. Three steps, each bounded by sizes:

1. Numbers: the residual at fixed sample points, in doubles with an error bound, then in 50 digits.
2. Proof: the residual becomes a polynomial over QQ in the coefficients and in kernels (radicals, inverses,
   exponentials, logarithms, ...), reduced by k**q = base. If nothing is left, it is 0 on every branch; else
   branches are chosen at a sample point, and each choice becomes a condition in `valid_when`.
3. Numbers again: a sample point inside the conditions that is not a root revokes the proof.
"""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce, wraps
from itertools import product
from types import SimpleNamespace
from typing import NamedTuple

import mpmath
import sympy as sp
from sympy import QQ, Add, Expr, Float, Ge, I, Le, Mul, Pow, Rational, Symbol, exp, pi
from sympy.logic.boolalg import Boolean
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing, ring

from abel.equation import ONE, ZERO, Equation, X, has_x, integer_bits, num_nodes, remember

MAX_NODES, MAX_BITS = 400, 4096  # of the equation and the candidate
MAX_WORK, MAX_POWER = 3_000, 200  # products of terms in one proof; exponents
MAX_FACTOR_TERMS, MAX_FACTOR_SIZE = 16, 200  # terms, and product of (degree + 1), to be factored
NUM_KERNELS, MAX_RETRIES, MAX_FAILED_PROOFS = 20, 8, 3
HALF = Rational(1, 2)


@dataclass(frozen=True)
class Verdict:
    """What `verify_root` found; true only for a proved root."""

    status: str  # "proved", "refuted", "undefined" or "unproven"
    valid_when: Boolean | None = None  # where in the coefficients it is a root; None is everywhere
    reason: str = ""

    def __bool__(self) -> bool:
        return self.status == "proved"


# ---- Numbers: pairs (value, bound of its absolute error) at sample points ----


def _asin(z: complex) -> complex:
    """On its cuts C takes the other side than mpmath and -I*log(I*z + sqrt(1 - z**2))."""
    if isinstance(z, complex) or abs(z) <= 1:
        return cmath.asin(z) if isinstance(z, complex) else math.asin(z)
    return cmath.asin(complex(z, -math.copysign(0.0, z)))


def _either(name: str) -> Callable:
    real, complex_ = getattr(math, name), getattr(cmath, name)
    return lambda z: complex_(z) if isinstance(z, complex) else real(z)


def _float_size(z: complex) -> float:
    """abs(z), if it is so far from overflow and underflow that error bounds can be floats."""
    size = abs(complex(z))
    if not 1e-150 < size < 1e150 and z:
        raise OverflowError
    return size


def _digits(size: Callable, limit: float) -> mpmath.MPContext:
    ctx = mpmath.mp.clone()
    ctx.dps, ctx.size, ctx.limit = 50, size, limit
    ctx.eps_bound = size(ctx.eps)
    return ctx


DOUBLES = SimpleNamespace(
    **{name: _either(name) for name in ("exp", "sin", "cos", "tan", "atan")},
    log=lambda z: cmath.log(z) if isinstance(z, complex) or z < 0 else math.log(z),
    asin=_asin, acos=lambda z: math.pi / 2 - _asin(z), lambertw=mpmath.fp.lambertw,
    mpf=float, pi=math.pi, e=math.e, j=1j, eps_bound=2.0**-52, size=_float_size, limit=300,
)  # fmt: skip
DIGITS_50, WIDE_50 = (
    _digits(_float_size, 300),
    _digits(abs, 1e5),
)  # wide: error bounds are mpf as well

# Function: its name in these namespaces, and a bound of its slope at p, where its value is q; p is known
# up to d, and `size` is abs.
FUNCTIONS = {
    exp: ("exp", lambda p, q, d, size: size(q)),
    sp.sin: ("sin", lambda p, q, d, size: 1 + size(q)),
    sp.cos: ("cos", lambda p, q, d, size: 1 + size(q)),
    sp.tan: ("tan", lambda p, q, d, size: 1 + size(q) ** 2),
    sp.log: ("log", lambda p, q, d, size: 1 / size(p)),
    sp.atan: ("atan", lambda p, q, d, size: 1 / size(1 + p * p)),
    sp.asin: ("asin", lambda p, q, d, size: (size(1 - p * p) + d) ** -0.5),
    sp.acos: ("acos", lambda p, q, d, size: (size(1 - p * p) + d) ** -0.5),
    sp.LambertW: ("lambertw", lambda p, q, d, size: size(q / (p * (1 + q)))),
}
ENTIRE = (exp, sp.sin, sp.cos)


def _function(ctx, kind: type, p: complex, d: float) -> tuple[complex, float]:
    d += ctx.eps_bound * ctx.size(p)
    if d > 0.1 or (kind in ENTIRE and abs(p) > ctx.limit):
        raise OverflowError
    if kind not in ENTIRE and abs(p.imag) <= d:
        p = p.real  # real as far as numbers can tell; on a cut this takes the principal branch
    name, slope_at = FUNCTIONS[kind]
    value = getattr(ctx, name)(p)
    slope = slope_at(p, value, d, ctx.size)
    if slope * d > 0.1 and kind not in (exp, sp.asin, sp.acos):
        raise ZeroDivisionError
    return value, 4 * slope * d + 4 * ctx.eps_bound * ctx.size(value)


def _product(ctx, p: complex, d: float, q: complex, e: float) -> tuple[complex, float]:
    value = p * q
    return value, ctx.size(p) * e + (ctx.size(q) + e) * d + 4 * ctx.eps_bound * ctx.size(value)


def _power(ctx, p: complex, d: float, r: float) -> tuple[complex, float]:
    size = ctx.size(p)
    if r < 0 and size <= 10 * d:
        raise ZeroDivisionError
    if size and abs(r * math.log(size)) > ctx.limit:
        raise OverflowError
    if not isinstance(r, int) and abs(p.imag) <= d:
        p = p.real
    value, s = p**r, float(r)
    rounding = 8 * ctx.eps_bound * (1 + abs(s)) * ctx.size(value)
    if s < 1 and size <= 2 * d:
        return value, 4 * (size + d) ** s
    return value, abs(s) * (size + d if s >= 1 else size - d) ** (s - 1) * d + rounding


def _column(expr: Expr, known: dict, ctx) -> list[tuple[complex, float]]:
    """`expr` at every point; `known` has the columns of the symbols and of 1, and remembers new ones."""
    if (found := known.get(expr)) is not None:
        return found
    kind, length = type(expr), len(known[ONE])
    if kind is Add:
        found = []
        for row in zip(*[_column(arg, known, ctx) for arg in expr.args]):
            value = error = size = 0
            for p, d in row:
                value, error, size = value + p, error + d, size + ctx.size(p)
            found.append((value, error + 2 * len(row) * ctx.eps_bound * size))
    elif kind is Mul:
        found, *others = [_column(arg, known, ctx) for arg in expr.args]
        for other in others:
            found = [_product(ctx, *pair, *factor) for pair, factor in zip(found, other)]
    elif kind is Pow and isinstance(expr.exp, Rational):
        r = int(expr.exp) if expr.exp.q == 1 else ctx.mpf(expr.exp.p) / expr.exp.q
        found = [_power(ctx, *pair, r) for pair in _column(expr.base, known, ctx)]
    elif kind is Pow:
        found = _column(exp(expr.exp * sp.log(expr.base), evaluate=False), known, ctx)
    elif kind in FUNCTIONS and len(expr.args) == 1:
        found = [_function(ctx, kind, *pair) for pair in _column(expr.args[0], known, ctx)]
    elif isinstance(expr, (Rational, Float)):
        exact = Rational(expr)
        value = ctx.mpf(exact.p) / exact.q
        found = [(value, 0 if value == exact.p else ctx.eps_bound * ctx.size(value))] * length
    elif expr in (pi, sp.E, I):
        value = +{pi: ctx.pi, sp.E: ctx.e, I: ctx.j}[expr]
        found = [(value, 4 * ctx.eps_bound)] * length
    else:
        raise OverflowError  # a function that has no numbers here
    known[expr] = found
    return found


@lru_cache(maxsize=64)
def _sample_points(num_symbols: int) -> list[tuple[float, ...]]:
    """Points in every sign pattern (in 24 past four symbols); sizes about 0.3 to 3, some 0.07 to 12."""
    rng = random.Random(2026)
    signs = list(product((1, -1), repeat=num_symbols)) * (16 >> num_symbols) if num_symbols <= 4 else [
        tuple(rng.choice((1, -1)) for _ in range(num_symbols)) for _ in range(24)
    ]  # fmt: skip
    points = []
    for index, pattern in enumerate(signs if num_symbols else [()]):
        sizes = [
            0.3 * 10 ** rng.random() * (1, 1, 1, 1, 1, 4, 0.25)[rng.randrange(7)] for _ in pattern
        ]
        points.append(tuple(s * (int(256 * size) + 0.5) / 256 for s, size in zip(pattern, sizes)))
    return points


def _columns_at(points: list[tuple[float, ...]], symbols: list[Symbol], ctx) -> dict:
    """The columns that `_column` starts from."""
    known = {
        symbol: [(ctx.mpf(point[i]), 0) for point in points] for i, symbol in enumerate(symbols)
    }
    return known | {ONE: [(ctx.mpf(1), 0)] * len(points)}


def _outcomes(equation: Equation, candidate: Expr, symbols, points, ctx) -> list[str]:
    """At each point: "root" if the error bound allows it, "other", "undefined" or "unusable"."""
    known = _columns_at(points, symbols, ctx)
    try:
        known[X] = _column(candidate, known, ctx)
        sides = zip(_column(equation.lhs, known, ctx), _column(equation.rhs, known, ctx))
        bounds = [
            (p - q, d + e + ctx.eps_bound * (ctx.size(p) + ctx.size(q))) for (p, d), (q, e) in sides
        ]
        found = ["other" if abs(value) > 8 * error else "root" for value, error in bounds]
        for entry in equation.nonzero if "root" in found else ():
            for i, (value, error) in enumerate(_column(entry, known, ctx)):
                if found[i] == "root" and abs(value) <= 8 * error:
                    found[i] = "undefined"
        return found
    except (ZeroDivisionError, ValueError):
        failure = "undefined"
    except (OverflowError, RecursionError):
        failure = "unusable"
    if len(points) == 1:
        return [failure]
    return [_outcomes(equation, candidate, symbols, [point], ctx)[0] for point in points]


# ---- Proof: Laurent polynomials over QQ in the coefficients and in kernels ----


class _GiveUp(Exception):
    """A size guard was hit, or a function has no rule."""


class _Retry(Exception):
    """A kernel needs a higher order: base**(1/6) in place of base**(1/2)."""


class _Kernel(NamedTuple):
    """What a generator stands for: a symbol, pi, or a function of `arg`."""

    kind: object  # Pow: arg**(1/order); exp: exp(arg/order); INVERSE: 1/arg; else kind(arg)
    arg: PolyElement | None = None
    order: int = 1


INVERSE = "inverse"
REWRITTEN = {
    sp.sin: lambda u: (exp(I * u) - exp(-I * u)) * -I / 2,
    sp.cos: lambda u: (exp(I * u) + exp(-I * u)) / 2,
    sp.tan: lambda u: sp.sin(u) / sp.cos(u),
    sp.acos: lambda u: pi / 2 - sp.asin(u),
}


@lru_cache(maxsize=64)
def _ring(num_generators: int) -> PolyRing:
    return ring([f"g{i}" for i in range(num_generators)], QQ)[0]


def _rational(c: object) -> Rational:
    return Rational(int(c.numerator), int(c.denominator))


def _qq(r: Rational | int) -> object:
    return QQ(int(r.numerator), int(r.denominator))


def _lowest(f: PolyElement) -> tuple[int, ...]:
    """Exponents of the largest monomial that divides f; they may be negative."""
    return tuple(map(min, zip(*f)))


def _shifted(f: PolyElement, monom: tuple[int, ...]) -> PolyElement:
    """f / monom"""
    return f.ring.from_dict({tuple(map(int.__sub__, m, monom)): c for m, c in f.items()})


@remember
def _irreducible_factors(f: PolyElement) -> tuple[tuple[PolyElement, int], ...]:
    """Over QQ, without the constant, leading coefficients positive; f itself where that is costly."""
    degrees = f.degrees()
    used = [i for i, degree in enumerate(degrees) if degree]
    factors = [(f, 1)] if used else []
    small = len(f) <= MAX_FACTOR_TERMS and math.prod(d + 1 for d in degrees) <= MAX_FACTOR_SIZE
    if (
        small and max(map(sum, f)) > 1
    ):  # SymPy factors faster without the generators that do not occur
        narrow = _ring(len(used)).from_dict({tuple(m[i] for i in used): c for m, c in f.items()})
        factors = []
        for factor, e in narrow.factor_list()[1]:
            exponents = [(dict(zip(used, m)), c) for m, c in factor.items()]
            wide = {tuple(m.get(i, 0) for i in range(len(degrees))): c for m, c in exponents}
            factors.append((f.ring.from_dict(wide), e))
    return tuple((p if p.LC > 0 else -p, e) for p, e in factors)


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


class _Tower:
    """The ring in which one proof happens, built kernel by kernel as expressions are converted.

    Depth 0 uses only what holds on every branch. Depth 1 takes the branches at a sample point and notes
    each choice in `conditions`. Depth 2 also splits roots and logarithms of products, by the signs there.
    """

    def __init__(self, symbols: list[Symbol], point: tuple[float, ...], depth: int, orders: dict):
        self.ring = _ring(len(symbols) + NUM_KERNELS)
        self.depth, self.orders, self.numbers = (
            depth,
            orders,
            _columns_at([point], symbols, DIGITS_50),
        )
        self.work = 0
        self.kernels: list[_Kernel] = []
        self.index: dict[tuple, int] = {}
        self.angles: dict[tuple, PolyElement] = {}  # u, by (sin, sin(u)), ...
        self.origins: dict[PolyElement, tuple[PolyElement, int]] = {}  # (u, n), by u**n
        self.conditions: dict[Boolean, None] = {}
        self.one, self.zero = self.ring.one, self.ring.zero
        self.known = {symbol: self.kernel(symbol) for symbol in symbols}
        self.known[I] = self.i = self.kernel(I, -self.one, 2)
        self.known[pi] = self.pi = self.kernel(pi)

    # Arithmetic

    def kernel(self, kind: object, arg: PolyElement | None = None, order: int = 1) -> PolyElement:
        """The generator for this kernel, a new one if need be; its order is a multiple of `order`."""
        key = (kind, arg)
        self.orders[key] = order = math.lcm(order, self.orders.get(key, 1))
        place = self.index.setdefault(key, len(self.kernels))
        if place == len(self.kernels):
            if place == self.ring.ngens or order > MAX_POWER:
                raise _GiveUp
            self.kernels.append(_Kernel(kind, arg, order))
        elif self.kernels[place].order != order:
            raise _Retry
        return self.ring.gens[place]

    def times(self, f: PolyElement, g: PolyElement) -> PolyElement:
        self.spend(len(f) * len(g))
        return self.reduced(f * g)

    def spend(self, num_products: int) -> None:
        """Proofs are bounded by the number of terms that they multiply."""
        self.work += num_products
        if self.work > MAX_WORK:
            raise _GiveUp

    def reduced(self, f: PolyElement) -> PolyElement:
        """f with k**order = arg put in for radicals and k*arg = 1 for inverses, outermost kernels first."""
        for i in reversed(range(len(self.kernels))):
            kind, arg, order = self.kernels[i]
            limit = {Pow: order, I: 2, sp.sin: 2, INVERSE: 1}.get(kind)
            if limit is None or all(0 <= monom[i] < limit for monom in f):
                continue
            parts: dict[int, dict] = {}
            for monom, c in f.items():
                whole, rest = divmod(monom[i], limit)
                parts.setdefault(whole, {})[monom[:i] + (rest,) + monom[i + 1 :]] = c
            top = max(0, *parts) if kind is INVERSE else 0
            f, arg = self.zero, self.one - self.kernel(sp.cos, arg) ** 2 if kind is sp.sin else arg
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
        if abs(n) > MAX_POWER:
            raise _GiveUp
        base, result = f if n >= 0 else self.inverse(f), self.one
        for bit in bin(abs(n))[2:]:
            result = self.times(result, result)
            result = self.times(result, base) if bit == "1" else result
        return result

    # From SymPy and back

    def convert(self, expr: Expr) -> PolyElement:
        if expr in self.known:
            return self.known[expr]
        kind, args = type(expr), [self.convert(arg) for arg in expr.args]
        if isinstance(expr, (Rational, Float)) and integer_bits(Rational(expr)) <= MAX_BITS:
            result = self.one * _qq(Rational(expr))
        elif kind is Add:
            result = self.reduced(sum(args, self.zero))
        elif kind is Mul:
            result = reduce(self.times, args)
        elif kind is Pow and isinstance(expr.exp, Rational):
            result = self.root(args[0], expr.exp)
            if expr.exp.q == 1 and expr.exp > 1:
                self.origins[result] = (args[0], int(expr.exp))
        elif kind is Pow:
            result = self.exp(self.times(args[1], self.log(args[0])))
        elif expr is sp.E:
            result = self.exp(self.one)
        elif kind in (exp, sp.log):
            result = self.exp(args[0]) if kind is exp else self.log(args[0])
        elif kind in REWRITTEN:
            result = self.convert(REWRITTEN[kind](expr.args[0]))
            self.angles[kind, result] = args[0]
        elif kind in (sp.asin, sp.atan):
            result = self.inverse_trig(kind, args[0])
        elif kind is sp.LambertW and len(args) == 1:
            result = self.kernel(kind, args[0])
        else:
            raise _GiveUp
        self.known[expr] = result
        return result

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
        if kind in (
            Pow,
            INVERSE,
        ):  # unevaluated: SymPy would ask its assumption engine about everything
            return Pow(inner, Rational(1, order) if kind is Pow else -1, evaluate=False)
        return kind(inner / order, evaluate=False)

    # Signs and ranges of what is real; at depth 0 only those that hold everywhere

    def number(self, expr: Expr) -> tuple[complex, float]:
        return _column(expr, self.numbers, DIGITS_50)[0]

    def assume(self, expr: Expr, low: Expr | None, high: Expr | None) -> bool:
        """Whether low <= expr <= high at the sample point; a condition from now on if it has symbols."""
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
        kernel = self.kernels[core.LM.index(1)] if sum(core.LM) == len(core) == 1 else _Kernel(None)
        if kernel.kind in (sp.asin, sp.atan):  # has the sign of its argument
            known = self.sign(kernel.arg)
        else:
            expr = self.expression(core)
            known = self.assume(expr, ZERO, None) or self.assume(expr, None, ZERO)
        return (1 if value.real > 0 else -1) if known and abs(value) > 8 * error else None

    @_tentative
    def real(self, f: PolyElement) -> bool:
        for kernel in [self.kernels[i] for i in range(len(self.kernels)) if any(m[i] for m in f)]:
            kind, arg, _ = kernel
            if kind in (Pow, I, sp.log, sp.LambertW):
                real = self.sign(arg) == 1
            elif arg is not None:
                real = self.real(arg) and (kind is not sp.asin or self.within(arg, -ONE, ONE))
            if arg is not None and not real:
                return False
        return True

    @_tentative
    def within(self, f: PolyElement, low: Expr, high: Expr) -> bool:
        """Whether low <= f <= high, noted as a condition; multiples of pi move into the bounds."""
        shift = f.coeff(self.pi)
        f, shift = f - self.pi * shift, pi * _rational(shift)
        if f and f.LC < 0:
            return self.assume(self.expression(-f), shift - high, shift - low)
        return self.assume(self.expression(f), low - shift, high - shift)

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

    def split(self, f: PolyElement) -> list[tuple]:
        """f as a product of base**e, each given as (base, e) or as (logarithm of the base, e, True).

        Principal powers of f are products of theirs, and its logarithm is a sum: every base but one is
        positive, and that one has the exponent 1, or it is alone with an exponent between 0 and 1.
        """
        base, n = self.origins.get(f, (self.zero, 0))
        if self.depth and (sign := self.sign(base)) and (sign > 0 or n % 2 == 0):
            return [
                (part, e * n, *is_logarithm) for part, e, *is_logarithm in self.split(base * sign)
            ]
        content, rest = f.primitive()
        parts = []
        for number, sign in ((content.numerator, 1), (content.denominator, -1)):
            primes = sp.factorint(
                int(number), limit=1000, use_rho=False, use_pm1=False, use_ecm=False
            )
            parts += [(self.one * p, sign * e) for p, e in sorted(primes.items())]
        for i, e in enumerate(_lowest(rest)):
            if e and self.kernels[i].kind is exp and self.real(self.kernels[i].arg):
                parts.append((self.kernels[i].arg, Rational(e, self.kernels[i].order), True))
                rest = self.times(rest, self.power(self.ring.gens[i], -e))
        for p, e in self.factors(rest) if self.depth == 2 else ():
            if sign := self.sign(p):
                parts.append((p * sign, e))
                rest = self.times(rest, self.power(p * sign, -e))
        used = [(kernel, e) for kernel, e in zip(self.kernels, rest.LM) if e]
        if len(used) == len(rest) == rest.LC == 1 and used[0][0].kind in (Pow, I):
            return [*parts, (used[0][0].arg, Rational(used[0][1], used[0][0].order))]
        return parts if rest == 1 else [*parts, (rest, 1)]

    def root(self, f: PolyElement, r: Rational) -> PolyElement:
        """f**r"""
        if not f and r > 0:
            return f
        whole, r = divmod(r, 1)
        result = self.power(f, int(whole))
        for base, e, *is_logarithm in self.split(f) if r else ():
            part = self.exp(base * _qq(e * r)) if is_logarithm else self.radical(base, e * r)
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
        for base, e, *is_logarithm in self.split(f):
            if not is_logarithm:
                base = self.i * self.pi if base == -1 else self.kernel(sp.log, base)
            result += base * _qq(e)
        return result

    def exp(self, f: PolyElement) -> PolyElement:
        """Term by term where a rule applies; of the other terms, turns are kept whole at depth 1 and 2."""
        result, turn = self.one, self.zero
        for monom, c in f.terms():
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

    def exp_by_rule(self, monom: tuple[int, ...], c: Rational) -> PolyElement | None:
        """exp(c*monom) if it is exp(c*log(u)) = u**c, exp(I*asin(u)) = sqrt(1 - u**2) + I*u, ..."""
        inner = {i: kernel for i, kernel in enumerate(self.kernels) if monom[i]}
        turned = inner.pop(self.i.LM.index(1), None) is not None
        if len(inner) != 1 or sum(map(abs, monom)) != 1 + turned or 1 not in monom:
            return None
        ((place, (kind, u, _)),) = inner.items()
        if turned and kind is pi:
            return self.radical(-self.one, c)
        if turned and (kind is sp.asin or (kind is sp.atan and self.real(u))):
            iu, square = self.times(self.i, u) * (1 if c > 0 else -1), self.times(u, u)
            if kind is sp.asin:
                return self.root(self.root(self.one - square, HALF) + iu, abs(c))
            return self.root(self.times(self.one + iu, self.root(self.one + square, -HALF)), abs(c))
        if kind is sp.log and not turned:
            return self.root(u, c)
        if kind is sp.LambertW and not turned and c.q == 1:
            return self.power(self.times(u, self.inverse(self.ring.gens[place])), int(c))
        return None

    def exp_kernel(self, unit: PolyElement, c: Rational) -> PolyElement:
        """exp(c*unit); exp(I*u) = cos(u) + I*sin(u) for real u"""
        order, angle = int(c.q), _shifted(unit, self.i.LM)
        if self.real(angle):
            turn = self.kernel(sp.cos, angle, order)
            turn += self.i * self.kernel(sp.sin, angle, order) * (1 if c > 0 else -1)
            return self.power(turn, int(abs(c) * self.orders[sp.cos, angle]))
        return self.power(self.kernel(exp, unit, order), int(c * self.orders[exp, unit]))

    def inverse_trig(self, kind: type, f: PolyElement) -> PolyElement:
        """What SymPy knows of asin(1/2); asin(sin(u)) and atan(tan(u)) by the point; or a kernel."""
        used = [kernel for i, kernel in enumerate(self.kernels) if any(m[i] for m in f)]
        if len(f) <= 2 and all(kernel.kind is Pow and kernel.arg.is_ground for kernel in used):
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
        """Whether f is 0: at sight, or because a factor is high*k**j + low with k**j = -low/high."""
        f = self.reduced(f)
        if not f or not nesting:
            return not f
        for (factor, _), i in product(self.factors(f), reversed(range(len(self.kernels)))):
            kind, base, order = self.kernels[i]
            exponents = sorted({monom[i] for monom in factor})
            if kind is not Pow or len(exponents) != 2:
                continue
            low, high = [factor.ring.from_dict({
                m[:i] + (0,) + m[i + 1 :]: c for m, c in factor.items() if m[i] == e
            }) for e in exponents]  # fmt: skip
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


def _prove(
    equation: Equation, candidate: Expr, symbols, point, depth: int
) -> frozenset[Boolean] | None:
    """Conditions under which the candidate is a root, found at `point`; None without a proof."""
    orders: dict[tuple, int] = {}
    for _ in range(MAX_RETRIES):
        tower = _Tower(symbols, point, depth, orders)
        try:
            tower.known[X] = tower.convert(candidate)
            residual = tower.convert(equation.lhs) - tower.convert(equation.rhs)
            return _tightest(tower.conditions) if tower.vanishes(residual) else None
        except _Retry:
            continue
        except (_GiveUp, ArithmeticError, ValueError, RecursionError, BasePolynomialError):
            return None
    return None


def _tightest(conditions: dict[Boolean, None]) -> frozenset[Boolean]:
    """Without bounds that another bound of the same expression implies."""
    best: dict[tuple, Boolean] = {}
    for relation in conditions:
        key = (relation.func, relation.lhs)
        if key not in best or (relation.rhs > best[key].rhs) == (relation.func is Ge):
            best[key] = relation
    return frozenset(best.values())


def _merged(cells: list[frozenset[Boolean]]) -> list[frozenset[Boolean]]:
    """Join cells that differ only in the sign of one expression; drop what lies inside another cell."""
    for first, second in product(cells, cells):
        different = first ^ second
        if first < second:
            return _merged([cell for cell in cells if cell != second])
        if (
            len(different) == 2
            and len({(relation.lhs, relation.rhs) for relation in different}) == 1
        ):
            return _merged(
                [cell for cell in cells if cell not in (first, second)] + [first & second]
            )
    return cells


def _inside(cell: frozenset[Boolean], symbols: list[Symbol], point: tuple[float, ...]) -> bool:
    known = _columns_at([point], symbols, DIGITS_50)
    try:
        for relation in cell:
            value, error = _column(relation.lhs - relation.rhs, known, DIGITS_50)[0]
            if abs(value.imag) > 8 * error or (value.real < 0) == isinstance(relation, Ge):
                return False
    except (ArithmeticError, ValueError):
        return False
    return True


def _num_complex(
    equation: Equation, candidate: Expr, symbols: list[Symbol], point: tuple[float, ...]
) -> int:
    """How many sub-expressions are not real at `point`: branches are best chosen where all are."""
    known = _columns_at([point], symbols, WIDE_50)
    for expr, name in ((candidate, X), (equation.lhs, None), (equation.rhs, None)):
        known[name] = _column(expr, known, WIDE_50)
    return sum(abs(value.imag) > 8 * error for ((value, error),) in known.values())


def verify_root(equation: Equation, candidate: Expr | int | str) -> Verdict:
    """Decide whether x = candidate solves `equation`, for real values of the coefficients."""
    if not isinstance(equation, Equation):
        raise TypeError(
            f"equation must be an Equation, got {type(equation).__name__}: {equation!r}"
        )
    if isinstance(candidate, str):
        from abel.parse import parse_expression

        candidate = parse_expression(candidate)
    if isinstance(candidate, int) and not isinstance(candidate, bool):
        candidate = sp.Integer(candidate)
    if not isinstance(candidate, Expr):
        kind = type(candidate).__name__
        raise TypeError(
            f"candidate must be a SymPy expression, an int or text, got {kind}: {candidate!r}"
        )
    if has_x(candidate):
        raise ValueError(f"candidate '{candidate}' contains x, so it is not a root yet")
    if candidate.has(sp.zoo, sp.nan, sp.oo, -sp.oo):
        return Verdict("undefined", None, "the candidate is not a finite number")
    if sum(map(num_nodes, (equation.lhs, equation.rhs, candidate))) > MAX_NODES:
        return Verdict("unproven", None, f"equation and candidate have more than {MAX_NODES} nodes")

    symbols = sorted(
        {*equation.coefficients, *candidate.free_symbols}, key=lambda symbol: symbol.name
    )
    points = _sample_points(len(symbols))
    outcomes = _outcomes(equation, candidate, symbols, points, DOUBLES)
    for ctx, settled in ((DIGITS_50, ("other",)), (WIDE_50, ("other", "root", "undefined"))):
        open_ = [i for i, outcome in enumerate(outcomes) if outcome not in settled]
        if open_:
            again = _outcomes(equation, candidate, symbols, [points[i] for i in open_], ctx)
            for i, outcome in zip(open_, again):
                outcomes[i] = outcome
    usable = [i for i, outcome in enumerate(outcomes) if outcome != "unusable"]
    roots = [i for i in usable if outcomes[i] == "root"]
    if not usable:
        return Verdict("unproven", None, "too large to evaluate, or a function without numbers")
    if not roots and "other" in outcomes:
        return Verdict("refuted", None, f"not a root at any of {len(usable)} sample points")
    if not roots:
        return Verdict("undefined", None, "the equation is not defined at the candidate")

    if (
        len(roots) == len(usable)
        and _prove(equation, candidate, symbols, points[roots[0]], 0) is not None
    ):
        return Verdict("proved", None, "the residual reduces to 0")
    others = [points[i] for i in usable if outcomes[i] != "root"]
    cells, failures = [], 0
    for i in sorted(roots, key=lambda i: _num_complex(equation, candidate, symbols, points[i])):
        if failures == MAX_FAILED_PROOFS or any(
            _inside(cell, symbols, points[i]) for cell in cells
        ):
            continue
        for depth in (1, 2):
            cell = _prove(equation, candidate, symbols, points[i], depth)
            if cell is not None and not any(_inside(cell, symbols, point) for point in others):
                cells.append(cell)
                break
        else:
            failures += 1
    if not cells:
        found = f"a root at {len(roots)} of {len(usable)} sample points, but no proof was found"
        return Verdict("unproven", None, found)
    merged = _merged(cells)
    if not any(_inside(cell, symbols, point) for cell in merged for point in others):
        cells = merged
    if frozenset() in cells:
        return Verdict("proved", None, "the residual reduces to 0 on every branch")
    valid_when = sp.Or(*[sp.And(*sorted(cell, key=sp.default_sort_key)) for cell in cells])
    return Verdict("proved", valid_when, f"the residual reduces to 0 where {valid_when}")
