"""The lower real branch of Lambert's W: where it is the principal one's twin, and where it is not.

W(u, -1) is real for -1/e <= u < 0, where it is at most -1; it has no value at 0, and its cut is the
whole negative axis, whose points belong to the side above. The principal branch is cut beyond -1/e.
"""

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import acb, arb
from sympy import I, Integer, LambertW, Rational, exp, log, pi, sstr

import abel
from abel.encode import TOKENS, encode
from abel.env import SUPPLIED, WORLD, EnvConfig, look
from abel.equation import Equation, X, must_not_vanish, subterms
from abel.lost_roots import RootGuard
from abel.numeric import NOT_FINITE, values, wide_value
from abel.operations import OPERATIONS
from abel.operations.relabel import relabel
from abel.parse import ParseError, parse_expression
from abel.render.lines import Formula
from abel.render.printers import as_latex, as_mathml
from abel.rewrite import replace
from abel.roots.fallback import other_branch
from abel.roots.families import Root, without_turns
from abel.roots.follow import all_roots
from abel.roots.simplest import simplest
from abel.roots.values import ball_of_number
from abel.search import Solution
from abel.transforms import Relabel, unwind
from abel.transitions import State, advance, start_of
from abel.verify import Point, enclosure, verify_root
from abel.verify.proof import Tower
from abel.wild.script import play
from tests.latex import Reader

A, B = sp.symbols("a b")
TENTH = Rational(-1, 10)
EDGE = -exp(-1)


def lower(u: sp.Expr | int) -> sp.Expr:
    return LambertW(u, -1, evaluate=False)


def status(text: str, candidate: sp.Expr | str) -> str:
    return verify_root(abel.parse(text), candidate).status


def read(text: str) -> sp.Expr:
    return parse_expression(text)


# ---- Text ----


def test_the_branch_is_the_second_argument_and_0_is_the_principal_one():
    assert read("LambertW(x/2, -1)") == lower(X / 2) != read("LambertW(x/2)")
    assert read("LambertW(x, 0)") == LambertW(X)
    for wrong in ("1", "-2", "a", "x", "1/2", "-1.5"):
        with pytest.raises(ParseError, match="branch"):
            read(f"LambertW(x, {wrong})")
    for wrong in ("LambertW(x, -1, 2)", "LambertW(, -1)", "sin(x, -1)"):
        with pytest.raises(ParseError):
            read(wrong)


def test_it_is_printed_as_it_is_read():
    for text in ("LambertW(x, -1)", "2*LambertW(a*x + 1, -1)**2/b", "exp(LambertW(-x, -1))"):
        assert sstr(read(text)) == text and read(sstr(read(text))) == read(text)


def test_it_is_set_with_the_number_of_the_branch_at_the_foot():
    expr = A + 2 * lower(X / A)
    text = as_latex(Formula(expr))
    assert r"W_{-1}\left(" in text and sp.expand(Reader(text).relation()[0][0] - expr) == 0
    assert "<mn>−1</mn>" in as_mathml(Formula(expr))[0]


def test_it_has_no_value_at_0():
    with pytest.raises(ParseError, match="undefined"):
        read("LambertW(0, -1)")
    assert read("LambertW(0)") == 0
    equation = abel.parse("x + 0*LambertW(x - 1, -1) = 1")
    assert not verify_root(equation, 1) and verify_root(abel.parse("x + 0*LambertW(x - 1) = 1"), 1)
    assert X - 1 in must_not_vanish(lower(X - 1)) and not must_not_vanish(LambertW(X - 1))


# ---- Numbers ----

REAL = (-0.2, -0.36, -0.37, -0.5, -1e-9, 1.5)
POINTS = (*REAL, -0.2 + 1e-9j, -0.2 - 1e-9j, -3 + 2j, -3 - 2j, 4j, -4j)


