"""Traces: shown, stored, replayed, and refused when tampered with."""

import json
import random
import subprocess
import sys
from collections import Counter

import pytest

from abel import Env, EnvConfig, Trace, parse
from abel.datasets.textbook import solve
from abel.env import SUPPLIED
from abel.operations import OPERATIONS, legal_actions
from abel.trace import MAX_BYTES, main, rules, take, term_of
from abel.transitions import start_of


def solved_trace(text: str, relabel: bool = False) -> Trace:
    env = Env([text])
    env.reset()
    assert solve(env, relabel)
    return env.trace()


def test_text_reads_like_a_solution():
    assert solved_trace("a*x + b = 0").to_text().splitlines() == [
        "a*x + b = 0",
        "  1. subtract b    a*x = -b",
        "  2. divide by a   x = -b/a",
        "x = -b/a   (proved)",
    ]


def test_latex_has_a_line_for_every_step():
    latex = solved_trace("a*x^2 + b*x + c = 0").to_latex()
    assert latex.startswith(r"\begin{align*}") and latex.endswith(r"\end{align*}")
    assert latex.count(r"\\") == 6 and r"\sqrt" in latex  # the root in x follows from that in t


@pytest.mark.parametrize("relabel", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "a*x + b",
        "x*(x + a)/x = b",
        "sqrt(x) + a",
        "2*b*exp(x) + 2*d - 6*f*exp(-x)",
        "3x + 5 = 2x - 7",
    ],
)
def test_json_survives_the_round_trip_and_replays(text, relabel):
    trace = solved_trace(text, relabel)
    again = Trace.from_json(trace.to_json())
    assert again == trace
    verdict = again.replay()
    assert verdict and trace.status == "proved"
    assert str(verdict.valid_when) == str(trace.valid_when)


def tampered(trace: Trace, **changes) -> Trace:
    data = json.loads(trace.to_json())
    for key, value in changes.items():
        if key == "step":
            number, field, text = value
            data["steps"][number][field] = text
        else:
            data[key] = value
    return Trace.from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"root": "b/a"}, "root"),
        ({"root": None}, "root or status"),
        ({"status": "unproven"}, "status"),
        ({"status": None}, "status"),
        ({"valid_when": "a > 0"}, "valid_when"),
        ({"step": (0, "term", "c")}, "step 1: term"),
        ({"step": (0, "term", "a")}, "step 1: term or equation"),
        ({"step": (0, "equation", "a*x = b")}, "step 1: equation"),
        ({"step": (0, "transform", "x := x + b")}, "step 1: transform"),
        ({"step": (1, "op", "mul")}, "step 2: op or equation"),
        ({"step": (1, "op", "nonsense")}, "step 2: op"),
        ({"equation": "a*x + c = 0"}, "step 1: term"),
        ({"steps": []}, "root"),
    ],
)
def test_a_tampered_trace_does_not_hold_and_the_field_is_named(change, differs):
    replayed = tampered(solved_trace("a*x + b = 0"), **change).compare()
    assert not replayed and replayed.differs == differs
    assert replayed.to_text().startswith(f"does not hold: {differs}: ")


@pytest.mark.parametrize("transform", ["x := x - b/a", "x := x", "x := 1", "nonsense(", None])
def test_a_false_substitution_cannot_make_a_false_root_hold(transform):
    trace = solved_trace("a*x^2 + b*x + c = 0")
    assert trace.steps[0].transform == "x := x - b/(2*a)"
    replayed = tampered(trace, step=(0, "transform", transform)).compare()
    assert not replayed and replayed.differs == "step 1: transform"


def test_a_condition_is_compared_as_it_is_written():
    trace = solved_trace("sqrt(x) + a = 0")
    assert trace.valid_when == "a <= 0"
    for condition in ("a < 0", "a >= 0", None, ""):
        assert tampered(trace, valid_when=condition).compare().differs == "valid_when"


# ---- Whatever is edited is found ----


