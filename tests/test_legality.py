"""Which actions are legal is pinned: what decides it may get faster, never different."""

import hashlib
import random

import pytest

from abel.datasets import load_dataset
from abel.env import SUPPLIED, Env, EnvConfig

GENERAL = {"substitutions": "general", "branches": True, "relabel": False, "max_steps": 16}
BY_RULES = {**GENERAL, **SUPPLIED}


def played(dataset, config, num_steps, seed):
    """A hash of every list of legal actions in `num_steps` random steps."""
    rng = random.Random(seed)
    env = Env(load_dataset(dataset), config)
    found = hashlib.sha256()
    env.reset(seed=seed)
    for _ in range(num_steps):
        if env.ended:
            env.reset()
        found.update("\n".join(map(str, env.actions)).encode())
        if env.actions:
            env.step(rng.randrange(len(env.actions)))
    return found.hexdigest()[:16]


@pytest.mark.parametrize(
    "dataset, options, num_steps, known",
    [
        ("open_small", {}, 500, "557786402241513b"),
        ("open_wild", BY_RULES, 300, "ced80bbd47918575"),
        ("open_wild", {**GENERAL, "tan": True}, 200, "7232209053221766"),
        ("large", {"terms": "blocks"}, 150, "cb4fa5f34ad08e59"),
        pytest.param("open_small", {}, 1500, "7223fb5f2912848e", marks=pytest.mark.slow),
        pytest.param("open_wild", BY_RULES, 1000, "bae1d0aee596bc52", marks=pytest.mark.slow),
        pytest.param("large", {"terms": "blocks"}, 500, "90d1e3ca554d0f60", marks=pytest.mark.slow),
    ],
)
def test_legal_actions_of_random_play(dataset, options, num_steps, known):
    assert played(dataset, EnvConfig(**options), num_steps, seed=7) == known
