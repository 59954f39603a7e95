"""No root twice: families within others, equal numbers in disguise, and nothing lost by it."""

import random
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import sympy as sp
from sympy import (
    And,
    I,
    Integer,
    Mod,
    Ne,
    Or,
    Rational,
    Symbol,
    acos,
    asin,
    atan,
    log,
    pi,
    sqrt,
    tan,
)

from abel import parse
from abel.equation import X
from abel.roots.families import Root, exceptions_of, implies, is_within, line_of, ratio_of
from abel.roots.merging import NO_PROOF, Samples, gives, is_analytic, is_only_root, merged
from abel.verify.balls import enclosure
from tests.test_roots import DETECTOR, GENERAL, solve

A, B = Symbol("a"), Symbol("b")
N, M = Symbol("n", integer=True), Symbol("m", integer=True)


HALF_PI = 2 * atan(sqrt(sqrt(17) + 4) * sqrt(sqrt(17) - 4))  # pi/2 in disguise


def family(value, condition=None, proved_at=None):
    status = "proved" if proved_at is None else "proved for some n"
    return Root(sp.sympify(value), status, condition, (), proved_at)


# ---- Arithmetic on integers ----


def test_a_family_is_a_line_if_n_is_linear_in_it():
    assert line_of(family(2 * pi * (N + 1) + log(A))) == (2 * pi, 2 * pi + log(A))
    assert line_of(family((pi * N + A) / B)) == (pi / B, A / B)
    assert line_of(family(sqrt(2))) == (0, sqrt(2))
    for value in (pi**2 * N**2, log(N), pi * N * M, pi * N + M, (-1) ** N):
        assert line_of(family(value)) is None


def test_ratios_are_rational_or_none():
    assert ratio_of(2 * pi * I, 3 * pi * I) == Fraction(2, 3)
    assert ratio_of(pi / (A + B), 2 * pi / (2 * A + 2 * B)) == 1
    assert ratio_of(pi, Integer(2)) is None and ratio_of(pi / A, pi / B) is None


def test_conditions_are_taken_apart():
    condition = And(A >= 0, Ne(N, 4), Ne(Mod(N, 3), 1), B < 0)
    assert exceptions_of(family(N, condition)) == (And(A >= 0, B < 0), {4}, {(3, 1)})
    assert exceptions_of(family(N)) == (None, set(), set())
    for other in (Or(A >= 0, Ne(N, 4)), Ne(N, A), N > 3):
        assert exceptions_of(family(N, other)) is None


def test_what_follows_from_a_condition():
    assert (
        implies(A > 0, A >= 0) and implies(A > 0, Ne(A, 0)) and implies(And(A >= 0, B > 0), B > 0)
    )
    assert implies(None, None) and implies(A > 0, None) and implies(A > 0, A > 0)
    assert not implies(None, A > 0) and not implies(A >= 0, A > 0) and not implies(A >= 0, B >= 0)


CONDITIONS = (
    None, Ne(N, 0), Ne(N, 4), Ne(N, -3), And(Ne(N, 1), Ne(N, 2)), Ne(Mod(N, 2), 0),
    Ne(Mod(N, 4), 2), And(Ne(Mod(N, 3), 0), Ne(N, 5)), And(Ne(Mod(N, 2), 0), Ne(Mod(N, 3), 1)),
)  # fmt: skip


def members(root, ratio, start, reach):
    """The claimed numbers ratio*n + start, n in -reach..reach, tried one by one."""
    return {
        ratio * n + start
        for n in range(-reach, reach + 1)
        if root.is_claimed((n,) if root.integers else (), {})
    }


def test_inclusion_agrees_with_trying_members_one_by_one():
    rng = random.Random(3)
    outcomes = []
    for _ in range(150):
        inner, outer = (family(N, rng.choice(CONDITIONS)) for _ in range(2))
        if rng.random() < 0.2:
            inner = family(N, None, tuple((n,) for n in rng.sample(range(-4, 5), 3)))
        ratio = Fraction(rng.choice((-3, -2, -1, 1, 2, 3, 4)), rng.choice((1, 1, 1, 2)))
        start = Fraction(rng.randrange(-6, 7), rng.choice((1, 1, 2)))
        expected = members(inner, ratio, start, 14) <= members(outer, 1, 0, 70)
        assert is_within(inner, outer, ratio, start) is expected, (inner, outer, ratio, start)
        outcomes.append(expected)
    assert 20 < sum(outcomes) < 130


# ---- Equal for certain ----


