"""Which actions are legal is pinned: what decides it may get faster, never different."""

import hashlib
import random

import pytest

from abel.datasets import load_dataset
from abel.env import SUPPLIED, WORLD, Env, EnvConfig
from abel.operations import OPERATIONS, Sides, facts, terms_of

GENERAL = {"substitutions": "general", "branches": True, "relabel": False, "max_steps": 16}
BY_RULES = {**GENERAL, **SUPPLIED}
RICH = {**GENERAL, **WORLD, "tan": True}


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
        ("open_small", {}, 100, "a91ffd49607c78fc"),
        ("open_wild", BY_RULES, 60, "472e598809db38a6"),
        ("open_wild", {**GENERAL, "tan": True}, 40, "8b06ddbf0a0d6881"),
        ("small", {"terms": "blocks"}, 60, "125b2b5b02af72c3"),
        ("open_world", RICH, 40, "dcadba328cf14edd"),
        pytest.param("open_small", {}, 500, "557786402241513b", marks=pytest.mark.slow),
        pytest.param("open_wild", BY_RULES, 300, "ced80bbd47918575", marks=pytest.mark.slow),
        pytest.param(
            "open_wild", {**GENERAL, "tan": True}, 200, "7232209053221766", marks=pytest.mark.slow
        ),
        pytest.param("large", {"terms": "blocks"}, 150, "cb4fa5f34ad08e59", marks=pytest.mark.slow),
        pytest.param("open_world", RICH, 200, "542422b554584aab", marks=pytest.mark.slow),
    ],
)
def test_legal_actions_of_random_play(dataset, options, num_steps, known):
    assert played(dataset, EnvConfig(**options), num_steps, seed=7) == known


def test_no_legal_term_is_left_out_by_the_terms_that_a_row_asks_about():
    rng, left_out = random.Random(0), 0
    env = Env(load_dataset("open_world"), EnvConfig(**RICH))
    env.reset(seed=3)
    rows = [row for row in OPERATIONS.values() if row.terms is not None]
    assert {"let", "split"} < {row.name for row in rows}
    for _ in range(60):
        while env.ended or not env.actions:
            env.reset()
        lhs, rhs = env.form.lhs, env.form.rhs
        sides = Sides.of(lhs, rhs)
        for row in rows:
            few = row.terms(sides)
            others = [term for term in terms_of(lhs, rhs, True) if term not in few]
            left_out += len(others)
            assert not any(row.legal(sides, facts(term, sides.scale)) for term in others)
        ops = sorted({action.op for action in env.actions})
        op = rng.choice(ops)  # every row as often as another
        env.step(rng.choice([i for i, a in enumerate(env.actions) if a.op == op]))
    assert left_out > 1000
