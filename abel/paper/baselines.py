"""What the paper compares against: encoders other than TreeMLP, and curiosity bonuses.

An encoder maps a `Batch` of B packed trees to states of its distinct nodes [U, H] and of the trees
[B, H]. A bonus looks at a whole rollout, gives each transition an intrinsic reward, and learns
from the rollout with an optimizer of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from abel.encode import TOKENS
from abel.learner.batch import Batch, pack
from abel.operations import OPERATIONS
from abel.transitions import Observation

LENGTH = 50  # of the paper's padded vector of preorder ids
CuriosityName = Literal["none", "icm", "rnd", "ngu"]

# ---- Encoders ----


def mean_pool(h: Tensor, batch: Batch) -> Tensor:
    """Mean over the nodes of each tree [B, H]; merged nodes count as often as they occur."""
    total = torch.zeros(len(batch.num_nodes), h.shape[1]).index_add(0, batch.graph, h[batch.node])
    return total / batch.num_nodes[:, None]


class PreorderMLP(nn.Module):
    """The paper's plain PPO: an MLP on token ids in preorder, padded or cut at 50.

    It sees no tree, so nodes have no states and only an index head can follow it.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(LENGTH, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        starts = torch.cumsum(batch.num_nodes, 0) - batch.num_nodes
        place = torch.arange(len(batch.graph)) - starts[batch.graph]  # [M] in its own tree
        kept = place < LENGTH
        ids = torch.zeros(len(batch.num_nodes), LENGTH)  # [B, L], 0 is padding
        ids[batch.graph[kept], place[kept]] = batch.tokens[batch.node[kept]].float()
        graph = self.layers(ids / len(TOKENS))
        return torch.zeros(len(batch.tokens), graph.shape[1]), graph


class GraphConvolution(nn.Module):
    """GCN (Kipf and Welling): neighbours both ways and self, symmetric degree normalisation."""

    def __init__(self, hidden: int, embed: int, rounds: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(TOKENS), embed)
        sizes = [embed] + [hidden] * rounds
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, sizes[1:]))

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        h = self.embed(batch.tokens)  # [U, E]
        source = torch.cat([batch.child, batch.parent, torch.arange(len(h))])
        target = torch.cat([batch.parent, batch.child, torch.arange(len(h))])
        degree = torch.zeros(len(h)).index_add(0, target, torch.ones(len(target)))
        weight = (degree[source] * degree[target]).rsqrt()[:, None]
        for layer in self.layers:
            h = layer(h)
            h = torch.relu(torch.zeros_like(h).index_add(0, target, weight * h[source]))
        return h, mean_pool(h, batch)


class GraphSAGE(nn.Module):
    """GraphSAGE with mean aggregation (Hamilton et al.): own state beside the neighbours' mean."""

    def __init__(self, hidden: int, embed: int, rounds: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(TOKENS), embed)
        sizes = [embed] + [hidden] * rounds
        self.own = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, sizes[1:]))
        self.near = nn.ModuleList(nn.Linear(i, o, bias=False) for i, o in zip(sizes, sizes[1:]))

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        h = self.embed(batch.tokens)  # [U, E]
        source = torch.cat([batch.child, batch.parent])
        target = torch.cat([batch.parent, batch.child])
        degree = torch.zeros(len(h)).index_add(0, target, torch.ones(len(target)))
        for own, near in zip(self.own, self.near):
            mean = torch.zeros_like(h).index_add(0, target, h[source]) / degree[:, None]
            h = torch.relu(own(h) + near(mean))
        return h, mean_pool(h, batch)


# ---- Curiosity ----


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

    @torch.no_grad()
    def bonus(
        self, states: Sequence[Observation], ops: Tensor, successors: Sequence[Observation],
        ended: Tensor,
    ) -> Tensor:  # fmt: skip
        """Intrinsic rewards [T, N] of a rollout given time-major, in standard deviations."""
        raw = self.surprise(collate(states), ops, collate(successors))
        self.scale.update(raw)
        return (raw / self.scale.deviation).reshape(ended.shape)

    def learn(
        self, states: Sequence[Observation], ops: Tensor, successors: Sequence[Observation],
        minibatch_size: int,
    ) -> None:  # fmt: skip
        """One pass over the rollout."""
        for start in range(0, len(states), minibatch_size):
            part = slice(start, start + minibatch_size)
            loss = self.loss(collate(states[part]), ops[part], collate(successors[part]))
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
        self.op = nn.Embedding(len(OPERATIONS), hidden)
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
        batch = collate(successors)
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


def collate(observations: Sequence[Observation]) -> Batch:
    return Batch(*map(torch.from_numpy, pack(observations, share=False)))
