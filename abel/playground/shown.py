"""How mathematics looks on the page: the only file here that reads and prints expressions."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from sympy import sstr

from abel.equation import Equation, X
from abel.operations import Action, describe
from abel.parse import parse
from abel.report.page import formula
from abel.report.sets import SolutionSet
from abel.report.study import as_mathml
from abel.trace import Trace
from abel.verify import Verdict, condition_text

ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\w+);)\w+;")  # XML itself knows five
PLAIN = str.maketrans({"\u2147": "e", "\u2148": "i"})  # double-struck letters that few fonts have
HYPHEN, MINUS = re.compile(r"(?<=<m[on]>)-"), "\u2212"  # the printer has a hyphen for a minus


def read(text: str) -> Equation:
    """The equation that was typed; ParseError says why there is none."""
    return parse(text)


def as_markup(found: str, text: str) -> str:
    """MathML whose entities XML knows, and nothing but MathML; where that fails, the text."""
    known = ENTITY.sub(lambda name: html.unescape(name[0]), found).translate(PLAIN)
    return formula(HYPHEN.sub(MINUS, known), text)


def equation_markup(lhs: Any, rhs: Any) -> str:
    return as_markup(as_mathml(lhs, rhs), f"{sstr(lhs)} = {sstr(rhs)}")


def root_markup(root: Any) -> str:
    return equation_markup(X, root)


def action_words(action: Action) -> str:
    return describe(action)


def condition_of(condition: Any) -> str | None:
    return None if condition is None else condition_text(condition)


def verdict_data(root: Any, verdict: Verdict) -> dict[str, Any]:
    """What is known of the root that was reached."""
    return {
        "root": sstr(root), "markup": root_markup(root), "status": verdict.status,
        "valid_when": condition_of(verdict.valid_when), "reason": verdict.reason,
    }  # fmt: skip


def documents(trace: Trace) -> dict[str, str]:
    """The steps as files to keep."""
    return {"text": trace.to_text(), "latex": trace.to_latex(), "json": trace.to_json()}


def set_documents(found: SolutionSet) -> dict[str, str]:
    """All roots as files to keep. How long it took is nobody's business: answers are repeatable."""
    data = {name: value for name, value in found.to_data().items() if name != "seconds"}
    return {
        "text": found.to_text(), "latex": found.to_latex(), "json": json.dumps(data, indent=2),
    }  # fmt: skip
