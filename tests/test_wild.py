"""open_wild: its parts do not mix, its equations have scripted routes, and its bytes stay."""

import json
import random
from collections import Counter

import pytest

from abel.datasets.decisions import decisions_for
from abel.datasets.load import WILD, DatasetError, Problem, load_dataset
from abel.datasets.textbook import has_route, solve
from abel.env import SUPPLIED, Env, EnvConfig
from abel.trace import Trace
from abel.wild import families as wild
from abel.wild import marks

SPLITS = ("train", "heldout", "zeroshot", "nested", "dev")
SIMPLEST = {  # family: an equation with the simplest coefficients
    "quadratic": "a*x^2 + b*x + c", "cubic": "x^3 + 3*b*x^2 + 3*b^2*x + c",
    "quartic": "x^4 + 4*b*x^3 + 6*b^2*x^2 + 4*b^3*x + c", "exponential": "a*exp(x) + b*exp(-x) + c",
}  # fmt: skip
TEMPLATES = {**wild.TRAINED, **wild.ZERO_SHOT, **wild.NESTED, **wild.DEVELOPMENT}
QUARTICS = {**wild.QUARTIC, **wild.QUARTIC_NESTED}


def lower(text):
    """Capital letters of a template as coefficients; functions are lower case already."""
    table = str.maketrans({"P": "2", "Q": "3", "G": "x", "H": "x"})
    return text.translate(table).lower()


def solved(text, **config):
    env = Env([text], EnvConfig(substitutions="general", terms="blocks", **SUPPLIED, **config))
    env.reset()
    solve(env)
    return env


@pytest.mark.parametrize("family", TEMPLATES)
def test_the_script_proves_a_root_in_every_family(family):
    env = solved(SIMPLEST.get(family) or lower(TEMPLATES[family]))
    assert env.solved, env.trace().to_text()
    assert len(env.path) <= 14


@pytest.mark.parametrize("family", QUARTICS)
def test_quartics_are_split_by_a_root_of_their_resolvent(family):
    env = solved(lower(QUARTICS[family]), resolvent=True, max_changes=8)
    assert env.solved and env.verdict.valid_when is None, env.trace().to_text()
    assert len(env.path) <= 16 and "resolvent" in {step[0].op for step in env.path}
    if family == "quartic_generic":
        assert Trace.from_json(env.trace().to_json()).replay()


@pytest.mark.parametrize("family", ["cubic_generic", "two_bases", "sin_cos", "palindromic"])
def test_a_scripted_route_can_be_replayed(family):
    assert Trace.from_json(solved(lower(TEMPLATES[family])).trace().to_json()).replay()


def test_there_are_enough_families_and_none_is_in_two_parts():
    names = [*wild.TRAINED, *wild.ZERO_SHOT, *wild.NESTED, *wild.DEVELOPMENT]
    assert len(names) == len(set(names)) >= 24
    closed = {"abel_level1", "abel_level2", "abel_level3"}
    families = {split: {p.family for p in load_dataset(WILD, split)} for split in SPLITS}
    assert families["train"] == {*wild.TRAINED, *closed}
    assert families["heldout"] <= families["train"]
    assert families["zeroshot"] == set(wild.ZERO_SHOT) and families["nested"] == set(wild.NESTED)
    assert families["dev"] == set(wild.DEVELOPMENT)


def test_sizes_are_the_same_for_every_family():
    for split, size in (("train", wild.NUM_TRAIN), ("zeroshot", 15), ("nested", 15), ("dev", 15)):
        counts = Counter(p.family for p in load_dataset(WILD, split))
        assert {n for family, n in counts.items() if "level" not in family} == {size}


def test_sampled_equations_have_a_route():
    problems = [p for split in SPLITS[1:] for p in load_dataset(WILD, split)]
    for problem in random.Random(0).sample(problems, 8):
        assert has_route(problem, "general route") or "level" in problem.family, problem


def test_a_family_comes_out_as_it_is_in_the_file():
    _, drawn, _ = wild.draft_part("quad_cube", "zeroshot", decisions_for(0))
    assert drawn == [p for p in load_dataset(WILD, "zeroshot") if p.family == "quad_cube"]


