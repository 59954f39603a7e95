"""The letters of a solution as it is shown: each has one meaning from the first line to the last.

States reuse letters. The unknown is always x, and a letter for a block may be one that the question
has with another meaning. Here every new unknown gets a letter of its own, and so does every block;
a block that is a letter of the question, or minus one, is shown as just that.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from sympy import Expr, Symbol

from abel.equation import MINUS_ONE, Equation, Label, X
from abel.rewrite import TooLarge, replace
from abel.transforms import HOLE, NAMES

CHANGED = ("t", "s", "r", "z", "y")  # the unknown after a change of variables
NAMED = ("u", "v", "w", "y", "z")  # what stands for a part of an equation
CHOSEN = ("h", "k", "m")  # what is chosen so that a term vanishes
KEPT = {*CHANGED, *NAMED, *CHOSEN, "x", "i", "l", "o", "n"}  # blocks get other letters


class Letters:
    """What the symbols of the states are shown as."""

    def __init__(self, equation: Equation) -> None:
        parts = (equation.lhs, equation.rhs, *equation.nonzero)
        given = {symbol.name for part in parts for symbol in part.free_symbols} - {X.name}
        self.known: dict[Expr, Expr] = {
            Symbol(name): Symbol(equation.shown(name)) for name in sorted(given)
        }
        self.unknown = Symbol(equation.unknown)
        self.taken = {"e", "E", "I", equation.unknown, *map(equation.shown, given)}
        self.explained: set[Label] = set()

    def fresh(self, wanted: Iterable[str]) -> Symbol:
        """A letter without a meaning yet."""
        wanted = tuple(wanted)
        numbered = (f"{wanted[0]}{n}" for n in count(1))
        name = next((name for name in wanted if name not in self.taken), None)
        name = name or next(name for name in numbered if name not in self.taken)
        self.taken.add(name)
        return Symbol(name)

    def shown(self, expr: Expr, unknown: Symbol, hole: Symbol | None = None) -> Expr:
        """An expression of a state in the letters of the page."""
        mapping = {symbol: self.letter(symbol) for symbol in in_order(expr)}
        mapping |= {X: unknown} | ({} if hole is None else {HOLE: hole})
        changed = {old: new for old, new in mapping.items() if old != new}
        try:
            return replace(expr, changed)
        except TooLarge:  # numbers that stood for themselves so far
            return expr.xreplace(changed)

    def letter(self, symbol: Symbol) -> Expr:
        """The letter of a symbol, or the block that it stands for if that is a letter itself."""
        if symbol not in self.known:
            if not isinstance(symbol, Label):
                return symbol
            if is_letter(symbol.block):
                self.known[symbol] = self.shown(symbol.block, X)
            else:
                others = [name for name in NAMES if name not in KEPT]
                self.known[symbol] = self.fresh((symbol.name, *others))
        return self.known[symbol]

    def explain(self, exprs: Iterable[Expr]) -> list[tuple[Symbol, Expr]]:
        """The blocks behind letters that these expressions of states are the first to have."""
        found: list[tuple[Symbol, Expr]] = []
        for expr in exprs:
            for symbol in in_order(expr):
                if not isinstance(symbol, Label) or symbol in self.explained:
                    continue
                self.explained.add(symbol)
                letter = self.letter(symbol)
                found += self.explain([symbol.block])
                if isinstance(letter, Symbol) and not is_letter(symbol.block):
                    found.append((letter, self.shown(symbol.block, X)))
        return found


def is_letter(block: Expr) -> bool:
    """Whether a block is a letter or minus one, which needs no letter of its own."""
    if isinstance(block, Symbol):
        return True
    return len(block.args) == 2 and block.args[0] is MINUS_ONE and isinstance(block.args[1], Symbol)


def in_order(expr: Expr) -> list[Symbol]:
    """The symbols of an expression but x and the open place, by name and, if equal, by block."""
    symbols = [s for s in expr.free_symbols if s not in (X, HOLE)]
    return sorted(symbols, key=lambda s: (s.name, str(getattr(s, "block", ""))))
