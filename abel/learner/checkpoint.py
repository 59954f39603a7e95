"""A training run as plain data: what a checkpoint holds, and how a run goes on from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abel.learner.records import refusing, save_checkpoint


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


def save_run(
    paths: list[Path], about: dict[str, Any], parts: Mapping[str, Any], rng: np.random.Generator,
    counters: Counters,
) -> None:  # fmt: skip
    """Write the state of everything that `parts` names, or None, to each of the paths."""
    if not paths:
        return
    state = {name: None if part is None else part.state_dict() for name, part in parts.items()}
    state |= {**about, "rng": rng.bit_generator.state, **asdict(counters)}
    for path in paths:
        save_checkpoint(path, state)


def restore_run(
    state: dict[str, Any], path: Path, parts: Mapping[str, Any], rng: np.random.Generator
) -> Counters:
    """Undo `save_run`."""
    with refusing(f"cannot go on from '{path}'"):
        for name, part in parts.items():
            if part is not None:
                part.load_state_dict(state[name])
        rng.bit_generator.state = state["rng"]
        return Counters(**{name: state[name] for name in asdict(Counters())})


def crossed(before: int, now: int, period: int) -> bool:
    """Whether a multiple of `period` lies in these steps."""
    return now // period > before // period
