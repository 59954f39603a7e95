"""Balls hold the true value: against mpmath with more digits, on cuts, and at every precision."""

import mpmath
import pytest
import sympy as sp
from flint import acb, arb
from sympy import I, Rational, acos, asin, atan, cbrt, log, sqrt

from abel.verify.balls import PRECISIONS, Point, Undefined, ball_of, precision
from abel.verify.samples import (
    breakpoints,
    choosing,
    far_points,
    in_letters,
    points_for,
    sample_points,
)
from tests.test_verify import random_expressions

a, b = sp.symbols("a b")
n = sp.Symbol("n", integer=True)
TINY = Rational(1, 10**1000)

mp = mpmath.mp.clone()
mp.dps = 60


def by_mpmath(expr, values):
    """The value with 60 digits, by another library's functions."""
    kinds = {sp.exp: mp.exp, sp.LambertW: mp.lambertw} | {
        f: getattr(mp, f.__name__) for f in (sp.log, sp.sin, sp.cos, sp.tan, asin, acos, atan)
    }
    if expr in values:
        return values[expr]
    args = [by_mpmath(arg, values) for arg in expr.args]
    if isinstance(expr, sp.Add):
        return mp.fsum(args)
    if isinstance(expr, sp.Mul):
        return mp.fprod(args)
    if isinstance(expr, sp.Pow):
        exact = expr.exp.is_Rational
        return mp.power(args[0], mp.mpf(expr.exp.p) / expr.exp.q if exact else args[1])
    if expr.is_Rational:
        return mp.mpf(expr.p) / expr.q
    constants = {sp.pi: mp.pi, sp.E: mp.e, I: mp.mpc(0, 1)}
    return +constants[expr] if expr in constants else kinds[type(expr)](args[0])


def is_near_a_cut(expr, values):
    """Whether rounding may have put an argument on the other side."""
    if isinstance(expr, (sp.Pow, log, asin, acos, atan, sp.LambertW)):
        z = mp.mpc(by_mpmath(expr.args[0], values))
        if z.imag and min(abs(z.imag), abs(z.real)) < mp.mpf(10) ** -40:
            return True
    return any(is_near_a_cut(arg, values) for arg in expr.args)


def test_balls_hold_the_values_of_another_library():
    num_compared = 0
    for expr, symbols in random_expressions(1, 200):
        for row in sample_points(len(symbols))[:4]:
            values = dict(zip(symbols, map(mp.mpf, row)))
            try:
                ball = Point(dict(zip(symbols, row))).value(expr, 128)
                exact = mp.mpc(by_mpmath(expr, values))
                if is_near_a_cut(expr, values):
                    continue
            except (ArithmeticError, ValueError):
                continue
            if ball.is_finite() and mp.isfinite(exact):
                num_compared += 1
                slack = 1e-40 * float(1 + abs(exact))
                parts = (arb(part, slack) for part in (exact.real, exact.imag))
                assert ball.overlaps(acb(*parts)), (expr, row)
    assert num_compared > 400


@pytest.mark.parametrize("function", [sqrt, cbrt, log, asin, acos, atan, sp.LambertW])
@pytest.mark.parametrize("z", [-2, -1, 2, 3, -2 * I, 2 * I, 3 * I, -5])
def test_exactly_on_a_cut_the_side_is_mpmaths(function, z):
    ball = Point({}).value(function(sp.sympify(z), evaluate=False), 100)
    exact = mp.mpc(by_mpmath(function(sp.Symbol("z")), {sp.Symbol("z"): mp.mpmathify(z)}))
    assert abs(mp.mpc(mpmath.mpmathify(ball)) - exact) < 1e-25


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("function", [sqrt, cbrt, log])
def test_beside_a_cut_the_side_is_told_however_near(function, sign):
    near = sqrt(2 + TINY) - sqrt(2)
    z = function(-1 + sign * I * near, evaluate=False)
    point = Point({})
    assert point.value(z, PRECISIONS[0]).imag.contains(0)  # not yet
    assert point.settle(z, lambda v: sign if v.imag * sign > 0 else None) == sign


