"""Solve events read back from a run's event file."""

import pytest
from torch.utils.tensorboard import SummaryWriter

from abel.learner.events import training


def test_shares_are_of_solved_episodes(tmp_path):
    """Rollouts of 3 and 0, then of 1 and 2 solves: all of them easy, then a third."""
    with SummaryWriter(str(tmp_path)) as writer:
        for step, easy, hard in ((100, 3, 0), (200, 1, 2)):
            writer.add_scalar("solve/rate", 0.6, step)
            writer.add_scalar("solve/easy", 1.0, step)
            writer.add_scalar("solve/hard", 0.5 if hard else 0.0, step)
            writer.add_scalar("events/easy", easy, step)
            writer.add_scalar("events/hard", hard, step)
    report = training(tmp_path)
    assert report["steps"] == [100, 200]
    assert report["rate"] == {"easy": [1.0, 1.0], "hard": [0.0, 0.5]}
    assert report["share"]["easy"] == pytest.approx([1.0, 1 / 3], abs=1e-4)
    assert report["share"]["hard"] == pytest.approx([0.0, 2 / 3], abs=1e-4)


def test_rollouts_of_one_bin_are_added_up(tmp_path, monkeypatch):
    monkeypatch.setattr("abel.learner.events.MAX_POINTS", 1)
    with SummaryWriter(str(tmp_path)) as writer:
        for step, easy, hard in ((100, 4, 0), (200, 2, 2)):
            writer.add_scalar("solve/easy", 1.0, step)
            writer.add_scalar("events/easy", easy, step)
            writer.add_scalar("events/hard", hard, step)
    assert training(tmp_path)["share"] == {"easy": [0.75], "hard": [0.25]}


def test_a_family_that_was_not_drawn_keeps_its_last_rate(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        for step in (100, 200, 300):
            writer.add_scalar("solve/easy", 1.0, step)
        writer.add_scalar("solve/late", 0.5, 200)
    report = training(tmp_path)
    assert report["steps"] == [100, 200, 300]
    assert report["rate"]["late"] == [0.0, 0.5, 0.5]


def test_a_run_without_events_is_empty(tmp_path):
    assert training(tmp_path) == {"steps": [], "share": {}, "rate": {}}