def test_the_larger_training_set_leaves_three_families_unseen():
    seen = {p.family for p in load_dataset(f"{WILD}+open_wild_more", "train")}
    assert set(wild.ZERO_SHOT) - seen == {"quad_cos", "cos2_sin", "antipalindromic"}
    assert not seen & set(wild.NESTED)


def test_plain_equations_are_of_trained_families_and_have_numbers_only():
    problems = load_dataset("open_wild_plain", "all")
    assert {p.family for p in problems} == set(wild.PLAIN) < set(wild.TRAINED)
    assert not any(p.equation.coefficients for p in problems)
    assert any(p.text.startswith("x + exp(") for p in problems)


def test_nested_quartics_are_not_trained_on_and_all_have_a_route():
    seen = {p.family for p in load_dataset("open_wild_quartic", "all")}
    nested = load_dataset("open_wild_quartic", "nested")
    assert seen == set(wild.QUARTIC) and {p.family for p in nested} == set(wild.QUARTIC_NESTED)
    for problem in random.Random(0).sample([*nested, *load_dataset("open_wild_quartic")], 5):
        assert has_route(problem, "general route with resolvent"), problem
        assert not has_route(problem, "general route"), problem


@pytest.mark.slow
def test_every_twentieth_equation_has_a_route():
    problems = [p for split in SPLITS for p in load_dataset(WILD, split)][::20]
    problems += load_dataset("open_wild_plain", "all")[::20]
    assert all(has_route(p, "general route") for p in problems if "level" not in p.family)


def test_unknown_splits_are_refused():
    with pytest.raises(DatasetError, match="zeroshot, nested, dev"):
        load_dataset(WILD, "templates")


def test_marks_are_noted_once_and_read_back(tmp_path):
    problems = [Problem("a*x^2 + b*x + c = 0")]
    for _ in range(2):
        marks.mark("astar", problems, tmp_path)
    assert marks.load_marks("astar", tmp_path) == {problems[0].text: True}
    assert marks.load_marks("sympy", tmp_path) == {}
    assert len((tmp_path / "open_wild.astar.marks").read_text().splitlines()) == 2


def test_rates_on_what_others_do_not_solve(monkeypatch, tmp_path, capsys):
    known = {
        "astar": {"p": True, "q": False, "r": False},
        "sympy": {"p": False, "q": False, "r": True},
    }
    monkeypatch.setattr(marks, "load_marks", known.get)
    rows = [
        {"equation": text, "solved_by": by, "always_by": always}
        for text, by, always in (
            ("p", ["beam"], ["beam"]),
            ("q", ["greedy", "beam"], []),
            ("r", [], []),
            ("s", [], []),
        )
    ]
    path = tmp_path / "test.json"
    path.write_text(
        json.dumps({
            "run": "runs/some", "checkpoint_step": 7, "split": "test",
            "decoders": {"greedy": {}, "beam": {}}, "equations": rows,
        })
    )  # fmt: skip
    assert marks.main(["--rates", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| test | greedy | 1 of 4 | 0 of 4 | 1 of 2 | 1 of 2 | 1 of 1 |"
    assert lines[3] == "| test | beam | 2 of 4 | 1 of 4 | 1 of 2 | 2 of 2 | 1 of 1 |"
    out = tmp_path / "rates.json"
    assert marks.main(["--rates", str(path), str(path), "--json", str(out)]) == 0  # two seeds
    assert "| test | greedy | 1, 1 of 4 | 0, 0 of 4 |" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert found["rows"][1]["SymPy fails"] == {"n": 2, "seeds": [2, 2]}
    assert found["agents"] == 2 * [{"run": "some", "checkpoint_step": 7}]


def test_rates_refuse_other_files(tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text("[1]")
    assert marks.main(["--rates", str(path)]) == 2
    assert "evaluate.py --json" in capsys.readouterr().err


def test_every_mark_belongs_to_an_equation():
    texts = {p.text for split in SPLITS for p in load_dataset(WILD, split)}
    for solver in marks.SOLVERS:
        assert marks.load_marks(solver).keys() <= texts