def test_what_cannot_be_told_is_none():
    zero = sqrt(2) + sqrt(3) - sqrt(5 + 2 * sqrt(6))
    point = Point({})
    assert point.sign(zero) is None
    assert point.holds(sp.Ge(zero, 0, evaluate=False)) is None
    assert point.holds(sp.Ge(zero + TINY, 0, evaluate=False)) is True
    assert point.holds(sp.Le(zero + TINY, 0, evaluate=False)) is False


def test_conditions_have_three_answers():
    here = Point({a: 2.0, b: -1.0, n: 8.0})
    assert here.holds(sp.Ge(a, 2)) is True and here.holds(sp.Le(a, 1)) is False
    assert here.holds(sp.Ge(log(b), 0)) is False  # not real
    assert here.holds(sp.Ne(n, 8)) is False and here.holds(sp.Ne(n, 7)) is True
    assert here.holds(sp.Ne(sp.Mod(n, 4), 0)) is False
    assert here.holds(sp.Ne(sp.Mod(n, 3), 0)) is True
    assert here.holds(sp.And(sp.Ge(a, 0), sp.Ge(b, 0))) is False
    assert here.holds(sp.Or(sp.Ge(a, 0), sp.Ge(b, 0))) is True
    doubtful = sp.Ge(sp.Function("g")(a), 0)
    assert here.holds(sp.And(sp.Ge(a, 0), doubtful)) is None
    assert here.holds(sp.And(sp.Ge(b, 0), doubtful)) is False
    assert here.holds(sp.Or(sp.Ge(a, 0), doubtful)) is True


@pytest.mark.parametrize("expr", [1 / a, log(a), a ** Rational(-1, 3), atan(I + a), a**b])
def test_what_is_certainly_undefined_says_so(expr):
    with pytest.raises(Undefined):
        ball_of(expr, {a: acb(0), b: acb(2)})


def test_roots_of_zero_are_zero():
    assert ball_of(cbrt(a) + sqrt(a), {a: acb(0)}).is_zero()


def test_real_operations_on_real_numbers_stay_real():
    """So that what is exactly on a cut is known to be there."""
    expr = sp.exp(sp.sin(a) / 3) * sqrt(a**2 + 1) - atan(a) ** 3 + log(a + 9) + asin(a / 9)
    with precision(64):
        assert ball_of(expr, {a: acb(-1.75)}).imag.is_zero()
    assert not ball_of(cbrt(2 + 11 * I) + cbrt(2 - 11 * I), {}).imag.is_zero()  # though it is 4


# ---- Sample points ----


def test_both_sides_of_every_breakpoint_are_sampled():
    radicand = (a - 20) ** 2
    assert breakpoints(radicand, a) == pytest.approx((20,))
    rows = far_points([a, b], [radicand])
    for side in (1, -1):
        assert any(0 < side * (row[0] - 20) < 1 for row in rows)
        assert any(side * (row[0] - 20) > 10 for row in rows)


def test_a_breakpoint_of_a_function_is_found_by_its_sign():
    assert breakpoints(sp.exp(a) - 500, a) == pytest.approx((float(log(500)),))
    assert breakpoints(a * b - 1, a) == ()  # in two letters


def test_points_reach_from_a_millionth_to_a_million():
    sizes = [abs(v) for row in far_points([a, b], []) for v in row]
    assert min(sizes) < 1e-6 and max(sizes) > 1e6


def test_what_branches_depend_on_has_the_candidate_for_x():
    x = sp.Symbol("x")
    assert set(choosing(sqrt(x) + log(a) / b)) == {a, b, x}
    assert in_letters([sqrt(x)], (a - 3) ** 2) == [(a - 3) ** 2]


def test_integers_are_integers_at_every_point():
    assert all(row[1] == int(row[1]) and row[1] for row in points_for([a, n]))
