"""What a proof divides by is shown not to be 0: on all branches, for all letters, for all n."""

import random
import time

import pytest
import sympy as sp
from sympy import I, Mod, Ne, asin, atan, cos, exp, log, pi, sin, sqrt, tan

from abel.equation import Equation, X
from abel.parse import parse
from abel.verify import domain, verify_root
from abel.verify.balls import Point
from abel.verify.proof import Tower
from abel.verify.samples import points_for

a, b, c = sp.symbols("a b c")
n, m = sp.symbols("n m", integer=True)
x = X


def exceptions(divisor):
    """What `domain.exceptions` says of one divisor."""
    symbols = sorted(divisor.free_symbols, key=str)
    point = Point(dict(zip(symbols, points_for(symbols)[0])))
    tower = Tower(symbols, point, 0, {})
    tower.divide_by(tower.convert(divisor))
    return domain.exceptions(tower, [symbol for symbol in symbols if symbol.is_integer])


@pytest.mark.parametrize(
    "divisor",
    [
        a, a + b, a**2 + 1, sqrt(a) - b, sqrt(a) + sqrt(b) - sqrt(c), a ** sp.Rational(1, 3) - 5,
        exp(a), exp(a) - 1, sin(a) * cos(b), tan(a) - 1, log(a), log(a) - b, asin(a), atan(a) - 2,
        asin(a) - I * b, sp.LambertW(a), sqrt(a + sqrt(b)) - a, sqrt(2) + sqrt(3) - 3, pi - 3,
        sqrt((a - b) ** 2 + 1) - a, pi - asin(sp.acos(a)), 4 * I + log(asin(a)),
        log(sp.acos(a)), log(a) + 2 * log(b) - log(3), sp.acos(a) ** 2,
        (2 * pi - sp.acos(a)) ** 2, (b - log(a)) ** 3,
    ],
)  # fmt: skip
def test_what_is_zero_for_special_letters_only_passes(divisor):
    assert exceptions(divisor) == {}


@pytest.mark.parametrize(
    "divisor",
    [
        sqrt(a**2) - a,  # 0 for a >= 0
        sqrt(a**2) + a,
        sqrt((a - 10**6) ** 2) - a + 10**6,  # far from every sample point
        sqrt(a) * sqrt(b) - sqrt(a * b),
        log(a**2) - 2 * log(a),
        sqrt(sqrt(a**4) - a**2) + 0 * b,
        sqrt(2) + sqrt(3) - sqrt(5 + 2 * sqrt(6)),  # always, which only its size could tell
        asin(sin(a)) - a,
        (b + 1) ** 2 * (sqrt(a**2) - a),
    ],
)
def test_what_is_zero_on_a_part_of_the_letters_does_not(divisor):
    assert exceptions(divisor) is None


def test_what_is_zero_at_sight_raises():
    with pytest.raises(ZeroDivisionError):
        exceptions(sp.Mul(a + b, 1, evaluate=False) - a - b + (a + b) * c - a * c - b * c)


# ---- Integers ----


@pytest.mark.parametrize(
    "divisor, zeros",
    [
        (pi * n - 4 * pi, {4}),
        (2 * pi * n - 7 * pi, set()),  # 7/2 is no integer
        (pi * n - a, None),  # none, since a is general
        (n**2 - 3 * n - 40, {8, -5}),
        ((n - 999) * (n + a), {999}),
        (n**2 + 1, set()),
        (pi * n - sqrt(2), set()),
        (2 * pi * I * n + log(a), None),
    ],
)
def test_integers_at_which_it_vanishes_are_found(divisor, zeros):
    found = exceptions(divisor)
    assert found is not None
    assert set().union(*found.values()) == (zeros or set())


def test_a_planted_pole_is_found_wherever_it_is():
    rng = random.Random(3)
    for _ in range(40):
        k, period = rng.randint(-1000, 1000), rng.choice([pi, 2 * pi, pi / 3, 2 * pi * I])
        start = rng.choice([0, 1, pi / 5, a, asin(a)])
        (found,) = exceptions(start + period * n - start - period * k).values()
        assert found == {k}
        assert exceptions(start + period * n - start - period * k - b) == {}


@pytest.mark.parametrize(
    "side, family, valid_when",
    [
        (sin(4 * x) / sin(x), pi * n / 4, Ne(Mod(n, 4), 0)),
        (sin(6 * x) / sin(2 * x), pi * n / 6, Ne(Mod(n, 3), 0)),
        (sin(x) / (x - 4 * pi), pi * n, Ne(n, 4)),
        ((exp(x) - 1) / (x - 8 * pi * I), 2 * pi * I * n, Ne(n, 4)),
        (sin(x) / (x**2 - 9 * pi**2), pi * n, sp.And(Ne(n, 3), Ne(n, -3))),
        (sin(x) / (x - a), pi * n, None),
        (sin(x) / (2 * x - 7 * pi), pi * n, None),
        (sin(x) / x, pi * n, Ne(n, 0)),
        (sin(x) - a, asin(a) + 2 * pi * n, None),
        (tan(x) - a, atan(a) + pi * n, None),
    ],
)
def test_a_family_says_which_integers_it_leaves_out(side, family, valid_when):
    verdict = verify_root(Equation(side), family)
    assert verdict.status == "proved" and verdict.valid_when == valid_when


def test_where_no_proof_covers_all_integers_there_is_none():
    inside = Equation(sin(x) / (log(x + 1) - log(1 + 5 * pi)))
    assert verify_root(inside, pi * n).valid_when == Ne(n, 5)
    assert not verify_root(Equation(sin(x) / sin(sqrt(2) * x + 1)), pi * n)


def test_an_integer_that_the_proof_divides_by_but_the_equation_does_not_stays():
    """x = n**2/n is no root at n = 0, where it is undefined; x = n is."""
    assert verify_root(Equation(sin(pi * x)), n).valid_when is None
    divided = sp.Mul(n**2, sp.Pow(n, -1), evaluate=False)
    assert verify_root(Equation(sin(pi * x)), divided)


# ---- Found by an attack on the first version of this ----


@pytest.mark.parametrize(
    "text, root",
    [
        ("(x^2-2)/LambertW(x^2-2) = 0", sqrt(2)),
        ("(x^2-a)/LambertW(x^2-a) = 0", sqrt(a)),
        ("log(LambertW(x^2-a))*0+x = sqrt(a)", sqrt(a)),
        ("sin(x)/LambertW(sin(x)) = 0", pi * n),
        ("sin(x)^2+cos(x)^2 = 1", atan(sqrt(-((a + pi) ** 2)) / (a + pi))),
        ("sin(x)^2+cos(x)^2 = 1", atan(I + sqrt(5 + 2 * sqrt(6)) - sqrt(2) - sqrt(3))),
    ],
)
def test_a_function_of_what_is_zero_is_a_divisor_like_any_other(text, root):
    assert verify_root(parse(text), root).status == "undefined"


@pytest.mark.parametrize(
    "text, family, k",
    [
        ("sin(x)/LambertW(x-4*pi) = 0", pi * n, 4),
        ("sin(x)^2+cos(x)^2 = 1", atan(n - 5 + I), 5),
    ],
)
def test_poles_inside_functions_are_exceptions(text, family, k):
    assert verify_root(parse(text), family).valid_when == Ne(n, k)


@pytest.mark.no_cover  # its time is measured
def test_roots_of_a_high_index_are_not_listed_one_by_one():
    start = time.process_time()
    huge = sp.Rational(1, 99999999)
    verify_root(parse("x*(a^(1/99999999)+1) = 1"), 1 / (a**huge + 1))
    assert time.process_time() - start < 1
