"""Greedy and beam search over scripted policies."""

import numpy as np
import pytest

from abel import Env, EnvConfig, Trace
from abel.search import beam, greedy
from abel.textbook import proposals

TEXTS = ["a*x + b", "c*(a*x + b) + d", "a*x^2 + b*x + c", "sqrt(x) + 1", "e + (a*x + b)/(c*x + d)"]


def textbook_policy(observations):
    """Prefers what a textbook would do, with small differences between all other actions."""
    log_probs = []
    for observation in observations:
        weights = np.array([1.0 + 0.01 * (i % 7) for i in range(len(observation.actions))])
        log_probs.append(np.log(weights / weights.sum()))
    return log_probs, np.zeros(len(observations))


def scripted(wanted: dict[str, str]):
    """A policy that wants an action where another one is legal, and is even elsewhere."""

    def policy(observations):
        log_probs = []
        for observation in observations:
            names = [str(action) for action in observation.actions]
            weights = np.ones(len(names))
            for where, name in wanted.items():
                if where in names:
                    weights[names.index(name)] = 50
                    break
            log_probs.append(np.log(weights / weights.sum()))
        return log_probs, np.linspace(0, 1, len(observations))

    return policy


def setup(texts=TEXTS, **config):
    env = Env(texts, EnvConfig(**config))
    return env.equations, env.config, env.cache


def test_greedy_follows_the_most_probable_action():
    equations, config, cache = setup(["a*x + b"])
    (solution,) = greedy(scripted({"add -b": "div a", "sub b": "sub b"}), equations, config, cache)
    assert solution.solved and str(solution.root) == "-b/a" and solution.transitions == 2
    trace = solution.trace()
    assert [step.op for step in trace.steps] == ["sub", "div"]
    assert Trace.from_json(trace.to_json()).replay()


def test_a_beam_of_one_is_greedy():
    equations, config, cache = setup(max_steps=6)
    policy = scripted({"add -b": "div a", "sub b": "sub b", "expand": "expand"})
    for one, two in zip(
        greedy(policy, equations, config, cache),
        beam(policy, equations, config, cache, width=1, value_coef=0, complexity_coef=0),
    ):
        assert (one.solved, one.root, one.path) == (two.solved, two.root, two.path)


def test_a_wide_beam_finds_what_greedy_misses():
    equations, config, cache = setup(["a*x + b"], max_steps=3)
    policy = textbook_policy
    narrow = greedy(policy, equations, config, cache)[0]
    wide = beam(policy, equations, config, cache, width=400, value_coef=0, complexity_coef=0)[0]
    assert not narrow.solved and wide.solved and wide.transitions > narrow.transitions


def test_unsolvable_equations_come_back_unsolved():
    equations, config, cache = setup(["sqrt(x) + 1"], max_steps=3)
    (solution,) = beam(
        textbook_policy, equations, config, cache, width=20, value_coef=0, complexity_coef=0
    )
    assert not solution.solved and solution.path == () and solution.verdict is None


def test_complexity_steers_the_beam():
    """With a heavy complexity term only the simplest successors stay."""
    equations, config, cache = setup(["c*(a*x + b) + d"], max_steps=2)

    def second_beam(complexity_coef: float) -> list[int]:
        sizes: list[list[int]] = []

        def watching(observations):
            sizes.append([len(o.tokens) for o in observations])
            return textbook_policy(observations)

        beam(watching, equations, config, cache, width=3, value_coef=0,
             complexity_coef=complexity_coef)  # fmt: skip
        return sizes[1]

    assert sum(second_beam(10.0)) < sum(second_beam(-10.0))


def test_forms_are_not_kept_twice():
    equations, config, cache = setup(["a*x + b"], max_steps=2)
    sizes = []

    def watching(observations):
        sizes.append(len({id(o) for o in observations}) == len(observations))
        return textbook_policy(observations)

    beam(watching, equations, config, cache, width=50, value_coef=0, complexity_coef=0)
    assert all(sizes) and len(sizes) == 2


def test_values_count_only_for_the_last_state():
    """score = sum of log-probabilities + lambda * V(s_T): a state's value is not carried along."""
    equations, config, cache = setup(["a*x + b"], max_steps=3)
    depths: list[list[str]] = []

    def policy(observations):
        depths.append([str(o.actions[0]) for o in observations])
        probs = [np.log(np.full(len(o.actions), 1 / len(o.actions))) for o in observations]
        values = np.array([5.0 if len(o.actions) % 2 else 0.0 for o in observations])
        return probs, values

    def scores(value_coef: float) -> list[list[str]]:
        depths.clear()
        beam(policy, equations, config, cache, width=3, value_coef=value_coef, complexity_coef=0)
        return list(depths)

    plain, guided = scores(0.0), scores(1.0)
    assert plain[0] == guided[0] and plain != guided


@pytest.mark.parametrize("text", TEXTS[:3])
def test_proposals_of_the_textbook_are_a_policy(text):
    equations, config, cache = setup([text])

    def policy(observations):
        log_probs = []
        for observation in observations:
            form = next(f for f in cache.forms.values() if f.observation is observation)
            weights = np.full(len(observation.actions), 1e-3)
            for rank, action in enumerate(proposals(form.lhs, form.rhs)):
                if action in observation.actions:
                    weights[observation.actions.index(action)] = 1 / (1 + rank)
                    break
            log_probs.append(np.log(weights / weights.sum()))
        return log_probs, np.zeros(len(observations))

    assert greedy(policy, equations, config, cache)[0].solved
