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
from itertools import product

import numpy as np
import sympy as sp
from sympy import Expr, Poly, Pow, Symbol, acos, asin, log

from abel.balls import Undefined, evaluate, precision
from abel.equation import ONE, X, num_nodes, remember
from abel.rewrite import replace

Row = tuple[float, ...]  # values of the letters, in their order

SCALES = (1e-6, 1e-3, 1e3, 1e6)
MAX_BREAKPOINTS, MAX_DEGREE, MAX_NODES = 12, 12, 60
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
    """Points at other scales, and on both sides of the breakpoints of the expressions."""
    base = points_for(symbols)
    letters = [i for i, symbol in enumerate(symbols) if not symbol.is_integer]
    if not letters:
        return []
    rows: dict[Row, None] = {}
    for k, (row, scale) in enumerate(product(base[:: max(1, len(base) // 6)], SCALES)):
        # One letter far out, or all of them.
        far = letters if k % 2 else [letters[k // 2 % len(letters)]]
        rows[tuple(v * scale if i in far else v for i, v in enumerate(row))] = None
    for i in letters:
        found = [p for expr in exprs for p in breakpoints(expr, symbols[i])]
        for k, point in enumerate(sorted(set(found))[:MAX_BREAKPOINTS]):
            width = abs(point) or 1.0
            for offset in (-FAR * width, -NEAR * width, NEAR * width, FAR * width):
                row = base[k % len(base)]
                rows[(*row[:i], point + offset, *row[i + 1 :])] = None
    return list(rows)


@remember
def choosing(expr: Expr) -> tuple[Expr, ...]:
    """What branches and poles in `expr` depend on: radicands, denominators, arguments of log, and
    1 - u**2 for asin and acos.
    """
    found = [u for arg in expr.args for u in choosing(arg)]
    if isinstance(expr, Pow) and not (expr.exp.is_Integer and expr.exp.is_positive):
        found.append(expr.base)
    elif isinstance(expr, log):
        found.append(expr.args[0])
    elif isinstance(expr, asin | acos):
        found += [ONE - expr.args[0], ONE + expr.args[0]]
    elif isinstance(expr, sp.atan | sp.LambertW | sp.tan):
        found.append(expr.args[0])
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
    if expr.free_symbols != {letter} or num_nodes(expr) > MAX_NODES:
        return ()
    try:
        parts = sp.fraction(sp.together(expr))
        polys = [Poly(part, letter, domain="QQ") for part in parts]
        if max(poly.degree() for poly in polys) > MAX_DEGREE:
            return ()
        simple = [poly.sqf_part() for poly in polys]  # multiple roots would be found roughly only
        roots = [r for p in simple for r in np.roots([float(c) for c in p.all_coeffs()])]
    except (sp.polys.polyerrors.BasePolynomialError, ArithmeticError, ValueError):
        return sign_changes(expr, letter)
    return tuple(float(r.real) for r in roots if abs(r.imag) <= 1e-4 * abs(r) and abs(r) > 1e-9)


def sign_changes(expr: Expr, letter: Symbol) -> tuple[float, ...]:
    """By bisection between points of a grid; a function that only touches 0 is not noticed."""
    found = []
    for low, high in zip(GRID, GRID[1:]):
        left, right = value_at(expr, letter, low), value_at(expr, letter, high)
        if left is None or right is None or (left < 0) == (right < 0):
            continue
        for _ in range(40):
            middle = (low + high) / 2
            value = value_at(expr, letter, middle)
            if value is None:
                break
            low, high = (middle, high) if (value < 0) == (left < 0) else (low, middle)
        found.append((low + high) / 2)
    return tuple(found)


def value_at(expr: Expr, letter: Symbol, value: float) -> float | None:
    from flint import acb

    try:
        with precision(64):
            found = evaluate(expr, {letter: acb(value)})
        return float(found.real) if found.is_finite() and found.imag.contains(0) else None
    except (Undefined, OverflowError):
        return None
