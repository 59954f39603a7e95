"""Numbers of roots that are real only because imaginary parts cancel."""

import mpmath
import pytest
import sympy as sp
from sympy import I, Rational, cbrt, log, pi, sqrt

from abel.roots.values import is_real, value_at
from abel.verify.balls import Point

a, b = sp.symbols("a b")
CARDANO = cbrt(2 + 11 * I) + cbrt(2 - 11 * I)  # is 4
u = cbrt(-b / 2 + sqrt(b**2 / 4 + a**3 / 27))
ROOT = u - a / (3 * u)  # of x**3 + a*x + b


@pytest.mark.parametrize(
    "number, real",
    [
        (CARDANO, True),
        (CARDANO - 5, True),
        (sqrt(-3) * sqrt(-5), True),
        (log(-2) - I * pi, True),
        ((1 + I) * (1 - I) * cbrt(5), True),
        (CARDANO + I * Rational(1, 10**60), False),
        (CARDANO + I / 7, False),
        (sqrt(-3), False),
        (log(-2), False),
        ((-1) ** Rational(1, 3), False),
    ],
)
def test_what_is_its_own_conjugate_is_real(number, real):
    assert is_real(number, Point({})) is real


def test_a_root_of_what_is_negative_lies_exactly_on_the_cut():
    assert abs(value_at(sqrt(CARDANO - 5), {}) - mpmath.mpc(0, 1)) < 1e-14
    assert abs(value_at(log(CARDANO - 6), {}) - mpmath.mpc(mpmath.log(2), mpmath.pi)) < 1e-14
    below = value_at(sqrt(CARDANO - 5 - I * Rational(1, 10**60)), {})
    assert below is None or below.imag < 0  # never the other side


@pytest.mark.parametrize("row", [(-7.0, 6.0), (-3.0, 1.0), (-15.0, -4.0), (2.0, 5.0)])
@pytest.mark.parametrize("shift", [5, -5])
def test_square_roots_of_cardanos_root_are_principal_or_not_told(row, shift):
    """Where three roots are real the formula goes through complex numbers."""
    exact = {letter: Rational(value) for letter, value in zip((a, b), row)}
    root = value_at(ROOT, dict(zip((a, b), row)))
    assert abs(root**3 + row[0] * root + row[1]) < 1e-12
    value = value_at(sqrt(ROOT + shift).subs(exact), {})
    assert value is None or abs(value - mpmath.sqrt(root.real + shift)) < 1e-12
