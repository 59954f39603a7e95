"""The rows of the paper's tables as presets of train_ppo.py: what differs from its defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from abel.env import EnvConfig
from abel.learner.config import NetConfig

PAPER_ENV = EnvConfig(
    constants="letters", terms="all", max_steps=20, cov="off", cbrt=False, relabel=False,
    solved_reward=0.0, step_cost=0.0, complexity_coef=1.0,
)  # fmt: skip
RELABEL_ENV = replace(PAPER_ENV, relabel=True)
COV_ENV = replace(PAPER_ENV, relabel=True, cov="cas", max_cov=1)
NESTED_ENV = replace(COV_ENV, cbrt=True, max_cov=3)
NET = NetConfig(hidden=128, embed=64, rounds=3, encoder="paper", head="index", cap=50)

# Stable-Baselines3's defaults, the first of the two PPO rows that the paper's table lists; its
# "PPO-tree" row (n_steps 5) is A2C's default and contradicts the text.
PAPER: dict[str, Any] = {
    # Departure: the batch of 2,048 is from 64 environments, not from one: it is faster.
    "total_timesteps": 3_000_000, "num_envs": 64, "num_steps": 32, "num_epochs": 10,
    "minibatch_size": 64, "learning_rate": 3e-4, "anneal_lr": False, "ent_coef": 0.0,
    "ent_coef_final": 0.0, "epsilon_unsolved": 0.0, "epsilon_solved": 0.0, "replay": "none",
    "self_imitation": False, "replay_coef": 0.3, "replay_share": 0.25, "replay_ramp": 0,
    "curriculum": "inverse", "env": PAPER_ENV, "net": NET,
}  # fmt: skip
FLAT = {**PAPER, "replay": "flat"}
FRESH = {**PAPER, "replay": "fresh"}
PAPER_PRESETS: dict[str, dict[str, Any]] = {
    "ppo": {**PAPER, "net": replace(NET, encoder="mlp")},
    "ppo-tree": PAPER,
    "ppo-tree-rc": {**PAPER, "env": RELABEL_ENV},
    "ppo-tree-buf": FLAT,
    "ppo-tree-rc-buf": {**FLAT, "env": RELABEL_ENV},
    "ppo-tree-rc-buf-cov": {**FLAT, "env": COV_ENV},  # C1 of the ablation
    "c2": {**FLAT, "env": replace(COV_ENV, repeat_penalty=0.1)},
    "c4": {**FLAT, "env": replace(NESTED_ENV, repeat_penalty=0.1)},
    "c5": {**FRESH, "env": replace(NESTED_ENV, repeat_penalty=0.1)},
    "c6": {**FLAT, "env": NESTED_ENV},
    "c7": {**FRESH, "env": NESTED_ENV},
}
