"""PPO that learns to solve equations, in one file: arguments, network, masking, losses, the loop.

    python train_ppo.py --dataset open_small --seed 1                # the best agent we know
    python train_ppo.py --dataset open_small --preset ppo-tree-rc    # a row of the paper
    python train_ppo.py --resume runs/<run>                          # go on, bit for bit

Where the paper's parts are: "TreeMLP" -> TreeMLP; "Illegal actions" -> masked_log_probs (what is
legal: abel/operations); "Success-replay buffer" -> SuccessReplay; "Curriculum" -> choose; reward ->
abel/env.py; value-guided beam -> abel/search/decode.py; all that is the paper's alone: abel/paper/.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from abel.datasets import DatasetError, load_dataset
from abel.encode import ROLES, TOKENS
from abel.env import SUPPLIED, WORLD, EnvConfig, SyncVectorEnv
from abel.learner import checkpoint, config
from abel.learner.batch import POOLS, Batch, action_sums, neighbor_sums
from abel.learner.config import NetConfig, ReplayName, WatchConfig, check_batches, check_counts
from abel.learner.curriculum import SolveCounts, practicing
from abel.learner.forward import Outputs, Pool, as_policy, forward
from abel.learner.interrupts import collect_garbage, deferred
from abel.learner.progress import Progress, training_line
from abel.learner.records import RunError, hold, start_run
from abel.learner.replay import Finished, Memory, StoredReplay, as_memories, search_unsolved
from abel.learner.rollout import Rollout, Workers
from abel.learner.scalars import Clock, Scalars, event_writer
from abel.operations import OPERATIONS
from abel.paper import curricula
from abel.paper.curiosity import CuriosityName, new_curiosity
from abel.paper.encoders import IndexHead, mlp, paper_encoder
from abel.paper.presets import PAPER_PRESETS
from abel.report.validation import closing_lines, validate
from abel.search import Policy, values_of

FORMAT = "abel-agent-2"  # of checkpoints
REPLAY_SIZE = 20_000  # steps that flat and fresh replay keep
REPLAY_REFRESH = 20  # rollouts after which fresh replay drops its older half


# ---- Arguments ----


OUR_ENV = EnvConfig(
    relabel=False, branches=True, terms="blocks", max_steps=12, refuted_penalty=0.2,
    end_on_refuted=True, revisit_penalty=0.1, end_on_revisit=True,
)  # fmt: skip


@dataclass(frozen=True)
class Args:
    """Every knob of a run; functions get them as arguments and have no defaults of their own."""

    dataset: str = "open_small"
    """name of a dataset, several joined by +, or path of a text file with one equation per line"""
    seed: int = 1
    """seed of everything random"""
    preset: str = "default"
    """starting point for all other flags: default, general substitutions, or a row of the paper"""
    out: str = "runs"
    """directory in which the run's own directory is made"""
    resume: str = ""
    """directory of a run to continue with its own arguments; the only other flag is the next"""
    total_timesteps: int = 300_000
    """environment steps in all; with --resume, schedules go on towards the new total"""
    num_envs: int = 64
    """environments stepped side by side"""
    num_steps: int = 32
    """steps of each environment between updates"""
    num_epochs: int = 3
    """passes over each rollout"""
    minibatch_size: int = 512
    """transitions in a gradient step"""
    learning_rate: float = 7e-4
    """step size of Adam at the start"""
    anneal_lr: bool = True
    """let the learning rate fall linearly to a tenth"""
    gamma: float = 0.99
    """discount factor"""
    gae_lambda: float = 0.95
    """decay of the advantage trace"""
    clip_coef: float = 0.2
    """how far the probability ratio may move from 1"""
    ent_coef: float = 0.02
    """weight of the entropy bonus at the start"""
    ent_coef_final: float = 0.01
    """weight of the entropy bonus at the end"""
    vf_coef: float = 0.5
    """weight of the value loss"""
    max_grad_norm: float = 0.5
    """gradients are scaled down to this norm"""
    target_kl: float | None = None
    """stop the epochs of an update once the policy has moved this far"""
    epsilon_unsolved: float = 0.3
    """share of random actions on equations never solved yet"""
    epsilon_solved: float = 0.03
    """share of random actions on the others"""
    epsilon_ladder: float = 3.0
    """spread of these shares e over the environments: from e in the first to e^(1 + this)"""
    epsilon_start: int = 100
    """equations (or all) to be solved before the shares are spread; until then e everywhere"""
    replay: ReplayName = "shortest"
    """which solutions are cloned: all, the paper's fresh half, or each equation's shortest"""
    replay_coef: float = 1.0
    """weight of the cloning loss"""
    replay_share: float = 0.5
    """cloned transitions for each transition of a minibatch"""
    replay_ramp: int = 10
    """solved equations at which cloning reaches its full weight"""
    self_imitation: bool = True
    """draw cloned transitions by max(return - value, 0)^2 instead of evenly"""
    curriculum: curricula.CurriculumName = "frontier"
    """how the next equation is drawn"""
    curiosity: CuriosityName = "none"
    """bonus for new states that is added to the reward"""
    search_period: int = 5
    """rollouts between searches two steps ahead, of classes never solved or once nothing is new"""
    search_equations: int = 0
    """equations searched each time; 0 is no search"""
    env: EnvConfig = OUR_ENV
    net: NetConfig = NetConfig()
    watch: WatchConfig = WatchConfig()

    def __post_init__(self) -> None:
        check_counts(self, "seed", "epsilon_start", "replay_ramp", "search_equations")
        check_batches(self.num_envs, self.num_steps, self.minibatch_size)
        if self.preset not in PRESETS:
            raise ValueError(f"--preset must be one of {', '.join(PRESETS)}, got {self.preset!r}")

    @property
    def batch_size(self) -> int:
        return self.num_envs * self.num_steps


