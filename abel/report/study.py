"""A policy and the equations it is tried on: every decoder's outcomes, counted and timed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sympy.printing.mathml import mathml

from abel.datasets import DatasetError, Problem
from abel.env import EnvConfig
from abel.equation import Equation
from abel.learner.progress import Progress
from abel.operations import Generator, describe
from abel.report.failures import diagnose
from abel.report.kinds import structural_type
from abel.report.trigger import tally
from abel.roots import other_branch, why_no_root
from abel.search import Oracle, Policy, Solution, beam, greedy, search
from abel.trace import Trace
from abel.transitions import State, TransitionCache

COST = ("solved", "transitions_per_equation", "ms_per_equation")  # columns of two reports
CHUNK = 64  # equations decoded together
ASTAR_WEIGHT = 1.0  # steps that a node or an edge counts for in A*'s guess


@dataclass(frozen=True)
class Outcome:
    """What a decoder made of one equation."""

    solved: bool
    root: str | None
    valid_when: str | None
    seconds: float
    transitions: int = 0
    reason: str = ""  # of a failure without steps
    solution: Solution | None = None  # none from SymPy, which gives no steps
    how: tuple[str, ...] = ()  # the branches to a root that the steps do not lead to

    @classmethod
    def of(cls, solution: Solution, seconds: float) -> Outcome:
        condition = solution.verdict.valid_when if solution.solved and solution.verdict else None
        return cls(
            solution.solved, solution.equation.shown(solution.root) if solution.solved else None,
            None if condition is None else solution.equation.shown(condition), seconds,
            solution.transitions,
            solution=solution,
        )  # fmt: skip


@dataclass
class Study:
    """Each decoder runs once, from a cold cache, however many ask for it."""

    policy: Policy
    problems: Sequence[Problem]
    config: EnvConfig
    generator: Generator
    width: int
    value_coef: float
    complexity_coef: float
    budget: int  # states that a search without a policy expands for an equation
    limit: float  # seconds for SymPy
    fall_back: bool = False  # whether other branches are followed where the policy finds no root

    def __post_init__(self) -> None:
        if not self.problems:
            raise DatasetError("there are no equations in this split")
        self.families = [problem.family for problem in self.problems]
        self.texts = [problem.text for problem in self.problems]
        self.types = [structural_type(problem.equation) for problem in self.problems]
        self.known: dict[tuple[str, int], list[Outcome]] = {}
        self.under_way: list[Outcome] = []  # of the decoder that is running
        self.interrupted = False

    def new_cache(self) -> TransitionCache:
        return self.config.new_cache(self.generator)

    def beam_flags(self, width: int | None = None) -> dict[str, Any]:
        return {
            "width": width or self.width, "value_coef": self.value_coef,
            "complexity_coef": self.complexity_coef,
        }  # fmt: skip

    def decode_from(
        self, name: str, equation: Equation, state: State, cache: TransitionCache
    ) -> Solution:
        """Go on from a state on the way from an equation, greedily or with a beam."""
        common = (self.policy, [equation], self.config, cache)
        if name == "beam":
            return beam(*common, **self.beam_flags(), starts=[state])[0]
        return greedy(*common, starts=[state])[0]

    def decode(self, name: str, width: int | None = None) -> list[Outcome]:
        """The outcome of every equation."""
        key = (name, width or self.width)
        if key not in self.known:
            outcomes: list[Outcome] = []
            self.under_way = outcomes
            progress = Progress(sys.stderr)

            def show(note: str = "") -> None:
                done, count = len(outcomes), len(self.problems)
                bar = "#" * (20 * done // count) + "." * (20 - 20 * done // count)
                solved = sum(outcome.solved for outcome in outcomes)
                progress.show(f"{name} [{bar}] {done} of {count}, {solved} solved{note}")

            DECODERS[name](self, outcomes, key[1], show)
            progress.show("")
            self.known[key] = outcomes
        return self.known[key]

    def told(self, outcome: Outcome) -> tuple[Trace | None, str]:
        """The steps to the root; or those to where it went wrong, and how it did."""
        if not outcome.solution:
            return None, outcome.reason
        trace = outcome.solution.trace()
        if outcome.solved:
            return trace, outcome.reason
        kind, last = diagnose(outcome.solution, self.new_cache(), self.config.max_steps)
        why = f"{kind} at step {last}" if trace.steps else "nothing found"
        return replace(trace, steps=trace.steps[:last]), outcome.reason or why

    def decode_all(self, names: Sequence[str]) -> dict[str, list[Outcome]]:
        """The outcomes by decoder. Ctrl-C ends it: the last decoder then has fewer, if any."""
        found = {}
        for name in names:
            try:
                found[name] = self.decode(name)
            except KeyboardInterrupt:
                self.interrupted = True
                return found | ({name: self.under_way} if self.under_way else {})
        return found

    def summary(self, name: str, width: int | None = None) -> dict[str, Any]:
        return self.counted(self.decode(name, width))

    def costs(self) -> list[dict[str, Any]]:
        """What every decoder solves, and what it takes for it."""
        rows = []
        for name in DECODERS:
            row = self.summary(name)
            shown = "SymPy solve" if name == "oracle" else name
            rows.append({"decoder": shown, **{column: row[column] for column in COST}})
        return rows

    def counted(self, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        """Counts and means over the equations, as far as they have an outcome."""
        count = len(outcomes)
        seconds = sum(outcome.seconds for outcome in outcomes)
        solved = [outcome.solved for outcome in outcomes]
        counts = tally(self.families, solved)
        return {
            "solved": counts["overall"][0],
            "always": sum(o.solved and o.valid_when is None for o in outcomes),
            "accuracy": counts["overall"][0] / count,
            "by_family": counts["by_family"],
            "by_type": tally(self.types, solved)["by_family"],
            "transitions_per_equation": sum(o.transitions for o in outcomes) / count,
            "ms_per_equation": 1000 * seconds / count,
            "seconds": seconds,
        }

    def by_equation(self, found: dict[str, list[Outcome]]) -> list[dict[str, Any]]:
        """A row for every equation with an outcome; its root is that of its first solver."""
        rows = []
        for i, problem in enumerate(self.problems):
            outcomes = {name: row[i] for name, row in found.items() if i < len(row)}
            if not outcomes:
                break
            solvers = [name for name, outcome in outcomes.items() if outcome.solved]
            first = outcomes[solvers[0] if solvers else next(iter(outcomes))]
            rows.append({
                "equation": problem.text, "unknown": problem.equation.unknown,
                "family": problem.family, "solved": first.solved,
                "root": first.root, "valid_when": first.valid_when,
                "steps": len(first.solution.path) if first.solution else None,
                "branches": list(first.how), "reason": first.reason,
                "solved_by": solvers,
                "always_by": [name for name in solvers if outcomes[name].valid_when is None],
            })  # fmt: skip
        return rows


# ---- Decoders: they fill the list of outcomes, and show how far they are ----


def with_policy(study: Study, outcomes: list[Outcome], width: int, show: Callable) -> None:
    cache = study.new_cache()
    for start in range(0, len(study.problems), CHUNK):
        part = study.problems[start : start + CHUNK]
        begun = time.perf_counter()
        found = decoded(study, part, width, cache)
        seconds = (time.perf_counter() - begun) / len(part)
        for each in found:
            if isinstance(each, Exception):
                outcomes.append(failed(each, seconds))
            elif each.solved or not study.fall_back:
                outcomes.append(Outcome.of(each, seconds))
            else:
                outcomes.append(fallen_back(study, each, seconds, cache))
        show()


def decoded(
    study: Study, part: Sequence[Problem], width: int, cache: TransitionCache
) -> list[Solution | Exception]:
    """The solution of each equation; one that fails, for want of memory say, fails alone."""
    try:
        if width:
            return [*beam(study.policy, part, study.config, cache, **study.beam_flags(width))]
        return [*greedy(study.policy, part, study.config, cache)]
    except Exception as error:
        if len(part) == 1:
            return [error]
    return [each for one in part for each in decoded(study, [one], width, study.new_cache())]


def fallen_back(
    study: Study, solution: Solution, seconds: float, cache: TransitionCache
) -> Outcome:
    """What the branches that the policy's steps left out lead to."""
    begun = time.perf_counter()

    def decode(equation: Equation, state: State) -> Solution:
        return study.decode_from("greedy", equation, state, cache)

    try:
        found = other_branch(solution, decode, study.config, cache)
    except Exception as error:  # a failure here is one more equation not solved
        return failed(error, seconds)
    outcome = Outcome.of(solution, seconds + time.perf_counter() - begun)
    if found is None:
        return replace(outcome, reason=why_no_root(solution.equation))
    condition, shown = found.verdict.valid_when, solution.equation.shown
    return replace(
        outcome, solved=True, root=shown(found.root), solution=None, how=found.how,
        valid_when=None if condition is None else shown(condition),
    )  # fmt: skip


