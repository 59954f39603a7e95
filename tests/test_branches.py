"""No step that says it keeps every root loses one on all of its branches; see tests/branches.py."""

import random
from collections import Counter
from dataclasses import replace

import mpmath
import pytest
from sympy import I, Symbol, pi

import train_ppo
from abel import parse
from abel.lost_roots import decides
from abel.operations import OPERATIONS, Taken
from abel.operations.forks import may_vanish
from abel.parse import parse_expression
from tests.branches import DIGITS, Case, attack, check_steps

CONFIG = train_ppo.parse_args(["--preset", "world"]).env
N = Symbol("n", integer=True)


def lost(text, op, root, **letters):
    """The actions of an operation that lose a root, and how many were tried."""
    cache, equation = CONFIG.new_cache(), parse(text)
    with mpmath.workdps(DIGITS):
        known = {Symbol(name): mpmath.mpf(value) for name, value in letters.items()}
        value = mpmath.mpmathify(complex(parse_expression(root).evalf()) if "I" in root else 0)
        value = value or mpmath.mpf(str(parse_expression(root).evalf(DIGITS)))
        case = Case(cache.form(equation.lhs, equation.rhs), known, [value])
        counts: Counter[str] = Counter()
        found = list(check_steps(case, cache, random.Random(1), counts, [op]))
    return [each.action for each in found], counts[op]


@pytest.mark.parametrize(
    ("text", "op", "root"),
    [
        # Divided by u, an equation in f(u) has no value at u = 0, where f(u) may be what it must.
        ("sin(sin(x + 1)) = 0", "div", "-1"),
        ("exp(x*(x - 2)) = 1", "div", "2"),
        ("atan(3 + sin(x)) = atan(3)", "div", "pi"),
        ("cos(sqrt(x - 5)) = 1", "div", "5"),
        ("cos(11*x) + cos(33*x) - 8*cos(22*x) = 0", "div", "pi/44"),
        # log(0) = log(0) says nothing.
        ("x*log(x) = 3*log(x)*sqrt(x + 1)", "log", "1"),
        ("-2*(x - 3)^2 = x*(x - 3)", "log", "3"),
        # tan(pi/2) = tan(pi/2) says nothing.
        ("asin(x) = acos(x - 1)", "tan", "1"),
        # log(x^2) = 2*log(x) is off by turns for negative x.
        ("x*log(2) = log(x^2)", "split-logs", "-2*LambertW(log(2)/2)/log(2)"),
        ("log(x^2) + 3*log(x*(x + 9)) = log(9) + 3*log(-18)", "split-logs", "-3"),
        ("log(x*(x + 3)) = log(4)", "split-logs", "-4"),
    ],
)
def test_these_roots_were_lost_and_are_listed(text, op, root):
    missing, tried = lost(text, op, root)
    assert tried and not missing


def test_a_root_that_no_branch_holds_is_noticed(monkeypatch):
    """The check must fail where a row is broken."""
    broken = replace(OPERATIONS["div"], forks=lambda step: [])
    monkeypatch.setitem(OPERATIONS, "div", broken)
    missing, _ = lost("sin(sin(x + 1)) = 0", "div", "-1")
    assert "div sin(x + 1)" in missing


@pytest.mark.parametrize(
    ("text", "term", "known"),
    [("x^3 - a*x = b", "x", True), ("sin(x)^2 = a*sin(x) + b", "sin(x)", True),
     ("sin(x) = a*x", "x", False), ("exp(x) = a*exp(2*x)", "x", False),
     ("x = sqrt(x + 6)", "x - 3", False), ("abs(x) = x*a", "x", False)],
)  # fmt: skip
def test_what_the_guard_of_divisions_can_know(text, term, known):
    equation = parse(text)
    assert decides(equation.lhs, equation.rhs, parse_expression(term)) is known


@pytest.mark.parametrize(
    ("term", "may"),
    [("4", False), ("1/x", False), ("exp(x)", False), ("a^x", False), ("x/exp(x)", True),
     ("sin(x)/x", True), ("sqrt(x)", True)],
)  # fmt: skip
def test_no_branch_is_followed_where_a_divisor_cannot_be_0(term, may):
    """Such a branch cost a root that was found before: too many were asked about."""
    assert may_vanish(parse_expression(term)) is may


@pytest.mark.parametrize(
    ("text", "rate", "keeps"),
    [("log(x^2)/2 + 3*log(x*(x + 1))/4 = a", "1/4", True), ("log(x^2)^2 = 1 + log(x*(x + 1))", "",
     False), ("a*log(x^2) = log(x*(x + 2))", "", False), ("log(x^2)^2 = a", "1", True)],
)  # fmt: skip
def test_split_logarithms_are_apart_by_a_multiple_of_the_least_turn(text, rate, keeps):
    row, equation = OPERATIONS["split-logs"], parse(text)
    lhs, rhs, _ = row.apply(equation.lhs, equation.rhs, None)
    step = Taken(equation.lhs, equation.rhs, rhs, None, N)
    assert row.keeps_roots(step) is keeps
    if keeps:
        principal, fork = row.forks(step)
        assert principal.rhs == rhs and not principal.note
        assert fork.note == f"plus {2 * parse_expression(rate) * I * pi * N}"


def test_no_root_is_lost_on_random_equations():
    assert [*map(str, attack(CONFIG, 3, 5, Counter()))] == []


@pytest.mark.slow
def test_no_root_is_lost_on_many_random_equations(times):
    counts: Counter[str] = Counter()
    assert [*map(str, attack(CONFIG, 40 * times, 1, counts))] == []
    assert sum(counts.values()) > 1200 and len(counts) > 20