GENERAL: dict[str, Any] = {
    "search_equations": 2, "curriculum": "balanced", "epsilon_start": 0,
    "num_epochs": 8, "net": NetConfig(hidden=128),  # the environment takes most of the time
    "env": replace(OUR_ENV, substitutions="general", constants="repeats", tan=True,
                   conditional_penalty=0.2, complexity_coef=0.002, max_steps=28, max_changes=10,
                   max_goals=4),
}  # fmt: skip
PRESETS: dict[str, dict[str, Any]] = {  # only what differs from Args()
    "default": {},
    "general": GENERAL,
    "supplied": {**GENERAL, "env": replace(GENERAL["env"], **SUPPLIED, tan=False, max_steps=16,
                                           max_changes=6, max_goals=3)},
    "world": {**GENERAL, "env": replace(GENERAL["env"], **WORLD)}, **PAPER_PRESETS,
}  # fmt: skip


def parse_args(argv: Sequence[str] | None = None) -> Args:
    """Flags over the preset's values over the defaults."""
    return config.parse_flags(Args(), PRESETS, argv, __doc__)


# ---- Masking: one function for rollout, update, replay and decoding ----


def masked_log_probs(logits: Tensor, mask: Tensor, graph: Tensor, num_graphs: int) -> Tensor:
    """Log-softmax over the unmasked actions of every state; action sets are ragged, never padded.

    `logits`, `mask` and `graph` are [A], the actions of all states one after the other. A state
    without a legal action gives NaN at once, where a large negative number would quietly make it
    uniform.
    """
    logits = logits.masked_fill(~mask, -torch.inf)  # [A]
    top = torch.full((num_graphs,), -torch.inf).scatter_reduce(0, graph, logits.detach(), "amax")
    shifted = logits - top[graph]  # [A]
    total = torch.zeros(num_graphs).index_add(0, graph, shifted.exp())  # [B]
    return shifted - total.log()[graph]


def masked_entropy(log_probs: Tensor, graph: Tensor, num_graphs: int) -> Tensor:
    """Entropy of every state's distribution; a masked action counts 0, not 0 * -inf = NaN."""
    legal = torch.isfinite(log_probs)
    safe = torch.where(legal, log_probs, 0.0)
    terms = torch.where(legal, safe.exp() * safe, 0.0)
    return -torch.zeros(num_graphs).index_add(0, graph, terms)  # [B]


