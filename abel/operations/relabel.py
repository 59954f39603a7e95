"""Relabeling: every block of constants gets a letter of its own (the paper's "rc")."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Mul, Number, Pow, Symbol

from abel.equation import MINUS_ONE, Label, free_part, has_x, ordered_args, remember
from abel.operations.row import Applied, Operation
from abel.rewrite import negate, power, rebuild
from abel.transforms import NAMES, Relabel


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


def apply(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    return relabel(lhs, rhs)


ROW = Operation("relabel", "relabel constants", r"\text{relabel}", apply,
                lambda sides, _: can_relabel(sides.lhs, sides.rhs), kind="relabel",
                flags=("relabel",), keeps=True)  # fmt: skip
