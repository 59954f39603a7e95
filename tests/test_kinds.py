"""Structural types by hand."""

import pytest

from abel import parse
from abel.analysis.kinds import structural_type


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a*x + b = 0", "degree 1"),
        ("a*x = sin(b)", "degree 1"),  # a function of constants is a constant
        ("a*x^2 + c = 0", "degree 2"),
        ("x^4 + sqrt(a) = 0", "degree 4"),
        ("x*(x + a) = b", "degree 2"),
        ("a/x + b = 0", "rational"),
        ("sqrt(x) + a = 0", "radical"),
        ("cbrt(x + a) = 1/x", "radical"),
        ("exp(x) = sqrt(x)", "exp"),
        ("2^x = a", "exp"),
        ("log(exp(x) + a) = 0", "log"),
        ("atan(log(x)) = a", "trig"),
    ],
)
def test_the_hardest_kind_names_the_type(text, kind):
    assert structural_type(parse(text)) == kind
