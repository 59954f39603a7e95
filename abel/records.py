"""Run directories: arguments, provenance, and checkpoints that are never half-written."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

PACKAGES = ("torch", "sympy", "numpy", "mpmath", "tyro", "tensorboard")


class RunError(ValueError):
    """A run directory or checkpoint that cannot be used: which, and why."""


def new_run(out: str, name: str) -> Path:
    """Make a new run's directory, `out/name__unix-time`, with a suffix if two begin at once."""
    stem = f"{name}__{int(time.time())}"
    for attempt in range(100):
        path = Path(out) / (stem if attempt == 0 else f"{stem}_{attempt}")
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            if not Path(out).is_dir():
                raise RunError(f"cannot make runs in '{out}': it is not a directory") from None
        except OSError as error:
            raise RunError(f"cannot make '{path}': {error.strerror}") from None
    raise RunError(f"cannot make '{Path(out) / stem}': it and 99 others exist")


def provenance(argv: Sequence[str], equations: Sequence[str]) -> dict[str, Any]:
    """What it takes to repeat a run: command, commit, versions, and a hash of the training data."""
    root = Path(__file__).parent.parent

    def git(*words: str) -> str:
        try:
            command = ["git", "-C", str(root), *words]
            return subprocess.run(
                command, capture_output=True, text=True, check=True
            ).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    script = Path(sys.argv[0])
    called = f"-m abel.{script.stem}" if script.parent.name == "abel" else script.name
    return {
        "command": " ".join(["python", called, *argv]),
        "commit": git("rev-parse", "HEAD"),
        # Results that are being written do not change what is run.
        "dirty": bool(git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!runs")),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "dataset_sha256": hashlib.sha256("\n".join(equations).encode()).hexdigest(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    import torch  # here, so that what has no checkpoints starts without it

    write_atomically(path, lambda file: torch.save(state, file))


def load_checkpoint(path: Path, kind: str) -> dict[str, Any]:
    """A checkpoint's contents; weights and plain data only, never code. `kind` is its "format"."""
    import torch

    if not path.is_file():
        raise RunError(f"no checkpoint at '{path}'")
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # torch raises many kinds on a damaged or foreign file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RunError(f"cannot read checkpoint '{path}': {reason}") from None
    if not isinstance(state, dict) or state.get("format") != kind:
        raise RunError(f"'{path}' is not a checkpoint of this program ({kind})")
    return state


def write_json(path: Path, data: Any) -> None:
    write_atomically(path, lambda file: file.write(json.dumps(data, indent=2).encode()))


def write_atomically(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write beside `path`, then rename: whatever happens, a complete file stands there."""
    beside = path.with_name(path.name + ".tmp")
    with open(beside, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
