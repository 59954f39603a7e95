"""All roots: hand-worked equations, played by scripts where a trained policy would be asked."""

import json
from dataclasses import replace as replaced

import pytest
from sympy import (
    And,
    Ge,
    I,
    Integer,
    Mod,
    Ne,
    Or,
    Symbol,
    asin,
    atan,
    cos,
    exp,
    log,
    pi,
    sin,
    sqrt,
    zeta,
)

from abel import EnvConfig, parse, verify_root
from abel.datasets import Problem, textbook
from abel.env import SUPPLIED, look
from abel.equation import Equation, X
from abel.operations import OPERATIONS, Taken, factors, out_of_reach
from abel.operations.ansatz import forms
from abel.operations.forks import every_value
from abel.report.sets import SolutionSet, show, summary
from abel.report.tables import completeness, layout
from abel.roots import Check, check_roots
from abel.roots.families import Root
from abel.roots.follow import SMALL, Roots, all_roots, judge
from abel.roots.merging import distinct_roots, merged
from abel.search import Solution
from abel.search.oracle import REACH, SetAnswer, ask_set, compared_points, window
from abel.transforms import Substitute, unwind
from abel.transitions import advance, start_of
from abel.verify import Verdict, is_identity

A, B = Symbol("a"), Symbol("b")
N, M = Symbol("n", integer=True), Symbol("m", integer=True)
DETECTOR = EnvConfig(max_steps=30)
BRANCHES = EnvConfig(max_steps=30, branches=True)
GENERAL = EnvConfig(substitutions="general", terms="blocks", max_steps=30, **SUPPLIED)


def script(config, cache, proposals):
    """A decoder that plays the actions `first` names, then those that a script proposes."""

    def decode(equation, state, first=()):
        path, tried, names = [], set(), list(first)
        while not state.form.solved_form and len(path) < config.max_steps:
            observation = look(state, config, cache)
            legal = {action: index for index, action in enumerate(observation.actions)}
            wanted = [a for a in legal if names and str(a) == names[0]]
            wanted = wanted or proposals(state.form.lhs, state.form.rhs)
            action = next((a for a in wanted if a in legal and (state.key, a) not in tried), None)
            if action is None:
                break
            names = names[1:]
            tried.add((state.key, action))
            state, transform = advance(state, action, cache)
            path.append((observation, legal[action], state.form, transform))
        root = unwind(state.stack, state.form.rhs) if state.form.solved_form else None
        verdict = None if root is None else cache.verdict(equation, root)
        found = (bool(verdict), root, verdict) if verdict else (False, None, None)
        return Solution(equation, *found, tuple(path), len(path))

    return decode


def solve(text, config=DETECTOR, first=()):
    general = config.substitutions == "general"
    proposals = textbook.general_proposals if general else textbook.proposals
    cache = config.new_cache()
    decode = script(config, cache, proposals)
    solution = decode(parse(text), start_of(parse(text), cache), first)
    return solution, all_roots(solution, decode, config, cache)


def is_set(roots, *expected):
    """Whether the values are these, in any order, each once."""
    left = [root.value for root in roots.found]
    for value in expected:
        same = [v for v in left if is_identity(v - value)]
        if len(same) != 1:
            return False
        left.remove(same[0])
    return not left


# ---- Hand-worked equations ----


def test_both_square_roots():
    solution, roots = solve("x^2 = a")
    assert solution.solved and is_set(roots, sqrt(A), -sqrt(A)) and roots.every_branch
    assert [root.how for root in roots.found] == [
        (), ("x^2 = a: take the square root, times -1",),
    ]  # fmt: skip
    assert distinct_roots(parse("x^2 = a")) == 2


def test_both_roots_of_a_quadratic():
    _, roots = solve("a*x^2 + b*x + c = 0")
    c, d = Symbol("c"), sqrt((-Symbol("c") + B**2 / (4 * A)) / A)
    assert c in d.free_symbols and is_set(roots, d - B / (2 * A), -d - B / (2 * A))


def test_the_complex_cube_roots():
    _, roots = solve("x^3 = a")
    third = A ** (Integer(1) / 3)
    unit = Integer(-1) / 2 + sqrt(3) * I / 2
    assert is_set(roots, third, third * unit, third * unit.conjugate())
    assert all(root.status == "proved" for root in roots.found)


