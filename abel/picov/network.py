"""The network: a tree encoder reads the equation, a recurrent decoder writes a program.

`abel.picov.grammar` says what programs are, what is given to the network and what is not. What is
learned: which equations have a substitution, its structure, and which coefficients it copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from sympy import Expr
from torch import Tensor, nn

from abel.encode import NUM_ROLES, TOKENS
from abel.home import home
from abel.learner.records import RunError, load_checkpoint, load_weights
from abel.operations import Generator
from abel.picov.grammar import (
    NUM,
    Example,
    Program,
    View,
    build,
    legal_columns,
    view_of,
)  # fmt: skip

BUNDLED = home() / "runs" / "picov"
FORMAT = "abel-picov-1"

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
def write_program(net: PiCov, view: View) -> Program:
    """The program whose columns are the most probable legal ones, one after the other."""
    blocks, state = net.encode(pack([view]))
    program: list[int] = []
    while (mask := legal_columns(tuple(program), len(view.nodes))).any():
        last = torch.tensor([[program[-1] if program else -1]])
        scores, state = net.decode(blocks, state, last)
        p = scores[:, 0, : len(mask)].masked_fill(~torch.tensor(mask), -torch.inf).softmax(1)
        program.append(int(p[0].double().numpy().argmax()))
    return tuple(program)


# ---- Use ----


class LearnedGenerator:
    """The greedy substitutions of a network, called like `abel.transforms.propose`."""

    def __init__(self, net: PiCov) -> None:
        self.net = net
        self.programs: dict[tuple, Program] = {}
        self.answers: dict[tuple[Expr, Expr], Expr | None] = {}

    def __call__(self, lhs: Expr, rhs: Expr) -> Expr | None:
        answers, programs = self.answers, self.programs
        if (lhs, rhs) not in answers:
            if len(answers) >= 1 << 16:
                answers.clear()
            view = view_of(lhs, rhs)
            if view is not None and view.key not in programs:
                if len(programs) >= 1 << 16:
                    programs.clear()
                programs[view.key] = write_program(self.net, view)
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