@pytest.mark.parametrize(
    "text, first, second, equal",
    [
        ("sin(x)*cos(x) = 0", HALF_PI, pi / 2, True),
        ("cos(x) = 0", HALF_PI, pi / 2, True),
        ("sin(x) = 1", HALF_PI, pi / 2, True),  # a double root: by the derivative
        ("log(1 + cos(x)) = 0", HALF_PI, pi / 2, True),
        ("log(-1 - cos(x)) = I*pi", HALF_PI, pi / 2, False),  # on a cut
        ("cos(x) = 0", pi / 2, 3 * pi / 2, False),
        ("cos(x) = 0", pi / 2, pi / 2 + Rational(1, 10**60), False),
        ("(x - 1)*(x - 1 - 10^(-60)) = 0", Integer(1), 1 + Rational(1, 10**60), False),
        ("(x - 1)*(x - 1 - 10^(-99)) = 0", Integer(1), 1 + Rational(1, 10**99), False),
        ("(x - 1)*(x - 1 - 1/10^65/10^65) = 0", Integer(1), 1 + Rational(1, 10**130), False),
        ("x^4 = 0", Integer(0), sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1, False),  # fourfold
        ("x^2 = 0", Integer(0), sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1, True),
    ],
)
def test_two_roots_are_one_if_a_ball_holds_one_only(text, first, second, equal):
    assert is_only_root(parse(text), first, second) is equal


@pytest.mark.parametrize(
    "expr, number, analytic",
    [
        (log(X), -1, False),
        (log(X), 1, True),
        (sqrt(X), -2, False),
        (sqrt(X), 2 * I, True),
        (asin(X), 2, False),
        (acos(X), Rational(1, 2), True),
        (atan(X), 2 * I, False),
        (atan(X), 2, True),
        (1 / X, 0, False),
        (tan(X), pi / 2, False),
        (2**X + (-2) ** X, 0, True),
        (sp.LambertW(X), 1, False),  # not known to be
    ],
)
def test_where_a_function_is_analytic(expr, number, analytic):
    point = enclosure(sp.sympify(number), {}, 100)
    around = point + enclosure(asin(X) - asin(X), {X: Rational(1, 3)}, 100)  # a ball around it
    assert is_analytic(expr, around) is analytic


# ---- Listed once ----


def test_sin_times_cos_has_two_families():
    """Through tan(x/2) they come in disguise: atan of roots of roots of -1."""
    equation = parse("sin(x)*cos(x) = 0")
    root = sqrt((-1) ** Rational(1, 3))
    disguised = 2 * atan(sqrt(3) / (3 * root) + sqrt(3) * root / 3)
    first, second = family(pi * N + pi / 2), family(pi * N)
    others = [family(disguised), family(disguised + 2 * pi * N), family(-disguised + 2 * pi * N)]
    assert merged(equation, [others[0], first, second, *others[1:]]) == (first, second)


@pytest.mark.parametrize(
    "text, kept, dropped",
    [
        ("sin(x) = 0", pi * N, 2 * pi * N),
        ("sin(x) = 0", pi * N, pi * N + 3 * pi),
        ("sin(x) = 0", pi * N, -pi * N),
        ("sin(x) = 0", pi * N, 6 * pi * N - 100 * pi),  # past every window of numbers
        ("sin(x) = 0", pi * N, 1000 * pi),
        ("sin(x) = a", asin(A) + 2 * pi * N, asin(A) - 4 * pi * N + 2 * pi),
        ("exp(b*x) = a", (log(A) + 2 * pi * I * N) / B, log(A) / B + 4 * pi * I * (N + 50) / B),
        ("cos(x) = 1/2", pi / 3 + 2 * pi * N, acos(Rational(1, 2)) + 2 * pi),
        ("x^2 = 2", sqrt(2), 2 / sqrt(2) + 0),
        ("x^2 = 5 + 2*sqrt(6)", sqrt(5 + 2 * sqrt(6)), sqrt(2) + sqrt(3)),
    ],
)
def test_what_another_one_has_goes(text, kept, dropped):
    equation = parse(text)
    if kept != dropped:
        roots = [family(kept), family(dropped)]
        left = merged(equation, roots)
        assert len(left) == 1 and NO_PROOF not in left[0].how
        assert left == (roots[0],) or not roots[0].integers


@pytest.mark.parametrize(
    "text, first, second",
    [
        ("sin(x) = 0", family(pi * N, Ne(N, 4)), family(4 * pi)),
        ("sin(x) = 0", family(pi * N, Ne(N, 4)), family(2 * pi * N)),
        ("sin(x) = 0", family(2 * pi * N), family(2 * pi * N + pi)),
        ("sin(x) = 0", family(pi * N, None, ((0,), (1,))), family(3 * pi)),
        ("sin(x) = 0", family(pi * N, Ne(Mod(N, 4), 0)), family(2 * pi * N)),
        ("sin(x)*sin(pi*x) = 0", family(pi * N), family(Integer(1) * N)),
        ("x^2 = a", family(sqrt(A), A >= 0), family(sqrt(A))),
    ],
)
def test_what_no_other_one_has_stays(text, first, second):
    samples = Samples(parse(text))
    assert not gives(first, second, samples)
    assert second in merged(parse(text), [first, second])


