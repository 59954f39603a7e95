"""Solutions as people write them: every line is true, every letter has one meaning, and LaTeX,
MathML and JSON say what the text says.
"""

import json
import random
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations

import mpmath
import pytest
import sympy as sp

from abel import Env, EnvConfig, Trace, load_dataset, parse
from abel.datasets.textbook import solve
from abel.derive import rules, take, term_of
from abel.env import SUPPLIED
from abel.equation import Label
from abel.operations import OPERATIONS, Action, describe, legal_actions, worded
from abel.operations.ansatz import BOUNDS, can_vanish, forms
from abel.parse import parse_expression
from abel.render import Formula, as_mathml, as_text, for_pages, lines_of, to_data, to_latex, to_text
from abel.render.letters import Letters
from abel.render.lines import condition
from abel.render.printers import as_latex
from abel.render.writers import in_words, raw
from abel.report.page import ELEMENTS, formula
from abel.trace import Step
from abel.transitions import start_of
from abel.wild.script import play
from tests.latex import LatexError, formulas_in, read, rows_of
from tests.test_ansatz import SOLVE_CUBIC, SOLVE_QUADRATIC, scripted
from tests.test_ansatz import play as derived
from tests.test_wild import SIMPLEST, TEMPLATES, lower

# Where every row of the table has something to do.
EQUATIONS = (
    "a*x^2 + b*x + c = 0", "x^3 + p*x + q = 0", "x^4 + p*x^2 + q*x + r = 0",
    "a*x^4 + b*x^3 + c*x^2 + d*x + f = 0", "a*exp(2*x) + b*exp(x) + c = 0",
    "a*exp(x) + b*exp(-x) + c = 0", "log(x)^2 + a*log(x) + b = 0", "a*x + b*x = c/x + b",
    "sin(x)^2 + a*sin(x) = b", "a*sin(x) + b*cos(x) = c", "sin(3*x) + sin(x) = 0", "sin(x) = a",
    "tan(x) = a", "cos(2*x) = sin(x)", "x*exp(x) = a", "LambertW(x) = a", "x^(x + 1) = 8",
    "sqrt(x) + x^(1/3) = a", "(x + 1)^(3/2) = a", "log(x*(x - 3)) = 2", "abs(x - 1) = 3",
    "(x - 1)*(x + a) = 0", "x^2 = (x + 1)*b", "sqrt(x + a) = b", "x^3 = a", "exp(x) = a",
    "x^6 + a*x^3 + b = 0", "a/x^2 + b/x + c*x^3 = 0", "x^5 + a*x^4 + b*x^2 + c = 0",
    "x*(x + 1) = 2*(x + 1) + a", "a*x^3 + b*x^2 + c*x + d = 0", "-x^2 - x/15 + 1/2 = 0",
    "b*log(x)^3 + c*log(x)^2 + d*log(x) + g = 0", "b*x + c*x^2 + b/x = 0", "x^2 - 3*x + 2 = 0",
)  # fmt: skip


@cache
def first_steps():
    """One step by every row, where the first of the equations lets it."""
    found = {}
    for text in dict.fromkeys((*EQUATIONS, *sums_of_powers())):
        cache = rules()
        state = start_of(parse(text), cache)
        actions = legal_actions(state.lhs, state.rhs, OPERATIONS.values(), False, cache.errors)
        for action in actions:
            if action.op not in found:
                after, transform = take(action, None, state, cache)
                step = Step(action.op, term_of(action), str(after.form), transform)
                found[action.op] = Trace(text, (step,))
    return found


def sums_of_powers():
    """For every form that can make a term vanish, a sum of powers in which it does."""
    shapes = [shape for n in (2, 3, 4) for shape in combinations(range(9), n)]
    for form in forms(max(BOUNDS)):
        shape = next((s for s in shapes if can_vanish(form, s, True)), None)
        if shape is not None:
            yield " + ".join(f"{letter}*x^{n}" for letter, n in zip("abcd", shape)) + " = 0"


def by_script(text):
    config = EnvConfig(
        substitutions="general", terms="blocks", resolvent=True, max_changes=8, **SUPPLIED
    )
    env = Env([text], config)
    env.reset()
    solve(env)
    return env.trace()


