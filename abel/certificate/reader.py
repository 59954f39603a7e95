"""Text to plain trees: exactly what was typed, read a second time and without SymPy.

The kernel must be asked about the equation as it was typed. `abel.parse` builds SymPy expressions,
which cancel and combine while they are built; these trees do neither. The grammar is the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn
from weakref import WeakValueDictionary

MAX_LENGTH = 20_000  # characters of a text
MAX_DEPTH = 150  # brackets and exponents inside each other
TOKEN = re.compile(r"\s*(?:(\d+\.\d+|\.\d+|\d+)|([A-Za-z_]\w*)|(\*\*|<=|>=|!=|[-+*/^()=<>&|,]))")
MAX_EXPONENT = 100
ROOTS = {"sqrt": 2, "cbrt": 3}
FUNCTIONS = {
    "exp": "exp", "log": "log", "ln": "log", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "asin", "acos": "acos", "atan": "atan", "LambertW": "lambert",
}  # fmt: skip


class NotCovered(ValueError):
    """What no script is written for, and why, in one line."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A node: `op` is "number", "letter", "+", "-", "*", "/", "negate", "power" (to an integer),
    "root", "I", "pi" or the name of a function; `value` is the number, name, exponent or index.

    Equal trees are one object (`tree` sees to it), so they are compared by identity.
    """

    op: str
    args: tuple[Tree, ...] = ()
    value: Fraction | int | str | None = None
    names: frozenset[str] = field(default=frozenset())  # letters, x among them

    @property
    def is_number(self) -> bool:
        return self.rational is not None

    @property
    def rational(self) -> Fraction | None:
        """The value of what is made of numbers alone, without functions and roots."""
        if self.op == "number":
            return Fraction(self.value)  # type: ignore[arg-type]
        if self.op not in ("+", "-", "*", "/", "negate", "power"):
            return None
        args = [arg.rational for arg in self.args]
        return None if None in args else arithmetic(self, args)  # type: ignore[arg-type]


_TREES: WeakValueDictionary[tuple, Tree] = WeakValueDictionary()


def tree(op: str, *args: Tree, value: Fraction | int | str | None = None) -> Tree:
    key = (op, args, value)
    found = _TREES.get(key)
    if found is None:
        names = frozenset((value,)) if op == "letter" else frozenset()
        names = names.union(*[arg.names for arg in args])
        found = _TREES[key] = Tree(op, args, value, names)  # type: ignore[arg-type]
    return found


def number(value: Fraction | int) -> Tree:
    return tree("number", value=Fraction(value))


def arithmetic(node: Tree, args: list[Fraction]) -> Fraction | None:
    """A sum, product or the like of numbers; None for a division by 0."""
    if node.op == "negate":
        return -args[0]
    if node.op == "power":
        exponent = int(node.value)  # type: ignore[arg-type]
        return None if exponent < 0 and not args[0] else args[0] ** exponent
    left, right = args
    if node.op == "/":
        return left / right if right else None
    return left + right if node.op == "+" else left - right if node.op == "-" else left * right


def power(base: Tree, exponent: Tree) -> Tree:
    """The principal power: by roots for a rational exponent, by exp and log for any other."""
    value = exponent.rational
    if value is None:
        if base.op == "exp" and base.args[0] == number(1):
            return tree("exp", exponent)
        return tree("exp", tree("*", exponent, tree("log", base)))
    if max(abs(value.numerator), value.denominator) > MAX_EXPONENT:
        raise NotCovered(f"an exponent beyond {MAX_EXPONENT}")
    if value.denominator > 1:
        base = tree("root", base, value=value.denominator)
    return base if value.numerator == 1 else tree("power", base, value=value.numerator)


def tokens_of(text: str) -> list[tuple[str, str]]:
    """(kind, text) of every token; the kind is "number", "name", "end" or the sign itself."""
    if len(text) > MAX_LENGTH:
        raise NotCovered(f"a text of more than {MAX_LENGTH} characters")
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise NotCovered(f"cannot read {text[position : position + 20]!a}")
        digits, name, sign = match.groups()
        sign = "^" if sign == "**" else sign
        found.append(("number", digits) if digits else ("name", name) if name else (sign, sign))
        position = match.end()
    return [*found, ("end", "the end")]


class Reader:
    """One pass over the tokens of a text."""

    def __init__(self, text: str, euler: bool = False) -> None:
        self.tokens, self.index, self.depth = tokens_of(text), 0, 0
        self.euler = euler  # whether e^x is E^x, as in equations

    @property
    def kind(self) -> str:
        return self.tokens[self.index][0]

    def accept(self, *kinds: str) -> str | None:
        """The next token's text if it is of such a kind."""
        if self.kind not in kinds:
            return None
        self.index += 1
        return self.tokens[self.index - 1][1]

    def fail(self) -> NoReturn:
        raise NotCovered(f"cannot read on at {self.tokens[self.index][1]!a}")

    def expect(self, kind: str) -> None:
        if not self.accept(kind):
            self.fail()

    def sum(self) -> Tree:
        found = self.product()
        while sign := self.accept("+", "-"):
            found = tree(sign, found, self.product())
        return found

    def product(self) -> Tree:
        found = self.factor()
        while True:
            if sign := self.accept("*", "/"):
                found = tree(sign, found, self.factor())
            elif self.kind in ("name", "("):
                found = tree("*", found, self.factor())
            else:
                return found

    def factor(self) -> Tree:
        signs = 0
        while sign := self.accept("+", "-"):
            signs += sign == "-"
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotCovered("brackets nested too deep")
        found = self.atom()
        if self.accept("^"):
            exponent = self.factor()
            if self.euler and found == tree("letter", value="e") and "x" in exponent.names:
                found = tree("exp", number(1))
            found = power(found, exponent)
        self.depth -= 1
        for _ in range(signs):
            found = tree("negate", found)
        return found

    def atom(self) -> Tree:
        if digits := self.accept("number"):
            return number(Fraction(f"0{digits}"))
        if name := self.accept("name"):
            return self.named(name)
        self.expect("(")
        found = self.sum()
        self.expect(")")
        return found

    def named(self, name: str) -> Tree:
        if name in ROOTS or name in FUNCTIONS:
            if self.kind != "(":
                self.fail()
            if name == "LambertW":
                return self.lambert()
            argument = self.atom()
            if name in ROOTS:
                return tree("root", argument, value=ROOTS[name])
            return tree(FUNCTIONS[name], argument)
        if name in ("I", "pi"):
            return tree(name)
        return tree("exp", number(1)) if name == "E" else tree("letter", value=name)

    def lambert(self) -> Tree:
        """LambertW(u) or LambertW(u, -1); the other branches have no laws here."""
        self.expect("(")
        argument, branch = self.sum(), number(0)
        if self.accept(","):
            branch = self.sum()
        self.expect(")")
        if branch.rational not in (0, -1):
            raise NotCovered("a branch of LambertW that is neither 0 nor -1")
        return tree("lower_lambert" if branch.rational else "lambert", argument)