# ---- Network ----


class TreeMLP(nn.Module):
    """K rounds of sum aggregation over the tree (the paper's Eq. 2), then pooling.

    Departure: nodes have roles, each round has an MLP of its own with LayerNorm and a skip
    connection, and the states of the root and of the left side stand beside the pooled one.
    """

    def __init__(self, net: NetConfig) -> None:
        super().__init__()
        self.net, width = net, net.hidden
        inputs = width * (2 if net.messages == "up" else 3)
        self.embed = checkpoint.named_embedding(TOKENS, net.embed)
        self.project = nn.Linear(net.embed, width)
        self.role = nn.Embedding(len(ROLES), width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(net.rounds))
        self.updates = nn.ModuleList(mlp(inputs, width, width) for _ in range(net.rounds))
        self.out = nn.Linear(3 * width, width)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """States of the distinct nodes [U, H] and of the graphs [B, H]."""
        embedded = self.project(self.embed(batch.tokens)) + self.role(batch.roles)  # [U, H]
        h = embedded
        for norm, update in zip(self.norms, self.updates):
            sums = neighbor_sums(norm(h), batch, self.net.messages)
            h = h + update(torch.cat([embedded, *sums], -1))
        pooled = POOLS[self.net.pool](h, batch)
        graph = torch.cat([pooled, h[batch.root], h[batch.left]], -1)  # [B, 3H]
        return h, torch.relu(self.out(graph))


class Agent(nn.Module):
    """An encoder with a policy head over the legal actions and a value head."""

    def __init__(self, net: NetConfig) -> None:
        super().__init__()
        self.net, width = net, net.hidden
        self.encoder = TreeMLP(net) if net.encoder == "tree" else paper_encoder(net)
        self.value = mlp(width, width, 1)
        if net.head == "pointer":
            self.op = checkpoint.named_embedding(OPERATIONS, width)
            self.term = nn.Linear(width, width)
            self.context = nn.Linear(width, width)
            self.score = nn.Linear(width, 1)
        else:
            self.index = IndexHead(width, net.cap)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities of all legal actions [A], entropies [B] and values [B]."""
        nodes, graph = self.encoder(batch)
        if self.net.head == "pointer":
            tables = self.term(nodes), self.op.weight, self.context(graph)
            hidden = action_sums(*tables, batch)  # [A, H]
            logits = self.score(torch.relu(hidden)).squeeze(-1)  # [A]
            mask = torch.ones_like(logits, dtype=torch.bool)
        else:
            logits, mask = self.index(graph, batch)
        states = batch.action_graph, len(batch.num_nodes)
        log_probs = masked_log_probs(logits, mask, *states)
        return log_probs, masked_entropy(log_probs, *states), self.value(graph).squeeze(-1)


# ---- Behavior: the policy, with random actions mixed in ----


def exploration(solved: Sequence[bool], spread: bool, args: Args) -> np.ndarray:
    """Share of random actions in each environment [N], larger on equations never solved.

    Spread, it falls over the environments from e to e^(1 + epsilon_ladder), so that some of them
    explore and others finish long solutions.
    """
    epsilon = np.where(solved, args.epsilon_solved, args.epsilon_unsolved)
    ladder = 1 + args.epsilon_ladder * np.linspace(0, 1, args.num_envs)
    return epsilon**ladder if spread else epsilon


def sample(
    out: Outputs, epsilon: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Actions and their log-probabilities under the behaviour: epsilon of it is uniform over
    operations, then over the operation's terms; the rest is the policy."""
    log_probs = out.log_probs.double().numpy()
    sizes = np.diff(out.offsets)
    state = np.repeat(np.arange(len(sizes)), sizes)  # [A]
    kind = state * len(OPERATIONS) + out.ops
    legal = np.isfinite(log_probs)  # not what an index head masks
    counts = np.bincount(kind[legal], minlength=len(sizes) * len(OPERATIONS))
    kinds = (counts.reshape(len(sizes), -1) > 0).sum(1)
    place = state, np.arange(len(kind)) - out.offsets[state]
    policy, ways = np.full((2, len(sizes), sizes.max()), [[[0.0]], [[np.inf]]])  # [D, most actions]
    policy[place] = np.exp(log_probs)
    ways[place] = np.where(legal, kinds[state] * counts[kind], np.inf)
    e = epsilon[:, None]
    p = policy[out.which] * (1 - e) + e / ways[out.which]  # [N, most actions]
    total = np.cumsum(p, 1)
    drawn = rng.random(len(p)) * total[:, -1]
    actions = np.minimum((total <= drawn[:, None]).sum(1), sizes[out.which] - 1)
    chosen = p[np.arange(len(p)), actions] / total[:, -1]
    return actions, np.log(chosen).astype(np.float32)


