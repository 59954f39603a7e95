"""Text in pieces, and what is said about text that cannot be read."""

from __future__ import annotations

import re
from typing import NamedTuple

from abel.parse.glyphs import RADICALS, fraction, plain, refusal, run_of

MAX_LENGTH = 2000  # characters of text

TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|\*\*|[-+*/^()=,|]"
)
# Of any width, none included: what is pasted has them.
SPACE = re.compile("[ \t\r\n\u00a0\u2000-\u200b\u202f\u205f-\u2062\u3000\ufeff]*")
SCIENTIFIC = re.compile(r"[eE][-+]?[0-9]+")
# What Python reads as a number would be taken for a product.
OTHER_BASE = re.compile(r"0(?:[bB][01]|[oO][0-7]|[xX][0-9a-fA-F])")
OPERATORS = ("+", "-", "*", "/", "^", "(", "=", ",", *RADICALS)
MIXED = "a whole number before a fraction is not read; write (2 + 1/2) for two and a half"


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
    spaced: bool = False  # whether there is space before it


def skip_space(text: str, position: int) -> int:
    space = SPACE.match(text, position)
    return space.end() if space else position


def tokenize(text: str) -> list[Token]:
    """Split `text` into tokens, the last of kind "end"."""
    if not isinstance(text, str):
        raise TypeError(f"an equation is read from a str, got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise ParseError(text, None, f"{len(text)} characters; at most {MAX_LENGTH} are read")
    tokens: list[Token] = []
    position, spaced = skip_space(text, 0), False
    while position < len(text):
        if reason := refusal(text, position):
            raise ParseError(text, position, reason)
        if match := TOKEN.match(text, position):
            end = typed(text, match, tokens, spaced)
        else:
            end = pasted(text, position, tokens, spaced)
        position = skip_space(text, end)
        spaced = position > end
    if not tokens:
        raise ParseError(text, None, "there is nothing to read; write for example a*x + b = 0")
    tokens.append(Token("end", "the end", len(text)))
    return with_radicals(text, with_bars(text, tokens))


def typed(text: str, match: re.Match[str], tokens: list[Token], spaced: bool) -> int:
    """Adds a token in ASCII; where it ends."""
    position, end = match.span()
    if match["number"] and (power := SCIENTIFIC.match(text, end)):
        end = power.end()
    if match["number"] and text.startswith("_", end):
        reason = "a number with _ in it is not read; write 1000 for 1_000"
        raise ParseError(text, position, reason)
    if match[0] == "0" and OTHER_BASE.match(text, position):
        reason = f"{text[position : position + 2]}... is not read; write the number in decimal"
        raise ParseError(text, position, reason + ", or 0*x for a product")
    kind = match.lastgroup or match[0].replace("**", "^")
    tokens.append(Token(kind, text[position:end], position, spaced))
    return end


def pasted(text: str, position: int, tokens: list[Token], spaced: bool) -> int:
    """Adds the tokens of a character beyond ASCII, or of several raised ones; where they end."""

    last = tokens[-1] if tokens else None
    raised, end = run_of(text, position, "super")
    if raised:
        if text.startswith(("^", "**"), skip_space(text, end)):
            raise ParseError(text, position, "a power of a power needs brackets")
        tokens.extend([Token("^", "^", position), *bracketed(raised, position)])
        return end
    lowered, end = run_of(text, position, "sub")
    if lowered.isalnum() and last is not None and last.kind == "name" and not spaced:
        joint = "" if last.text == "log" and lowered in ("2", "10") else "_"
        tokens[-1] = last._replace(text=last.text + joint + lowered)
        return end
    end = position + 1
    tokens.extend(instead_of(text, position, last, spaced))
    if len(tokens[-1].text) > 1 and text.startswith("(", skip_space(text, end)):
        tokens.append(Token("*", "*", position))  # alpha(...) would be a function
    return end


def instead_of(text: str, position: int, last: Token | None, spaced: bool) -> list[Token]:
    """The tokens that would have been typed for one character that comes after `last`."""
    if parts := fraction(text[position]):
        if last is not None and last.kind == "number":
            raise ParseError(text, position, MIXED)
        return bracketed("/".join(parts), position, spaced)
    written = plain(text[position])
    if reason := refusal(written, 0):
        raise ParseError(text, position, reason)
    match = TOKEN.fullmatch(written)
    if not match and written not in RADICALS:
        raise ParseError(text, position, f"unexpected character {text[position]!a}")
    kind = match.lastgroup if match else None
    return [Token(kind or written, written, position, spaced)]


def bracketed(written: str, position: int, spaced: bool = False) -> list[Token]:
    """The tokens of what stands at one place of the text, in brackets if there are several."""
    inner = [token._replace(position=position, spaced=False) for token in tokenize(written)[:-1]]
    if len(inner) == 1:
        return [inner[0]._replace(spaced=spaced)]
    return [Token("(", "(", position, spaced), *inner, Token(")", ")", position)]


def with_bars(text: str, tokens: list[Token]) -> list[Token]:
    """|u| as abs(u). A bar opens after an operator; after anything else it closes, if one is open
    within the same brackets.
    """
    found: list[Token] = []
    opened: list[Token] = []  # brackets and bars
    for token in tokens:
        operand = bool(found) and found[-1].kind not in OPERATORS
        inside = bool(opened) and opened[-1].kind == "|"
        if token.kind in (")", "=", "end") and inside:
            at = opened[-1].position
            raise ParseError(text, at, f"the '|' of column {at + 1} needs a second '|'")
        if token.kind == "(":
            opened.append(token)
        elif token.kind == ")" and opened:
            opened.pop()
        if token.kind != "|":
            found.append(token)
        elif operand and inside:
            opened.pop()
            found.append(Token(")", ")", token.position, token.spaced))
        else:
            opened.append(token)
            found.append(Token("name", "abs", token.position, token.spaced))
            found.append(Token("(", "(", token.position))
    return found


def with_radicals(text: str, tokens: list[Token]) -> list[Token]:
    """√u as sqrt(u) for a number, a letter, a function or what is in brackets."""
    found = list(tokens)
    for place in reversed(range(len(tokens))):
        radical = found[place]
        if radical.kind not in RADICALS:
            continue
        end = end_of_atom(found, place + 1)
        if end is None:
            raise ParseError(text, radical.position, "a root sign needs brackets: write sqrt(...)")
        name = Token("name", RADICALS[radical.kind], radical.position, radical.spaced)
        inner, after = found[place + 1 : end], found[end]
        if inner[0].kind != "(":
            glued = after.kind in ("name", "(", "number") and not after.spaced
            if after.kind == "^" or glued:
                reason = "it is not clear where the root ends; write sqrt(...)"
                raise ParseError(text, radical.position, reason)
            at = inner[-1].position
            inner = [Token("(", "(", radical.position), *inner, Token(")", ")", at)]
        found[place:end] = [name, *inner]
    return found


def end_of_atom(tokens: list[Token], start: int) -> int | None:
    """Where the number, name, call or bracket that starts here ends; None if none does."""
    first = tokens[start]
    if first.kind in ("number", "name") and not (
        first.kind == "name" and len(first.text) > 1 and tokens[start + 1].kind == "("
    ):
        return start + 1
    depth = 0
    for place in range(start + (first.kind == "name"), len(tokens)):
        depth += (tokens[place].kind == "(") - (tokens[place].kind == ")")
        if not depth:
            return place + 1 if tokens[place].kind == ")" else None
    return None


def as_typed(tokens: list[Token]) -> str:
    """A text in ASCII that is read as these tokens."""
    found, last = "", ""
    for token in tokens[:-1]:
        glue = token.spaced or not is_read_apart(last, token.text)
        found += " " * (bool(found) and glue) + token.text
        last = token.text
    return found


def is_read_apart(first: str, second: str) -> bool:
    """Whether two tokens without a space between them are still the same two."""
    if not (first[-1:].isalnum() or first[-1:] in "_*"):
        return True
    try:
        return [token.text for token in tokenize(first + second)[:-1]] == [first, second]
    except ParseError:
        return False
