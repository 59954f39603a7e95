"""Curiosity: bonuses for new states that the paper adds to the reward.

A bonus looks at a whole rollout, gives each transition an intrinsic reward, and learns from the
rollout with an optimizer of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from abel.encode import Observation
from abel.learner.batch import Batch, collate
from abel.learner.checkpoint import named_embedding
from abel.learner.rollout import Rollout
from abel.operations import OPERATIONS
from abel.paper.encoders import GraphSAGE

CuriosityName = Literal["none", "icm", "rnd", "ngu"]
WEIGHT = 0.01  # of a bonus beside the environment's reward


class RunningScale:
    """Mean and standard deviation of all numbers seen so far."""

    def __init__(self) -> None:
        self.count, self.mean, self.square = 0, 0.0, 0.0

    def update(self, values: Tensor) -> None:
        self.count += len(values)
        share = len(values) / self.count
        self.mean += share * (float(values.mean()) - self.mean)
        self.square += share * (float((values**2).mean()) - self.square)

    @property
    def deviation(self) -> float:
        return max(self.square - self.mean**2, 1e-12) ** 0.5


class Curiosity(nn.Module):
    """What the three bonuses share: learning from a rollout, and a common scale of rewards."""

    def __init__(self, hidden: int, embed: int, learning_rate: float) -> None:
        super().__init__()
        self.scale = RunningScale()
        self.hidden, self.embed = hidden, embed
        self.build()
        learned = [parameter for parameter in self.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.Adam(learned, lr=learning_rate)

    def build(self) -> None:
        raise NotImplementedError

    def encoder(self) -> GraphSAGE:
        return GraphSAGE(self.hidden, self.embed, rounds=2)

    def surprise(self, states: Batch, ops: Tensor, successors: Batch) -> Tensor:
        """Unscaled bonus of each transition [B]; its mean is minimised by `learn`, unless `loss`
        says otherwise."""
        raise NotImplementedError

    def loss(self, states: Batch, ops: Tensor, successors: Batch) -> Tensor:
        return self.surprise(states, ops, successors).mean()

    def reward(self, rollout: Rollout, minibatch_size: int) -> Tensor:
        """Add the bonuses to a rollout's rewards, then learn from it; the mean bonus."""
        states, actions = rollout.observations, rollout.actions.reshape(-1)
        ops = torch.tensor([o.action_ops[a] for o, a in zip(states, actions)], dtype=torch.long)
        bonus = self.bonus(states, ops, rollout.successors, rollout.ended)  # [T, N]
        rollout.rewards.add_(WEIGHT * bonus)
        self.learn(states, ops, rollout.successors, minibatch_size)
        return bonus.mean()

    @torch.no_grad()
    def bonus(
        self, states: Sequence[Observation], ops: Tensor, successors: Sequence[Observation],
        ended: Tensor,
    ) -> Tensor:  # fmt: skip
        """Intrinsic rewards [T, N] of a rollout given time-major, in standard deviations."""
        raw = self.surprise(collate(states, False), ops, collate(successors, False))
        self.scale.update(raw)
        return (raw / self.scale.deviation).reshape(ended.shape)

    def learn(
        self, states: Sequence[Observation], ops: Tensor, successors: Sequence[Observation],
        minibatch_size: int,
    ) -> None:  # fmt: skip
        """One pass over the rollout."""
        for start in range(0, len(states), minibatch_size):
            part = slice(start, start + minibatch_size)
            before, after = collate(states[part], False), collate(successors[part], False)
            loss = self.loss(before, ops[part], after)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def get_extra_state(self) -> dict[str, Any]:
        return {"scale": dict(vars(self.scale)), "optimizer": self.optimizer.state_dict()}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        vars(self.scale).update(state["scale"])
        self.optimizer.load_state_dict(state["optimizer"])


class RND(Curiosity):
    """Random network distillation (Burda et al.): how badly a fixed random network is guessed."""

    def build(self) -> None:
        self.target, self.guess = self.encoder(), self.encoder()
        self.head = nn.Linear(self.hidden, self.hidden)
        for parameter in self.target.parameters():
            parameter.requires_grad = False

    def surprise(self, states: Batch, ops: Tensor, successors: Batch) -> Tensor:
        target = self.target(successors)[1]
        return (self.head(self.guess(successors)[1]) - target).square().mean(-1)


