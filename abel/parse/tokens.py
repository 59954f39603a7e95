"""Text in pieces, and what is said about text that cannot be read."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LENGTH = 2000  # characters of text

TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|\*\*|[-+*/^()=,]"
)
SPACE, SCIENTIFIC = re.compile(r"[ \t\r\n]*"), re.compile(r"[eE][-+]?[0-9]+")
# What Python reads as a number would be taken for a product.
OTHER_BASE = re.compile(r"0(?:[bB][01]|[oO][0-7]|[xX][0-9a-fA-F])")


class ParseError(ValueError):
    """Text that cannot be read: where, why, and what would be right."""

    def __init__(self, text: str, position: int | None, reason: str) -> None:
        super().__init__(text, position, reason)
        self.text, self.position, self.reason = text, position, reason

    def __str__(self) -> str:
        start = max(0, (self.position or 0) - 27)
        shown = "".join(c if c.isprintable() else "?" for c in self.text[start : start + 54])
        shown = "..." * (start > 0) + shown + "..." * (start + 54 < len(self.text))
        where = "" if self.position is None else f" (column {self.position + 1})"
        return f"cannot read '{shown}'{where}: {self.reason}"


class Token(NamedTuple):
    """A piece of the text; `kind` is "number", "name", "end" or the operator itself."""

    kind: str
    text: str
    position: int


def skip_space(text: str, position: int) -> int:
    space = SPACE.match(text, position)
    return space.end() if space else position


def tokenize(text: str) -> list[Token]:
    """Split `text` into tokens, the last of kind "end"."""
    if not isinstance(text, str):
        raise TypeError(f"an equation is read from a str, got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise ParseError(text, None, f"{len(text)} characters; at most {MAX_LENGTH} are read")
    tokens, position = [], skip_space(text, 0)
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise ParseError(text, position, f"unexpected character {text[position]!a}")
        end = match.end()
        if match["number"] and (power := SCIENTIFIC.match(text, end)):
            end = power.end()
        if match["number"] and text.startswith("_", end):
            reason = "a number with _ in it is not read; write 1000 for 1_000"
            raise ParseError(text, position, reason)
        if match[0] == "0" and OTHER_BASE.match(text, position):
            reason = f"{text[position : position + 2]}... is not read; write the number in decimal"
            raise ParseError(text, position, reason + ", or 0*x for a product")
        kind = match.lastgroup or match[0].replace("**", "^")
        tokens.append(Token(kind, text[position:end], position))
        position = skip_space(text, end)
    if not tokens:
        raise ParseError(text, None, "there is nothing to read; write for example a*x + b = 0")
    return [*tokens, Token("end", "the end", len(text))]