def test_fourth_roots_by_two_square_roots():
    _, roots = solve("x^4 = a")
    root = sqrt(sqrt(A))
    assert len(roots.found) == 4 and is_set(roots, root, -root, sqrt(-sqrt(A)), -sqrt(-sqrt(A)))


def test_the_angles_of_a_sine_for_all_integers():
    _, roots = solve("sin(x) = a")
    assert is_set(roots, asin(A) + 2 * pi * N, pi - asin(A) + 2 * pi * N)
    assert all(root.integers == (N,) and root.status == "proved" for root in roots.found)


def test_zeros_of_a_sine_are_one_family():
    _, roots = solve("sin(x) = 0")
    assert is_set(roots, pi * N) and roots.found[0].valid_when is None


def test_the_angles_of_a_cosine():
    _, roots = solve("cos(2*x) = 1/2")
    assert is_set(roots, pi / 6 + pi * N, -pi / 6 + pi * N)


def test_the_logarithms():
    _, roots = solve("exp(x) = a")
    assert is_set(roots, log(A) + 2 * pi * I * N)


def test_an_exponential_equation_through_a_change_of_variables():
    """x := log(x) gives one logarithm of each of two numbers; the others are as good."""
    _, roots = solve("a*exp(x) + b*exp(-x) = 0")
    assert all(root.integers == (N,) for root in roots.found)
    values = [root.value.subs(N, 0) for root in roots.found]
    assert all(verify_root(parse("a*exp(x) + b*exp(-x) = 0"), value) for value in values)


def test_every_root_in_u_gives_an_equation_in_x():
    """u = exp(x) from the roots of u^2 + a*u + b: two families."""
    _, roots = solve("exp(2*x) + a*exp(x) + b = 0", GENERAL)
    inner = sqrt(-B + A**2 / 4)
    assert is_set(roots, log(inner - A / 2) + 2 * pi * I * N, log(-inner - A / 2) + 2 * pi * I * N)


def test_a_biquadratic_has_four_roots():
    solution, roots = solve("x^4 + a*x^2 + b = 0", GENERAL)
    inner = sqrt(-B + A**2 / 4)
    assert any(action.op == "let" for o, i, *_ in solution.path for action in [o.actions[i]])
    assert is_set(
        roots, sqrt(inner - A / 2), -sqrt(inner - A / 2),
        sqrt(-inner - A / 2), -sqrt(-inner - A / 2),
    )  # fmt: skip


@pytest.mark.slow
def test_the_three_roots_of_a_cubic_are_found_once():
    """Vieta's substitution gives each of them twice."""
    _, roots = solve("x^3 + a*x + b = 0", GENERAL)
    numbers = {str(root.value.subs({A: 1.3, B: 0.7}).evalf(8)) for root in roots.found}
    assert len(roots.found) + len(roots.unproven) == 3 and len(numbers) == len(roots.found)


@pytest.mark.slow
def test_a_generic_quartic_has_four_roots_two_for_each_factor():
    """Each of the three roots of the resolvent leads to all four."""
    config = replaced(GENERAL, resolvent=True, max_changes=8)
    _, roots = solve("x^4 + a*x^2 + b*x + c = 0", config)
    assert len(roots.found) == 4 and roots.every_branch and not roots.unproven
    assert all(root.valid_when is None for root in roots.found)
    assert sum("with -sqrt(u)" in " ".join(root.how) for root in roots.found) == 2


def test_factors_are_branches_and_the_simple_roots_stay():
    """The first root, (a + b + sqrt((a - b)^2))/2, is a or b: it is no third root."""
    solution, roots = solve("(x - a)*(x - b) = 0")
    assert solution.solved and solution.root not in (A, B)
    assert is_set(roots, A, B)
    assert roots.found[0].how == ("(x - a)*(x - b) = 0: x - a = 0",)


def test_factors_help_where_no_first_root_was_found():
    solution, roots = solve("x*(x^2 + a) = 0")
    assert not solution.solved and is_set(roots, Integer(0), sqrt(-A), -sqrt(-A))
    assert roots.every_branch


