"""How mathematics looks on the page: the only file here that reads and prints expressions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sympy import Expr

from abel.equation import Equation
from abel.operations import OPERATIONS, Action
from abel.parse import parse
from abel.render import (
    Formula,
    Line,
    in_words,
    lines_and_choices,
    pair,
    root_formula,
)
from abel.report.page import formula
from abel.report.sets import SolutionSet
from abel.roots import Answer, Root, answer_of, simplest
from abel.trace import Trace
from abel.verify import Verdict, condition_text


def read(text: str, unknown: str | None) -> Equation:
    """The equation that was typed; ParseError says why there is none."""
    return parse(text, unknown)


# ---- The steps ----


def solution_data(trace: Trace, actions: Sequence[Action]) -> dict[str, Any]:
    """The lines of a path, and what the actions that may come next would do."""
    lines, choices = lines_and_choices(trace, actions)
    first, *others = lines.steps
    return {
        "start": markup(first.equation),
        "lines": with_every_step(first, others, trace),
        "choices": [in_words(choice) for choice in choices],
    }


def with_every_step(first: Line, others: Sequence[Line], trace: Trace) -> list[dict[str, Any]]:
    """A line for each step of a path, and one for all that follows between them. A solution leaves
    out a step that gives letters other letters, but a person can go back to before it.
    """
    found: list[dict[str, Any]] = []
    last, shown = first, 0
    for line in others:
        for step in range(shown + 1, line.step or 0):
            found.append(unseen(step, trace, last))
        shown = line.step or shown
        found.append(line_data(line))
        last = line
    return [*found, *(unseen(step, trace, last) for step in range(shown + 1, len(trace.steps) + 1))]


def unseen(step: int, trace: Trace, before: Line) -> dict[str, Any]:
    words = OPERATIONS[trace.steps[step - 1].op].text
    return line_data(Line(step, (words,), before.equation))


def line_data(line: Line) -> dict[str, Any]:
    return {
        "step": line.step, "said": [part_data(part) for part in line.said],
        "words": in_words(line.said), "markup": markup(line.equation),
        "where": [part_data(part) for part in line.where],
    }  # fmt: skip


def part_data(part: str | Formula) -> dict[str, Any]:
    """A part of a sentence: its text, and its formula if it is one."""
    return {"text": in_words([part]), "markup": [] if isinstance(part, str) else markup(part)}


def markup(equation: str | Formula) -> list[str]:
    """Well-formed MathML, in pieces between which a line may break; text where there is none."""
    text, pieces = pair(equation)
    return [formula(piece, text) for piece in pieces] or [formula(None, text)]


# ---- Roots ----


def verdict_data(equation: Equation, root: Expr, verdict: Verdict) -> dict[str, Any]:
    """What is known of the root that was reached, in its simplest form if it is proved."""
    answer = answer_of(equation, root) if verdict else None
    form = simplest(equation, root) if verdict else root
    return {
        "root": equation.shown(root), "markup": markup(root_formula(equation, form)),
        "beside": "" if answer is None else answer.beside,
        "more": "" if answer is None else answer.more,
        "status": verdict.status, "reason": verdict.reason,
        "valid_when": condition_of(equation, verdict.valid_when),
    }  # fmt: skip


def root_data(equation: Equation, root: Root) -> dict[str, Any]:
    """One of all roots."""
    form = root.value if root.form is None else root.form
    return {
        **root.to_data(equation.shown), "valid_when": condition_of(equation, root.valid_when),
        "markup": markup(root_formula(equation, form)), "proved": root.proved,
        "beside": root.beside,
    }  # fmt: skip


def condition_of(equation: Equation, condition: Any) -> str | None:
    return None if condition is None else equation.told(condition_text(condition))


# ---- Documents ----


def documents(trace: Trace, answer: Answer | None) -> dict[str, str]:
    """The steps as files to keep: text and LaTeX end in the answer, JSON in what was found."""
    if answer is None:
        return {"text": trace.to_text(), "latex": trace.to_latex(), "json": trace.to_json()}
    last = answer.to_text(trace.valid_when)
    latex = replace(trace, root=answer.shown).to_latex()
    return {"text": trace.to_text(last), "latex": latex, "json": trace.to_json()}


def set_documents(found: SolutionSet) -> dict[str, str]:
    """All roots as files to keep. How long it took is nobody's business: answers are repeatable."""
    data = {name: value for name, value in found.to_data().items() if name != "seconds"}
    return {
        "text": found.to_text(), "latex": found.to_latex(), "json": json.dumps(data, indent=2),
    }  # fmt: skip