# ---- Losses ----


def gae(
    rewards: Tensor, values: Tensor, next_values: Tensor, terminated: Tensor, ended: Tensor,
    gamma: float, lam: float,
) -> Tensor:  # fmt: skip
    """Advantages [T, N]: `terminated` stops the bootstrap, `ended` (or truncated) stops the trace.

    After a truncated episode, `next_values` is of its own last state, not of the next one's first.
    """
    advantages, trace = torch.zeros_like(rewards), torch.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * next_values[t] * ~terminated[t] - values[t]
        advantages[t] = trace = delta + gamma * lam * ~ended[t] * trace
    return advantages


def ppo_loss(new: Tensor, old: Tensor, advantages: Tensor, clip_coef: float) -> Tensor:
    """Clipped surrogate loss; `old` log-probabilities are the behavior's, randomness included."""
    ratio = (new - old).exp()
    clipped = ratio.clamp(1 - clip_coef, 1 + clip_coef)
    return torch.max(-advantages * ratio, -advantages * clipped).mean()


@torch.no_grad()
def policy_shift(new: Tensor, old: Tensor, clip_coef: float) -> tuple[Tensor, Tensor]:
    """Approximate KL divergence from the policy that collected, and share of ratios past the clip:
    both are 0 where the policy has not moved.
    """
    log_ratio = new - old
    ratio = log_ratio.exp()
    return ((ratio - 1) - log_ratio).mean(), ((ratio - 1).abs() > clip_coef).float().mean()


def value_loss(values: Tensor, returns: Tensor) -> Tensor:
    """Half the mean squared error."""
    return 0.5 * ((values - returns) ** 2).mean()


def replay_loss(log_prob: Tensor) -> Tensor:
    """Masked behavior cloning: the mean negative log-likelihood of stored actions."""
    return -log_prob.mean()


# ---- Success replay: solutions that the agent itself found, kept to be cloned ----


