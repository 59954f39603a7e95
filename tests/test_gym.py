"""The environment under Gymnasium's rules, and sb3-contrib's MaskablePPO on it."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import abel
from abel.encode import VOCAB

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import abel.gym  # noqa: E402

ROOT = Path(__file__).parent.parent
LINEAR = ["a*x + b = 0"]


def make(dataset=LINEAR, **kwargs):
    return gymnasium.make("abel/Equation-v0", dataset=dataset, **kwargs)


def random_play(env, seed: int, num_steps: int) -> list:
    """What random legal actions lead to; `seed` fixes both the equations and the actions."""
    rng = np.random.default_rng(seed)
    seen = [env.reset(seed=seed)]
    for _ in range(num_steps):
        legal = np.flatnonzero(env.get_wrapper_attr("action_masks")())
        seen.append(env.step(int(rng.choice(legal))))
        if seen[-1][2] or seen[-1][3]:
            seen.append(env.reset())
    return seen


def test_the_environment_passes_gymnasiums_checker():
    env = make(["a*x + b = 0", "sqrt(x) + a = 0", "x**2 - a = 0"], render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_a_bundled_dataset_is_named_with_its_split():
    env = make("abel_level1", split="heldout").unwrapped
    heldout = abel.load_dataset("abel_level1", "heldout")
    assert env.inner.equations == [problem.equation for problem in heldout]


def test_the_module_can_be_named_in_the_id():
    code = (
        "import gymnasium;"
        "env = gymnasium.make('abel.gym:abel/Equation-v0', dataset=['x + a = 0']);"
        "print(env.spec.id)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "abel/Equation-v0", done.stderr


def test_only_this_module_needs_gymnasium():
    code = (
        "import sys; sys.modules['gymnasium'] = None;"
        "import abel; abel.Env(['x + a = 0']);"
        "import abel.gym"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.strip().endswith("not installed: pip install -e '.[gym]'")


def test_the_observation_is_the_padded_tree():
    # = ( Add ( b, Mul ( a, x ) ), 0 ), constants as blocks
    env = make(max_nodes=9, max_actions=60)
    observation, info = env.reset(seed=0)
    names = ("=", "Add", "<const>", "Mul", "<const>", "x", "0", "<pad>", "<pad>")
    assert observation["tokens"].tolist() == [VOCAB[name] for name in names]
    assert observation["parents"].tolist() == [-1, 0, 1, 1, 3, 3, 0, -1, -1]
    num_legal = len(env.unwrapped.inner.actions)
    assert env.unwrapped.action_masks().tolist() == [True] * num_legal + [False] * (60 - num_legal)
    assert (observation["action_ops"] >= 0).tolist() == env.unwrapped.action_masks().tolist()
    assert info == {"index": 0, "solved": False, "cut_nodes": 0, "cut_actions": 0}


def test_what_does_not_fit_is_cut_and_counted():
    env = make(max_nodes=3, max_actions=2)
    observation, info = env.reset(seed=0)
    assert observation in env.observation_space
    names = ("=", "Add", "<const>")
    assert observation["tokens"].tolist() == [VOCAB[name] for name in names]
    inner = env.unwrapped.inner
    assert info["cut_nodes"] == 4 and info["cut_actions"] == len(inner.actions) - 2
    assert env.unwrapped.action_masks().tolist() == [True, True]
    whole = make(max_nodes=3).reset(seed=0)[0]["action_nodes"]  # a stands at node 4, x at node 5
    assert whole.max() == 3 and inner.observation.action_nodes.max() > 3
    with pytest.raises(ValueError, match="max_nodes must be at least 1, got 0"):
        make(max_nodes=0)


def test_a_solution_ends_with_its_trace():
    env = make(render_mode="ansi")
    env.reset(seed=0)
    inner = env.unwrapped.inner
    _, reward, terminated, truncated, info = env.step(inner.find("sub", "b"))
    assert not (terminated or truncated or info["solved"])
    _, reward, terminated, truncated, info = env.step(inner.find("div", "a"))
    assert terminated and not truncated and info["solved"] and not info["illegal"]
    assert env.render() == inner.trace().to_text() and env.render().endswith("x = -b/a   (proved)")
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)


def test_rewards_are_those_of_the_plain_environment():
    env, plain = make(complexity_coef=0.5), abel.Env(LINEAR, abel.EnvConfig(complexity_coef=0.5))
    env.reset(seed=0)
    plain.reset(seed=0)
    for op, term in (("sub", "b"), ("div", "a")):
        index = plain.find(op, term)
        assert env.step(index)[1] == plain.step(index)[1]


@pytest.mark.parametrize("action", [199, 60, -1, 10**6])
def test_an_illegal_action_is_a_step_that_changes_nothing(action):
    env = make(max_steps=2, step_cost=0.25, disable_env_checker=True)
    before, _ = env.reset(seed=0)
    after, reward, terminated, truncated, info = env.step(action)
    assert info["illegal"] and not info["solved"] and reward == -0.25
    assert not terminated and not truncated
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert env.step(action)[2:4] == (False, True)  # the second step is the last


def test_an_equation_without_legal_actions_ends_at_the_first_step(monkeypatch):
    monkeypatch.setattr("abel.transitions.legal_actions", lambda *args: [])
    env = make(max_goals=2)  # a config of its own has a cache of its own
    env.reset(seed=0)
    assert not env.unwrapped.action_masks().any()
    assert env.step(0)[2:4] == (True, False)


def test_equal_seeds_play_equal_games():
    names = ["a*x + b = 0", "x + a = 0", "exp(x) - a = 0", "x/a - b = 0"]
    first, second = (random_play(make(names, max_steps=4), 7, 20) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert all(np.array_equal(one[0][name], other[0][name]) for name in one[0])
        assert one[1:] == other[1:]
    indices = {part[1]["index"] for part in first if len(part) == 2}
    assert len(indices) > 1


def test_the_equation_can_be_chosen():
    env = make()
    env.reset(options={"equation": "x + c = 0"})
    assert str(env.unwrapped.inner.form) == "c + x = 0"
    with pytest.raises(ValueError, match="unknown reset options"):
        env.reset(options={"color": "red"})


def test_environments_of_one_process_share_their_states():
    envs = gymnasium.make_vec("abel/Equation-v0", num_envs=2, dataset=LINEAR)
    observations, _ = envs.reset(seed=0)
    assert observations["tokens"].shape == (2, 200)
    caches = {id(env.unwrapped.inner.cache) for env in envs.envs}
    other = make(max_steps=7).unwrapped.inner.cache
    assert len(caches) == 1 and id(other) not in caches


@pytest.mark.slow
def test_maskable_ppo_trains_and_takes_legal_actions_only():
    sb3_contrib = pytest.importorskip("sb3_contrib")

    class Watch(gymnasium.Wrapper):
        illegal = steps = 0

        def step(self, action):
            result = self.env.step(action)
            self.steps += 1
            self.illegal += result[4]["illegal"]
            return result

    env = Watch(make("abel_level1", max_steps=8))
    model = sb3_contrib.MaskablePPO(
        "MultiInputPolicy", env, n_steps=128, batch_size=64, n_epochs=2, seed=1
    )
    before = [weight.clone() for weight in model.policy.parameters()]
    model.learn(384)
    assert env.steps == 384 and env.illegal == 0
    assert all(not weight.equal(old) for weight, old in zip(model.policy.parameters(), before))

    observation, _ = env.reset(seed=2)
    masks = env.get_wrapper_attr("action_masks")()
    action, _ = model.predict(observation, action_masks=masks, deterministic=True)
    assert masks[action]
