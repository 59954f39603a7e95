"""What people are told: a root in the simplest form that is proved, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from sympy import Expr

from abel.equation import Equation, X, has_x
from abel.render import condition_text
from abel.roots.families import Root, beside
from abel.roots.merging import distinct_roots
from abel.roots.none import EVERY, NO_ROOT, never_real
from abel.roots.polynomial import isolated_roots
from abel.roots.simplest import number_beside, simplest, written
from abel.verify import Verdict

MAX_SHOWN = 200  # characters of a candidate that is no root
HOW_TO = "--all-roots goes on to the other"
STUCK = "no legal action is left"
FAILURES = {  # what the reason of a failure says: its kind
    "is refuted": "the best candidate is refuted",
    "not proved": "the best candidate is not proved",
    "not solved within": "step limit",
    STUCK: "no legal action",
    "on the way": "an exception",
    "was found, but": "the equation is not defined at the best candidate",
}


@dataclass(frozen=True)
class Answer:
    """A proved root as it is shown."""

    shown: str  # the simplest form proved equal to the root that was found
    beside: str = ""  # "about 1.618034" or "= 0.5", of roots without letters
    how: tuple[str, ...] = ()  # the branches to another root that is shown, for it is real
    more: str = ""  # that there are more roots, where this is known
    unknown: str = "x"

    def both(self) -> str:
        """The root with the number beside it."""
        return beside(self.shown, self.beside)

    def to_text(self, valid_when: str | None) -> str:
        condition = f", valid when {condition_text(valid_when)}" if valid_when else ""
        return f"{self.unknown} = {self.both()}   (proved{condition})"

    def to_data(self) -> dict[str, Any]:
        return {"shown": self.shown, "value": self.beside or None, "more_roots": self.more or None}


def answer_of(equation: Equation, root: Expr, how: tuple[str, ...] = ()) -> Answer:
    """How a proved root is shown."""
    form = simplest(equation, root)
    text = equation.shown(written(form))
    return Answer(text, number_beside(form), how, more_roots(equation), equation.unknown)


def as_told(equation: Equation, root: Root) -> Root:
    """One of all roots, with the form in which it is shown: the simplest if it is proved."""
    single = root.proved and not root.integers
    form = simplest(equation, root.value) if single else root.value
    text = equation.shown(written(form))
    return replace(root, form=form, shown=text, beside=number_beside(form))


# ---- More roots ----


def more_roots(equation: Equation) -> str:
    """That there are more roots than one, where the degree or a period says so."""
    places = isolated_roots(equation)
    count = distinct_roots(equation) if places is None else len(places)
    if count is not None and count > 1:
        others = f"{HOW_TO}{'s' * (count > 2)}"
        if places is None:
            return f"{count} roots in general: {others}"
        real = sum(place.is_real for place in places)
        told = "" if real == count else f", {real or 'none'} of them real"
        return f"{count} roots{told}: {others}"
    told = ", none of them real" if never_real(equation) else ""
    if count is None and is_periodic(equation):
        return f"infinitely many roots{told}: {HOW_TO}s"
    return "no root is real" if told else ""


def is_periodic(equation: Equation) -> bool:
    """Whether x occurs only in sines, cosines and tangents of multiples of x by one number times
    rationals, plus constants: then each root comes again a period later.
    """
    slopes: list[Expr] = []
    sides = (equation.lhs, equation.rhs)
    if not all(turns(side, slopes) for side in sides if has_x(side)):
        return False
    return all((slope / slopes[0]).is_Rational for slope in slopes)


def turns(expr: Expr, slopes: list[Expr]) -> bool:
    if isinstance(expr, sp.sin | sp.cos | sp.tan):
        slope = sp.expand(expr.args[0]).coeff(X)
        slopes.append(slope)
        return slope != 0 and not has_x(sp.expand(expr.args[0] - slope * X))
    inside = [arg for arg in expr.args if has_x(arg)]
    return bool(inside) and all(turns(arg, slopes) for arg in inside)


# ---- Failures ----


def why_not(equation: Equation, root: Expr, verdict: Verdict) -> str:
    """What is wrong with a candidate that was not proved."""
    text = equation.shown(written(root))
    found = f"{equation.unknown} = {text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + '...'}"
    if verdict.status == "refuted":
        return f"{found} was found, but is refuted: extraneous, not a root of the equation"
    if verdict.status == "undefined":
        return f"{found} was found, but {verdict.reason}"
    if verdict.reason.startswith("a root at"):
        return f"{found} is a root at the sampled values, not proved"
    return f"{found} was found, but not proved: {verdict.reason}"


def kind_of_failure(reason: str) -> str:
    """The kind of a failure, from its reason as the functions here say it."""
    if reason.startswith((NO_ROOT, EVERY)):
        return "said to have no single root"
    return next((kind for said, kind in FAILURES.items() if said in reason), "other")


def unsolved(reason: str) -> str:
    """A failure as a sentence, from its reason."""
    if reason.startswith(NO_ROOT):
        return f"no solution, because {reason.removeprefix(NO_ROOT)}"
    if reason.startswith((EVERY, "not solved")):
        return reason
    return f"not solved: {reason}" if reason else "not solved"
