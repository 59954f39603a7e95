"""All roots of a study's equations: found from a first solution, checked, counted and shown."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from abel.datasets import Problem
from abel.learner.progress import Progress
from abel.report.study import Study
from abel.roots import (
    STATES,
    Check,
    Roots,
    all_roots,
    answer_of,
    as_told,
    check_roots,
    unsolved,
    why_no_root,
)
from abel.search import Oracle, Solution

FORMAT = "abel-roots-1"


@dataclass(frozen=True)
class SolutionSet:
    """An equation with its first solution, all its roots, and whether these are all."""

    problem: Problem
    solution: Solution
    roots: Roots
    check: Check
    seconds: float

    def to_text(self) -> str:
        equation, verdict = self.solution.equation, self.solution.verdict
        found = self.roots.to_text() if self.roots.found or self.roots.unproven else ""
        if self.solution.solved:
            condition = None if verdict is None else verdict.valid_when
            answer = answer_of(equation, self.solution.root)
            last = answer.to_text(None if condition is None else equation.shown(condition))
            first = self.solution.trace().to_text(last)
        else:
            first = self.problem.text
        why = "" if self.roots.found else unsolved(why_no_root(equation))
        said = [f"\n{found}" if found else "", why, self.check.to_text()]
        return "\n".join([first, *filter(None, said)])

    def to_latex(self) -> str:
        return "\n".join([self.solution.trace().to_latex(), self.roots.to_latex()])

    def to_data(self) -> dict[str, Any]:
        return {
            "format": FORMAT, "equation": self.problem.text,
            "unknown": self.problem.equation.unknown, "family": self.problem.family,
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
                lambda equation, state: study.decode_from(decoder, equation, state, cache),
                study.config,
                cache,
            )
            seconds = time.process_time() - begun
            check = check_roots(roots, oracle.solution_set(problem.equation.text))
            if study.fall_back:  # somebody is told these roots
                told = tuple(as_told(roots.equation, root) for root in roots.found)
                roots = replace(roots, found=told)
            found.append(SolutionSet(problem, solution, roots, check, seconds))
    progress.show("")
    return found


def summary(sets: Sequence[SolutionSet]) -> dict[str, Any]:
    """How many of the sets are complete, by family."""

    def counts(part: Sequence[SolutionSet]) -> dict[str, int]:
        states = [each.check.state for each in part]
        return {
            "n": len(part), "with_a_root": sum(bool(each.roots.found) for each in part),
            **{state.replace(" ", "_"): states.count(state) for state in STATES},
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
