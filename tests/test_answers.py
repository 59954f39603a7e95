"""What people are told: the simplest form of a root that is proved, and why there is none."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import sympy
from sympy import Integer, Rational, lambdify, sqrt, sstr

from abel import parse
from abel.answers import counted
from abel.answers.__main__ import main as count
from abel.answers.failures import as_markdown, failures, times
from abel.env import EnvConfig
from abel.parse import parse_expression
from abel.report.study import best_try
from abel.roots import (
    STUCK,
    answer_of,
    kind_of_failure,
    number_beside,
    real_branch,
    simplest,
    unsolved,
    why_no_root,
    why_not,
    written,
)
from abel.roots.polynomial import isolated_roots
from abel.search import greedy
from abel.verify import verify_root

CASES = [
    ("2^x = 8", "log(8)/log(2)", "3"),
    ("5^(x + 1) = 125", "-1 + log(125)/log(5)", "2"),
    ("2^x = sqrt(2)", "log(sqrt(2))/log(2)", "1/2"),
    ("4^x = 9", "log(9)/log(4)", "log(3)/log(2)"),
    ("3*exp(2*x) = 12", "log(4)/2", "log(2)"),
    ("cos(log(exp(2*x))) = 0", "log(exp(pi/2))/2", "pi/4"),
    ("cos(log(x^2)) = 0", "sqrt(exp(pi/2))", "exp(pi/4)"),
    ("2*x^3 + 16 = 0", "2*(-1)^(1/3)", "1 + sqrt(3)*I"),
    ("x^3 - 4*x = 0", "2*sqrt(3)/(3*sqrt((-1)^(1/3))) + 2*sqrt(3)*sqrt((-1)^(1/3))/3", "2"),
    ("4*x^3 + x = -1", "(-1/8 + sqrt(21)/36)^(1/3) - 1/(12*(-1/8 + sqrt(21)/36)^(1/3))", "-1/2"),
    ("(x^2 - 5)^2 = 24", "sqrt(5 + 2*sqrt(6))", "sqrt(2) + sqrt(3)"),
    ("x - 10*sqrt(x + 1) - 5 = 0", "-1 + (5 + sqrt(31))^2", "55 + 10*sqrt(31)"),
    ("x^2 - x - 1 = 0", "1/2 + sqrt(5)/2", "(1 + sqrt(5))/2"),
    ("1/f = 1/u + 1/x", "1/(1/f - 1/u)", "f*u/(u - f)"),
    ("1/f = 1/x - 1/u", "1/(1/f + 1/u)", "f*u/(f + u)"),
    ("c*x = b - a", "-(a - b)/c", "(b - a)/c"),
    ("x^2 = 2*(s + v^2/a)/a", "sqrt(-2*(-s - v^2/a)/a)", "sqrt(2)*sqrt(s/a + v^2/a^2)"),
    ("x^3 = a", "a^(1/3)*(-1/2 + sqrt(3)*I/2)", "a^(1/3)*(-1 + sqrt(3)*I)/2"),
    ("2^x*8^a = 2^a*4^(a+x)", "a + log(8)/log(2) - 3", "a"),
    (
        "a*x^2 + b*x + c = 0",
        "sqrt(-(c - b^2/(4*a))/a) - b/(2*a)",
        "sqrt(b^2/(4*a^2) - c/a) - b/(2*a)",
    ),
]


@pytest.mark.parametrize("equation, root, shown", CASES)
def test_the_simplest_form_is_shown(equation, root, shown):
    root = parse_expression(root)
    assert written(simplest(parse(equation), root)) == (sstr(root) if shown is None else shown)


@pytest.mark.parametrize("equation, root, shown", CASES)
def test_what_is_shown_is_the_same_number(equation, root, shown):
    root = parse_expression(root)
    form = simplest(parse(equation), root)
    letters = sorted(root.free_symbols | form.free_symbols, key=str)
    values = [mpmath.mpf(k + 2) / 7 for k in range(len(letters))]
    with mpmath.workdps(60):
        first, second = (lambdify(letters, each, "mpmath")(*values) for each in (root, form))
        assert abs(first - second) < mpmath.mpf(10) ** -50


def test_a_near_miss_is_not_simplified():
    """A ball tells it from 3 with 96 digits; beyond them, only a proof can."""
    for digits in (70, 90, 120, 300):
        root = sqrt(9 + Rational(1, 10**digits))
        assert simplest(parse("a*x = b"), root) == root
    assert simplest(parse("a*x = b"), parse_expression("sqrt(9)*log(8)/log(4)")).is_Rational


def test_without_a_proof_a_root_stays_as_it_was_found(monkeypatch):
    module = sys.modules["abel.roots.simplest"]
    monkeypatch.setattr(module, "verify_root", lambda *args: verify_root(parse("x = 1"), 2))
    root = parse_expression("log(8)/log(2)")
    assert simplest(parse("2^x = 8"), root) == root
    root = parse_expression("1/(1/a - 1/b)")
    assert simplest(parse("1/a = 1/b + 1/x"), root) == root


def test_cubics_with_three_real_roots_have_a_real_form():
    """Viete's angles, for one whose cosines the criterion knows and for one where it does not."""
    module = sys.modules["abel.roots.simplest"]
    for coefficients in ((1, -3, 0, 1), (5, -7, 0, 1), (-1, -4, 3, 8)):
        d, c, b, a = map(Integer, coefficients)
        equation = parse(f"{a}*x^3 + {b}*x^2 + {c}*x + {d} = 0")
        forms, places = list(module.trigonometric_roots(d, c, b, a)), isolated_roots(equation)
        assert len(forms) == 3 and all(place.is_real for place in places)
        for place in places:
            assert sum(module.is_at(form, place, places) for form in forms) == 1
        with mpmath.workdps(60):
            for form in forms:
                x = lambdify([], form, "mpmath")()
                assert abs(a * x**3 + b * x**2 + c * x + d) < mpmath.mpf(10) ** -50
    assert not list(module.trigonometric_roots(*map(Integer, (1, 1, 0, 1))))