def test_a_root_that_squaring_brought_in_is_dropped():
    """x = (a - x)^2 has two roots; sqrt(x) = a - x has the smaller one, for a >= 0."""
    solution, roots = solve("sqrt(x) = a - x", first=["square"])
    assert len(roots.found) == 1 and roots.refuted == 1 and not solution.solved
    assert is_set(roots, A + Integer(1) / 2 - sqrt(4 * A + 1) / 2) or roots.found[0].valid_when


def test_one_root_only():
    _, roots = solve("a*x + b = 0")
    assert is_set(roots, -B / A) and roots.every_branch and not roots.unproven
    assert roots.to_text() == "1 root\nx = -b/a   (proved)"


def test_a_condition_stays_with_its_root():
    _, roots = solve("sqrt(x) + b = 0")
    assert is_set(roots, B**2) and str(roots.found[0].valid_when) == "b <= 0"


def test_branches_reach_roots_that_principal_values_miss():
    """asin(0) = 0 leads nowhere: sqrt(exp(x)) is pi*n, and n = 0 is no root."""
    solution, roots = solve("sin(sqrt(exp(x))) = 0", BRANCHES, ["branch"])
    assert solution.root == log(pi**2)
    assert is_set(roots, log(pi**2 * N**2) + 2 * pi * I * M)
    assert "n != 0" in roots.found[0].to_text() and "all integers n, m" in roots.found[0].to_text()


def test_steps_that_led_nowhere_are_not_repeated_on_a_branch():
    """The policy is asked where the branches begin, at 2*x = ..., not after more of the same."""
    equation, cache, asked = parse("sin(2*x) = a"), DETECTOR.new_cache(), []
    decode = script(DETECTOR, cache, textbook.proposals)
    path = decode(equation, start_of(equation, cache), ["asin", "exp", "sin", "exp"]).path
    failed = Solution(equation, False, None, None, path[:4], 4)

    def ask(equation, state):
        asked.append(str(state.form.lhs))
        return decode(equation, state)

    roots = all_roots(failed, ask, DETECTOR, cache)
    assert asked == ["2*x", "2*x"] and len(path) > 4
    assert is_set(roots, asin(A) / 2 + pi * N, pi / 2 - asin(A) / 2 + pi * N)


def test_the_integer_has_a_name_of_its_own():
    _, roots = solve("n*exp(x) = m")
    assert [symbol.name for symbol in roots.found[0].integers] == ["k"]
    assert roots.found[0].to_data()["root"] == "2*I*pi*k + log(m/n)"


# ---- Branches ----


def forks(op, *step):
    return OPERATIONS[op].forks(Taken(*step))


def test_a_step_that_loses_nothing_has_no_branches():
    n = N
    assert forks("sqrt", X + 1, A, sqrt(A), None, n) == []
    assert forks("sqrt", X**2, Integer(0), Integer(0), None, n) == []
    assert forks("log", X, A, log(A), None, n) == []
    assert forks("asin", X, A, asin(A), None, n) == []
    assert forks("sub", X + A, B, B - A, None, n) == []


def test_every_branch_of_a_step_holds():
    """sin of every branch of asin(a) is a, and so on."""
    for op, function, inverse in (("asin", sin, asin(A)), ("log", exp, log(A))):
        for branch in forks(op, function(X), A, inverse, None, N):
            assert verify_root(Equation(function(X), A), branch.rhs)


def test_equal_angles_on_both_sides():
    """cos(x) = cos(b) is x = b + 2*pi*n or x = -b + 2*pi*n."""
    found = {fork.rhs for fork in forks("acos", cos(X), cos(B), B, None, N)}
    assert found == {B + 2 * pi * N, -B + 2 * pi * N}


def test_undoing_a_sine_on_the_other_branch_has_all_of_them():
    principal = forks("asin", sin(X), A, asin(A), None, N)
    others = forks("branch", sin(X), A, pi - asin(A), None, N)
    assert others == [fork._replace(op="asin") for fork in principal]
    _, roots = solve("cos(x) = 0", BRANCHES, ["branch"])
    assert is_set(roots, pi / 2 + pi * N)


def test_every_operation_keeps_all_roots_or_is_known_not_to():
    losing = {name for name, row in OPERATIONS.items() if not row.keeps}
    derived = {f"put {form}" for form in forms(3) if form.i is None or form.i < 0 == form.j}
    guesses = {"match-power", "abs plus", "abs minus"}
    assert losing == {"lambert", "tan-half"} | guesses | derived


