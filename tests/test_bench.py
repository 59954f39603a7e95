"""The soak: percentiles in fixed memory, and what it reports."""

import json
import random

import numpy as np
import pytest

from abel import bench
from abel.bench.against import differing
from abel.bench.times import Durations, percentiles


def test_percentiles_in_buckets_are_within_two_percent():
    rng, exact, bucketed = random.Random(0), [], Durations()
    for _ in range(5):
        times = [rng.lognormvariate(-7, 1.5) for _ in range(2000)]
        exact += times
        bucketed.add(times)
    wanted, found = percentiles(exact), bucketed.percentiles()
    assert found.keys() == wanted.keys() and found["max"] == wanted["max"]
    for name in wanted:
        assert found[name] == pytest.approx(wanted[name], rel=0.03, abs=0.001)
    assert bucketed.total == pytest.approx(sum(exact)) and len(bucketed.counts) < 2000


def soak(tmp_path, *flags):
    out = tmp_path / "out.json"
    assert bench.main(["soak", "--dataset", "abel_level1", *flags, "--json", str(out)]) == 0
    return json.loads(out.read_text())


@pytest.mark.slow
def test_a_soak_reports_memory_at_every_tenth_and_the_growth_of_the_second_half(tmp_path, capsys):
    found = soak(tmp_path, "--soak-steps", "205")
    marks = [int(mark) for mark in found["memory_mb"]]
    assert marks == [21, 41, 62, 82, 103, 123, 144, 164, 185, 205] and found["steps"] == 205
    memory = list(found["memory_mb"].values())
    assert found["second_half_growth_mb"] == memory[9] - memory[4] and min(memory) > 10
    assert found["failed_actions"] == 0 and "second half added" in capsys.readouterr().out


@pytest.mark.slow
def test_a_soak_that_repeats_itself_meets_fewer_forms(tmp_path):
    once = soak(tmp_path, "--soak-steps", "300")
    again = soak(tmp_path, "--soak-steps", "300", "--again", "9")
    assert again["steps"] == once["steps"] == 300 and again["failed_actions"] == 0
    assert 10 < again["forms"] < once["forms"] / 2


def test_scalars_of_two_commits_are_compared_to_the_last_bit_but_for_timings():
    steps, values = np.array([1, 2]), np.array([0.5, 0.25])
    there = {
        "losses/entropy": (steps, values),
        "time/env": (steps, values),
        "charts/SPS": (steps, values),
    }
    here = {**there, "time/env": (steps, 2 * values)}
    assert differing(there, here) == []
    assert differing(there, {**here, "losses/entropy": (steps, np.nextafter(values, 1))})
    assert differing(there, {**here, "solve/rate": (steps, values)}) == ["solve/rate"]
    assert differing(there, {**here, "losses/entropy": (steps[:1], values[:1])})


def test_another_commit_that_does_not_exist_is_refused_in_a_line(capsys):
    assert bench.main(["env", "--against", "no-such-ref"]) == 2
    said = capsys.readouterr().err
    assert "no-such-ref" in said and len(said.splitlines()) == 1


def test_only_speed_is_compared_with_another_commit(capsys):
    with pytest.raises(SystemExit, match="2"):
        bench.main(["soak", "--against", "HEAD"])
    assert "--against goes with env and train" in capsys.readouterr().err
