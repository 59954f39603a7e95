"""SymPy's `solve` behind a limit, its roots proved by us."""

import json
import signal
from threading import Timer

import pytest

from abel import parse, verify_root
from abel.search.oracle import Answer, Oracle, ask, ask_set, compared_points

HARD = "cos(x)*sin(3*x)*exp(x) + x^2 = a"


def test_a_root_is_proved_before_it_counts():
    answer = ask("a*x + b = 0")
    assert answer.root == "-b/a" and answer.valid_when is None and answer.reason == ""
    assert verify_root(parse("a*x + b = 0"), answer.root)


def test_an_equation_without_roots_says_so():
    assert ask("sqrt(x) + 1 = 0")[:3] == (None, None, "no roots")


def test_what_sympy_cannot_do_is_a_reason_not_a_crash(monkeypatch):
    def refuse(*_):
        raise NotImplementedError("multiple generators\nsecond line")

    monkeypatch.setattr("sympy.solve", refuse)
    answer = ask("x^5 + a*x + sin(x) = 0")
    assert answer.root is None
    assert answer.reason == "raised NotImplementedError: multiple generators"


def test_cases_for_special_coefficients_do_not_hide_the_general_one():
    """SymPy gives roots of a quartic by cases; without them our proof would not read its answer."""
    answer = ask("x^4 + p*x^2 + q*x + r = 0")
    assert answer.root and "Piecewise" not in answer.root and answer.valid_when is None


def test_a_root_that_is_not_proved_is_a_failure(monkeypatch):
    monkeypatch.setattr("sympy.solve", lambda *_: [parse("x = a").rhs])
    assert ask("x + a = 0").reason == "no proved root (1 refuted)"


@pytest.mark.slow
def test_a_question_past_the_limit_is_ended_and_the_next_one_is_answered():
    with Oracle(limit=0.01) as oracle:
        answer = oracle(HARD)
        assert answer.past_limit and answer.root is None and oracle.child is None
        oracle.limit = 60.0
        assert oracle("x + a = 0").root == "-a"
        child = oracle.child
    assert child.poll() is not None  # nothing is left running


@pytest.mark.slow
def test_the_limit_is_of_cpu_and_a_child_that_dies_otherwise_is_told_apart():
    """A child that is stopped for longer than its limit still answers; a killed one has died."""
    with Oracle(limit=2.0) as oracle:
        assert oracle("x + a = 0").root == "-a"
        oracle.child.send_signal(signal.SIGSTOP)
        Timer(3.0, oracle.child.send_signal, [signal.SIGCONT]).start()
        assert oracle("x + b = 0").root == "-b"
        Timer(0.2, oracle.child.kill).start()
        assert oracle(HARD).reason == "the process died"


def test_a_set_of_roots_comes_as_numbers():
    """x^2 = a at the first sample point, from any of both processes' points."""
    answer = ask_set("x^2 = a")
    assert answer.text == "{-sqrt(a), sqrt(a)}" and answer.reason == ""
    for (a,), numbers in zip(compared_points(1), answer.points, strict=True):
        squares = [complex(float(re), float(im)) ** 2 for re, im, _ in numbers]
        assert squares == pytest.approx([a, a])


def test_a_set_that_is_not_explicit_is_none():
    assert ask_set("sin(x^(1/4)) = 0").points is None
    assert ask_set("exp(x) = 0").points == [[]]  # no root at the only point there is


@pytest.mark.slow
def test_sets_are_asked_for_in_a_child_process_too():
    with Oracle(limit=0.01) as oracle:
        assert oracle.solution_set(HARD).points is None
        oracle.limit = 200.0
        assert oracle.solution_set("x + a = 0").text == "{-a}"


def test_past_limit_is_told_from_other_failures():
    assert Answer(None, None, "no answer in 3 s", 3.0).past_limit
    assert not Answer(None, None, "no roots", 0.1).past_limit


@pytest.mark.slow
def test_a_solve_under_way_ends_with_the_one_who_asked():
    """A killed asker closes its end of the pipe; no `solve` goes on for ever after that."""
    oracle = Oracle(limit=60.0)
    oracle("x + a = 0")
    print(json.dumps(["solve", HARD, 60.0]), file=oracle.child.stdin, flush=True)
    oracle.child.stdin.close()
    assert oracle.child.wait(timeout=20) == 0
