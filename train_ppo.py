"""PPO that learns to solve equations, in one file: arguments, network, masking, losses, the loop.

    python train_ppo.py --dataset open_small --seed 1                # the best agent we know
    python train_ppo.py --dataset open_small --preset ppo-tree-rc    # a row of the paper
    python train_ppo.py --resume runs/<run>                          # go on, bit for bit

Where the paper's parts are: "TreeMLP" -> TreeMLP; "Illegal actions" -> masked_log_probs (what is
legal: abel/operations); "Success-replay buffer" -> abel/learner/replay.py; "Curriculum" and UCB-LP
-> abel/learner/curriculum.py; reward -> abel/env.py; value-guided beam -> abel/search/decode.py;
MLP, GCN, GraphSAGE and curiosity -> abel/paper/baselines.py.
"""

from __future__ import annotations

import gc
import math
import os
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from abel.charts import bar_image
from abel.datasets import DatasetError, Problem, load_dataset
from abel.encode import ROLES, TOKENS
from abel.env import EnvConfig, SyncVectorEnv
from abel.learner.batch import Batch, pack
from abel.learner.curriculum import Curriculum, CurriculumName, draw
from abel.learner.progress import Progress, training_line
from abel.learner.records import (
    RunError,
    check_fields,
    hold,
    load_checkpoint,
    load_weights,
    new_run,
    provenance,
    refusing,
    save_checkpoint,
    write_json,
)  # fmt: skip
from abel.learner.replay import (
    ReplayName,
    Step,
    SuccessReplay,
    replay_weights,
    retrace,
    search_unsolved,
)  # fmt: skip
from abel.operations import OPERATIONS, SUBSTITUTIONS
from abel.paper.baselines import CURIOSITY, CuriosityName, GraphConvolution, GraphSAGE, PreorderMLP
from abel.search import Policy, beam, greedy
from abel.transitions import Observation, TransitionCache

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
    encoder: Literal["tree", "paper", "mlp", "gcn", "sage"] = "tree"
    """tree: TreeMLP with roles, LayerNorm and skip connections; paper: its listing; baselines"""
    messages: Literal["up", "both"] = "up"
    """messages from child to parent only (equal subtrees are computed once), or both ways"""
    pool: Literal["mean", "max"] = "mean"
    """how TreeMLP pools node states"""
    head: Literal["pointer", "index"] = "pointer"
    """score actions by operation and term, or the paper's fixed list of action indices"""
    cap: int = 50
    """actions that the index head can tell apart; later ones are masked"""

    def __post_init__(self) -> None:
        for name, low, high in (("hidden", 1, 4096), ("embed", 1, 4096), ("rounds", 0, 100),
                                ("cap", 1, 100_000)):  # fmt: skip
            if not low <= getattr(self, name) <= high:
                got = getattr(self, name)
                raise ValueError(f"--{name} must be between {low} and {high}, got {got}")
        if self.encoder == "mlp" and self.head == "pointer":
            raise ValueError("--encoder mlp has no nodes to point at: use --head index")

    @property
    def share(self) -> bool:
        """Whether a node's state depends on its subtree alone, so that equal ones are merged."""
        return self.encoder in ("tree", "paper") and self.messages == "up"


OUR_ENV = EnvConfig(
    relabel=False, branches=True, terms="blocks", max_steps=12, refuted_penalty=0.2,
    end_on_refuted=True, revisit_penalty=0.1, end_on_revisit=True,
)  # fmt: skip