class SuccessReplay:
    """`shortest` keeps one solution per equation, one whose root always holds before one whose root
    needs conditions; `flat` keeps the newest steps; `fresh` also drops its older half from time to
    time; `none` only counts what was solved. Steps that changed nothing are left out.
    """

    def __init__(self, kind: ReplayName, size: int) -> None:
        self.kind, self.size = kind, size
        self.solutions: dict[int, list[Memory]] = {}
        self.conditional: set[int] = set()  # equations whose solution's root needs conditions
        self.steps: list[Memory] = []
        self.views: dict[bytes, Any] = {}  # of what is stored, by content
        self.solved: set[int] = set()
        self.latest = 0  # the last rollout that solved another equation, or searched for one

    def add(self, episode: Finished, gamma: float, rollout: int) -> None:
        """Store an episode that solved its equation."""
        index = episode.equation
        if index not in self.solved:
            self.solved.add(index)
            self.latest = rollout
        if self.kind == "none":
            return
        memories = as_memories(episode, gamma, rollout, self.views)
        if self.kind != "shortest":
            self.steps = (self.steps + memories)[-self.size :]
            return
        conditional = episode.verdict.valid_when is not None
        kept = self.solutions.get(index)
        if kept is None or (conditional, len(memories)) < (index in self.conditional, len(kept)):
            self.solutions[index] = memories
            (self.conditional.add if conditional else self.conditional.discard)(index)

    def refresh(self, rollout: int) -> None:
        """Drop the older half, if it is time to."""
        if self.kind == "fresh" and rollout % REPLAY_REFRESH == 0:
            self.steps = self.steps[len(self.steps) // 2 :]

    def memories(self) -> list[Memory]:
        if self.kind != "shortest":
            return self.steps
        return [memory for index in sorted(self.solutions) for memory in self.solutions[index]]


def imitation_weights(outcomes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """max(return - value, 0)^2: steps that turned out better than expected; even if none did."""
    weights = np.maximum(outcomes - values, 0.0) ** 2
    return weights if weights.sum() > 0 else np.ones_like(weights)


def replay_weights(memories: Sequence[Memory], policy: Policy | None) -> np.ndarray:
    """How likely each stored step is to be cloned, under the policy's values; without one, even."""
    if policy is None or not memories:
        return np.ones(len(memories))
    values = values_of(policy, [memory.observation for memory in memories])
    return imitation_weights(np.array([memory.outcome for memory in memories]), values)


def draw(cumulative: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Indices [count], with repetition, given the running sum of their weights."""
    picks = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], side="right")
    return np.minimum(picks, len(cumulative) - 1)


# ---- Curriculum: which equation comes next ----


def frontier_weights(counts: SolveCounts) -> np.ndarray:
    """The paper's inverse frequencies, but classes that have been solved before get at least half
    of the draws: what is within reach is practiced, however many equations are out of it.
    """
    weights = curricula.inverse_weights(counts.num_solved)  # as 1 / (1 + num_solved)
    return practicing(weights, counts.known[counts.class_of])


def choose(name: curricula.CurriculumName, counts: SolveCounts) -> int:
    """The index of the next equation."""
    if name == "frontier":
        members, weights = counts.everything, frontier_weights(counts)
    else:
        members, weights = curricula.weigh(name, counts)
    return int(members[draw(np.cumsum(weights), 1, counts.rng)[0]])


# ---- The steps of an iteration ----


def collect(
    agent: Agent, workers: Workers, counts: SolveCounts, replay: SuccessReplay, args: Args,
    iteration: int, rng: np.random.Generator, scalars: Scalars,
) -> Rollout:  # fmt: skip
    """Act in every environment; episodes that end go to the counts, solutions to the replay."""
    steps = []
    for _ in range(args.num_steps):
        seen = workers.observations
        with torch.no_grad():
            out = forward(agent, seen)
        solved = [index in replay.solved for index in workers.indices]
        spread = len(replay.solved) >= min(args.epsilon_start, len(counts.num_solved))
        actions, log_probs = sample(out, exploration(solved, spread, args), rng)
        scalars.add_steps(workers, actions.tolist())
        stepped = workers.step(actions.tolist())
        steps.append((seen, actions, log_probs, out.log_prob(actions), out.value(), stepped))
        for episode in stepped.finished:
            counts.record(episode.equation, episode.solved)
            scalars.add_episode(episode, counts)
            if episode.solved:
                replay.add(episode, args.gamma, iteration)
    return Rollout.of(workers.observations, *zip(*steps))


@torch.no_grad()
def next_values(agent: Agent, rollout: Rollout) -> Tensor:
    """Values of what follows each step [T, N]; after a truncated episode, of its own last state."""
    following = torch.cat([rollout.values[1:], forward(agent, rollout.following).value()[None]])
    truncated = np.flatnonzero(rollout.ended & ~rollout.terminated)
    if len(truncated):
        last = forward(agent, [rollout.successors[i] for i in truncated]).value()
        following.view(-1)[truncated] = last
    return following


def minibatch_losses(
    agent: Agent, pool: Pool, advantages: Tensor, chosen: np.ndarray, picked: np.ndarray,
    args: Args,
) -> dict[str, Tensor]:  # fmt: skip
    """The parts of the loss on chosen transitions and on stored steps picked for cloning."""
    rollout, count = pool.rollout, len(chosen)
    places = np.concatenate([chosen, args.batch_size + picked])
    out = pool.forward(agent, places)
    log_probs = out.log_prob(pool.actions[places])
    advantage = advantages.reshape(-1)[chosen]
    returns = advantage + rollout.values.reshape(-1)[chosen]
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    old, new = rollout.log_probs.reshape(-1)[chosen], log_probs[:count]
    collecting = rollout.policy_log_probs.reshape(-1)[chosen]
    losses = {
        "policy_loss": ppo_loss(new, old, advantage, args.clip_coef),
        "value_loss": value_loss(out.value()[:count], returns),
        "entropy": out.entropy[out.which[:count]].mean(),
    }
    losses["approx_kl"], losses["clipfrac"] = policy_shift(new, collecting, args.clip_coef)
    return losses | ({"replay_loss": replay_loss(log_probs[count:])} if len(picked) else {})


def schedule(done: float, args: Args) -> tuple[float, float]:
    """Learning rate, falling to a tenth, and entropy weight when this share of the run is done."""
    learning_rate = args.learning_rate * (1 - 0.9 * done * args.anneal_lr)
    return learning_rate, args.ent_coef + (args.ent_coef_final - args.ent_coef) * done


# ---- The run ----


def load_agent(path: str | Path) -> tuple[Agent, Args, dict[str, Any]]:
    """A trained agent from a checkpoint, or from the best one of a run directory."""
    return checkpoint.load_agent(Path(path), FORMAT, Args, Agent)


def main(args: Args, argv: Sequence[str], envs_of: Any = SyncVectorEnv) -> Path:
    """Train; returns the run's directory. An experiment may bring environments of its own."""
    folder, resumed = args.resume, None
    if folder:
        _, trained, resumed = load_agent(Path(folder) / "last.pt")
        args = config.go_on_with(trained, args, argv, resumed["step"])
    torch.set_num_threads(1)
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    problems = load_dataset(args.dataset, "train")
    validation = args.watch.some_of(load_dataset(args.dataset, "val"))
    families = [problem.family for problem in problems]
    counts = SolveCounts(families, args.seed, optimistic=args.curriculum == "lp-optimistic")
    replay = SuccessReplay(args.replay, REPLAY_SIZE)

    def solved_as_given(index: int) -> None:  # it reads x = r: there is nothing to learn from it
        counts.record(index, True)
        replay.solved.add(index)

    envs = envs_of(
        args.num_envs, problems, args.env, choose=lambda: choose(args.curriculum, counts),
        solved_as_given=solved_as_given,
    )  # fmt: skip
    workers = Workers(envs, args.seed)
    agent = Agent(args.net)
    policy = as_policy(agent)
    fused = args.net.encoder != "tree"  # it rounds otherwise: our runs stay what they were
    optimizer = torch.optim.Adam(agent.parameters(), args.learning_rate, eps=1e-5, fused=fused)
    curiosity = new_curiosity(args.curiosity, args.net.hidden, args.net.embed, args.learning_rate)

    run = Path(folder) if resumed else start_run(args, argv, problems)
    lock = hold(run)
    # All that a run is made of, in the order in which it is stored and restored.
    parts = {
        "agent": agent, "optimizer": optimizer, "curriculum": counts, "curiosity": curiosity,
        "replay": StoredReplay(replay, envs.envs[0]), "workers": workers,
    }  # fmt: skip
    at = checkpoint.restore_run(resumed, run, args, parts, rng)
    progress, clock, stopping = Progress(), Clock(at.seconds, at.cpu_seconds), False
    progress.say(f"{run}: {len(problems)} equations, {len(validation)} for validation")
    with lock, event_writer(run) as writer, deferred() as stop:
        while at.step < args.total_timesteps and not stopping:
            clock.begin()
            at.iteration += 1
            step_before, scalars = at.step, Scalars()
            learning_rate, ent_coef = schedule(min(at.step / args.total_timesteps, 1.0), args)
            optimizer.param_groups[0]["lr"] = learning_rate

            # ---- Collect: num_steps transitions from every environment ----
            rollout = collect(agent, workers, counts, replay, args, at.iteration, rng, scalars)
            at.step += args.batch_size
            if curiosity:
                scalars.add("curiosity", bonus=curiosity.reward(rollout, args.minibatch_size))
            clock.collect(workers)

            # ---- Advantages: GAE, bootstrapping through truncation ----
            advantages = gae(
                rollout.rewards, rollout.values, next_values(agent, rollout), rollout.terminated,
                rollout.ended, args.gamma, args.gae_lambda,
            )  # fmt: skip

            # ---- Update: clipped PPO over shuffled minibatches ----
            memories = replay.memories()
            weights = np.cumsum(replay_weights(memories, policy if args.self_imitation else None))
            pool = Pool(rollout, memories, args.net)
            ramp = min(len(replay.solved) / args.replay_ramp, 1.0) if args.replay_ramp else 1.0
            for _ in range(args.num_epochs):
                order = rng.permutation(args.batch_size)
                for start in range(0, args.batch_size, args.minibatch_size):
                    chosen = order[start : start + args.minibatch_size]
                    count = int(np.ceil(args.replay_share * len(chosen)))
                    picked = draw(weights, count, rng) if memories else np.empty(0, np.int64)
                    losses = minibatch_losses(agent, pool, advantages, chosen, picked, args)
                    loss = losses["policy_loss"] + args.vf_coef * losses["value_loss"]
                    if ent_coef:  # the gradient of nothing takes time as well
                        loss = loss - ent_coef * losses["entropy"]

                    # ---- Replay: clone stored solutions ----
                    if len(picked):
                        loss = loss + args.replay_coef * ramp * losses["replay_loss"]

                    optimizer.zero_grad()
                    loss.backward()
                    norm = nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                    if not torch.isfinite(loss + norm):  # the weights are still sound
                        raise RunError(f"the loss is not finite: {run} stays at its last save")
                    optimizer.step()
                    scalars.add("losses", **losses, grad_norm=norm)
                if args.target_kl is not None and scalars.largest("approx_kl") > args.target_kl:
                    break
            replay.refresh(at.iteration)
            if args.search_equations:
                at.step += search_unsolved(
                    replay, policy, envs.envs[0], counts, args.search_equations, args.search_period,
                    args.gamma, at.iteration, rng,
                )  # fmt: skip

            # ---- Log: means over every minibatch of this iteration ----
            at.seconds, at.cpu_seconds = clock.seconds, clock.cpu_seconds
            scalars.add("charts", learning_rate=learning_rate)
            scalars.add("solve", coverage=len(replay.solved) / len(problems))
            scalars.add_explained(rollout.values, advantages)
            scalars.add_replay(memories, at.iteration)
            shares = curricula.class_shares(args.curriculum, counts, frontier_weights)
            scalars.add_curriculum(counts, shares)
            scalars.add_times(clock, at.step - step_before)
            means = scalars.write(writer, at.step)
            line = training_line(at.step, args.total_timesteps, at.seconds, means)
            progress.show(line)

            # ---- Evaluate: validation split only; keep the best checkpoint ----
            stopping = bool(stop)  # a signal from here on is for the next iteration
            last_one, best = at.step >= args.total_timesteps or stopping, False
            if last_one or checkpoint.crossed(step_before, at.step, args.watch.eval_period):
                score = validate(policy, validation, args.env, envs.cache, writer, at.step)
                progress.say(f"{line}  val {score:.3f}" if validation else line)
                best, at.best_score = score >= at.best_score, max(score, at.best_score)
            due = last_one or checkpoint.crossed(step_before, at.step, args.watch.checkpoint_period)
            wanted = [run / "best.pt"] * best + [run / "last.pt"] * due
            checkpoint.save_run(wanted, FORMAT, args, parts, rng, at)
            collect_garbage(at.iteration)
        if stopping:
            progress.say(f"interrupted: saved; continue with --resume {run}")
        else:
            some = args.watch.some_of(problems)
            progress.say(closing_lines(run, policy, validation, some, at.best_score, envs))
        if validation:
            score = {"hparam/val_greedy": at.best_score}
            writer.add_hparams(config.hparams(args), score, run_name=".")
    return run


def run(argv: Sequence[str]) -> int:
    """Train as the command line says; the exit code."""
    try:
        main(parse_args(argv), argv)
    except (DatasetError, RunError, ValueError, OSError) as error:
        print(f"train_ppo.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    code = run(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # all files are closed; taking down a gigabyte of expressions takes a minute
