"""Which roots of stored results are rational, and which of those are printed as anything else.

What is rational is told here by other code than that which simplifies: 60 digits of mpmath, of
which 40 must be those of a fraction with a small denominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import mpmath
from sympy import Expr, lambdify

from abel.parse import ParseError, parse, parse_expression
from abel.roots import simplest, written

DIGITS, GOOD = 60, 40  # of a number, and of what a rational must share with it
MAX_DENOMINATOR = 10**6


@dataclass
class Counted:
    """What was counted, with the rows that show otherwise."""

    numeric: int = 0  # roots of equations without letters
    rational: int = 0  # that are rational numbers
    unlike: list[tuple[str, str, str]] = field(default_factory=list)  # equation, root, as printed

    def add(self, equation: str, root: str, printed: str, number: Fraction | None) -> None:
        self.numeric += 1
        if number is not None:
            self.rational += 1
            if printed != str(number):
                self.unlike.append((equation, root, printed))


def nearest_rational(root: Expr) -> Fraction | None:
    """The simple rational number that a root agrees with in 40 digits, if there is one."""
    with mpmath.workdps(DIGITS):
        try:
            value = mpmath.mpmathify(lambdify([], root, "mpmath")())
        except (ArithmeticError, ValueError, TypeError):
            return None
        real, imag = mpmath.re(value), mpmath.im(value)
        if not mpmath.isfinite(real) or abs(imag) > mpmath.mpf(10) ** -GOOD:
            return None
        scaled = int(mpmath.nint(real * mpmath.mpf(10) ** GOOD))
        found = Fraction(scaled, 10**GOOD).limit_denominator(MAX_DENOMINATOR)
        near = mpmath.mpf(found.numerator) / found.denominator
        return found if abs(near - real) < mpmath.mpf(10) ** -(GOOD - 5) else None


def roots_of(row: Mapping[str, Any]) -> list[str]:
    """The proved roots of a row, of one with all roots the single ones."""
    if "roots" in row:
        return [each["root"] for each in row["roots"] if not each["integers"]]
    return [row["root"]] if row.get("solved") and row.get("root") else []


def counted(rows: Iterable[Mapping[str, Any]]) -> Counted:
    """Over rows of the form that `evaluate.py --json` writes."""
    found = Counted()
    for row in rows:
        for text in roots_of(row):
            try:
                equation, root = parse(row["equation"]), parse_expression(text)
            except ParseError:  # steps may nest a root deeper than is read
                continue
            if not equation.coefficients and not root.free_symbols:
                printed = written(simplest(equation, root))
                found.add(row["equation"], text, printed, nearest_rational(root))
    return found
