"""A policy and the equations it is tried on: every decoder's outcomes, counted and timed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from abel.analysis.failures import candidates, diagnose
from abel.analysis.kinds import structural_type
from abel.analysis.trigger import tally
from abel.datasets import DatasetError, Problem
from abel.env import EnvConfig
from abel.equation import Equation
from abel.learner.progress import Progress
from abel.operations import Generator
from abel.parse import ParseError, parse_expression
from abel.render import for_pages
from abel.roots import (
    STUCK,
    Answer,
    Branch,
    answer_of,
    nearer,
    other_branch,
    real_branch,
    why_no_root,
    why_not,
)
from abel.search import Oracle, Policy, Solution, beam, greedy, search
from abel.trace import Trace
from abel.transitions import State, TransitionCache

COST = ("solved", "transitions_per_equation", "ms_per_equation")  # columns of two reports
CHUNK = 64  # equations decoded together
FEW = 8  # of a list: what is under way when it is interrupted is lost
ASTAR_WEIGHT = 1.0  # steps that a node or an edge counts for in A*'s guess


@dataclass(frozen=True)
class Outcome:
    """What a decoder made of one equation."""

    solved: bool
    root: str | None
    valid_when: str | None
    seconds: float  # of CPU, up to the root and how it is shown; equations decoded together share
    transitions: int = 0
    reason: str = ""  # of a failure without steps
    solution: Solution | None = None  # none from SymPy, which gives no steps
    how: tuple[str, ...] = ()  # the branches to a root that the steps do not lead to
    answer: Answer | None = None  # how the root is shown, of equations that people gave
    crashed: bool = False

    @classmethod
    def of(cls, solution: Solution, seconds: float) -> Outcome:
        condition = solution.verdict.valid_when if solution.solved and solution.verdict else None
        return cls(
            solution.solved, solution.equation.shown(solution.root) if solution.solved else None,
            None if condition is None else solution.equation.shown(condition), seconds,
            solution.transitions,
            solution=solution,
        )  # fmt: skip


Found = Mapping[str, Sequence[Outcome]]  # by decoder


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
    fall_back: bool = False  # of equations that people gave: follow other branches, say why not
    watchers: Sequence[Callable[[Found], None]] = ()  # are told what there is so far

    def __post_init__(self) -> None:
        if not self.problems:
            raise DatasetError("there are no equations in this split")
        self.families = [problem.family for problem in self.problems]
        self.texts = [problem.text for problem in self.problems]
        self.types = [structural_type(problem.equation) for problem in self.problems]
        self.known: dict[tuple[str, int], list[Outcome]] = {}
        self.under_way: list[Outcome] = []  # of the decoder that is running
        self.done: dict[str, list[Outcome]] = {}  # of the decoders before it
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
                progress.show("")  # a watcher may print
                for watch in self.watchers if outcomes else ():
                    watch({**self.done, name: outcomes})
                progress.show(f"{name} [{bar}] {done} of {count}, {solved} solved{note}")

            DECODERS[name](self, outcomes, key[1], show)
            progress.show("")
            self.known[key] = outcomes
        return self.known[key]

    def told(self, outcome: Outcome) -> tuple[Trace | None, str]:
        """The steps to the root; or those to where it went wrong, and how it did."""
        if not outcome.solution:
            return None, ""
        trace = outcome.solution.trace()
        if outcome.solved:
            return trace, ""
        kind, last = diagnose(outcome.solution, self.new_cache(), self.config.max_steps)
        why = f"{kind} at step {last}" if trace.steps else "nothing found"
        return replace(trace, steps=trace.steps[:last]), why

    def decode_all(self, names: Sequence[str]) -> dict[str, list[Outcome]]:
        """The outcomes by decoder. Ctrl-C ends it: the last decoder then has fewer, if any."""
        self.done = {}
        for name in names:
            try:
                self.done[name] = self.decode(name)
            except KeyboardInterrupt:
                self.interrupted = True
                return self.done | ({name: self.under_way} if self.under_way else {})
        return self.done

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

    def first_solved(self, found: Found) -> list[Outcome]:
        """For each equation the outcome of its first solver, or else of its first decoder."""
        count = max(map(len, found.values()), default=0)
        rows = [[row[i] for row in found.values() if i < len(row)] for i in range(count)]
        return [next((each for each in row if each.solved), row[0]) for row in rows]

    def by_equation(self, found: Found) -> list[dict[str, Any]]:
        """A row for every equation with an outcome; its root is that of its first solver."""
        rows = []
        for i, (problem, first) in enumerate(zip(self.problems, self.first_solved(found))):
            outcomes = {name: row[i] for name, row in found.items() if i < len(row)}
            solvers = [name for name, outcome in outcomes.items() if outcome.solved]
            rows.append({
                "equation": problem.text, "unknown": problem.equation.unknown,
                "family": problem.family, "solved": first.solved,
                "root": first.root, "valid_when": first.valid_when,
                "steps": len(first.solution.path) if first.solution else None,
                "branches": list(first.how), "reason": first.reason,
                "solved_by": solvers,
                "always_by": [name for name in solvers if outcomes[name].valid_when is None],
                "cpu_ms": {name: round(1000 * o.seconds, 2) for name, o in outcomes.items()},
                **({"line": problem.line} if problem.line else {}),
                **({} if first.answer is None else first.answer.to_data()),
            })  # fmt: skip
        return rows


# ---- Decoders: they fill the list of outcomes, and show how far they are ----


def with_policy(study: Study, outcomes: list[Outcome], width: int, show: Callable) -> None:
    cache, size = study.new_cache(), FEW if study.fall_back else CHUNK
    for start in range(0, len(study.problems), size):
        part = study.problems[start : start + size]
        begun = time.process_time()
        found = decoded(study, part, width, cache)
        seconds = (time.process_time() - begun) / len(part)
        for each in found:
            if isinstance(each, Exception):
                outcomes.append(failed(each, seconds))
            elif study.fall_back:
                outcomes.append(to_be_told(study, each, seconds, cache))
            else:
                outcomes.append(Outcome.of(each, seconds))
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


def to_be_told(study: Study, solution: Solution, seconds: float, cache: TransitionCache) -> Outcome:
    """The outcome of an equation that somebody gave: with what branches that the policy's steps
    left out lead to, where these found no root or none that is real, and with an answer.
    """
    begun = time.process_time()

    def decode(equation: Equation, state: State) -> Solution:
        return study.decode_from("greedy", equation, state, cache)

    try:
        if not solution.solved:
            outcome, root = fallen_back(study, solution, decode, cache)
        else:
            outcome, root = Outcome.of(solution, 0.0), solution.root
        if root is not None:
            real = real_branch(solution, root, decode, study.config, cache)
            chosen = (root, ()) if real is None else (real.root, real.how)
            outcome = replace(outcome, answer=answer_of(solution.equation, *chosen))
        return replace(outcome, seconds=seconds + time.process_time() - begun)
    except Exception as error:  # a failure here is one more equation not solved
        return failed(error, seconds)


def fallen_back(
    study: Study, solution: Solution, decode: Callable, cache: TransitionCache
) -> tuple[Outcome, Any]:
    """A root on another branch; or why there is none, or none was found."""
    outcome, shown = Outcome.of(solution, 0.0), solution.equation.shown
    found = other_branch(solution, decode, study.config, cache)
    if found is None or not found.verdict:
        reason = why_no_root(solution.equation)
        return replace(outcome, reason=reason or best_try(study, solution, found, cache)), None
    condition = found.verdict.valid_when
    return replace(
        outcome, solved=True, root=shown(found.root), solution=None, how=found.how,
        valid_when=None if condition is None else shown(condition),
    ), found.root  # fmt: skip


def best_try(study: Study, solution: Solution, found: Branch | None, cache: TransitionCache) -> str:
    """Why the candidate that came nearest to a proof was not proved; or that there was none."""
    tried = [Branch(*pair, ()) for pair in candidates(solution, cache)]
    tried += [found] if found is not None else []
    if not tried:
        steps, most = len(solution.path), study.config.max_steps
        return f"{STUCK} after {steps} steps" if steps < most else f"not solved within {most} steps"
    best = reduce(nearer, tried)
    return why_not(solution.equation, best.root, best.verdict)


def shown_as_well(study: Study, problem: Problem, outcome: Outcome) -> Outcome:
    """With an answer, if somebody gave the equation and a decoder without a policy solved it."""
    if not study.fall_back or not outcome.solved:
        return outcome
    try:
        solution, equation = outcome.solution, problem.equation
        text = equation.shown(outcome.root or "")  # back in x
        root = parse_expression(text) if solution is None else solution.root
        return replace(outcome, answer=answer_of(equation, root))
    except (ParseError, ArithmeticError, RecursionError, MemoryError):
        return outcome


def failed(error: Exception, seconds: float) -> Outcome:
    reason = f"{type(error).__name__} on the way"
    return Outcome(False, None, None, seconds, reason=reason, crashed=True)


def without_policy(study: Study, outcomes: list[Outcome], weight: float, show: Callable) -> None:
    def tick(expansions: int) -> None:
        if expansions % 50 == 0:
            show(f", {expansions} states expanded")

    cache = study.new_cache()
    for problem in study.problems:
        begun = time.process_time()
        flags: dict[str, Any] = {"budget": study.budget, "weight": weight, "tick": tick}
        try:
            found = search(problem, study.config, cache, **flags)
            outcome = Outcome.of(found, time.process_time() - begun)
        except Exception as error:  # an equation that fails fails alone
            outcome = failed(error, time.process_time() - begun)
        outcomes.append(shown_as_well(study, problem, outcome))
        show()


def by_sympy(study: Study, outcomes: list[Outcome], show: Callable) -> None:
    with Oracle(study.limit) as oracle:
        for problem in study.problems:
            equation = problem.equation
            root, condition, reason, seconds = oracle(equation.text)
            root, condition = (each and equation.shown(each) for each in (root, condition))
            outcome = Outcome(root is not None, root, condition, seconds, reason=reason)
            outcomes.append(shown_as_well(study, problem, outcome))
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
    """A solved equation as text and as MathML, line by line."""
    trace = solution.trace()
    first, *steps, answer = for_pages(trace.render())
    return {
        "family": problem.family, "equation": problem.text, "text": trace.to_text(),
        "mathml": first["mathml"], "steps": steps, "answer": answer,
        "root": trace.root, "valid_when": trace.valid_when,
    }  # fmt: skip