def test_a_substitution_takes_every_logarithm():
    assert every_value(log(X) / A, N) == (log(X) + 2 * pi * I * N) / A
    assert every_value(X - A, N) == X - A


def test_which_steps_may_lose_a_root_on_all_branches():
    assert not out_of_reach(Substitute(log(X) / A)) and not out_of_reach(Substitute(X - A))
    assert not out_of_reach(Substitute(X + A / X)) and not out_of_reach(None)
    assert out_of_reach(Substitute(2 * atan(X)))
    assert out_of_reach(Substitute(sqrt(X))) and out_of_reach(Substitute(exp(X)))


def test_factors_of_a_product():
    assert factors(A * X * (X + A) ** 2, Integer(0)) == [X, X + A]
    assert factors(X * exp(X), Integer(0)) == []  # one factor that can vanish
    assert factors((X - A) / (X + A), Integer(0)) == []
    assert factors(X * (X + A), B) == []


# ---- Verdicts for families ----


@pytest.mark.parametrize(
    "text, family, proved",
    [
        ("sin(x) = a", asin(A) + 2 * pi * N, True),
        ("sin(x) = a", asin(A) + pi * N, False),  # every other one
        ("sin(x) = a", pi - asin(A) + 2 * pi * N, True),
        ("sin(x) = 0", pi * N, True),
        ("cos(x) = 0", pi * N, False),
        ("cos(x) = (-1)^2", 2 * pi * N * M, True),
        ("exp(x) = a", log(A) + 2 * pi * I * N, True),
        ("exp(x) = a", log(A) + pi * I * N, False),
        ("exp(2*x) = a", log(A) / 2 + pi * I * N, True),
        ("exp(3*x) = a", log(A) / 3 + pi * I * N, False),
        ("sin(x^(1/4)) = 0", pi**4 * N**4, True),
        ("sin(sqrt(x)) = 0", pi**2 * N, False),
    ],
)
def test_a_family_is_proved_only_if_all_of_it_is_right(text, family, proved):
    verdict = verify_root(parse(text), family)
    assert bool(verdict) is proved
    if proved:
        for n in range(-3, 4):
            assert verify_root(parse(text), family.subs({N: n, M: 2}))


def test_a_real_symbol_is_no_integer():
    assert verify_root(parse("sin(x) = a"), asin(A) + 2 * pi * Symbol("n")).status == "refuted"


def test_a_sign_that_changes_with_n():
    """(-1)^n*asin(a) + pi*n is right, but for all n only its two halves are proved."""
    assert is_identity(cos(pi * N) * sin(A) - sin(A + pi * N))
    assert not is_identity(sin(A) - sin(A + pi * N))


def test_what_holds_for_some_integers_says_which():
    cache = DETECTOR.new_cache()
    equation = parse("sin(x) = a")
    (root,) = judge(equation, asin(A) + pi * N, (), cache)
    assert root.status == "proved for n = -2, 0, 2" and root.proved
    assert "for all" not in root.to_text()


def test_of_a_refuted_family_zero_may_remain():
    (root,) = judge(parse("log(x) = a"), exp(A) + N, (), DETECTOR.new_cache())
    assert root.value == exp(A) and root.how == ("n = 0",) and not root.integers


class Verifier:
    """A cache whose verdicts on families are given, and on single numbers are true ones."""

    def __init__(self, status, valid_when=None, **members):
        self.family, self.members = Verdict(status, valid_when), members

    def verdict(self, equation, value):
        if any(symbol.is_integer for symbol in value.free_symbols):
            return self.family
        return self.members.get(str(value), verify_root(equation, value))


def test_an_exception_that_is_none_is_dropped():
    """sin(x) is 0 at n = 0 and n = 4, where nothing may be divided by it, but not at n = 1."""
    equation = parse("sin(4*x)/sin(x) = 0")
    condition = And(Ne(N, 0), Ne(N, 1), Ne(N, 4))
    (root,) = judge(equation, pi * N / 4, (), Verifier("proved", condition))
    assert root.valid_when == And(Ne(N, 0), Ne(N, 4))
    assert (
        root.to_text() == "x = pi*n/4   (proved for all integers n, valid when n != 0 and n != 4)"
    )
    (root,) = judge(parse("sin(x)/(x - 4*pi) = 0"), pi * N, (), Verifier("proved", Ne(N, 4)))
    assert root.valid_when == Ne(N, 4) and "n != 4" in root.to_text()
    (root,) = judge(parse("sin(x) = 0"), pi * N, (), Verifier("proved", Ne(N, 4)))
    assert root.valid_when is None


