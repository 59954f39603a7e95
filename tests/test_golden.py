"""A few iterations of three presets log what they always have."""

import json

import pytest

from tests.golden import FILE, RUNS, scalars

GOLDEN = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RUNS)
def test_the_scalars_of_a_few_iterations_are_those_on_file(name):
    """Up to rounding, which differs between processors."""
    found = scalars(name)
    assert found.keys() == GOLDEN[name].keys()
    for tag, values in found.items():
        assert values == pytest.approx(GOLDEN[name][tag], rel=1e-4, abs=1e-6), tag


def test_what_is_on_file_tells_the_parts_of_the_loop_apart():
    """Otherwise it would pin nothing: cloning, truncation, a search and exploration take place."""
    for name in ("default", "general"):
        assert GOLDEN[name]["replay/size"][-1] >= 3 and len(GOLDEN[name]["losses/replay_loss"]) > 1
        assert len(set(GOLDEN[name]["losses/entropy"])) == len(GOLDEN[name]["losses/entropy"])
    assert GOLDEN["c7"]["replay/size"][-1] > 1
