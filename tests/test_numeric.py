"""Sample values: what is zero, finite, depends on x, and where x is scaled."""

import pytest
from sympy import exp, log, sqrt, symbols

from abel.numeric import (
    depends_on_x,
    finite,
    is_solvable,
    is_zero,
    scale_of,
    values,
)
from abel.parse import parse, parse_expression
from abel.rewrite import call

x, a, b, c = symbols("x a b c")


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


def test_a_state_that_the_sample_points_show_is_not_scaled():
    for text in ("a*x + b = 0", "exp(x) = 2", "x^20 = a", "asin(x) + acos(x) = a"):
        equation = parse(text)
        assert scale_of(equation.lhs, equation.rhs) == 0


@pytest.mark.parametrize(
    ("text", "smaller"),
    [
        ("exp(-300*x) = 2", True),
        ("cos(1000*x) = 1/2", True),
        ("1/4 = (1/2)^(540/x)", False),
        ("x/10^20 = a", False),
        ("x + 10^30 = 0", False),
        ("x^2 = 10^60*10^60*b", False),
    ],
)
def test_x_is_scaled_where_the_sample_points_show_nothing(text, smaller):
    sides = parse(text).lhs, parse(text).rhs
    scale = scale_of(*sides)
    assert not is_solvable(*sides) and is_solvable(*sides, scale)
    assert scale < 0 if smaller else scale > 0


def test_a_sum_that_overflows_is_not_zero():
    assert not is_zero(parse_expression("10^70*b + 10^70*c"))
    assert not is_zero(parse_expression("10^70*b - 10^69*b*c"))
    assert not is_zero(parse_expression("exp(900*x) + 1"))
    assert not is_zero(parse_expression("exp(exp(exp(90*x))) + 1"))
    assert is_zero(parse_expression("10^70*(a + b)^2 - 10^70*(a^2 + 2*a*b + b^2)"))
