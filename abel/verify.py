"""The solving criterion: is a candidate a root of the equation as it was given?

"Solved" is decided only here. Coefficients are real, a root may be complex, and sqrt, log, powers,
asin, acos, atan are principal. A candidate may have symbols that are declared integers (asin(a) +
2*pi*n); a proof then holds for all of them but 0, which is to be tried by itself. Three steps, each
bounded by sizes:

1. Numbers (`abel.residual`): the residual at fixed sample points, with an error bound.
2. Proof (`abel.named`, `abel.proof`): the residual reduces to 0 on every branch, or on branches
   chosen at a sample point; then each choice becomes a condition in `valid_when`. Large candidates
   are proved on every branch or not at all.
3. Numbers again: a sample point inside the conditions that is not a root revokes the proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import sympy as sp
from sympy import Dummy, Expr, Ge, Mul, Symbol
from sympy.logic.boolalg import Boolean

from abel.equation import Equation, X, has_x, num_nodes
from abel.named import NamedTower
from abel.proof import Retry, Tower
from abel.residual import DIGITS_50, DOUBLES, column, columns_at, points_for, settled_outcomes

MAX_NODES = 400  # of the equation and the candidate
MAX_NAMED_NODES = 20_000  # of them; from 400 on only `abel.named` is tried
MAX_RETRIES, MAX_FAILED_PROOFS = 8, 3


@dataclass(frozen=True)
class Verdict:
    """What `verify_root` found; true only for a proved root."""

    status: str  # "proved", "refuted", "undefined" or "unproven"
    valid_when: Boolean | None = None  # where in the coefficients it is a root; None is everywhere
    reason: str = ""

    def __bool__(self) -> bool:
        return self.status == "proved"


def _prove(
    equation: Equation, candidate: Expr, symbols, point, depth: int, tower: type[Tower] = Tower
) -> frozenset[Boolean] | None:
    """Conditions under which the candidate is a root, found at `point`; None without a proof."""
    orders: dict[tuple, int] = {}
    for _ in range(MAX_RETRIES):
        proof = tower(symbols, point, depth, orders)
        try:
            proof.let_x(candidate)
            residual = proof.convert(equation.lhs) - proof.convert(equation.rhs)
            return _tightest(proof.conditions) if proof.vanishes(residual) else None
        except Retry:
            continue
        except Exception:  # GiveUp, or whatever SymPy raises on odd input: there is no proof
            return None
    return None


def is_identity(expr: Expr) -> bool:
    """Whether `expr` is 0 whatever x and the coefficients are, proved on every branch."""
    if not has_x(expr):
        expr = Mul(X, expr, evaluate=False)  # 0 with the factor is 0 without it
    unknown = Dummy("x")
    symbols = sorted(expr.free_symbols - {X}, key=lambda symbol: symbol.name) + [unknown]
    point = points_for(symbols)[0]
    return _prove(Equation(expr), unknown, symbols, point, 0) is not None


def _tightest(conditions: dict[Boolean, None]) -> frozenset[Boolean]:
    """Without bounds that another bound of the same expression implies."""
    best: dict[tuple, Boolean] = {}
    for relation in conditions:
        key = (relation.func, relation.lhs)
        if key not in best or (relation.rhs > best[key].rhs) == (relation.func is Ge):
            best[key] = relation
    return frozenset(best.values())


def _merged(cells: list[frozenset[Boolean]]) -> list[frozenset[Boolean]]:
    """Join cells that differ only in the sign of one expression; drop those inside another cell."""
    for first, second in product(cells, cells):
        if first < second:
            return _merged([cell for cell in cells if cell != second])
        sides = [(relation.lhs, relation.rhs) for relation in first ^ second]
        if len(sides) == 2 and sides[0] == sides[1]:
            rest = [cell for cell in cells if cell not in (first, second)]
            return _merged([*rest, first & second])
    return cells


def _inside(cell: frozenset[Boolean], symbols: list[Symbol], point: tuple[float, ...]) -> bool:
    known = columns_at([point], symbols, DIGITS_50)
    try:
        for relation in cell:
            value, error = column(relation.lhs - relation.rhs, known, DIGITS_50)[0]
            if abs(value.imag) > 8 * error or (value.real < 0) == isinstance(relation, Ge):
                return False
    except (ArithmeticError, ValueError):
        return False
    return True


def _num_complex(equation: Equation, candidate: Expr, symbols, point) -> float:
    """How many sub-expressions are not real at `point`: branches are best chosen where all are."""
    known = columns_at([point], symbols, DOUBLES)
    try:
        for name, expr in ((X, candidate), ("lhs", equation.lhs), ("rhs", equation.rhs)):
            known[name] = column(expr, known, DOUBLES)
    except (ArithmeticError, ValueError):
        return math.inf
    return sum(abs(value.imag) > 8 * error for ((value, error),) in known.values())


def _cells(equation: Equation, candidate: Expr, symbols, roots, others) -> list[frozenset[Boolean]]:
    """Sets of conditions proved at some of the points `roots`; none holds at `others`."""
    cells: list[frozenset[Boolean]] = []
    failures = 0
    for root in sorted(roots, key=lambda point: _num_complex(equation, candidate, symbols, point)):
        if any(_inside(cell, symbols, root) for cell in cells):
            continue
        for depth in (1, 2):
            cell = _prove(equation, candidate, symbols, root, depth)
            if cell is not None and not any(_inside(cell, symbols, point) for point in others):
                cells.append(cell)
                break
        else:
            failures += 1
            if cells or failures == MAX_FAILED_PROOFS:
                break
    merged = _merged(cells)
    revoked = any(_inside(cell, symbols, point) for cell in merged for point in others)
    return cells if revoked else merged


def _as_expression(candidate: Expr | int | str) -> Expr:
    if isinstance(candidate, str):
        from abel.parse import parse_expression

        candidate = parse_expression(candidate)
    if isinstance(candidate, int) and not isinstance(candidate, bool):
        candidate = sp.Integer(candidate)
    if not isinstance(candidate, Expr):
        found = f"{type(candidate).__name__}: {candidate!r}"
        raise TypeError(f"candidate must be a SymPy expression, an int or text, got {found}")
    if has_x(candidate):
        raise ValueError(f"candidate '{candidate}' contains x, so it is not a root yet")
    return candidate


def verify_root(equation: Equation, candidate: Expr | int | str) -> Verdict:
    """Decide whether x = candidate solves `equation`, for real values of the coefficients."""
    if not isinstance(equation, Equation):
        found = f"{type(equation).__name__}: {equation!r}"
        raise TypeError(f"equation must be an Equation, got {found}")
    candidate = _as_expression(candidate)
    if candidate.has(sp.zoo, sp.nan, sp.oo, -sp.oo):
        return Verdict("undefined", None, "the candidate is not a finite number")
    exprs = (equation.lhs, equation.rhs, candidate, *equation.nonzero)
    size = sum(map(num_nodes, exprs[:3]))
    if size > MAX_NAMED_NODES:
        found = f"equation and candidate have more than {MAX_NAMED_NODES} nodes"
        return Verdict("unproven", None, found)

    free = set().union(*[expr.free_symbols for expr in exprs]) - {X}
    symbols = sorted(free, key=lambda symbol: symbol.name)
    points = points_for(symbols)
    outcomes = settled_outcomes(equation, candidate, symbols, points)
    roots = [point for point, outcome in zip(points, outcomes) if outcome == "root"]
    others = [p for p, outcome in zip(points, outcomes) if outcome in ("other", "undefined")]
    if not roots and not others:
        return Verdict("unproven", None, "too large to evaluate, or a function without numbers")
    if not roots and "other" in outcomes:
        return Verdict("refuted", None, f"not a root at any of {len(others)} sample points")
    if not roots:
        return Verdict("undefined", None, "the equation is not defined at the candidate")

    small = size <= MAX_NODES
    for tower in (NamedTower, Tower) if small else (NamedTower,):
        if not others and _prove(equation, candidate, symbols, roots[0], 0, tower) is not None:
            return Verdict("proved", None, "the residual reduces to 0")
    cells = _cells(equation, candidate, symbols, roots, others) if small else []
    if not cells:
        found = f"{len(roots)} of {len(roots) + len(others)} sample points"
        return Verdict("unproven", None, f"a root at {found}, but no proof was found")
    if frozenset() in cells:
        return Verdict("proved", None, "the residual reduces to 0 on every branch")
    valid_when = sp.Or(*[sp.And(*sorted(cell, key=sp.default_sort_key)) for cell in cells])
    return Verdict("proved", valid_when, f"the residual reduces to 0 where {valid_when}")