def test_single_roots_in_disguise_are_one():
    equation = parse("cos(x) = 0")
    assert merged(equation, [family(HALF_PI), family(pi / 2)]) == (family(pi / 2),)


def test_an_exception_may_be_outside_of_what_is_included():
    equation = parse("sin(x) = 0")
    odd = family(2 * pi * N + pi)
    for condition in (Ne(N, 4), Ne(Mod(N, 4), 0), And(Ne(N, 0), Ne(N, 2))):
        wide = family(pi * N, condition)
        assert merged(equation, [odd, wide]) == (wide,)
    narrow = family(2 * pi * N, Ne(N, 2))
    assert merged(equation, [narrow, family(pi * N, Ne(N, 4))]) == (family(pi * N, Ne(N, 4)),)


def test_an_unproven_root_hides_no_proved_one():
    equation = parse("sin(x) = 0")
    unproven, proved = Root(pi * N, "unproven"), family(2 * pi * N)
    assert merged(equation, [unproven, proved]) == (unproven, proved)
    assert merged(equation, [Root(4 * pi * N, "unproven"), proved]) == (proved,)


def test_random_lists_keep_every_number_and_no_family_twice():
    """Multiples of pi/12, as families of all kinds: checked by fractions."""
    rng = random.Random(5)
    equation = parse("sin(12*x) = 0")
    for _ in range(25):
        roots = []
        for _ in range(rng.randrange(2, 7)):
            step = Rational(rng.choice((0, 1, 2, 3, 4, 6, 12, 24, -2)), 12)
            roots.append(family(pi * (step * N + Rational(rng.randrange(-30, 31), 12))))
        roots = list(dict.fromkeys(roots))
        left = merged(equation, roots)
        assert numbers_in(left, 8) == numbers_in(roots, 8)
        for one, other in permutations(left, 2):
            assert not numbers_in([one], 40) <= numbers_in([other], 80), (one, other)


def numbers_in(roots, reach):
    """Twelfths of pi in the roots, up to a size."""
    found = set()
    for root in roots:
        alpha, beta = (int(12 * part / pi) for part in line_of(root))
        found |= {alpha * n + beta for n in range(-800, 801)} if alpha else {beta}
    return {number for number in found if abs(number) <= 12 * reach}


# ---- Products with known roots ----


FACTORS = {  # a factor: where it is 0 on the real axis, for a count by changes of sign
    "sin({k}*x)": lambda k, x: np.sin(k * x),
    "cos({k}*x)": lambda k, x: np.cos(k * x),
    "(sin({k}*x) - 1/2)": lambda k, x: np.sin(k * x) - 0.5,
    "(2*cos({k}*x) + 1)": lambda k, x: 2 * np.cos(k * x) + 1,
    "(exp({k}*I*x) - 1)": lambda k, x: np.sin(k * x / 2),
    "(exp(2*{k}*I*x) + 1)": lambda k, x: np.cos(k * x),
}


def count_by_signs(parts, reach):
    """Real zeros in (-reach, reach), each once, by changes of sign on a grid."""
    grid = np.linspace(-reach, reach, 200_001)
    found: list[float] = []
    for name, k in parts:
        values = FACTORS[name](k, grid)
        found += list(grid[:-1][np.sign(values[:-1]) != np.sign(values[1:])])
    found.sort()
    return sum(b - a > 1e-3 for a, b in zip([-np.inf, *found], found))


@pytest.mark.parametrize("seed", range(14))
def test_products_of_functions_have_each_family_once_and_all_numbers(seed):
    rng = random.Random(seed)
    names = rng.sample(sorted(FACTORS), 2)
    parts = [(name, rng.choice((1, 2, 3))) for name in names]
    text = "*".join(name.format(k=k) for name, k in parts) + " = 0"
    _, roots = solve(text, rng.choice((DETECTOR, GENERAL)))
    for one, other in permutations(roots.found, 2):
        assert not gives(one, other, Samples(parse(text))), (text, one, other)
        assert NO_PROOF not in one.how
    reach = 5.3
    numbers: list[complex] = []
    for root in roots.found:
        assert root.status == "proved" and root.valid_when is None
        for n in range(-40, 41) if root.integers else [0]:
            value = complex(root.value.subs(N, n))
            if abs(value) < reach and all(abs(value - other) > 1e-6 for other in numbers):
                numbers.append(value)
    assert len(numbers) == count_by_signs(parts, reach), (text, [r.value for r in roots.found])