@pytest.mark.parametrize(
    "text, roots, real",
    [("(x - 1)*(x + 2)*(x - 3) = 0", 3, 3), ("x^3 = -8", 3, 1), ("x^4 + x + 1 = 0", 4, 0),
     ("(x^2 - 1)/(x - 1) = 0", 1, 1), ("(x - 2)^2*x = 0", 2, 2), ("1/x + x = 5/2", 2, 2)],
)  # fmt: skip
def test_roots_of_polynomials_are_isolated(text, roots, real):
    places = isolated_roots(parse(text))
    assert (len(places), sum(place.is_real for place in places)) == (roots, real)


def test_other_equations_are_no_polynomials():
    for text in ("sqrt(x) = 1", "a*x = 1", "x^30 = 2", "sin(x)/x = 0", "2^x = x"):
        assert isolated_roots(parse(text)) is None


# ---- A real root on another branch ----


def cube_root(observations):
    rows = [[-float(str(a) != "cbrt") for a in o.actions] for o in observations]
    return [np.array(row) for row in rows], np.zeros(len(rows))


def real_root_of(text, decode):
    config = EnvConfig(max_steps=6, cbrt=True)
    cache = config.new_cache()
    solution = greedy(cube_root, [parse(text)], config, cache)[0]
    assert solution.solved
    return real_branch(solution, solution.root, decode, config, cache)


def refuse(equation, state):
    raise AssertionError("nobody should be asked")


def test_a_real_root_is_preferred_to_a_complex_one():
    found = real_root_of("x^3 = -8", refuse)
    assert found.verdict and simplest(parse("x^3 = -8"), found.root) == -2
    assert "cube root, times" in found.how[0]


def test_a_real_root_is_not_looked_for_where_there_is_none_or_one_was_found():
    for text in ("x^3 = 8", "x^3 = a", "x^3 = -8*I"):
        assert real_root_of(text, refuse) is None


# ---- What is said beside it ----


@pytest.mark.parametrize(
    "root, beside",
    [("3", ""), ("1/2", "= 0.5"), ("1/3", "about 0.3333333"), ("-2 + 3*I", ""), ("a/2", ""),
     ("3/2 + I/2", "= 1.5 + 0.5*I"), ("1/2 - sqrt(3)*I/2", "about 0.5 - 0.8660254*I"),
     ("exp(100)", "about 2.688117e+43"), ("I*pi", "about 3.141593*I"), ("2^70", "")],
)  # fmt: skip
def test_a_number_is_put_beside_the_root(root, beside):
    assert number_beside(parse_expression(root)) == beside


@pytest.mark.parametrize(
    "text, root, more",
    [("x^3 = -8", "-2", "3 roots, 1 of them real"), ("x^2 = 4", "2", "2 roots"),
     ("x^2 + 1 = 0", "I", "2 roots, none of them real"), ("a*x^2 = b", "sqrt(b/a)", "2 roots in"),
     ("sin(x) = 1/2", "pi/6", "infinitely many"), ("cos(a*x + 1) = b", "(acos(b) - 1)/a", "infini"),
     ("2*x = 1", "1/2", ""), ("sin(x) = x", "0", ""), ("exp(x) = 5", "log(5)", ""),
     ("x^2/x = 1", "1", ""), ("sin(x) + sin(sqrt(2)*x) = 0", "0", ""), ("sqrt(x) = 2", "4", "")],
)  # fmt: skip
def test_more_roots_are_announced_where_it_is_known(text, root, more):
    said = answer_of(parse(text), parse_expression(root)).more
    assert said.startswith(more) and bool(said) == bool(more)
    assert not said or said.endswith(f"--all-roots goes on to the other{'s' * (said[0] != '2')}")


