"""Environments side by side, how far each has come in its episode, and what they gave."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abel.encode import Observation
from abel.env import SyncVectorEnv
from abel.learner.batch import interned
from abel.learner.replay import Finished, Step, retrace


class Stepped(NamedTuple):
    """One step of N environments."""

    rewards: np.ndarray  # [N] float32
    terminated: np.ndarray  # [N] bool
    truncated: np.ndarray  # [N] bool
    successors: list[Observation]  # where each step led; an episode's last state where one ended
    finished: list[Finished]


class Workers:
    """N environments; one whose episode ended begins the next at once."""

    def __init__(self, envs: SyncVectorEnv, seed: int) -> None:
        self.envs = envs
        self.observations, infos = envs.reset(seed=seed)
        self.indices: list[int] = [info["index"] for info in infos]
        self.episodes: list[list[Step]] = [[] for _ in envs.envs]  # steps so far
        self.seconds = 0.0  # spent in environments

    @property
    def num_problems(self) -> int:
        return len(self.envs.envs[0].equations)

    def step(self, actions: Sequence[int]) -> Stepped:
        """Take one action in every environment."""
        before = time.perf_counter()
        following, rewards, terminated, truncated, infos = self.envs.step(actions)
        self.seconds += time.perf_counter() - before
        successors, finished = [], []
        for n, info in enumerate(infos):
            step = (self.observations[n], actions[n], float(rewards[n]))
            self.episodes[n].append(step)
            successors.append(info.get("final_observation", following[n]))
            if terminated[n] or truncated[n]:
                how = info["solved"], info.get("verdict"), successors[n]
                finished.append(Finished(self.indices[n], self.episodes[n], *how))
                self.episodes[n], self.indices[n] = [], info["next_index"]
        self.observations = following
        return Stepped(rewards, terminated, truncated, successors, finished)

    def state_dict(self) -> dict[str, Any]:
        """Plain data: where an episode stands is told by its equation and its actions."""
        actions = [[step[1] for step in episode] for episode in self.episodes]
        return {"indices": list(self.indices), "actions": actions}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.indices = list(state["indices"])
        begun = zip(self.envs.envs, self.indices, state["actions"], strict=True)
        self.episodes = [retrace(*each) for each in begun]
        self.observations = [env.observation for env in self.envs.envs]


class Rollout(NamedTuple):
    """T steps of N environments."""

    following: list[Observation]  # [N] what is seen after the last step
    observations: list[Observation]  # [T * N]
    successors: list[Observation]  # [T * N] where each step led; an episode's own last state
    actions: np.ndarray  # [T, N]
    log_probs: Tensor  # [T, N] of the actions under the behavior
    policy_log_probs: Tensor  # [T, N] and under the policy itself
    values: Tensor  # [T, N]
    rewards: Tensor  # [T, N]
    terminated: Tensor  # [T, N] bool
    ended: Tensor  # [T, N] bool, terminated or truncated

    @classmethod
    def of(
        cls,
        following: list[Observation],
        observations: Sequence[Sequence[Observation]],
        actions: Sequence[np.ndarray],
        log_probs: Sequence[np.ndarray],
        policy_log_probs: Sequence[Tensor],
        values: Sequence[Tensor],
        steps: Sequence[Stepped],
    ) -> Rollout:
        """From T steps, given in order."""
        terminated = torch.from_numpy(np.stack([step.terminated for step in steps]))
        truncated = torch.from_numpy(np.stack([step.truncated for step in steps]))
        return cls(
            following,
            interned([observation for row in observations for observation in row]),
            [successor for step in steps for successor in step.successors],
            np.stack(actions),
            torch.from_numpy(np.stack(log_probs)),
            torch.stack(list(policy_log_probs)),
            torch.stack(list(values)),
            torch.from_numpy(np.stack([step.rewards for step in steps])),
            terminated,
            terminated | truncated,
        )