def relabeled(text):
    """By the paper's detector, with every block given a letter after each step."""
    env = Env([text])
    env.reset()
    solve(env, True)
    return env.trace()


ROUTES = {
    **{family: lambda t=t: by_script(t) for family, t in (
        (family, SIMPLEST.get(family) or lower(TEMPLATES[family])) for family in TEMPLATES
    )},
    "resolvent": lambda: by_script("x^4 + x + 1 = 0"),
    "derived quadratic": lambda: scripted(derived("a*x^2 + b*x + c"), *SOLVE_QUADRATIC).trace(),
    "derived cubic": lambda: scripted(derived("x^3 + t*x^2 + u*x + h"), *SOLVE_CUBIC).trace(),
    "relabel": lambda: relabeled("d*x^2 + b*x + a = 0"),
    "relabel twice": lambda: relabeled("b*exp(x)/(a + c) + d*(a + c)*exp(-x) + b = 0"),
    **{text: lambda text=text: play(parse(text)).trace() for text in (
        "abs(x - 3) = 7", "x^5 = 32", "sqrt(x) + x^(1/3) = 2", "3^x = 4*x", "sin(3*x) = sin(x)",
        "log(x) + log(x - 3) = log(10)", "(x - 1)*(x^2 - 3*x + a) = 0", "x^(2*x) = 16",
    )},
}  # fmt: skip


@cache
def route(name):
    return ROUTES[name]()


QUICK = {"quadratic", "cubic_generic", "two_bases", "sin_cos", "palindromic", "resolvent",
         "derived quadratic", "relabel", "abs(x - 3) = 7", "x^5 = 32", "3^x = 4*x"}  # fmt: skip


def traces():
    slow = [pytest.mark.slow]
    return [pytest.param(n, id=n, marks=() if n in QUICK else slow) for n in ROUTES]


# ---- What is true of every solution ----


FUNCTIONS = {
    "exp": mpmath.exp, "log": mpmath.log, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan, "Abs": abs,
    "LambertW": mpmath.lambertw, "Pow": mpmath.power,
    "Add": lambda *args: mpmath.fsum(args), "Mul": lambda *args: mpmath.fprod(args),
}  # fmt: skip


def number(expr, values):
    """The value of an expression; noise is cut off at every node, for it may cross a branch cut."""
    if not expr.args:
        known = values.get(expr, expr)
        return known if isinstance(known, mpmath.mpc) else mpmath.mpc(sp.N(known, 40))
    value = mpmath.mpc(FUNCTIONS[type(expr).__name__](*[number(a, values) for a in expr.args]))
    return mpmath.mpc(value.real, 0) if abs(value.imag) < 1e-25 * abs(value) else value


def close(lhs, rhs, values):
    with mpmath.workdps(40):
        left, right = number(lhs, values), number(rhs, values)
        return abs(left - right) <= 1e-20 * (1 + abs(left) + abs(right))


def formulas_of(lines):
    for line in lines.steps:
        parts = (*line.said, line.equation, *line.where)
        yield from (part for part in parts if isinstance(part, Formula) and part.rhs is not None)


def values_of(trace, lines, seed):
    """Numbers for the question's letters, for those that are explained, and for the unknowns."""
    rng = random.Random(seed)
    known = {letter: sp.Rational(rng.choice((1, 1, 1, -1)) * rng.randint(3, 40), 13)
             for letter in parse(trace.equation).coefficients}  # fmt: skip
    waiting = [f for f in formulas_of(lines) if f.lhs.is_Symbol and f.lhs not in f.rhs.free_symbols]
    for _ in range(40):
        for each in waiting:
            if each.lhs not in known and each.rhs.free_symbols <= known.keys():
                with mpmath.workdps(40):
                    known[each.lhs] = number(each.rhs, known)
    return known


@pytest.mark.parametrize("name", traces())
def test_every_line_of_a_solution_is_true(name):
    """With one number for every letter, all equations hold, and all that is said of letters."""
    trace = route(name)
    assert trace.solved, trace.to_text()
    lines = lines_of(trace)
    equation, x = parse(trace.equation), sp.Symbol("x")
    for seed in range(20):
        values = values_of(trace, lines, seed)
        with mpmath.workdps(40):
            root = number(lines.answer.equation.rhs, values)
        if close(equation.lhs, equation.rhs, {**values, x: root}):
            break  # these letters fulfil the condition of the root
    else:
        raise AssertionError("no values fulfil the condition")
    assert abs(values[x] - root) < 1e-20 * (1 + abs(root))
    for each in formulas_of(lines):
        assert each.lhs.free_symbols | each.rhs.free_symbols <= values.keys(), as_text(each)
        assert close(each.lhs, each.rhs, values), as_text(each)


