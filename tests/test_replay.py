"""Success replay: what is kept, and how behaviour is sampled."""

import numpy as np
import pytest
import torch
from sympy import Symbol

from abel import Env, EnvConfig
from abel.learner.curriculum import SolveCounts
from abel.learner.replay import Finished, StoredReplay, search_unsolved, to_search
from abel.search import Solution
from abel.verify import Verdict
from train_ppo import Agent, NetConfig, SuccessReplay, forward, sample


def episode(*steps: str):
    env = Env(["a*x + b"])
    env.reset(options={"index": 0})
    taken = []
    for step in steps:
        op, _, term = step.partition(" ")
        index, before = env.find(op, term or None), env.observation
        _, reward, _, _, _ = env.step(index)
        taken.append((before, index, reward))
    return taken


LONG = ["mul -1", "mul -1", "sub b", "div a"]
SHORT = ["sub b", "div a"]
ALWAYS, SOMETIMES = Verdict("proved"), Verdict("proved", Symbol("b") > 0)


def test_the_shortest_solution_of_an_equation_is_kept():
    replay = SuccessReplay("shortest", 100)
    for steps, kept in ((LONG, 4), (SHORT, 2), (LONG, 2)):
        replay.add(Finished(7, episode(*steps), True, ALWAYS), 0.99, 1)
        assert len(replay.memories()) == kept
    assert replay.solved == {7}


def test_a_root_that_holds_always_goes_before_a_shorter_way_to_one_that_does_not():
    replay = SuccessReplay("shortest", 100)
    for steps, verdict, kept in (
        (LONG, SOMETIMES, 4), (SHORT, SOMETIMES, 2), (LONG, ALWAYS, 4), (SHORT, SOMETIMES, 4),
        (SHORT, ALWAYS, 2),
    ):  # fmt: skip
        replay.add(Finished(7, episode(*steps), True, verdict), 0.99, 1)
        assert len(replay.memories()) == kept
        assert replay.conditional == ({7} if verdict is SOMETIMES and kept == len(steps) else set())


def test_steps_that_change_nothing_are_dropped():
    replay = SuccessReplay("shortest", 100)
    replay.add(Finished(0, episode("cov", "sub b", "cov", "div a"), True, ALWAYS), 0.99, 1)
    assert [str(m.observation.actions[m.action]) for m in replay.memories()] == ["sub b", "div a"]


def test_an_idle_last_step_is_dropped_and_a_form_that_came_back_is_known():
    """An equation that already reads x = r is solved by a step that changes nothing."""
    env = Env(["x = a"])
    before, _ = env.reset()
    replay = SuccessReplay("shortest", 100)
    twin = before._replace(tokens=before.tokens.copy())  # as after an eviction
    for last, kept in ((before, 0), (twin, 0), (None, 1)):
        replay.solutions.clear()
        replay.add(Finished(0, [(before, 0, 1.0)], True, ALWAYS, last), 0.99, 1)
        assert len(replay.memories()) == kept


def test_outcomes_are_discounted_returns():
    replay = SuccessReplay("flat", 100)
    seen = [observation for observation, _, _ in episode(*LONG[1:])]
    steps = [(seen[i], i, reward) for i, reward in enumerate((1.0, 0.0, 2.0))]
    replay.add(Finished(0, steps, True, ALWAYS), 0.5, 1)
    assert [m.outcome for m in replay.memories()] == [1.5, 1.0, 2.0]
    assert [m.before for m in replay.memories()] == [(), (0,), (0, 1)]


def test_flat_replay_is_bounded_and_fresh_replay_drops_its_older_half():
    replay = SuccessReplay("fresh", 5)
    for _ in range(3):
        replay.add(Finished(0, episode(*SHORT), True, ALWAYS), 0.99, 1)
    assert len(replay.memories()) == 5
    newest = replay.memories()[-3:]
    replay.refresh(19)
    assert len(replay.memories()) == 5
    replay.refresh(20)
    assert replay.memories() == newest


def test_only_fresh_replay_forgets():
    replay = SuccessReplay("flat", 5)
    for _ in range(3):
        replay.add(Finished(0, episode(*SHORT), True, ALWAYS), 0.99, 1)
    replay.refresh(20)
    assert len(replay.memories()) == 5


def test_no_replay_still_counts_coverage():
    replay = SuccessReplay("none", 5)
    replay.add(Finished(3, episode(*SHORT), True, ALWAYS), 0.99, 1)
    assert replay.solved == {3} and not replay.memories()


