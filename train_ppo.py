"""PPO that learns to solve equations, in one file: policy, masking, losses, replay and the loop.

    python train_ppo.py --dataset open_small --seed 1                # the best agent we know
    python train_ppo.py --dataset open_small --preset ppo-tree-rc    # a row of the paper
    python train_ppo.py --resume runs/<run>                          # go on, bit for bit

Where the paper's parts are: "TreeMLP" -> TreeMLP; "Illegal actions" -> masked_log_probs (what is
legal: abel/actions.py); "Success-replay buffer" -> SuccessReplay; "Curriculum" and UCB-LP ->
abel/curriculum.py; reward -> abel/env.py; value-guided beam -> abel/search.py.
"""

from __future__ import annotations

import gc
import math
import random
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from abel.actions import OPERATIONS
from abel.curriculum import Curriculum, CurriculumName
from abel.datasets import DatasetError, load_dataset
from abel.encode import ROLES, TOKENS
from abel.env import Env, EnvConfig, SyncVectorEnv
from abel.records import RunError, new_run, provenance, write_atomically, write_json
from abel.search import beam, greedy
from abel.transitions import Observation

FORMAT = "abel-agent-1"  # of checkpoints

# ---- Arguments ----


@dataclass(frozen=True)
class NetConfig:
    """The policy and value network."""

    hidden: int = 64
    """width of node states"""
    embed: int = 64
    """width of token embeddings"""
    rounds: int = 3
    """rounds of message passing, the paper's K"""
    style: Literal["residual", "paper"] = "residual"
    """residual: roles, LayerNorm and skip connections; paper: the paper's listing"""
    messages: Literal["up", "both"] = "up"
    """messages from child to parent only (equal subtrees are computed once), or both ways"""
    pool: Literal["mean", "max"] = "mean"
    """how the paper's style pools node states"""
    head: Literal["pointer", "index"] = "pointer"
    """score actions by operation and term, or the paper's fixed list of action indices"""
    cap: int = 50
    """actions that the index head can tell apart; later ones are masked"""


@dataclass(frozen=True)
class Args:
    """Every knob of a run; functions get them as arguments and have no defaults of their own."""

    dataset: str = "open_small"
    """name of a dataset, or path of a text file with one equation a line"""
    seed: int = 1
    """seed of everything random"""
    preset: str = "default"
    """starting point for all other flags: default, or a row of the paper"""
    out: str = "runs"
    """directory in which the run's own directory is made"""
    resume: str = ""
    """directory of a run to continue; its own arguments are used"""
    total_timesteps: int = 600_000
    """environment steps to train for"""
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
    clip_vloss: bool = False
    """clip value updates as policy updates are"""
    norm_adv: bool = True
    """normalise advantages in each minibatch"""
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
    replay: Literal["none", "flat", "fresh", "shortest"] = "shortest"
    """which solutions are cloned: all, the paper's fresh half, or each equation's shortest"""
    replay_coef: float = 0.3
    """weight of the cloning loss"""
    replay_share: float = 0.25
    """cloned transitions for each transition of a minibatch"""
    replay_ramp: int = 50
    """solved equations at which cloning reaches its full weight"""
    replay_size: int = 20_000
    """transitions kept by flat and fresh replay"""
    replay_refresh: int = 20
    """rollouts after which fresh replay drops its older half"""
    self_imitation: bool = True
    """draw cloned transitions by max(return - value, 0)^2 instead of evenly"""
    curriculum: CurriculumName = "inverse"
    """how the next equation is drawn"""
    ucb_beta: float = 2.0
    """exploration weight of ucb-lp"""
    lp_floor: float = 0.2
    """share that lp spreads evenly over the classes"""
    search_period: int = 0
    """rollouts between beam searches on equations not solved yet; 0 is never"""
    search_equations: int = 16
    """equations searched each time"""
    search_width: int = 8
    """width of these beams"""
    eval_period: int = 25_000
    """environment steps between evaluations on the validation split"""
    eval_problems: int = 200
    """validation equations used at the most"""
    eval_width: int = 0
    """beam width of validation besides greedy; 0 is none"""
    checkpoint_period: int = 50_000
    """environment steps between saves of last.pt"""
    env: EnvConfig = field(
        default_factory=lambda: EnvConfig(
            terms="blocks", max_steps=12, refuted_penalty=0.2, end_on_refuted=True,
            revisit_penalty=0.1, end_on_revisit=True,
        )
    )  # fmt: skip
    net: NetConfig = field(default_factory=NetConfig)

    def __post_init__(self) -> None:
        for name in ("total_timesteps", "num_envs", "num_steps", "num_epochs", "minibatch_size",
                     "eval_period", "checkpoint_period"):  # fmt: skip
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1")
        if self.preset not in PRESETS:
            raise ValueError(f"--preset must be one of {', '.join(PRESETS)}, got {self.preset!r}")

    @property
    def batch_size(self) -> int:
        return self.num_envs * self.num_steps

    @property
    def num_iterations(self) -> int:
        return math.ceil(self.total_timesteps / self.batch_size)