@pytest.mark.parametrize("name", traces())
def test_no_letter_has_two_meanings(name):
    trace = route(name)
    lines = lines_of(trace)
    given = {letter.name for letter in parse(trace.equation).coefficients} | {"x"}
    explained = [f.lhs.name for line in lines.steps for f in line.where]
    assert len(set(explained)) == len(explained) and not given & set(explained)
    unknowns = {f.unknown.name for line in lines.steps for f in [line.equation]}
    assert not unknowns & (set(explained) | given - {"x"})


# ---- Every row ----


def test_every_row_has_something_to_do_in_these_equations():
    idle = OPERATIONS.keys() - first_steps().keys()
    assert all(op.startswith("put ") for op in idle) and len(first_steps()) > 60, idle


@pytest.mark.parametrize("op", OPERATIONS)
def test_a_step_of_every_row_is_told_and_read_back(op):
    trace = first_steps().get(op)
    if trace is None:
        return  # no term can vanish by this form
    lines = lines_of(trace)
    assert all(isinstance(line.equation, Formula) for line in lines.steps)
    if op != "relabel":  # where a block is a letter there is nothing to be seen
        assert len(lines.steps) > 1 and lines.steps[1].said
    check_documents(trace, lines)


def check_documents(trace, lines):
    """LaTeX is read back, MathML is well-formed and of known elements, JSON is the text."""
    rows = rows_of(to_latex(lines))
    assert len(rows) == len(lines.steps) + (lines.answer is not None)
    for (equation, note), line in zip(rows, lines.steps):
        read_back(equation, line.equation)
        if line.sign:
            assert raw(line.sign) in note
            note = note.replace(raw(line.sign), "")
        wanted = [part for part in (*line.said * (not line.sign), *line.where)
                  if isinstance(part, Formula)]  # fmt: skip
        for text, part in zip(formulas_in(note), wanted, strict=True):
            read_back(text, part)
    for part in formulas_and_parts(lines):
        shown = formula(as_mathml(part), as_text(part))
        assert "<code>" not in shown and "&" not in shown.replace("&lt;", "").replace("&gt;", "")
        for piece in as_mathml(part):
            assert {node.tag for node in ET.fromstring(piece).iter()} <= ELEMENTS
    data, text = to_data(lines), to_text(lines)
    assert json.loads(json.dumps(data)) == data
    for line in data:
        assert line["equation"] in text and line["said"] in text
        assert all(each in text for each in line["where"])


def formulas_and_parts(lines):
    every = [*lines.steps, *[lines.answer] * (lines.answer is not None)]
    parts = [part for line in every for part in (*line.said, line.equation, *line.where)]
    return [part for part in parts if isinstance(part, Formula)]


def read_back(text, wanted):
    sides, relations = read(text)
    own = [side for side in wanted[:2] if side is not None]
    assert relations == [wanted.relation] * (len(own) - 1) and len(sides) == len(own), text
    rng = random.Random(0)
    letters = sorted(set().union(*(side.free_symbols for side in own)), key=str)
    values = {letter.name: sp.Rational(rng.randint(15, 90), 31) for letter in letters}
    for side, expected in zip(sides, own):
        assert {s.name for s in side.free_symbols} <= values.keys(), text
        here = {sp.Symbol(name): value for name, value in values.items()}
        assert close(side, expected, here), (text, expected)


@pytest.mark.parametrize("name", traces())
def test_latex_mathml_and_json_say_what_the_text_says(name):
    trace = route(name)
    lines = lines_of(trace)
    check_documents(trace, lines)
    assert trace.to_text().startswith(trace.equation + "\n")
    read_back(rows_of(trace.to_latex())[-1][0], lines.answer.equation)