def traces() -> list[Trace]:
    """Solutions with every kind of transform, episodes without one, and a root that is none."""
    found = [solved_trace(text, relabel) for text in SOLVED for relabel in (False, True)]
    general = EnvConfig(
        substitutions="general", terms="blocks", resolvent=True, max_changes=8, **SUPPLIED
    )
    for text in ("exp(2*x) + a*exp(x) + b", "x^3 + a*x + b", "x^4 + a*x^2 + b*x + c",
                 "a*x^4 + b*x^2 + c", "cos(x)^2 + a*cos(x) = b"):  # fmt: skip
        env = Env([text], general)
        env.reset()
        assert solve(env), text
        found.append(env.trace())
    rng = random.Random(7)
    env = Env(["a*x^2 + b*x + c", "sin(2*x) = a + b", "a*exp(x) + b*exp(-x)"])
    for index in range(3):
        env.reset(options={"index": index})
        for _ in range(6):
            env.ended or env.step(rng.randrange(len(env.actions)))
        found.append(env.trace())
    env = Env(["sqrt(x) + 1 = 0"], EnvConfig(end_on_refuted=False))
    env.reset()
    for step in (("sub", 1), ("square", None), ("mul", "x")):  # past a false root
        env.step(env.find(*step))
    return [*found, env.trace()]


SOLVED = ("a*x + b", "2*b*exp(x) + 2*d - 6*f*exp(-x)", "a*x^2 + b*x + c", "sqrt(x) + a",
          "x*(x + a)/x = b", "3*x^4 + 12*b*x^3 + 18*b^2*x^2 + 12*b^3*x + c")  # fmt: skip
TRACES = traces()


def test_all_kinds_of_steps_are_among_them():
    transforms = [step.transform or "" for trace in TRACES for step in trace.steps]
    for start in ("x := ", "u = ", "then ", "a := "):
        assert any(text.startswith(start) for text in transforms)
    assert {trace.status for trace in TRACES} == {"proved", "refuted", None}
    assert any(trace.valid_when for trace in TRACES)


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.equation)
def test_what_was_recorded_is_what_is_derived(trace):
    replayed = Trace.from_json(trace.to_json()).compare()
    assert not replayed.differs and bool(replayed) is trace.solved


def edits(value: str | None, pool: list, rng: random.Random) -> list:
    """Other values for a field: none, a character more, less or other, another trace's."""
    if value is None:
        return rng.sample(pool, 2)
    at = rng.randrange(len(value) + 1)
    letter = rng.choice("abcdfgx0123()+-*/ =")
    found = [None, value + "*2", value[:at] + letter + value[at:], value[:at] + value[at + 1 :]]
    return [*found, *rng.sample(pool, 2)]


def does_the_same(trace: Trace, number: int) -> bool:
    """Whether the step's action leads to what is recorded, by the rules of the environment."""
    state, cache = start_of(parse(trace.equation), rules()), rules()
    for step in trace.steps[: number + 1]:
        legal = legal_actions(state.lhs, state.rhs, OPERATIONS.values(), cache.blocks, Counter())
        action = next(a for a in legal if (a.op, term_of(a)) == (step.op, step.term))
        state, _ = take(action, step.transform, state, cache)
    return str(state.form) == trace.steps[number].equation


@pytest.mark.parametrize(
    "trace",
    [pytest.param(t, marks=[pytest.mark.slow] * (i % 10 > 0)) for i, t in enumerate(TRACES)],
    ids=lambda trace: trace.equation,
)
def test_every_edit_of_a_field_is_caught_and_named(trace, times):
    most = times * (8 if len(trace.steps) <= 3 else 3)  # the longer a trace, the longer its replay
    rng = random.Random(trace.equation)
    pools = {
        name: sorted({str(getattr(step, name)) for other in TRACES for step in other.steps})
        for name in ("op", "term", "equation", "transform")
    }
    places = [(None, name) for name in ("equation", "root", "status", "valid_when")]
    every = [(i, name) for i in range(len(trace.steps)) for name in pools]
    places += rng.sample(every, min(most, len(every)))
    for number, name in places:
        owner = trace if number is None else trace.steps[number]
        value = getattr(owner, name)
        others = edits(value, pools.get(name, ["a > 0", "a**2"]), rng)
        for text in rng.sample(others, min(most, len(others))):
            if text == value:
                continue
            change = {name: text} if number is None else {"step": (number, name, text)}
            try:
                edited = tampered(trace, **change)
                replayed = edited.compare()
            except ValueError:  # null where text must be, or an equation that cannot be read
                assert name in ("op", "equation")
                continue
            if number is None and name == "equation":  # what follows from it is what differs
                assert replayed.differs or parse(text) == parse(value), text
            elif replayed.differs:
                where = "" if number is None else f"step {number + 1}: "
                assert replayed.differs.startswith(where) and name in replayed.differs, text
            else:  # another action that does the same
                assert name in ("op", "term") and does_the_same(edited, number), text


