"""A run's arguments: the network's, reading flags over presets, reading them from a checkpoint."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Literal, TypeVar, get_type_hints

import tyro

from abel.learner.records import RunError, check_fields, refusing

C = TypeVar("C")
T = TypeVar("T")
ReplayName = Literal["none", "flat", "fresh", "shortest"]


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
        for name, low, high in (
            ("hidden", 1, 4096), ("embed", 1, 4096), ("rounds", 0, 100), ("cap", 1, 100_000),
        ):  # fmt: skip
            if not low <= (got := getattr(self, name)) <= high:
                raise ValueError(f"--{name} must be between {low} and {high}, got {got}")
        if self.encoder == "mlp" and self.head == "pointer":
            raise ValueError("--encoder mlp has no nodes to point at: use --head index")

    @property
    def share(self) -> bool:
        """Whether a node's state depends on its subtree alone, so that equal ones are merged."""
        return self.encoder in ("tree", "paper") and self.messages == "up"


@dataclass(frozen=True)
class WatchConfig:
    """How often a run is evaluated and saved; nothing here shapes learning."""

    eval_period: int = 25_000
    """environment steps between evaluations on the validation split"""
    eval_problems: int = 200
    """validation equations used at most"""
    checkpoint_period: int = 50_000
    """environment steps between saves of last.pt"""

    def __post_init__(self) -> None:
        check_counts(self)

    def some_of(self, validation: Sequence[T]) -> Sequence[T]:
        """At most `eval_problems` of them, spread evenly."""
        return validation[:: math.ceil(max(len(validation), 1) / self.eval_problems)]


def check_counts(config: Any, *may_be_zero: str) -> None:
    """Raise ValueError unless the whole numbers are at least 1, or 0 where that means something."""
    for name, value in vars(config).items():
        low = 0 if name in may_be_zero else 1
        if type(value) is int and value < low:
            raise ValueError(f"--{name.replace('_', '-')} must be at least {low}, got {value}")


def check_batches(num_envs: int, num_steps: int, minibatch_size: int) -> None:
    """Raise ValueError if a minibatch would be a single transition: it has no deviation."""
    count = num_envs * num_steps
    if 1 in (count % minibatch_size, min(count, minibatch_size)):
        raise ValueError(
            f"--num-envs {num_envs} * --num-steps {num_steps} = {count} transitions leave one alone"
            f" in a minibatch of --minibatch-size {minibatch_size}: its advantage has no deviation"
        )


@dataclass(frozen=True)
class PresetFlag:
    preset: str = "default"


def parse_flags(
    base: C, presets: Mapping[str, Mapping[str, Any]], argv: Sequence[str] | None, about: str | None
) -> C:
    """Flags over the preset's values over those of `base`, which is a dataclass."""
    argv = sys.argv[1:] if argv is None else argv
    words = [word for word in argv if not word.startswith("--tyro-")]  # shell completion: of `base`
    flag, _ = tyro.cli(PresetFlag, args=words, add_help=False, return_unknown_args=True)
    chosen: Any = {"preset": flag.preset, **presets.get(flag.preset, {})}  # `base` refuses others
    preset = replace(base, **chosen)  # type: ignore[type-var]
    kind: Any = tyro.conf.OmitArgPrefixes
    return tyro.cli(kind[type(base)], args=argv, default=preset, description=about)


def flags_given(argv: Sequence[str]) -> list[str]:
    """The flags on a command line, as --help spells them."""
    return [word.split("=")[0].replace("_", "-") for word in argv if word.startswith("--")]


def glued(argv: Sequence[str], flag: str) -> list[str]:
    """The command line with a flag's value behind `=`: -x = 4 by itself would be another flag."""
    found: list[str] = []
    for word in argv:
        if found and found[-1] == flag and not word.startswith("--"):
            found[-1] = f"{flag}={word}"
        else:
            found.append(word)
    return found


def go_on_with(trained: C, asked: Any, argv: Sequence[str], step: int) -> C:
    """A run's own arguments, for more steps in all if the command line says so."""
    given = flags_given(argv)
    for flag in given:
        if flag not in ("--resume", "--total-timesteps"):
            raise RunError(f"--resume goes on with the run's own arguments: leave out {flag}")
    if "--total-timesteps" not in given:
        return trained
    if asked.total_timesteps < step:
        raise RunError(f"--total-timesteps must be at least {step}, which the run has done")
    return replace(trained, total_timesteps=asked.total_timesteps)  # type: ignore[type-var]


def hparams(config: Any) -> dict[str, Any]:
    """All fields by name, those of nested dataclasses beside the others, as TensorBoard takes: what
    is no number, switch or text by the word that --help has for it.
    """
    flat: dict[str, Any] = {}
    for name, value in vars(config).items():
        flat |= hparams(value) if is_dataclass(value) else {name: word(value)}
    return flat


def word(value: Any) -> bool | int | float | str:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return " ".join(str(word(part)) for part in value)
    return "none" if value is None else getattr(value, "__name__", type(value).__name__)


def config_from_dict(kind: type[C], data: Any) -> C:
    """The arguments that a run was started with, a dataclass of dataclasses, from plain data."""
    with refusing("the checkpoint's arguments do not fit this version"):
        hints: dict[str, Any] = get_type_hints(kind)
        nested: dict[str, Any] = {n: hint for n, hint in hints.items() if is_dataclass(hint)}
        parts = {n: hint(**(switches_off(hint) | data[n])) for n, hint in nested.items()}
        config = kind(**{**data, **parts})
        for each in (config, *parts.values()):
            check_fields(each)
        return config


def switches_off(kind: type) -> dict[str, bool]:
    """False for each bool of a dataclass: a switch that a checkpoint does not name did not exist
    when the agent was trained.
    """
    return {name: False for name, hint in get_type_hints(kind).items() if hint is bool}
