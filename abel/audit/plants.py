"""Cases for the audit with something planted: a pole among the members of a family, a domain that
SymPy cancels, a sign that changes at a threshold.

Whoever plants knows what is undefined where, and which side of the threshold is which.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import sympy as sp
from sympy import (
    Expr,
    I,
    Integer,
    Rational,
    Symbol,
    acos,
    asin,
    atan,
    cos,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tan,
)

from abel.audit.attacks import HALF, A, B, C, Case, Probe, places, value
from abel.equation import Equation, X
from abel.parse import ParseError, parse

N = Symbol("n", integer=True)


# ---- Families over the integers ----


@dataclass(frozen=True)
class Family:
    """Where `zero`, a function of u, vanishes: at first + n*step."""

    zero: Expr
    first: Expr
    step: Expr
    turn: Rational | None  # first/pi (for exp: of 2*pi*I), where that is a rational number
    jump: Rational  # the same of step

    def member(self, n: Expr | int) -> Expr:
        return self.first + n * self.step


def family(rng: random.Random, u: Expr) -> Family:
    j = rng.choice((1, 1, 2, 3, 4, 6))
    jump, none = Rational(1, j), Rational(0)
    return rng.choice((
        Family(sin(j * u), Integer(0), pi / j, none, jump),
        Family(tan(j * u), Integer(0), pi / j, none, jump),
        Family(cos(j * u), pi / (2 * j), pi / j, jump / 2, jump),
        Family(cos(j * u) - 1, Integer(0), 2 * pi / j, none, 2 * jump),
        Family(exp(j * u) - 1, Integer(0), 2 * pi * I / j, none, jump),
        Family(sin(u) - A, asin(A), 2 * pi, None, Rational(2)),
        Family(sin(u) - A, pi - asin(A), 2 * pi, None, Rational(2)),
        Family(exp(u) - A, sp.log(A), 2 * pi * I, None, Rational(1)),
    ))  # fmt: skip


@dataclass(frozen=True)
class Plant:
    """What is done to the text of a left-hand side, and the members where that is undefined."""

    text: str  # with {} for the side
    guard: Expr
    bad: Callable[[int], bool]
    near: tuple[int, ...]  # members worth a look


def is_multiple(i: int, found: Family, shift: Rational) -> Callable[[int], bool]:
    return lambda n: (i * (found.turn + n * found.jump) - shift).q == 1


def planted_pole(rng: random.Random, found: Family, u: Expr) -> Plant:
    sizes = (4, 12, 100, 1000)
    k = rng.choice((1, -1)) * rng.randint(0, rng.choice(sizes))
    gap = u - found.member(k)
    kind = rng.choice(("pole", "pole", "pole", "log", "lambert", "cancel", "pair", "between",
                       "near", "letter", "period", "period", "period", "tan"))  # fmt: skip
    if found.turn is None and kind in ("period", "tan"):
        kind = "pole"
    if kind == "pole":
        return Plant(f"({{}})/({gap})", gap, lambda n: n == k, (k,))
    if kind == "log":
        return Plant(f"({{}})*log({gap})", gap, lambda n: n == k, (k,))
    if kind == "lambert":
        return Plant(f"({{}})*LambertW({gap}, -1)", gap, lambda n: n == k, (k,))
    if kind == "cancel":
        return Plant(f"({{}})*({gap})/({gap})", gap, lambda n: n == k, (k,))
    if kind == "pair":
        m = rng.randint(-1000, 1000)
        guard = sp.expand(gap * (u - found.member(m)))
        return Plant(f"({{}})/({guard})", guard, lambda n: n in (k, m), (k, m))
    if kind in ("between", "near", "letter"):
        miss = {"between": found.step * rng.choice((HALF, Rational(1, 3))),
                "near": Rational(1, 10 ** rng.randint(1, 100)), "letter": B}[kind]  # fmt: skip
        return Plant(f"({{}})/({gap - miss})", gap - miss, lambda n: False, (k,))
    i = rng.choice((1, 1, 2, 3))
    if found.zero.has(exp):
        guard, bad = exp(i * u) - 1, is_multiple(i, found, Rational(0))
        return Plant(f"({{}})/({guard})", guard, bad, ())
    waves = {"sin": (sin(i * u), Rational(0)), "cos": (cos(i * u), HALF)}
    guard, shift = waves["cos" if kind == "tan" else rng.choice(("sin", "cos"))]
    shape = f"({{}})*tan({i * u})" if kind == "tan" else f"({{}})/({guard})"
    return Plant(shape, guard, is_multiple(i, found, shift), ())


def half_line(rng: random.Random, u: Expr, found: Family) -> tuple[str, Callable[[int], bool], int]:
    """An equation for all members from the k-th on, or below it, as text."""
    k = rng.choice((1, -1)) * rng.randint(4, 1000)
    gap = u - found.member(k)
    if rng.random() < 0.5:  # the divisor vanishes at every member from k on
        return f"({found.zero})/(sqrt(({gap})^2) - ({gap})) = 0", lambda n: n < k, k
    return f"sqrt(({gap})^2) = {gap}", lambda n: n >= k, k


def family_case(rng: random.Random) -> Case:
    """`sin(4*x)/sin(x) = 0` at pi*n/4: which members are no roots is known for every n."""
    return first_read(typed_family, rng)


def first_read(draw: Callable[[random.Random], Case], rng: random.Random) -> Case:
    """The first case whose text is not refused: where nothing is claimed, there is no case."""
    while True:
        with suppress(ParseError):
            return draw(rng)


def typed_family(rng: random.Random) -> Case:
    m, t = Rational(rng.choice((1, 1, 1, 2, -3))), Rational(rng.choice((0, 0, 0, 1, -2)))
    u = m * X + t
    found = family(rng, u)
    imaginary, way = found.step.has(I), rng.random()
    typed = from_a_member_on(rng, u, found) if way < 0.12 else with_poles(rng, u, found)
    candidate, claim = (found.member(N) - t) / m, typed.claim
    finer = 0.12 < way < 0.2 and not typed.guards and not found.zero.has(tan)
    if finer:  # every other member is between two roots
        candidate, claim = (found.first + N * found.step / 2 - t) / m, "between the roots"
    equation = parse(typed.text)
    numbers = {*range(-4, 7), 12, 24, rng.randint(-1000, 1000), rng.randint(-1000, 1000)}
    numbers |= {k + shift for k in typed.near for shift in (-1, 0, 1)}
    letters = [s for s in (A, B) if s in equation.lhs.free_symbols | candidate.free_symbols]
    letters_at = places(rng, letters, 0)[0]
    probes = []
    for n in sorted(numbers):
        good = n % 2 == 0 if finer else typed.holds(n)
        truth = "root" if good else "other" if finer else typed.elsewhere
        probes.append(Probe({**letters_at, N: Integer(n)}, truth))
    return Case(equation, candidate, tuple(probes), typed.guards, size=110,
                partial=way < 0.12 or finer, on_cut=way < 0.12 and imaginary,
                claim=claim)  # fmt: skip


class TypedFamily(NamedTuple):
    text: str
    holds: Callable[[int], bool]  # of which members
    elsewhere: str  # what the other members are: undefined, or no root
    near: list[int]  # members to be tried, with their neighbors
    guards: tuple[Expr, ...]
    claim: str


def from_a_member_on(rng: random.Random, u: Expr, found: Family) -> TypedFamily:
    text, holds, k = half_line(rng, u, found)
    gap = u - found.member(k)
    if text.startswith("sqrt"):
        return TypedFamily(text, holds, "other", [k], (), "from a member on")
    guards = (sqrt(gap**2) - gap,)
    return TypedFamily(text, holds, "undefined", [k], guards, "from a member on")


def with_poles(rng: random.Random, u: Expr, found: Family) -> TypedFamily:
    plants = [planted_pole(rng, found, u) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
    text = str(found.zero)
    for plant in plants:
        text = plant.text.format(text)

    def holds(n: int) -> bool:
        return not any(plant.bad(n) for plant in plants)

    near = [k for plant in plants for k in plant.near]
    guards = tuple(plant.guard for plant in plants)
    return TypedFamily(f"{text} = 0", holds, "undefined", near, guards, "planted poles")


# ---- Domains that are typed and cancel ----


def threshold(rng: random.Random) -> Rational:
    """+-10**k for k from -6 to 6, or not so round."""
    scale = Rational(10) ** rng.randint(-6, 6)
    factor = rng.choice((1, 1, 2, Rational(rng.randint(11, 99), 17)))
    return rng.choice((1, -1)) * factor * scale


def around(
    rng: random.Random, edges: Sequence[Expr], letters: Sequence[Symbol], scales: int = 6
) -> list[dict]:
    """Places at all scales, and on both sides of every edge in a, close to it and far."""
    found = places(rng, letters, scales)
    if A not in letters:
        return found
    steps = [Rational(10) ** k for k in (-6, -3, 0, 2, 6) if k <= scales]
    for edge in edges:
        distances = [abs(edge) * Rational(rng.randint(2, 90), 97), *steps] if edge else steps
        for distance in distances:
            for sign in (1, -1):
                others = {letter: value(rng, 0, 0) for letter in letters}
                found.append({**others, A: edge + sign * distance * Rational(1009, 997)})
    return found


@dataclass(frozen=True)
class Domain:
    """An expression in letters that vanishes in a whole region."""

    expr: Expr
    vanishes: Callable[[dict], bool]
    edges: tuple[Expr, ...] = ()


def domain_of_letters(rng: random.Random) -> Domain:
    t, k = threshold(rng), Rational(10) ** rng.randint(-2, 6)
    gap, more = A - t, rng.choice((1, -1))
    return rng.choice((
        Domain(sqrt(gap**2) - more * gap, lambda at: more * (at[A] - t) > 0, (t,)),
        Domain(sqrt((gap * 3) ** 2) - 3 * gap, lambda at: at[A] > t, (t,)),
        Domain(sqrt((A - B) ** 2) - A + B, lambda at: at[A] > at[B]),
        Domain(sqrt((A - B * t) ** 2) - A + B * t, lambda at: at[A] > at[B] * t),
        Domain(log(gap**2) - 2 * log(gap), lambda at: at[A] > t, (t,)),
        Domain(sqrt(A - abs(t)) * sqrt(A + abs(t)) - sqrt(A**2 - t**2),
               lambda at: at[A] > -abs(t), (-abs(t), abs(t))),
        Domain(atan(gap) + atan(1 / gap) - pi / 2, lambda at: at[A] > t, (t,)),
        Domain(asin(sin(A / k)) - A / k, lambda at: bool(abs(at[A] / k) < pi / 2),
               (k * Rational(11, 7), -k * Rational(11, 7))),
        Domain(sin(A) ** 2 + cos(A) ** 2 - 1, lambda at: True),
        Domain((A + B) ** 2 - A**2 - 2 * A * B - B**2, lambda at: True),
        Domain(sqrt(gap**2) + 1, lambda at: False, (t,)),
        Domain(A - B, lambda at: False),
        Domain(log(A**2 + 1) + t**2, lambda at: False),
    ))  # fmt: skip


def cores(rng: random.Random) -> tuple[Expr, Expr]:
    """A left-hand side and a root of it."""
    r, k = Rational(rng.randint(-9, 9), rng.randint(1, 3)), rng.randint(-5, 5)
    return rng.choice((
        (X - r, r), (X - r, r), (A * X - B, B / A), ((X - A) * (X + B), A), ((X - A) * (X + B), -B),
        (X**2 - A**2, A), (X**2 - A**2, -A), (exp(X) - 1, Integer(0)), (sin(X), pi * k),
        (cos(X), pi * k + pi / 2), (log(X), Integer(1)), (X**3 - A**3, A), (X * exp(X), Integer(0)),
        (X - I, I), (X**2 + 1, -I), (X - A - r, A + r), (sqrt(X) - 2, Integer(4)),
    ))  # fmt: skip


def disguised(rng: random.Random, text: str, g: str) -> str:
    """The side with something of value 0 or 1 that is undefined where g is 0."""
    whole = rng.choice(("1/({g})", "log({g})", "1/({g})^2", "a/({g})")).format(g=g)
    ways = [f"{text} + {whole} - {whole}", f"({text})*({g})/({g})", f"({text})/({g})*({g})",
            f"({text}) + 0/({g})", f"({text}) + 0*{whole}", f"({text})*({g})^2/({g})^2",
            f"({text})*(1/({g}))^0", f"({text})*sqrt({g})/sqrt({g})",
            f"({text})*({g})^(-1)*({g})", f"{whole} + {text} - {whole}",
            f"({text})*exp(1/({g}))*exp(-1/({g}))", f"({text})*1/(1/({g}))/({g})"]  # fmt: skip
    return rng.choice(ways)


def domain_case(rng: random.Random) -> Case:
    """`cos(x) + tan(x) - tan(x) = 0` at pi/2: SymPy cancels, the text still means what it says."""
    return first_read(typed_case, rng)


def typed_case(rng: random.Random) -> Case:
    core, candidate = cores(rng)
    typed = typed_domain(rng, core, candidate)
    text, rhs, domain = typed.text, typed.rhs, typed.domain
    equation = parse(f"{text} = {rhs}" if rng.random() < 0.8 else f"{rhs} = {text}")
    candidate, truth = typed.root, "undefined" if typed.undefined else "root"
    wrong = rng.random() < 0.12
    if wrong:
        candidate += rng.choice((1, -1)) * Rational(1, 10 ** rng.randint(0, 60))
    free = equation.lhs.free_symbols | equation.rhs.free_symbols | candidate.free_symbols
    free = free.union(*(guard.free_symbols for guard in typed.guards)) - {X}
    letters = sorted(free, key=lambda symbol: symbol.name)
    edges = domain.edges if domain else ()
    scales = 0 if core.has(exp) or core.has(log) else 4

    def truth_at(at: dict) -> str | None:
        if wrong:
            return None
        return "undefined" if domain and domain.vanishes(at) else truth

    probes = tuple(Probe(at, truth_at(at)) for at in around(rng, edges, letters, scales))
    return Case(equation, candidate, probes, tuple(typed.guards), size=70, claim="domains")


class TypedDomain(NamedTuple):
    text: str  # of the left side
    rhs: str
    root: Expr
    guards: list[Expr]
    undefined: bool  # at the root, whatever the letters
    domain: Domain | None


def typed_domain(rng: random.Random, core: Expr, root: Expr) -> TypedDomain:
    """Text that reads `core = 0` once SymPy has cancelled, or another equation like that."""
    text, rhs, guards, undefined = str(core), "0", [], False
    domain = None
    way = rng.random()
    if way < 0.12:  # the core itself, undefined where it is 0
        undefined = True
        text = rng.choice(("1/(1/({g}))", "exp(log({g}))", "({g})^2/({g})", "({g})^3*({g})^(-2)",
                           "({g})/({g})*({g})")).format(g=text)  # fmt: skip
        guards.append(core)
    elif way < 0.2:
        s, turn = Rational(rng.randint(-4, 4)), rng.choice((I, -I, Integer(2), Rational(1, 3)))
        text, rhs, root = f"tan(atan(x - {s}))", str(turn), turn + s
        guards, undefined = [(X - s) ** 2 + 1], turn.has(I)
    elif way < 0.28:
        i = rng.randint(1, 4)
        text, root = f"{cos(i * X)} + tan({i}*x) - tan({i}*x)", pi / (2 * i)
        guards, undefined = [cos(i * X)], True
    elif way < 0.6:
        for _ in range(rng.choice((1, 1, 2))):
            hit = rng.random() < 0.5
            other = Rational(rng.randint(11, 99), 13)
            g = rng.choice((X - root, X - root, core, (X - root) * (X - other), X**2 - root**2,
                            sin(X - root), exp(X - root) - 1)) if hit else rng.choice(
                (X - other, X - C, X - root - other, X**2 + 5, cos(X - root)))  # fmt: skip
            if hit and g == X**2 - root**2 and g == X**2:
                g = X - root
            text, undefined = disguised(rng, text, str(g)), undefined or hit
            guards.append(g)
    else:
        domain = domain_of_letters(rng)
        d = str(domain.expr)
        text = rng.choice(("({t})/({d})", "({t})/({d})", "({t})*({d})/({d})",
                           "{t} + 1/({d}) - 1/({d})", "({t}) + 0/({d})",
                           "{t} + log({d}) - log({d})")).format(t=text, d=d)  # fmt: skip
        guards.append(domain.expr)
    return TypedDomain(text, rhs, root, guards, undefined, domain)


# ---- Signs that change at a threshold ----

Rule = tuple[Equation, Expr, Callable[[dict], bool], tuple[Expr, ...]]


def threshold_rules(rng: random.Random) -> list[Rule]:
    """Equation, candidate, where it is a root, and the edges in a."""
    t, s, r = threshold(rng), threshold(rng), threshold(rng)
    t, s = min(t, s), max(t, s) + Rational(1, 3)
    k, c = Rational(10) ** rng.randint(-6, 6), Rational(rng.randint(1, 9), rng.randint(1, 4))
    gap, span = A - t, (A - t) * (s - A)
    turn = A / k
    quarter = k * Rational(11, 7)  # next to pi/2*k
    above, below = (lambda at: at[A] > t), (lambda at: at[A] < t)
    minus = (1 - 2 * t - sqrt(1 + 4 * gap)) / 2

    def eq(lhs: Expr, rhs: Expr) -> Equation:
        return Equation(lhs, rhs) if rng.random() < 0.7 else Equation(rhs, lhs)

    return [
        (eq(sqrt(X), gap), gap**2, above, (t,)),
        (eq(sqrt(X), -gap), gap**2, below, (t,)),
        (eq(c * sqrt(X + B), c * gap), gap**2 - B, above, (t,)),
        (eq(sqrt(c * X + B) + t, A), (gap**2 - B) / c, above, (t,)),
        (eq(sqrt(X**2), gap), rng.choice((1, -1)) * gap, above, (t,)),
        (eq(sqrt(X**2) + A, t + Integer(0)), gap, below, (t,)),
        (eq(X, sqrt(gap**2)), gap, above, (t,)),
        (eq(X, sqrt(gap**2) + sqrt((A - s) ** 2)), 2 * A - t - s, lambda at: at[A] > s, (t, s)),
        (eq(X, sqrt(gap**2) + sqrt((A - s) ** 2)), s - t, lambda at: t < at[A] < s, (t, s)),
        (eq(X, sqrt(gap**2) + sqrt((A - s) ** 2)), t + s - 2 * A, below, (t, s)),
        (eq(sqrt(X), span), span**2, lambda at: t < at[A] < s, (t, s)),
        (eq(sqrt(X), B * gap), (B * gap) ** 2, lambda at: at[B] * (at[A] - t) > 0, (t,)),
        (eq(sqrt(X), A**2 - r**2), (A**2 - r**2) ** 2, lambda at: abs(at[A]) > abs(r), (r, -r)),
        (eq(log(X) + log(gap), B), exp(B) / gap, above, (t,)),
        (eq(log(X), log(gap) + log(A - s)), gap * (A - s), above, (t, s)),
        (eq(log(X), 2 * log(gap)), gap**2, above, (t,)),
        (eq(X ** Rational(1, 3), gap), gap**3, above, (t,)),
        (eq(X ** Rational(2, 3), gap), gap ** Rational(3, 2), above, (t,)),
        (eq(X ** Rational(1, 4), -gap), gap**4, below, (t,)),
        (eq(asin(X), turn), sin(turn), lambda at: bool(abs(at[A] / k) < pi / 2),
         (quarter, -quarter)),
        (eq(acos(X), turn), cos(turn), lambda at: bool((0 < at[A]) and (at[A] / k < pi)),
         (2 * quarter, Integer(0))),
        (eq(atan(X), turn), tan(turn), lambda at: bool(abs(at[A] / k) < pi / 2),
         (quarter, -quarter)),
        (eq(asin(X - r), turn), sin(turn) + r, lambda at: bool(abs(at[A] / k) < pi / 2),
         (quarter, -quarter)),
        (eq(log(X), I * turn), exp(I * turn), lambda at: bool(abs(at[A] / k) < pi),
         (2 * quarter, -2 * quarter)),
        (eq(sqrt(X + A), X + t), minus, lambda at: at[A] < t, (t,)),
        (eq(sqrt(X + A), X + t), minus + sqrt(1 + 4 * gap), lambda at: True, (t,)),
        (eq(sqrt(X), gap**2 + c), (gap**2 + c) ** 2, lambda at: True, (t,)),
        (eq(sqrt(X), -(gap**2) - c), (gap**2 + c) ** 2, lambda at: False, (t,)),
        (eq(sqrt(X), gap + 2 * sqrt(gap**2)), (gap + 2 * sqrt(gap**2)) ** 2, lambda at: True,
         (t,)),
        (eq(sqrt(X), gap - 2 * sqrt(gap**2)), (gap - 2 * sqrt(gap**2)) ** 2, lambda at: False,
         (t,)),
    ]  # fmt: skip


def threshold_case(rng: random.Random) -> Case:
    """`sqrt(x) = a - 20` at (a - 20)^2: a root from a = 20 on."""
    equation, candidate, holds, edges = rng.choice(threshold_rules(rng))
    m, t = Rational(rng.choice((1, 1, 2, -3))), Rational(rng.choice((0, 0, 1, -2)))
    if (m, t) != (1, 0):
        unknown = {X: m * X + t}
        equation = Equation(equation.lhs.xreplace(unknown), equation.rhs.xreplace(unknown))
        candidate = (candidate - t) / m
    free = equation.lhs.free_symbols | equation.rhs.free_symbols | candidate.free_symbols
    letters = sorted(free - {X}, key=lambda symbol: symbol.name)
    found = around(rng, edges, letters)
    if candidate.has(exp(B)):
        found = [{**at, B: value(rng, 0, 0)} for at in found]
    probes = tuple(Probe(at, "root" if holds(at) else "other") for at in found)
    return Case(equation, candidate, probes, size=60, claim="thresholds")