@pytest.mark.parametrize(
    "text, real",
    [("sin(x) = 2", False), ("3*cos(x^2 - 1) = -4", False), ("sin(x) = I", False),
     ("sin((1 + I)*x) = 2", True), ("sin(x) = 1", True), ("cos(sqrt(x)) = 2", True),
     ("sin(x) = a", True), ("sin(x) + x = 9", True), ("sin(log(x)) = 2", True)],
)  # fmt: skip
def test_it_is_said_where_no_root_is_real(text, real):
    """Only where x is real for certain: cos(sqrt(x)) = 2 has a negative root."""
    said = answer_of(parse(text), parse_expression("0")).more
    assert ("real" in said) != real


def test_an_answer_is_one_line():
    half = answer_of(parse("2*x = 1"), parse_expression("1/2"))
    assert half.to_text(None) == "x = 1/2 = 0.5   (proved)"
    golden = answer_of(parse("x^2 - x - 1 = 0"), parse_expression("1/2 + sqrt(5)/2"))
    assert golden.to_text("(a > 0) & Ne(b**2, c)") == (
        "x = (1 + sqrt(5))/2, about 1.618034   (proved, valid when a > 0 and b^2 != c)"
    )
    equation = parse("t^2 = x*a", "t")
    assert answer_of(equation, parse_expression("sqrt(t*a)")).to_text(None) == (
        "t = sqrt(a*x)   (proved)"
    )


# ---- Failures ----


def test_a_failure_says_what_came_nearest():
    def told(text, root):
        equation, root = parse(text), parse_expression(root)
        return why_not(equation, root, verify_root(equation, root))

    assert told("sqrt(x) = x - 2", "1").endswith("refuted: extraneous, not a root of the equation")
    assert told("x/(x - 1) = 1/(x - 1)", "1").endswith(
        "the equation is not defined at the candidate"
    )
    unproven = told("x^3 - 3*x + 1 = 0", "2*cos(2*pi/9)")
    assert unproven == "x = 2*cos(2*pi/9) is a root at the sampled values, not proved"
    assert len(told("x = 1", "+".join(f"sqrt({k}*a)" for k in range(2, 50)))) < 300


def test_reasons_become_sentences():
    assert unsolved("there is no root: exp(x) is never 0") == (
        "no solution, because exp(x) is never 0"
    )
    every = "every x for which it is defined is a root"
    assert unsolved(every) == every and unsolved("") == "not solved"
    assert unsolved("not solved within 16 steps") == "not solved within 16 steps"
    assert unsolved("MemoryError on the way") == "not solved: MemoryError on the way"


@pytest.mark.parametrize(
    ("text", "root", "kind"),
    [
        ("sqrt(x) = x - 2", "1", "the best candidate is refuted"),
        ("x/(x - 1) = 1/(x - 1)", "1", "the equation is not defined at the best candidate"),
        ("x^3 - 3*x + 1 = 0", "2*cos(2*pi/9)", "the best candidate is not proved"),
        ("exp(x) = 0", None, "said to have no single root"),
        ("sin(x)^2 + cos(x)^2 = 1", None, "said to have no single root"),
        ("x = 1", "not solved within 28 steps", "step limit"),
        ("x = 1", f"{STUCK} after 3 steps", "no legal action"),
        ("x = 1", "MemoryError on the way", "an exception"),
        ("x = 1", "", "other"),
    ],
)
def test_every_reason_of_a_failure_has_its_kind(text, root, kind):
    equation = parse(text)
    if text == "x = 1":
        reason = root
    elif root is None:
        reason = why_no_root(equation)
    else:
        value = parse_expression(root)
        reason = why_not(equation, value, verify_root(equation, value))
    assert kind_of_failure(reason) == kind


@pytest.mark.parametrize(("steps", "kind"), [(3, "no legal action"), (28, "step limit")])
def test_steps_that_lead_nowhere_are_told_from_a_limit(steps, kind, monkeypatch):
    study = SimpleNamespace(config=EnvConfig(max_steps=28))
    monkeypatch.setattr("abel.report.study.candidates", lambda solution, cache: [])
    solution = SimpleNamespace(path=((),) * steps, equation=parse("x = a"))
    assert kind_of_failure(best_try(study, solution, None, study.config.new_cache())) == kind


# ---- The count ----

ROWS = [
    {"equation": "x = 1", "solved": True, "reason": "", "solved_by": ["greedy"],
     "cpu_ms": {"greedy": 4.0}},
    {"equation": "x = 2", "solved": True, "reason": "", "solved_by": ["greedy"],
     "cpu_ms": {"greedy": 8.0}},
    {"equation": "x = 3", "solved": False, "reason": "not solved within 28 steps",
     "solved_by": [], "cpu_ms": {"greedy": 99.0}},
    {"equation": "x = 4", "solved": False, "reason": "not solved within 28 steps",
     "solved_by": [], "cpu_ms": {"greedy": 99.0}},
]  # fmt: skip