def test_a_class_of_exceptions_stays():
    condition = And(A >= 0, Ne(Mod(N, 4), 0))
    (root,) = judge(parse("sin(4*x)/sin(x) = 0*a"), pi * N / 4, (), Verifier("proved", condition))
    assert root.valid_when == condition
    assert "valid when a >= 0 and n mod 4 != 0" in root.to_text()
    twice = Verifier("proved", And(condition, Ne(N, 8)))
    assert judge(parse("sin(4*x)/sin(x) = 0*a"), pi * N / 4, (), twice) == [root]


def test_an_exception_under_another_condition_is_a_root_of_its_own():
    equation, family = parse("sin(x) = 0*a"), pi * N
    for single, kept in ((None, A >= 0), (A >= 0, A >= 0), (A < 0, And(A >= 0, Ne(N, 4)))):
        verifier = Verifier("proved", And(A >= 0, Ne(N, 4)), **{"4*pi": Verdict("proved", single)})
        root, *rest = judge(equation, family, (), verifier)
        assert root.valid_when == kept
        apart = [] if single == (A >= 0) else [(4 * pi, single, ("n = 4",))]
        assert [(r.value, r.valid_when, r.how) for r in rest if r.value == 4 * pi] == apart


def test_a_condition_in_cases_keeps_its_cases():
    condition = Or(And(A >= 0, Ne(N, 4)), A < -1)
    verifier = Verifier("proved", condition, **{"4*pi": Verdict("proved", Or(A >= 0, A < -1))})
    root, *_ = judge(parse("sin(x) = 0*a"), pi * N, (), verifier)
    assert root.valid_when == Or(A >= 0, A < -1)


def test_a_family_that_is_not_proved_is_claimed_for_what_was_tried():
    (root,) = judge(parse("sin(x) = 0"), pi * N, (), Verifier("unproven"))
    assert root.status == "proved for n = -2..2" and root.proved_at == tuple((n,) for n in SMALL)
    (root,) = judge(parse("sin(x)/x = 0"), pi * N, (), Verifier("unproven"))
    assert root.status == "proved for n = -2, -1, 1, 2" and "for all" not in root.to_text()
    assert judge(parse("cos(x) = 0"), pi * N, (), Verifier("refuted")) == []


# ---- No root twice ----


def test_families_give_single_roots_and_each_other():
    equation = parse("cos(x) = 1/2")
    family = Root(pi / 3 + 2 * pi * N, "proved")
    others = [Root(pi / 3, "proved"), Root(7 * pi / 3 - 2 * pi * N, "proved")]
    apart = Root(-pi / 3 + 2 * pi * N, "proved")
    assert merged(equation, [family, *others, apart]) == (family, apart)


def test_a_root_that_three_others_give_in_turn_goes():
    """At some coefficients it is the first of them, at others the second."""
    equation = parse("(x - a)*(x - b) = 0")
    larger = Root((A + B + sqrt((A - B) ** 2)) / 2, "proved")
    roots = [Root(A, "proved"), larger, Root(B, "proved")]
    assert merged(equation, roots) == (roots[0], roots[2])
    assert merged(equation, roots[:2]) == tuple(roots[:2])


def test_a_conditional_root_does_not_hide_an_unconditional_one():
    equation = parse("x^2 = a^2")
    always, sometimes = Root(A, "proved"), Root(sqrt(A**2), "proved", A > 0)
    other = Root(-A, "proved")
    assert merged(equation, [sometimes, always, other]) == (always, other)


def test_a_family_gives_only_what_is_claimed_of_it():
    equation = parse("sin(x) = a")
    some = Root(asin(A) + pi * N, "proved for n = -2, 0, 2", None, (), ((-2,), (0,), (2,)))
    given, apart = Root(asin(A) + 2 * pi, "proved"), Root(asin(A) + 4 * pi, "proved")
    assert merged(equation, [given, some, apart]) == (some, apart)
    no_zero = Root(pi * N, "proved", Ne(N, 0))
    single = [Root(Integer(0), "proved"), Root(pi, "proved")]
    assert merged(parse("sin(x) = 0"), [no_zero, *single]) == (no_zero, single[0])