def failed(error: Exception, seconds: float) -> Outcome:
    return Outcome(False, None, None, seconds, reason=f"{type(error).__name__} on the way")


def without_policy(study: Study, outcomes: list[Outcome], weight: float, show: Callable) -> None:
    def tick(expansions: int) -> None:
        if expansions % 50 == 0:
            show(f", {expansions} states expanded")

    cache = study.new_cache()
    for problem in study.problems:
        begun = time.perf_counter()
        found = search(problem, study.config, cache, budget=study.budget, weight=weight, tick=tick)
        outcomes.append(Outcome.of(found, time.perf_counter() - begun))
        show()


def by_sympy(study: Study, outcomes: list[Outcome], show: Callable) -> None:
    with Oracle(study.limit) as oracle:
        for problem in study.problems:
            equation = problem.equation
            root, condition, reason, seconds = oracle(equation.text)
            root, condition = (each and equation.shown(each) for each in (root, condition))
            outcomes.append(Outcome(root is not None, root, condition, seconds, reason=reason))
            show()


DECODERS: dict[str, Callable[[Study, list[Outcome], int, Callable], None]] = {
    "greedy": lambda study, outcomes, width, show: with_policy(study, outcomes, 0, show),
    "beam": with_policy,
    "bfs": lambda study, outcomes, width, show: without_policy(study, outcomes, 0.0, show),
    "astar": lambda study, outcomes, _, show: without_policy(study, outcomes, ASTAR_WEIGHT, show),
    "oracle": lambda study, outcomes, width, show: by_sympy(study, outcomes, show),
}