@pytest.mark.parametrize("z", POINTS)
def test_all_evaluators_have_the_same_branch(z):
    u = Rational(str(complex(z).real)) + I * Rational(str(complex(z).imag))
    with mpmath.workdps(30):
        true = complex(mpmath.lambertw(mpmath.mpmathify(z), -1))
    ball = enclosure(lower(A), {A: u if u.is_Rational else acb(z)}, 256)
    assert abs(complex(float(ball.real), float(ball.imag)) - true) < 1e-12
    letter = abel.equation.Label("k", u)
    for value in (values(lower(letter))[0], complex(wide_value(lower(letter), 0))):
        assert abs(value - true) < 1e-8


def test_a_ball_across_the_cut_holds_both_sides():
    across = enclosure(lower(A), {A: acb(arb(-0.2), arb(0, 1e-30))}, 128)
    for side in (1, -1):
        there = enclosure(lower(A), {A: acb(arb(-0.2), arb(side) * arb(10) ** -40)}, 128)
        assert across.contains(there)
    assert enclosure(lower(A), {A: acb(0)}, 128) is None
    assert enclosure(lower(A), {A: acb(arb(0, 1e-9))}, 128) is None
    real = ball_of_number(lower(TENTH))
    assert real is not None and real.imag.is_zero() and real.real < -1


def test_next_to_the_edge_floats_have_a_value():
    for text in ("x = LambertW(-exp(-1) + 1/10^60)", "x = LambertW(-exp(-1) - 1/10^60, -1)"):
        assert abs(values(abel.parse(text).rhs)[0] + 1) < 1e-7


def test_samples_tell_it_from_the_principal_branch():
    assert values(lower(X)) is not NOT_FINITE and values(lower(X)) != values(LambertW(X))
    assert values(lower(abel.equation.Label("z", Integer(0)))) is NOT_FINITE
    assert abs(values(lower(X) * exp(lower(X)) - X)[0]) < 1e-12


# ---- The criterion ----

TRUE = (
    ("x*exp(x) = -1/10", lower(TENTH)), ("x*exp(x) = -1/10", LambertW(TENTH)),
    ("x*exp(x) = a", lower(A)), ("x*exp(x) = -3", lower(-3)), ("x*exp(x) = 2", lower(2)),
    ("exp(x) = 5*x", -lower(Rational(-1, 5))), ("LambertW(x, -1) = -2", -2 * exp(-2)),
    ("LambertW(x, -1) = -1", -exp(-1)), ("3^x = x^3", -3 * lower(-log(3) / 3) / log(3)),
    ("x = -3*LambertW(-log(3)/3, -1)/log(3)", Integer(3)),
    ("x = LambertW(-log(6)/6, -1)/log(6)", Integer(-1)),
    ("x = LambertW(-log(3/2)*8/9, -1)/log(3/2)", Integer(-3)),
    ("x = LambertW(-2*exp(-2), -1)", Integer(-2)),
    ("x = LambertW(-exp(-2)/2)", LambertW(-exp(-2) / 2)),
    ("2^x = x^2", Integer(4)), ("x = -2*LambertW(-log(2)/2, -1)/log(2)", Integer(4)),
    ("exp(LambertW(x, -1)) = x/LambertW(x, -1)", A),
    ("LambertW(x, -1)*exp(LambertW(x, -1)) = x", A),
    ("LambertW(x*exp(x), -1) = x", Integer(-3)), ("LambertW(x*exp(x)) = x", Integer(3)),
    ("x = log(-1/LambertW(-1/10, -1)/10)", lower(TENTH)),
)  # fmt: skip


@pytest.mark.parametrize("text, root", TRUE)
def test_what_is_a_root_on_this_branch_is_proved(text, root):
    assert status(text, root) == "proved"


