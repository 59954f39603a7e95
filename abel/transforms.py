"""Transforms of an equation, and how a root is carried back through them.

A state keeps the transforms that led to it in one tuple. A root of the current equation becomes a
root of the original one by undoing them in reverse order, each simultaneously: relabel before or
after a change of variables, at any depth, comes out exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

from sympy import Expr, Symbol, nan

from abel.equation import MINUS_ONE, ONE, ZERO, Label, X, num_nodes
from abel.numeric import is_zero
from abel.rewrite import TooLarge, base_exponent, power, product, replace, total

# `e` would read like Euler's number.
NAMES = [name for name in ascii_lowercase if name not in "ex"] + [f"c{n}" for n in range(1, 200)]
HOLE = Symbol("<value>")
LARGE = 7  # nodes past which a coefficient of a new equation gets a letter


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
    """The change of variables x := phi(x), and letters for coefficients of the new equation.

    `given` are letters in phi itself, which the blocks of the others may contain.
    """

    phi: Expr
    labels: tuple[Label, ...] = ()
    given: tuple[Label, ...] = ()

    def unwind(self, root: Expr) -> Expr:
        inner = replace(self.phi, {X: Relabel(self.labels).unwind(root)})
        return Relabel(self.given).unwind(inner)

    def __str__(self) -> str:
        notes = [str(Relabel(labels)) for labels in (self.given, self.labels) if labels]
        return ", ".join([f"x := {self.phi}", *notes])


@dataclass(frozen=True)
class Goal:
    """What is to be solved once the current equation's unknown is known: its value fills HOLE. The
    labels are letters for coefficients of the current equation.
    """

    lhs: Expr
    rhs: Expr
    labels: tuple[Label, ...] = ()

    def reach(self, value: Expr) -> tuple[Expr, Expr, Transform]:
        """The equation with the value filled in, and what is to be undone of that.

        A value that is no single letter or number gets a letter, so that what follows stays small;
        so does a number whose powers would be too large.
        """
        if not value.args:
            try:
                return *(replace(side, {HOLE: value}) for side in (self.lhs, self.rhs)), Relabel(())
            except TooLarge:
                pass
        (label,) = name_blocks([value], [self.lhs, self.rhs, value])
        lhs, rhs = (replace(side, {HOLE: label}) for side in (self.lhs, self.rhs))
        return lhs, rhs, Relabel((label,))

    def __str__(self) -> str:
        if self.rhs == HOLE:
            return f"u = {self.lhs}"
        lhs, rhs = (replace(side, {HOLE: Symbol("u")}) for side in (self.lhs, self.rhs))
        note = str(Relabel(self.labels))
        return f"then {lhs} = {rhs}, {note}" if note else f"then {lhs} = {rhs}"


@dataclass(frozen=True)
class Ansatz:
    """The change of variables x := phi(x, h) with an h that is to be found first: it is the unknown
    of the current equation, whose labels are letters for its coefficients.

    `terms` are the functions of x in the equation after the substitution, with their coefficients;
    h is HOLE in them and in phi. If phi is not defined at 0, they are powers of x. `waiting` tells
    the equation before the substitution from others.
    """

    phi: Expr
    terms: tuple[tuple[Expr, Expr], ...]
    labels: tuple[Label, ...]
    defined_at_0: bool
    waiting: tuple

    def reach(self, value: Expr) -> tuple[Expr, Expr, Transform]:
        """The equation after the substitution by this h, and what is to be undone of that.

        Coefficients that vanish for it are left out, and large ones get letters; so does a large h.
        """
        if num_nodes(value) <= 2 * LARGE:
            try:
                return self.substituted(value, ())
            except TooLarge:
                pass
        given = name_blocks([value], [self.phi, value, *(c for _, c in self.terms)])
        return self.substituted(given[0], given)

    def substituted(self, h: Expr, given: tuple[Label, ...]) -> tuple[Expr, Expr, Transform]:
        phi = replace(self.phi, {HOLE: h})
        filled = [(function, replace(c, {HOLE: h})) for function, c in self.terms]
        parts = [(function, c) for function, c in filled if not is_zero(c)]
        functions, coeffs = [f for f, _ in parts], [c for _, c in parts]
        if not self.defined_at_0 and ONE not in functions:  # x is not 0: a power of it may go
            lowest = min(functions, key=lambda function: base_exponent(function)[1], default=ONE)
            functions = [product(function, power(lowest, MINUS_ONE)) for function in functions]
        named, labels = with_letters(coeffs, [phi, h])
        return total(*map(product, named, functions)), ZERO, Substitute(phi, labels, given)

    def __str__(self) -> str:
        phi, note = replace(self.phi, {HOLE: Symbol("h")}), str(Relabel(self.labels))
        return f"then x := {phi}, {note}" if note else f"then x := {phi}"


Pending = Goal | Ansatz  # another equation comes first
Transform = Relabel | Substitute | Pending


def unwind(stack: tuple[Transform, ...], root: Expr) -> Expr:
    """A root of the current equation in the original variables; no goal may be open.

    It is nan, which no proof accepts, if its numbers are too large to be computed.
    """
    for transform in reversed(stack):
        if isinstance(transform, Pending):
            raise ValueError(f"a goal is still open: {transform}")
        try:
            root = transform.unwind(root)
        except TooLarge:
            return nan
    return root


def open_goals(stack: tuple[Transform, ...]) -> tuple[Pending, ...]:
    return tuple(transform for transform in stack if isinstance(transform, Pending))


def reach_goal(
    stack: tuple[Transform, ...], root: Expr
) -> tuple[Expr, Expr, tuple[Transform, ...]]:
    """The equation of the innermost open goal, its unknown being found, and the stack there."""
    place = max(i for i, transform in enumerate(stack) if isinstance(transform, Pending))
    pending = open_goals(stack)[-1]
    value = unwind((Relabel(pending.labels), *stack[place + 1 :]), root)
    lhs, rhs, transform = pending.reach(value)
    return lhs, rhs, (*stack[:place], transform)


def name_blocks(blocks: list[Expr], beside: list[Expr]) -> tuple[Label, ...]:
    """A letter for each block that does not occur in the expressions `beside`."""
    taken = {symbol.name for expr in beside for symbol in expr.free_symbols}
    names = (name for name in NAMES if name not in taken)
    return tuple(Label(next(names), block) for block in blocks)


def with_letters(coeffs: list[Expr], beside: list[Expr]) -> tuple[list[Expr], tuple[Label, ...]]:
    """The coefficients of an equation, a letter in place of each large one; and these letters."""
    large = list(dict.fromkeys(c for c in coeffs if num_nodes(c) > LARGE))
    labels = name_blocks(large, [*coeffs, *beside])
    named = dict(zip(large, labels))
    return [named.get(c, c) for c in coeffs], labels
