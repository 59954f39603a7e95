"""A training run as plain data: what a checkpoint holds, and how a run goes on from it."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from abel.env import EnvConfig
from abel.learner.config import config_from_dict
from abel.learner.records import (
    RunError,
    load_checkpoint,
    load_weights,
    refusing,
    save_checkpoint,
    write_json,
)
from abel.operations import OPERATIONS

A = TypeVar("A")
C = TypeVar("C")
OPERATION_ROWS = "op.weight"  # of the pointer head


@dataclass
class Counters:
    """How far a run has come."""

    step: int = 0
    iteration: int = 0
    best_score: float = -1.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


def best_of(path: Path) -> Path:
    """A checkpoint, or the best one of a run directory."""
    if not path.is_dir():
        return path
    return path / "best.pt" if (path / "best.pt").exists() else path / "last.pt"


def fresh_row(name: str, width: int, seed: int) -> Tensor:
    """A random embedding that hangs on the name and the seed alone."""
    generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {name}".encode()))
    return torch.empty(width).normal_(generator=generator)


def named_embedding(names: Collection[str], width: int) -> nn.Embedding:
    """An embedding of names, drawn so that a new name moves neither the others' rows nor anything
    else that the seed decides: what is not offered changes no run.
    """
    rows = torch.empty(len(names), width)
    for row, name in zip(rows, names):
        row.copy_(fresh_row(name, width, torch.initial_seed()))
    return nn.Embedding.from_pretrained(rows, freeze=False)


def match_rows(rows: Tensor, stored: list[str], table: Collection[str]) -> Tensor:
    """Embeddings of the operations in `table`, given those of the ones `stored`, by name.

    An operation that was not stored gets a fresh embedding, always the same for its name.
    """
    if len(set(stored)) != len(stored) or len(stored) != len(rows):
        raise RunError(f"{len(rows)} embeddings are for {len(stored)} operations")
    if gone := [name for name in stored if name not in table]:
        raise RunError(f"there is no operation {', '.join(map(repr, gone))} any more")
    matched = rows.new_empty(len(table), *rows.shape[1:])
    for row, name in zip(matched, table):
        if name in stored:
            row.copy_(rows[stored.index(name)])
        else:
            row.copy_(fresh_row(name, row.numel(), 0).view_as(row))
    return matched


def agent_weights(state: dict[str, Any], path: Path, config: EnvConfig) -> dict[str, Tensor]:
    """The agent in a checkpoint, for today's operations; a note says which of them are new to it
    if `config` offers them.
    """
    with refusing(f"the weights in '{path}' do not fit"):
        weights, stored = dict(state["agent"]), list(state["operations"])
        rows = weights.get(OPERATION_ROWS)  # an index head has none
        matched = match_rows(torch.zeros(len(stored)) if rows is None else rows, stored, OPERATIONS)
    offered = [name for name, row in OPERATIONS.items() if config.offers(row)]
    if new := [name for name in offered if name not in stored]:
        print(f"note: '{path}' was trained without {', '.join(new)}", file=sys.stderr)
    return weights if rows is None else {**weights, OPERATION_ROWS: matched}


def load_agent(
    path: Path, kind: str, arguments: type[C], build: Callable[[Any], A]
) -> tuple[A, C, dict[str, Any]]:
    """The agent that `build` makes of a net's config, with the weights of a checkpoint or of the
    best one of a run directory; its arguments; all of the checkpoint.
    """
    path = best_of(path)
    state = load_checkpoint(path, kind, "args", "operations", "agent", "step")
    args: Any = config_from_dict(arguments, state["args"])
    weights = agent_weights(state, path, args.env)
    return load_weights(lambda: build(args.net), weights, path).eval(), args, state


def save_run(
    paths: list[Path], kind: str, args: Any, parts: Mapping[str, Any], rng: np.random.Generator,
    counters: Counters,
) -> None:  # fmt: skip
    """Write the state of everything that `parts` names, or None, to each of the paths."""
    if not paths:
        return
    state = {name: None if part is None else part.state_dict() for name, part in parts.items()}
    state |= {"format": kind, "args": asdict(args), "operations": list(OPERATIONS)}
    state |= {"rng": rng.bit_generator.state, **asdict(counters)}
    for path in paths:
        save_checkpoint(path, state)


def restore_run(
    state: dict[str, Any] | None, run: Path, args: Any, parts: Mapping[str, Any],
    rng: np.random.Generator,
) -> Counters:  # fmt: skip
    """Undo `save_run`; `args` may name more steps in all than the run had. A new run begins
    at 0.
    """
    if state is None:
        return Counters()
    with refusing(f"cannot go on from '{run / 'last.pt'}'"):
        if state["operations"] != list(OPERATIONS):
            raise RunError("the table of operations is another one now")
        for name, part in parts.items():
            if part is not None:
                part.load_state_dict(state[name])
        rng.bit_generator.state = state["rng"]
        counters = Counters(**{name: state[name] for name in asdict(Counters())})
    write_json(run / "args.json", asdict(args))
    return counters


def crossed(before: int, now: int, period: int) -> bool:
    """Whether a multiple of `period` lies in these steps."""
    return now // period > before // period