PAPER_ENV = EnvConfig(
    constants="letters", terms="all", max_steps=20, cov="off", cbrt=False, relabel=False,
    solved_reward=0.0, step_cost=0.0, complexity_coef=1.0,
)  # fmt: skip
# Stable-Baselines3's defaults, the first of the two PPO rows that the paper's table lists; its
# "PPO-tree" row (n_steps 5) is A2C's default and contradicts the text.
PAPER: dict[str, Any] = {
    "total_timesteps": 3_000_000, "num_envs": 1, "num_steps": 2048, "num_epochs": 10,
    "minibatch_size": 64, "learning_rate": 3e-4, "anneal_lr": False, "ent_coef": 0.0,
    "ent_coef_final": 0.0, "epsilon_unsolved": 0.0, "epsilon_solved": 0.0, "replay": "none",
    "self_imitation": False, "replay_ramp": 0, "curriculum": "inverse", "env": PAPER_ENV,
    "net": NetConfig(hidden=128, embed=64, rounds=3, style="paper", head="index", cap=50),
}  # fmt: skip
REPLAYED = {"replay": "flat"}
COV_ENV = replace(PAPER_ENV, relabel=True, cov="cas", max_cov=1)
NESTED_ENV = replace(COV_ENV, cbrt=True, max_cov=3)
PRESETS: dict[str, dict[str, Any]] = {  # only what differs from Args()
    "default": {},
    "ppo-tree": PAPER,
    "ppo-tree-rc": {**PAPER, "env": replace(PAPER_ENV, relabel=True)},
    "ppo-tree-buf": {**PAPER, **REPLAYED},
    "ppo-tree-rc-buf": {**PAPER, **REPLAYED, "env": replace(PAPER_ENV, relabel=True)},
    "ppo-tree-rc-buf-cov": {**PAPER, **REPLAYED, "env": COV_ENV},
    "c2": {**PAPER, **REPLAYED, "env": replace(COV_ENV, repeat_penalty=0.1)},
    "c4": {**PAPER, **REPLAYED, "env": replace(NESTED_ENV, repeat_penalty=0.1)},
    "c5": {**PAPER, "replay": "fresh", "env": replace(NESTED_ENV, repeat_penalty=0.1)},
    "c6": {**PAPER, **REPLAYED, "env": NESTED_ENV},
    "c7": {**PAPER, "replay": "fresh", "env": NESTED_ENV},
}


@dataclass(frozen=True)
class PresetFlag:
    preset: str = "default"


def parse_args(argv: Sequence[str] | None = None) -> Args:
    """Flags over the preset's values over the defaults."""
    flag, _ = tyro.cli(PresetFlag, args=argv, add_help=False, return_unknown_args=True)
    if flag.preset not in PRESETS:
        raise ValueError(f"--preset must be one of {', '.join(PRESETS)}, got {flag.preset!r}")
    base = replace(Args(), preset=flag.preset, **PRESETS[flag.preset])
    return tyro.cli(tyro.conf.OmitArgPrefixes[Args], args=argv, default=base, description=__doc__)


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


class Batch(NamedTuple):
    """Token trees of B states without padding; nodes of equal subtrees may be merged."""

    tokens: Tensor  # [U] of the distinct nodes
    roles: Tensor  # [U]
    child: Tensor  # [E] message passing edges between distinct nodes
    parent: Tensor  # [E]
    node: Tensor  # [M] distinct node of each of the M nodes of all trees
    graph: Tensor  # [M] tree of each node
    root: Tensor  # [B] distinct node of each tree's root, and of its left side
    left: Tensor  # [B]
    num_nodes: Tensor  # [B]
    action_op: Tensor  # [A] of the legal actions of all states
    action_node: Tensor  # [A] distinct node of the term
    action_graph: Tensor  # [A]
    action_rank: Tensor  # [A] position in the state's own list
    offsets: np.ndarray  # [B + 1] where each state's actions begin


