"""Reinforcement learning for symbolic equation solving, with every root proved."""

from importlib import import_module
from typing import Any

# At once, so that `abel.parse` is the function and not its module.
from abel.parse import ParseError, parse

__version__ = "0.1.0"

# The other public names are imported on first use: `python -m abel.trace` would otherwise import
# its own module twice.
HOMES = {
    "Env": "env", "EnvConfig": "env", "SyncVectorEnv": "env", "Equation": "equation",
    "Trace": "trace", "Verdict": "verify", "verify_root": "verify",
    "load_dataset": "datasets", "Problem": "datasets",
}  # fmt: skip
__all__ = ["ParseError", "parse", *HOMES]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'abel' has no attribute {name!r}")
    value = getattr(import_module(f"abel.{HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *HOMES])
