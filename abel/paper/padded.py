"""The paper's TreeMLP listing, on padded trees: what the packed one must equal, and beat.

Only tests and the benchmark use it: it says what the paper's own code computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from abel.encode import Observation


def pad(states: Sequence[Observation]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Node ids [B, N], node mask [B, N], edges [B, 2, N] from child to parent, edge mask [B, N]."""
    size = max(len(state.tokens) for state in states)
    ids = torch.zeros(len(states), size, dtype=torch.long)
    node_mask = torch.zeros(len(states), size, dtype=torch.bool)
    edges = torch.zeros(len(states), 2, size, dtype=torch.long)
    edge_mask = torch.zeros(len(states), size, dtype=torch.bool)
    for b, state in enumerate(states):
        count = len(state.tokens)
        ids[b, :count] = torch.from_numpy(state.tokens).long()
        node_mask[b, :count] = True
        edges[b, 0, 1:count] = torch.arange(1, count)
        edges[b, 1, 1:count] = torch.from_numpy(state.parents[1:]).long()
        edge_mask[b, 1:count] = True
    return ids, node_mask, edges, edge_mask


class PaddedTreeMLP(nn.Module):
    """The listing, with the weights of a packed TreeMLP in the paper's style."""

    def __init__(self, packed: nn.Module) -> None:
        super().__init__()
        self.packed: Any = packed  # a TreeMLP, whose class lies above this package

    def forward(self, ids: Tensor, node_mask: Tensor, edges: Tensor, edge_mask: Tensor) -> Tensor:
        """The vector of each tree [B, H]."""
        embedded = self.packed.project(self.packed.embed(ids))  # [B, N, H]
        h = embedded
        offset = torch.arange(len(ids))[:, None] * ids.shape[1]
        source = (edges[:, 0] + offset)[edge_mask]
        target = (edges[:, 1] + offset)[edge_mask]
        for _ in range(self.packed.rounds):
            flat = h.reshape(-1, h.shape[-1])
            total = torch.zeros_like(flat).index_add(0, target, flat[source])
            h = self.packed.update(torch.cat([embedded, total.reshape(h.shape)], -1))
            h = h * node_mask[..., None]
        if self.packed.pool == "mean":
            pooled = h.sum(1) / node_mask.sum(1, keepdim=True)
        else:
            pooled = h.masked_fill(~node_mask[..., None], torch.finfo(h.dtype).min).max(1).values
        return self.packed.out(pooled)
