"""Random text, equations, actions and roots: nothing crashes, hangs, differs or is wrongly solved.

Equations are grown as trees from bytes (fewer bytes, smaller tree: failures shrink well), and a
tree is written as text for `abel` and computed by mpmath here. So what "solved" claims is checked
against the equation as it was written, by numbers that share nothing with `abel`'s verifier.
"""

import random
import time
from collections import Counter

import mpmath
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abel import Env, EnvConfig, Trace
from abel.datasets import textbook
from abel.equation import Equation, num_nodes
from abel.parse import FUNCTIONS, MAX_PARSED_NODES, ParseError, parse, parse_expression
from abel.parse.functions import IDENTITIES
from abel.verify import verify_root

CPU_LIMIT = 10  # seconds for one case, which takes milliseconds: a hang, not a busy machine


def sizes(few: int, many: int):
    """A test of `few` cases, and a slow one of `many`; the same cases every time."""
    counts = [few, pytest.param(many, marks=pytest.mark.slow)]
    return pytest.mark.parametrize("count", counts, indirect=True)


@pytest.fixture(name="count")
def fixture_count(request, times):
    return request.param * times


def run(check, count: int, **options) -> None:
    """Run a property on `count` cases; hypothesis' time limits would make it depend on load."""
    options = {"derandomize": True, "database": None, **options}
    # A property is run with few cases and with many; hypothesis lets settings be given once.
    vars(check).pop("_hypothesis_internal_settings_applied", None)
    settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), **options)(
        check
    )()


# ---- Equations as trees: a letter, a number, or (operation, arguments) ----

LETTERS = ("a", "b", "c", "d", "e", "k_1", "S", "alpha")
ATOMS = ("x", "x", "x", "1", "2", "3", "5", "0.5", "pi", "E", "I", *LETTERS)
OPERATORS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
# The others are read as texts of these (test_world): what SymPy prints of them inside each other
# can be too large to be read again.
OWN = tuple(name for name in FUNCTIONS if name not in IDENTITIES)
INSTRUCTIONS = (*ATOMS, *OPERATORS, "+", "-", "*", "/", "*", *OWN, "neg")


def grow(program: bytes):
    """Bytes as the program of a stack machine; what is missing on the stack is x."""
    stack: list = []
    for byte in program:
        name = INSTRUCTIONS[byte % len(INSTRUCTIONS)]
        num_args = 0 if name in ATOMS else 2 if name in OPERATORS else 1
        args = [stack.pop() if stack else "x" for _ in range(num_args)]
        stack.append((name, *reversed(args)) if args else name)
    tree = stack.pop() if stack else "x"
    while stack:
        tree = ("+", stack.pop(), tree)
    return tree


def write(tree, outer: int = 0) -> str:
    """The tree as text, with the parentheses that it needs."""
    if isinstance(tree, str):
        return tree
    name, *args = tree
    if name in OWN:
        return f"{name}({write(args[0])})"
    if name == "neg":
        inner, text = 1, f"-{write(args[0], 2)}"
    else:
        inner = OPERATORS[name]
        left, right = write(args[0], inner + (name == "^")), write(args[1], inner + (name != "^"))
        text = f"{left} {name} {right}"
    return f"({text})" if inner < outer or (name == "neg" and outer) else text


equations = st.builds(
    lambda lhs, rhs: (grow(lhs), grow(rhs) if rhs else "0"),
    st.binary(min_size=1, max_size=12),
    st.binary(max_size=5),
)


def write_equation(equation) -> str:
    return " = ".join(map(write, equation))


# ---- Numbers, by mpmath alone ----

PRECISE = mpmath.mp.clone()
PRECISE.dps = 40
NOISE = mpmath.mpf(10) ** -30  # relative: what is this close to an axis lies on it


class Unusable(Exception):
    """A point at which the numbers overflow or are too close to a cut to tell."""


def snap(z):
    """z, on the axis that only rounding keeps it from: cuts lie there."""
    z = PRECISE.mpc(z)
    if not (PRECISE.isfinite(z.real) and PRECISE.isfinite(z.imag)):
        raise ZeroDivisionError
    if abs(z) > 1e12 or 0 < abs(z) < 1e-12:
        raise Unusable
    if abs(z.imag) <= NOISE * abs(z):
        return PRECISE.mpf(z.real)
    return PRECISE.mpc(0, z.imag) if abs(z.real) <= NOISE * abs(z) else z


