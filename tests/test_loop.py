"""The steps of an iteration, each on its own: behavior, rollouts, advantages, losses, stopping."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch

import train_ppo
from abel.env import Env, EnvConfig, SyncVectorEnv
from abel.learner.batch import content, distinct
from abel.learner.curriculum import SolveCounts
from abel.learner.forward import Pool
from abel.learner.replay import Finished, Memory
from abel.learner.rollout import Workers
from abel.learner.scalars import Scalars
from abel.transitions import TransitionCache
from train_ppo import (
    Agent,
    Args,
    NetConfig,
    SuccessReplay,
    choose,
    collect,
    exploration,
    forward,
    minibatch_losses,
    next_values,
    parse_args,
    replay_weights,
    schedule,
)

EQUATIONS = ["a*x + b", "x + a = b", "a*x^2 + b*x + c", "sin(x) = a"]
ENV = EnvConfig(max_steps=3, revisit_penalty=0.1)
ARGS = Args(num_envs=4, num_steps=6, minibatch_size=8, env=ENV, net=NetConfig(hidden=8, embed=8))


@pytest.fixture
def agent() -> Agent:
    torch.manual_seed(0)
    return Agent(ARGS.net)


def rollout_of(agent: Agent, args: Args = ARGS, replay: SuccessReplay | None = None):
    """A rollout, and what its episodes left behind."""
    counts = SolveCounts(["line", "line", "parabola", "sine"], seed=0)
    envs = SyncVectorEnv(
        args.num_envs, EQUATIONS, args.env, choose=lambda: choose(args.curriculum, counts)
    )
    workers, scalars = Workers(envs, 0), Scalars()
    replay = replay or SuccessReplay("shortest", 100)
    rng = np.random.default_rng(0)
    return collect(agent, workers, counts, replay, args, 1, rng, scalars), counts, scalars


# ---- Behavior ----


def test_exploration_depends_on_what_was_solved_and_falls_over_the_environments():
    args = replace(ARGS, epsilon_unsolved=0.5, epsilon_solved=0.1, epsilon_ladder=3.0)
    solved = [False, True, False, False]
    assert exploration(solved, False, args).tolist() == [0.5, 0.1, 0.5, 0.5]
    spread = exploration(solved, True, args).tolist()
    assert spread == pytest.approx([0.5, 0.1**2, 0.5**3, 0.5**4])


def test_shares_are_spread_once_enough_equations_are_solved(agent, monkeypatch):
    seen = []

    def spy(solved, spread, args):
        seen.append((list(solved), spread))
        return exploration(solved, spread, args)

    monkeypatch.setattr(train_ppo, "exploration", spy)
    replay = SuccessReplay("shortest", 100)
    rollout_of(agent, replace(ARGS, num_steps=1, epsilon_start=2), replay)
    replay.solved |= {0, 1, 2, 3}
    rollout_of(agent, replace(ARGS, num_steps=1, epsilon_start=100), replay)
    assert seen == [([False] * 4, False), ([True] * 4, True)]


def test_schedules_fall_linearly_to_their_ends():
    assert schedule(0.0, ARGS) == (7e-4, 0.02)
    assert schedule(0.5, ARGS) == pytest.approx((7e-4 * 0.55, 0.015))
    assert schedule(1.0, ARGS) == pytest.approx((7e-5, 0.01))
    assert schedule(1.0, replace(ARGS, anneal_lr=False))[0] == 7e-4


# ---- Collect ----


def test_a_rollout_stores_what_was_seen_and_where_it_led(agent):
    rollout, counts, scalars = rollout_of(agent)
    assert len(rollout.observations) == len(rollout.successors) == 24
    shapes = {tuple(part.shape) for part in rollout[3:]}
    assert shapes == {(6, 4)} and len(rollout.following) == 4
    assert not (rollout.terminated & ~rollout.ended).any()
    assert rollout.ended.any() and (rollout.ended & ~rollout.terminated).any()
    for t, n in zip(*np.nonzero(~rollout.ended[:-1].numpy())):  # an episode goes on
        assert rollout.successors[t * 4 + n] is rollout.observations[(t + 1) * 4 + n]
    assert counts.visits.sum() == rollout.ended.sum() == len(scalars.values["solve/rate"])


def test_log_probabilities_are_the_behaviors_and_the_policys_own(agent):
    calm = replace(ARGS, epsilon_unsolved=0.0, epsilon_solved=0.0)
    rollout, _, _ = rollout_of(agent, calm)
    assert torch.allclose(rollout.log_probs, rollout.policy_log_probs, atol=1e-5)
    wild, _, _ = rollout_of(agent, replace(ARGS, epsilon_unsolved=0.9))
    assert not torch.allclose(wild.log_probs, wild.policy_log_probs, atol=0.1)


def test_solutions_are_kept_with_the_rollout_that_found_them(agent):
    easy = replace(ARGS, num_steps=400, env=replace(ENV, max_steps=8))
    replay = SuccessReplay("shortest", 100)
    _, counts, _ = rollout_of(agent, easy, replay)
    assert replay.solved == set(np.flatnonzero(counts.num_solved)) and replay.latest == 1
    assert replay.solved and {memory.born for memory in replay.memories()} == {1}


# ---- Advantages ----


def test_a_truncated_episode_is_followed_by_the_value_of_its_own_last_state(agent):
    rollout, _, _ = rollout_of(agent)
    following = next_values(agent, rollout)
    truncated = rollout.ended & ~rollout.terminated
    own = forward(agent, rollout.successors).value().reshape(6, 4)
    assert torch.allclose(following[truncated], own[truncated], atol=1e-6)
    others = torch.cat([rollout.values[1:], forward(agent, rollout.following).value()[None]])
    assert torch.allclose(following[~truncated], others[~truncated], atol=1e-6)
    assert not torch.allclose(following[truncated], others[truncated], atol=1e-6)


# ---- Update ----


def losses_of(agent, rollout, advantages, chosen, stored):
    """The losses on chosen steps and on all stored ones."""
    pool = Pool(rollout, stored, ARGS.net)
    picked = np.arange(len(stored))
    return minibatch_losses(agent, pool, advantages, chosen, picked, ARGS)


def test_an_unmoved_policy_has_kl_and_clipfrac_0_however_much_it_explored(agent):
    """With the mixture they were 0.036 and 0.37."""
    rollout, _, _ = rollout_of(agent, replace(ARGS, epsilon_unsolved=0.5, epsilon_solved=0.5))
    losses = losses_of(agent, rollout, torch.randn(6, 4), np.arange(24), [])
    assert losses["approx_kl"].item() == pytest.approx(0, abs=1e-6) and losses["clipfrac"] == 0
    with torch.no_grad():
        agent.score.weight *= 30
    moved = losses_of(agent, rollout, torch.randn(6, 4), np.arange(24), [])
    assert moved["approx_kl"] > 0.01 and moved["clipfrac"] > 0


def test_the_parts_of_the_loss_by_hand(agent):
    rollout, _, _ = rollout_of(agent)
    chosen, advantages = np.array([3, 17, 8]), torch.randn(6, 4)
    picked = [Memory(rollout.observations[5], 0, 1.0, 0, (), 1)] * 2
    losses = losses_of(agent, rollout, advantages, chosen, picked)
    out = forward(agent, [rollout.observations[i] for i in chosen])
    advantage = advantages.reshape(-1)[chosen]
    old, ratio = (
        rollout.log_probs.reshape(-1)[chosen],
        out.log_prob(rollout.actions.ravel()[chosen]),
    )
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    ratio = (ratio - old).exp()
    surrogate = torch.min(ratio * scaled, ratio.clamp(0.8, 1.2) * scaled)
    assert losses["policy_loss"].item() == pytest.approx(-surrogate.mean().item(), abs=1e-5)
    returns = advantage + rollout.values.reshape(-1)[chosen]
    error = 0.5 * ((out.value() - returns) ** 2).mean()
    assert losses["value_loss"].item() == pytest.approx(error.item(), abs=1e-5)
    assert losses["entropy"].item() == pytest.approx(out.entropy.mean().item(), abs=1e-5)
    cloned = forward(agent, [rollout.observations[5]]).log_prob(np.array([0]))
    assert losses["replay_loss"].item() == pytest.approx(-cloned.item(), abs=1e-5)


def test_stored_steps_are_weighed_by_the_policys_values(agent):
    rollout, _, _ = rollout_of(agent)
    states = rollout.observations[:3]
    memories = [Memory(state, 0, float(i), 0, (), 1) for i, state in enumerate(states)]
    values = forward(agent, states).value().detach().numpy()
    wanted = np.maximum(np.arange(3) - values, 0) ** 2
    assert replay_weights(memories, train_ppo.as_policy(agent)) == pytest.approx(wanted, abs=1e-5)
    assert replay_weights(memories, None).tolist() == [1, 1, 1]


# ---- Equal observations ----


def test_observations_are_merged_by_content_not_by_identity():
    """Two caches, or one that has forgotten: other objects, the same batch."""
    states = [Env(EQUATIONS).reset(options={"index": i})[0] for _ in range(2) for i in (0, 1, 0)]
    which, kept = distinct(states)
    assert which.tolist() == [0, 1, 0, 0, 1, 0] and kept == [states[0], states[1]]


def test_content_tells_apart_whatever_a_network_sees():
    state, _ = Env(["a*x + b"]).reset()
    for name in ("tokens", "roles", "parents", "action_ops", "action_nodes"):
        other = getattr(state, name).copy()
        other[-1] += 1
        assert content(state._replace(**{name: other})) != content(state)
    fewer = state._replace(action_ops=state.action_ops[:-1], action_nodes=state.action_nodes[:-1])
    assert content(fewer) != content(state)


# ---- Whole runs ----

TINY = (
    "--dataset abel_level1 --num-envs 8 --num-steps 16 --minibatch-size 64 --hidden 8 --embed 8"
    " --cache-size 60 --max-steps 6 --epsilon-start 0"
).split()


class Stop(list):
    """What a signal does, before the iteration with this number ends."""

    def __init__(self, iterations: int) -> None:
        self.left = iterations

    def __bool__(self) -> bool:
        self.left -= 1
        return self.left <= 0


def run(monkeypatch, *flags: str, stop_after: int = 10**9):
    @contextmanager
    def deferred():
        yield Stop(stop_after)

    monkeypatch.setattr(train_ppo, "deferred", deferred)
    return train_ppo.main(parse_args(flags), flags)


def swept(monkeypatch) -> list[int]:
    """Sizes of caches at each sweep that is still to come."""
    sweeps, sweep = [], TransitionCache.sweep

    def counted(self):
        sweeps.append(len(self.forms))
        sweep(self)

    monkeypatch.setattr(TransitionCache, "sweep", counted)
    return sweeps


def weights(path) -> dict[str, torch.Tensor]:
    return torch.load(path / "last.pt", weights_only=True)["agent"]


OTHERS = ["--replay", "fresh", "--curriculum", "ucb-lp"]


@pytest.mark.parametrize(
    "stop_after, extra",
    [(3, []), (3, ["--preset", "c7"]), pytest.param(6, OTHERS, marks=pytest.mark.slow)],
)
def test_a_run_resumes_bit_for_bit_past_evictions(stop_after, extra, tmp_path, monkeypatch):
    sweeps = swept(monkeypatch)
    flags = [*TINY, *extra, "--total-timesteps", "1280", "--out"]
    whole = run(monkeypatch, *flags, str(tmp_path / "whole"))
    assert len(sweeps) > 10
    cut = run(monkeypatch, *flags, str(tmp_path / "cut"), stop_after=stop_after)
    assert not all(torch.equal(weights(whole)[k], weights(cut)[k]) for k in weights(whole))
    run(monkeypatch, "--resume", str(cut))
    for name, weight in weights(whole).items():
        assert torch.equal(weights(cut)[name], weight), name


def test_the_size_of_the_cache_does_not_change_a_run(tmp_path, monkeypatch):
    flags = [*TINY, "--total-timesteps", "384", "--out"]
    sweeps = swept(monkeypatch)
    small = run(monkeypatch, *flags, str(tmp_path / "small"))
    assert len(sweeps) > 2
    large = run(monkeypatch, *flags, str(tmp_path / "large"), "--cache-size", "30000")
    assert all(torch.equal(weights(small)[name], w) for name, w in weights(large).items())


def test_a_run_is_extended_and_its_schedules_follow_the_new_total(tmp_path, monkeypatch):
    flags = [*TINY, "--out", str(tmp_path)]
    first = run(monkeypatch, *flags, "--total-timesteps", "256")
    again = run(monkeypatch, "--resume", str(first), "--total-timesteps", "512")
    state = torch.load(first / "last.pt", weights_only=True)
    assert again == first and state["step"] == 512 and state["args"]["total_timesteps"] == 512
    rate = state["optimizer"]["param_groups"][0]["lr"]
    assert rate == pytest.approx(7e-4 * (1 - 0.9 * 384 / 512))
    assert '"total_timesteps": 512' in (first / "args.json").read_text()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--gamma", "0.5"], "leave out --gamma"),
        (["--preset=general"], "leave out --preset"),
        (["--no-anneal-lr"], "leave out --no-anneal-lr"),
        (["--num_envs", "3"], "leave out --num-envs"),
        (["--total-timesteps", "100"], "--total-timesteps must be at least 128"),
    ],
)
def test_other_flags_beside_resume_are_refused(flags, words, tmp_path, monkeypatch, capsys):
    first = run(monkeypatch, *TINY, "--out", str(tmp_path), "--total-timesteps", "128")
    before = (first / "last.pt").read_bytes()
    capsys.readouterr()
    assert train_ppo.run(["--resume", str(first), *flags]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
    assert (first / "last.pt").read_bytes() == before


def test_a_loss_that_is_not_finite_ends_the_run_and_keeps_its_last_save(
    tmp_path, monkeypatch, capsys
):
    calls = []

    def poisoned(log_prob):
        calls.append(1)
        return -log_prob.mean() * (1.0 if len(calls) < 8 else torch.nan)

    monkeypatch.setattr(train_ppo, "replay_loss", poisoned)
    flags = [*TINY, "--out", str(tmp_path), "--checkpoint-period", "128"]
    assert train_ppo.run([*flags, "--total-timesteps", "5120"]) == 2
    said = capsys.readouterr().err
    assert "the loss is not finite" in said and said.count("\n") == 1
    (folder,) = tmp_path.iterdir()
    assert all(torch.isfinite(weight).all() for weight in weights(folder).values())


@pytest.mark.parametrize("sizes", [(1, 33, 32), (4, 8, 1), (1, 1, 512), (3, 11, 16)])
def test_a_minibatch_of_one_transition_is_refused(sizes):
    num_envs, num_steps, minibatch_size = sizes
    with pytest.raises(ValueError, match="--num-envs .* --num-steps .* --minibatch-size"):
        Args(num_envs=num_envs, num_steps=num_steps, minibatch_size=minibatch_size)


def test_target_kl_ends_the_epochs(tmp_path, monkeypatch):
    counts = []
    for limit in ("0.0", "1000"):
        steps = []
        monkeypatch.setattr(
            train_ppo, "ppo_loss", lambda *a, f=train_ppo.ppo_loss: steps.append(1) or f(*a)
        )
        flags = ["--target-kl", limit, "--total-timesteps", "128", "--out", str(tmp_path)]
        run(monkeypatch, *TINY, *flags)
        counts.append(len(steps))
        monkeypatch.undo()
    assert counts == [2, 6]  # minibatches of one epoch, and of three


def test_the_best_checkpoint_is_the_last_of_the_highest_score(tmp_path, monkeypatch):
    scores = iter([0.2, 0.5, 0.5, 0.3, 0.1])
    monkeypatch.setattr(train_ppo, "validate", lambda *_: next(scores))
    flags = ["--total-timesteps", "640", "--eval-period", "128", "--out", str(tmp_path)]
    folder = run(monkeypatch, *TINY, *flags)
    best = torch.load(folder / "best.pt", weights_only=True)
    assert best["step"] == 3 * 128 and best["best_score"] == 0.5
    assert torch.load(folder / "last.pt", weights_only=True)["step"] == 640


def test_a_finished_run_says_how_well_it_did_and_what_to_type(tmp_path, monkeypatch, capsys):
    flags = ["--total-timesteps", "256", "--eval-problems", "4", "--out", str(tmp_path)]
    folder = run(monkeypatch, *TINY, *flags)
    done, after = capsys.readouterr().out.splitlines()[-2:]
    assert done.startswith(f"done: {folder} solves ") and "of 4 training equations" in done
    assert after == f"next: python evaluate.py --run {folder} --split train"
    tags = train_ppo_tags(folder)
    assert not [tag for tag in tags if tag.startswith(("eval/", "hparam/"))]
    flags[2:2] = ["--dataset", "abel_level2"]
    other = run(monkeypatch, *TINY, *flags)
    done, after = capsys.readouterr().out.splitlines()[-2:]
    assert "validation equations" in done and after == f"next: python evaluate.py --run {other}"
    assert {"eval/val_greedy", "hparam/val_greedy"} <= train_ppo_tags(other)


def train_ppo_tags(folder) -> set[str]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    found = events.Tags()
    return {tag for kind in ("scalars", "images", "tensors") for tag in found[kind]}


def test_a_solution_is_stored_once_however_it_was_found():
    """What is found in a rollout and what a search finds go through one door."""
    env = Env(EQUATIONS)
    state, _ = env.reset(options={"index": 1})
    replay = SuccessReplay("flat", 100)
    replay.add(Finished(1, [(state, 0, 1.0)], True, None), 0.9, 4)
    assert replay.solved == {1} and replay.latest == 4 and len(replay.memories()) == 1


def test_equations_given_as_x_equals_r_count_as_solved_and_are_not_cloned(tmp_path, capsys):
    data = tmp_path / "given.txt"
    data.write_text("\n".join(["x = a", "x = b + c", "a*x = b", "x + c = 0"] * 3))
    flags = ["--dataset", str(data), "--total-timesteps", "512", "--out", str(tmp_path)]
    assert train_ppo.run([*flags, "--num-envs", "8", "--num-steps", "16"]) == 0
    (run,) = tmp_path.glob("given__*")
    state = train_ppo.load_agent(run / "last.pt")[2]
    assert {0, 1} <= set(state["replay"]["solved"])
    assert not {0, 1} & {step[2] for step in state["replay"]["steps"]}
