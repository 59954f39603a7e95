"""Run directories: arguments, provenance, locks, and checkpoints that are never half-written."""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import importlib.metadata
import io
import json
import os
import platform
import shlex
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args, get_origin, get_type_hints

from abel.home import clone

PACKAGES = ("torch", "sympy", "python-flint", "numpy", "mpmath", "tyro", "tensorboard")
WIDEST = 100  # of a line of JSON that holds several values


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


def start_run(args: Any, argv: Sequence[str], problems: Sequence[Any]) -> Path:
    """Make a new run's directory, with its arguments and provenance in it."""
    run = new_run(args.out, f"{Path(args.dataset).stem}__{args.preset}__{args.seed}")
    write_json(run / "args.json", dataclasses.asdict(args))
    equations = [str(problem.equation) for problem in problems]
    write_json(run / "provenance.json", provenance(argv, equations))
    return run


def without_out(argv: Sequence[str]) -> list[str]:
    """The arguments but for --out: where a run was made is nobody's business."""
    kept, skip = [], False
    for arg in argv:
        if not skip and arg != "--out" and not arg.startswith("--out="):
            kept.append(arg)
        skip = arg == "--out"
    return kept


def provenance(argv: Sequence[str], equations: Sequence[str]) -> dict[str, Any]:
    """What it takes to repeat a run: command, commit, versions, and a hash of the equations."""
    root = clone()  # what is installed has no commit

    def git(*words: str) -> str:
        if root is None:
            return ""
        try:
            command = ["git", "-C", str(root), *words]
            return subprocess.run(
                command, capture_output=True, text=True, check=True
            ).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    script = Path(sys.argv[0])
    if script.name == "__main__.py":  # of a room of abel
        script = script.parent
    called = f"-m abel.{script.stem}" if script.parent.name == "abel" else script.name
    return {
        "command": f"python {called} {shlex.join(without_out(argv))}".rstrip(),
        "commit": git("rev-parse", "HEAD"),
        # Results that are being written do not change what is run.
        "dirty": bool(git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!runs")),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "dataset_sha256": hashlib.sha256("\n".join(equations).encode()).hexdigest(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


# ---- One writer at a time ----


def hold(directory: Path) -> BinaryIO:
    """Keep other processes from writing to `directory` until the file that this returns is closed.

    The kernel holds the lock and lets go of it when a process ends, however it ends: a lock file
    that was left behind locks nothing, and only says who was the last to write here. Temporary
    files that a killed process left are swept away.
    """
    path = directory / "lock"
    try:
        file = open(path, "a+b")
    except OSError as error:
        raise RunError(f"cannot write '{path}': {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        owner = file.read(1000).decode(errors="replace").strip() or "another process"
        file.close()
        raise RunError(f"'{directory}' is in use by {owner}") from None
    file.truncate(0)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    file.write(f"process {os.getpid()} on {socket.gethostname()} ({command})\n".encode())
    file.flush()
    for left in directory.glob("*.[0-9]*.tmp"):
        left.unlink(missing_ok=True)
    return file


# ---- Checkpoints ----


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    import torch  # here, so that what has no checkpoints starts without it

    content = io.BytesIO()  # not into the file: torch would make anything of a full disk
    torch.save(state, content)
    write_atomically(path, lambda file: file.write(content.getbuffer()))


def load_checkpoint(path: Path, kind: str, *needed: str) -> dict[str, Any]:
    """A checkpoint's contents; weights and plain data only, never code. `kind` is its "format",
    and the entries `needed` are there.
    """
    import torch

    if not path.is_file():
        raise RunError(f"no checkpoint at '{path}'")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong with the file is said below
            state = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # torch raises many kinds on a damaged or foreign file
        raise RunError(f"cannot read checkpoint '{path}': {first_line(error)}") from None
    if not isinstance(state, dict) or state.get("format") != kind:
        raise RunError(f"'{path}' is not a checkpoint of this program ({kind})")
    for name in needed:
        if name not in state:
            raise RunError(f"the checkpoint '{path}' has no '{name}'")
    return state


def load_weights(build: Callable[[], Any], weights: Any, path: Path) -> Any:
    """The network that `build` makes, with stored weights that fit it and are finite numbers.

    Names, shapes and types are compared on a network without memory first: a file that claims a
    width of a billion is refused, not tried.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    class Undrawn(TorchFunctionMode):
        """Without memory there is nothing to draw, and asking torch to takes a second."""

        def __torch_function__(self, function, types, args=(), kwargs=None):
            if function in (torch.Tensor.normal_, torch.nn.init.normal_):
                return args[0] if args else kwargs["tensor"]
            return function(*args, **kwargs or {})

    with refusing(f"the weights in '{path}' do not fit"):
        with torch.device("meta"), Undrawn():
            wanted = {name: (w.shape, w.dtype) for name, w in build().state_dict().items()}
        stored = {name: (w.shape, w.dtype) for name, w in weights.items()}
        for name in sorted(wanted.keys() | stored.keys()):
            if wanted.get(name) != stored.get(name):
                raise RunError(f"{name} is {stored.get(name)}, not {wanted.get(name)}")
        if not all(bool(torch.isfinite(w).all()) for w in weights.values()):
            raise RunError("some are not finite numbers")
        module = build()
        module.load_state_dict(weights)
    return module


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Whatever goes wrong inside with data from a file becomes one line for a person."""
    try:
        yield
    except Exception as error:
        raise RunError(f"{what}: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    """What an error says, in a line; a KeyError says nothing but its key."""
    said = "" if isinstance(error, KeyError) else str(error).strip()
    return said.splitlines()[0] if said else f"{type(error).__name__} {error}".strip()


def check_fields(config: Any) -> None:
    """Raise TypeError unless every field of a dataclass, read from a file, is of its type."""
    for name, hint in get_type_hints(type(config)).items():
        value = getattr(config, name)
        if not fits(value, hint):
            raise TypeError(f"{name} must be {getattr(hint, '__name__', hint)}, got {value!r:.80}")


def fits(value: Any, hint: Any) -> bool:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return isinstance(value, hint)
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_args(hint):  # a union
        return any(fits(value, kind) for kind in get_args(hint))
    return type(value) is hint or (hint is float and type(value) is int)


# ---- Files ----


def write_json(path: Path, data: Any) -> None:
    """Write plain data, a line for each entry of a list of objects: thousands of equations take
    little room, and can be compared line by line.
    """
    text = in_lines(json.loads(json.dumps(data)))
    write_atomically(path, lambda file: file.write(f"{text}\n".encode()))


def in_lines(data: Any, depth: int = 0) -> str:
    """JSON of plain data: a key or an entry per line, and in one line what fits or has no parts."""
    flat = json.dumps(data)
    if len(flat) + 2 * depth <= WIDEST:
        return flat
    inner, outer = "\n" + "  " * (depth + 1), "\n" + "  " * depth
    if isinstance(data, dict):
        rows = [f"{json.dumps(key)}: {in_lines(data[key], depth + 1)}" for key in data]
        return "{" + inner + f",{inner}".join(rows) + outer + "}"
    if isinstance(data, list) and all(isinstance(entry, dict) for entry in data):
        return "[" + inner + f",{inner}".join(map(json.dumps, data)) + outer + "]"
    return flat


def write_atomically(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write beside `path`, then rename: whatever happens, a complete file stands there."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")  # two writers never share one
    try:
        with open(beside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(f"cannot write '{path}': {reason}; nothing there has changed") from None
    finally:
        with suppress(OSError):  # renamed, if all went well
            beside.unlink()
