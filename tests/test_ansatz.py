"""Substitutions whose h the agent finds: which terms can vanish, what follows, and the way back."""

import itertools
import random
from functools import partial

import mpmath
import pytest
import sympy as sp
from sympy import Symbol

from abel import Env, EnvConfig, Trace, parse
from abel.env import look
from abel.equation import ONE, ZERO, Label, X, split_factor, split_summand
from abel.operations import OPERATIONS, ansatz
from abel.operations.ansatz import SHIFT, Form, as_sum, can_vanish, forms, opens
from abel.parse import parse_expression
from abel.roots import all_roots
from abel.search import Solution
from abel.transforms import HOLE, Ansatz, Goal, Relabel, Substitute, unwind
from abel.transitions import State, advance, land

GENERAL = EnvConfig(
    substitutions="general", terms="blocks", relabel=False, tan=True, max_steps=40,
    max_changes=10, max_goals=4,
)  # fmt: skip
H = Symbol("h")

QUADRATIC = ("put x + h|b*x", "sub|b", "div|2*a", "sub|d", "div|a", "sqrt")
CUBIC = (
    "put x + h|b*x^2", "sub|b", "div|3*a", "put x + h/x|?x", "sub|?", "div|3*a", "let|x^3",
    "put x + h|?x", "sub|?", "div|2*a", "sub|?", "div|a", "sqrt", "cbrt",
)  # fmt: skip


def play(text, *steps, config=GENERAL):
    """An episode; a step is an operation and its term."""
    env = Env([text], config)
    env.reset()
    for step in steps:
        env.step(env.find(*step.split("|")))
    return env


# ---- Forms ----


def test_forms_are_all_monomials_and_binomials_up_to_a_bound():
    assert [len(set(forms(bound))) for bound in (1, 2, 3)] == [8, 24, 48]
    assert [str(form) for form in forms(1)] == [
        "x + h", "x + h/x", "1/x + h", "1/x + h*x", "1 + h*x", "1 + h/x", "h*x", "h/x"
    ]  # fmt: skip
    for form in forms(3):
        written = sp.sympify(str(form).replace("^", "**"))
        assert sp.simplify(written - form.phi.xreplace({HOLE: H})) == 0
        assert form.bound <= 3 and OPERATIONS[f"put {form}"].flags[1] == f"ansatz_{form.bound}"


@pytest.mark.parametrize(("bound", "count"), [(1, 8), (2, 24), (3, 48)])
def test_the_bound_says_which_forms_are_offered(bound, count):
    def offered(**flags):
        config = EnvConfig(substitutions="general", ansatz_bound=bound, **flags)
        return [row for row in OPERATIONS.values() if row.opens and config.offers(row)]

    assert len(offered()) == count and not offered(ansatz=False)


# ---- Which terms can vanish ----

SHAPES = [s for r in (2, 3, 4) for s in itertools.combinations(range(5), r)]


def forms_and_shapes():
    """For the fast tests every form has a fifth of the shapes, every shape a fifth of the forms."""
    for k, form in enumerate(forms(2)):
        yield pytest.param(form, SHAPES[k % 5 :: 5], id=f"{form}, some")
        yield pytest.param(form, SHAPES, id=f"{form}, all", marks=pytest.mark.slow)


@pytest.mark.parametrize("form, shapes", [*forms_and_shapes()])
def test_legality_is_what_expanding_shows(form, shapes):
    """A coefficient can vanish if it is no power of h alone; the equation itself does not count."""
    for shape in shapes:
        letters = {n: Symbol(f"c{n}") for n in shape}
        whole = sum(c * X**n for n, c in letters.items())
        moved = sp.expand(whole.subs(X, form.phi.xreplace({HOLE: H})))
        expected = []
        for n in shape:
            coefficient = sp.expand(moved).coeff(X, n)
            powers = {sp.degree(term, H) for term in sp.Add.make_args(coefficient)}
            same = sp.cancel(coefficient / whole.subs(X, H)).free_symbols <= {H}
            if coefficient != 0 and len(powers) > 1 and not same:
                expected.append(n)
        exponents = [sp.degree(t * X**20, X) - 20 for t in sp.Add.make_args(moved)]
        assert form.span(shape) == max(exponents) - min(exponents)
        if form.span(shape) > ansatz.MAX_SPAN:
            expected = []
        assert list(can_vanish(form, shape, True)) == expected, shape