def collate(observations: Sequence[Observation], share: bool) -> Batch:
    """Pack observations; with `share`, each distinct subtree of the batch is one node."""
    sizes = np.array([len(o.tokens) for o in observations])
    starts = np.cumsum(sizes) - sizes
    parents = np.concatenate([o.parents for o in observations]).astype(np.int64)
    edges = np.flatnonzero(parents >= 0)  # every node but the roots
    parents += np.repeat(starts, sizes)
    tokens = np.concatenate([o.tokens for o in observations])
    roles = np.concatenate([o.roles for o in observations])
    if share:
        subtrees = np.concatenate([o.subtrees for o in observations])
        _, first, node = np.unique(subtrees, return_index=True, return_inverse=True)
        # A merged parent gets the messages of one of its copies only.
        edges = edges[first[node[parents[edges]]] == parents[edges]]
    else:
        first = node = np.arange(len(tokens))
    left = starts + 1  # preorder: the left side follows the root
    counts = np.array([len(o.action_ops) for o in observations])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    graph = np.repeat(np.arange(len(observations)), counts)
    terms = np.concatenate([o.action_nodes for o in observations]) + starts[graph]
    ops = np.concatenate([o.action_ops for o in observations])

    def tensor(values: np.ndarray) -> Tensor:
        return torch.from_numpy(values.astype(np.int64))

    return Batch(
        tensor(tokens[first]), tensor(roles[first]), tensor(node[edges]),
        tensor(node[parents[edges]]), tensor(node),
        tensor(np.repeat(np.arange(len(observations)), sizes)), tensor(node[starts]),
        tensor(node[left]), tensor(sizes), tensor(ops), tensor(node[terms]), tensor(graph),
        tensor(np.arange(len(graph)) - offsets[graph]), offsets,
    )  # fmt: skip


