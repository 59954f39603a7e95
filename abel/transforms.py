"""Transforms of an equation, and how a root is carried back through them.

A state keeps the transforms that led to it in one tuple. A root of the current equation becomes a
root of the original one by undoing them in reverse order, each simultaneously: relabel before or
after a change of variables, at any depth, comes out exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

from sympy import Expr, Symbol, nan

from abel.equation import Label, X
from abel.rewrite import TooLarge, replace

# `e` would read like Euler's number.
NAMES = [name for name in ascii_lowercase if name not in "ex"] + [f"c{n}" for n in range(1, 200)]
HOLE = Symbol("<value>")


@dataclass(frozen=True)
class Relabel:
    """Every label stands for the block of constants that it carries."""

    labels: tuple[Label, ...]

    def unwind(self, root: Expr) -> Expr:
        return replace(root, {label: label.block for label in self.labels})

    def __str__(self) -> str:
        return ", ".join(f"{label} := {label.block}" for label in self.labels)


@dataclass(frozen=True)
class Substitute:
    """The change of variables x := phi(x), and letters for coefficients of the new equation."""

    phi: Expr
    labels: tuple[Label, ...] = ()

    def unwind(self, root: Expr) -> Expr:
        return replace(self.phi, {X: Relabel(self.labels).unwind(root)})

    def __str__(self) -> str:
        note = str(Relabel(self.labels))
        return f"x := {self.phi}, {note}" if note else f"x := {self.phi}"


@dataclass(frozen=True)
class Goal:
    """What is to be solved once the current equation's unknown is known: its value fills HOLE. The
    labels are letters for coefficients of the current equation.
    """

    lhs: Expr
    rhs: Expr
    labels: tuple[Label, ...] = ()

    def __str__(self) -> str:
        if self.rhs == HOLE:
            return f"u = {self.lhs}"
        lhs, rhs = (replace(side, {HOLE: Symbol("u")}) for side in (self.lhs, self.rhs))
        note = str(Relabel(self.labels))
        return f"then {lhs} = {rhs}, {note}" if note else f"then {lhs} = {rhs}"


Transform = Relabel | Substitute | Goal


def unwind(stack: tuple[Transform, ...], root: Expr) -> Expr:
    """A root of the current equation in the original variables; no goal may be open.

    It is nan, which no proof accepts, if its numbers are too large to be computed.
    """
    for transform in reversed(stack):
        if isinstance(transform, Goal):
            raise ValueError(f"a goal is still open: {transform}")
        try:
            root = transform.unwind(root)
        except TooLarge:
            return nan
    return root


def open_goals(stack: tuple[Transform, ...]) -> tuple[Goal, ...]:
    return tuple(transform for transform in stack if isinstance(transform, Goal))


def reach_goal(
    stack: tuple[Transform, ...], root: Expr
) -> tuple[Expr, Expr, tuple[Transform, ...]]:
    """The equation of the innermost open goal, now that its unknown is found, and the stack there.

    A root that is no single letter or number gets a letter, so that what follows stays small; so
    does a number whose powers would be too large.
    """
    place = max(i for i, transform in enumerate(stack) if isinstance(transform, Goal))
    goal = open_goals(stack)[-1]
    value = unwind((Relabel(goal.labels), *stack[place + 1 :]), root)
    if not value.args:
        try:
            sides = [replace(side, {HOLE: value}) for side in (goal.lhs, goal.rhs)]
            return *sides, (*stack[:place], Relabel(()))
        except TooLarge:
            pass
    labels = name_blocks([value], [goal.lhs, goal.rhs, value])
    sides = [replace(side, {HOLE: labels[0]}) for side in (goal.lhs, goal.rhs)]
    return *sides, (*stack[:place], Relabel(labels))


def name_blocks(blocks: list[Expr], beside: list[Expr]) -> tuple[Label, ...]:
    """A letter for each block that does not occur in the expressions `beside`."""
    taken = {symbol.name for expr in beside for symbol in expr.free_symbols}
    names = (name for name in NAMES if name not in taken)
    return tuple(Label(next(names), block) for block in blocks)
