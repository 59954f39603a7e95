"""The operations: one table, a row each. Adding one is adding a row, here or from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sympy import Add, Expr, latex, sstr

from abel.equation import ZERO, X, has_x, subterms
from abel.operations import (
    ansatz,
    arithmetic,
    functions,
    let,
    relabel,
    rewriting,
    substitutions,
    world,
)  # fmt: skip
from abel.operations.detector import Generator, cov, propose
from abel.operations.forks import Fork, Taken, factors, out_of_reach
from abel.operations.legality import Facts, Sides, facts
from abel.operations.row import SUBSTITUTIONS, Action, Applied, Apply, Kind, Operation, both
from abel.rewrite import TooLarge

__all__ = [
    "OPERATIONS", "SUBSTITUTIONS", "Action", "Applied", "Apply", "Facts", "Fork", "Generator",
    "Kind", "Operation", "Sides", "Taken", "both", "cov", "describe", "factors", "facts",
    "legal_actions", "out_of_reach", "propose", "settle", "solved_form", "terms_of", "worded",
]  # fmt: skip

# Actions are offered in this order. A row from outside is added by OPERATIONS[row.name] = row,
# before an environment is made; an agent knows its rows by name.
OPERATIONS: dict[str, Operation] = {
    row.name: row
    for row in (
        *arithmetic.ROWS, *functions.ROWS, *rewriting.ROWS, relabel.ROW, cov(propose),
        rewriting.GATHER, *substitutions.ROWS, let.ROW, *ansatz.ROWS, *world.ROWS,
    )
}  # fmt: skip


def terms_of(lhs: Expr, rhs: Expr, blocks: bool) -> list[Expr]:
    if rhs is ZERO:
        return list(subterms(lhs, blocks))
    found = subterms(lhs, blocks) | subterms(rhs, blocks)
    return [term for term in found if term is not ZERO]


def legal_actions(
    lhs: Expr, rhs: Expr, operations: Iterable[Operation], blocks: bool, errors: Counter[str]
) -> list[Action]:
    """Every legal action, operations in table order, each with its terms in preorder.

    What SymPy raises on odd input makes an action illegal, and is counted in `errors` by operation
    and kind: a long run must not end by it.
    """
    sides = Sides.of(lhs, rhs)
    known = [facts(term, sides.scale) for term in terms_of(lhs, rhs, blocks)]
    terms = [about for about in known if 2 * about.nodes <= sides.room]
    actions: list[Action] = []
    for row in operations:
        if row.takes_term:
            found = legal_ones(row, sides, terms, errors)
            actions += [about.actions.get(row.name) or new_action(row, about) for about in found]
        elif legal_ones(row, sides, (None,), errors):
            actions.append(Action(row.name))
    return actions


def new_action(row: Operation, about: Facts) -> Action:
    """An action with a term, made once: a state has dozens, and states share their terms."""
    action = about.actions[row.name] = Action(row.name, about.term)
    return action


def legal_ones(
    row: Operation, sides: Sides, terms: Sequence[Any], errors: Counter[str]
) -> list[Any]:
    """The terms, by their facts, with which an operation is legal; [None] if it takes none."""
    legal = row.legal
    try:
        if row.terms is not None and len(terms) > 1:
            few = row.terms(sides)
            terms = [about for about in terms if about.term in few] if few else ()
        return [about for about in terms if legal(sides, about)]
    except Exception as error:
        if len(terms) > 1:  # of one term, and then that one is not legal
            return [about for term in terms for about in legal_ones(row, sides, (term,), errors)]
        if not isinstance(error, TooLarge):
            errors[f"{row.name}: {type(error).__name__}"] += 1
        return []


def settle(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr]:
    """The unknown stands on the left: sides swap if x is only on the right."""
    return (rhs, lhs) if has_x(rhs) and not has_x(lhs) else (lhs, rhs)


def solved_form(lhs: Expr, rhs: Expr) -> bool:
    return lhs == X and not has_x(rhs)


def worded(action: Action) -> tuple[Operation, Expr | None]:
    """The row and the term in whose words an action is told."""
    row = OPERATIONS[action.op]
    if row.reads is None or action.term is None:
        return row, action.term
    name, term = row.reads(action.term)
    return OPERATIONS[name], term


def describe(
    action: Action, as_latex: bool = False, told: Callable[[Expr | str], str] = sstr
) -> str:
    """What the action does, as a person would say or write it; `told` prints the unknown and
    terms.
    """
    row, given = worded(action)
    template = (row.latex if as_latex else row.text).replace("{x}", told(X))
    if given is None:
        return template
    term = latex(given) if as_latex else told(given)
    if isinstance(given, Add) and as_latex:
        term = rf"\left({term}\right)"
    return template.replace("{}", term)
