"""No root twice: which roots and families others give.

Numbers at sample points tell what may be equal; it goes only if that is proved: by arithmetic on
integers, by `verify_root`, or, without letters, because there is one root only in a ball that holds
both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replaced
from fractions import Fraction

import mpmath
import sympy as sp
from flint import acb, arb
from sympy import Expr, Integer, Pow, Symbol, acos, asin, atan, log

from abel.equation import Equation, X, has_x, num_nodes
from abel.rewrite import difference, replace, total
from abel.rewrite import product as times
from abel.roots.families import (
    MAX_FAMILY_NODES,
    Root,
    exceptions_of,
    implies,
    is_member,
    is_within,
    line_of,
    ratio_of,
)
from abel.roots.values import Value, value_at
from abel.search import DIGITS, window
from abel.verify import degree_bound, enclosure, points_for, precision, verify_root

MAX_FACTORS, MAX_DEGREE = 4, 16
MAX_FORMAL = 64  # degree of what is made a polynomial to see its true one
MAX_MULTIPLICITY = 3  # of roots that are told apart by a derivative
MAX_DENOMINATOR = 12  # of a period's parts by which families may be apart
ISOLATING_BITS, ROOT_BITS = 400, 256
NO_PROOF = "equal to another root at every sample point, which is no proof"

Table = dict[tuple[int, ...], list[Value]]  # a family by its integers, at every sample point


# ---- Numbers ----


def numbers_at(expr: Expr, symbols: list[Symbol], points: list[tuple[float, ...]]) -> list[Value]:
    """The expression at every point."""
    return [value_at(expr, dict(zip(symbols, point))) for point in points]


def is_same(first: Value, second: Value) -> bool:
    if first is None or second is None:
        return False
    return abs(first - second) <= 1e-25 * (1 + abs(first))


def is_root_at(
    equation: Equation, symbols: list[Symbol], point: tuple[float, ...], value: Value
) -> bool:
    """Whether a number with 40 digits is a root for these coefficients."""
    radius = 1e-38 * float(1 + abs(value))
    ball = acb(arb(mpmath.re(value), radius), arb(mpmath.im(value), radius))
    values = {**dict(zip(symbols, point)), X: ball}
    left, right, *away = (
        enclosure(expr, values, ROOT_BITS)
        for expr in (equation.lhs, equation.rhs, *equation.nonzero)
    )
    if left is None or right is None or any(e is None or e.contains(0) for e in away):
        return False
    with precision(ROOT_BITS):
        return (left - right).contains(0)


class Samples:
    """An equation's sample points, and what the families are there."""

    def __init__(self, equation: Equation) -> None:
        self.equation = equation
        self.symbols = list(equation.coefficients)
        self.points = points_for(self.symbols)
        self.known: dict[Expr, list[Value]] = {}

    def of(self, expr: Expr) -> list[Value]:
        if expr not in self.known:
            self.known[expr] = numbers_at(expr, self.symbols, self.points)
        return self.known[expr]

    def table(self, root: Root) -> Table:
        indices = window(len(root.integers)) if root.proved_at is None else root.proved_at
        return {index: self.of(root.at(index)) for index in indices}

    def is_root(self, place: int, value: Value) -> bool:
        return is_root_at(self.equation, self.symbols, self.points[place], value)

    def fraction(self, root: Root, number: Expr) -> Fraction | None:
        """The number, if it is the same simple fraction wherever the root is claimed."""
        index = first_claimed(root)
        if index is None:
            return None
        found: set[Fraction | None] = set()
        for point, value in zip(self.points, self.of(number)):
            if root.is_claimed(index, dict(zip(self.symbols, point))) is not False:
                found.add(None if value is None else as_fraction(value))
        return found.pop() if len(found) == 1 else None


def as_fraction(value: Value) -> Fraction | None:
    with mpmath.workdps(DIGITS):
        near = mpmath.nint(mpmath.re(value) * MAX_DENOMINATOR)
        same = is_same(value, near / MAX_DENOMINATOR)
    return Fraction(int(near), MAX_DENOMINATOR) if same else None


def first_claimed(root: Root) -> tuple[int, ...] | None:
    """The smallest integers that a family is claimed for."""
    indices = window(len(root.integers)) if root.proved_at is None else root.proved_at
    return next((i for i in indices if len(i) != 1 or is_member(root, Fraction(i[0]))), None)


# ---- The list without doubles ----


