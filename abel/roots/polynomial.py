"""The roots of a polynomial with rational coefficients, each in a ball of its own.

FLINT factors it over the rationals and isolates its roots: every ball holds exactly one, and those
of real roots have an imaginary part that is exactly 0. So a number that is known to be a root is
told from all others by a ball of its own, and its factor is its minimal polynomial.
"""

from __future__ import annotations

from math import lcm
from typing import Any, NamedTuple, cast

import sympy as sp
from flint import acb, fmpz_poly

from abel.equation import Equation, X, remember
from abel.verify import degree_bound, precision

MAX_FORMAL = 64  # degree of what is made a polynomial to see its true one
MAX_DEGREE, MAX_BITS = 24, 512  # of a polynomial, and of its coefficients
ISOLATING_BITS = 256


class Isolated(NamedTuple):
    """A root: a ball that no other root is in, and the irreducible factor that it is a root of."""

    ball: acb
    factor: fmpz_poly

    @property
    def is_real(self) -> bool:
        return self.ball.imag.is_zero()


@remember  # of one equation it is asked for the answer, its form and the other roots
def numerator(expr: sp.Expr) -> fmpz_poly | None:
    """The numerator of a rational function of x with rational coefficients; None for others."""
    if expr.free_symbols - {X} or degree_bound(expr, X) > MAX_FORMAL:
        return None
    try:
        poly = sp.Poly(sp.fraction(sp.together(expr))[0], X, domain="QQ")
    except (sp.PolynomialError, sp.polys.polyerrors.BasePolynomialError):
        return None
    if poly.is_zero or poly.degree() > MAX_DEGREE:
        return None
    fractions = [sp.Rational(c) for c in reversed(poly.all_coeffs())]
    scale = lcm(*[int(c.q) for c in fractions])
    whole = [int(c.p) * (scale // int(c.q)) for c in fractions]
    return None if max(map(int.bit_length, whole)) > MAX_BITS else fmpz_poly(whole)


def isolated_roots(equation: Equation) -> list[Isolated] | None:
    """All roots of an equation between rational functions without letters, each once; None for
    other equations.
    """
    whole = numerator(equation.lhs - equation.rhs)
    if whole is None or whole.degree() < 1:
        return None
    for entry in equation.nonzero:
        away = numerator(entry)
        if away is None:
            return None
        while (shared := whole.gcd(away)).degree() > 0:
            whole = whole / shared
    with precision(ISOLATING_BITS):
        # A factor isolates its own roots from each other, not from those of other factors.
        found = [
            Isolated(acb(pair[0]), factor)
            for factor, _ in whole.factor()[1]
            for pair in cast(list[Any], factor.complex_roots())
        ]
        balls = [each.ball for each in found]
        apart = not any(a.overlaps(b) for i, a in enumerate(balls) for b in balls[:i])
    return found if apart else None


def the_one(roots: list[Isolated], ball: acb | None) -> Isolated | None:
    """The only root that a number can be of which it is known that it is one of them."""
    if ball is None:
        return None
    near = [root for root in roots if root.ball.overlaps(ball)]
    return near[0] if len(near) == 1 else None
