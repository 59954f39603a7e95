"""Which multiplications and divisions lose a root."""

import random

import pytest
from sympy import (
    Add,
    Integer,
    Mul,
    Pow,
    Rational,
    cbrt,
    exp,
    isprime,
    pi,
    root,
    sin,
    sqrt,
    symbols,
)  # fmt: skip

from abel.lost_roots import (
    MAX_DEGREE,
    PRIME,
    RootGuard,
    exponential_power,
    fraction,
    opaque,
    residue,
    root_indices,
)
from abel.parse import parse_expression

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
        (x**2 - a - 3 * (x - sqrt(a)), x - sqrt(a)),
        (x**2 - 6 - 3 * (x - sqrt(6)), x - sqrt(6)),
        (x**3 - a * b + c * (x - cbrt(a * b)), x - cbrt(a * b)),
        (x**4 - a + 2 * (x - root(a, 4)), x - root(a, 4)),
        (x**2 - pi - 5 * (x - sqrt(pi)), x - sqrt(pi)),
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


def test_functions_that_overflow_are_told_apart():
    assert opaque(parse_expression("exp(900*x)")) != opaque(parse_expression("exp(901*x)"))


def test_fractions_have_the_values_of_their_expressions():
    """At random points of the prime field, constants being what `opaque` makes of them."""
    rng = random.Random(0)
    names = (a, b, c)
    for text in (
        "a*x^2 + b*x + c", "(x + a)/(x - b) + c/x", "(a*x + b)^3/x^2 - 1/3", "x^5*(x + 1)^-4",
        "1/(1/x + 1/(x + a))", "(x - a)*(x + a) - x^2", "0*x + 7",
    ):  # fmt: skip
        expr = parse_expression(text)
        top, below = fraction(expr, x, 1)
        for _ in range(3):
            point = rng.randrange(PRIME)
            known = {x: point, **{name: opaque(name) for name in names}}
            above, under = expr.subs(known).as_numer_denom()
            assert int(top(point)) * under % PRIME == int(below(point)) * above % PRIME, text


@pytest.mark.parametrize(
    "text", ["sqrt(2) - 2", "sqrt(a) - a", "a^(1/3) - a", "sqrt(a + b) - a - b", "sqrt(-a) - a"]
)
def test_a_root_of_a_constant_is_not_the_constant(text):
    assert residue(parse_expression(text)) != 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("sqrt(6)", "sqrt(2)*sqrt(3)"), ("(a*b)^(5/6)", "a^(5/6)*b^(5/6)"), ("sqrt(4*a)", "2*sqrt(a)"),
     ("(a^(1/3))^(1/4)", "a^(1/12)"), ("a^(-2/3)*a", "a^(1/3)")],
)  # fmt: skip
def test_roots_of_constants_are_those_of_positive_numbers(one, other):
    assert residue(parse_expression(one)) == residue(parse_expression(other))


def test_every_constant_has_a_residue():
    """One that divides by 0 once ended a training: base is not invertible."""
    zero = Add(a, Mul(-1, a, evaluate=False), evaluate=False)
    for expr in (1 / zero, Mul(b, 1 / zero, evaluate=False), zero ** Rational(-1, 2)):
        assert 0 <= residue(expr) < PRIME
    assert residue(Pow(zero, Rational(1, 2), evaluate=False)) == 0


def test_the_prime_is_one_for_which_roots_are_unique():
    assert isprime(PRIME) and isprime((PRIME - 1) // 2) and PRIME % 4 == 3
    assert all(pow(n, (PRIME - 1) // 2, PRIME) == 1 for n in range(1, 41))


def test_a_root_of_the_generator_is_a_lower_power_of_its_root():
    top, below = fraction(x ** Integer(3) / sqrt(x), x, 2)
    assert (top.degree(), below.degree()) == (5, 0)
    top, below = fraction(exp(-2 * x) + 1, exp(x), 1)
    assert (top.degree(), below.degree()) == (2, 2)


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ("sqrt(x) + x^(1/3)", {"x": 6}),
        ("x^2/sqrt(x + a)", {"x + a": 2}),
        ("sin(x)^(2/3) + sqrt(x)*x^(1/4)", {"sin(x)": 3, "x": 4}),
        ("sqrt(x + x^(1/3))", {"x + x^(1/3)": 2, "x": 3}),
        ("exp(x^(5/6)) + log(sqrt(x)/2)", {"x": 6}),
        ("sqrt(a)*x^3 + sqrt(2)", {}),
    ],
)  # fmt: skip
def test_the_roots_of_each_base_are_powers_of_one(text, indices):
    known = {parse_expression(base): n for base, n in indices.items()}
    assert root_indices(parse_expression(text)) == known


def test_roots_of_several_kinds_are_compared_in_their_common_root():
    third, half = x ** Rational(1, 3), sqrt(x)
    assert RootGuard(half - third, ZERO).loses(half - third, inverse=True)
    assert RootGuard(half - a * third, ZERO).loses(third, inverse=True)  # of 3/6 and 2/6 one is 1/6
    assert not RootGuard(half - a, ZERO).loses(third - b, inverse=True)


def test_a_power_too_high_to_write_out_is_a_constant():
    assert fraction(x**MAX_DEGREE, x, 1)[0].degree() == 0
    assert fraction(x ** (MAX_DEGREE // 3), x, 1)[0].degree() == MAX_DEGREE // 3


@pytest.mark.parametrize(
    ("power", "base", "n"),
    [
        ("exp(2*x)", "exp(x)", 2), ("exp(-3*x)", "exp(x)", -3), ("exp(x)", "exp(x/5)", 5),
        ("exp(x)", "exp(2*x)", 0), ("exp(x + a)", "exp(x)", 0), ("exp(a*x)", "exp(x)", 0),
        ("exp(4*a*x)", "exp(2*a*x)", 2), ("exp(x + 1/10^9)", "exp(x)", 0),
        ("exp(10^9*x)", "exp(x/10^90)", 0), ("exp(exp(900*x))", "exp(x)", 0), ("x", "exp(x)", 0),
    ],
)  # fmt: skip
def test_powers_of_exponentials_are_known(power, base, n):
    assert exponential_power(parse_expression(power), parse_expression(base)) == n
