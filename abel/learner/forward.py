"""An agent's forward pass over observations as they come: repeated ones are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abel.encode import Observation
from abel.learner.batch import collate, distinct
from abel.search import Policy


class Outputs(NamedTuple):
    """What the agent says of N observations, D of them distinct."""

    log_probs: Tensor  # [A] of the distinct observations' actions
    entropy: Tensor  # [D]
    values: Tensor  # [D]
    offsets: np.ndarray  # [D + 1]
    which: np.ndarray  # [N] the distinct observation of each one asked for
    ops: np.ndarray  # [A]

    def value(self) -> Tensor:
        return self.values[self.which]

    def log_prob(self, actions: np.ndarray) -> Tensor:
        return self.log_probs[self.offsets[self.which] + actions]


def forward(agent: Any, observations: Sequence[Observation]) -> Outputs:
    """Run the agent; states repeat in a rollout, and each is forwarded once."""
    which, states = distinct(observations)
    batch = collate(states, agent.net.share)
    log_probs, entropy, values = agent(batch)
    offsets, ops = batch.offsets.numpy(), batch.action_op.numpy()
    return Outputs(log_probs, entropy, values, offsets, which, ops)


def as_policy(agent: Any) -> Policy:
    """The agent as `abel.search.decode` wants it."""

    @torch.no_grad()
    def policy(observations: Sequence[Observation]) -> tuple[list[np.ndarray], np.ndarray]:
        out = forward(agent, observations)
        log_probs = np.split(out.log_probs.numpy(), out.offsets[1:-1])
        return [log_probs[d] for d in out.which], out.value().numpy()

    return policy