def merged(equation: Equation, roots: list[Root]) -> tuple[Root, ...]:
    """Without roots that others give: unproven ones go before proved ones, single roots before
    families, conditional before unconditional, large before small.

    What equals others at every sample point goes if it is proved to be equal, or if a polynomial
    has no more roots than the others. Otherwise it stays, and says so.
    """
    kept, matched = without_doubles(roots, Samples(equation))
    sure = [root for root in kept if root.proved and root.valid_when is None]
    if matched and len(sure) == distinct_roots(equation):
        matched = []
    doubtful = [root for root, others in matched if not is_one_of(equation, root, others)]
    noted = {id(root): replaced(root, how=(*root.how, NO_PROOF)) for root in doubtful}
    noted |= {id(root): root for root in kept}
    return tuple(noted[id(root)] for root in roots if id(root) in noted)


def without_doubles(
    roots: list[Root], samples: Samples
) -> tuple[list[Root], list[tuple[Root, list[Expr]]]]:
    """Roots that no other gives; and proved ones that equal others at every sample point only,
    with those others.
    """
    order = sorted(roots, key=lambda root: (
        not root.proved, -len(root.integers), root.proved_at is not None,
        root.valid_when is not None, num_nodes(root.value),
    ))  # fmt: skip
    kept = [(root, samples.table(root)) for root in order]
    matched: list[tuple[Root, list[Expr]]] = []
    for root in reversed(order):
        rest = [pair for pair in kept if pair[0] is not root]
        givers = [pair for pair in rest if pair[0].proved or not root.proved]
        if any(gives(other, root, samples) for other, _ in givers):
            kept = rest
            continue
        others = matches(root, givers, samples)
        if others is not None:
            kept = rest
            if root.proved:
                matched.append((root, others))
    return [root for root, _ in kept], matched


def gives(family: Root, root: Root, samples: Samples) -> bool:
    """Whether it is proved that a family has another one, or a single root, in it."""
    inner, outer = line_of(root), line_of(family)
    index = first_claimed(root)
    if inner is None or outer is None or index is None or not family.integers:
        return False
    ratio = ratio_of(inner.alpha, outer.alpha)
    if ratio is None:
        return False
    start = samples.fraction(root, times(difference(inner.beta, outer.beta), outer.alpha**-1))
    if start is None or not is_within(root, family, ratio, start):
        return False
    there = int(ratio * sum(index) + start)
    return is_equal(samples.equation, root, root.at(index), family.at((there,)))


# ---- Equal for certain ----


def is_equal(equation: Equation, root: Root, first: Expr, second: Expr) -> bool:
    """Whether it is proved that two expressions are equal, wherever the root is valid."""
    exceptions = exceptions_of(root)
    letters = None if exceptions is None else exceptions.letters
    if first == second or is_plainly_zero(difference(first, second)):
        return True
    equal = verify_root(Equation(difference(X, second)), first)
    if equal:
        return implies(letters, equal.valid_when)
    return not equation.coefficients and is_only_root(equation, first, second)


def is_plainly_zero(expr: Expr) -> bool:
    return num_nodes(expr) <= MAX_FAMILY_NODES and sp.expand(expr) == 0


def is_only_root(equation: Equation, first: Expr, second: Expr) -> bool:
    """Whether two roots of an equation without letters are one.

    Where f is analytic on a convex set and f' has values only in another one without 0, f takes no
    value twice: f(r) - f(s) is r - s times a mean of f'. So two roots there are equal. At a root of
    several f' vanishes too, and may take the place of f.
    """
    balls = [enclosure(value, {}, ISOLATING_BITS) for value in (first, second)]
    if balls[0] is None or balls[1] is None or not balls[0].overlaps(balls[1]):
        return False
    both = balls[0].union(balls[1])
    function = difference(equation.lhs, equation.rhs)
    for order in range(MAX_MULTIPLICITY):
        given = equation if order == 0 else Equation(function)
        if not all(verify_root(given, value) for value in (first, second)):
            return False
        slope = sp.diff(function, X)
        bound = enclosure(slope, {X: both}, ISOLATING_BITS)
        if bound is None or not is_analytic(function, both):
            return False
        if not bound.contains(0):
            return True
        if not has_x(slope):
            return False
        function = slope
    return False


# Where a function of u jumps: is u, a ball, clear of it?
CLEAR_OF_CUT: dict[type, Callable[[acb], bool]] = {
    log: lambda u: u.real > 0 or not u.imag.contains(0),
    asin: lambda u: -1 < u.real < 1 or not u.imag.contains(0),
    acos: lambda u: -1 < u.real < 1 or not u.imag.contains(0),
    atan: lambda u: -1 < u.imag < 1 or not u.real.contains(0),
}
ENTIRE = (sp.Add, sp.Mul, sp.exp, sp.sin, sp.cos, sp.tan)  # or with poles, where no bound is found


