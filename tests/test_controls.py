"""Search without a policy beside a training: which equations, and how transitions are shared."""

import json
from dataclasses import asdict

import pytest

from abel import EnvConfig
from abel.analysis import controls, derivations
from abel.datasets import Problem
from abel.learner.progress import Progress

EASY, HARD = Problem("x + a = 0", "easy"), Problem("x^5 + a*x + b = 0", "hard")
CONFIG = EnvConfig(cov="off", relabel=False, terms="blocks", max_steps=6)


def test_families_come_in_turn_and_the_seed_draws_their_equations():
    problems = [Problem(f"x + {i}*a = 0", "ab"[i % 2]) for i in range(10)] + [HARD]
    drawn = controls.in_turn(problems, 2, seed=1)
    assert [problem.family for problem in drawn] == ["a", "b", "hard", "a", "b"]
    assert len(set(drawn)) == 5
    others = [controls.in_turn(problems, 2, seed) for seed in range(2, 6)]
    assert any(other != drawn for other in others)
    assert controls.in_turn(problems, 2, seed=1) == drawn


def test_what_an_equation_leaves_over_goes_to_the_others_and_no_more_is_spent():
    alone = controls.found_by_search([EASY], CONFIG, 300, Progress())
    spent = alone["transitions"]
    assert 0 < spent < 100 and alone["families"]["easy"]["first_solved"] == spent
    found = controls.found_by_search([EASY, HARD, EASY], CONFIG, 300, Progress())
    assert found["transitions"] == spent + (300 - spent) // 2 + spent
    found = controls.found_by_search([EASY, HARD], CONFIG, 300, Progress())
    assert found["transitions"] == 300  # its own half, and what the first left over
    assert found["families"]["hard"]["first_solved"] is None


@pytest.fixture
def run(tmp_path):
    told = {"dataset": "abel_level1", "total_timesteps": 2000, "env": asdict(CONFIG)}
    (tmp_path / "args.json").write_text(json.dumps(told))
    return tmp_path


def test_the_results_are_read_like_those_of_a_cohort(run, capsys):
    file = run / "out.json"
    assert controls.main([str(run), "--seeds", "1", "2", "--json", str(file)]) == 0
    data = json.loads(file.read_text())
    assert data["transitions"] == 2000 and list(data["cells"]["A*"]["seeds"]) == ["1", "2"]
    assert "| abel_level1 | none needed | 2 of 2 |" in capsys.readouterr().out
    assert derivations.main([str(file), "--cell", "A*"]) == 0


@pytest.mark.parametrize("flags", [["--per-family", "0"], ["--transitions", "0"]])
def test_bad_flags_and_a_folder_without_a_run_are_one_line(run, flags, capsys):
    assert controls.main([str(run), *flags]) == 2
    assert controls.main([str(run / "none")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