@pytest.mark.slow
def test_every_solution_of_a_split_is_written_in_full():
    for problem in load_dataset("open_small", "heldout"):
        trace = by_script(problem.text)
        lines = lines_of(trace)
        assert all(isinstance(line.equation, Formula) for line in lines.steps), problem.text
        check_documents(trace, lines)


@pytest.mark.slow
def test_random_walks_are_told_whatever_they_come_to(times):
    rng = random.Random(7)
    config = EnvConfig(substitutions="general", tan=True, max_steps=14, **SUPPLIED)
    env = Env(list(EQUATIONS[:20]), config)
    for seed in range(30 * times):
        env.reset(seed=seed)
        while not env.ended:
            env.step(rng.randrange(len(env.actions)))
        trace = env.trace()
        lines = lines_of(trace)
        assert all(isinstance(line.equation, Formula) for line in lines.steps), trace.to_text()
        rows_of(to_latex(lines))


def test_the_reader_of_latex_refuses_what_does_not_compile():
    for bad in (r"\frac{1}{2", r"x^2", r"\left(x", r"\foo{x}", "x = ", r"\sqrt[3{x}", "x & y"):
        with pytest.raises(LatexError):
            read(bad)
    with pytest.raises(LatexError):
        formulas_in(r"\text{a_b}")


# ---- Words ----


@pytest.mark.parametrize(
    ("op", "term", "said"),
    [
        ("sub", "-1/2", "add 1/2"), ("sub", "-b*x", "add b*x"), ("add", "-x^2", "subtract x**2"),
        ("div", "1/15", "multiply by 15"), ("mul", "1/a", "divide by a"),
        ("div", "-1/3", "multiply by -3"), ("div", "2/3", "multiply by 3/2"),
        ("sub", "a - b", "subtract a - b"), ("sub", "-a - b", "add a + b"),
        ("mul", "2/3", "multiply by 2/3"), ("div", "2*a", "divide by 2*a"),
        ("div", "exp(-x)", "multiply by exp(x)"), ("div", "x", "divide by x"),
    ],
)  # fmt: skip
def test_steps_are_said_as_a_person_says_them(op, term, said):
    assert describe(Action(op, parse_expression(term))) == said


def test_words_do_what_the_step_does():
    """Whatever a step is called, the row it is called by gives the same equation."""
    for text in ("-x^2/15 - b*x = 1/a - c/3", "exp(-x) - a = b/x"):
        cache = rules()
        state = start_of(parse(text), cache)
        rows = [OPERATIONS[op] for op in ("add", "sub", "mul", "div")]
        actions = legal_actions(state.lhs, state.rhs, rows, False, cache.errors)
        turned = [action for action in actions if worded(action)[0].name != action.op]
        assert len(turned) > 4
        for action in turned:
            row, term = worded(action)
            own = OPERATIONS[action.op].apply(state.lhs, state.rhs, action.term)
            told = row.apply(state.lhs, state.rhs, term)
            for mine, theirs in zip(own[:2], told[:2]):
                values = {s: sp.Rational(k + 3, 7) for k, s in enumerate(mine.free_symbols)}
                assert close(mine, theirs, values)


def test_a_derived_substitution_says_what_was_chosen_and_why():
    text = scripted(derived("a*x^2 + b*x + c = 0"), *SOLVE_QUADRATIC).trace().to_text()
    assert "put x = t + h, with h such that the term in t vanishes" in text
    assert "so put x = t - b/(2*a): the term in t vanishes" in text
    assert "as x = t - b/(2*a)" in text


def test_cardano_reads_as_in_a_book():
    """What is put, why, and what is put back between the steps."""
    said = [in_words(line.said) for line in lines_of(by_script("x^3 + p*x + q = 0")).steps]
    assert said[1:] == [
        "put x = t - p/(3*t) and clear denominators", "let u = t^3",
        "put u = s - q/2, so that the term in s vanishes", "subtract a",
        "take the square root", "as u = s - q/2", "as u = t^3", "take the cube root",
        "as x = t - p/(3*t)",
    ]  # fmt: skip


def test_letters_inside_of_blocks_are_explained_first():
    a, p, q = sp.symbols("a p q")
    inner = Label("a", p + q)
    letters = Letters(parse("a*x + p + q = 0"))
    found = letters.explain([Label("d", 2 * inner), inner])
    assert [str(block) for _, block in found] == ["p + q", f"2*{found[0][0]}"]
    assert a not in {letter for letter, _ in found} and not letters.explain([inner])