def to_power(base, exponent):
    if base == 0 and (PRECISE.mpc(exponent).real <= 0):
        raise ZeroDivisionError
    return base**exponent


COMPUTE = {
    "+": lambda p, q: p + q, "-": lambda p, q: p - q, "*": lambda p, q: p * q,
    "/": lambda p, q: p / q, "^": to_power, "neg": lambda p: -p,
    "sqrt": PRECISE.sqrt, "cbrt": lambda p: to_power(p, PRECISE.mpf(1) / 3),
    "ln": PRECISE.log, "LambertW": PRECISE.lambertw, "abs": abs, "Abs": abs,
    **{name: getattr(PRECISE, name)
       for name in ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan")},
}  # fmt: skip
KNOWN = {"pi": PRECISE.pi, "E": PRECISE.e, "I": PRECISE.j}


def compute(tree, at: dict):
    """A tree's value and the largest value on the way to it."""
    if isinstance(tree, str):
        value = at.get(tree, KNOWN.get(tree))
        value = PRECISE.mpf(tree) if value is None else PRECISE.convert(value)
        return value, abs(value)
    if tree[:2] == ("^", "e") and "x" in leaves(tree[2]):  # then it is Euler's number
        tree = ("^", "E", tree[2])
    values, largest = zip(*[compute(arg, at) for arg in tree[1:]])
    value = COMPUTE[tree[0]](*values)
    if tree[0] in ("+", "-") and abs(value) <= NOISE * max(map(abs, values)):
        value = PRECISE.mpf(0)
    value = snap(value)
    return value, max(abs(value), *largest)


def leaves(tree) -> list[str]:
    return [tree] if isinstance(tree, str) else [leaf for arg in tree[1:] for leaf in leaves(arg)]


def as_tree(expr: sympy.Expr):
    """A SymPy expression as a tree."""
    if expr.is_Rational:
        return ("/", str(expr.p), str(expr.q))
    if not expr.args:
        return str(expr)
    if isinstance(expr, sympy.Add | sympy.Mul):
        name, (tree, *rest) = "+" if expr.is_Add else "*", map(as_tree, expr.args)
        for arg in rest:
            tree = (name, tree, arg)
        return tree
    name = "^" if isinstance(expr, sympy.Pow) else type(expr).__name__
    return (name, *map(as_tree, expr.args))


def points(count: int) -> list[dict]:
    """Values of the letters, of all signs; never integers, where denominators may vanish."""
    rng = random.Random(7)
    return [
        {name: PRECISE.mpf(rng.choice((-1, 1)) * rng.uniform(0.2, 3)) for name in LETTERS}
        for _ in range(count)
    ]


POINTS = points(60)
CHECKED: Counter[int] = Counter()  # roots checked at no point at all, and at some


def holds(condition, at: dict) -> bool:
    """Whether a point lies well inside of `valid_when`."""
    if condition is None or condition is sympy.true:
        return True
    if isinstance(condition, sympy.And | sympy.Or):
        found = [holds(arg, at) for arg in condition.args]
        return all(found) if isinstance(condition, sympy.And) else any(found)
    gap, _ = compute(as_tree(condition.lhs - condition.rhs), at)
    if not isinstance(gap, PRECISE.mpf) or abs(gap) < 1e-10:
        return False
    assert isinstance(condition, sympy.Ge | sympy.Le | sympy.Gt | sympy.Lt), condition
    return (gap > 0) == isinstance(condition, sympy.Ge | sympy.Gt)


def is_root(equation, root, at: dict) -> bool:
    """Whether the equation, as it was written, holds there to 20 digits of what it adds up."""
    try:
        x, _ = compute(root, at)
        (left, size), (right, other) = (compute(side, {**at, "x": x}) for side in equation)
    except (ZeroDivisionError, ValueError):
        return False
    return abs(left - right) <= 1e-20 * max(size, other, 1)


def assert_root(equation, root: sympy.Expr, valid_when) -> None:
    """At several points inside the conditions it is a root, by numbers."""
    tree, seen, wrong = as_tree(root), 0, []
    for at in POINTS:
        try:
            if holds(valid_when, at):
                seen += 1
                if not is_root(equation, tree, at):
                    wrong.append({name: float(value) for name, value in at.items()})
        except (Unusable, ZeroDivisionError):
            continue
        if seen == 6:
            break
    assert not wrong, f"{write_equation(equation)}: x = {root} where {valid_when}, not at {wrong}"
    CHECKED[min(seen, 1)] += 1


# ---- The parser ----

SYMBOLS = "xxxabe0123456789.+-*/^()= \t_EI\\$é²٣\x00\u2212\ud800"
PIECES = (
    *ATOMS, *OPERATORS, *FUNCTIONS, *"()()= ", "", "**", "99", "10^29", "1/3", "0", "0.", ".5",
    "1e5", "x(", ")(", "oo", "zoo", "nan", "sinh(", "lambda", "__import__", "2x", "9" * 31,
)  # fmt: skip
OPENINGS = ("(", "-", "-(", "1/(1+", "x^", "2^(", "(1+", *(f"{name}(" for name in FUNCTIONS))


def mutate(equation, edits: bytes) -> str:
    """A text with pieces cut out, doubled and put in; three bytes say where, how much, what."""
    text = write_equation(equation)
    for where, length, what in zip(edits[::3], edits[1::3], edits[2::3]):
        start = where % (len(text) + 1)
        end = start + length % 7
        middle = (*PIECES, text[start:end] * 2)[what % (len(PIECES) + 1)]
        text = text[:start] + middle + text[end:]
    return text


def nest(opening: str, depth: int, core: str, missing: int) -> str:
    """Deep, long or large: whatever the limits are there for."""
    return opening * depth + core + "x" + ")" * (depth * opening.count("(") - missing)


texts = (
    st.text(max_size=40)
    | st.binary(max_size=60).map(lambda bytes: "".join(SYMBOLS[b % len(SYMBOLS)] for b in bytes))
    | st.binary(max_size=14).map(lambda bytes: "".join(PIECES[b % len(PIECES)] for b in bytes))
    | st.builds(mutate, equations, st.binary(min_size=3, max_size=9))
    | st.builds(mutate, equations, st.binary(min_size=3, max_size=9))
    | st.builds(
        nest, st.sampled_from(OPENINGS), st.integers(1, 20) | st.integers(50, 900),
        st.sampled_from(PIECES), st.integers(-1, 1),
    )
)  # fmt: skip


@given(texts)
def any_text(text):
    start = time.process_time()
    try:
        equation = parse(text)
    except ParseError as error:
        assert error.text == text and error.reason
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 500
        assert error.position is None or 0 <= error.position <= len(text)
    else:
        assert isinstance(equation, Equation)
        assert max(map(num_nodes, (equation.lhs, equation.rhs))) <= MAX_PARSED_NODES
        again = parse(str(equation)) if len(str(equation)) <= 2000 else equation
        assert again == equation, f"{text!r} -> {equation} -> {again}"
    assert time.process_time() - start < CPU_LIMIT, text


@sizes(100, 1000)
def test_any_text_is_an_equation_or_a_parse_error(count):
    run(any_text, count)


@given(equations)
def any_equation(tree):
    text = write_equation(tree)
    try:
        equation = parse(text, "x")
    except ParseError:
        return
    assert parse(str(equation)) == equation, f"{text} -> {equation}"
    at = {**POINTS[0], "x": PRECISE.mpc("0.7346", "0.2153")}
    for written, side in zip(tree, (equation.lhs, equation.rhs)):
        try:
            wanted, size = compute(written, at)
            got, other = compute(as_tree(side), at)
        except (ZeroDivisionError, ValueError, Unusable):
            continue
        assert abs(wanted - got) <= 1e-20 * max(size, other, 1), f"{text}: {side}"


@sizes(60, 400)
def test_text_means_what_it_says_and_survives_printing(count):
    run(any_equation, count)


# ---- The environment ----

CONFIGS = (
    EnvConfig(max_steps=8, cache_size=300),
    EnvConfig(max_steps=8, cache_size=300, terms="blocks", tan=True, constants="raw"),
    EnvConfig(max_steps=8, cache_size=300, substitutions="general", constants="letters"),
)
WARM = {config: config.new_cache() for config in CONFIGS}  # so small that old states are dropped


def play(env: Env, equation: Equation, choices: bytes) -> list:
    """An episode in which a byte chooses the operation and the next its term; all that was seen."""
    env.reset(options={"equation": equation})
    seen = [(str(env.form), env.actions)]
    for first, second in zip(choices[::2], choices[1::2]):
        if env.ended:
            break
        ops = sorted({action.op for action in env.actions})
        op = ops[first % len(ops)]
        indices = [index for index, action in enumerate(env.actions) if action.op == op]
        observation, reward, *ends, _ = env.step(indices[second % len(indices)])
        tree = [array.tolist() for array in observation[:6]]
        status = env.verdict and (env.verdict.status, env.verdict.valid_when)
        seen.append((str(env.form), env.actions, tree, reward, ends, str(env.root), status))
    return seen


def assert_solution(tree, env: Env) -> None:
    """The root is one by numbers, and the steps can be stored and derived anew."""
    assert_root(tree, env.root, env.verdict.valid_when)
    trace = Trace.from_json(env.trace().to_json())
    assert trace.replay() and trace.to_latex(), trace.to_text()


@given(equations, st.sampled_from(CONFIGS), st.binary(max_size=16))
def any_episode(tree, config, choices):
    start = time.process_time()
    try:
        equation = parse(write_equation(tree), "x")
    except ParseError:
        return
    env = Env([equation], config)
    env.reset()
    for action in env.actions:
        env.cache.successor(env.form, action)
    seen = play(env, equation, choices)
    assert env.cache.failures == 0, "a legal action could not be applied"
    assert not env.cache.errors, "legality raised"
    assert seen == play(Env([equation], config, cache=WARM[config]), equation, choices)
    if env.solved:
        assert_solution(tree, env)
    env.reset(options={"equation": equation})
    if textbook.solve(env):
        assert_solution(tree, env)
    assert time.process_time() - start < CPU_LIMIT, tree


@sizes(40, 200)
def test_an_episode_breaks_nothing_and_claims_only_roots(count):
    CHECKED.clear()
    run(any_episode, count)
    assert CHECKED[1] > count / 40 and CHECKED[0] < CHECKED[1] / 4, CHECKED


# ---- Roots ----

DISGUISES = ("{}", "-({})", "sqrt(({})^2)", "cbrt(({})^3)", "log(exp({}))", "exp(log({}))",
             "asin(sin({}))", "acos(cos({}))", "atan(tan({}))", "({}) + pi", "({}) + 2*pi",
             "({}) + 2*pi*I", "sin(asin({}))", "1/({})", "I*({})", "({}) + 1/10^25",
             "(({})^2 - 1)/(({}) - 1) - 1", "LambertW(({})*exp({}))")  # fmt: skip


@given(
    st.binary(min_size=1, max_size=7), st.binary(min_size=1, max_size=5),
    st.sampled_from(DISGUISES),
)  # fmt: skip
def any_claim(function, root, disguise):
    """f(x) = f(r) has the root r; what looks like r is proved only where it is a root."""
    start = time.process_time()
    tree, planted = grow(function), fill(grow(root), "a")
    equation = (tree, fill(tree, planted))
    candidate = disguise.replace("{}", write(planted))
    try:
        parsed, expr = parse(write_equation(equation)), parse_expression(candidate)
    except ParseError:
        return
    verdict = verify_root(parsed, expr)
    if verdict:
        assert_root(equation, expr, verdict.valid_when)
    assert time.process_time() - start < CPU_LIMIT, (write_equation(equation), candidate)


def fill(tree, value):
    """The tree with `value` for x."""
    if isinstance(tree, str):
        return value if tree == "x" else tree
    return (tree[0], *(fill(arg, value) for arg in tree[1:]))


@sizes(60, 250)
def test_a_claimed_root_is_a_root(count):
    CHECKED.clear()
    run(any_claim, count)
    assert CHECKED[1] > count / 40 and CHECKED[0] < CHECKED[1] / 4, CHECKED