FALSE = (
    ("x = LambertW(-log(3/2)*8/9, -1)/log(3/2)", -2),  # of the principal branch
    ("x = LambertW(-10*log(27/10)/27, -1)/log(27/10)", -1),  # to which the number is rounded
    ("LambertW(x, -1) = LambertW(x)", TENTH), ("LambertW(x, -1) = LambertW(x)", -3),
    ("LambertW(x, -1) = LambertW(x)", A), ("LambertW(x, -1) = LambertW(x)", 2),
    ("LambertW(x, -1) = LambertW(x)", EDGE + Rational(1, 10**40)),
    ("LambertW(x*exp(x), -1) = x", 3), ("LambertW(x*exp(x), -1) = x", Rational(-1, 2)),
    ("LambertW(x*exp(x), -1) = x", -1 + Rational(1, 10**30)),
    ("LambertW(x*exp(x)) = x", -1 - Rational(1, 10**30)), ("LambertW(x*exp(x)) = x", -3),
    ("LambertW(x, -1) = -1/2", -exp(Rational(-1, 2)) / 2), ("LambertW(x) = -2", -2 * exp(-2)),
    ("LambertW(x, -1) = 1", exp(1)), ("x = LambertW(-2*exp(-2))", -2),
    ("log(x) = LambertW(2, -1)", exp(lower(2))),
    ("log(x) = LambertW(-3, -1) + 2*pi*I", exp(lower(-3))),
    ("sqrt(x) = LambertW(-1/10, -1)", lower(TENTH) ** 2), ("x = 0*LambertW(x, -1)", 0),
    ("abs(x) = LambertW(-1/10, -1)", lower(TENTH)), ("1/LambertW(x, -1) = 0", 0),
    ("3*x + log(4*x) = 0", lower(Rational(3, 4)) / 3), ("LambertW(x, -1) = I*pi/2", -pi / 2),
    ("x*LambertW(x, -1) = 0", 0), ("LambertW(x, -1) - LambertW(x, -1) + x = 0", 0),
)  # fmt: skip


@pytest.mark.parametrize("text, root", FALSE)
def test_what_is_a_root_on_another_branch_only_is_not_proved(text, root):
    assert status(text, root) in ("refuted", "undefined")


def test_a_known_value_is_not_taken_from_the_principal_branch():
    """-10*log(27/10)/27 is n*log(b)*b**n for n = -1, but that is W's value on the other branch."""
    tower = Tower([], Point({}), 1, {})
    known, other = -log(3) / 3, -10 * log(Rational(27, 10)) / 27
    assert tower.lower_value(tower.convert(known)) == tower.convert(-log(3))
    assert tower.lower_value(tower.convert(other)) is None


def test_the_branches_meet_at_the_edge_and_nowhere_else():
    for text in ("LambertW(x, -1) = LambertW(x)", "LambertW(x, -1) = -1", "LambertW(x) = -1"):
        assert status(text, EDGE) != "refuted"
    for k in (3, 20, 80, 300):
        for side in (1, -1):
            near = EDGE + side * Rational(1, 10**k)
            assert status("LambertW(x, -1) = LambertW(x)", near) != "proved"
            assert status("LambertW(x, -1) = -1", near) != "proved"


def test_on_the_cut_the_values_are_those_from_above():
    # Below the axis the value is another one, though the points come as near as you like.
    for u in (Rational(-1, 5), Integer(-3)):
        assert status(f"x = LambertW({u}, -1)", lower(u)) == "proved"
        for k in (10, 60, 200):
            assert status(f"x = LambertW({u}, -1)", lower(u - I / Integer(10) ** k)) == "refuted"
    assert status("x = LambertW(-pi/2, -1)", -I * pi / 2) == "proved"
    assert status("x = LambertW(-pi/2, -1)", I * pi / 2) == "refuted"
    assert status("x = LambertW(-pi/2)", I * pi / 2) == "proved"