def test_letters_of_the_question_are_never_given_another_meaning():
    text = relabeled("d*x^2 + b*x + a = 0").to_text()
    assert "[a =" not in text and "a := " not in text and "d*t^2" in text


def test_letters_for_letters_are_no_line():
    cache = rules()
    state = start_of(parse("d*x + b = 0"), cache)
    after, transform = take(Action("relabel"), None, state, cache)
    trace = Trace("d*x + b = 0", (Step("relabel", None, str(after.form), transform),))
    assert transform and len(lines_of(trace).steps) == 1


def test_lines_are_numbered_without_gaps():
    text = relabeled("b*exp(x)/(a + c) + d*(a + c)*exp(-x) + b = 0").to_text()
    numbers = [int(line.split(".")[0]) for line in text.splitlines() if line[:3].strip().isdigit()]
    assert numbers == [*range(1, len(numbers) + 1)]


def test_the_unknown_may_have_another_name():
    trace = by_script("t*x^2 + b*x + c = 0").renamed("t")
    lines = lines_of(trace)
    text = to_text(lines)
    assert text.startswith("t^2*x + b*t + c = 0\n") and "put t = s - b/(2*x)" in text
    assert as_text(lines.answer.equation).startswith("t = ")
    check_documents(trace, lines)


def test_conditions_are_formulas():
    said = in_words(condition("(a >= 0) & (Ne(b, 0) | (c < d**2))"))
    assert said == "a >= 0 and (b != 0 or c < d^2)"
    assert in_words(condition("~(a > 0)")) == "not (a > 0)"
    trace = Trace("sqrt(x) + a = 0", by_script("sqrt(x) + a = 0").steps, "a**2", "proved", "a <= 0")
    assert rows_of(trace.to_latex())[-1] == ("x = a^{2}", r"\text{valid when } a \le 0")


def test_high_powers_of_the_unknown_come_first():
    x, t, a, b = sp.symbols("x t a b")
    assert as_text(Formula(a + t**2 - b * t, unknown=t)) == "t^2 - b*t + a"
    assert as_text(Formula(a + 1 / x + x, unknown=x)) == "x + a + 1/x"
    assert as_text(Formula(-b + a)) == "a - b" and as_text(Formula(2 - x)) == "2 - x"
    assert as_text(Formula(2 - x - x**2, unknown=x)) == "-x^2 - x + 2"


def test_the_real_part_stands_before_the_imaginary_one():
    i = sp.I
    assert as_text(Formula(-2 + 3 * i)) == "-2 + 3*I" and as_text(Formula(1 - i)) == "1 - I"
    root = sp.Rational(-28, 27) + 5 * sp.sqrt(3) * i / 3
    assert as_text(Formula(root)) == "-28/27 + 5*sqrt(3)*I/3"


@pytest.mark.parametrize("text, shown", [
    ("sqrt(2*a/b)", "sqrt(2*a/b)"), ("(3*a/(4*pi))^(1/3)", "(3*a/(4*pi))^(1/3)"),
    ("5*sqrt(3*a)", "5*sqrt(3*a)"), ("sqrt(a/2)", "sqrt(a/2)"), ("-sqrt(6*a)/5", "-sqrt(6*a)/5"),
    ("1 + c*sqrt(2*a)", "c*sqrt(2*a) + 1"), ("(4*a)^(1/3)", "(4*a)^(1/3)"),
    ("sqrt(3)*sqrt(a + b)", "sqrt(3)*sqrt(a + b)"), ("sqrt(5)/2", "sqrt(5)/2"),
    ("-(3*a/(4*pi))^(1/3)", "-(3*a/(4*pi))^(1/3)"),
    ("sqrt(-2*a)", "sqrt(-2*a)"), ("asin(sqrt(2*a))", "asin(sqrt(2*a))"),
    ("sqrt(2)*a^(1/3)", "sqrt(2)*a^(1/3)"),
])  # fmt: skip
def test_the_root_of_a_product_is_one_root(text, shown):
    """SymPy takes numbers out of roots: sqrt(2*a/b) is sqrt(2)*sqrt(a/b) to it."""
    expr = parse_expression(text)
    assert as_text(Formula(expr)) == shown
    assert parse_expression(shown) == expr
    values = {s: sp.Rational(k + 3, 7) for k, s in enumerate(expr.free_symbols)}
    ((back,), _) = read(as_latex(Formula(expr)))
    assert close(back, expr, values)


