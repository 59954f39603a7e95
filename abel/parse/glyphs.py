"""Mathematics as people paste it: x², √(x + 1), |x|, 2·π, ½, and what is refused with a reason.

A character becomes the tokens that would have been typed for it, so the parser knows nothing of it.
Where readers of a formula would differ, as about √2x, it is refused.
"""

from __future__ import annotations

import re
import unicodedata

MINUS, TIMES, OVER = (
    "\u2212\u2013\u2010\u2011",
    "\u00b7\u00d7\u22c5\u2219\u2217\u2022",
    "\u00f7\u2215\u2044",
)
SIGNS = {**dict.fromkeys(MINUS, "-"), **dict.fromkeys(TIMES, "*"), **dict.fromkeys(OVER, "/")}
SIGNS |= {"\u2223": "|", "\u221a": "\u221a", "\u221b": "\u221b"}
RADICALS = {"\u221a": "sqrt", "\u221b": "cbrt"}
# Letters and digits in other fonts, as they are pasted from a PDF, and those of East Asian width.
OTHER_FONTS = re.compile("[\U0001d400-\U0001d7ff\uff01-\uff5e\u210e]")
GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)")
RAISED = re.compile("[0-9A-Za-z+()-]")  # what is read as an exponent, once it stands on the line

INEQUALITY = "inequalities are not supported; write = for an equation"
SYSTEM = "systems of equations are not supported; give one equation, its other letters as constants"
COMMA = "a comma in a number is not read; write 2.5 for 2,5 and 1000 for 1,000"
BRACKETS = "only round brackets are read; write ( and )"
ANGLES = "degrees are not read, angles are in radians; write 30*pi/180 for 30 degrees"
CALCULUS = "sums, integrals and derivatives are not supported"
EXACT = "equations are exact; write ="
REFUSED = {
    "==": "an equation has a single =",
    "!=": "'!=' (not equal) is not supported; write = for an equation",
    "!": "factorials are not supported",
    "%": "percent signs are not read; write 20/100 for 20%",
    "\\": "LaTeX is not read; write sqrt(x), a/b, x^2",
    "'": 'unexpected character "\'"; differential equations are not supported',
    ":": "unexpected character ':'; write / for a ratio",
    "\u2260": "'not equal' is not supported; write = for an equation",
    "\u00b1": "a sign that stands for two is not read; give two equations, with + and with -",
    "\u221e": "all numbers are finite here",
    "\u221c": "the fourth root is not read; write (...)^(1/4)",
    **dict.fromkeys("<>\u2264\u2265\u2a7d\u2a7e\u226a\u226b", INEQUALITY),
    **dict.fromkeys(";&", SYSTEM),
    **dict.fromkeys("[]{}", BRACKETS),
    **dict.fromkeys("\u00b0\u00ba\u2032\u2033", ANGLES),
    **dict.fromkeys("\u222b\u2202\u2211\u220f\u2207", CALCULUS),
    **dict.fromkeys("~\u2248\u2243\u2245\u2261\u221d", EXACT),
}


def refusal(text: str, position: int) -> str:
    """Why what stands here is not supported, and what would be; empty for anything else."""
    pair = text[position : position + 2]
    return REFUSED.get(pair) or REFUSED.get(pair[:1]) or ""


def plain(character: str) -> str:
    """What would have been typed for a character: a letter, a name, a sign; "" if not known."""
    if character in SIGNS:
        return SIGNS[character]
    found = unicodedata.normalize("NFKC", character)
    if OTHER_FONTS.match(character) and found.isascii():
        return found
    greek = GREEK.fullmatch(unicodedata.name(found, "")) if len(found) == 1 else None
    if greek is None:
        return ""
    name = greek[2].replace("LAMDA", "LAMBDA").lower()
    return name if greek[1] == "SMALL" else name.capitalize()


def fraction(character: str) -> tuple[str, str] | None:
    """Numerator and denominator of a character such as ½."""
    over, _, under = unicodedata.normalize("NFKC", character).partition("\u2044")
    good = over.isascii() and over.isdigit() and under.isascii() and under.isdigit()
    return (over, under) if good else None


def run_of(text: str, position: int, kind: str) -> tuple[str, int]:
    """The characters from here on that are raised ("super") or lowered ("sub"), as they would
    stand on the line, and where they end.
    """
    found = ""
    while position < len(text) and text[position] not in REFUSED:
        character = text[position]
        if not unicodedata.decomposition(character).startswith(f"<{kind}>"):
            break
        letter = unicodedata.normalize("NFKC", character).replace("\u2212", "-")
        if not RAISED.fullmatch(letter):
            break
        found, position = found + letter, position + 1
    return found, position
