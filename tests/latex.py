"""A reader of LaTeX formulas, strict as a compiler is: what it does not know is an error.

It knows nothing of how formulas are written here: from the formula alone it builds an expression
again, which a test compares with what should have been written.
"""

from __future__ import annotations

import re

import sympy as sp

TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|\d+|[a-zA-Z]+|\s+|.", re.S)
FUNCTIONS = {
    r"\sin": sp.sin, r"\cos": sp.cos, r"\tan": sp.tan, r"\log": sp.log, r"\arcsin": sp.asin,
    r"\arccos": sp.acos, r"\arctan": sp.atan, "W": sp.LambertW,
}  # fmt: skip
RELATIONS = {"=": "=", "<": "<", ">": ">", r"\le": "<=", r"\ge": ">=", r"\ne": "!="}
GREEK = {f"\\{name}" for name in "alpha beta gamma delta epsilon theta lambda mu nu rho".split()}
# Amsmath and KaTeX know these as well; they stand in the short form of a step.
SIGNS = {r"\cdot", r"\div", r"\to", r"\exp", r"\sqrt", r"\log", r"\left", r"\right"}
ENDS = {")", "]", "}", "|", r"\right", *RELATIONS, "", "+", "-", ","}


class LatexError(ValueError):
    """What would not compile, or reads as no formula."""


class Reader:
    def __init__(self, text: str) -> None:
        self.tokens = [t for t in TOKEN.findall(text) if not t.isspace()]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self, *wanted: str) -> str:
        token = self.peek()
        if wanted and token not in wanted or not token:
            raise LatexError(f"{' or '.join(wanted)} expected, not {token!r}, at token {self.at}")
        self.at += 1
        return token

    def group(self):
        self.next("{")
        value = self.sum()
        self.next("}")
        return value

    def relation(self):
        sides, signs = [self.sum()], []
        while self.peek() in RELATIONS:
            signs.append(RELATIONS[self.next()])
            sides.append(self.sum())
        if self.peek():
            raise LatexError(f"{self.peek()!r} is left over")
        return sides, signs

    def sum(self):
        sign = -1 if self.peek() == "-" else 1
        if sign < 0:
            self.next()
        value = sign * self.product()
        while self.peek() in ("+", "-"):
            sign = 1 if self.next() == "+" else -1
            value += sign * self.product()
        return value

    def product(self):
        value = self.power()
        while self.peek() not in ENDS:
            if self.peek() == r"\cdot":
                self.next()
            value *= self.power()
        return value

    def power(self):
        base = self.atom()
        while self.peek() == "^":
            self.next()
            base = base ** self.group()
        return base

    def atom(self):
        token = self.next()
        if token == r"\frac":
            above = self.group()
            return above / self.group()
        if token == r"\sqrt":
            index = sp.Integer(2)
            if self.peek() == "[":
                self.next()
                index = self.sum()
                self.next("]")
            return self.group() ** (1 / index)
        if token == r"\left":
            return self.bracketed()
        if token == "W" and self.peek() == "_":
            for piece in ("_", "{", "-", "1", "}"):
                self.next(piece)
            return self.call(lambda u: sp.LambertW(u, -1))
        if token in FUNCTIONS and (token != "W" or self.peek() == r"\left"):
            return self.call(FUNCTIONS[token])
        if token == r"\mathrm":
            self.next("{")
            name = self.next("e", "i")
            self.next("}")
            return sp.E if name == "e" else sp.I
        if token == r"\pi":
            return sp.pi
        if token.isdigit():
            return sp.Integer(token)
        if token == "{":
            self.at -= 1
            return self.group()
        if token.isalpha() or token in GREEK:
            return self.letter(token.lstrip("\\"))
        raise LatexError(f"{token!r} is not known")

    def bracketed(self):
        bracket = self.next("(", "|")
        value = self.sum()
        self.next(r"\right")
        self.next({"(": ")", "|": "|"}[bracket])
        return value if bracket == "(" else sp.Abs(value)

    def call(self, function):
        power = None
        if self.peek() == "^":
            self.next()
            power = self.group()
        braces = self.peek() == "{"
        if braces:
            self.next()
        self.next(r"\left")
        value = function(self.bracketed())
        if braces:
            self.next("}")
        return value if power is None else value**power

    def letter(self, name: str):
        if self.peek() == "_":
            self.next()
            self.next("{")
            name += self.next()
            self.next("}")
        return sp.Symbol(name)


def read(text: str):
    """The sides of a formula, and the relations between them."""
    return Reader(text).relation()


def braced(text: str, start: int) -> int:
    """Where the group ends that begins at `start`."""
    depth = 0
    for k in range(start, len(text)):
        if text[k] == "\\":
            continue
        escaped = k and text[k - 1] == "\\"
        depth += (text[k] == "{" and not escaped) - (text[k] == "}" and not escaped)
        if depth == 0:
            return k + 1
    raise LatexError(f"a brace is not closed in {text[start:]!r}")


def formulas_in(note: str) -> list[str]:
    """The formulas between the words of a note; special characters in words are escaped."""
    found, start = [], 0
    while (at := note.find(r"\text{", start)) >= 0:
        found.append(note[start:at])
        start = braced(note, at + 5)
        words = note[at + 6 : start - 1]
        if re.search(r"(?<!\\)[\\{}_$%&#^~]", re.sub(r"\\(?:[{}_$%&#]|text\w+\{\})", "", words)):
            raise LatexError(f"{words!r} is not escaped")
    found.append(note[start:])
    pieces = [piece for part in found for piece in re.split(r",\\(?:quad| )", part)]
    return [piece.strip() for piece in pieces if piece.strip()]


def rows_of(document: str) -> list[tuple[str, str]]:
    """The equations of an align* environment with the notes beside them."""
    lines = document.split("\n")
    if lines[0] != r"\begin{align*}" or lines[-1] != r"\end{align*}":
        raise LatexError("no align* environment")
    rows = "\n".join(lines[1:-1]).split(" \\\\\n")
    found = []
    for row in rows:
        cells = re.split(r"(?<!\\)&", row)
        if cells[0] or len(cells) not in (2, 4) or (len(cells) == 4 and cells[2].strip()):
            raise LatexError(f"{len(cells)} cells in {row!r}")
        found.append((cells[1].strip(), cells[3].strip() if len(cells) == 4 else ""))
    return found