@pytest.mark.parametrize("kind", ["shortest", "flat"])
def test_a_buffer_survives_being_stored(kind):
    env = Env(["a*x + b"])
    replay, again = SuccessReplay(kind, 100), SuccessReplay(kind, 100)
    replay.add(Finished(0, episode(*SHORT), True, SOMETIMES), 0.99, 1)
    StoredReplay(again, env).load_state_dict(StoredReplay(replay, env).state_dict())
    assert again.solved == replay.solved and again.conditional == replay.conditional
    for ours, theirs in zip(again.memories(), replay.memories(), strict=True):
        assert ours[1:] == theirs[1:]
        assert np.array_equal(ours.observation.subtrees, theirs.observation.subtrees)


@pytest.mark.parametrize("end_on_revisit, kept", [(False, 4), (True, 0)])
def test_a_search_keeps_only_what_an_episode_can_play(end_on_revisit, kept, monkeypatch):
    """A search may pass places where an episode ends; such a solution once ended the training."""
    env = Env(["a*x + b"], EnvConfig(end_on_revisit=end_on_revisit))
    other = Env(["a*x + b"])
    other.reset(options={"index": 0})
    path = []
    for name in (("sub", "b"), ("add", "b"), ("sub", "b"), ("div", "a")):
        path.append((other.observation, other.find(*name), None, None))
        other.step(path[-1][1])
    found = [Solution(other.equation, True, other.root, other.verdict, tuple(path), 7)]
    monkeypatch.setattr("abel.learner.replay.look_ahead", lambda *args, **kwargs: found)
    replay = SuccessReplay("shortest", 100)
    rng = np.random.default_rng(0)
    counts = SolveCounts(["linear"], seed=0)
    settings = dict(counts=counts, count=4, period=3, gamma=0.9, rollout=3, rng=rng)
    assert search_unsolved(replay, None, env, **settings) == 7  # steps are counted in any case
    assert len(replay.memories()) == kept
    assert replay.solved == ({0} if kept else set())


def test_a_search_leaves_out_what_is_solved(monkeypatch):
    asked = []

    def look_ahead(policy, problems, *_, **__):
        asked.extend(problems)
        return [Solution(problem, False, None, None, (), 5) for problem in problems]

    monkeypatch.setattr("abel.learner.replay.look_ahead", look_ahead)
    env, replay = Env(["a*x + b", "x + a = b", "sin(x) = a"]), SuccessReplay("shortest", 100)
    rng, counts = np.random.default_rng(0), SolveCounts(["one", "one", "two"], seed=0)
    replay.solved |= {0, 2}
    assert search_unsolved(replay, None, env, counts, 3, 5, 0.9, 7, rng) == 5
    assert asked == [env.equations[1]] and replay.latest == 7
    assert search_unsolved(replay, None, env, counts, 3, 5, 0.9, 11, rng) == 0
    replay.solved.add(1)
    assert search_unsolved(replay, None, env, counts, 3, 5, 0.9, 12, rng) == 0 and len(asked) == 1


def test_classes_never_solved_are_searched_first():
    """However much of the others is solved anew: cubics waited for that in a mix of 90 families."""
    counts = SolveCounts(["linear", "cubic", "linear", "cubic"], seed=0)
    replay = SuccessReplay("shortest", 100)

    def due(rollout):
        return to_search(replay, counts, rollout, period=5).tolist()

    assert due(5) == [0, 1, 2, 3] and not due(6)
    replay.solved.add(0)
    replay.latest = 10
    assert due(10) == [1, 3] and not due(11) and due(15) == [1, 3]
    replay.solved.add(3)
    assert not due(10) and not due(14) and due(15) == [1, 2] and due(16) == [1, 2]
    replay.solved |= {1, 2}
    assert not due(20)


def test_behaviour_mixes_policy_and_uniform_over_operations():
    env = Env(["a*x + b = 0"])
    observation, _ = env.reset()
    agent = Agent(NetConfig(hidden=8))
    rng = np.random.default_rng(0)
    with torch.no_grad():
        out = forward(agent, [observation] * 4000)
    for epsilon in (0.0, 1.0):
        actions, log_probs = sample(out, np.full(4000, epsilon), rng)
        policy = out.log_probs.exp().numpy()
        ops = observation.action_ops
        uniform = np.array([1 / (len(set(ops)) * (ops == op).sum()) for op in ops])
        expected = policy if epsilon == 0 else uniform
        seen = np.bincount(actions, minlength=len(expected)) / 4000
        assert np.abs(seen - expected).max() < 0.03
        assert np.allclose(np.exp(log_probs), expected[actions], atol=1e-5)


def test_exploration_never_takes_what_the_index_head_masks():
    env = Env(["a*x^2 + b*x + c = 0"])
    observation, _ = env.reset()
    agent = Agent(NetConfig(hidden=8, head="index", cap=5))
    with torch.no_grad():
        out = forward(agent, [observation] * 500)
    actions, log_probs = sample(out, np.full(500, 0.9), np.random.default_rng(0))
    assert actions.max() == 4 and np.isfinite(log_probs).all()
