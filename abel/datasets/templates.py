"""CommonCore-style school equations: our own templates, and a reader of ConPoLe's template files.

A capital letter is a coefficient. A draw gives each a number from +-1..10; for the symbolic set,
equal magnitudes become equal letters and keep their signs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

TEMPLATES = (
    # one step
    "x = A / B", "A / B = x", "x + A = B", "A = x + B", "x - A = B", "A - x = B", "A*x = B",
    "A = B*x", "x / A = B", "A = x / B", "A / x = B", "A = B / x", "A*x = B / C", "x / A = B / C",
    "A / x = B / C", "x = A + B", "A*x = B + C", "A + B = C*x", "x / A = B + C", "A / x = B + C",
    # two steps
    "A*x + B = C", "A = B*x + C", "A + B*x = C", "A - B*x = C", "A*x - B = C - D",
    "A*x + B = C + D", "A*x / B = C", "A = B*x / C", "A*x / B = C / D", "x / A + B = C",
    "A = x / B + C", "A - x / B = C", "A / x + B = C", "A = B / x + C", "A - B / x = C",
    "A / x + B = C + D", "A + B = C / x + D", "A / x - B = C - D", "(x + A) / B = C",
    "A = (x + B) / C", "(A*x + B) / C = D", "A / B = (C*x + D) / E",
    # like terms
    "A*x + B*x = C", "A = B*x + C*x", "A*x - B*x = C + D", "A*x + B + C*x = D", "A = B*x + C + D*x",
    "A - B*x - C*x = D", "A*x + B + C = D*x + E*x", "A*x + B*x + C*x = D", "x / A + x / B = C",
    # x on both sides
    "A*x = B*x + C", "A*x + B = C*x", "x = A*x + B", "A*x + B = x", "A*x + B = C*x + D",
    "A + B*x = C + D*x", "A*x + B = C + D*x", "A - B*x = C*x - D", "A*x + B + C = D*x",
    "A*x = B*x + C + D", "A*x + B + C*x = D*x", "A*x + B + C*x = D*x + E",
    "A*x + B = C*x + D + E*x", "A + B*x + C*x = D*x + E + F*x", "A*x + B + C = D*x + E + F",
    "A*x - B*x = C + D*x + E + F*x", "x / A + B = x / C", "x / A + B = x / C + D",
    "A*x + x / B = C", "A*x / B + C = D*x",
    # distribution
    "A*(x + B) = C", "A = B*(x + C)", "A*(B*x + C) = D", "A*(x + B) + C = D", "A - B*(x + C) = D",
    "A*(x + B) = C*x", "A*(x + B) = C*x + D", "A*(B*x + C) = D*x + E", "A*(x + B) = C*(x + D)",
    "A*(B*x + C) = D*(x + E)", "A*(B*x + C) = D*(E*x + F)", "A*(x + B) + C*x = D",
    "A*(x + B) + C*(x + D) = E", "A*x + B*(x + C) = D*x + E", "(A + B)*x = C",
    "(A + B)*x + C = D*x",
    # fractions
    "(x + A) / B = x / C", "(x + A) / B = (x + C) / D", "(A*x + B) / C = D*x",
    "(A*x + B) / C = D*x + E", "(A*x + B) / C = (D*x + E) / F", "(x + A) / B + x / C = D",
    "(x + A) / B + (x + C) / D = E", "A*x / B + C*x / D = E", "A*x / B + C = D*x / E",
    # x under the bar
    "A*x / x = B*x", "(A / x)*x = B*x", "A*x = (B / x)*x", "(A / x + B)*x = C*x",
    "(A - B / x)*x = C*x", "(A / x)*x + B*x = C*x", "A / x + B / x = C", "A / x + B = C / x",
    "A / x + B = C / x + D", "A / (x + B) = C", "A = B / (x + C)", "A / (B*x) = C",
    "A / (B*x + C) = D", "A / (x + B) + C = D", "A / (x + B) = C / x", "A / (x + B) = C / (x + D)",
    "(x + A) / (x + B) = C", "(x + A) / x = B", "(A*x + B) / (C*x + D) = E",
    "(A*x + B) / x = C + D",
)  # fmt: skip

LETTERS = "abcdefg"
MAGNITUDES = range(1, 11)
NUMBER = re.compile(r"-?[0-9]+")  # a minus sign with a space after it is an operator


def signed_number(rng: random.Random) -> int:
    """A number from -10 to 10, 0 excluded."""
    return rng.choice((-1, 1)) * rng.choice(MAGNITUDES)


def draw(template: str, rng: random.Random, letters: bool) -> str:
    """One equation of a template of ours, with numbers or with letters."""
    numbers = {name: signed_number(rng) for name in sorted(set(re.findall("[A-Z]", template)))}
    names = [str(magnitude) for magnitude in MAGNITUDES]
    if letters:
        magnitudes = sorted({abs(number) for number in numbers.values()})
        for magnitude, letter in zip(magnitudes, rng.sample(LETTERS, len(magnitudes))):
            names[magnitude - 1] = letter
    values = {name: "-" * (n < 0) + names[abs(n) - 1] for name, n in numbers.items()}
    text = re.sub("[A-Z]", lambda match: values[match[0]], template)
    text = text.replace("+ -", "- ").replace("- -", "+ ")
    return re.sub(r"([*/] ?)(-\w+)", r"\1(\2)", text)


def read_conpole(path: str) -> list[str]:
    """The lines of a template file in ConPoLe's format, as they are."""
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def draw_conpole(lines: list[str], rng: random.Random) -> Iterator[str]:
    """Equations without end: a random line each, its numbers redrawn unless it is marked `!`."""
    while True:
        line = rng.choice(lines)
        literal = "!" in line
        line = line.replace("!", "").strip()
        yield line if literal else NUMBER.sub(lambda _: str(signed_number(rng)), line)
