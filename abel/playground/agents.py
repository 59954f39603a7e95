"""Which agents the page offers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from abel.home import home
from abel.learner.records import RunError

REFERENCE = "runs/reference"
MOST_FOUND = 40  # runs offered beside the bundled agent, where none is named


def find_runs(named: Sequence[str]) -> dict[str, Path]:
    """The runs that are named, or the bundled agent and whatever was trained here; RunError if
    there is none, or a named one does not exist.
    """
    if named:
        return {name.rstrip("/"): place_of(name) for name in named}
    runs = {REFERENCE: place_of(REFERENCE)}
    trained = sorted(Path("runs").glob("*/best.pt"))[-MOST_FOUND:]
    return runs | {
        path.parent.as_posix(): path.parent.resolve()
        for path in trained
        if path.parent.as_posix() != REFERENCE
    }


def place_of(name: str) -> Path:
    """A run by its path; the bundled agent is found from anywhere."""
    for path in (Path(name), home() / name):
        if path.exists():
            return path.resolve()
    raise RunError(f"there is no run '{name}'")