@pytest.mark.parametrize(
    ("text", "form", "terms"),
    [
        ("a*x^2 + b*x + c", "x + h", ["b*x"]),  # the constant's coefficient is the equation itself
        ("a*x^2 + c", "x + h", []),
        ("a*x^3 + b*x + c", "x + h/x", ["b*x"]),
        ("a*x^3 + b*x + c", "h*x", []),
        ("a*x + b/x + c", "x + h", ["c"]),  # as a*x^2 + c*x + b
        ("a*(k*x + f)^2 + b*(k*x + f) + c", "x + h", ["k*x"]),  # what stands in brackets counts
        ("b*x + c*x = d - a*x^2", "x + h", ["b*x"]),
        ("a*x^2 + b*x - b*x + c", "x + h", []),
        ("a*sin(k*x) + b*cos(k*x) + c", "x + h", ["a*sin(k*x)", "b*cos(k*x)"]),
        ("a*sin(k*x) + b*cos(k*x) + c", "x + h/x", []),
        ("a*sin(k*x) + b*cos(x) + c", "x + h", []),
        ("a*sin(x) + b*cos(x) + c*x", "x + h", []),
        ("a*sin(x) + c", "x + h", []),
        ("a*log(x)^2 + b*log(x) + c", "h*x", ["b*log(x)"]),
        ("a*log(k*x)^2 + b*log(k*x) + c", "h/x", ["b*log(k*x)"]),
        ("a*log(x)^2 + b*log(x) + c", "x + h", []),
        ("a*x + b*exp(k*x) + c", "x + h", ["c"]),
        ("a*x*exp(k*x) + b*exp(k*x) + c", "x + h", ["b*exp(k*x)"]),
        ("a*x*2^x + b*2^x + c", "x + h", ["b*2^x"]),
        ("a*exp(2*x) + b*exp(x) + c", "x + h", []),  # exp(h) only scales
        ("a*x + b*sqrt(x) + c", "x + h", []),
        ("a*x^8 + b*x + c", "x + h", ["b*x"]),
        ("a*x^9 + b*x + c", "x + h", []),  # too large
    ],
)  # fmt: skip
def test_terms_that_a_form_can_make_vanish(text, form, terms):
    equation = parse(text)
    row = OPERATIONS[f"put {form}"]
    lhs, rhs = equation.lhs, equation.rhs
    found = row.terms(type("Sides", (), {"lhs": lhs, "rhs": rhs}))
    assert sorted(map(str, found)) == sorted(str(parse_expression(term)) for term in terms)
    legal = {str(a) for a in play(text).actions if a.op == row.name}
    assert legal == {f"{row.name} {term}" for term in found}


# ---- What follows, by numbers ----

TEXTS = (
    "a*x^2 + b*x + c", "a*x^3 + b*x^2 + c*x + d", "a*x^4 + b*x^3 + d*x + f = c", "2*x^3 - x = a",
    "a*x + b/x + c", "a*x^2 + b/x^2 + c*x", "x*(x + a)^2 = b",
    "a*sin(k*x + m) + b*cos(k*x + m) + c", "a*log(x)^3 + b*log(x)^2 + c",
    "a*log(2*x)^2 + b*log(2*x) + c", "a*x + b*exp(k*x) + c",
    "a*x^2*exp(x) + b*x*exp(x) + c + d*x*3^x + f*3^x", "a*x^5 + b*x^3 + c*x", "x^6 + a*x^2 + b*x",
)  # fmt: skip

DENOMINATORS = {"a*x + b/x + c": 1, "a*x^2 + b/x^2 + c*x": 2}  # powers of x that come first


def number(expr, at):
    """The value of an expression at numbers for its symbols; a label's is that of its block."""
    if isinstance(expr, Label):
        return number(expr.block, at)
    if isinstance(expr, Symbol):
        return at[expr.name]
    if not expr.args:
        return mpmath.mpmathify(sp.N(expr, 30))
    args = [number(arg, at) for arg in expr.args]
    if expr.is_Add or expr.is_Mul:
        return (mpmath.fsum if expr.is_Add else mpmath.fprod)(args)
    return args[0] ** args[1] if expr.is_Pow else getattr(mpmath, expr.func.__name__)(args[0])