def mlp(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


class TreeMLP(nn.Module):
    """K rounds of sum aggregation over the tree (the paper's Eq. 2), then pooling."""

    def __init__(self, net: NetConfig) -> None:
        super().__init__()
        self.net = net
        self.embed = nn.Embedding(len(TOKENS), net.embed)
        self.project = nn.Linear(net.embed, net.hidden)
        ways = 1 if net.messages == "up" else 2
        width = net.hidden
        if net.style == "paper":
            # One MLP for all rounds, two ReLU layers, no roles, no normalisation.
            self.update = nn.Sequential(
                nn.Linear((1 + ways) * width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
            )
            self.out = nn.Linear(width, width)
        else:
            self.role = nn.Embedding(len(ROLES), net.hidden)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(net.rounds))
            self.updates = nn.ModuleList(
                mlp((1 + ways) * width, width, width) for _ in range(net.rounds)
            )
            self.out = nn.Linear(3 * width, width)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """States of the distinct nodes [U, H] and of the graphs [B, H]."""
        embedded = self.project(self.embed(batch.tokens))  # [U, H]
        if self.net.style == "paper":
            h = embedded
            for _ in range(self.net.rounds):
                h = self.update(torch.cat([embedded, *self.messages(h, batch)], -1))
            return h, self.out(self.pool(h, batch))
        embedded = embedded + self.role(batch.roles)
        h = embedded
        for norm, update in zip(self.norms, self.updates):
            h = h + update(torch.cat([embedded, *self.messages(norm(h), batch)], -1))
        graph = torch.cat([self.pool(h, batch), h[batch.root], h[batch.left]], -1)  # [B, 3H]
        return h, torch.relu(self.out(graph))

    def messages(self, h: Tensor, batch: Batch) -> list[Tensor]:
        """Sums of incoming states, no degree normalisation: from the children, then the parent."""
        up = torch.zeros_like(h).index_add(0, batch.parent, h[batch.child])
        if self.net.messages == "up":
            return [up]
        return [up, torch.zeros_like(h).index_add(0, batch.child, h[batch.parent])]

    def pool(self, h: Tensor, batch: Batch) -> Tensor:
        """Mean or max over the nodes of each tree; merged nodes count as often as they occur."""
        num_graphs = len(batch.num_nodes)
        nodes = h[batch.node]  # [M, H]
        if self.net.pool == "max":
            index = batch.graph[:, None].expand_as(nodes)
            low = torch.full((num_graphs, h.shape[1]), -torch.inf)
            return low.scatter_reduce(0, index, nodes, "amax")
        total = torch.zeros(num_graphs, h.shape[1]).index_add(0, batch.graph, nodes)
        return total / batch.num_nodes[:, None]


class Agent(nn.Module):
    """TreeMLP with a policy head over the legal actions and a value head."""

    def __init__(self, net: NetConfig) -> None:
        super().__init__()
        self.net = net
        self.encoder = TreeMLP(net)
        width = net.hidden
        self.value = mlp(width, width, 1)
        if net.head == "pointer":
            self.op = nn.Embedding(len(OPERATIONS), width)
            self.term = nn.Linear(width, width)
            self.context = nn.Linear(width, width)
            self.score = nn.Linear(width, 1)
        else:
            self.index = mlp(width, width, net.cap)

    @property
    def share(self) -> bool:
        """Whether a node's state depends on its subtree alone."""
        return self.net.messages == "up"

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Log-probabilities of all legal actions [A] and values [B]."""
        nodes, graph = self.encoder(batch)
        if self.net.head == "pointer":
            term = self.term(nodes)[batch.action_node]  # [A, H]
            hidden = term + self.op(batch.action_op) + self.context(graph)[batch.action_graph]
            logits = self.score(torch.relu(hidden)).squeeze(-1)  # [A]
            mask = torch.ones_like(logits, dtype=torch.bool)
        else:
            mask = batch.action_rank < self.net.cap
            rank = batch.action_rank.clamp(max=self.net.cap - 1)
            logits = self.index(graph)[batch.action_graph, rank]
        log_probs = masked_log_probs(logits, mask, batch.action_graph, len(batch.num_nodes))
        return log_probs, self.value(graph).squeeze(-1)


class Outputs(NamedTuple):
    """What the agent says of a list of observations, each distinct one computed once."""

    log_probs: Tensor  # [A] of the distinct observations
    entropy: Tensor  # [D]
    values: Tensor  # [D]
    offsets: np.ndarray  # [D + 1]
    which: np.ndarray  # [N] the distinct observation of each one asked for
    ops: np.ndarray  # [A]

    def value(self) -> Tensor:
        return self.values[self.which]

    def log_prob(self, actions: np.ndarray) -> Tensor:
        return self.log_probs[self.offsets[self.which] + actions]


def evaluate(agent: Agent, observations: Sequence[Observation]) -> Outputs:
    """Run the agent; states repeat in a rollout, and each is forwarded once."""
    slots: dict[int, int] = {}
    which = np.array([slots.setdefault(id(o), len(slots)) for o in observations])
    distinct = [observations[i] for i in np.unique(which, return_index=True)[1]]
    batch = collate(distinct, agent.share)
    log_probs, values = agent(batch)
    entropy = masked_entropy(log_probs, batch.action_graph, len(distinct))
    ops = batch.action_op.numpy()
    return Outputs(log_probs, entropy, values, batch.offsets, which, ops)


def as_policy(agent: Agent):
    """The agent as `abel.search` wants it."""

    @torch.no_grad()
    def policy(observations: Sequence[Observation]) -> tuple[list[np.ndarray], np.ndarray]:
        out = evaluate(agent, observations)
        log_probs, values = out.log_probs.numpy(), out.values.numpy()
        return [log_probs[out.offsets[d] : out.offsets[d + 1]] for d in out.which], values[
            out.which
        ]

    return policy


def sample(
    out: Outputs, epsilon: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Actions and their log-probabilities under the behaviour: epsilon of it is uniform over
    operations, then over the operation's terms; the rest is the policy."""
    actions = np.zeros(len(out.which), dtype=np.int64)
    chosen = np.zeros(len(out.which), dtype=np.float32)
    probabilities = out.log_probs.exp().double().numpy()
    for i, d in enumerate(out.which):
        start, end = out.offsets[d], out.offsets[d + 1]
        p = probabilities[start:end]
        if epsilon[i] > 0:
            kinds, inverse, counts = np.unique(
                out.ops[start:end], return_inverse=True, return_counts=True
            )
            p = (1 - epsilon[i]) * p + epsilon[i] / (len(kinds) * counts[inverse])
        total = np.cumsum(p)
        actions[i] = min(np.searchsorted(total, rng.random() * total[-1], "right"), len(p) - 1)
        chosen[i] = np.log(p[actions[i]] / total[-1])
    return actions, chosen


# ---- Losses ----


def gae(
    rewards: Tensor, values: Tensor, next_values: Tensor, terminated: Tensor, ended: Tensor,
    gamma: float, lam: float,
) -> Tensor:  # fmt: skip
    """Advantages [T, N]: `terminated` stops the bootstrap, `ended` (or truncated) stops the trace.

    Where an episode ended, `next_values` is the value of its own last state, not of the next one's
    first.
    """
    advantages, trace = torch.zeros_like(rewards), torch.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * next_values[t] * ~terminated[t] - values[t]
        advantages[t] = trace = delta + gamma * lam * ~ended[t] * trace
    return advantages


def ppo_loss(
    new_log_prob: Tensor, old_log_prob: Tensor, advantages: Tensor, clip_coef: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Clipped surrogate loss, approximate KL divergence and share of clipped ratios."""
    log_ratio = new_log_prob - old_log_prob
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - clip_coef, 1 + clip_coef)
    loss = torch.max(-advantages * ratio, -advantages * clipped).mean()
    with torch.no_grad():
        kl = ((ratio - 1) - log_ratio).mean()
        share = ((ratio - 1).abs() > clip_coef).float().mean()
    return loss, kl, share


def value_loss(new: Tensor, old: Tensor, returns: Tensor, clip_coef: float, clip: bool) -> Tensor:
    """Half the squared error, optionally the larger of it and that of the clipped value."""
    error = (new - returns) ** 2
    if clip:
        clipped = old + (new - old).clamp(-clip_coef, clip_coef)
        error = torch.max(error, (clipped - returns) ** 2)
    return 0.5 * error.mean()


def replay_loss(log_prob: Tensor) -> Tensor:
    """Masked behaviour cloning: the mean negative log-likelihood of stored actions."""
    return -log_prob.mean()


# ---- Success replay ----


class Memory(NamedTuple):
    """A step of a solution, and the discounted return that followed it."""

    observation: Observation
    action: int
    outcome: float
    index: int  # of the equation; with `before`, the actions up to here, it tells the observation
    before: tuple[int, ...]


class SuccessReplay:
    """Solutions that the agent itself found, to be cloned.

    `shortest` keeps one solution an equation; `flat` keeps the newest steps; `fresh` also drops
    its older half from time to time.
    """

    def __init__(self, kind: str, size: int) -> None:
        self.kind, self.size = kind, size
        self.solutions: dict[int, list[Memory]] = {}
        self.steps: list[Memory] = []
        self.solved: set[int] = set()

    def add(self, index: int, episode: list[tuple[Observation, int, float]], gamma: float) -> None:
        """Store a solved episode of an equation: (observation, action, reward) of each step."""
        self.solved.add(index)
        if self.kind == "none":
            return
        outcomes = [0.0]
        for _, _, reward in reversed(episode):
            outcomes.append(reward + gamma * outcomes[-1])
        outcomes.reverse()
        before: tuple[int, ...] = ()
        memories = []
        following = [step[0] for step in episode[1:]] + [None]
        for (observation, action, _), after, outcome in zip(episode, following, outcomes):
            if observation is not after:  # a step that changed nothing teaches nothing
                memories.append(Memory(observation, action, outcome, index, before))
                before += (action,)
        if self.kind != "shortest":
            self.steps = (self.steps + memories)[-self.size :]
        elif index not in self.solutions or len(memories) < len(self.solutions[index]):
            self.solutions[index] = memories

    def refresh(self) -> None:
        """Drop the older half."""
        self.steps = self.steps[len(self.steps) // 2 :]

    def memories(self) -> list[Memory]:
        if self.kind != "shortest":
            return self.steps
        return [memory for index in sorted(self.solutions) for memory in self.solutions[index]]


def imitation_weights(outcomes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """max(return - value, 0)^2: steps that turned out better than expected; even if none did."""
    weights = np.maximum(outcomes - values, 0.0) ** 2
    return weights if weights.sum() > 0 else np.ones_like(weights)


# ---- Saving and resuming ----


def save(path: Path, state: dict[str, Any]) -> None:
    write_atomically(path, lambda file: torch.save(state, file))


def load(path: Path) -> dict[str, Any]:
    """A checkpoint's contents; weights and plain data only, never code."""
    if not path.is_file():
        raise RunError(f"no checkpoint at '{path}'")
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # torch raises many kinds on a damaged or foreign file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RunError(f"cannot read checkpoint '{path}': {reason}") from None
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise RunError(f"'{path}' is not a checkpoint of this program ({FORMAT})")
    return state


def args_from_dict(data: dict[str, Any]) -> Args:
    """The arguments that a run was started with, from its checkpoint."""
    try:
        nested = {"env": EnvConfig(**data["env"]), "net": NetConfig(**data["net"])}
        return Args(**{**data, **nested})
    except (TypeError, KeyError, ValueError) as error:
        raise RunError(f"the checkpoint's arguments do not fit this version: {error}") from None


def load_agent(path: str | Path) -> tuple[Agent, Args, dict[str, Any]]:
    """A trained agent from a checkpoint, or from the best one of a run directory."""
    path = Path(path)
    if path.is_dir():
        path = path / "best.pt" if (path / "best.pt").exists() else path / "last.pt"
    state = load(path)
    args = args_from_dict(state["args"])
    agent = Agent(args.net)
    try:
        agent.load_state_dict(state["agent"])
    except RuntimeError as error:
        raise RunError(
            f"the weights in '{path}' do not fit: {str(error).splitlines()[0]}"
        ) from None
    return agent.eval(), args, state


# ---- The run ----


def main(args: Args, argv: Sequence[str]) -> Path:
    """Train; returns the run's directory."""
    resumed = load(Path(args.resume) / "last.pt") if args.resume else None
    if resumed:
        args = replace(args_from_dict(resumed["args"]), resume=args.resume)
    torch.set_num_threads(1)
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    problems = load_dataset(args.dataset, "train")
    validation = load_dataset(args.dataset, "val")[: args.eval_problems]
    curriculum = Curriculum(
        [problem.family for problem in problems], name=args.curriculum,
        ucb_beta=args.ucb_beta, lp_floor=args.lp_floor, seed=args.seed,
    )  # fmt: skip
    envs = SyncVectorEnv(args.num_envs, problems, args.env, choose=curriculum.choose)
    agent = Agent(args.net)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    replay = SuccessReplay(args.replay, args.replay_size)
    policy = as_policy(agent)

    name = f"{Path(args.dataset).stem}__{args.preset}__{args.seed}"
    run = Path(args.resume) if resumed else new_run(args.out, name)
    if not resumed:
        write_json(run / "args.json", asdict(args))
        texts = [str(problem.equation) for problem in problems]
        write_json(run / "provenance.json", provenance(argv, texts))
    writer = SummaryWriter(str(run))
    print(f"{run}: {len(problems)} equations, {len(validation)} for validation", flush=True)

    global_step, first_iteration, best_score, spent_before = 0, 1, -1.0, 0.0
    observations, infos = envs.reset(seed=args.seed)
    indices = [info["index"] for info in infos]
    episodes: list[list[tuple[Observation, int, float]]] = [[] for _ in envs.envs]
    if resumed:
        agent.load_state_dict(resumed["agent"])
        optimizer.load_state_dict(resumed["optimizer"])
        curriculum.load_state_dict(resumed["curriculum"])
        rng.bit_generator.state = resumed["rng"]
        global_step, first_iteration = resumed["step"], resumed["iteration"] + 1
        best_score, spent_before = resumed["best_score"], resumed["seconds"]
        indices = resumed["indices"]
        restore(replay, resumed["replay"], envs.envs[0])
        episodes = [
            replayed(env, i, a) for env, i, a in zip(envs.envs, indices, resumed["actions"])
        ]
        observations = [env.observation for env in envs.envs]

    stop = []
    previous = [
        signal.signal(s, lambda *_: stop.append(True)) for s in (signal.SIGINT, signal.SIGTERM)
    ]
    gc.disable()  # its pauses cost more than the memory it would free between iterations
    started = time.perf_counter()
    shape = (args.num_steps, args.num_envs)
    for iteration in range(first_iteration, args.num_iterations + 1):
        clock = time.perf_counter()
        progress = min(global_step / args.total_timesteps, 1.0)
        learning_rate = args.learning_rate * (1 - 0.9 * progress if args.anneal_lr else 1.0)
        ent_coef = args.ent_coef + (args.ent_coef_final - args.ent_coef) * progress
        optimizer.param_groups[0]["lr"] = learning_rate
        log: dict[str, list[float]] = {}

        # ---- Collect: num_steps transitions from every environment ----
        rollout: list[Observation] = []
        finals: list[tuple[int, int, Observation]] = []  # last states of truncated episodes
        actions = np.zeros(shape, dtype=np.int64)
        old_log_probs, values, rewards = torch.zeros(3, *shape)
        terminated, ended = torch.zeros(2, *shape, dtype=torch.bool)
        for t in range(args.num_steps):
            with torch.no_grad():
                out = evaluate(agent, observations)
            solved_before = [index in replay.solved for index in indices]
            epsilon = np.where(solved_before, args.epsilon_solved, args.epsilon_unsolved)
            actions[t], log_prob = sample(out, epsilon, rng)
            old_log_probs[t], values[t] = torch.from_numpy(log_prob), out.value()
            following, reward, term, trunc, infos = envs.step(actions[t].tolist())
            rewards[t] = torch.from_numpy(reward)
            terminated[t] = torch.from_numpy(term)
            ended[t] = torch.from_numpy(term | trunc)
            rollout += observations
            for n, info in enumerate(infos):
                action = int(actions[t, n])
                episodes[n].append((observations[n], action, float(reward[n])))
                push(log, "actions/legal_count", len(observations[n].actions))
                push(log, "actions/cov_rate", observations[n].actions[action].op == "cov")
                if not ended[t, n]:
                    continue
                if trunc[n]:
                    finals.append((t, n, info["final_observation"]))
                index, solved = indices[n], info["solved"]
                curriculum.record(index, solved)
                push(log, "charts/episodic_return", sum(step[2] for step in episodes[n]))
                push(log, "charts/episodic_length", len(episodes[n]))
                push(log, "solve/rate", solved)
                push(log, f"solve/{problems[index].family}", solved)
                if solved:
                    replay.add(index, episodes[n], args.gamma)
                episodes[n] = []
                indices[n] = info["next_index"]
            observations = following
        global_step += args.batch_size
        collected = time.perf_counter()

        # ---- Advantages: GAE, bootstrapping through truncation ----
        with torch.no_grad():
            next_values = torch.cat([values[1:], evaluate(agent, observations).value()[None]])
            if finals:
                last = evaluate(agent, [observation for _, _, observation in finals]).value()
                for (t, n, _), value in zip(finals, last):
                    next_values[t, n] = value
        advantages = gae(
            rewards, values, next_values, terminated, ended, args.gamma, args.gae_lambda
        )
        returns = (advantages + values).reshape(-1)

        # ---- Update: clipped PPO over shuffled minibatches ----
        flat_advantages, flat_old = advantages.reshape(-1), old_log_probs.reshape(-1)
        flat_values, flat_actions = values.reshape(-1), actions.reshape(-1)
        memories, memory_weights = replay_pool(agent, replay, args.self_imitation)
        ramp = min(len(replay.solved) / args.replay_ramp, 1.0) if args.replay_ramp else 1.0
        moved = False
        for _ in range(args.num_epochs):
            order = rng.permutation(args.batch_size)
            for start in range(0, args.batch_size, args.minibatch_size):
                chosen = order[start : start + args.minibatch_size]
                picked: list[Memory] = []
                if memories:
                    count = max(int(args.replay_share * len(chosen)), 1)
                    picks = np.searchsorted(
                        memory_weights, rng.random(count) * memory_weights[-1], "right"
                    )
                    picked = [memories[min(i, len(memories) - 1)] for i in picks]
                states = [rollout[i] for i in chosen] + [m.observation for m in picked]
                out = evaluate(agent, states)
                new = out.log_prob(
                    np.concatenate([flat_actions[chosen], [m.action for m in picked]]).astype(
                        np.int64
                    )
                )
                advantage = flat_advantages[chosen]
                if args.norm_adv:
                    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                policy_loss, kl, clipped = ppo_loss(
                    new[: len(chosen)], flat_old[chosen], advantage, args.clip_coef
                )
                critic_loss = value_loss(
                    out.value()[: len(chosen)], flat_values[chosen], returns[chosen],
                    args.clip_coef, args.clip_vloss,
                )  # fmt: skip
                entropy = out.entropy[out.which[: len(chosen)]].mean()
                loss = policy_loss + args.vf_coef * critic_loss - ent_coef * entropy

                # ---- Replay: clone stored solutions ----
                if picked:
                    cloning = replay_loss(new[len(chosen) :])
                    loss = loss + args.replay_coef * ramp * cloning
                    push(log, "losses/replay_loss", cloning.detach())

                optimizer.zero_grad()
                loss.backward()
                norm = nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
                for tag, value in (
                    ("policy_loss", policy_loss), ("value_loss", critic_loss), ("entropy", entropy),
                    ("approx_kl", kl), ("clipfrac", clipped), ("grad_norm", norm),
                ):  # fmt: skip
                    push(log, f"losses/{tag}", value.detach())
                moved = moved or (args.target_kl is not None and kl > args.target_kl)
            if moved:
                break
        if args.replay == "fresh" and iteration % args.replay_refresh == 0:
            replay.refresh()
        if args.search_period and iteration % args.search_period == 0:
            global_step += search_unsolved(policy, replay, problems, envs, args, rng)

        # ---- Log: means over every minibatch of this iteration ----
        updated = time.perf_counter()
        spread = returns.var()
        push(
            log,
            "losses/explained_variance",
            1 - (returns - flat_values).var() / spread if spread else 0.0,
        )
        push(log, "solve/coverage", len(replay.solved) / len(problems))
        push(log, "replay/size", len(memories))
        push(log, "charts/learning_rate", learning_rate)
        push(log, "charts/SPS", args.batch_size / (updated - clock))
        push(log, "time/env", collected - clock)
        push(log, "time/update", updated - collected)
        for family, weight in zip(curriculum.classes, curriculum.class_weights()):
            push(log, f"curriculum/{family}", weight)
        means = {tag: float(np.mean([float(v) for v in values])) for tag, values in log.items()}
        for tag, value in means.items():
            writer.add_scalar(tag, value, global_step)

        # ---- Evaluate: validation split only; keep the best checkpoint ----
        last_one = iteration == args.num_iterations or bool(stop)
        seconds = spent_before + time.perf_counter() - started

        def state(iteration: int = iteration, seconds: float = seconds) -> dict[str, Any]:
            return {
                "format": FORMAT, "args": asdict(args), "agent": agent.state_dict(),
                "optimizer": optimizer.state_dict(), "curriculum": curriculum.state_dict(),
                "rng": rng.bit_generator.state, "step": global_step, "iteration": iteration,
                "best_score": best_score, "seconds": seconds, "indices": list(indices),
                "actions": [[step[1] for step in episode] for episode in episodes],
                "replay": stored(replay),
            }  # fmt: skip

        if last_one or crossed(global_step, args.batch_size, args.eval_period):
            found = greedy(policy, validation, args.env, envs.cache)
            score = float(np.mean([solution.solved for solution in found])) if found else 0.0
            writer.add_scalar("eval/val_greedy", score, global_step)
            if args.eval_width:
                wide = beam(policy, validation, args.env, envs.cache, width=args.eval_width,
                            value_coef=0.0, complexity_coef=0.0)  # fmt: skip
                share = float(np.mean([solution.solved for solution in wide]))
                writer.add_scalar("eval/val_beam", share, global_step)
            report(global_step, args.total_timesteps, seconds, means, score)
            if score >= best_score:
                best_score = score
                save(run / "best.pt", state())
        if last_one or crossed(global_step, args.batch_size, args.checkpoint_period):
            save(run / "last.pt", state())
        if iteration % 20 == 0:
            gc.collect()
        if stop:
            print(f"interrupted: saved; continue with --resume {run}", flush=True)
            break
    for number, handler in zip((signal.SIGINT, signal.SIGTERM), previous):
        signal.signal(number, handler)
    gc.enable()
    writer.close()
    return run


def replayed(env: Env, index: int, actions: Sequence[int]) -> list[tuple[Observation, int, float]]:
    """Bring `env` to where these actions lead, and give the steps on the way."""
    env.reset(options={"index": index})
    steps = []
    for action in actions:
        before = env.observation
        _, reward, _, _, _ = env.step(action)
        steps.append((before, action, float(np.float32(reward))))
    return steps


def stored(replay: SuccessReplay) -> dict[str, Any]:
    """The buffer as plain data: a step is told by its equation and the actions before it."""
    steps = [(m.index, list(m.before), m.action, m.outcome) for m in replay.memories()]
    return {"solved": sorted(replay.solved), "steps": steps}


def restore(replay: SuccessReplay, data: dict[str, Any], env: Env) -> None:
    """Fill the buffer from what `stored` gave, deriving the observations anew in `env`."""
    replay.solved = set(data["solved"])
    for index, before, action, outcome in data["steps"]:
        replayed(env, index, before)
        memory = Memory(env.observation, action, outcome, index, tuple(before))
        if replay.kind == "shortest":
            replay.solutions.setdefault(index, []).append(memory)
        else:
            replay.steps.append(memory)


def search_unsolved(
    policy, replay: SuccessReplay, problems: Sequence, envs: SyncVectorEnv, args: Args,
    rng: np.random.Generator,
) -> int:  # fmt: skip
    """Beam search on some equations not solved yet; solutions go into the buffer.

    Returns the environment transitions it took: they count as training steps.
    """
    unsolved = [i for i in range(len(problems)) if i not in replay.solved]
    if not unsolved:
        return 0
    some = rng.choice(unsolved, min(args.search_equations, len(unsolved)), replace=False).tolist()
    found = beam(
        policy, [problems[i] for i in some], args.env, envs.cache,
        width=args.search_width, value_coef=0.0, complexity_coef=0.0,
    )  # fmt: skip
    scratch = Env(envs.envs[0].equations, args.env, cache=envs.cache)
    for index, solution in zip(some, found):
        if solution.solved:
            actions = [action for _, action, _, _ in solution.path]
            replay.add(index, replayed(scratch, index, actions), args.gamma)
    return sum(solution.transitions for solution in found)


def push(log: dict[str, list], tag: str, value: Any) -> None:
    log.setdefault(tag, []).append(value)


def crossed(step: int, stride: int, period: int) -> bool:
    """Whether a multiple of `period` lies in the last `stride` steps."""
    return step // period > (step - stride) // period


def report(step: int, total: int, seconds: float, means: dict[str, float], score: float) -> None:
    rate = step / max(seconds, 1e-9)
    print(
        f"step {step:>9,}  {rate:6.0f}/s  solved {means.get('solve/rate', 0.0):.2f}"
        f"  coverage {means['solve/coverage']:.3f}  val {score:.3f}"
        f"  entropy {means['losses/entropy']:.2f}  {(total - step) / rate / 60:5.1f} min left",
        flush=True,
    )


@torch.no_grad()
def replay_pool(
    agent: Agent, replay: SuccessReplay, self_imitation: bool
) -> tuple[list[Memory], np.ndarray]:
    """The stored steps and the running sum of their weights under the current values."""
    memories = replay.memories()
    if not memories:
        return memories, np.zeros(0)
    weights = np.ones(len(memories))
    if self_imitation:
        values = []
        for start in range(0, len(memories), 2048):
            part = [memory.observation for memory in memories[start : start + 2048]]
            values.append(evaluate(agent, part).value().numpy())
        outcomes = np.array([memory.outcome for memory in memories])
        weights = imitation_weights(outcomes, np.concatenate(values))
    return memories, np.cumsum(weights)


def run(argv: Sequence[str]) -> int:
    """Train as the command line says; the exit code."""
    try:
        main(parse_args(argv), argv)
    except (DatasetError, RunError, ValueError) as error:
        print(f"train_ppo.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
