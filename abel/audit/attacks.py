"""Cases for the audit whose truth is known before any verifier is asked: branches of functions next
to their cuts.

A branch identity holds on one side of a cut and fails on the other. Which side a point is on is
decided here in exact rational arithmetic, so an offset of 1e-1000 is as clear as one of 1.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isqrt

import mpmath
import sympy as sp
from sympy import Add, Expr, I, Integer, Mul, Pow, Rational, Symbol, pi

from abel.equation import Equation, X

A, B, C = sp.symbols("a b c")
HALF = Rational(1, 2)
Pair = tuple[Rational, Rational]  # real and imaginary part, exact


@dataclass(frozen=True)
class Probe:
    """A place in the letters, and what the candidate is there.

    `truth` is "root", "other" or "undefined"; None leaves it to numbers.
    """

    at: dict[Symbol, Expr]
    truth: str | None


@dataclass(frozen=True)
class Case:
    """An equation, a candidate, and the truth about them at some places."""

    equation: Equation
    candidate: Expr
    probes: tuple[Probe, ...]
    guards: tuple[Expr, ...] = ()  # the text is undefined where one of these is 0
    size: int = 0  # differences down to 10**-size count
    on_cut: bool = False  # rounding would choose the branch, so numbers are no witness
    partial: bool = (
        False  # a family with roots and others without end: "refuted" is a matter of taste
    )
    claim: str = ""  # the kind of trap, for the report


def value(rng: random.Random, low: int = -6, high: int = 6) -> Rational:
    """A rational number that nothing else is likely to meet."""
    scale = Rational(10) ** rng.randint(low, high)
    return rng.choice((1, -1)) * Rational(rng.randint(1009, 9973), 997) * scale


def places(rng: random.Random, letters: Sequence[Symbol], scales: int = 6) -> list[dict]:
    """Points of the letters: both signs of each, sizes up and down to 10**scales."""
    if not letters:
        return [{}]
    ranges = [(0, 0), (0, 0), (-scales, 0), (0, scales)]
    return [{letter: value(rng, *sizes) for letter in letters} for sizes in ranges]


# ---- Sides of cuts, exactly ----


def times(u: Pair, v: Pair) -> Pair:
    return u[0] * v[0] - u[1] * v[1], u[0] * v[1] + u[1] * v[0]


def half_plane(z: Pair) -> int:
    """The sign of arg(z), which is in (-pi, pi]."""
    if z[1]:
        return 1 if z[1] > 0 else -1
    return 1 if z[0] < 0 else 0


def joins(u: Pair, v: Pair) -> bool:
    """Whether arg(u) + arg(v) is in (-pi, pi], so that roots and logarithms of u*v split."""
    side = half_plane(u)
    return side != half_plane(v) or side == 0 or half_plane(times(u, v)) == side


def keeps_power(z: Pair, n: int) -> bool:
    """Whether n*arg(z) is in (-pi, pi], so that the n-th root of z**n is z."""
    power = z
    for _ in range(n - 1):
        if not joins(power, z):
            return False
        power = times(power, z)
    return True


# ---- Offsets ----


@dataclass(frozen=True)
class Offset:
    """A real number next to 0, or 0: as an expression, its sign, and k where it is about 10**-k."""

    expr: Expr
    sign: int
    size: int

    @property
    def exact(self) -> Rational:
        """A rational number that is on the same side of 0 and about as close to it."""
        if isinstance(self.expr, Rational):
            return self.expr
        return Rational(self.sign, 10**self.size)


@lru_cache(maxsize=None)
def digits_of(name: str, size: int) -> int:
    """floor(number * 10**size)"""
    with mpmath.workdps(size + 30):
        return int(mpmath.floor(getattr(mpmath.mp, name) * mpmath.mpf(10) ** size))


def offset(rng: random.Random, largest: int = 1000) -> Offset:
    """Powers of ten, differences of surds that nearly cancel, pi less its digits, or 0."""
    ranges = [(0, 3), (4, 30), (30, 90), (90, 520), (400, 1000)]
    low, high = rng.choice([r for r in ranges if r[0] < largest])
    size, sign = rng.randint(low, min(high, largest)), rng.choice((1, -1))
    kind = rng.choice(("power", "power", "power", "pell", "root", "second", "pi", "zero", "hidden"))
    if kind == "zero":
        return Offset(Integer(0), 0, 0)
    if kind == "hidden":  # sqrt(m + n + 2*sqrt(m*n)) = sqrt(m) + sqrt(n)
        m, n = rng.choice(((1, 2), (2, 3), (1, 5), (3, 7)))
        inner = Pow(m + n + 2 * sp.sqrt(m * n), HALF, evaluate=False)
        return Offset(Add(inner, -sp.sqrt(m), -sp.sqrt(n)), 0, 0)
    if kind == "power" or size < 8:
        return Offset(sign * Rational(rng.randint(1, 9), 10**size), sign, size)
    if kind == "pell":  # a high power of a unit s - t*sqrt(d) is p - q*sqrt(d), next to 0
        d, s, t = rng.choice(((2, 1, 1), (3, 2, 1), (5, 2, 1), (6, 5, 2)))
        p, q = s, t
        while len(str(2 * p)) < size:
            p, q = s * p + d * t * q, t * p + s * q
        lead = 1 if p * p > d * q * q else -1
        return Offset(sign * lead * (p - q * sp.sqrt(d)), sign, len(str(2 * p)))
    if kind == "root":  # SymPy asks whether what is under a root is prime: not too large
        size = min(size, 60)
        return Offset(sign * (sp.sqrt(10 ** (2 * size) + 3) - 10**size), sign, size)
    if kind == "second":  # a second difference of the square root is negative
        size = min(size, 90)
        near = 10 ** (2 * size // 3) + 1
        found = sp.sqrt(near + 1) + sp.sqrt(near - 1) - 2 * sp.sqrt(near)
        return Offset(-sign * found, sign, size + 8)
    return Offset(sign * (pi - Rational(digits_of("pi", size), 10**size)), sign, size + 3)


# ---- Identities ----


@dataclass(frozen=True)
class Identity:
    """Both sides as functions of z; `truth` says for an exact z whether they are equal."""

    name: str
    left: Callable[[Expr], Expr]
    right: Callable[[Expr], Expr]
    truth: Callable[[Pair], bool]


def power(base: Expr, exponent: Expr | int) -> Expr:
    """As it is written: SymPy would choose branches itself."""
    return Pow(base, Integer(exponent) if isinstance(exponent, int) else exponent, evaluate=False)


def log(z: Expr) -> Expr:
    return sp.log(z, evaluate=False)


def root(n: int) -> Rational:
    return Rational(1, n)


def unit(w: Expr) -> Pair:
    return Rational(sp.re(w)), Rational(sp.im(w))


def power_identity(rng: random.Random) -> Identity:
    n = rng.choice((2, 2, 2, 3, 3, 4, 6))
    w = rng.choice({2: (1, -1), 3: (1,), 4: (1, -1, I, -I), 6: (1, -1)}[n])
    if rng.random() < 0.5:
        name, outer = f"({n}th root of z^{n})", lambda z: power(power(z, n), root(n))
        return Identity(name, outer, lambda z: w * z, lambda p: keeps_power(times(unit(w), p), n))
    return Identity(f"log(z^{n})", lambda z: log(power(z, n)), lambda z: n * log(z),
                    lambda p: keeps_power(p, n))  # fmt: skip


def minus_identity(rng: random.Random) -> Identity:
    minus = (Rational(-1), Rational(0))
    if rng.random() < 0.3:
        sign = rng.choice((1, -1))
        return Identity("log(-z)", lambda z: log(-z), lambda z: log(z) + sign * I * pi,
                        lambda p: joins(minus, p) == (sign == 1))  # fmt: skip
    r = rng.choice((HALF, HALF, root(3), Rational(2, 3), Rational(3, 2), root(4), -HALF))
    if r == HALF and rng.random() < 0.5:
        return Identity("-I*sqrt(-z)", lambda z: -I * power(-z, r), lambda z: power(z, r),
                        lambda p: joins(minus, p))  # fmt: skip
    return Identity(f"(-z)^{r}", lambda z: power(-z, r), lambda z: Pow(-1, r) * power(z, r),
                    lambda p: joins(minus, p))  # fmt: skip


def inverse_identity(rng: random.Random) -> Identity:
    def off_the_cut(p: Pair) -> bool:
        return p[1] != 0 or p[0] > 0

    if rng.random() < 0.4:
        return Identity("log(1/z)", lambda z: log(power(z, -1)), lambda z: -log(z), off_the_cut)
    r = rng.choice((HALF, root(3), Rational(3, 2)))
    if rng.random() < 0.5:
        return Identity(f"z^{r}*(1/z)^{r}", lambda z: power(z, r) * power(power(z, -1), r),
                        lambda z: Integer(1) + 0 * z, off_the_cut)  # fmt: skip
    return Identity(f"(1/z)^{r}", lambda z: power(power(z, -1), r), lambda z: power(z, -r),
                    off_the_cut)  # fmt: skip


def product_identity(rng: random.Random) -> Identity:
    """u and v are affine in z: sqrt(z - 1)*sqrt(z + 1) against sqrt(z**2 - 1)."""
    shift, turn = Rational(rng.randint(-30, 30), 11), rng.choice((1, -1, I, -I, 2 + I, 3 - 2 * I))
    r = rng.choice((HALF, HALF, root(3), root(4), Rational(2, 3), -HALF))

    def other(z: Expr) -> Expr:
        return sp.expand(turn * z) + shift

    def truth(p: Pair) -> bool:
        turned = times(unit(turn), p)
        return joins(p, (turned[0] + shift, turned[1]))

    if rng.random() < 0.35:
        return Identity("log(u) + log(v)", lambda z: log(z) + log(other(z)),
                        lambda z: log(Mul(z, other(z), evaluate=False)), truth)  # fmt: skip
    return Identity(f"u^{r}*v^{r}", lambda z: power(z, r) * power(other(z), r),
                    lambda z: power(Mul(z, other(z), evaluate=False), r), truth)  # fmt: skip


def right_half_identity(rng: random.Random) -> Identity:
    """Identities of the open half-planes to the right and left of the imaginary axis."""
    side = rng.choice((1, -1))
    if rng.random() < 0.5:
        return Identity("atan(z) + atan(1/z)", lambda z: sp.atan(z, evaluate=False)
                        + sp.atan(power(z, -1), evaluate=False), lambda z: side * pi / 2 + 0 * z,
                        lambda p: p[0] * side > 0)  # fmt: skip
    return Identity("asin(sqrt(1 - z^2))",
                    lambda z: sp.asin(power(1 - power(z, 2), HALF), evaluate=False),
                    lambda z: pi * Rational(1 - side, 2) + side * sp.acos(z, evaluate=False),
                    lambda p: p[0] * side > 0)  # fmt: skip


UNARY = (power_identity, minus_identity, inverse_identity, product_identity, right_half_identity)


def near_a_cut(rng: random.Random, identity: Identity, near: Offset) -> tuple[Expr, Pair]:
    """A number next to a line where some identity changes: as expression, and exactly."""
    r = Rational(rng.randint(1, 40), rng.randint(1, 9))
    direction = rng.choice((1, -1))
    line = rng.choice(("negative", "negative", "positive", "imaginary", "imaginary", "diagonal"))
    if identity.name.startswith(("atan", "asin")):
        line = "imaginary"
    if identity.name.endswith(("z^3)", "z^6)")):  # tan(pi/3) and its inverse, cut off or rounded up
        steep = Rational(isqrt(3 * 100**near.size) + (near.sign > 0), 10**near.size) * r
        pair = (r, direction * steep) if "3" in identity.name else (steep, direction * r)
        return pair[0] + I * pair[1], pair
    if line == "diagonal":
        return r + I * (direction * r + near.expr), (r, direction * r + near.exact)
    if line == "imaginary":
        return near.expr + I * direction * r, (near.exact, direction * r)
    r = -r if line == "negative" else r
    return r + I * near.expr, (r, near.exact)


def scaled(rng: random.Random) -> tuple[Expr, Callable[[dict], Rational]]:
    """A factor of z, with its value, or at least its sign, where the letters are known."""
    return rng.choice((
        (Integer(1), lambda at: Rational(1)),
        (A, lambda at: at[A]),
        (A * B, lambda at: at[A] * at[B]),
        (A**2 + 1, lambda at: at[A] ** 2 + 1),
        (sp.exp(A), lambda at: Rational(1)),
    ))  # fmt: skip


def stated(
    rng: random.Random, identity: Identity, z: Expr, inside: bool
) -> tuple[Equation, Expr, list[Symbol]]:
    """left(z) against right(z) as an equation and a candidate, with more letters around them."""
    scale = rng.choice((Integer(1), Integer(1), C, Integer(-3), C**2 + 2))
    shift = rng.choice((Integer(0), Integer(0), B, Rational(5, 7)))
    if not inside:
        left, right = identity.left, identity.right
        if rng.random() < 0.5:
            left, right = right, left
        sides = [scale * X + shift, scale * left(z) + shift]
        candidate = right(z)
    else:
        m, t = Rational(rng.choice((1, 1, 2, -3))), Rational(rng.choice((0, 0, 1, -4)))
        unknown, candidate = m * X + t, (z - t) / m
        sides = [scale * identity.left(unknown) + shift, scale * identity.right(unknown) + shift]
        if rng.random() < 0.5:
            sides[1] = scale * identity.right(z) + shift
    if rng.random() < 0.5:
        sides.reverse()
    equation = Equation(*sides)
    free = equation.lhs.free_symbols | equation.rhs.free_symbols | candidate.free_symbols
    return equation, candidate, sorted(free - {X}, key=lambda symbol: symbol.name)


def branch_case(rng: random.Random) -> Case:
    """An identity next to a cut, drawn again where SymPy cannot even write it down."""
    while True:
        try:
            return periodic_case(rng) if rng.random() < 0.3 else cut_case(rng)
        except OverflowError:  # with python-flint, SymPy takes the logarithm of large integers
            continue


def cut_case(rng: random.Random) -> Case:
    """sqrt(z^2) against z and the like, with z as close to the cut as the offset is to 0."""
    identity = rng.choice(UNARY)(rng)
    near = offset(rng)
    while not near.sign and identity.name.startswith(("atan", "asin")):
        near = offset(rng)
    base, exact = near_a_cut(rng, identity, near)
    factor, factor_at = scaled(rng)
    while factor.has(sp.exp) and "v" in identity.name:  # there its sign is not enough
        factor, factor_at = scaled(rng)
    z = base if factor == 1 else factor * base
    equation, candidate, letters = stated(rng, identity, z, rng.random() < 0.5)

    def truth(at: dict) -> str:
        by = factor_at(at)
        return "root" if identity.truth((by * exact[0], by * exact[1])) else "other"

    scales = 0 if factor.has(sp.exp) else 3
    probes = tuple(Probe(at, truth(at)) for at in places(rng, letters, scales))
    return Case(equation, candidate, probes, size=near.size, on_cut=near.sign == 0,
                claim=identity.name)  # fmt: skip


def on_strips(kind: str, m: int) -> Callable[[Expr], Expr]:
    """What the inverse function makes of w in the strip number m."""
    return {
        "log": lambda w: w - 2 * m * pi * I,
        "asin": lambda w: (-1) ** (m % 2) * (w - m * pi),
        "acos": lambda w: w - m * pi if m % 2 == 0 else (m + 1) * pi - w,
        "atan": lambda w: w - m * pi,
    }[kind]


def lambert_case(rng: random.Random) -> Case:
    """LambertW(w*exp(w)) at the end of its strip, w = -1, on both branches; on the lower one also
    next to its cut, w < -1, which belongs to it with what is below.
    """
    near = offset(rng, 80)
    while near.size > 80 or not isinstance(near.expr, Rational):
        near = offset(rng, 80)
    branch, across = rng.choice(((0, False), (-1, False), (-1, True)))
    w = near.expr - 1
    truth = "root" if near.sign * (1 if branch == 0 else -1) >= 0 else "other"
    if across:  # the imaginary part is less than a half-turn
        near = replace(near, expr=near.expr / 9)
        w = -1 - Rational(rng.randint(1, 40), 7) + I * near.expr
    order = () if branch == 0 else (branch,)
    identity = Identity(
        f"LambertW(w*exp(w), {branch})",
        lambda w: sp.LambertW(w * sp.exp(w), *order, evaluate=False),
        lambda w: w, lambda p: True)  # fmt: skip
    equation, candidate, letters = stated(rng, identity, w, rng.random() < 0.5)
    probes = tuple(Probe(at, truth) for at in places(rng, letters, 3))
    return Case(equation, candidate, probes, size=near.size, on_cut=not near.sign,
                claim=identity.name)  # fmt: skip


FORWARD = {"log": sp.exp, "asin": sp.sin, "acos": sp.cos, "atan": sp.tan}


def periodic_case(rng: random.Random) -> Case:
    """asin(sin(w)), acos(cos(w)), atan(tan(w)), log(exp(w)) and LambertW(w*exp(w)) at the ends of
    their strips.
    """
    kind = rng.choice(("log", "asin", "acos", "atan", "lambert"))
    if kind == "lambert":
        return lambert_case(rng)
    near = offset(rng, 1000)
    while near.sign and not near.size:  # it would leave the next strip
        near = offset(rng)
    j = rng.choice((0, 0, 0, -1, 1, 2, rng.randint(-40, 40)))
    across = A if near.sign and rng.random() < 0.5 else Integer(0)
    if near.sign and across == 0 and rng.random() < 0.3:
        across = Rational(rng.randint(1, 9), 4)
    edge = {
        "log": (2 * j + 1) * pi,
        "asin": (j + HALF) * pi,
        "acos": j * pi,
        "atan": (j + HALF) * pi,
    }
    w = edge[kind] + near.expr
    w = across + I * w if kind == "log" else w + I * across
    strip = (j if near.sign <= 0 else j + 1) - (kind == "acos")
    m = strip if rng.random() < 0.5 else strip + near.sign * rng.choice((-1, -1, 1))
    inverse = getattr(sp, kind)
    identity = Identity(
        f"{kind}({FORWARD[kind].__name__}(w))",
        lambda z: inverse(FORWARD[kind](z, evaluate=False), evaluate=False),
        on_strips(kind, m), lambda p: True)  # fmt: skip
    truth = "root" if m == strip else "other"
    if kind == "atan" and not near.sign:
        truth = "undefined"
    equation, candidate, letters = stated(rng, identity, w, rng.random() < 0.5)
    probes = tuple(Probe(at, truth) for at in places(rng, letters, 0))
    return Case(equation, candidate, probes, size=near.size, on_cut=near.sign == 0,
                claim=identity.name)  # fmt: skip
