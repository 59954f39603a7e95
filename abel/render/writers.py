"""The lines of a solution as text, LaTeX, and as data for JSON and pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abel.render.lines import Formula, Line, Lines, Part, condition
from abel.render.printers import as_latex, as_mathml, as_text

WIDE = 60  # characters of a sentence past which equations are not aligned with it
# What means something to LaTeX in running text, and how it is written instead.
SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "{}_$%&#"},
}  # fmt: skip


def in_words(parts: Sequence[Part]) -> str:
    return "".join(part if isinstance(part, str) else as_text(part) for part in parts)


# ---- Text ----


def condition_text(text: str) -> str:
    """A condition as it is stored, for people: `Ne(a, 0)` is a != 0."""
    return in_words(condition(text))


def to_text(lines: Lines, question: str | None = None) -> str:
    """One line each, what was done before what came of it; `question` is what was typed."""
    first, *others = lines.steps
    said = [in_words(line.said) for line in others]
    width = max((len(words) for words in said if len(words) <= WIDE), default=0)
    found, number = [question or equation_text(first)], 0
    for line, words in zip(others, said):
        number += line.step is not None
        begins = "     " if line.step is None else f"{number:3}. "
        where = ", ".join(in_words([part]) for part in line.where)
        note = f"   [{where}]" if where else ""
        found.append(f"{begins}{words:<{width}}   {equation_text(line)}{note}")
    return "\n".join(found)


def equation_text(line: Line) -> str:
    return line.equation if isinstance(line.equation, str) else as_text(line.equation)


# ---- LaTeX ----


def to_latex(lines: Lines) -> str:
    """An align* environment for amsmath: the equation, what was done, what new letters mean."""
    rows, answer = [latex_row(line) for line in lines.steps], lines.answer
    if answer is not None:
        condition = rf" && \text{{valid when }} {mixed(answer.said)}" if answer.said else ""
        rows.append(rf"& {latex_of(answer.equation)}{condition}")
    return "\n".join([r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"])


def latex_row(line: Line) -> str:
    row = f"& {latex_of(line.equation)}"
    done = raw(line.sign) if line.sign else mixed(line.said)
    where = r",\ ".join(mixed([part]) for part in line.where)
    notes = [done] * bool(done) + [rf"\text{{where }} {where}"] * bool(where)
    return row + " && " * bool(notes) + r",\quad ".join(notes)


def latex_of(equation: Formula | str) -> str:
    return rf"\texttt{{{escaped(equation)}}}" if isinstance(equation, str) else as_latex(equation)


def mixed(parts: Sequence[Part]) -> str:
    """Words as text, formulas as formulas."""
    return " ".join(
        rf"\text{{{escaped(part)}}}" if isinstance(part, str) else as_latex(part) for part in parts
    )


def raw(parts: Sequence[Part]) -> str:
    """A row's own LaTeX, with formulas in its places."""
    return "".join(part if isinstance(part, str) else as_latex(part) for part in parts)


def escaped(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)


# ---- Data ----


def to_data(lines: Lines) -> list[dict[str, Any]]:
    """What `to_text` says, line by line."""
    return [
        {
            "step": line.step, "said": in_words(line.said), "equation": equation_text(line),
            "where": [in_words([part]) for part in line.where],
        }
        for line in lines.steps
    ]  # fmt: skip


def for_pages(lines: Lines) -> list[dict[str, Any]]:
    """The same and the answer, with MathML for every formula. A part of a sentence is its text and
    its elements of MathML, of which words have none.
    """
    answer = lines.answer or Line(None, (), "not solved")
    return [
        {
            "step": line.step,
            "operation": in_words(line.said),
            "parts": [pair(part) for part in line.said],
            "equation": equation_text(line),
            "mathml": pair(line.equation)[1],
            "where": [pair(part) for part in line.where],
        }
        for line in (*lines.steps, answer)
    ]


def pair(part: Part) -> tuple[str, list[str]]:
    return (part, []) if isinstance(part, str) else (as_text(part), as_mathml(part))