# ---- Odd files ----


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nonsense", '{"format": "abel-trace-1"}', "\0" * 100, "[" * 100_000,
             '{"format": "abel-trace-1", "steps": 3}',
             '{"format": "abel-trace-1", "steps": [], "equation": 3}',
             '{"format": "abel-trace-1", "steps": [], "equation": null}',
             '{"format": "abel-trace-1", "steps": null, "equation": "x = 1"}',
             '{"format": "abel-trace-1", "steps": [null], "equation": "x = 1"}',
             '{"format": "abel-trace-1", "steps": [{"op": "expand"}], "equation": "x = 1"}',
             '{"format": "abel-trace-1", "steps": [], "equation": "x = 1", "note": "seen"}',
             '{"format": "abel-trace-1", "steps": [], "equation": "x = 1", "equation": "x = 2"}',
             '{"format": "abel-trace-1", "steps": [], "equation": ' + "9" * 5000 + "}",
             '{"format": "abel-trace-1", "steps": [], "equation": "x = 1", "root": '
             + "[" * 900 + "]" * 900 + "}"]
)  # fmt: skip
def test_anything_else_is_not_a_trace(text, tmp_path, capsys):
    with pytest.raises(ValueError):
        Trace.from_json(text)
    path = tmp_path / "odd.json"
    path.write_text(text)
    assert main([str(path)]) == 2
    said = capsys.readouterr()
    assert not said.out and said.err.count("\n") == 1 and len(said.err) < 1000


def test_files_without_an_end_and_none_at_all_are_refused(tmp_path, capsys):
    wrong = tmp_path / "latin.json"
    wrong.write_bytes(b'"\xff"')
    long = tmp_path / "long.json"
    long.write_text(solved_trace("a*x + b").to_json() + " " * MAX_BYTES)
    for path in (wrong, long, tmp_path, tmp_path / "nowhere.json", "/dev/zero"):
        assert main([str(path)]) == 2 and capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("equation", ["((((", "x = " + "(" * 1500, "\ud800", "x =\n\n1", "1 = 1"])
def test_an_equation_that_cannot_be_read_is_said_in_one_line(equation, tmp_path, capsys):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"format": "abel-trace-1", "equation": equation, "steps": []}))
    assert main([str(path)]) in (1, 2)
    said = capsys.readouterr()
    assert said.err.count("\n") <= 1 and "Traceback" not in said.err


# ---- The command ----


def test_the_command_says_whether_a_file_holds(tmp_path, capsys):
    path = tmp_path / "trace.json"
    trace = solved_trace("sqrt(x) + a = 0")
    path.write_text(trace.to_json())
    command = [sys.executable, "-m", "abel.trace", str(path)]
    good = subprocess.run(command, capture_output=True, text=True)
    assert good.returncode == 0 and "holds" in good.stdout and "a <= 0" in good.stdout
    path.write_text(tampered(trace, root="-a**2").to_json())
    assert main([str(path)]) == 1 and "does not hold: root" in capsys.readouterr().out


def test_an_unsolved_trace_is_what_it_says_it_is(tmp_path, capsys):
    path = tmp_path / "trace.json"
    for trace, said in ((TRACES[-2], "no root is claimed"), (TRACES[-1], "the root is refuted")):
        path.write_text(trace.to_json())
        assert main([str(path)]) == 1
        out = capsys.readouterr().out
        assert "not solved: every step follows" in out and said in out and "not hold" not in out


def test_steps_may_nest_constants_deeper_than_text_is_read():
    trace = solved_trace("cos(x^2) + cbrt(tan(log(0.5))) + E + 9 = 0")
    assert r"x = \sqrt{\arccos" in trace.to_latex() and "take acos of both" in trace.to_text()
    assert Trace.from_json(trace.to_json()).replay()
