"""Numbers of the solving criterion: residuals at fixed sample points, each with a bound of its
error.

A value counts as 0 only within that bound, so the test is relative to the size of what was
computed: doubles first, then 50 digits, and 400 where in doubt.
"""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from types import SimpleNamespace

import mpmath
import sympy as sp
from sympy import Add, Expr, Float, I, Mul, Pow, Rational, Symbol, exp, pi

from abel.equation import ONE, Equation, X

HALF = Rational(1, 2)
CHECK_STRIDE = 5  # every fifth point; among up to four symbols these cover many sign patterns


def _asin(z: complex) -> complex:
    """On its cuts C takes the other side than mpmath and -I*log(I*z + sqrt(1 - z**2))."""
    if isinstance(z, complex) or abs(z) <= 1:
        return cmath.asin(z) if isinstance(z, complex) else math.asin(z)
    return cmath.asin(complex(z, -math.copysign(0.0, z)))


def _atan(z: complex) -> complex:
    if isinstance(z, complex):
        return cmath.atan(z if z.real else complex(math.copysign(0.0, z.imag), z.imag))
    return math.atan(z)


def _either(name: str) -> Callable:
    real, complex_ = getattr(math, name), getattr(cmath, name)
    return lambda z: complex_(z) if isinstance(z, complex) else real(z)


def _float_size(z: complex) -> float:
    """abs(z), if it is so far from overflow and underflow that error bounds can be floats."""
    size = abs(complex(z))
    if 1e-150 < size < 1e150 or not z:
        return size
    raise OverflowError


def _digits(dps: int, size: Callable, limit: float) -> mpmath.MPContext:
    ctx = mpmath.mp.clone()
    ctx.dps, ctx.size, ctx.limit, ctx.tiny = dps, size, limit, 0
    ctx.eps_bound = size(ctx.eps)
    return ctx


DOUBLES = SimpleNamespace(
    **{name: _either(name) for name in ("exp", "sin", "cos", "tan")},
    log=lambda z: cmath.log(z) if isinstance(z, complex) or z < 0 else math.log(z),
    asin=_asin, atan=_atan, acos=lambda z: math.pi / 2 - _asin(z), lambertw=mpmath.fp.lambertw,
    mpf=float, pi=math.pi, e=math.e, j=1j, eps_bound=2.0**-52, size=abs, limit=300, tiny=1e-290,
)  # fmt: skip
DIGITS_50 = _digits(50, _float_size, 300)
DIGITS_400 = _digits(400, abs, 1e5)  # error bounds are mpf as well

# Function: its name in these namespaces, and a bound of its slope at p, where its value is q; p is
# known up to d, and `size` is abs.
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


def _snapped(ctx, p: complex, d: float, kind: type) -> complex:
    """p, or the point of the real axis (for atan, the imaginary one) that numbers cannot tell from
    p.

    Cuts lie there, so that the difference may decide the branch: doubles leave it to more digits.
    """
    off = p.real if kind is sp.atan else p.imag
    if abs(off) > d or not (p.imag if kind is sp.atan else True):
        return p
    if off and ctx is DOUBLES and (kind is sp.atan or not 0 < p.real < 1):
        raise OverflowError
    return p - off if kind is sp.atan else p.real


def _function(ctx, kind: type, p: complex, d: float) -> tuple[complex, float]:
    d += ctx.eps_bound * ctx.size(p)
    if d > 0.1 or (kind in ENTIRE and abs(p) > ctx.limit):
        raise OverflowError
    p = p if kind in ENTIRE else _snapped(ctx, p, d, kind)
    name, slope_at = FUNCTIONS[kind]
    value = getattr(ctx, name)(p)
    slope = slope_at(p, value, d, ctx.size)
    if slope * d > 0.1 and kind not in (exp, sp.asin, sp.acos):
        raise ZeroDivisionError
    size = ctx.size(value) + (kind not in ENTIRE)  # small values of the others are less exact
    return value, 4 * slope * d + 4 * ctx.eps_bound * size


def _product(ctx, p: complex, d: float, q: complex, e: float) -> tuple[complex, float]:
    left, right = ctx.size(p), ctx.size(q)
    return p * q, left * e + (right + e) * d + 4 * ctx.eps_bound * left * right


def _power(ctx, p: complex, d: float, r: float) -> tuple[complex, float]:
    size = ctx.size(p)
    if r < 0 and size <= 10 * d:
        raise ZeroDivisionError
    if abs(r) > 2 and size:
        logarithm = math.log(size) if isinstance(size, float) else ctx.log(size)
        if abs(r * logarithm) > ctx.limit:
            raise OverflowError
    p = p if isinstance(r, int) else _snapped(ctx, p, d, Pow)
    value, s = p**r, float(r)
    rounding = 8 * ctx.eps_bound * (1 + abs(s)) * ctx.size(value)
    if s < 1 and size <= 2 * d:
        return value, 4 * (size + d) ** s
    return value, abs(s) * (size + d if s >= 1 else size - d) ** (s - 1) * d + rounding


