"""Solutions for people: an equation step by step, and a list with a line for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from abel.datasets import Problem, Unreadable
from abel.equation import caret
from abel.render import condition_text
from abel.report.study import Found, Outcome, Study
from abel.report.tables import families, layout
from abel.roots import NO_ROOT, unsolved
from abel.trace import Trace


@dataclass
class Telling:
    """Prints outcomes: of a list with one decoder as they come, else when all are there."""

    study: Study
    form: str  # text, latex or json
    single: bool  # whether it is one equation, whose steps are shown
    verbose: bool  # whether the steps of failures are shown, and roots as they were found
    live: bool = False  # whether there is one decoder, so that its outcomes are final
    told: int = 0

    def as_they_come(self, found: Found) -> None:
        if self.live and self.form == "text" and not self.single:
            self.lines(self.study.first_solved(found))

    def all_of(self, found: Found, data: Mapping[str, Any], refused: Sequence[Unreadable]) -> None:
        """What has not been told yet: solutions of single equations, tables of families."""
        of_a_split = bool(data["split"])
        if not of_a_split:
            self.solutions(self.study.first_solved(found))
        if of_a_split or any(self.study.families):
            print(layout(families(data["decoders"], len(self.study.problems))))
        if not of_a_split and not self.single and self.form == "text":
            print(counts_as_text(data["counts"]), *refused, sep="\n  ")

    def lines(self, outcomes: Sequence[Outcome]) -> None:
        """A line for each outcome that has none yet."""
        for problem, outcome in list(zip(self.study.problems, outcomes))[self.told :]:
            print(self.line(problem, outcome), flush=True)
            self.told += 1

    def line(self, problem: Problem, outcome: Outcome) -> str:
        if outcome.solved:
            return f"{problem.text}   {conclusion(problem, outcome)}"
        place = f"line {problem.line}: " if problem.line else ""
        why = outcome.reason or self.study.told(outcome)[1]
        return f"{place}{problem.text}   {unsolved(why)}"

    def solutions(self, outcomes: Sequence[Outcome]) -> None:
        if self.form == "text" and not self.single:
            self.lines(outcomes)
            return
        documents = []
        for problem, outcome in zip(self.study.problems, outcomes):
            trace, why = self.study.told(outcome)
            if trace is not None and self.form == "json":
                documents.append(json.loads(trace.to_json()))
            elif trace is not None and self.form == "latex":
                print(as_shown(trace, outcome).to_latex())
            elif self.single:
                print(self.solution(problem, outcome, trace, why))
            else:
                print(self.line(problem, outcome))
        if documents:
            print(json.dumps(documents[0] if self.single else documents, indent=2))

    def solution(self, problem: Problem, outcome: Outcome, trace: Trace | None, why: str) -> str:
        """One equation: its steps, the answer, and what else there is to say."""
        if not outcome.solved:
            said = unsolved(outcome.reason or why)
            if not self.verbose or trace is None:
                return f"{problem.text}\n{said}"
            return trace.to_text(f"{said} ({why})" if outcome.reason else said)
        last = conclusion(problem, outcome)
        lines = [f"{problem.text}\n{last}" if trace is None else trace.to_text(last)]
        lines += [f"    {note}" for note in outcome.how]
        answer = outcome.answer
        if answer is not None:
            lines += [f"    on another branch: {note}" for note in answer.how]
            if self.verbose and answer.shown != outcome.root:
                lines.append(f"    found as {answer.unknown} = {caret(outcome.root or '')}")
            lines += [answer.more] * bool(answer.more)
        return "\n".join(lines)


def conclusion(problem: Problem, outcome: Outcome) -> str:
    """The line with the root."""
    if outcome.answer is not None:
        return outcome.answer.to_text(outcome.valid_when)
    condition = f", valid when {condition_text(outcome.valid_when)}" if outcome.valid_when else ""
    return f"{problem.equation.unknown} = {caret(outcome.root or '')}   (proved{condition})"


def as_shown(trace: Trace, outcome: Outcome) -> Trace:
    """A trace that ends in the root as it is shown."""
    if outcome.answer is None or outcome.answer.how:
        return trace
    return replace(trace, root=outcome.answer.shown)


# ---- Lists ----


def counts(
    outcomes: Sequence[Outcome], refused: Sequence[Unreadable], lines: int
) -> dict[str, int]:
    """What became of the lines of a list."""
    failures = [outcome for outcome in outcomes if not outcome.solved]
    without = sum(outcome.reason.startswith(NO_ROOT) for outcome in failures)
    crashed = sum(outcome.crashed for outcome in failures)
    return {
        "lines": lines + len(refused), "solved": len(outcomes) - len(failures),
        "no_solution": without, "not_solved": len(failures) - without - crashed,
        "crashed": crashed, "unreadable": len(refused), "not_reached": lines - len(outcomes),
    }  # fmt: skip


def counts_as_text(found: Mapping[str, Any]) -> str:
    """Such as "100 lines: 96 solved, 4 not solved"; what there is none of is left out."""
    words = {
        "solved": "solved", "no_solution": "without a solution", "not_solved": "not solved",
        "crashed": "crashed", "unreadable": "could not be read", "not_reached": "not reached",
    }  # fmt: skip
    parts = [f"{found[name]} {said}" for name, said in words.items() if found[name]]
    return f"{found['lines']} lines: {', '.join(parts)}"