@pytest.mark.parametrize("text, root, at, there", [
    ("LambertW(x*exp(x), -1) = x", A, -3, True), ("LambertW(x*exp(x), -1) = x", A, 3, False),
    ("LambertW(x*exp(x), -1) = x", A, Rational(-1, 2), False),
    ("LambertW(x*exp(x)) = x", A, -3, False), ("LambertW(x*exp(x)) = x", A, 3, True),
    ("LambertW(x, -1) = a", A * exp(A), -2, True), ("LambertW(x, -1) = a", A * exp(A), 2, False),
    ("LambertW(x, -1) = a", A * exp(A), Rational(-1, 3), False),
    ("log(x) = LambertW(a, -1)", exp(lower(A)), TENTH, True),
    ("log(x) = LambertW(a, -1)", exp(lower(A)), -3, None),
    ("log(x) = LambertW(a, -1)", exp(lower(A)), 3, False),
    ("x*log(x) = a", exp(lower(A)), TENTH, True), ("x*log(x) = a", exp(lower(A)), 2, False),
    ("sqrt(x) = -LambertW(a, -1)", lower(A) ** 2, TENTH, True),
    ("abs(x) = -LambertW(a, -1)", lower(A), TENTH, True),
    ("abs(x) = -LambertW(a, -1)", lower(A), 2, False),
    ("sqrt(x^2) = -x", lower(A), TENTH, True),
])  # fmt: skip
def test_conditions_say_where_it_is_real_and_at_most_minus_1(text, root, at, there):
    from abel.audit.judge import covers

    verdict = verify_root(abel.parse(text), root)
    held = bool(verdict) and covers(verdict.valid_when, {A: sp.sympify(at)})
    assert there is None or bool(held) is there, verdict


def test_a_letter_at_which_it_has_no_value_is_left_out_of_a_family():
    n = sp.Symbol("n", integer=True)
    verdict = verify_root(abel.parse("sin(x)*LambertW(x - 3*pi, -1) = 0"), pi * n)
    assert not verdict or verdict.valid_when.subs(n, 3) == sp.false


# ---- Steps and what the network sees ----


def test_the_branch_is_neither_a_term_nor_a_constant_to_rename():
    expr = read("b*LambertW(a*x, -1) + c")
    assert not {Integer(-1)} & {*subterms(expr, False), *subterms(expr, True)}
    lhs, rhs, named = relabel(expr, Integer(0))
    assert isinstance(named, Relabel) and lhs.atoms(LambertW).pop().args[1] == -1
    assert named.unwind(lhs) == expr


def test_the_network_sees_the_branch():
    trees = [
        encode(read(text), Integer(0), "repeats") for text in ("LambertW(x)", "LambertW(x, -1)")
    ]
    assert [len(tree.tokens) for tree in trees] == [4, 5]
    assert TOKENS[trees[1].tokens[3]] == "-1" and not np.array_equal(
        trees[0].tokens, trees[1].tokens
    )


def test_a_substitution_keeps_the_branch():
    inner = replace(read("LambertW(x, -1) + LambertW(x)"), {X: A * X})
    assert inner == lower(A * X) + LambertW(A * X)
    assert replace(lower(X), {X: Integer(0)}) is sp.S.NegativeInfinity


def test_no_root_is_divided_away():
    guard = RootGuard(read("x*LambertW(x, -1) - LambertW(x, -1)"), Integer(0))
    assert guard.loses(X - 1, inverse=True)
    assert guard.loses(read("LambertW(x, -1)"), inverse=True)
    assert not RootGuard(read("x*LambertW(x, -1)"), A).loses(read("LambertW(x)"), inverse=True)


def test_it_is_undone_like_the_principal_branch():
    lhs, rhs, _ = OPERATIONS["undo-lambert"].apply(lower(2 * X), A, None)
    assert (lhs, rhs) == (2 * X, A * exp(A))


# ---- Both real roots ----

ROWS = EnvConfig(
    substitutions="general", terms="blocks", max_steps=30, **SUPPLIED, **{**WORLD, "max_changes": 8}
)


