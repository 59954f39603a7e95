"""What was derived: which substitutions a report names, and what the seeds agree on."""

import json

import numpy as np
import pytest

from abel.analysis import derivations as report
from abel.analysis.derivations import derivations, first_solved, markdown, over_seeds, way_of
from abel.search import Solution
from tests.test_ansatz import SOLVE_CUBIC, SOLVE_QUADRATIC, play, scripted


def solution(text, *steps):
    env = scripted(play(text), *steps)
    path, state = [], play(text)
    for action, form, transform in env.path:
        index = state.find(action.op, action.term)
        path.append((state.observation, index, form, transform))
        state.step(index)
    return Solution(env.equation, env.solved, env.root, env.verdict, tuple(path), len(path))


@pytest.fixture(scope="module")
def cubic():
    return solution("a*x^3 + b*x^2 + c*x + d = 0", *SOLVE_CUBIC)


@pytest.fixture(scope="module")
def quadratic():
    return solution("a*x^2 + b*x + c = 0", *SOLVE_QUADRATIC)


def test_a_way_is_its_substitutions_without_letters(cubic, quadratic):
    assert quadratic.solved and way_of(quadratic) == ("put x + h without x",)
    assert cubic.solved and way_of(cubic) == (
        "put x + h without x^2", "put x + h/x without x", "let", "put x + h without x"
    )  # fmt: skip
    other = solution("p*x^2 + q*x + r = 0", *SOLVE_QUADRATIC)
    assert way_of(other) == way_of(quadratic)


def test_a_report_counts_ways_and_gives_the_shortest_example(cubic, quadratic):
    lost = Solution(quadratic.equation, False, None, None, (), 0)
    events = {"quadratic": (np.array([2048, 4096, 6144]), np.array([0, 2, 1]))}
    kinds = ["quadratic", "quadratic", "cubic"]
    found = derivations([lost, quadratic, cubic], kinds, events)["families"]
    assert found["quadratic"]["solved"] == [1, 2] and found["quadratic"]["first_solved"] == 4096
    (way,) = found["quadratic"]["ways"]
    assert way["count"] == 1 and way["equation"] == "a*x^2 + b*x + c = 0"
    assert way["values"][0].startswith("x := x - b/(2*a)")
    assert found["cubic"]["first_solved"] is None
    assert found["cubic"]["ways"][0]["values"][0].startswith("x := x - b/(3*a)")


def test_never_solved_is_no_step():
    assert first_solved((np.array([1, 2]), np.array([0, 0]))) is first_solved(None) is None


def seed(way, step, count=3):
    ways = [{"way": way, "count": count, "equation": f"e{step}", "values": [f"x := {step}"]}]
    row = {"solved": [count, 4], "first_solved": step, "ways": ways if count else []}
    return {"n": 4, "families": {"cubic": row}}


def test_seeds_are_counted_by_the_way_that_each_prefers():
    reports = [seed(["shift"], 9000), seed(["vieta"], 3000), seed(["vieta"], None), seed([], 0, 0)]
    (row,) = over_seeds(reports)
    assert row["way"] == ["vieta"] and row["seeds"] == [2, 4] and row["ways"] == 2
    assert row["equation"] == "e3000" and row["first_solved"] == [9000, 3000, None, 0]
    assert markdown([row]).splitlines()[2] == (
        "| cubic | `vieta` | 2 of 4 | 2 | `e3000`: `x := 3000` | 3k | 0k - 9k, 1 never |"
    )


def test_the_command_prints_the_table_of_a_cohort(tmp_path, capsys):
    file = tmp_path / "derived.json"
    seeds = {"1": {"reports": {"derivations": seed(["vieta"], 3000)}}, "2": {"error": "stopped"}}
    file.write_text(json.dumps({"cells": {"derived": {"seeds": seeds}}}))
    assert report.main([str(file), "--cell", "derived"]) == 0
    assert "| cubic | `vieta` | 1 of 1 |" in capsys.readouterr().out
    assert report.main([str(file), "--cell", "other"]) == 2
    assert "no cell 'other'" in capsys.readouterr().err
