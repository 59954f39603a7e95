"""Sample points for the letters: numbers there pre-select what to prove, and try to revoke proofs.

Fixed points in every sign pattern come first. Where branches depend on the letters, points at
scales from 1e-6 to 1e6 follow, and points on both sides of every breakpoint: where a radicand, the
argument of a logarithm or a denominator in one letter is 0.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice, pairwise, product

import numpy as np
import sympy as sp
from sympy import E, Expr, Poly, Pow, Symbol, acos, asin, log

from abel.equation import ONE, X, is_lower_lambert, num_nodes, remember, vanishing_parts
from abel.rewrite import replace
from abel.verify.balls import enclosure

Row = tuple[float, ...]  # values of the letters, in their order

SCALES = (1e-6, 1e-3, 1e3, 1e6)
MAX_BREAKPOINTS, MAX_DEGREE, MAX_BREAKPOINT_NODES = 12, 12, 60
MAX_CORNERS = 32  # of points with all letters beside their breakpoints
STRIPS = 6  # quarter turns of an angle, up and down
NEAR, FAR = 2**-7, 2.0  # of a breakpoint, relative to it
GRID = tuple(sorted(s * 10 ** (k / 2) for s in (-1, 1) for k in range(-14, 15)))


@lru_cache(maxsize=64)
def sample_points(num_symbols: int) -> list[Row]:
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


def points_for(symbols: list[Symbol]) -> list[Row]:
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


def far_points(symbols: list[Symbol], exprs: Iterable[Expr]) -> list[Row]:
    """Points at other scales, between the breakpoints of the expressions and on both sides of them,
    of one letter and of all letters at once.
    """
    base, exprs = points_for(symbols), list(exprs)
    letters = [i for i, symbol in enumerate(symbols) if not symbol.is_integer]
    if not letters:
        return []
    rows: dict[Row, None] = {}
    for k, (row, scale) in enumerate(product(base[:: max(1, len(base) // 6)], SCALES)):
        # One letter far out, or all of them.
        far = letters if k % 2 else [letters[k // 2 % len(letters)]]
        rows[tuple(v * scale if i in far else v for i, v in enumerate(row))] = None
    for row in (base[0], base[len(base) // 2 + 1]):
        marks = {i: breakpoints_at(symbols, i, exprs, row) for i in letters}
        for i, points in marks.items():
            for value in [*around(points), *strips(symbols[i], exprs)]:
                rows[(*row[:i], value, *row[i + 1 :])] = None
        # All letters on either side of their outermost breakpoints.
        ends = [around(points[:1] + points[-1:])[::3] or [row[i]] for i, points in marks.items()]
        for values in islice(product(*ends), MAX_CORNERS):
            there = dict(zip(marks, values))
            rows[tuple(there.get(i, v) for i, v in enumerate(row))] = None
    return list(rows)


def around(points: list[float]) -> list[float]:
    """Numbers near to each point and far from it, on both sides, and in the middle between two."""
    offsets = (-FAR, -NEAR, NEAR, FAR)
    moved = [point + offset * (abs(point) or 1.0) for point in points for offset in offsets]
    # From -1 to 1 it is as far as from 1 to -1, and at a breakpoint itself nothing is claimed.
    found = [value for value in moved if value not in points]
    # Not the very middle: 0, of -1 and 1, is no letter like any other.
    return found + [left + 0.5137 * (right - left) for left, right in pairwise(points)]


def breakpoints_at(symbols: list[Symbol], i: int, exprs: list[Expr], row: Row) -> list[float]:
    """Where the expressions have a zero in one letter, the others being as in `row`."""
    found: list[float] = []
    for part in dict.fromkeys(part for expr in exprs for part in vanishing_parts(expr)):
        if part.free_symbols == {symbols[i]}:
            found += breakpoints(part, symbols[i])
        elif symbols[i] in part.free_symbols:
            found += affine_zero(part, symbols, i, row)
    return sorted(set(found))[:MAX_BREAKPOINTS]


def affine_zero(expr: Expr, symbols: list[Symbol], i: int, row: Row) -> list[float]:
    """The zero of what is linear in one letter, the others being as in `row`."""
    start, middle, end = (
        real_value(expr, dict(zip(symbols, (*row[:i], value, *row[i + 1 :]))))
        for value in (0, 1, 2)
    )
    if start is None or middle is None or end is None:
        return []
    slope = middle - start
    if not slope or abs(end - middle - slope) > 1e-9 * abs(slope):
        return []
    return [-start / slope]


def strips(letter: Symbol, exprs: list[Expr]) -> list[float]:
    """Points in the quarter turns of the angles in this letter alone, around 0."""
    angles = {node.args[0] for expr in exprs for node in expr.atoms(sp.sin, sp.cos, sp.tan)}
    found = []
    for angle in sorted(angles, key=sp.default_sort_key):
        if angle.free_symbols == {letter}:
            start, end = real_value(angle, {letter: 0}), real_value(angle, {letter: 1})
            if start is not None and end is not None and start != end:
                quarters = [(k + 0.5) * math.pi / 2 for k in range(-STRIPS, STRIPS)]
                found += [(turn - start) / (end - start) for turn in quarters]
    return found[: 4 * STRIPS]


@remember
def choosing(expr: Expr) -> tuple[Expr, ...]:
    """What branches and poles in `expr` depend on: radicands, denominators, arguments of log and
    abs, 1 - u**2 for asin and acos, 1 + E*u for LambertW(u, -1).
    """
    found = [u for arg in expr.args for u in choosing(arg)]
    if isinstance(expr, Pow) and not (expr.exp.is_Integer and expr.exp.is_positive):
        found.append(expr.base)
    elif isinstance(expr, log):
        found.append(expr.args[0])
    elif isinstance(expr, asin | acos):
        found += [ONE - expr.args[0], ONE + expr.args[0]]
    elif isinstance(expr, sp.atan | sp.LambertW | sp.tan | sp.Abs):
        found.append(expr.args[0])
        if is_lower_lambert(expr):  # it is real from -1/e to 0
            found.append(ONE + E * expr.args[0])
    return tuple(dict.fromkeys(found))


def in_letters(exprs: Iterable[Expr], candidate: Expr) -> list[Expr]:
    """What `choosing` finds, with the candidate for x, without what is free of letters."""
    found = [u for expr in exprs for u in choosing(expr)]
    return list(dict.fromkeys(
        replace(u, {X: candidate}) for u in [*found, *choosing(candidate)] if u.free_symbols
    ))  # fmt: skip


@remember
def breakpoints(expr: Expr, letter: Symbol) -> tuple[float, ...]:
    """Where an expression in this letter alone is 0, or has a pole, but for 0 itself; as floats."""
    if num_nodes(expr) > MAX_BREAKPOINT_NODES:
        return ()
    if degree_bound(expr, letter) > MAX_DEGREE:
        return sign_changes(expr, letter)
    try:
        polys = [Poly(part, letter, domain="QQ") for part in sp.fraction(sp.together(expr))]
        simple = [poly.sqf_part() for poly in polys]  # multiple roots would be found roughly only
        roots = [r for p in simple for r in np.roots([float(c) for c in p.all_coeffs()])]
    except (sp.polys.polyerrors.BasePolynomialError, ArithmeticError, ValueError):
        return sign_changes(expr, letter)
    return tuple(float(r.real) for r in roots if abs(r.imag) <= 1e-4 * abs(r) and abs(r) > 1e-9)


def degree_bound(expr: Expr, symbol: Symbol) -> int:
    """At least the degree of numerator and denominator, without multiplying anything out."""
    if symbol not in expr.free_symbols:
        return 0
    if isinstance(expr, Pow) and expr.exp.is_Rational:
        return degree_bound(expr.base, symbol) * math.ceil(abs(expr.exp))
    # Denominators of a sum's terms are multiplied, so that its degrees add up.
    return sum(degree_bound(arg, symbol) for arg in expr.args) if expr.args else 1


def sign_changes(expr: Expr, letter: Symbol) -> tuple[float, ...]:
    """By bisection between points of a grid; a function that only touches 0 is not noticed."""
    found = []
    for low, high in pairwise(GRID):
        left, right = (real_value(expr, {letter: end}) for end in (low, high))
        if left is None or right is None or (left < 0) == (right < 0):
            continue
        for _ in range(40):
            middle = (low + high) / 2
            value = real_value(expr, {letter: middle})
            if value is None:
                break
            low, high = (middle, high) if (value < 0) == (left < 0) else (low, middle)
        found.append((low + high) / 2)
    return tuple(found)


def real_value(expr: Expr, letters: dict[Symbol, float]) -> float | None:
    """A real value, roughly."""
    found = enclosure(expr, letters, 64)
    return float(found.real) if found is not None and found.imag.contains(0) else None
