"""Is a set of roots all there is? Two tests that know nothing of how it was found.

A polynomial has as many roots as its degree says, counted once each. SymPy's `solveset`, where it
answers with an explicit set, is compared number by number at sample points of the coefficients, a
family for integers around 0. At a point a root counts only if its condition is certain to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import mpmath
import sympy as sp
from sympy import And, Symbol

from abel.equation import Equation
from abel.roots.families import Root, line_of
from abel.roots.follow import Roots
from abel.roots.merging import Table, Value, distinct_roots, is_root_at, is_same, numbers_at
from abel.search import DIGITS, SetAnswer, compared_points, is_near, window
from abel.verify import Point, condition_text, integers_of

# What is known of a set: it lacks roots, SymPy's lacks some of its roots, or both; it lacks none
# where a condition on the coefficients holds; or nothing is known.
State = Literal["complete", "fewer", "more", "different", "complete where", "unknown"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class Check:
    """The outcome of both tests."""

    degree: int | None  # distinct roots of the polynomial, None if the equation is none
    by_degree: State
    by_sympy: State
    reason: str  # why SymPy has no answer
    sympy_set: str | None
    where: Any = None  # the condition on the coefficients, if the state is "complete where"

    @property
    def state(self) -> State:
        """The degree decides; without one, SymPy's set does."""
        return self.by_sympy if self.by_degree == "unknown" else self.by_degree

    def to_text(self) -> str:
        sympy = {
            "complete": "SymPy's solveset has the same roots",
            "fewer": "SymPy's solveset has roots that are missing here",
            "more": "SymPy's solveset lacks some of these roots",
            "different": "SymPy's solveset lacks some of these roots and has others",
            "complete where": "there SymPy's solveset has the same roots",
            "unknown": f"SymPy's solveset has no answer ({self.reason})",
        }[self.by_sympy]
        said = {
            "complete": "complete", "fewer": "incomplete", "more": "more than SymPy knows",
            "different": "incomplete", "unknown": "unknown whether complete",
            "complete where": f"complete where {condition_text(self.where)}",
        }[self.state]  # fmt: skip
        count = f"the polynomial has {self.degree} distinct root{'s' * (self.degree != 1)}; "
        return f"{said}: {count * (self.degree is not None)}{sympy}"

    def to_data(self) -> dict[str, Any]:
        return {
            "state": self.state, "by_degree": self.by_degree, "distinct_roots": self.degree,
            "by_sympy": self.by_sympy, "sympy_set": self.sympy_set, "sympy_reason": self.reason,
            "complete_where": None if self.where is None else sp.sstr(self.where),
        }  # fmt: skip


# ---- The tests ----


class Numbers(NamedTuple):
    """The roots at one sample point of the coefficients, as numbers."""

    letters: dict[Symbol, float]
    near: list[Value]  # what is claimed here of roots and, near 0 in their integers, of families
    claims: Sequence[Callable[[Value], bool | None]]  # for each root, whether a number is one of it
    undecided: bool  # whether it is open for some root whether its condition holds here
    blind: bool  # whether the number of some root cannot be told here

    def has(self, value: Value) -> bool | None:
        return any_of([claim(value) for claim in self.claims])


def any_of(found: list[bool | None]) -> bool | None:
    """Whether one of these is true; None if that is open."""
    return True if True in found else None if None in found else False


def check_roots(roots: Roots, answer: SetAnswer) -> Check:
    equation = roots.equation
    symbols = list(equation.coefficients)
    points = compared_points(len(symbols))
    numbers = numbers_of(roots, symbols, points)
    degree = distinct_roots(equation)
    states: list[State | None] = [None] * len(points)
    if degree is not None:
        states = [seen(here, compare_count(here, degree)) for here in numbers]
    by_degree, where = overall(roots, numbers, states)
    states = [None] * len(points)
    for i, theirs in enumerate(answer.points or []):
        if theirs is not None:
            state = compare_sets(equation, symbols, points[i], numbers[i], theirs)
            states[i] = seen(numbers[i], state)
    by_sympy, there = overall(roots, numbers, states)
    if roots.unproven and by_sympy.startswith("complete"):  # one may be a root at other letters
        by_sympy, there = "unknown", None
    unproven = "a root left unproven" if roots.unproven else "no numbers"
    reason = answer.reason or unproven * (by_sympy == "unknown")
    where = there if by_degree == "unknown" else where
    return Check(degree, by_degree, by_sympy, reason, answer.text, where)


def seen(here: Numbers, state: State) -> State | None:
    """What a point says; nothing of what is missing where a root has no number."""
    return None if here.blind and state != "complete" else state