class ICM(Curiosity):
    """Intrinsic curiosity module (Pathak et al.): error of predicting the next state's features,
    which are learned by telling the operation from a state and its successor.
    """

    def build(self) -> None:
        hidden = self.hidden
        self.features = self.encoder()
        self.op = named_embedding(OPERATIONS, hidden)
        self.forward_model = nn.Sequential(
            nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden)
        )
        self.inverse_model = nn.Sequential(
            nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, len(OPERATIONS))
        )

    def surprise(self, states: Batch, ops: Tensor, successors: Batch) -> Tensor:
        # Features are learned by the inverse model alone, or they would become constant.
        before, after = self.features(states)[1].detach(), self.features(successors)[1].detach()
        guess = self.forward_model(torch.cat([before, self.op(ops)], -1))
        return 0.5 * (guess - after).square().sum(-1)

    def loss(self, states: Batch, ops: Tensor, successors: Batch) -> Tensor:
        both = torch.cat([self.features(states)[1], self.features(successors)[1]], -1)
        inverse = nn.functional.cross_entropy(self.inverse_model(both), ops)
        return 0.8 * inverse + 0.2 * self.surprise(states, ops, successors).mean()


class NGU(ICM):
    """Never give up (Badia et al.): novelty within the episode, times RND's over the lifetime.

    Episodic novelty is low where the features of the successor have near neighbours among the
    states that the episode has seen.
    """

    NEIGHBOURS, KERNEL, LARGEST = 10, 1e-3, 5.0  # k, epsilon of the kernel, cap of RND's factor

    def build(self) -> None:
        super().build()
        self.lifetime = RND(self.hidden, self.embed, learning_rate=0.0)  # learned with the rest
        self.seen: list[list[Tensor]] = []  # of each environment, features in this episode

    def loss(self, states: Batch, ops: Tensor, successors: Batch) -> Tensor:
        return super().loss(states, ops, successors) + self.lifetime.loss(states, ops, successors)

    @torch.no_grad()
    def bonus(
        self, states: Sequence[Observation], ops: Tensor, successors: Sequence[Observation],
        ended: Tensor,
    ) -> Tensor:  # fmt: skip
        num_steps, num_envs = ended.shape
        self.seen = self.seen or [[] for _ in range(num_envs)]
        batch = collate(successors, False)
        features = self.features(batch)[1].reshape(num_steps, num_envs, -1)
        errors = self.lifetime.surprise(batch, ops, batch)
        self.scale.update(errors)
        factor = 1 + (errors - self.scale.mean) / self.scale.deviation
        episodic = torch.ones(num_steps, num_envs)
        for t in range(num_steps):
            for n in range(num_envs):
                if self.seen[n]:
                    episodic[t, n] = self.novelty(features[t, n], torch.stack(self.seen[n]))
                self.seen[n] = [] if ended[t, n] else [*self.seen[n], features[t, n]]
        return episodic * factor.clamp(1, self.LARGEST).reshape(ended.shape)

    def novelty(self, point: Tensor, others: Tensor) -> Tensor:
        """From 1 far away from the nearest of `others` [K, H] down to nearly 0 at one of them."""
        distances = (others - point).square().sum(-1).sort().values[: self.NEIGHBOURS]
        kernels = self.KERNEL / (distances / distances.mean().clamp(min=1e-8) + self.KERNEL)
        return (self.KERNEL / (kernels.sum() + self.KERNEL)).sqrt()

    def get_extra_state(self) -> dict[str, Any]:
        return {**super().get_extra_state(), "seen": [list(past) for past in self.seen]}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        self.seen = [list(past) for past in state["seen"]]
        super().set_extra_state(state)


CURIOSITY: dict[str, type[Curiosity]] = {"icm": ICM, "rnd": RND, "ngu": NGU}


def new_curiosity(
    name: CuriosityName, hidden: int, embed: int, learning_rate: float
) -> Curiosity | None:
    return None if name == "none" else CURIOSITY[name](hidden, embed, learning_rate)