def point(rng):
    """Numbers for all letters; x and h positive, so that log(h*x) = log(h) + log(x)."""
    at = {name: mpmath.mpf(rng.choice((1, -1)) * rng.uniform(0.5, 2)) for name in "abcdfgkmn"}
    return at | {"x": mpmath.mpf(rng.uniform(0.5, 2)), "<value>": mpmath.mpf(rng.uniform(0.5, 2))}


def steps_of(text):
    equation = parse(text)
    env = play(text)
    for action in env.actions:
        row = OPERATIONS[action.op]
        if row.opens:
            yield equation, action, row, *row.apply(env.form.lhs, env.form.rhs, action.term)


@pytest.mark.parametrize("text", TEXTS)
def test_what_follows_is_the_equation_after_the_substitution(text):
    """At any x and h, up to a power of x; and the goal's equation is the term's coefficient, up to
    a power of h, to exp(k*h) or to cos(k*h).
    """
    rng, steps = random.Random(text), list(steps_of(text))
    assert steps
    for equation, action, _, lhs, rhs, pending in steps:
        ratios = []
        for _ in range(4):
            at = point(rng)
            phi = number(pending.phi, at)
            value = number(equation.lhs - equation.rhs, at | {"x": phi})
            value *= phi ** DENOMINATORS.get(text, 0)
            total = sum(number(c, at) * number(f, at) for f, c in pending.terms)
            ratios.append(mpmath.log(abs(value / total)) / mpmath.log(at["x"]))
            assert abs(ratios[-1] - ratios[0]) < 1e-9 and abs(ratios[0] - round(ratios[0])) < 1e-9
        assert rhs is ZERO and isinstance(pending, Ansatz), action


@pytest.mark.parametrize("text", TEXTS)
def test_the_chosen_term_vanishes_for_the_root_in_h(text):
    """With numbers for the letters: one function of x fewer at least, and it is the chosen one."""
    rng = random.Random(text)
    for equation, action, row, lhs, _, pending in steps_of(text):
        at = point(rng)
        root = a_root(lambda h: number(lhs, at | {"x": h}), rng)
        assert root is not None, action
        sizes = [abs(number(c, at | {"<value>": root})) for _, c in pending.terms]
        before = [abs(number(c, at | {"<value>": root * 1.1})) for _, c in pending.terms]
        gone = [f for (f, _), size, other in zip(pending.terms, sizes, before)
                if size < 1e-9 * max(sizes) and size < 1e-6 * other]  # fmt: skip
        assert gone, action


# ---- Solved by it ----


def scripted(env, *ops):
    """Play operations; beside one, 0 is the constant and another n the summand with x**n. A
    coefficient that is 1 already is not divided by.
    """
    for op, *degree in ops:
        term = term_of(env.form.lhs, *degree) if degree else None
        if op == "let":
            term = X ** degree[0]
        if op == "div":
            term = split_factor(term)[0]
        if (op, term) != ("div", 1):
            env.step(env.find(op, term))
    return env


def term_of(lhs, degree):
    if degree == 0:
        return split_summand(lhs)[0]
    return next(t for t in sp.Add.make_args(lhs) if split_factor(t)[1] == X**degree)


def isolated(env):
    """Undo what stands around x until a goal is reached, if x stands in one place only."""
    inverse = {"tan": "atan", "log": "exp", "exp": "log", "sin": "asin"}
    waiting = len(env.state.goals)
    while not env.ended and len(env.state.goals) == waiting:
        lhs = env.form.lhs
        free, rest = split_summand(lhs) if lhs.is_Add else split_factor(lhs)
        name = inverse.get(type(lhs).__name__, "")
        if lhs.is_Add and free != 0:
            env.step(env.find("sub", free))
        elif lhs.is_Mul and free != 1:
            env.step(env.find("div", free))
        elif lhs.is_Pow and lhs.exp in (2, 3):
            env.step(env.find("sqrt" if lhs.exp == 2 else "cbrt"))
        elif name and any(action.op == name for action in env.actions):
            env.step(env.find(name))
        else:
            return False
    return True