def read_equation(text: str) -> tuple[Tree, Tree]:
    """Both sides of `lhs = rhs`; `lhs` alone stands for `lhs = 0`."""
    reader = Reader(text, euler=True)
    lhs = reader.sum()
    rhs = reader.sum() if reader.accept("=") else number(0)
    reader.expect("end")
    return lhs, rhs


def read_expression(text: str) -> Tree:
    reader = Reader(text)
    found = reader.sum()
    reader.expect("end")
    return found


# ---- Conditions ----

RELATIONS = ("<=", ">=", "!=", "<", ">", "=")


@dataclass(frozen=True)
class Condition:
    """A relation of two trees, or several conditions joined by "and" or "or"."""

    op: str
    args: tuple


def read_condition(text: str) -> Condition:
    """What SymPy prints of `valid_when`: relations joined by & and |, Eq(u, v) and Ne(u, v)."""
    reader = Reader(text)
    found = joined(reader, "|")
    reader.expect("end")
    return found


def joined(reader: Reader, sign: str) -> Condition:
    part = (lambda: joined(reader, "&")) if sign == "|" else (lambda: relation(reader))
    parts = [part()]
    while reader.accept(sign):
        parts.append(part())
    op = "or" if sign == "|" else "and"
    return parts[0] if len(parts) == 1 else Condition(op, tuple(parts))


def relation(reader: Reader) -> Condition:
    start = reader.index
    if reader.kind == "name" and reader.tokens[start][1] in ("Eq", "Ne"):
        op = "=" if reader.accept("name") == "Eq" else "!="
        reader.expect("(")
        left = reader.sum()
        reader.expect(",")
        right = reader.sum()
        reader.expect(")")
        return Condition(op, (left, right))
    if reader.kind == "(":  # of a condition, or of an expression
        try:
            reader.accept("(")
            found = joined(reader, "|")
            reader.expect(")")
            return found
        except NotCovered:
            reader.index, reader.depth = start, 0
    left = reader.sum()
    sign = reader.accept(*RELATIONS)
    if sign is None:
        reader.fail()
    return Condition(sign, (left, reader.sum()))