# ---- Whether a set is complete ----


def found(text, *values):
    roots = tuple(Root(value, "proved") for value in values)
    return Roots(parse(text), roots, (), 0, True)


@pytest.mark.parametrize(
    "text, count",
    [
        ("a*x^2 + b*x + c = 0", 2),
        ("(x - a)^2*(x - b) = 0", 2),
        ("x^4 = 2*x^2 - 1", 2),
        ("1/(x - a) = b", 1),
        ("(x^2 - a^2)/(x - a) = 0", 1),
        ("sin(x) = a", None),
        ("sqrt(x) = a", None),
    ],
)
def test_distinct_roots_of_polynomials(text, count):
    assert distinct_roots(parse(text)) == count


@pytest.mark.parametrize(
    "text, values, state",
    [
        ("x^2 = a", [sqrt(A), -sqrt(A)], "complete"),
        ("x^2 = a", [sqrt(A)], "fewer"),
        ("sin(x) = a", [asin(A) + 2 * pi * N, pi - asin(A) + 2 * pi * N], "complete"),
        ("sin(x) = a", [asin(A) + 2 * pi * N], "fewer"),
        ("exp(x) = a", [log(A) + 2 * pi * I * N], "complete"),
        ("exp(x) = a", [log(A)], "fewer"),
        ("sqrt(x) + b = 0", [B**2], "complete"),
    ],
)
def test_a_set_beside_sympys(text, values, state):
    check = check_roots(found(text, *values), ask_set(text))
    assert check.by_sympy == check.state == state


