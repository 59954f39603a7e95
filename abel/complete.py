"""Is a set of roots all there is? Two tests that know nothing of how it was found.

A polynomial has as many roots as its degree says, counted once each. SymPy's `solveset`, where it
answers with an explicit set, is compared number by number at sample points of the coefficients, a
family for integers around 0.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath

from abel.datasets import Problem
from abel.equation import Equation
from abel.merging import Value, distinct_roots, is_root_at, is_same, values_at
from abel.oracle import DIGITS, Oracle, SetAnswer, compared_points, is_near, window
from abel.progress import Progress
from abel.roots import Roots, all_roots
from abel.search import Solution
from abel.study import Study

FORMAT = "abel-roots-1"
# What is known of a set: it lacks roots, SymPy's lacks some of its roots, or both, or nothing.
STATES = ("complete", "fewer", "more", "different", "unknown")


@dataclass(frozen=True)
class Check:
    """The outcome of both tests."""

    degree: int | None  # distinct roots of the polynomial, None if the equation is none
    by_degree: str  # a state
    by_sympy: str  # a state
    reason: str  # why SymPy has no answer
    sympy_set: str | None

    @property
    def state(self) -> str:
        """The degree decides; without one, SymPy's set does."""
        return self.by_sympy if self.by_degree == "unknown" else self.by_degree

    def to_text(self) -> str:
        sympy = {
            "complete": "SymPy's solveset has the same roots",
            "fewer": "SymPy's solveset has roots that are missing here",
            "more": "SymPy's solveset lacks some of these roots",
            "different": "SymPy's solveset lacks some of these roots and has others",
            "unknown": f"SymPy's solveset has no answer ({self.reason})",
        }[self.by_sympy]
        said = {
            "complete": "complete", "fewer": "incomplete", "more": "more than SymPy knows",
            "different": "incomplete", "unknown": "unknown whether complete",
        }[self.state]  # fmt: skip
        count = f"the polynomial has {self.degree} distinct root{'s' * (self.degree != 1)}; "
        return f"{said}: {count * (self.degree is not None)}{sympy}"

    def to_data(self) -> dict[str, Any]:
        return {
            "state": self.state, "by_degree": self.by_degree, "distinct_roots": self.degree,
            "by_sympy": self.by_sympy, "sympy_set": self.sympy_set, "sympy_reason": self.reason,
        }  # fmt: skip


@dataclass(frozen=True)
class SolutionSet:
    """An equation with its first solution, all its roots, and whether these are all."""

    problem: Problem
    solution: Solution
    roots: Roots
    check: Check
    seconds: float

    def to_text(self) -> str:
        first = f"{self.problem.text}\nno first root found"
        if self.solution.solved:
            first = self.solution.trace().to_text()
        return "\n".join([first, "", self.roots.to_text(), self.check.to_text()])

    def to_latex(self) -> str:
        return "\n".join([self.solution.trace().to_latex(), self.roots.to_latex()])

    def to_data(self) -> dict[str, Any]:
        return {
            "format": FORMAT, "equation": self.problem.text, "family": self.problem.family,
            "trace": self.solution.trace().to_data(), **self.roots.to_data(),
            "completeness": self.check.to_data(), "seconds": self.seconds,
        }  # fmt: skip


def solution_sets(study: Study, decoder: str) -> list[SolutionSet]:
    """All roots of every equation, from the first solution that the decoder finds."""
    cache, progress = study.new_cache(), Progress(sys.stderr)
    found: list[SolutionSet] = []
    outcomes = study.decode(decoder)
    with Oracle(study.limit) as oracle:
        for problem, outcome in zip(study.problems, outcomes):
            progress.show(f"all roots of {len(found) + 1} of {len(outcomes)}: {problem.text}")
            solution = outcome.solution
            assert solution is not None  # a policy's decoder gives one, solved or not
            begun = time.process_time()
            roots = all_roots(
                solution,
                lambda equation, place: study.decode_from(decoder, equation, place, cache),
                study.config,
                cache,
            )
            seconds = time.process_time() - begun
            check = check_roots(roots, oracle.solution_set(problem.text))
            found.append(SolutionSet(problem, solution, roots, check, seconds))
    progress.show("")
    return found


def summary(sets: Sequence[SolutionSet]) -> dict[str, Any]:
    """How many of the sets are complete, by family."""

    def counts(part: Sequence[SolutionSet]) -> dict[str, int]:
        states = [each.check.state for each in part]
        return {
            "n": len(part), "with_a_root": sum(bool(each.roots.found) for each in part),
            **{state: states.count(state) for state in STATES},
            "every_branch_followed": sum(each.roots.every_branch for each in part),
            "with_unproven": sum(bool(each.roots.unproven) for each in part),
        }  # fmt: skip

    families = sorted({each.problem.family for each in sets})
    return {
        "all": counts(sets),
        "by_family": {f: counts([s for s in sets if s.problem.family == f]) for f in families},
        "equations": [each.to_data() for each in sets],
    }


def show(sets: Sequence[SolutionSet], kind: str, single: bool) -> str:
    """The sets as text, LaTeX or JSON."""
    if kind == "json":
        data = [each.to_data() for each in sets]
        return json.dumps(data[0] if single else data, indent=2)
    return "\n\n".join(each.to_latex() if kind == "latex" else each.to_text() for each in sets)


# ---- The tests ----


def check_roots(roots: Roots, answer: SetAnswer) -> Check:
    equation = roots.equation
    symbols = list(equation.coefficients)
    points = compared_points(len(symbols))
    near, reach = numbers_of(roots, symbols, points)
    degree = distinct_roots(equation)
    by_degree = "unknown" if degree is None else compare_counts(near, degree)
    by_sympy = (
        "unknown"
        if answer.points is None
        else compare_sets(equation, symbols, points, near, reach, answer.points)
    )
    reason = answer.reason or "no numbers" * (by_sympy == "unknown")
    return Check(degree, by_degree, by_sympy, reason, answer.text)


def numbers_of(roots: Roots, symbols: list, points: list) -> tuple[list, list]:
    """For each point the distinct roots near 0 in their integers, and all numbers within reach."""
    near: list[list[Value]] = [[] for _ in points]
    reach: list[list[Value]] = [[] for _ in points]
    for root in roots.found:
        for index in window(len(root.integers)):
            for i, value in enumerate(values_at(root.at(index), symbols, points)):
                if value is None:
                    continue
                reach[i].append(value)
                if is_near(index) and not contains(near[i], value):
                    if is_root_at(roots.equation, symbols, points[i], value):
                        near[i].append(value)
    return near, reach


def contains(numbers: list[Value], value: Value) -> bool:
    return any(is_same(value, number) for number in numbers)


def compare_counts(near: list[list[Value]], degree: int) -> str:
    counts = {len(numbers) for numbers in near}
    return "complete" if counts == {degree} else "fewer"


def compare_sets(
    equation: Equation, symbols: list, points: list, near: list, reach: list, theirs: list
) -> str:
    """Our set beside SymPy's; of both, only numbers that are roots count."""
    fewer = more = used = False
    for i, point in enumerate(points):
        if theirs[i] is None:
            continue
        used = True
        with mpmath.workdps(DIGITS):
            numbers = [(mpmath.mpc(re, im), close) for re, im, close in theirs[i]]
        for value, close in numbers:
            if close and not contains(reach[i], value):
                fewer = fewer or is_root_at(equation, symbols, point, value)
        more = more or any(not contains([v for v, _ in numbers], value) for value in near[i])
    if not used:
        return "unknown"
    return STATES[2 * more + fewer]