SOLVE_LINEAR = (("sub", 0), ("div", 1))
SOLVE_QUADRATIC = (("put x + h", 1), *SOLVE_LINEAR, ("sub", 0), ("div", 2), ("sqrt",))
SOLVE_CUBIC = (
    ("put x + h", 2), *SOLVE_LINEAR, ("put x + h/x", 1), *SOLVE_LINEAR, ("let", 3),
    *SOLVE_QUADRATIC, ("cbrt",),
)  # fmt: skip
SOLVE_QUARTIC = (("squares",), *SOLVE_CUBIC, ("sqrt",))


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a*x^2 + b*x + c = 0", SOLVE_QUADRATIC),
        ("x^2 + x = 1", (("put x + h", 1), ("sub", 0), ("div", 1), ("sub", 0), ("sqrt",))),
        ("a*x^3 + b*x^2 + c*x + d = 0", SOLVE_CUBIC),
        ("x^3 - 3*b*x^2 + c*x - 7 = 0", SOLVE_CUBIC),
        ("a*sin(k*x) + b*cos(k*x) + c = 0", None),
        ("3*sin(2*x) + 4*cos(2*x) = 5", None),
    ],
)
def test_derived_substitutions_solve(text, steps):
    env = play(text)
    if steps is None:
        cosine = next(term for term in env.form.lhs.args if term.has(sp.cos))
        env.step(env.find("put x + h", cosine))
        assert isolated(env)
        isolated(env)
    else:
        scripted(env, *steps)
    assert env.solved, env.trace().to_text()
    replayed = Trace.from_json(env.trace().to_json()).compare()
    assert replayed and replayed.verdict.status == "proved"


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize(
    "text", ["x^4 + p*x^2 + q*x + r = 0", "a*x^4 + b*x^3 + c*x^2 + d*x + f = 0"]
)
def test_a_quartic_becomes_a_difference_of_squares(text):
    env = scripted(play(text), *SOLVE_QUARTIC)
    env.step(env.find("put x + h", next(a.term for a in env.actions if a.op == "put x + h")))
    assert isolated(env)
    isolated(env)
    assert env.solved, env.trace().to_text()


def test_the_trace_says_what_was_put_and_why():
    text = scripted(play("a*x^2 + b*x + c = 0"), *SOLVE_QUADRATIC).trace().to_text()
    assert "put x = t + h, with h such that the term in t vanishes   2*a*h + b = 0" in text
    assert "a*t^2 + d = 0   [d = c - b^2/(4*a)]" in text and "so put x = t - b/(2*a)" in text


# ---- The way back ----


def carried_back(stack, root, at):
    """A root of the current equation as one of the original's, by numbers alone."""
    for transform in reversed(stack):
        if isinstance(transform, Substitute):
            root = number(transform.phi, at | {"x": root})
        else:
            assert isinstance(transform, Relabel)
    return root


@pytest.mark.parametrize("text", TEXTS)
def test_roots_come_back_through_any_nesting(text, times):
    """After up to three substitutions, whatever x solves the current equation is carried back to a
    root of the original, letters within letters included.
    """
    rng, checked = random.Random(text), 0
    for _ in range(8 * times):
        if checked >= 4 * times:
            break
        env = play(text)
        for _ in range(3):
            choices = [i for i, a in enumerate(env.actions) if OPERATIONS[a.op].opens]
            if not choices or env.ended:
                break
            env.step(rng.choice(choices))
            if not isolated(env) or env.ended:
                break
            at = point(rng)
            gap = env.form.lhs - env.form.rhs
            root = a_root(lambda v: number(gap, at | {"x": v}), rng)
            back = None if root is None else carried_back(env.state.stack, root, at)
            if back is None or abs(root * back) < 1e-6:  # 0 is found too roughly
                continue
            value, near = (
                number(env.equation.lhs - env.equation.rhs, at | {"x": back * shift})
                for shift in (1, mpmath.mpf("1.01"))
            )
            assert abs(value) < 1e-6 * abs(near), env.trace().to_text()
            checked += 1
    assert checked >= 2


def a_root(function, rng):
    """Where a function vanishes, if Newton's method finds it from some starting point."""
    for _ in range(40):
        start = mpmath.mpc(rng.uniform(-3, 3), rng.choice((0, rng.uniform(-3, 3))))
        try:
            return mpmath.findroot(function, start, tol=1e-20)
        except (ValueError, ZeroDivisionError):
            continue
    return None


def test_a_large_h_gets_a_letter_that_others_may_contain():
    large = parse_expression("sqrt(a + b)*(c + d)^(1/3) + sqrt(a - b)*f + exp(c/d)")
    constant = HOLE**3 - 2 * HOLE + parse_expression("a*b*c")
    terms = (X**2, ONE), (X, HOLE + Symbol("a")), (ONE, constant)
    pending = Ansatz(SHIFT.phi, terms, (), True, ())
    lhs, rhs, transform = pending.reach(large)
    (letter,) = transform.given
    assert letter.block == large and transform.labels and rhs is ZERO
    assert any(letter in label.block.free_symbols for label in transform.labels)
    back = transform.unwind(transform.labels[0] + 1)
    assert not any(isinstance(symbol, Label) for symbol in back.free_symbols)