def test_sympy_may_lack_roots_or_have_no_set():
    text, values = "sin(x) = a", [asin(A) + 2 * pi * N, pi - asin(A) + 2 * pi * N]
    half = ask_set(text)
    few = [[number for number in point[: len(point) // 2]] for point in half.points]
    both = check_roots(found(text, *values), SetAnswer("half", few, "", 0.0))
    assert both.by_sympy == "more" and "lacks" in both.to_text()
    none = ask_set("sin(x^(1/4)) = 0")
    assert none.points is None and none.reason.startswith("no explicit set")
    check = check_roots(found("sin(x^(1/4)) = 0", pi**4 * N**4), none)
    assert check.state == "unknown" and "no answer" in check.to_text()


def claimed(text, *roots):
    return Roots(parse(text), tuple(Root(v, "proved", *rest) for v, *rest in roots), (), 0, True)


def test_roots_count_where_their_conditions_hold():
    """exp(I) and exp(-I) are roots of log(x)^2 = -1, and nothing here gives them."""
    text = "log(x)^2 = a"
    both = claimed(text, (exp(sqrt(A)), A >= 0), (exp(-sqrt(A)), A >= 0))
    check = check_roots(both, ask_set(text))
    assert check.state == check.by_sympy == "complete where" and check.where == (A >= 0)
    assert check.to_text().startswith("complete where a >= 0: there SymPy's")
    assert check.to_data()["complete_where"] == "a >= 0"
    assert check_roots(claimed(text, (exp(sqrt(A)), A >= 0)), ask_set(text)).state == "fewer"


@pytest.mark.parametrize(
    "text, roots, state, where",
    [
        ("x^2 = a", [(sqrt(A), A >= 0), (-sqrt(A), A >= 0)], "complete where", A >= 0),
        ("x^2 = a", [(sqrt(A), A >= 0), (-sqrt(A),)], "complete where", A >= 0),
        ("x^2 = a", [(sqrt(A), A >= 0), (-sqrt(A), A <= 0)], "fewer", None),
        ("x^2 = a", [(sqrt(A), A >= 0), (sqrt(A) + 0 * A, A <= 0), (-sqrt(A),)], "complete", None),
        # The whole of a condition, for neither part would do.
        ("x^2 = a*b", [(sqrt(A * B), A >= 0), (-sqrt(A * B), B >= 0)], "complete where",
         And(A >= 0, B >= 0)),
        # Undecided for certain.
        ("x^2 = a", [(sqrt(A), Ge(zeta(A), 0)), (-sqrt(A),)], "unknown", None),
    ],
)  # fmt: skip
def test_conditions_decide_which_roots_a_polynomial_has(text, roots, state, where):
    check = check_roots(claimed(text, *roots), SetAnswer(None, None, "not asked", 0.0))
    assert (check.state, check.where) == (state, where)


def test_a_member_that_is_left_out_is_missing():
    text, family = "sin(x) = 0", pi * N
    answer = ask_set(text)
    states = [check_roots(claimed(text, (family, condition)), answer).state
              for condition in (None, Ne(N, 1), Ne(N, 9), Ne(Mod(N, 4), 0))]  # fmt: skip
    assert states == ["complete", "fewer", "complete", "fewer"]  # 9*pi is not compared
    poles = claimed("sin(4*x)/sin(x) = 0", (pi * N / 4, Ne(Mod(N, 4), 0)))
    assert check_roots(poles, ask_set("sin(4*x)/sin(x) = 0")).state == "complete"


def test_what_is_claimed_for_some_integers_is_not_all():
    few = Root(pi * N, "proved for n = -2..2", None, (), tuple((n,) for n in SMALL))
    check = check_roots(Roots(parse("sin(x) = 0"), (few,), (), 0, True), ask_set("sin(x) = 0"))
    assert check.state in ("unknown", "fewer")


def test_the_degree_decides_without_sympy():
    check = check_roots(found("x^2 = a", sqrt(A), -sqrt(A)), SetAnswer(None, None, "raised", 0.0))
    assert check == Check(2, "complete", "unknown", "raised", None) and check.state == "complete"
    assert check_roots(found("x^2 = a"), SetAnswer(None, None, "raised", 0.0)).state == "fewer"


def test_windows_reach_as_far_as_they_say():
    assert window(0) == [()] and len(window(1)) == 2 * REACH[1] + 1 and window(1)[0] == (0,)
    assert len(window(2)) == (2 * REACH[2] + 1) ** 2 and window(3) == []


# ---- What is shown ----


def test_a_set_is_text_latex_and_data():
    solution, roots = solve("x^2 = a")
    check = check_roots(roots, SetAnswer(None, None, "not asked", 0.0))
    each = SolutionSet(Problem("x^2 = a", "square"), solution, roots, check, 0.1)
    text = show([each], "text", True)
    assert text.endswith(
        "\n\n2 roots\nx = sqrt(a)   (proved)\nx = -sqrt(a)   (proved)\n"
        "    x^2 = a: take the square root, times -1\n"
        "complete: the polynomial has 2 distinct roots;"
        " SymPy's solveset has no answer (not asked)"
    )
    data = json.loads(show([each], "json", True))
    assert [root["root"] for root in data["roots"]] == ["sqrt(a)", "-sqrt(a)"]
    assert data["completeness"]["state"] == "complete" and data["trace"]["root"] == "sqrt(a)"
    assert r"x = - \sqrt{a}" in show([each], "latex", True)
    counts = summary([each])
    assert counts["by_family"]["square"]["complete"] == counts["all"]["n"] == 1
    assert counts["all"]["complete_where"] == 0
    assert "square" in layout(completeness(counts))


@pytest.mark.parametrize("square", [A + 100, A - 1000, 100 - A])
def test_conditions_whose_boundary_no_point_crosses_are_said_all_the_same(square):
    """The sample points are of sizes up to 15: on one side of the boundary only."""
    roots = [exp(sqrt(square)), exp(-sqrt(square))]
    points = []
    for (value,) in compared_points(1):
        numbers = [complex(root.subs(A, value)) for root in roots]
        points.append([[str(z.real), str(z.imag), True] for z in numbers])
    found = claimed(f"log(x)^2 = {square}", *[(root, square >= 0) for root in roots])
    assert check_roots(found, SetAnswer("a set", points, "", 0.0)).state != "complete"


def test_a_root_at_infinity_in_sympys_set_is_passed_over():
    """exp(2*x) = exp(x): its set has log(0), which ended a whole batch."""
    answer = ask_set("exp(2*x) = exp(x)")
    texts = [text for point in answer.points for number in point for text in number[:2]]
    assert texts and not any("inf" in text for text in texts)
