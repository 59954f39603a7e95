"""What was derived: which substitutions a report names, and what the seeds agree on."""

import json

import numpy as np
import pytest

from abel.analysis import derivations as report
from abel.analysis.derivations import (
    derivations,
    discoveries,
    first_solved,
    markdown,
    over_seeds,
    way_of,
)
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
    solutions = [(lost, "quadratic"), (quadratic, "quadratic"), (cubic, "cubic")]
    found = derivations(solutions, events)["families"]
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
    return {"n": 4, "families": {"cubic": row}, "coverage": 0.5}


def test_seeds_are_counted_by_the_way_that_each_prefers():
    reports = [seed(["shift"], 9000), seed(["vieta"], 3000), seed(["vieta"], None), seed([], 0, 0)]
    (row,) = over_seeds(reports)
    assert row["way"] == ["vieta"] and row["seeds"] == [2, 4] and row["ways"] == 2
    assert row["equation"] == "e3000" and row["first_solved"] == [9000, 3000, None, 0]
    assert markdown([row]).splitlines()[2] == (
        "| cubic | `vieta` | 2 of 4 | 2 | `e3000`: `x := 3000` | 3k | 0k - 9k, 1 never |"
    )


def test_a_family_that_no_seed_solves_says_so():
    (row,) = over_seeds([seed([], None, 0)])
    assert (
        markdown([row]).splitlines()[2]
        == "| cubic | none found | 0 of 1 | 0 | - | - | -, 1 never |"
    )


def two_families(early, late):
    rows = {"quadratic": early, "cubic": late}
    families = {name: {"solved": [0, 4], "first_solved": step, "ways": []}
                for name, step in rows.items()}  # fmt: skip
    return {"n": 8, "families": families}


def test_families_stand_in_the_order_in_which_they_were_found():
    one, two = two_families(2000, 9000), two_families(4000, None)
    steps = discoveries({"derived": {"1": one, "2": two}, "random": {"1": two_families(None, 1)}})
    assert list(steps) == ["quadratic", "cubic"]
    assert steps["cubic"] == {
        "derived": {"seed 1": 9000, "seed 2": None}, "random": {"seed 1": 1}
    }  # fmt: skip


@pytest.fixture
def cohort(tmp_path):
    file = tmp_path / "derived.json"
    seeds = {"1": {"reports": {"derivations": seed(["vieta"], 3000)}}, "2": {"error": "stopped"}}
    other = {"1": {"reports": {"derivations": seed(["shift"], None)}}}
    cells = {"derived": {"seeds": seeds}, "failed": {"seeds": {"1": {"error": "x"}}}}
    file.write_text(json.dumps({"cells": cells}))
    (tmp_path / "other.json").write_text(json.dumps({"cells": {"supplied": {"seeds": other}}}))
    return file


def test_the_command_prints_the_table_of_a_cohort(cohort, capsys):
    assert report.main([str(cohort), "--cell", "derived"]) == 0
    said = capsys.readouterr().out
    assert "| cubic | `vieta` | 1 of 1 |" in said and "derived" not in said
    assert said.endswith("Training equations solved at least once: 0.5\n\n")
    for cell in ("other", "failed"):
        assert report.main([str(cohort), "--cell", cell]) == 2
        assert f"no cells {cell} with" in capsys.readouterr().err
    assert report.main([str(cohort.parent / "none.json"), "--cell", "derived"]) == 2
    assert "none.json" in capsys.readouterr().err


def test_the_figure_has_a_mark_for_each_seed_and_family(cohort, capsys):
    drawn = cohort.parent / "steps.svg"
    results = [str(cohort), str(cohort.parent / "other.json")]
    told = [*results, "--cell", "derived", "supplied", "--figure", str(drawn)]
    assert report.main(told) == 0
    assert "supplied\n\n| family |" in capsys.readouterr().out
    text = drawn.read_text()
    assert text.count("<title>") == 2
    assert "cubic, derived, seed 1: 3,000" in text and "cubic, supplied, seed 1: never" in text
