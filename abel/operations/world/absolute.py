"""Absolute values by sign: |u| is u or -u where u is real, and only there is a root proved."""

from __future__ import annotations

from sympy import Abs, Expr

from abel.operations.forks import Fork, Taken
from abel.operations.legality import Facts, Sides
from abel.operations.row import Applied, Apply, Operation
from abel.rewrite import negate, replace


def with_sign(positive: bool) -> Apply:
    def apply(lhs: Expr, rhs: Expr, term: Expr) -> Applied:
        if not isinstance(term, Abs):
            raise ValueError(f"'{term}' is no absolute value")
        u = term.args[0] if positive else negate(term.args[0])
        return replace(lhs, {term: u}), replace(rhs, {term: u}), None

    return apply


def is_legal(apply: Apply):
    def legal(sides: Sides, about: Facts) -> bool:
        return isinstance(about.term, Abs) and about.has_x and sides.lead_on(apply, about.term)

    return legal


def signs(positive: bool):
    def forks(step: Taken) -> list[Fork]:
        first, second = (POSITIVE, NEGATIVE) if positive else (NEGATIVE, POSITIVE)
        branches = [apply(step.lhs, step.rhs, step.term) for apply in (first, second)]
        notes = ("", "with the other sign")
        return [Fork(rhs, None, note, lhs=lhs) for (lhs, rhs, _), note in zip(branches, notes)]

    return forks


POSITIVE, NEGATIVE = with_sign(True), with_sign(False)
ROWS = (
    Operation("abs plus", "take what is inside {} to be positive",
              r"{}\text{: take the inside as positive}", POSITIVE, is_legal(POSITIVE),
              takes_term=True, flags=("absolute",), forks=signs(True)),
    Operation("abs minus", "take what is inside {} to be negative",
              r"{}\text{: take the inside as negative}", NEGATIVE, is_legal(NEGATIVE),
              takes_term=True, flags=("absolute",), forks=signs(False)),
)  # fmt: skip