@dataclass(frozen=True)
class Args:
    """Every knob of a run; functions get them as arguments and have no defaults of their own."""

    dataset: str = "open_small"
    """name of a dataset, several joined by +, or path of a text file with one equation a line"""
    seed: int = 1
    """seed of everything random"""
    preset: str = "default"
    """starting point for all other flags: default, general substitutions, or a row of the paper"""
    out: str = "runs"
    """directory in which the run's own directory is made"""
    resume: str = ""
    """directory of a run to continue; its own arguments are used"""
    total_timesteps: int = 300_000
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
    replay_size: int = 20_000
    """transitions kept by flat and fresh replay"""
    replay_refresh: int = 20
    """rollouts after which fresh replay drops its older half"""
    self_imitation: bool = True
    """draw cloned transitions by max(return - value, 0)^2 instead of evenly"""
    curriculum: CurriculumName = "frontier"
    """how the next equation is drawn"""
    ucb_beta: float = 2.0
    """exploration weight of ucb-lp"""
    lp_floor: float = 0.2
    """share that lp spreads evenly over the classes"""
    curiosity: CuriosityName = "none"
    """bonus for new states that is added to the reward"""
    curiosity_coef: float = 0.01
    """weight of that bonus"""
    search_period: int = 5
    """rollouts without a new equation solved after which a search looks two steps ahead"""
    search_equations: int = 0
    """equations searched each time; 0 is no search"""
    search_width: int = 3
    """width of the beam that goes on from the most promising places"""
    eval_period: int = 25_000
    """environment steps between evaluations on the validation split"""
    eval_problems: int = 200
    """validation equations used at the most"""
    eval_width: int = 0
    """beam width of validation besides greedy; 0 is none"""
    checkpoint_period: int = 50_000
    """environment steps between saves of last.pt"""
    env: EnvConfig = OUR_ENV
    net: NetConfig = NetConfig()

    def __post_init__(self) -> None:
        for name in (
            "total_timesteps", "num_envs", "num_steps", "num_epochs", "minibatch_size",
            "replay_size", "replay_refresh", "search_period", "search_width", "eval_period",
            "eval_problems", "checkpoint_period",
        ):  # fmt: skip
            if (got := getattr(self, name)) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {got}")
        if self.preset not in PRESETS:
            raise ValueError(f"--preset must be one of {', '.join(PRESETS)}, got {self.preset!r}")

    @property
    def batch_size(self) -> int:
        return self.num_envs * self.num_steps


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
    "self_imitation": False, "replay_coef": 0.3, "replay_share": 0.25, "replay_ramp": 0,
    "curriculum": "inverse", "env": PAPER_ENV,
    "net": NetConfig(hidden=128, embed=64, rounds=3, encoder="paper", head="index", cap=50),
}  # fmt: skip
REPLAYED = {"replay": "flat"}
COV_ENV = replace(PAPER_ENV, relabel=True, cov="cas", max_cov=1)
NESTED_ENV = replace(COV_ENV, cbrt=True, max_cov=3)
GENERAL_ENV = replace(
    OUR_ENV, substitutions="general", constants="repeats", conditional_penalty=0.2, max_steps=16
)
PRESETS: dict[str, dict[str, Any]] = {  # only what differs from Args()
    "default": {},
    "general": {
        "search_equations": 2,
        "curriculum": "balanced",
        "epsilon_start": 0,
        "env": GENERAL_ENV,
    },
    "ppo": {**PAPER, "net": replace(PAPER["net"], encoder="mlp")},
    "ppo-tree": PAPER,
    "ppo-tree-rc": {**PAPER, "env": replace(PAPER_ENV, relabel=True)},
    "ppo-tree-buf": {**PAPER, **REPLAYED},
    "ppo-tree-rc-buf": {**PAPER, **REPLAYED, "env": replace(PAPER_ENV, relabel=True)},
    "ppo-tree-rc-buf-cov": {**PAPER, **REPLAYED, "env": COV_ENV},  # C1 of the ablation
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
    argv = sys.argv[1:] if argv is None else argv
    words = [word for word in argv if not word.startswith("--tyro-")]  # shell completion: of Args
    flag, _ = tyro.cli(PresetFlag, args=words, add_help=False, return_unknown_args=True)
    base = replace(Args(), preset=flag.preset, **PRESETS.get(flag.preset, {}))  # or Args refuses
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


def collate(observations: Sequence[Observation], share: bool) -> Batch:
    return Batch(*map(torch.from_numpy, pack(observations, share)))


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
        if net.encoder == "paper":
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
        if self.net.encoder == "paper":
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
    """An encoder with a policy head over the legal actions and a value head."""

    def __init__(self, net: NetConfig) -> None:
        super().__init__()
        self.net = net
        width = net.hidden
        if net.encoder == "mlp":
            self.encoder = PreorderMLP(width)
        elif net.encoder in ("gcn", "sage"):
            kind = GraphConvolution if net.encoder == "gcn" else GraphSAGE
            self.encoder = kind(width, net.embed, net.rounds)
        else:
            self.encoder = TreeMLP(net)
        self.value = mlp(width, width, 1)
        if net.head == "pointer":
            self.op = nn.Embedding(len(OPERATIONS), width)
            self.term = nn.Linear(width, width)
            self.context = nn.Linear(width, width)
            self.score = nn.Linear(width, 1)
        else:
            self.index = mlp(width, width, net.cap)

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
    batch = collate(distinct, agent.net.share)
    log_probs, values = agent(batch)
    entropy = masked_entropy(log_probs, batch.action_graph, len(distinct))
    return Outputs(
        log_probs, entropy, values, batch.offsets.numpy(), which, batch.action_op.numpy()
    )


def as_policy(agent: Agent) -> Policy:
    """The agent as `abel.search.decode` wants it."""

    @torch.no_grad()
    def policy(observations: Sequence[Observation]) -> tuple[list[np.ndarray], np.ndarray]:
        out = evaluate(agent, observations)
        log_probs = np.split(out.log_probs.numpy(), out.offsets[1:-1])
        return [log_probs[d] for d in out.which], out.value().numpy()

    return policy


def sample(
    out: Outputs, epsilon: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Actions and their log-probabilities under the behaviour: epsilon of it is uniform over
    operations, then over the operation's terms; the rest is the policy."""
    actions = np.zeros(len(out.which), dtype=np.int64)
    chosen = np.zeros(len(out.which), dtype=np.float32)
    log_probs = out.log_probs.double().numpy()
    for i, d in enumerate(out.which):
        start, end = out.offsets[d], out.offsets[d + 1]
        p = np.exp(log_probs[start:end])
        if epsilon[i] > 0:
            legal = np.isfinite(log_probs[start:end])  # not what an index head masks
            kinds, inverse, counts = np.unique(
                out.ops[start:end][legal], return_inverse=True, return_counts=True
            )
            p *= 1 - epsilon[i]
            p[legal] += epsilon[i] / (len(kinds) * counts[inverse])
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


# ---- Checkpoints ----


def args_from_dict(data: dict[str, Any]) -> Args:
    """The arguments that a run was started with, from its checkpoint."""
    with refusing("the checkpoint's arguments do not fit this version"):
        args = Args(**{**data, "env": EnvConfig(**data["env"]), "net": NetConfig(**data["net"])})
        for config in (args, args.env, args.net):
            check_fields(config)
        return args


def load_agent(path: str | Path) -> tuple[Agent, Args, dict[str, Any]]:
    """A trained agent from a checkpoint, or from the best one of a run directory."""
    path = Path(path)
    if path.is_dir():
        path = path / "best.pt" if (path / "best.pt").exists() else path / "last.pt"
    state = load_checkpoint(path, FORMAT, "args", "agent", "step")
    args = args_from_dict(state["args"])
    return load_weights(lambda: Agent(args.net), state["agent"], path).eval(), args, state


# ---- The run ----


def main(args: Args, argv: Sequence[str]) -> Path:
    """Train; returns the run's directory."""
    resumed = None
    if args.resume:
        _, trained, resumed = load_agent(Path(args.resume) / "last.pt")
        args = replace(trained, resume=args.resume)
    torch.set_num_threads(1)
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    problems = load_dataset(args.dataset, "train")
    validation = load_dataset(args.dataset, "val")
    validation = validation[:: math.ceil(max(len(validation), 1) / args.eval_problems)]
    curriculum = Curriculum(
        [problem.family for problem in problems], name=args.curriculum,
        ucb_beta=args.ucb_beta, lp_floor=args.lp_floor, seed=args.seed,
    )  # fmt: skip
    envs = SyncVectorEnv(args.num_envs, problems, args.env, choose=curriculum.choose)
    agent = Agent(args.net)
    policy = as_policy(agent)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    replay = SuccessReplay(args.replay, args.replay_size)
    curiosity = None
    if args.curiosity != "none":
        curiosity = CURIOSITY[args.curiosity](args.net.hidden, args.net.embed, args.learning_rate)

    name = f"{Path(args.dataset).stem}__{args.preset}__{args.seed}"
    run = Path(args.resume) if resumed else new_run(args.out, name)
    lock = hold(run)
    if not resumed:
        write_json(run / "args.json", asdict(args))
        texts = [str(problem.equation) for problem in problems]
        write_json(run / "provenance.json", provenance(argv, texts))

    global_step, iteration, best_score, spent_before, cpu_before = 0, 0, -1.0, 0.0, 0.0
    observations, infos = envs.reset(seed=args.seed)
    indices = [info["index"] for info in infos]
    episodes: list[list[Step]] = [[] for _ in envs.envs]
    if resumed:
        with refusing(f"cannot go on from '{run / 'last.pt'}'"):
            agent.load_state_dict(resumed["agent"])
            optimizer.load_state_dict(resumed["optimizer"])
            curriculum.load_state_dict(resumed["curriculum"])
            if curiosity:
                curiosity.load_state_dict(resumed["curiosity"])
            rng.bit_generator.state = resumed["rng"]
            global_step, iteration = resumed["step"], resumed["iteration"]
            best_score, spent_before = resumed["best_score"], resumed["seconds"]
            cpu_before = resumed["cpu_seconds"]
            replay.load_state_dict(resumed["replay"], envs.envs[0])
            indices = resumed["indices"]
            episodes = [retrace(*begun) for begun in zip(envs.envs, indices, resumed["actions"])]
            observations = [env.observation for env in envs.envs]
    writer, progress = SummaryWriter(str(run)), Progress()
    progress.say(f"{run}: {len(problems)} equations, {len(validation)} for validation")

    stop: list[int] = []
    signals = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.signal(number, lambda got, _: stop.append(got)) for number in signals]
    gc.disable()  # its pauses cost more than the memory it would free between iterations
    started = time.perf_counter()
    shape = (args.num_steps, args.num_envs)
    ladder = 1 + args.epsilon_ladder * np.linspace(0, 1, args.num_envs)
    while global_step < args.total_timesteps:
        iteration += 1
        clock, step_before = time.perf_counter(), global_step
        done = min(global_step / args.total_timesteps, 1.0)
        learning_rate = args.learning_rate * (1 - 0.9 * done * args.anneal_lr)
        ent_coef = args.ent_coef + (args.ent_coef_final - args.ent_coef) * done
        optimizer.param_groups[0]["lr"] = learning_rate
        log: dict[str, list[Any]] = defaultdict(list)

        # ---- Collect: num_steps transitions from every environment ----
        rollout: list[Observation] = []
        successors: list[Observation] = []
        finals: list[tuple[int, int, Observation]] = []  # last states of truncated episodes
        actions = np.zeros(shape, dtype=np.int64)
        old_log_probs, values, rewards = torch.zeros(3, *shape)
        terminated, ended = torch.zeros(2, *shape, dtype=torch.bool)
        env_seconds = 0.0
        events: Counter[str] = Counter()  # episodes solved, by family
        for t in range(args.num_steps):
            with torch.no_grad():
                out = evaluate(agent, observations)
            solved_before = [index in replay.solved for index in indices]
            epsilon = np.where(solved_before, args.epsilon_solved, args.epsilon_unsolved)
            if len(replay.solved) >= min(args.epsilon_start, len(problems)):
                epsilon = epsilon**ladder
            actions[t], log_prob = sample(out, epsilon, rng)
            old_log_probs[t], values[t] = torch.from_numpy(log_prob), out.value()
            before = time.perf_counter()
            following, reward, term, trunc, infos = envs.step(actions[t].tolist())
            env_seconds += time.perf_counter() - before
            rewards[t] = torch.from_numpy(reward)
            terminated[t] = torch.from_numpy(term)
            ended[t] = torch.from_numpy(term | trunc)
            rollout += observations
            if curiosity:
                successors += [i.get("final_observation", o) for i, o in zip(infos, following)]
            for n, info in enumerate(infos):
                action = int(actions[t, n])
                taken = observations[n].actions[action]
                log["actions/legal_count"].append(len(observations[n].actions))
                log["actions/cov_rate"].append(OPERATIONS[taken.op].kind in SUBSTITUTIONS)
                if episodes[n]:
                    seen, index, _ = episodes[n][-1]
                    log["actions/repeat_rate"].append(taken == seen.actions[index])
                episodes[n].append((observations[n], action, float(reward[n])))
                if not ended[t, n]:
                    continue
                if trunc[n]:
                    finals.append((t, n, info["final_observation"]))
                index, solved = indices[n], info["solved"]
                curriculum.record(index, solved)
                log["charts/episodic_return"].append(sum(step[2] for step in episodes[n]))
                log["charts/episodic_length"].append(len(episodes[n]))
                log["solve/rate"].append(solved)
                log[f"solve/{problems[index].family}"].append(solved)
                events[problems[index].family] += solved
                if solved:
                    replay.add(index, episodes[n], args.gamma, iteration, info["verdict"])
                episodes[n] = []
                indices[n] = info["next_index"]
            observations = following
        global_step += args.batch_size
        if curiosity:
            chosen_ops = [o.action_ops[a] for o, a in zip(rollout, actions.reshape(-1))]
            transitions = rollout, torch.tensor(chosen_ops, dtype=torch.long), successors
            bonus = curiosity.bonus(*transitions, ended)
            rewards += args.curiosity_coef * bonus
            log["curiosity/bonus"].append(bonus.mean())
            curiosity.learn(*transitions, args.minibatch_size)
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
        memories = replay.memories()
        weights = np.cumsum(replay_weights(memories, policy if args.self_imitation else None))
        ramp = min(len(replay.solved) / args.replay_ramp, 1.0) if args.replay_ramp else 1.0
        moved = False
        for _ in range(args.num_epochs):
            order = rng.permutation(args.batch_size)
            for start in range(0, args.batch_size, args.minibatch_size):
                chosen = order[start : start + args.minibatch_size]
                count = math.ceil(args.replay_share * len(chosen)) if memories else 0
                picked = [memories[i] for i in draw(weights, count, rng)]
                out = evaluate(
                    agent, [rollout[i] for i in chosen] + [m.observation for m in picked]
                )
                cloned = np.array([m.action for m in picked], dtype=np.int64)
                new = out.log_prob(np.concatenate([flat_actions[chosen], cloned]))
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
                    log["losses/replay_loss"].append(cloning.detach())

                optimizer.zero_grad()
                loss.backward()
                norm = nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
                for tag, value in (
                    ("policy_loss", policy_loss), ("value_loss", critic_loss), ("entropy", entropy),
                    ("approx_kl", kl), ("clipfrac", clipped), ("grad_norm", norm),
                ):  # fmt: skip
                    log[f"losses/{tag}"].append(value.detach())
                moved = moved or (args.target_kl is not None and kl > args.target_kl)
            if moved:
                break
        if args.replay == "fresh" and iteration % args.replay_refresh == 0:
            replay.refresh()
        if args.search_equations and iteration - replay.latest >= args.search_period:
            global_step += search_unsolved(
                replay, policy, envs.envs[0], count=args.search_equations,
                width=args.search_width, gamma=args.gamma, rollout=iteration, rng=rng,
            )  # fmt: skip

        # ---- Log: means over every minibatch of this iteration ----
        updated = time.perf_counter()
        seconds = spent_before + updated - started
        spread = returns.var()
        unexplained = (returns - flat_values).var() / spread if spread else 1.0
        log["losses/explained_variance"].append(1 - unexplained)
        log["solve/coverage"].append(len(replay.solved) / len(problems))
        log["replay/size"].append(len(memories))
        if memories:
            log["replay/age"].append(iteration - np.mean([memory.born for memory in memories]))
        log["charts/learning_rate"].append(learning_rate)
        log["charts/SPS"].append((global_step - step_before) / (updated - clock))
        log["time/env"].append(env_seconds)
        log["time/network"].append(collected - clock - env_seconds)
        log["time/update"].append(updated - collected)
        log["time/total"].append(seconds)
        log["time/cpu"].append(cpu_before + time.process_time())
        for family, weight in zip(curriculum.classes, curriculum.class_weights()):
            log[f"curriculum/{family}"].append(weight)
            log[f"events/{family}"].append(events[family])
        means = {tag: float(np.mean([float(v) for v in seen])) for tag, seen in log.items()}
        for tag, value in means.items():
            writer.add_scalar(tag, value, global_step)
        line = training_line(
            global_step, args.total_timesteps, seconds, means.get("solve/rate", 0.0),
            means["solve/coverage"], means["losses/entropy"],
        )  # fmt: skip
        progress.show(line)

        # ---- Evaluate: validation split only; keep the best checkpoint ----
        stopping = bool(stop)  # a signal from here on is for the next iteration
        last_one = global_step >= args.total_timesteps or stopping
        best = False
        if last_one or crossed(step_before, global_step, args.eval_period):
            score = validate(policy, validation, args, envs.cache, writer, global_step)
            progress.say(f"{line}  val {score:.3f}" if validation else line)
            best = score >= best_score
            best_score = max(score, best_score)
        due = last_one or crossed(step_before, global_step, args.checkpoint_period)
        if best or due:
            state = {
                "format": FORMAT, "args": asdict(args), "agent": agent.state_dict(),
                "optimizer": optimizer.state_dict(), "curriculum": curriculum.state_dict(),
                "rng": rng.bit_generator.state, "step": global_step, "iteration": iteration,
                "best_score": best_score, "seconds": seconds, "indices": list(indices),
                "cpu_seconds": cpu_before + time.process_time(), "replay": replay.state_dict(),
                "actions": [[step[1] for step in episode] for episode in episodes],
                "curiosity": curiosity.state_dict() if curiosity else None,
            }  # fmt: skip
            for wanted, path in ((best, run / "best.pt"), (due, run / "last.pt")):
                if wanted:
                    save_checkpoint(path, state)
        if iteration % 20 == 0:  # what is older than that is rarely garbage, and slow to look at
            gc.collect(2 if iteration % 500 == 0 else 1)
        if stopping:
            progress.say(f"interrupted: saved; continue with --resume {run}")
            break
    for number, handler in zip(signals, handlers):
        signal.signal(number, handler)
    gc.enable()
    flat = {k: str(v) for k, v in (asdict(args) | asdict(args.env) | asdict(args.net)).items()}
    writer.add_hparams(flat, {"hparam/val_greedy": best_score}, run_name=".")
    writer.close()
    lock.close()
    return run


def validate(
    policy: Policy, validation: Sequence[Problem], args: Args, cache: TransitionCache,
    writer: SummaryWriter, step: int,
) -> float:  # fmt: skip
    """Share of the validation equations that greedy decoding solves, with a look at each family."""
    found = greedy(policy, validation, args.env, cache)
    solved: dict[str, list[bool]] = defaultdict(list)
    traces: dict[str, str] = {}
    for problem, solution in zip(validation, found):
        solved[problem.family].append(solution.solved)
        if solution.solved and problem.family not in traces:
            traces[problem.family] = f"**{problem.family}**\n```\n{solution.trace().to_text()}\n```"
    rates = {family: float(np.mean(flags)) for family, flags in sorted(solved.items())}
    score = sum(map(sum, solved.values())) / max(len(found), 1)
    writer.add_scalar("eval/val_greedy", score, step)
    writer.add_text("eval/traces", "\n\n".join(traces.values()), step)
    image = bar_image(rates, f"solved of each family, step {step:,}")
    writer.add_image("eval/val_by_family", image, step, dataformats="HWC")
    if args.eval_width:
        wide = beam(policy, validation, args.env, cache, width=args.eval_width,
                    value_coef=0.0, complexity_coef=0.0)  # fmt: skip
        share = sum(solution.solved for solution in wide) / max(len(wide), 1)
        writer.add_scalar("eval/val_beam", share, step)
    return score


def crossed(before: int, now: int, period: int) -> bool:
    """Whether a multiple of `period` lies in these steps."""
    return now // period > before // period


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
