"""Each way of failing, made to happen by a policy that follows a script."""

from dataclasses import replace

import numpy as np
import pytest

from abel import Env, EnvConfig
from abel.analysis.failures import KINDS, diagnose, failures
from abel.env import SUPPLIED
from abel.search import greedy
from abel.verify import Verdict


def following(*script: str):
    """A policy for one equation that takes these actions in turn, around and around."""
    calls = []

    def policy(observations):
        (observation,) = observations
        wanted = script[len(calls) % len(script)]
        calls.append(wanted)
        names = [str(action) for action in observation.actions]
        return [np.log([1.0 if name == wanted else 1e-9 for name in names])], np.zeros(1)

    return policy


def play(text: str, *script: str, **settings):
    config = EnvConfig(max_steps=6, **settings)
    cache = config.new_cache()
    (solution,) = greedy(following(*script), Env([text]).equations, config, cache, loops=True)
    return solution, cache


@pytest.mark.parametrize(
    "text, script, expected",
    [
        ("a*x + b", ["cov"], ("1-cycle", 1)),  # nothing to substitute: the form stays
        ("a*x + b", ["mul -1"], ("2-cycle", 2)),
        ("a*x + b", ["sub b", "mul -1"], ("longer cycle", 4)),  # -a*x - b = 0 on the way
        ("a*x + b", ["square", "sub b"], ("step limit", 6)),
        ("sqrt(x) + 1", ["sub 1", "square"], ("refuted root", 2)),
    ],
)
def test_kinds_by_hand(text, script, expected):
    solution, cache = play(text, *script)
    assert not solution.solved
    assert diagnose(solution, cache, 6) == expected


def test_what_went_wrong_first_counts():
    """x = 1 is refuted at step 2; what the policy does after it, cycles included, is no matter."""
    solution, cache = play("sqrt(x) + 1", "sub 1", "square", "mul -1", "mul -1")
    assert diagnose(solution, cache, 6) == ("refuted root", 2)


def test_a_root_that_a_goal_led_to_is_refuted_too():
    """u^2 + 3*u + 2 = 0 with u = sqrt(x) gives sqrt(x) = -1, then x = 1; asking why once raised."""
    script = ["let sqrt(x)", "shift", "sub -1/4", "sqrt", "square"]
    solution, cache = play("x + 3*sqrt(x) + 2", *script, substitutions="general", **SUPPLIED)
    assert [str(form) for _, _, form, _ in solution.path][3:5] == ["sqrt(x) = -1", "x = 1"]
    assert diagnose(solution, cache, 6) == ("refuted root", 5)


def test_a_path_that_stops_early_is_a_dead_end():
    solution, cache = play("a*x + b", "square", "sub b")
    assert diagnose(replace(solution, path=solution.path[:2]), cache, 6) == ("dead end", 2)
    assert diagnose(replace(solution, path=()), cache, 6) == ("dead end", 0)


def test_a_root_without_proof_is_told_from_a_refuted_one(monkeypatch):
    solution, cache = play("sqrt(x) + 1", "sub 1", "square")
    monkeypatch.setattr(cache, "verdict", lambda *_: Verdict("unproven"))
    assert diagnose(solution, cache, 6) == ("unproven root", 2)


def test_the_report_counts_and_shows():
    solved, cache = play("a*x + b", "sub b", "div a")
    cycling, _ = play("a*x + b", "mul -1")
    report = failures([solved, cycling, cycling], ["one", "two", "two"], cache, 6)
    assert solved.solved and report["n"] == 3 and report["unsolved"] == 2
    assert list(report["counts"]) == list(KINDS) and report["counts"]["2-cycle"] == 2
    assert report["by_family"] == {"two": {"2-cycle": 2}}
    first = report["examples"]["2-cycle"][0]
    assert first["equation"] == "a*x + b" and first["family"] == "two"
    assert first["steps"][0] == "multiply by -1: -a*x - b = 0"
