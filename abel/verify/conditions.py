"""Conditions on coefficients and integers as people write them: a >= 0 and n != 4."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy import And, Eq, Ge, Gt, Le, Lt, Mod, Ne, Not, Or, Symbol

from abel.equation import caret

SIGNS = {Ne: "!=", Eq: "=", Ge: ">=", Gt: ">", Le: "<=", Lt: "<"}


def condition_text(condition: Any) -> str:
    """A condition as people write it: a >= 0 and n != 4 and n mod 3 != 1."""
    if isinstance(condition, And | Or):
        word = " and " if isinstance(condition, And) else " or "
        return word.join(in_brackets(part, condition) for part in in_order(condition))
    if isinstance(condition, Not):
        return f"not ({condition_text(condition.args[0])})"
    if type(condition) in SIGNS:
        lhs, rhs = map(side_text, condition.args)
        return f"{lhs} {SIGNS[type(condition)]} {rhs}"
    return sp.sstr(condition)


def in_brackets(part: Any, whole: Any) -> str:
    text = condition_text(part)
    return f"({text})" if isinstance(part, And | Or) and part.func is not whole.func else text


def in_order(condition: Any) -> list[Any]:
    """The parts of a condition, those on coefficients before those on integers."""
    return sorted(
        condition.args, key=lambda part: (bool(integers_of(part)), sp.default_sort_key(part))
    )


def side_text(side: Any) -> str:
    if isinstance(side, Mod):
        value, modulus = (f"({arg})" if arg.args else str(arg) for arg in side.args)
        return f"{value} mod {modulus}"
    return caret(sp.sstr(side))


def valid_when_text(condition: Any) -> str:
    """What is put behind a root that holds under a condition; nothing where it always holds."""
    return "" if condition is None else f", valid when {condition_text(condition)}"


def integers_of(condition: Any) -> list[Symbol]:
    return sorted((s for s in condition.free_symbols if s.is_integer), key=lambda s: s.name)
