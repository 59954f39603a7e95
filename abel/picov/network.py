"""The paper's pi_cov: a network that writes the change of variables for an equation.

    python -m abel.picov --seed 1 --out runs/picov      # trains, tests on unseen equations
    python -m abel.picov --eval --json out.json         # the bundled one against the CAS
    python -m abel.picov --reward-only                  # no supervision: proved roots alone teach

A tree encoder reads the equation, a recurrent decoder writes a program of `abel.picov.grammar`,
which also says what is given to it and what is not. What is learned: which equations have a
substitution, its structure, and which coefficients it copies.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import tyro
from sympy import Expr
from torch import Tensor, nn

from abel.datasets import FAMILIES, DatasetError, Problem, load_dataset, textbook
from abel.encode import NUM_ROLES, TOKENS
from abel.env import Env, EnvConfig
from abel.home import home
from abel.learner.records import (
    RunError,
    load_checkpoint,
    load_weights,
    provenance,
    save_checkpoint,
    write_json,
)  # fmt: skip
from abel.picov.grammar import (
    MAX_LENGTH,
    NUM,
    Example,
    Program,
    View,
    build,
    draw_equations,
    legal_columns,
    look,
    training_pool,
)  # fmt: skip
from abel.rewrite import coefficients, difference, expand
from abel.transforms import Generator, propose
from abel.verify import is_identity

BUNDLED = home() / "runs" / "picov"
FORMAT = "abel-picov-1"
CLOSED = ("small", "large", "poesia")  # their training parts teach where nothing helps

# ---- Network ----


class Batch(NamedTuple):
    """Views packed node after node; C is the largest number of blocks."""

    tokens: Tensor  # [N]
    roles: Tensor  # [N]
    edges: Tensor  # [2, E] child, parent
    opposites: Tensor  # [2, M]
    graphs: Tensor  # [N] which view a node belongs to
    roots: Tensor  # [B]
    blocks: Tensor  # [B, C] nodes of the blocks, padded with 0


def pack(views: Sequence[View]) -> Batch:
    starts = np.cumsum([0] + [len(view.tokens) for view in views])
    edges = [
        (start + child, start + parent)
        for view, start in zip(views, starts)
        for child, parent in enumerate(view.parents)
        if parent >= 0
    ]
    opposites = [
        (start + a, start + b) for view, start in zip(views, starts) for a, b in view.opposites
    ]
    width = max(1, *(len(view.nodes) for view in views))
    blocks = np.zeros((len(views), width), dtype=np.int64)
    for row, view, start in zip(blocks, views, starts):
        row[: len(view.nodes)] = start + np.array(view.nodes, dtype=np.int64)
    return Batch(
        torch.tensor([token for view in views for token in view.tokens]),
        torch.tensor([role for view in views for role in view.roles]),
        torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T,
        torch.tensor(opposites, dtype=torch.long).reshape(-1, 2).T,
        torch.tensor(np.repeat(np.arange(len(views)), np.diff(starts))),
        torch.tensor(starts[:-1]),
        torch.tensor(blocks),
    )


class PiCov(nn.Module):
    """Messages along the tree and between opposite blocks; a GRU over productions; a pointer."""

    def __init__(self, hidden: int, rounds: int) -> None:
        super().__init__()
        self.token = nn.Embedding(len(TOKENS) + 1, hidden)
        self.role = nn.Embedding(NUM_ROLES, hidden)
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(rounds))
        self.rounds = nn.ModuleList(
            nn.Sequential(nn.Linear(4 * hidden, hidden), nn.GELU(), nn.Linear(hidden, hidden))
            for _ in range(rounds)
        )
        self.start = nn.Linear(2 * hidden, hidden)
        self.production = nn.Embedding(NUM + 2, hidden)  # and COPY, and the beginning
        self.decoder = nn.GRU(2 * hidden, hidden, batch_first=True)
        self.next = nn.Linear(hidden, NUM)
        self.query = nn.Linear(hidden, hidden)

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """States of the blocks [B, C, H] and the decoder's first state [1, B, H]."""
        h = self.token(batch.tokens) + self.role(batch.roles)  # [N, H]
        (child, parent), (one, other) = batch.edges, batch.opposites
        for norm, layer in zip(self.norms, self.rounds):
            s = norm(h)
            zeros = torch.zeros_like(s)
            up = zeros.index_add(0, parent, s[child])
            down = zeros.index_add(0, child, s[parent])
            across = zeros.index_add(0, other, s[one])
            h = h + layer(torch.cat([s, up, down, across], 1))
        pooled = torch.zeros(len(batch.roots), h.shape[1]).index_add(0, batch.graphs, h)
        start = self.start(torch.cat([h[batch.roots], pooled / 8], 1)).tanh()
        return h[batch.blocks], start[None]

    def decode(self, blocks: Tensor, state: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of all columns [B, T, NUM + C] after the columns `last` [B, T]; -1 begins."""
        names = torch.where(last < 0, NUM + 1, last.clamp(max=NUM))
        picked = (last - NUM).clamp(min=0)[..., None].expand(-1, -1, blocks.shape[2])
        copied = blocks.gather(1, picked) * (last >= NUM)[..., None]
        out, state = self.decoder(torch.cat([self.production(names), copied], 2), state)
        pointers = self.query(out) @ blocks.transpose(1, 2) / blocks.shape[2] ** 0.5
        return torch.cat([self.next(out), pointers], 2), state


def cloning_loss(net: PiCov, examples: Sequence[Example]) -> Tensor:
    """Minus the log-probability of the right columns, mean over all steps of the programs."""
    batch = pack([example.view for example in examples])
    width = NUM + batch.blocks.shape[1]
    length = max(len(example.targets) for example in examples)
    last = np.full((len(examples), length), -1)
    legal = np.zeros((len(examples), length, width), dtype=bool)
    right = np.zeros_like(legal)
    for row, (view, targets) in enumerate(examples):
        program = tuple(columns[0] for columns in targets)
        last[row, 1 : len(program)] = program[:-1]
        for step, columns in enumerate(targets):
            mask = legal_columns(program[:step], len(view.nodes))
            legal[row, step, : len(mask)] = mask
            right[row, step, list(columns)] = True
    scores, _ = net.decode(*net.encode(batch), torch.tensor(last))
    used = torch.tensor(legal.any(2))
    scores, may, must = scores[used], torch.tensor(legal)[used], torch.tensor(right)[used]
    right_score = scores.masked_fill(~must, -torch.inf).logsumexp(1)
    return (scores.masked_fill(~may, -torch.inf).logsumexp(1) - right_score).mean()


@torch.no_grad()
def write_programs(
    net: PiCov,
    view: View,
    *,
    count: int = 1,
    rng: np.random.Generator | None = None,
    epsilon: float = 0.0,
    max_length: int = MAX_LENGTH,
) -> list[Program]:
    """Sampled programs, each column uniform with probability `epsilon`; greedy without `rng`."""
    blocks, state = net.encode(pack([view]))
    blocks, state = blocks.expand(count, -1, -1), state.expand(-1, count, -1).contiguous()
    programs: list[list[int]] = [[] for _ in range(count)]
    last = torch.full((count, 1), -1)
    for _ in range(max_length):
        masks = np.stack([
            legal_columns(tuple(program), len(view.nodes), max_length) for program in programs
        ])  # fmt: skip
        going = masks.any(1)
        if not going.any():
            break
        scores, state = net.decode(blocks, state, last)
        scores = scores[:, 0, : masks.shape[1]].masked_fill(~torch.tensor(masks), -torch.inf)
        p = scores.softmax(1).double().numpy()
        for row in np.flatnonzero(going):
            if rng is None:
                column = p[row].argmax()
            else:
                mixed = (1 - epsilon) * p[row] + epsilon * masks[row] / masks[row].sum()
                column = rng.choice(len(mixed), p=mixed / mixed.sum())
            programs[row].append(int(column))
            last[row, 0] = int(column)
    return [tuple(program) for program in programs]


# ---- Use ----


class LearnedGenerator:
    """The greedy substitutions of a network, called like `abel.cov.propose`."""

    def __init__(self, net: PiCov) -> None:
        self.net = net
        self.programs: dict[tuple, Program] = {}
        self.answers: dict[tuple[Expr, Expr], Expr | None] = {}

    def __call__(self, lhs: Expr, rhs: Expr) -> Expr | None:
        answers, programs = self.answers, self.programs
        if (lhs, rhs) not in answers:
            if len(answers) >= 1 << 16:
                answers.clear()
            view = look(lhs, rhs)
            if view is not None and view.key not in programs:
                if len(programs) >= 1 << 16:
                    programs.clear()
                programs[view.key] = write_programs(self.net, view)[0]
            answers[lhs, rhs] = None if view is None else build(programs[view.key], view.blocks)
        return answers[lhs, rhs]


def load_network(path: Path | None = None) -> PiCov:
    """The network in a directory that training wrote; None is the bundled one."""
    file = (BUNDLED if path is None else Path(path)) / "weights.pt"
    if not file.exists():
        raise RunError(f"there is no generator '{file}': train one, python -m abel.picov")
    stored = load_checkpoint(file, FORMAT, "hidden", "rounds", "weights")
    hidden, rounds = stored["hidden"], stored["rounds"]
    if not (type(hidden) is type(rounds) is int and 0 < hidden <= 4096 and 0 <= rounds <= 100):
        raise RunError(f"'{file}' is not a generator: {rounds!r:.20} rounds of {hidden!r:.20}")
    return load_weights(lambda: PiCov(hidden, rounds), stored["weights"], file).eval()


def load_generator(path: Path | None = None) -> Generator:
    """A trained generator, to be passed to `Env` where the CAS detector would be."""
    return LearnedGenerator(load_network(path))


# ---- Training by supervision ----


@dataclass(frozen=True)
class Args:
    """Train the generator, or with --eval test it, or with --reward-only train without answers."""

    seed: int = 1
    """seed of initial weights, batches and samples"""
    out: Path | None = None
    """directory of the weights; default: runs/picov_SEED in training, runs/picov with --eval"""
    eval: bool = False
    """test the generator in --out against the CAS detector instead of training"""
    reward_only: bool = False
    """learn from proved roots alone (abel/picov/reward.py); writes no weights"""
    json: Path | None = None
    """file for the results"""
    pool_seed: int = 0
    """seed of the equations to learn from"""
    pool_size: int = 24_000
    """equations drawn to learn from; the network sees far fewer different ones"""
    steps: int = 2500
    """gradient steps"""
    batch_size: int = 64
    """equations in a gradient step"""
    learning_rate: float = 2e-3
    """step size of Adam at the start; falls linearly to a twentieth"""
    hidden: int = 64
    """width of the network"""
    rounds: int = 4
    """rounds of message passing"""
    heldout: int = 1200
    """unseen equations to test on"""
    episodes: int = 20_000
    """with --reward-only: episodes to play"""
    equations: int = 40
    """with --reward-only: training equations of each family"""
    epsilon: float = 0.3
    """with --reward-only: share of uniform productions in proposals"""


class Learner:
    """A network and its optimiser."""

    def __init__(self, args: Args) -> None:
        torch.manual_seed(args.seed)
        self.net = PiCov(args.hidden, args.rounds)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=args.learning_rate)

    def step(self, examples: Sequence[Example]) -> float:
        loss = cloning_loss(self.net, examples)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())


def train(args: Args) -> PiCov:
    """Clone the CAS detector's answers."""
    counts = training_pool(args.pool_seed, args.pool_size, CLOSED)
    # Between all views alike and as often as they occur: rare ones must be learned too.
    examples, weights = list(counts), np.cumsum([n**0.5 for n in counts.values()])
    print(f"{args.pool_size} equations, {len(examples)} different to the network", flush=True)
    learner, rng, losses = Learner(args), random.Random(args.seed), []
    for step in range(args.steps):
        for group in learner.optimizer.param_groups:
            group["lr"] = args.learning_rate * (1 - 0.95 * step / args.steps)
        batch = rng.choices(examples, cum_weights=weights.tolist(), k=args.batch_size)
        losses.append(learner.step(batch))
        if (step + 1) % 500 == 0:
            print(f"step {step + 1:>6}  loss {np.mean(losses[-500:]):.4f}", flush=True)
    return learner.net.eval()


def save(net: PiCov, args: Args, argv: Sequence[str], results: dict) -> None:
    folder = args.out or Path(f"runs/picov_{args.seed}")
    folder.mkdir(parents=True, exist_ok=True)
    stored = {
        "format": FORMAT, "hidden": args.hidden, "rounds": args.rounds, "weights": net.state_dict(),
    }  # fmt: skip
    save_checkpoint(folder / "weights.pt", stored)
    settings = asdict(args)
    del settings["out"], settings["json"]  # where it was written is no part of what it is
    write_json(folder / "args.json", settings)
    texts = [p.text for name in CLOSED for p in load_dataset(name, "train")]
    write_json(folder / "provenance.json", provenance(argv, texts) | {"results": results})


# ---- Evaluation ----


def same(one: Expr | None, other: Expr | None) -> bool:
    """Equal as functions of x and the coefficients, by symbols: their difference is proved 0."""
    if one is None or other is None or one == other:
        return one is other or one == other
    return is_identity(difference(one, other))


def family_of(phi: Expr | None, lhs: Expr, rhs: Expr) -> str:
    if phi is None:
        return "none"
    coeffs = coefficients(expand(difference(lhs, rhs)))
    return "exponential" if coeffs is None else FAMILIES[len(coeffs) - 3]


def compare(generator: Generator, equations: Sequence[tuple[Expr, Expr]]) -> dict:
    """Exact answers by the CAS detector's family, false substitutions, and the mistakes."""
    rows: dict[str, list[int]] = {}
    mistakes = []
    for lhs, rhs in equations:
        wanted, got = propose(lhs, rhs), generator(lhs, rhs)
        row = rows.setdefault(family_of(wanted, lhs, rhs), [0, 0])
        right = same(wanted, got)
        row[0] += right
        row[1] += 1
        if not right:
            mistakes.append(f"{lhs} = {rhs}: {got} instead of {wanted}")
    none = rows.get("none", [0, 0])
    return {
        "exact": sum(right for right, _ in rows.values()),
        "of": len(equations),
        "by_family": {family: rows[family] for family in (*FAMILIES, "none") if family in rows},
        "false_substitutions": none[1] - none[0],
        "without_substitution": none[1],
        "mistakes": mistakes,
    }


def seconds_per_call(generator: Generator, equations: Sequence[tuple[Expr, Expr]]) -> float:
    start = time.process_time()
    for lhs, rhs in equations:
        generator(lhs, rhs)
    return (time.process_time() - start) / len(equations)


@cache
def heldout_equations(kind: str, count: int) -> list[tuple[Expr, Expr]]:
    """Letters, scales and shapes of coefficients not in training; the same for every seed.

    `families` are the paper's, as given and in mid-episode; `other` is made to look like them.
    """
    families = FAMILIES if kind == "families" else ("other",)
    return list(draw_equations(random.Random(kind), count, True, families))


def heldout_results(net: PiCov, args: Args) -> dict:
    """Exactness on unseen equations; nearly all of a family look like seen ones, so those that do
    not are also counted apart.
    """
    pool = training_pool(args.pool_seed, args.pool_size, CLOSED)
    seen, results = {view.key for view, _ in pool}, {}
    for kind, count in (("families", args.heldout), ("other", args.heldout // 2)):
        equations = heldout_equations(kind, count)
        views = [look(lhs, rhs) for lhs, rhs in equations]
        new = [pair for pair, view in zip(equations, views) if view and view.key not in seen]
        results[kind] = compare(LearnedGenerator(net), equations)
        results[f"{kind}, new views"] = compare(LearnedGenerator(net), new)
    return results


def dataset_equations(name: str, split: str) -> list[tuple[Expr, Expr]]:
    return [(p.equation.lhs, p.equation.rhs) for p in load_dataset(name, split)]


def wandered_equations(name: str, count: int) -> list[tuple[Expr, Expr]]:
    """What random legal steps make of held-out equations, changes of variables among them."""
    env, rng = Env(load_dataset(name, "heldout"), EnvConfig()), random.Random(0)
    found: dict[tuple[Expr, Expr], None] = {}
    while len(found) < count:
        env.reset(options={"index": rng.randrange(len(env.equations))})
        for _ in range(6):
            if not env.ended:
                ops = sorted({action.op for action in env.actions})
                op = rng.choice(ops)  # else the many terms of add and mul crowd out the rest
                chosen = [i for i, action in enumerate(env.actions) if action.op == op]
                env.step(rng.choice(chosen))
                found[env.form.lhs, env.form.rhs] = None
    return list(found)


def evaluate(args: Args) -> dict:
    """All that is claimed about a generator."""
    net = load_network(args.out)
    generator = LearnedGenerator(net)
    results = {
        kind: compare(generator, heldout_equations(kind, args.heldout))
        for kind in ("families", "other")
    }
    for name in ("small", "large", "poesia", "open_small", "open_large"):
        split = "heldout" if name.startswith("open") else "test"
        results[name] = compare(generator, dataset_equations(name, split))
    results["open_large, random steps"] = compare(generator, wandered_equations("open_large", 2000))
    for name in ("open_small", "open_large"):
        problems = load_dataset(name, "heldout")
        rates = {"learned": solved_by_script(problems, LearnedGenerator(net))}
        rates["cas"] = solved_by_script(problems, propose)
        results[f"{name}_solved_by_script"] = {
            who: {family: [sum(row), len(row)] for family, row in rows.items()}
            for who, rows in rates.items()
        }
    results["seconds_per_call"] = costs(net)
    return results


def costs(net: PiCov) -> dict[str, float]:
    """CPU seconds per call, each on equations that no cache has seen (but for the last two)."""
    equations = dataset_equations("cov_large", "train")
    random.Random(0).shuffle(equations)
    parts, generator = [equations[n : n + 300] for n in (0, 300, 600)], LearnedGenerator(net)

    def forgetful(lhs: Expr, rhs: Expr) -> Expr | None:
        generator.programs.clear()
        return generator(lhs, rhs)

    return {
        "cas": seconds_per_call(propose, parts[0]),
        "learned": seconds_per_call(forgetful, parts[1]),
        "learned, views remembered": seconds_per_call(generator, parts[2]),
        "learned, equations remembered": seconds_per_call(generator, parts[2]),
    }


def solved_by_script(problems: Sequence[Problem], generator: Generator) -> dict[str, list[bool]]:
    """Which problems the textbook solver solves with this generator's substitutions, by family."""
    env = Env(problems, EnvConfig(cov="learned", terms="blocks"), generator=generator)
    rows: dict[str, list[bool]] = {}
    for index, problem in enumerate(problems):
        env.reset(options={"index": index})
        rows.setdefault(problem.family, []).append(textbook.solve(env))
    return rows


# ---- Command line ----


def main(args: Args, argv: Sequence[str]) -> None:
    torch.set_num_threads(1)
    for name, value in asdict(args).items():
        if isinstance(value, int) and "seed" not in name and value is not False and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {value}")
    if args.reward_only:
        from abel.picov.reward import learn_from_reward  # not above: it builds on this file

        results = learn_from_reward(args)
    elif args.eval:
        results = evaluate(args)
    else:
        start = time.process_time()
        net = train(args)
        results = {"seed": args.seed, "cpu_seconds": round(time.process_time() - start, 1)}
        results |= heldout_results(net, args)
        save(net, args, argv, results)
    print(json.dumps(results, indent=1))
    if args.json is not None:
        write_json(args.json, results)


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; the exit code."""
    try:
        main(tyro.cli(Args, args=argv, description=__doc__, prog="python -m abel.picov"), argv)
    except (DatasetError, RunError, ValueError, OSError) as error:
        print(f"abel.picov: {error}", file=sys.stderr)
        return 2
    return 0