def test_coefficients_that_vanish_are_left_out():
    p = Symbol("p")
    terms = (X**6, ONE), (X**4, 3 * HOLE + p), (X**2, 3 * HOLE**2 + p * HOLE), (ONE, HOLE**3)
    pending = Ansatz(Form(1, -1).phi, terms, (), False, ())
    lhs, _, _ = pending.reach(-p / 3)
    assert lhs == X**6 - p**3 / 27
    terms = (X**4, ONE), (X**3, p), (ONE, HOLE - 1)
    lhs, _, _ = Ansatz(Form(1, -1).phi, terms, (), False, ()).reach(ONE)
    assert lhs == X + p  # x is not 0 there, so that x**3 may go


def test_landing_goes_on_while_it_reads_x():
    env = play("a*x^2 + b*x + c = 0")
    stack = (Goal(X**2, HOLE), Goal(X, HOLE + 1))
    state = State(env.cache.form(X, Symbol("a")), stack, stack, 2)
    landed = land(state, env.cache)
    assert not landed.goals and str(landed.form) == "x**2 = b"
    assert str(unwind(landed.stack, Symbol("b"))) == "b" and len(landed.stack) == 1


# ---- Circles ----


def test_an_equation_that_waits_already_is_not_opened_again():
    """Whatever a goal's state offers to open, it is none of the equations that wait."""
    env = play("a*x^3 + b*x^2 + c*x + d = 0")
    for action in env.actions:
        row = OPERATIONS[action.op]
        if not row.opens:
            continue
        state, _ = advance(env.state, action, env.cache)
        waiting = state.waiting
        assert len(waiting) == 1
        for further in look(state, GENERAL, env.cache).actions:
            second = OPERATIONS[further.op]
            if second.opens:
                assert second.opens(state.lhs, state.rhs, further.term) not in waiting


def test_circles_are_told_by_content():
    equation = parse("a*x^2 + b*x + c = 0")
    same = parse("2*a*x^3 + 2*b*x^2 + 2*c*x = 0")
    other = parse("a*x^2 + c*x + b = 0")
    known = [as_sum(e.lhs, e.rhs).identity for e in (equation, same, other)]
    assert known[0] == known[1] != known[2]
    cubic = parse("a*x^3 + b*x + c = 0")
    shifted = opens(SHIFT, cubic.lhs, cubic.rhs, parse_expression("b*x"))
    derivative = parse("3*a*x^2 + b = 0")
    assert shifted == as_sum(derivative.lhs, derivative.rhs).identity


def test_a_circle_is_illegal_in_the_state_where_it_would_close():
    env = play("a*x^3 + b*x + c = 0")
    action = env.actions[env.find("put x + h", "b*x")]
    state, _ = advance(env.state, action, env.cache)
    legal = look(state, GENERAL, env.cache).actions
    opened = [a for a in legal if OPERATIONS[a.op].opens]
    first = opened[0]
    identity = OPERATIONS[first.op].opens(state.lhs, state.rhs, first.term)
    goals = tuple(
        g.__class__(g.phi, g.terms, g.labels, g.defined_at_0, identity) for g in state.goals
    )
    closed = look(state._replace(goals=goals), GENERAL, env.cache).actions
    assert first not in closed and set(closed) < set(legal)


# ---- All roots ----


def test_all_roots_follow_every_value_of_h():
    env = scripted(play("a*x^2 + b*x + c = 0"), *SOLVE_QUADRATIC)
    start = play("a*x^2 + b*x + c = 0")
    path, state = [], start.state
    for action, *_ in env.path:
        observation = look(state, GENERAL, start.cache)
        index = observation.actions.index(action)
        state, transform = advance(state, action, start.cache)
        path.append((observation, index, state.form, transform))
    solution = Solution(env.equation, True, env.root, env.verdict, tuple(path), 0)
    nothing = partial(Solution, env.equation, False, None, None, (), 0)
    roots = all_roots(solution, lambda equation, state: nothing(), GENERAL, start.cache)
    assert len(roots.found) == 2 and roots.every_branch
