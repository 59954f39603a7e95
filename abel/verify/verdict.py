"""The solving criterion: is a candidate a root of the equation as it was given?

"Solved" is decided only here. Coefficients are real, a root may be complex, and sqrt, log, powers,
asin, acos, atan are principal. A proof has two halves: the residual is 0, and the equation as it
was typed is defined there, both for almost all letters within `valid_when`: all but those for which
something that is divided by happens to be 0. A candidate may have symbols that are declared
integers (asin(a) + 2*pi*n); a proof then holds for every one of them that `valid_when` does not
exclude. Three steps, each bounded by sizes:

1. Numbers (`balls`): the residual at fixed sample points, as balls. What is certainly not 0 at any
   of them is refuted.
2. Proof (`named`, `proof`): the residual reduces to 0 on every branch, or on branches chosen at a
   sample point; then each choice becomes a condition in `valid_when`. Nothing that is divided by is
   0 (`domain`).
3. Numbers again: a sample point inside the conditions that is certainly no root revokes the proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import sympy as sp
from sympy import Dummy, Expr, Ge, Integer, Mul, Ne, Pow, Symbol, exp
from sympy.logic.boolalg import Boolean
from sympy.polys.rings import PolyElement

from abel.equation import (
    Equation,
    X,
    has_x,
    integer_bits,
    must_not_vanish,
    num_nodes,
    remember,
)
from abel.rewrite import replace
from abel.verify.balls import PRECISIONS, Point, Undefined, precision
from abel.verify.domain import exceptions
from abel.verify.kernels import GiveUp, Retry
from abel.verify.named import NamedTower
from abel.verify.proof import Tower
from abel.verify.samples import Row, far_points, in_letters, points_for

MAX_WHOLE_NODES = 400  # of the equation and the candidate
MAX_NAMED_NODES = 20_000  # of them; from 400 on only `abel.verify.named` is tried
STRIDE = 5
HUGE = 2**1024
LARGE_BITS = 128  # of a number in the question: it may hide a near miss
MAX_UNSURE = 6  # points looked at again with more bits
MAX_RETRIES, MAX_FAILED_PROOFS = 8, 3
MAX_EXCEPTIONS, MAX_PERIOD = 8, 48  # of a family: integers, and residue classes

Cell = frozenset[Boolean]  # conditions that hold together


@dataclass(frozen=True)
class Verdict:
    """What `verify_root` found; true only for a proved root."""

    status: str  # "proved", "refuted", "undefined" or "unproven"
    valid_when: Boolean | None = None  # where in the coefficients it is a root; None is everywhere
    reason: str = ""

    def __bool__(self) -> bool:
        return self.status == "proved"


class NotDefined(Exception):
    """What the equation, or the candidate, divides by is 0 on every branch."""


# ---- Numbers ----


def _outcome(equation: Equation, candidate: Expr, point: Point, precisions: tuple[int, ...]) -> str:
    """At one point: "other" if it is certainly no root, "undefined" if the equation certainly is;
    else by the last ball "root" if it is small and holds 0, "unknown", or "beyond" all bits.
    """
    found = "unknown"
    for bits in precisions:
        try:
            with precision(bits):
                root = point.value(candidate, bits)
                point.let(X, root, bits)
                left, right = point.value(equation.lhs, bits), point.value(equation.rhs, bits)
                if not (left - right).contains(0):
                    return "other"
                if any(point.value(entry, bits).is_zero() for entry in equation.nonzero):
                    return "undefined"
                # Beside a candidate beyond all bits a summand may be lost.
                if abs(root) > HUGE:
                    return "beyond"
                small = (left - right).rad() * 2 ** (bits // 4) < 1 + abs(left) + abs(right)
                found = "root" if small and abs(root) < HUGE else "unknown"
        except Undefined:
            return "undefined"
        except (OverflowError, RecursionError):
            return "beyond"
    return found


@remember
def _has_branches(expr: Expr) -> bool:
    """Whether a function of symbols with several branches occurs, or |u|, which is u or -u."""
    if not expr.free_symbols:
        return False
    if isinstance(expr, Pow) and not expr.exp.is_Integer and expr.base.free_symbols:
        return True
    if isinstance(expr, sp.log | sp.asin | sp.acos | sp.atan | sp.LambertW | sp.Abs):
        return True
    return any(_has_branches(arg) for arg in expr.args)


def _num_complex(equation: Equation, candidate: Expr, symbols: list[Symbol], row: Row) -> float:
    """How many sub-expressions are not real at a point: branches are best chosen where all are."""
    bits = PRECISIONS[0]
    point = Point(dict(zip(symbols, row)))
    try:
        point.let(X, point.value(candidate, bits), bits)
        point.value(equation.lhs, bits), point.value(equation.rhs, bits)
    except (ArithmeticError, RecursionError):
        return math.inf
    return sum(not value.imag.is_zero() for value in point.known[bits].values())


# ---- Proofs ----


class Case:
    """One question to the criterion: what all its proofs have in common."""

    def __init__(self, equation: Equation, candidate: Expr, is_class: bool = False) -> None:
        self.equation, self.candidate = equation, candidate
        self.is_class = is_class  # whether the candidate is one residue class of a family
        exprs = (equation.lhs, equation.rhs, candidate, *equation.nonzero)
        self.size = sum(map(num_nodes, exprs[:3]))
        free = set().union(*[expr.free_symbols for expr in exprs]) - {X}
        self.symbols = sorted(free, key=lambda symbol: symbol.name)
        self.integers = [symbol for symbol in self.symbols if symbol.is_integer]
        self.branches = any(map(_has_branches, exprs))
        # Without letters all the evidence is at one point.
        self.most = PRECISIONS[-1] if not self.symbols else PRECISIONS[-2]
        self.large = max(map(integer_bits, exprs[:3])) > LARGE_BITS
        self.base = points_for(self.symbols)
        self.outcomes: dict[Row, str] = {}
        self.raised = ""  # what a proof ended in that should not have: it is said with the verdict

    def point(self, row: Row) -> Point:
        return Point(dict(zip(self.symbols, row)), self.most)

    def look(self, rows: list[Row]) -> None:
        """With few bits; at every fifth point with more, which tells a near miss. Large numbers in
        the question may hide one: then with all bits everywhere.
        """
        for i, row in enumerate(rows):
            self.look_again(row, PRECISIONS if self.large else PRECISIONS[: 1 + (i % STRIDE == 0)])

    def look_again(self, row: Row, precisions: tuple[int, ...]) -> None:
        self.outcomes[row] = _outcome(self.equation, self.candidate, self.point(row), precisions)

    def rows(self, *outcomes: str) -> list[Row]:
        return [row for row, outcome in self.outcomes.items() if outcome in outcomes]

    @property
    def roots(self) -> list[Row]:
        return self.rows("root")

    @property
    def others(self) -> list[Row]:
        return self.rows("other", "undefined")

    def prove(self, row: Row, depth: int, kind: type[Tower] = Tower) -> Cell | None:
        """Conditions under which the candidate is a root, found at a point; None without a proof.

        NotDefined if the equation is undefined there on every branch.
        """
        orders: dict[tuple, int] = {}
        point = self.point(row)
        for _ in range(MAX_RETRIES):
            tower = kind(self.symbols, point, depth, orders)
            try:
                residual = self.residual(tower)
                return self.defined(tower) if tower.vanishes(residual) else None
            except Retry:
                continue
            except NotDefined:
                if depth == 0:
                    raise
                return None
            except GiveUp:
                return None
            except Exception as error:  # SymPy raises anything on odd input: there is no proof
                self.raised = type(error).__name__
                return None
        return None

    def residual(self, tower: Tower) -> PolyElement:
        """lhs - rhs at the candidate; the divisors of the tower are what must not be 0 there."""
        try:
            tower.let_x(self.candidate)
            found = tower.convert(self.equation.lhs) - tower.convert(self.equation.rhs)
            for entry in self.equation.nonzero:
                tower.divide_by(tower.convert(entry))
        except ZeroDivisionError:
            raise NotDefined from None
        return found

    def defined(self, tower: Tower) -> Cell | None:
        """The conditions of a proof, with those under which nothing that it divides by is 0."""
        found = exceptions(tower, self.integers)
        if found is None:
            if tower.depth == 0:
                domain = (*self.equation.nonzero, *must_not_vanish(self.candidate))
                if any(tower.vanishes(tower.convert(entry)) for entry in domain):
                    raise NotDefined
            return self.by_residues(tower) if tower.depth == 0 else None
        excluded = []
        for n, values in found.items():
            if len(values) > MAX_EXCEPTIONS:
                return None
            for k in sorted(values):
                # What the proof divides by may be 0 where the equation does not mind.
                single = verify_root(self.equation, replace(self.candidate, {n: Integer(k)}))
                if not single or single.valid_when is not None:
                    excluded.append(Ne(n, k))
        return _tightest(tower.conditions) | frozenset(excluded)

    def by_residues(self, tower: Tower) -> Cell | None:
        """A family whose definedness depends on its integer modulo some period."""
        angles = [k.order for k in tower.kernels if k.kind in (sp.sin, sp.cos, exp)]
        period = 2 * math.lcm(*angles)
        if self.is_class or len(self.integers) != 1 or not angles:
            return None
        if period > MAX_PERIOD or self.size > MAX_WHOLE_NODES:
            return None
        n = self.integers[0]
        excluded, classes = [], []
        for rest in range(period):
            part = Case(self.equation, replace(self.candidate, {n: period * n + rest}), True)
            try:
                cell = part.prove(part.base[0], 0) if part.integers else None
            except NotDefined:
                cell = None
            if cell is None:
                classes.append(rest)
                continue
            for relation in cell:
                if not (isinstance(relation, Ne) and relation.lhs == n):
                    return None
                excluded.append(Ne(n, period * relation.rhs + rest))
        if len(classes) == period:
            return None
        return frozenset([*excluded, *_classes_excluded(n, classes, period)])

    def cells(self, roots: list[Row]) -> list[Cell]:
        """Sets of conditions proved at some of these points; none holds where there is no root."""
        cells: list[Cell] = []
        failures = 0
        kinds = (Tower,) if self.size <= MAX_WHOLE_NODES else (NamedTower,)
        order = sorted(
            roots, key=lambda row: _num_complex(self.equation, self.candidate, self.symbols, row)
        )
        for row in order:
            if any(self.inside(cell, row) for cell in cells):
                continue
            for depth, kind in product((1, 2), kinds):
                cell = self.prove(row, depth, kind)
                if cell is not None and not self.revoked(cell):
                    cells.append(cell)
                    break
            else:
                failures += 1
                if cells or failures == MAX_FAILED_PROOFS:
                    break
        merged = _merged(cells)
        return cells if any(map(self.revoked, merged)) else merged

    def prove_everywhere(self) -> list[Cell]:
        """By rules that hold on every branch; of a family, some integers may be excluded."""
        if self.others and not self.integers:
            return []
        for kind in (NamedTower, Tower) if self.size <= MAX_WHOLE_NODES else (NamedTower,):
            cell = self.prove(self.base[0], 0, kind)
            if cell is not None and not self.revoked(cell):
                return [cell]
        return []

    def prove_somewhere(self) -> list[Cell]:
        """On branches as they are at sample points, the far ones included if there are any."""
        if self.branches and len(self.roots) < len(self.base):
            sides = (self.equation.lhs, self.equation.rhs)
            self.look(far_points(self.symbols, in_letters(sides, self.candidate)))
        if not self.roots and self.symbols:  # a point may need more bits to be one
            for row in self.rows("unknown")[:MAX_UNSURE]:
                self.look_again(row, PRECISIONS[-2:])
        roots = self.roots or ([] if self.others else self.rows("unknown"))
        return self.cells(roots) if roots else []

    def refute(self) -> Verdict:
        """What the numbers say, where there is no proof."""
        if roots := self.roots:  # perhaps a near miss
            self.look_again(roots[0], PRECISIONS[2:])
            if self.outcomes[roots[0]] == "other":
                for row in roots[1:]:
                    self.look_again(row, PRECISIONS[2:])
        if self.roots:
            found = f"{len(self.roots)} of {len(self.roots) + len(self.others)} sample points"
            how = f": a proof ended in {self.raised}" if self.raised else ""
            return Verdict("unproven", None, f"a root at {found}, but no proof was found{how}")
        # Far out, exponentials are beyond all bits as a rule.
        near = [self.outcomes.get(row) for row in self.base]
        if self.rows("unknown") or "beyond" in near or not self.others:
            return Verdict("unproven", None, "too large or too near to a branch cut to evaluate")
        if self.rows("other"):
            found = f"not a root at any of {len(self.others)} sample points"
            return Verdict("refuted", None, found)
        return Verdict("undefined", None, "the equation is not defined at the candidate")

    def inside(self, cell: Cell, row: Row) -> bool | None:
        return self.point(row).holds(sp.And(*cell, evaluate=False)) if cell else True

    def revoked(self, cell: Cell) -> bool:
        """Whether a point that is no root may lie inside the conditions."""
        return any(self.inside(cell, row) is not False for row in self.others)


def _classes_excluded(n: Symbol, classes: list[int], period: int) -> list[Boolean]:
    """n outside of these residue classes, with the smallest period that tells them."""
    for small in range(1, period + 1):
        if period % small == 0:
            rests = sorted({rest % small for rest in classes})
            if len(rests) * (period // small) == len(classes):
                return [Ne(sp.Mod(n, small), rest) for rest in rests]
    return []


def is_identity(expr: Expr) -> bool:
    """Whether `expr` is 0 whatever x and the coefficients are, proved on every branch."""
    if not has_x(expr):
        expr = Mul(X, expr, evaluate=False)  # 0 with the factor is 0 without it
    case = Case(Equation(expr), Dummy("x"))
    try:
        return case.prove(case.base[0], 0) is not None
    except NotDefined:
        return False


def _tightest(conditions: Iterable[Boolean]) -> Cell:
    """Without bounds that another bound of the same expression implies."""
    best: dict[tuple, Boolean] = {}
    for relation in conditions:
        key = (relation.func, relation.lhs)
        if key not in best or (relation.rhs > best[key].rhs) == (relation.func is Ge):
            best[key] = relation
    return frozenset(best.values())


def _merged(cells: list[Cell]) -> list[Cell]:
    """Join cells that differ only in the sign of one expression; drop those inside another cell."""
    for first, second in product(cells, cells):
        if first < second:
            return _merged([cell for cell in cells if cell != second])
        sides = [(relation.lhs, relation.rhs) for relation in first ^ second]
        if len(sides) == 2 and sides[0] == sides[1]:
            rest = [cell for cell in cells if cell not in (first, second)]
            return _merged([*rest, first & second])
    return cells


# ---- The criterion ----


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
    case = Case(equation, candidate)
    if case.size > MAX_NAMED_NODES:
        found = f"equation and candidate have more than {MAX_NAMED_NODES} nodes"
        return Verdict("unproven", None, found)

    case.look(case.base[:1])
    if case.rows("other") and not case.branches and not case.integers:
        return Verdict("refuted", None, "the residual is not 0, but for special letters")
    case.look(case.base[1:])
    try:
        cells = case.prove_everywhere() or case.prove_somewhere()
    except NotDefined:
        return Verdict("undefined", None, "the equation is not defined at the candidate")
    return _proved(cells) if cells else case.refute()


def _proved(cells: list[Cell]) -> Verdict:
    if frozenset() in cells:
        return Verdict("proved", None, "the residual reduces to 0 on every branch")
    valid_when = sp.Or(*[sp.And(*sorted(cell, key=sp.default_sort_key)) for cell in cells])
    return Verdict("proved", valid_when, f"the residual reduces to 0 where {valid_when}")
