"""`gymnasium.make("abel/Equation-v0", dataset="open_small")`: the environment for other libraries.

Importing this module registers it; `gymnasium.make("abel.gym:abel/Equation-v0", ...)` does both at
once. Needs Gymnasium: `pip install -e ".[gym]"`. Nothing else in abel does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "abel.gym needs Gymnasium, which is not installed: pip install -e '.[gym]'"
    ) from error
from gymnasium.spaces import Box, Dict, Discrete

from abel.datasets import load_dataset
from abel.encode import NUM_ROLES, TOKENS, Array
from abel.env import Env, EnvConfig
from abel.operations import OPERATIONS
from abel.transitions import TransitionCache

ID = "abel/Equation-v0"

# Environments of one process share what they compute of states, as long as one of them lives.
CACHES: WeakValueDictionary[EnvConfig, TransitionCache] = WeakValueDictionary()


class EquationEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """`abel.Env` with observations and actions of fixed size.

    State
        The equation as a token tree in preorder, and the legal actions, as integer arrays:
        `tokens`, `roles`, `parents` of the nodes [max_nodes], filled up with 0, 0 and -1;
        `action_ops`, `action_nodes` of the legal actions [max_actions], filled up with -1. Nodes
        past `max_nodes` are not shown, and an action on one of them has `action_nodes` equal to
        `max_nodes`. `info["cut_nodes"]` and `info["cut_actions"]` count what did not fit.
    Actions
        `Discrete(max_actions)`: an index into the legal actions, `inner.actions`; those past
        `max_actions` cannot be taken. `action_masks()` tells which indices are legal. An illegal
        one changes nothing, is a step like any other, and sets `info["illegal"]`.
    Reward
        That of `abel.Env`; for an illegal action, minus the cost of a step.
    Episode end
        That of `abel.Env`: terminated when a root is proved (`info["solved"]`) or no action is
        legal; truncated after `max_steps`, illegal ones included.
    Seeding
        `reset(seed=...)` fixes which equations come in which order; all else is deterministic.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        dataset: str | Path | Sequence[Any] = "open_small",
        split: str = "train",
        *,
        max_nodes: int = 200,
        max_actions: int = 200,
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        """`dataset` is a name, a file, or a list of equations; `config` are fields of EnvConfig."""
        for name, size in (("max_nodes", max_nodes), ("max_actions", max_actions)):
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode must be None or 'ansi', got {render_mode!r}")
        if isinstance(dataset, str | Path):
            dataset = load_dataset(dataset, split)
        settings = EnvConfig(**config)
        self.inner = Env(dataset, settings, cache=CACHES.get(settings))
        CACHES[settings] = self.inner.cache
        self.max_nodes, self.max_actions = max_nodes, max_actions
        self.render_mode = render_mode
        self.num_steps = 0
        self.ended = True
        self.action_space = Discrete(max_actions)
        self.observation_space = Dict(
            tokens=box(0, len(TOKENS) - 1, max_nodes),
            roles=box(0, NUM_ROLES - 1, max_nodes),
            parents=box(-1, max_nodes - 1, max_nodes),
            action_ops=box(-1, len(OPERATIONS) - 1, max_actions),
            action_nodes=box(-1, max_nodes, max_actions),
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        """Begin an episode; `options` may name the problem by `index` or give an `equation`."""
        super().reset(seed=seed)
        if not options:
            options = {"index": int(self.np_random.integers(len(self.inner.equations)))}
        _, info = self.inner.reset(options=options)
        self.num_steps = 0
        self.ended = False
        return self.observe(), {**info, **self.cut()}

    def step(
        self, action: int | np.int64
    ) -> tuple[dict[str, Array], float, bool, bool, dict[str, Any]]:
        """Apply the legal action with this index; an illegal one changes nothing."""
        if self.ended:
            raise RuntimeError("the episode is over (or never began): call reset() first")
        self.num_steps += 1
        over = self.inner.ended  # the equation was given as x = r, or no step is legal
        legal = not over and 0 <= action < min(len(self.inner.actions), self.max_actions)
        if legal:
            _, reward, terminated, _, _ = self.inner.step(int(action))
        else:
            reward, terminated = -self.inner.config.step_cost, over
        truncated = not terminated and self.num_steps >= self.inner.config.max_steps
        self.ended = terminated or truncated
        info = {"illegal": not legal, "solved": self.inner.solved, **self.cut()}
        return self.observe(), float(reward), terminated, truncated, info

    def action_masks(self) -> Array:
        """Which actions are legal [max_actions], as sb3-contrib's MaskablePPO asks for it."""
        return np.arange(self.max_actions) < len(self.inner.actions)

    def render(self) -> str | None:
        """The episode so far as text, with render_mode "ansi"."""
        return self.inner.trace().to_text() if self.render_mode == "ansi" else None

    # ---- Fixed size ----

    def observe(self) -> dict[str, Array]:
        seen = self.inner.observation
        nodes = np.minimum(seen.action_nodes, self.max_nodes)
        return {
            "tokens": fit(seen.tokens, self.max_nodes, 0),
            "roles": fit(seen.roles, self.max_nodes, 0),
            "parents": fit(seen.parents, self.max_nodes, -1),
            "action_ops": fit(seen.action_ops, self.max_actions, -1),
            "action_nodes": fit(nodes, self.max_actions, -1),
        }

    def cut(self) -> dict[str, int]:
        """How much of the state does not fit."""
        seen = self.inner.observation
        return {
            "cut_nodes": max(len(seen.tokens) - self.max_nodes, 0),
            "cut_actions": max(len(seen.actions) - self.max_actions, 0),
        }


def box(low: int, high: int, size: int) -> Box:
    return Box(low, high, (size,), np.int16)


def fit(column: Array, size: int, padding: int) -> Array:
    """A copy of the column, filled up or cut to `size`."""
    fitted = np.full(size, padding, dtype=np.int16)
    fitted[: len(column)] = column[:size]
    return fitted


gymnasium.register(id=ID, entry_point="abel.gym:EquationEnv")