def played(text: str, steps: tuple[str, ...] = ()) -> tuple[Solution, list[Root]]:
    """The solution that these steps give, or the script's; and the roots that its branches give."""
    cache, equation = ROWS.new_cache(), abel.parse(text)

    def decode(equation: Equation, state: State) -> Solution:
        path = []
        for name in steps:
            observation = look(state, ROWS, cache)
            legal = [str(action) for action in observation.actions]
            if name not in legal:  # on another branch than the one that was scripted
                return Solution(equation, False, None, None, tuple(path), len(path))
            index = legal.index(name)
            path.append((observation, index, state.form, None))
            state, _ = advance(state, observation.actions[index], cache)
        root = unwind(state.stack, state.rhs) if state.form.solved_form else None
        verdict = None if root is None else cache.verdict(equation, root)
        return Solution(equation, bool(verdict), root, verdict, tuple(path), len(path))

    solution = decode(equation, start_of(equation, cache)) if steps else play(equation)
    return solution, list(all_roots(solution, decode, ROWS, cache).found)


LOGS = ("log", "split-logs")


@pytest.mark.parametrize("text, steps, numbers", [
    ("x*exp(x) = -0.1", (), (-0.11183255915896297, -3.577152063957297)),
    ("exp(x) = 5*x", (), (0.2591711018190738, 2.5426413577735265)),
    ("exp(x) = 5*x", ("log", "sub x", "exp", "lambert"), (0.25917110, 2.54264136)),
    ("2^x = x^2", (), (2, 4)),
    ("x*log(x) = -1/4", (), (0.69947, 0.11615)),
    ("x^(2/x) = 2", (*LOGS, "let log(x)", "lambert", "exp"), (2, 4)),
    ("3*x + log(4*x) = 0", (), (0.15638,)),  # the other one is on another branch of log
    ("3*x - log(4*x) = 0", (), ()),
])  # fmt: skip
def test_all_real_roots_are_found_and_proved(text, steps, numbers):
    solution, roots = played(text, steps)
    balls = [ball_of_number(root.value) for root in roots if root.proved]
    real = sorted(float(ball.real) for ball in balls if ball is not None and ball.imag.is_zero())
    assert solution.solved and real == pytest.approx(sorted(numbers), abs=1e-4)
    assert all(root.valid_when is None for root in roots)


def test_both_branches_are_roots_for_a_letter():
    _, roots = played("x*exp(2*x) = a", ("lambert",))
    assert {root.value for root in roots} == {LambertW(2 * A) / 2, lower(2 * A) / 2}
    assert [root.how for root in roots][1][0].endswith("on the branch -1 of LambertW")


def test_whole_turns_make_no_family():
    n = sp.Symbol("n", integer=True)
    turn = exp(2 * pi * I * n, evaluate=False)
    assert without_turns(LambertW(turn / 5)) == LambertW(Rational(1, 5))
    assert without_turns(exp(A - 4 * pi * I * n, evaluate=False)) == exp(A)
    for kept in (exp(pi * I * n, evaluate=False), exp(n, evaluate=False), pi * n):
        assert without_turns(kept).free_symbols == {n}


def test_the_other_branch_is_followed_where_the_principal_one_gives_no_root():
    text = "x*exp(x) + 0*log(x - LambertW(-1/10)) = -1/10"
    cache, equation = ROWS.new_cache(), abel.parse(text)
    start = start_of(equation, cache)
    observation = look(start, ROWS, cache)
    index = [action.op for action in observation.actions].index("lambert")
    failed = Solution(equation, False, None, None, ((observation, index, start.form, None),), 1)
    branch = other_branch(failed, lambda *_: failed, ROWS, cache)
    assert branch is not None and branch.verdict and branch.root == lower(TENTH)


def test_a_value_on_this_branch_is_shown_in_its_simplest_form():
    equation = abel.parse("2^x = x^2")
    for root in (exp(-lower(-log(2) / 2)), -2 * lower(-log(2) / 2) / log(2)):
        assert simplest(equation, root) == 4
    assert simplest(abel.parse("x*exp(x) = -1/10"), lower(TENTH)) == lower(TENTH)