def test_failures_are_counted_by_kind(tmp_path, capsys):
    data = {"equations": ROWS, "unreadable": [{"number": 5, "text": "x = +", "reason": "cut"}]}
    assert failures(data) == [("step limit", 2, "x = 3"), ("unreadable", 1, "x = +")]
    assert as_markdown(failures(data)).splitlines()[2] == "| step limit | 2 | `x = 3` |"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(data))
    assert count(["--failures", str(path)]) == 0
    assert "| unreadable | 1 | `x = +` |" in capsys.readouterr().out


def test_times_are_compared_on_what_all_solve():
    theirs = [{**row, "solved_by": ["oracle"], "cpu_ms": {"oracle": 2.0}} for row in ROWS[1:]]
    found = times([*ROWS, *theirs])
    assert found["greedy"] == {"n": 1, "mean": 8.0, "median": 8.0}
    assert found["oracle"] == {"n": 1, "mean": 2.0, "median": 2.0}


def test_a_rational_root_of_a_polynomial_is_shown_without_trying_forms(monkeypatch):
    def never(expr):
        raise AssertionError("a form was tried")

    monkeypatch.setattr(sys.modules["abel.roots.simplest"], "simplest_number", never)
    root = parse_expression("2*sqrt(3)/(3*sqrt((-1)^(1/3))) + 2*sqrt(3)*sqrt((-1)^(1/3))/3")
    assert simplest(parse("x^3 - 4*x = 0"), root) == 2


def test_rational_roots_that_are_printed_otherwise_are_counted(monkeypatch, tmp_path, capsys):
    rows = [
        {"equation": equation, "solved": True, "root": sstr(parse_expression(root))}
        for equation, root, _ in CASES
    ]
    rows += [{"equation": "x = 1", "solved": False, "root": None}]
    rows += [{"equation": "x^2 = 4", "roots": [{"root": "sqrt(4)", "integers": []}]}]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"equations": rows}))
    assert count([str(path)]) == 0
    assert "14 roots without letters, 6 of them rational, 0 printed" in capsys.readouterr().out
    monkeypatch.setattr("abel.answers.rationals.simplest", lambda equation, root: root)
    assert len(counted(rows).unlike) == 5 and count([str(path)]) == 1
    path.write_text("[]")
    assert count([str(path)]) == 2


@pytest.mark.slow
def test_no_rational_root_of_the_stored_results_is_printed_as_anything_else(capsys):
    """Of three of them; `python -m abel.answers runs/results/reference/*.json` asks of all."""
    from abel.home import home

    folder = home() / "runs" / "results" / "reference"
    kept = ("schoolbook-greedy", "poesia_numeric-test", "open_world-zeroshot")
    files = [str(folder / f"{name}.json") for name in kept]
    assert count(files) == 0, capsys.readouterr().out
    assert "schoolbook-greedy.json: 82 roots without letters, 66 of" in capsys.readouterr().out


@pytest.mark.slow
def test_what_is_shown_does_not_depend_on_the_hash_seed():
    code = (
        "from abel import parse\nfrom abel.parse import parse_expression\n"
        "from abel.roots import simplest, written\nfrom tests.test_answers import CASES\n"
        "print([written(simplest(parse(e), parse_expression(r))) for e, r, _ in CASES])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(said) == 1


def test_a_rule_of_sympy_that_fails_is_a_guess_less(monkeypatch):
    """sqrtdenest raised AttributeError on a root of (log(x)/log(2)) + 4*log(2)/log(x) = 0."""

    def fails(*_, **__):
        raise AttributeError("'Mul' object has no attribute 'base'")

    monkeypatch.setattr(sympy, "sqrtdenest", fails)
    assert sstr(simplest(parse("2^x = 8"), parse_expression("log(8)/log(2)"))) == "3"


@pytest.mark.parametrize(
    ("text", "form"),
    [("LambertW(log(4))", "log(2)"), ("LambertW(3*log(3))", "log(3)"), ("LambertW(0)", "0"),
     ("LambertW(-log(2)/2)", "-log(2)"), ("LambertW(-log(4)/4)", "-log(2)"),
     ("LambertW(2*exp(2))", "2"), ("LambertW(log(5))", "LambertW(log(5))")],
)  # fmt: skip
def test_values_of_lambert_are_known_by_its_definition(text, form):
    """x^x = 4 was solved by exp(LambertW(log(4))), which is 2."""
    root = parse_expression(text)
    assert simplest(parse(f"x = {text}"), root) == parse_expression(form)
