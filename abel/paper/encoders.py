"""The paper's encoders, those that it compares against, and its policy head.

An encoder maps a `Batch` of B packed trees to states of its distinct nodes [U, H] and of the trees
[B, H]. Ours, `TreeMLP`, is in train_ppo.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from abel.encode import TOKENS
from abel.learner.batch import POOLS, Bags, Batch, mean_pool
from abel.learner.checkpoint import named_embedding
from abel.learner.config import NetConfig

LENGTH = 50  # of the paper's padded vector of preorder ids


def mlp(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


# ---- Encoders ----


class PaperRounds(torch.autograd.Function):
    """The rounds of the paper's listing, h = relu(W2 relu(W1 [own, sums] + b1) + b2).

    What a node sends is multiplied before it is summed: few nodes differ in early rounds. The
    gradient by hand takes less time than autograd's, which adds up a part for each round.
    """

    @staticmethod
    def forward(
        ctx: Any, h: Tensor, own: Tensor, near: Tensor, weight: Tensor, bias: Tensor,
        rounds: Sequence[Bags],
    ) -> Tensor:  # fmt: skip
        """The last states [U, H] from those of all tokens [T, H], and the tokens' W1 own + b1."""
        ctx.rounds, kept = rounds, [h]
        for bags in rounds:
            sent = torch.mm(h, near.T).view(-1, h.shape[1])  # [ways * U, H]
            inner = bags.sums(torch.cat([own, sent])).relu_()
            h = torch.addmm(bias, inner, weight.T).relu_()
            kept += [inner, h]
        ctx.save_for_backward(near, weight, *kept)
        return h

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        near, weight, *kept = ctx.saved_tensors
        below = torch.ops.aten.threshold_backward  # of relu
        grad, own_grad = grads[0], torch.zeros_like(kept[0])
        near_grad, weight_grad = torch.zeros_like(near), torch.zeros_like(weight)
        bias_grad = torch.zeros_like(weight[0])
        for k in reversed(range(len(ctx.rounds))):
            before, inner, h = kept[2 * k : 2 * k + 3]
            grad = below(grad, h, 0)
            weight_grad.addmm_(grad.T, inner)
            bias_grad += grad.sum(0)
            table = ctx.rounds[k].turned.sums(below(grad @ weight, inner, 0))
            own, sent = table.tensor_split([len(own_grad)])
            own_grad += own
            sent = sent.view(len(before), len(near))  # [U, ways * H]
            near_grad.addmm_(sent.T, before)
            grad = sent @ near
        return grad, own_grad, near_grad, weight_grad, bias_grad, None


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
        first, _, second, _ = layers
        width = table.shape[1]
        own, near = first.weight.tensor_split([width], 1)
        near = near.unflatten(1, (-1, width)).transpose(0, 1).flatten(0, 1)  # [ways * H, H]
        own = nn.functional.linear(table, own, first.bias)  # [T, H]: the same in every round
        if self.rounds:
            rounds = batch.rounds or self.all_rounds(batch)
            h = PaperRounds.apply(table, own, near, second.weight, second.bias, rounds)
        else:
            h = nn.functional.embedding(batch.tokens, table)
        return h, self.out(POOLS[self.pool](h, batch))

    def all_rounds(self, batch: Batch) -> list[Bags]:
        """What each node adds up in every round: its token's row, then what its neighbours send.

        In the first round the neighbours' tokens send, in the others the neighbours.
        """
        ways = 1 if self.messages == "up" else 2
        tokens, child, parent = (t.numpy() for t in (batch.tokens, batch.child, batch.parent))
        nodes = np.arange(len(tokens))
        owners = [nodes, parent, child][: 1 + ways]

        def bags(names: np.ndarray, count: int) -> Bags:
            senders = [names[child] * ways, names[parent] * ways + 1][:ways]
            rows = np.concatenate([tokens, *(len(TOKENS) + rows for rows in senders)])
            return Bags(rows, np.concatenate(owners), len(TOKENS) + count * ways, len(nodes))

        return [bags(tokens, len(TOKENS)), *[bags(nodes, len(nodes))] * (self.rounds - 1)]


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