def test_absolute_values_have_bars_and_nested_ones_are_read_back():
    a, b = sp.symbols("a b")
    assert as_text(Formula(abs(a - b), sp.Integer(3))) == "|a - b| = 3"
    nested = abs(abs(a) - b)
    assert as_text(Formula(nested)) == "abs(b - |a|)" and parse_expression("abs(b - |a|)") == nested


def test_latex_tells_euler_s_number_and_principal_roots_from_others():
    e, i = sp.symbols("e i")
    text = as_latex(Formula(sp.E * e + sp.I * i + sp.cbrt(-1) + sp.exp(2 * e) ** 2))
    assert r"\mathrm{e} e" in text and r"\mathrm{i} i" in text
    assert r"\left(-1\right)^{\frac{1}{3}}" in text and r"\mathrm{e}^{4 e}" in text


def test_mathml_is_set_as_people_set_it():
    a, x, e = sp.symbols("a x e")
    (shown,) = as_mathml(Formula(a * sp.sin(x) - sp.I * e, sp.E, unknown=x))
    assert '<mo lspace="0.17em">' in shown and "<mo>−</mo>" in shown and "<mi>e</mi>" in shown
    assert '<mi mathvariant="normal">e</mi>' in shown and '<mi mathvariant="normal">i' in shown
    (greek,) = as_mathml(Formula(sp.Symbol("alpha") * sp.pi))
    assert ET.fromstring(greek) is not None and "π" in greek


def test_long_formulas_come_in_pieces_and_say_the_same():
    letters = sp.symbols("a:h")
    long = Formula(sum((-1) ** k * c / (k + 2) ** 9 for k, c in enumerate(letters)), letters[0])
    pieces = as_mathml(long)
    assert len(pieces) == len(letters) + 1
    signs = [node.text for piece in pieces for node in ET.fromstring(piece).iter("mo")
             if node.get("form") == "infix"]  # fmt: skip
    assert sorted(signs) == sorted(["=", *"+++", *"−−−−"])
    assert "".join(pieces).count("−") == 4  # a term has its sign before it, and no other
    assert formula(pieces, "").count("<math") == len(pieces)


# ---- Documents ----


def test_stored_lines_are_compared():
    trace = by_script("a*x + b = 0")
    data = json.loads(trace.to_json())
    assert [line["said"] for line in data["lines"]] == ["", "subtract b", "divide by a"]
    assert Trace.from_json(json.dumps(data)).compare()
    data["lines"][2]["equation"] = "x = b/a"
    assert Trace.from_json(json.dumps(data)).compare().differs == "line 3"
    del data["lines"][2]
    assert Trace.from_json(json.dumps(data)).compare().differs == "line 3"
    del data["lines"]  # as older documents are
    assert Trace.from_json(json.dumps(data)).compare()
    for bad in (7, "x", [1], {}):
        with pytest.raises(ValueError, match="lines"):
            Trace.from_json(json.dumps({**data, "lines": bad}))


def test_what_does_not_follow_is_shown_as_recorded():
    steps = (Step("sub", "b", "a*x = -b"), Step("div", "a", "x = 7_&%"), Step("nonsense", "q", "?"))
    trace = Trace("a*x + b = 0", steps, "7", "proved")
    text = trace.to_text()
    assert "1. subtract b    a*x = -b" in text and "2. divide by a   x = 7_&%" in text
    assert "3. nonsense q" in text
    assert r"\texttt{x = 7\_\&\%}" in trace.to_latex()
    assert "(((" in Trace("(((", steps).to_text()


def test_pages_get_words_and_mathml_side_by_side():
    first, *steps, answer = for_pages(lines_of(by_script("x^3 + p*x + q = 0")))
    assert first["mathml"] and answer["equation"].startswith("x = ")
    words, shown = steps[0]["parts"][:2]
    assert words == ("put ", []) and shown[0] == "x = t - p/(3*t)" and "<mfrac>" in shown[1][0]
    assert any(step["step"] is None for step in steps) and any(step["where"] for step in steps)
