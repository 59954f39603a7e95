"""The paper's encoders, those that it compares against, and its policy head.

An encoder maps a `Batch` of B packed trees to states of its distinct nodes [U, H] and of the trees
[B, H]. Ours, `TreeMLP`, is in train_ppo.py.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from abel.encode import TOKENS
from abel.learner.batch import POOLS, Batch, mean_pool, neighbor_sums
from abel.learner.checkpoint import named_embedding
from abel.learner.config import NetConfig

LENGTH = 50  # of the paper's padded vector of preorder ids


def mlp(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


# ---- Encoders ----


class PaperTreeMLP(nn.Module):
    """The paper's listing: one MLP with two ReLUs for all rounds, no roles or normalization."""

    def __init__(
        self, hidden: int, embed: int, rounds: int, messages: Literal["up", "both"], pool: str
    ) -> None:
        super().__init__()
        self.rounds, self.messages, self.pool = rounds, messages, pool
        self.embed = named_embedding(TOKENS, embed)
        self.project = nn.Linear(embed, hidden)
        ways = 1 if messages == "up" else 2
        self.update = nn.Sequential(
            nn.Linear((1 + ways) * hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.out = nn.Linear(hidden, hidden)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        table = self.project(self.embed.weight)  # [T, H] of all tokens: they are few
        layers: Any = self.update
        first, *rest = layers
        own, near = first.weight.tensor_split([table.shape[1]], 1)
        # The listing's W [own, sums] + b; its first part is the same in every round.
        own = nn.functional.embedding(batch.tokens, table @ own.T + first.bias)  # [U, H]
        h = nn.functional.embedding(batch.tokens, table)
        for _ in range(self.rounds):
            h = own + torch.cat(neighbor_sums(h, batch, self.messages), -1) @ near.T
            for layer in rest:
                h = layer(h)
        return h, self.out(POOLS[self.pool](h, batch))


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
        self.embed = named_embedding(TOKENS, embed)
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
        self.embed = named_embedding(TOKENS, embed)
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


def paper_encoder(net: NetConfig) -> nn.Module:
    """The encoder that `net` names; all but "tree" are here."""
    if net.encoder == "mlp":
        return PreorderMLP(net.hidden)
    if net.encoder == "paper":
        return PaperTreeMLP(net.hidden, net.embed, net.rounds, net.messages, net.pool)
    kind = {"gcn": GraphConvolution, "sage": GraphSAGE}[net.encoder]
    return kind(net.hidden, net.embed, net.rounds)


# ---- The policy head ----


class IndexHead(nn.Module):
    """The paper's policy head: one logit for each position in the list of legal actions.

    Positions from `cap` on have none and are masked.
    """

    def __init__(self, hidden: int, cap: int) -> None:
        super().__init__()
        self.cap = cap
        self.layers = mlp(hidden, hidden, cap)

    def forward(self, graph: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits of all legal actions [A], and which of them the head can tell apart [A]."""
        rank = batch.action_rank.clamp(max=self.cap - 1)
        return self.layers(graph)[batch.action_graph, rank], batch.action_rank < self.cap
