"""What the paper compares against: encoders other than TreeMLP, on the same packed trees.

Each maps a `Batch` of B trees to states of its distinct nodes [U, H] and of the trees [B, H].
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from abel.batch import Batch
from abel.encode import TOKENS

LENGTH = 50  # of the paper's padded vector of preorder ids


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
