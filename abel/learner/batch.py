"""Observations packed side by side for a network: no padding, equal states and subtrees only once.

The sums and means that encoders take over a packed batch are here too, for ours and the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abel.encode import Observation


class Batch(NamedTuple):
    """Token trees and action sets of B states, as int64 arrays (`pack`) or tensors (`collate`).

    The U distinct nodes carry the computation; `node` says which of them each of the M nodes of
    all trees is.
    """

    tokens: Any  # [U]
    roles: Any  # [U]
    child: Any  # [E] edges between distinct nodes
    parent: Any  # [E]
    node: Any  # [M]
    graph: Any  # [M] tree of each node
    root: Any  # [B] distinct node of each tree's root
    left: Any  # [B] and of its left side
    num_nodes: Any  # [B]
    action_op: Any  # [A] of the legal actions of all states
    action_node: Any  # [A] distinct node of the term
    action_graph: Any  # [A]
    action_rank: Any  # [A] position in the state's own list
    offsets: Any  # [B + 1] where each state's actions begin


def pack(observations: Sequence[Observation], share: bool) -> Batch:
    """Pack observations; with `share`, equal subtrees of the batch become one node."""
    sizes = np.array([len(o.tokens) for o in observations])
    starts = np.cumsum(sizes) - sizes
    parents = np.concatenate([o.parents for o in observations]).astype(np.int64)
    edges = np.flatnonzero(parents >= 0)  # every node but the roots
    parents += np.repeat(starts, sizes)
    tokens = np.concatenate([o.tokens for o in observations])
    roles = np.concatenate([o.roles for o in observations])
    if share:
        subtrees = np.concatenate([o.subtrees for o in observations])
        _, first, node = np.unique(subtrees, return_index=True, return_inverse=True)
        # A merged parent gets the messages of one of its copies only.
        edges = edges[first[node[parents[edges]]] == parents[edges]]
    else:
        first = node = np.arange(len(tokens))
    counts = np.array([len(o.action_ops) for o in observations])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    graph = np.repeat(np.arange(len(observations)), counts)
    terms = np.concatenate([o.action_nodes for o in observations]) + starts[graph]
    columns = (
        tokens[first], roles[first], node[edges], node[parents[edges]], node,
        np.repeat(np.arange(len(observations)), sizes), node[starts],
        node[starts + 1],  # preorder: the left side follows the root
        sizes, np.concatenate([o.action_ops for o in observations]), node[terms], graph,
        np.arange(len(graph)) - offsets[graph], offsets,
    )  # fmt: skip
    return Batch(*(column.astype(np.int64) for column in columns))


def collate(observations: Sequence[Observation], share: bool) -> Batch:
    """Pack observations as tensors."""
    return Batch(*map(torch.from_numpy, pack(observations, share)))


def content(observation: Observation) -> bytes:
    """All that a network sees of an observation: equal for those that look the same."""
    o = observation
    seen = (o.tokens, o.roles, o.parents, o.action_ops, o.action_nodes)
    # With the number of nodes, the joined bytes can be read in one way only.
    return b"".join([len(o.tokens).to_bytes(4), *(array.tobytes() for array in seen)])


def distinct(observations: Sequence[Observation]) -> tuple[np.ndarray, list[Observation]]:
    """The distinct observations in order of appearance, and which of them each one is [N].

    They are told apart by content, not by identity: which equal observations are one object
    depends on what a cache has forgotten, and a batch must not.
    """
    slots: dict[bytes, int] = {}
    keys: dict[int, bytes] = {}  # an object that repeats is read once
    which = []
    for o in observations:
        key = keys.get(id(o))
        if key is None:
            key = keys[id(o)] = content(o)
        which.append(slots.setdefault(key, len(slots)))
    merged = np.array(which)
    return merged, [observations[i] for i in np.unique(merged, return_index=True)[1]]


# ---- Over the nodes of a batch ----


def neighbor_sums(h: Tensor, batch: Batch, messages: Literal["up", "both"]) -> list[Tensor]:
    """Sums of incoming states [U, H], no degree normalisation: from the children, then the
    parent if messages go both ways.
    """
    up = torch.zeros_like(h).index_add(0, batch.parent, h[batch.child])
    if messages == "up":
        return [up]
    return [up, torch.zeros_like(h).index_add(0, batch.child, h[batch.parent])]


def mean_pool(h: Tensor, batch: Batch) -> Tensor:
    """Mean over the nodes of each tree [B, H]; merged nodes count as often as they occur."""
    total = torch.zeros(len(batch.num_nodes), h.shape[1]).index_add(0, batch.graph, h[batch.node])
    return total / batch.num_nodes[:, None]


def max_pool(h: Tensor, batch: Batch) -> Tensor:
    """Largest entries over the nodes of each tree [B, H]."""
    nodes = h[batch.node]  # [M, H]
    index = batch.graph[:, None].expand_as(nodes)
    low = torch.full((len(batch.num_nodes), h.shape[1]), -torch.inf)
    return low.scatter_reduce(0, index, nodes, "amax")


POOLS = {"mean": mean_pool, "max": max_pool}