# ---- Solutions to show ----


def show_trace(problem: Problem, solution: Solution) -> dict[str, Any]:
    """A solved equation as text and as MathML, step by step."""
    trace = solution.trace()
    steps = [
        {
            "operation": describe(observation.actions[action]),
            "equation": str(form),
            "mathml": as_mathml(form.lhs, form.rhs),
            "transform": None if transform is None else str(transform),
        }
        for observation, action, form, transform in solution.path
    ]
    return {
        "family": problem.family, "equation": problem.text, "text": trace.to_text(),
        "mathml": as_mathml(problem.equation.lhs, problem.equation.rhs), "steps": steps,
        "root": trace.root, "valid_when": trace.valid_when,
    }  # fmt: skip


def as_mathml(lhs: Any, rhs: Any) -> str:
    left, right = (mathml(side, printer="presentation") for side in (lhs, rhs))
    return f"<math><mrow>{left}<mo>=</mo>{right}</mrow></math>"


def print_solutions(study: Study, outcomes: Sequence[Outcome], form: str, single: bool) -> None:
    """A single equation step by step; in a batch a line each, unless a format is asked for."""
    documents = []
    for problem, outcome in zip(study.problems, outcomes):
        trace, why = study.told(outcome)
        if trace is not None and form == "latex":
            print(trace.to_latex())
        elif trace is not None and form == "json":
            documents.append(json.loads(trace.to_json()))
        elif trace is not None and single:
            print(trace.to_text() + (f": {why}" if why else ""))
        else:
            condition = f", valid when {outcome.valid_when}" if outcome.valid_when else ""
            unknown = problem.equation.unknown
            answer = f"{unknown} = {outcome.root}   (proved{condition})"
            print(f"{problem.text}   {answer if outcome.solved else f'not solved: {why}'}")
            for note in outcome.how if single else ():
                print(f"    {note}")
    if documents:
        print(json.dumps(documents[0] if single else documents, indent=2))