def numbers_of(roots: Roots, symbols: list, points: list) -> list[Numbers]:
    """The roots at every point: each counts where its condition holds for certain."""
    tables: list[Table] = [
        {index: numbers_at(root.at(index), symbols, points) for index in window(len(root.integers))}
        for root in roots.found
    ]
    found = []
    for place, point in enumerate(points):
        letters = dict(zip(symbols, point))
        near: list[Value] = []
        claims, undecided, blind = [], False, False
        for root, table in zip(roots.found, tables):
            here = {index: row[place] for index, row in table.items() if row[place] is not None}
            claims.append(partial(is_claimed, root, here, letters))
            hidden = [index for index in filter(is_near, table) if index not in here]
            blind = blind or any(root.is_claimed(i, letters) is not False for i in hidden)
            for index in filter(is_near, here):
                claimed, value = root.is_claimed(index, letters), here[index]
                undecided = undecided or claimed is None
                if claimed and not contains(near, value):
                    if is_root_at(roots.equation, symbols, point, value):
                        near.append(value)
                    else:
                        undecided = True
        found.append(Numbers(letters, near, claims, undecided, blind))
    return found


def is_claimed(
    root: Root, here: dict[tuple[int, ...], Value], letters: dict[Symbol, float], value: Value
) -> bool | None:
    """Whether a root, given by its integers as numbers, is claimed to be this number."""
    indices = [index for index, number in here.items() if is_same(value, number)]
    if not indices and {(0,), (1,)} <= here.keys() and line_of(root) is not None:
        with mpmath.workdps(DIGITS):  # past what is listed: alpha*n + beta tells its n
            beta, alpha = here[0,], here[1,] - here[0,]
            turns = mpmath.re((value - beta) / alpha) if alpha else mpmath.mpf(0)
            n = mpmath.nint(turns) if mpmath.isfinite(turns) else mpmath.mpf(0)
            indices = [(int(n),)] * is_same(value, alpha * n + beta)
    return any_of([root.is_claimed(index, letters) for index in indices])


def contains(numbers: list[Value], value: Value) -> bool:
    return any(is_same(value, number) for number in numbers)


def compare_count(here: Numbers, degree: int) -> State:
    if len(here.near) == degree:
        return "complete"
    return "unknown" if here.undecided else "fewer"


def compare_sets(
    equation: Equation, symbols: list, point: tuple[float, ...], here: Numbers, theirs: list
) -> State:
    """Our set beside SymPy's at one point; of both, only numbers that are roots count."""
    with mpmath.workdps(DIGITS):
        numbers = [(mpmath.mpc(re, im), close) for re, im, close in theirs]
    fewer = unknown = False
    for value, close in numbers:
        ours = not close or here.has(value)
        if not ours and is_root_at(equation, symbols, point, value):
            unknown, fewer = unknown or ours is None, fewer or ours is False
    more = any(not contains([number for number, _ in numbers], value) for value in here.near)
    if unknown and not fewer and not more:
        return "unknown"
    return STATES[2 * more + fewer]


def overall(roots: Roots, numbers: list[Numbers], states: list[State | None]) -> tuple[State, Any]:
    """What the states at all points come to, and the condition of "complete where".

    Points tell nothing of letters beyond a condition's boundary, so that a set with conditions is
    complete under them only, unless these cover the letters and points lie on both sides.
    """
    used = {state for state in states if state is not None}
    if not used:
        return "unknown", None
    finite = any(root.proved_at is not None for root in roots.found)
    if used == {"complete"} and is_covered(roots, numbers):
        return ("unknown" if finite else "complete"), None  # of a family only some n are claimed
    where = None if finite else complete_where(roots, numbers, states)
    if where is not None:
        return "complete where", where
    fewer, more = bool(used & {"fewer", "different"}), bool(used & {"more", "different"})
    return (STATES[2 * more + fewer] if fewer or more else "unknown"), None


def is_covered(roots: Roots, numbers: list[Numbers]) -> bool:
    """Whether each root's condition has its opposite among the others', and points in both."""
    conditions = {letters_of(root.valid_when) for root in roots.found} - {None}
    opposite = {sp.Ge: sp.Le, sp.Le: sp.Ge}
    return all(
        type(c) in opposite
        and opposite[type(c)](*c.args) in conditions
        and any(Point(here.letters).holds(c) for here in numbers)
        for c in conditions
    )


def complete_where(roots: Roots, numbers: list[Numbers], states: list[State | None]) -> Any:
    """The widest condition of the roots, or all of them together, under which nothing is missing
    at any point; None if there is none.
    """
    parts = [letters_of(root.valid_when) for root in roots.found]
    conditions = list(dict.fromkeys(part for part in parts if part is not None))
    conditions = [*conditions, And(*conditions)]
    covers: list[tuple[int, Any]] = []
    for condition in conditions:
        there = [state for here, state in zip(numbers, states)
                 if state is not None and Point(here.letters).holds(condition)]  # fmt: skip
        if set(there) == {"complete"} and condition != sp.true:
            covers.append((len(there), condition))
    return max(covers, key=lambda cover: cover[0], default=(0, None))[1]


def letters_of(condition: Any) -> Any:
    """What a root's condition demands of the coefficients; None for nothing."""
    parts = [] if condition is None else And.make_args(condition)
    found = And(*(part for part in parts if not integers_of(part)))
    return None if found == sp.true else found
