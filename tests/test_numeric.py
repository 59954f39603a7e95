"""Sample values, zero tests, and which divisions lose a root."""

import pytest
from sympy import Integer, exp, log, sin, sqrt, symbols

from abel.numeric import RootGuard, depends_on_x, finite, is_zero, values
from abel.rewrite import call

x, a, b, c = symbols("x a b c")
ZERO = Integer(0)


@pytest.mark.parametrize(
    ("side", "term"),
    [
        ((x + a) * (x + b), x + a),  # the paper's example
        (x**2 + (a + b) * x + a * b, x + a),  # the same, hidden
        (a * x**2 + b * x, x),
        (x + a, x + a),
        (x**2, x**2),
        (x * sin(x), x),
        (sin(x) * (x + a), sin(x)),
        (x * sin(x) ** 2, x * sin(x)),
        (x - 4, sqrt(x) - 2),
        (x - a * sqrt(x), sqrt(x)),
        (a * x + b - c * sqrt(a * x + b), sqrt(a * x + b)),
        (exp(2 * x) - a**2, exp(x) - a),
    ],
)
def test_division_that_loses_a_root_is_seen(side, term):
    assert RootGuard(side, ZERO).loses(term, inverse=True)


@pytest.mark.parametrize(
    ("side", "term"),
    [
        (a * x**2, x),  # one copy of a repeated factor may go
        ((x + a) * (x + b) ** 2, x + b),
        (a * x + b, x),
        (a * exp(2 * x) + exp(x), exp(x)),  # an exponential has no zeros
        (a / x + b, 1 / x),
        (sin(x) + a, x),
        (x + a, a),
    ],
)
def test_division_that_keeps_every_root_is_allowed(side, term):
    assert not RootGuard(side, ZERO).loses(term, inverse=True)


def test_multiplying_by_a_fraction_is_a_division():
    assert RootGuard((x + a) * (x + b), ZERO).loses(1 / (x + a), inverse=False)
    assert not RootGuard(1 / (x + a) + b, ZERO).loses(x + a, inverse=False)


def test_the_right_side_counts_too():
    # x^2 + a = a + b*x has the root 0.
    assert RootGuard(x**2 + a, a + b * x).loses(x, inverse=True)


def test_zero_is_relative_to_what_it_is_summed_from():
    assert is_zero((a + b) ** 2 - a**2 - 2 * a * b - b**2)
    assert not is_zero(exp(-30) * (a - b))
    assert not is_zero(sqrt(a**2) - a)  # 0 for positive a only


def test_values_that_overflow_are_not_finite():
    assert not finite(values(call(exp, 500 * x)))
    assert not finite(values(call(exp, call(exp, 20 * x))))
    assert finite(values(log(x) + a))


def test_dependence_on_x_is_functional_not_textual():
    hidden = (x + 1) ** 2 - x**2 - 2 * x
    assert not depends_on_x(values(hidden), values(a))
    assert depends_on_x(values(x + a), values(b))
