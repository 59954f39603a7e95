"""Conditions: as people read them, and decided at points only where that is certain."""

import mpmath
import pytest
import sympy as sp
from sympy import (
    And,
    Eq,
    Ge,
    I,
    Le,
    Mod,
    Ne,
    Not,
    Or,
    Rational,
    Symbol,
    acos,
    asin,
    atan,
    log,
    sqrt,
)

from abel.verify.balls import Point, enclosure
from abel.verify.conditions import condition_text, valid_when_text

A, B, N = Symbol("a"), Symbol("b"), Symbol("n", integer=True)


@pytest.mark.parametrize(
    "condition, text",
    [
        (Ne(N, 4), "n != 4"),
        (And(Ne(N, 4), A >= 0), "a >= 0 and n != 4"),
        (Ne(Mod(N, 4), 0), "n mod 4 != 0"),
        (Eq(Mod(N + 1, 3), 2), "(n + 1) mod 3 = 2"),
        (Or(And(A >= 0, B <= 0), A < -1), "(a >= 0 and b <= 0) or a < -1"),
        (And(Or(A > 1, B > 1), Ne(N, 0)), "(a > 1 or b > 1) and n != 0"),
        (Not(Or(A > 1, Ne(N, 0)), evaluate=False), "not (a > 1 or n != 0)"),
        (sp.true, "True"),
    ],
)
def test_conditions_read_like_text(condition, text):
    assert condition_text(condition) == text and valid_when_text(condition).endswith(text)
    assert valid_when_text(None) == ""


@pytest.mark.parametrize(
    "condition, point, holds",
    [
        (None, {}, True),
        (A >= 0, {A: 0.5}, True),
        (A >= 0, {A: 0}, True),
        (A > 0, {A: 0}, False),
        (A <= 0, {A: 0.5}, False),
        (Ne(N, 4), {N: 4}, False),
        (Ne(N, 4), {N: 5}, True),
        (Eq(N, 4), {N: 4}, True),
        (Ne(Mod(N, 4), 0), {N: -8}, False),
        (Ne(Mod(N, 4), 0), {N: -7}, True),
        (And(A >= 0, Ne(N, 4)), {A: -1, N: 4}, False),
        (Or(A >= 0, Ne(N, 4)), {A: -1, N: 5}, True),
        (Not(Or(A > 1, Ne(N, 0)), evaluate=False), {A: 0, N: 0}, True),
        (sqrt(A) >= 0, {A: -1}, False),  # it is not real there
        (sp.pi * A >= 3 + Rational(14159, 100000), {A: 1}, True),
        (Ge(sqrt(A + 1) ** 2, 3, evaluate=False), {A: 2}, True),
        # Equal, which balls around irrational numbers never show.
        (Ge(sqrt(A) * sqrt(B), sqrt(6), evaluate=False), {A: 2, B: 3}, None),
        (Or(Ge(sqrt(A) * sqrt(B), sqrt(6), evaluate=False), A > 1), {A: 2, B: 3}, True),
        (Le(sp.zeta(A), 0), {A: 3}, None),  # a function without balls
        (A >= B, {A: 1}, None),
        (Le(1 / A, 0), {A: 0}, None),
    ],
)
def test_a_condition_is_true_false_or_not_decided(condition, point, holds):
    assert Point(point).holds(condition) is holds


FUNCTIONS = (
    asin, acos, atan, log, sqrt, sp.exp, sp.sin, sp.cos, sp.tan, sp.LambertW,
    lambda z: z ** Rational(1, 3), lambda z: z ** Rational(-5, 3), lambda z: z ** Rational(-3, 2),
    lambda z: z**z, lambda z: z**3 / (z - 7),
)  # fmt: skip
NUMBERS = (2, -2, Rational(1, 2), -Rational(1, 2), 2 * I, -2 * I, I / 2, 1 + I, -1 - 2 * I, 3 - I)


@pytest.mark.parametrize("number", NUMBERS)
def test_balls_agree_with_other_numbers_on_cuts_too(number):
    x = Symbol("x")
    for function in FUNCTIONS:
        ball = enclosure(function(x), {x: enclosure(sp.sympify(number), {}, 200)}, 200)
        value = complex(sp.lambdify(x, function(x), "mpmath")(mpmath.mpmathify(complex(number))))
        assert abs(complex(ball) - value) < 1e-12 * (1 + abs(value)), (function(x), number)


def test_a_ball_across_a_cut_has_both_sides_in_it():
    zero = sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1
    near = enclosure(sqrt(I * zero - 1), {}, 100)
    assert near.imag.contains(1) and near.imag.contains(-1)