def column(expr: Expr, known: dict, ctx) -> list[tuple[complex, float]]:
    """`expr` at every point; `known` has the columns of the symbols and of 1, and remembers new
    ones.
    """
    if (found := known.get(expr)) is not None:
        return found
    kind, length = type(expr), len(known[ONE])
    if kind is Add:
        found = []
        for row in zip(*[column(arg, known, ctx) for arg in expr.args]):
            value = error = size = 0
            for p, d in row:
                value, error, size = value + p, error + d, size + ctx.size(p)
            found.append((value, error + 2 * len(row) * ctx.eps_bound * size))
    elif kind is Mul:
        pairs, *others = [column(arg, known, ctx) for arg in expr.args]
        for other in others:
            pairs = [_product(ctx, *pair, *factor) for pair, factor in zip(pairs, other)]
        found = pairs
    elif kind is Pow and isinstance(expr.exp, Rational):
        r = int(expr.exp) if expr.exp.q == 1 else ctx.mpf(expr.exp.p) / expr.exp.q
        found = [_power(ctx, *pair, r) for pair in column(expr.base, known, ctx)]
    elif kind is Pow:
        found = column(exp(expr.exp * sp.log(expr.base), evaluate=False), known, ctx)
    elif kind in FUNCTIONS and len(expr.args) == 1:
        found = [_function(ctx, kind, *pair) for pair in column(expr.args[0], known, ctx)]
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
def sample_points(num_symbols: int) -> list[tuple[float, ...]]:
    """Points in every sign pattern, in 24 past four symbols; sizes 0.3 to 3 times a scale."""
    rng = random.Random(2026)
    if num_symbols <= 4:
        signs = list(product((1, -1), repeat=num_symbols)) * (16 >> num_symbols)
    else:
        signs = [tuple(rng.choice((1, -1)) for _ in range(num_symbols)) for _ in range(24)]
    points = []
    for index, pattern in enumerate(signs if num_symbols else [()]):
        scale = (1, 0.1, 1, 5, 1, 0.01, 1, 0.1)[(index + 3 * (index >> num_symbols)) % 8]
        sizes = [scale * 0.3 * 10 ** rng.random() for _ in pattern]
        points.append(tuple(s * (int(2**14 * t) + 0.5) / 2**14 for s, t in zip(pattern, sizes)))
    return points


def points_for(symbols: list[Symbol]) -> list[tuple[float, ...]]:
    """The sample points of these symbols; where one is an integer, it is 1, 2 or 3 up or down."""
    points = sample_points(len(symbols))
    whole = [symbol.is_integer for symbol in symbols]
    if not any(whole):
        return points
    return [
        tuple(math.copysign(1 + (i + i // 3 * j) % 3, v) if whole[j] else v
              for j, v in enumerate(point))
        for i, point in enumerate(points)
    ]  # fmt: skip


def columns_at(points: list[tuple[float, ...]], symbols: list[Symbol], ctx) -> dict:
    """The columns that `column` starts from."""
    known = {
        symbol: [(ctx.mpf(point[i]), 0) for point in points] for i, symbol in enumerate(symbols)
    }
    return known | {ONE: [(ctx.mpf(1), 0)] * len(points)}


def _outcomes(equation: Equation, candidate: Expr, symbols, points, ctx) -> list[str]:
    """At each point: "root" if the error bound allows it, "other", "undefined" or "unusable"."""
    known = columns_at(points, symbols, ctx)
    try:
        known[X] = column(candidate, known, ctx)
        sides = zip(column(equation.lhs, known, ctx), column(equation.rhs, known, ctx))
        bounds = [
            (p - q, d + e + ctx.eps_bound * (ctx.size(p) + ctx.size(q))) for (p, d), (q, e) in sides
        ]
        found = [
            "other" if abs(value) > 8 * error + ctx.tiny else "root" for value, error in bounds
        ]
        for entry in equation.nonzero if "root" in found else ():
            for i, (value, error) in enumerate(column(entry, known, ctx)):
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


def settled_outcomes(equation: Equation, candidate: Expr, symbols, points) -> list[str]:
    """Outcomes in doubles; in 50 digits where those exclude nothing; in 400 where in doubt.

    Where doubles call every point a root, a few of them in 50 digits tell a near miss from a root:
    numbers only guide the proof and may revoke it.
    """
    outcomes = _outcomes(equation, candidate, symbols, points, DOUBLES)
    if set(outcomes) == {"root"}:
        few = points[::CHECK_STRIDE]
        if set(_outcomes(equation, candidate, symbols, few, DIGITS_50)) == {"root"} and symbols:
            return outcomes
    for ctx in (DIGITS_50, DIGITS_400):
        doubtful = ["root", "undefined", "unusable"]
        if ctx is DIGITS_400 and "other" in outcomes and "root" not in outcomes:
            break
        if ctx is DIGITS_400 and symbols:  # without symbols, all the evidence is at one point
            doubtful = ["undefined", "unusable"] if "root" in outcomes else ["unusable"]
        places = [i for i, outcome in enumerate(outcomes) if outcome in doubtful]
        if places:
            again = _outcomes(equation, candidate, symbols, [points[i] for i in places], ctx)
            for i, outcome in zip(places, again):
                outcomes[i] = outcome
    return outcomes
