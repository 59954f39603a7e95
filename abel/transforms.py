"""Transforms of an equation, and how a root is carried back through them.

A state keeps the transforms that led to it in one tuple. A root of the current equation becomes a
root of the original one by undoing them in reverse order, each simultaneously: relabel before or
after a change of variables, at any depth, comes out exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from sympy import Add, Expr, Mul, Number, Pow, Rational, Symbol, exp, log, nan

from abel.equation import (
    MINUS_ONE,
    ZERO,
    Label,
    X,
    free_part,
    has_x,
    num_nodes,
    ordered_args,
    remember,
    split_factor,
)
from abel.numeric import is_zero
from abel.rewrite import (
    TooLarge,
    coefficients,
    difference,
    expand,
    expand_within,
    grows_past,
    negate,
    polynomial,
    power,
    product,
    rebuild,
    replace,
    shift,
    total,
)  # fmt: skip

# `e` would read like Euler's number.
NAMES = [name for name in ascii_lowercase if name not in "ex"] + [f"c{n}" for n in range(1, 200)]
MAX_DEGREE = 4
PLAIN_NODES = 30  # of an equation after a change of variables, past which its blocks get letters
HOLE = Symbol("<value>")

# From the two sides of an equation to phi, where x := phi(x) brings it closer to a solution, or to
# None.
Generator = Callable[[Expr, Expr], Expr | None]


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


# ---- relabel ----


def relabel(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr, Relabel]:
    """Give every maximal block of constants a letter, in order of appearance.

    A block is a coefficient or a summand, never an exponent; numbers stay numbers; the negative of
    a block becomes minus its letter.
    """
    letters = letters_for(lhs, rhs)

    def rewrite(expr: Expr) -> Expr:
        if not has_x(expr):
            return letters.get(expr, expr)
        if isinstance(expr, Add | Mul):
            free = free_part(expr)
            rest = [rewrite(arg) for arg in expr.args if has_x(arg)]
            return rebuild(expr, [letters.get(free, free), *rest])
        if isinstance(expr, Pow):
            return power(*[rewrite(arg) if has_x(arg) else arg for arg in expr.args])
        return rebuild(expr, [rewrite(arg) for arg in expr.args]) if expr.args else expr

    labels = tuple(letter for letter in letters.values() if isinstance(letter, Label))
    return rewrite(lhs), rewrite(rhs), Relabel(labels)


def can_relabel(lhs: Expr, rhs: Expr) -> bool:
    """Whether some block does not look yet as relabeling would make it look."""
    if has_composite_block(lhs) or has_composite_block(rhs):
        return True
    names = free_names(lhs, rhs)
    seen: set[Expr] = set()
    for block in constant_blocks(lhs) + constant_blocks(rhs):
        letter = block if isinstance(block, Symbol) else block.args[1]
        if letter not in seen:
            if letter is not block or letter.name != next(names):
                return True
            seen.add(letter)
    return False


@remember
def has_composite_block(expr: Expr) -> bool:
    """Whether some block of constants is more than a letter or minus a letter."""
    if not has_x(expr):
        return not (expr.is_Number or isinstance(expr, Symbol) or is_minus_letter(expr))
    if isinstance(expr, Add | Mul) and has_composite_block(free_part(expr)):
        return True
    return any(has_composite_block(arg) for arg in expr.args if has_x(arg))


def is_minus_letter(expr: Expr) -> bool:
    return (
        isinstance(expr, Mul)
        and len(expr.args) == 2
        and expr.args[0] is MINUS_ONE
        and isinstance(expr.args[1], Symbol)
    )


def free_names(lhs: Expr, rhs: Expr) -> Iterator[str]:
    """Names of letters that are not taken by what relabeling leaves alone."""
    taken = {symbol.name for symbol in unlabelled(lhs) | unlabelled(rhs)}
    return (name for name in NAMES if name not in taken)


def letters_for(lhs: Expr, rhs: Expr) -> dict[Expr, Expr]:
    """What each block of constants becomes."""
    names = free_names(lhs, rhs)
    letters: dict[Expr, Expr] = {}
    for block in constant_blocks(lhs) + constant_blocks(rhs):
        if block not in letters:
            opposite = letters.get(negate(block))
            letters[block] = Label(next(names), block) if opposite is None else negate(opposite)
    return letters


@remember
def constant_blocks(expr: Expr) -> tuple[Expr, ...]:
    """The blocks of constants in `expr` that relabel names, in order of appearance."""
    if not has_x(expr):
        return () if isinstance(expr, Number) else (expr,)
    found = dict.fromkeys(constant_blocks(free_part(expr)) if isinstance(expr, Add | Mul) else ())
    for arg in ordered_args(expr):
        if has_x(arg):
            found.update(dict.fromkeys(constant_blocks(arg)))
    return tuple(found)


@remember
def unlabelled(expr: Expr) -> frozenset[Symbol]:
    """Symbols of constant exponents and bases of powers, which keep their names."""
    if not has_x(expr):
        return frozenset()
    if isinstance(expr, Pow):
        kept = [arg.free_symbols if not has_x(arg) else unlabelled(arg) for arg in expr.args]
    else:
        kept = [unlabelled(arg) for arg in expr.args if has_x(arg)]
    return frozenset().union(*kept)


# ---- change of variables ----


def propose(lhs: Expr, rhs: Expr) -> Expr | None:
    """The paper's detector, read off the expanded lhs - rhs; None where it finds nothing.

    A polynomial of degree 2 to 4 is depressed by x := x - b/(n*a); a*exp(k*x) + b*exp(-k*x) + c
    becomes rational by x := log(x)/k.
    """
    side = difference(lhs, rhs)
    if grows_past(side, 300):
        return None
    side = expand(side)
    coeffs = coefficients(side)
    if coeffs is None:
        rate = exponential_rate(side)
        return None if rate is None else product(log(X), power(rate, MINUS_ONE))
    degree = len(coeffs) - 1
    if not 2 <= degree <= MAX_DEGREE or is_zero(coeffs[-2]) or is_zero(coeffs[-1]):
        return None
    return total(X, product(Rational(-1, degree), coeffs[-2], power(coeffs[-1], MINUS_ONE)))


def exponential_rate(side: Expr) -> Expr | None:
    """k if `side` is a*exp(k*x + m) + b*exp(-k*x + n) + c."""
    rates: list[Expr] = []
    for term in Add.make_args(side):
        if has_x(term):
            kernel = split_factor(term)[1]
            linear = coefficients(expand(kernel.args[0])) if isinstance(kernel, exp) else None
            if linear is None or len(linear) != 2:
                return None
            rates.append(linear[1])
    rates = sorted(set(rates), key=lambda rate: (rate.could_extract_minus_sign(), str(rate)))
    return rates[0] if len(rates) == 2 and is_zero(total(*rates)) else None


def change_variables(lhs: Expr, rhs: Expr, phi: Expr) -> tuple[Expr, Expr]:
    """Both sides with x := phi(x), expanded."""
    return substitute_side(lhs, phi), substitute_side(rhs, phi)


def change_and_name(lhs: Expr, rhs: Expr, phi: Expr) -> tuple[Expr, Expr, Substitute]:
    """Both sides with x := phi(x), and what is to be undone.

    Where that makes them large, blocks of constants get letters: coefficients that are sums
    themselves would otherwise leave no room for any step.
    """
    lhs, rhs = change_variables(lhs, rhs, phi)
    if num_nodes(lhs) + num_nodes(rhs) <= PLAIN_NODES:
        return lhs, rhs, Substitute(phi)
    lhs, rhs, named = relabel(lhs, rhs)
    return lhs, rhs, Substitute(phi, named.labels)


def substitute_side(side: Expr, phi: Expr) -> Expr:
    if not has_x(side):
        return side
    by = difference(phi, X)
    coeffs = None if has_x(by) or grows_past(side, 300) else coefficients(expand(side))
    if coeffs is not None:
        # Exact binomials; a coefficient that vanishes must vanish, not linger as an unsimplified
        # zero.
        return polynomial([c if not is_zero(c) else ZERO for c in shift(coeffs, by)])
    return expand_within(replace(side, {X: phi}), 300)