def is_analytic(expr: Expr, ball: acb) -> bool:
    """Whether a function of x is certain to be analytic on a ball."""
    if not has_x(expr) or expr == X:
        return True
    if not all(is_analytic(arg, ball) for arg in expr.args):
        return False
    if isinstance(expr, ENTIRE) or isinstance(expr, Pow) and expr.exp.is_Integer:
        return enclosure(expr, {X: ball}, ISOLATING_BITS) is not None
    kind, inner = (log, expr.base) if isinstance(expr, Pow) else (type(expr), expr.args[0])
    if not has_x(inner):
        return True
    value = enclosure(inner, {X: ball}, ISOLATING_BITS)
    return kind in CLEAR_OF_CUT and value is not None and CLEAR_OF_CUT[kind](value)


# ---- Families in several integers, and roots that others give in turn ----


def matches(root: Root, kept: list[tuple[Root, Table]], samples: Samples) -> list[Expr] | None:
    """Other roots, one of which equals this one at every sample point; None if there is a point
    without.

    Which of them may change from point to point: a/2 + b/2 + sqrt((a - b)**2)/2 is a or b.
    """
    start = (0,) * len(root.integers)
    probes = [start] + [tuple(int(i == j) for i in range(len(start))) for j in range(len(start))]
    mine = [samples.of(root.at(probe)) for probe in probes]
    needed: dict[Expr, None] = {}
    for place in range(len(samples.points)):
        numbers = [row[place] for row in mine]
        if None in numbers or not samples.is_root(place, numbers[0]):
            continue
        for other, table in kept:
            hits = find_all(numbers, table, place)
            filled = None if hits is None else reindexed(other, hits, root.integers)
            if filled is not None and holds_with(root, other, filled):
                needed[replace(other.value, filled)] = None
                break
        else:
            return None
    return list(needed) or None


def is_one_of(equation: Equation, root: Root, others: list[Expr]) -> bool:
    """Whether it is proved that the root is always one of the others."""
    if len(others) > MAX_FACTORS:
        return False
    zero = times(*[difference(X, other) for other in others])
    equal = verify_root(Equation(zero), root.value)
    if equal:
        return implies(root.valid_when, equal.valid_when)
    plain = len(others) == 1 and not root.integers and not equation.coefficients
    return plain and is_only_root(equation, root.value, others[0])


def find_all(numbers: list[Value], table: Table, place: int) -> list[tuple[int, ...]] | None:
    """Where in a family these numbers are, at one sample point."""
    hits = []
    for number in numbers:
        hit = next((index for index, row in table.items() if is_same(number, row[place])), None)
        if hit is None:
            return None
        hits.append(hit)
    return hits


def reindexed(
    other: Root, hits: list[tuple[int, ...]], integers: tuple[Symbol, ...]
) -> dict[Symbol, Expr]:
    """A family's integers written in other `integers`, by where 0 and the units lie in it."""
    start, *units = hits
    filled = {}
    for j, symbol in enumerate(other.integers):
        slopes = [times(Integer(unit[j] - start[j]), n) for unit, n in zip(units, integers)]
        filled[symbol] = total(Integer(start[j]), *slopes)
    return filled


def holds_with(root: Root, other: Root, filled: dict[Symbol, Expr]) -> bool:
    """Whether the other root is valid wherever this one is, as far as can be seen."""
    if other.valid_when is None:
        return True
    return other.valid_when.subs(filled, simultaneous=True) in (sp.true, root.valid_when)


def distinct_roots(equation: Equation) -> int | None:
    """How many roots a polynomial or rational equation has for general coefficients, each counted
    once; None for other equations.
    """
    if any(degree_bound(side, X) > MAX_FORMAL for side in (equation.lhs, equation.rhs)):
        return None
    try:
        top, _ = sp.fraction(sp.together(equation.lhs - equation.rhs))
        whole = sp.Poly(top, X).to_field()
        if not 0 < whole.degree() <= MAX_DEGREE:
            return None
        once = whole.quo(whole.gcd(whole.diff()))
        for entry in equation.nonzero:
            above, _ = sp.fraction(sp.together(entry))
            once = once.quo(once.gcd(sp.Poly(above, X).to_field()))
    except (sp.PolynomialError, sp.polys.polyerrors.BasePolynomialError):
        return None
    return once.degree()
