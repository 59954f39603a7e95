"""Solve events read back from a run's event file."""

import pytest
from torch.utils.tensorboard import SummaryWriter

from abel.learning import training


def test_shares_are_draws_times_solve_rate(tmp_path):
    """Drawn 0.2 and 0.8 of the time, solved 1.0 and 0.5 of it: 0.2 and 0.4 of all episodes."""
    with SummaryWriter(str(tmp_path)) as writer:
        for step in (100, 200):
            writer.add_scalar("solve/rate", 0.6, step)
            writer.add_scalar("solve/easy", 1.0, step)
            writer.add_scalar("solve/hard", 0.5 if step == 200 else 0.0, step)
            writer.add_scalar("curriculum/easy", 0.2, step)
            writer.add_scalar("curriculum/hard", 0.8, step)
    report = training(tmp_path)
    assert report["steps"] == [100, 200]
    assert report["rate"] == {"easy": [1.0, 1.0], "hard": [0.0, 0.5]}
    assert report["share"]["easy"] == pytest.approx([1.0, 1 / 3], abs=1e-4)
    assert report["share"]["hard"] == pytest.approx([0.0, 2 / 3], abs=1e-4)


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
