"""Observations packed side by side for a network: no padding, equal states and subtrees only once.

The sums and means that encoders take over a packed batch are here too, for ours and the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abel.encode import Observation

# ---- Sums of rows, with a gradient as fast as the sums ----


class Bags:
    """Lists of rows, called bags: row `rows[k]` lies in bag `bags[k]`, in this order in each.

    `ordered` says that the bags come one after the other.
    """

    def __init__(
        self, rows: np.ndarray, bags: np.ndarray, num_rows: int, num_bags: int,
        ordered: bool = False,
    ) -> None:  # fmt: skip
        self.rows, self.bags, self.num_rows, self.num_bags = rows, bags, num_rows, num_bags
        if not ordered:  # the small type is sorted by radix, in linear time
            small = bags.astype(np.uint16) if num_bags < 1 << 16 else bags
            rows = rows[np.argsort(small, kind="stable")]
        counts = np.bincount(bags, minlength=num_bags)
        self.index = torch.from_numpy(rows)
        self.starts = torch.from_numpy(np.cumsum(counts) - counts)

    @cached_property
    def turned(self) -> Bags:
        """For each row the bags that it lies in: a sum's gradient is the sum over these."""
        return Bags(self.bags, self.rows, self.num_bags, self.num_rows)

    def sums(self, h: Tensor) -> Tensor:
        """The sum of each bag's rows of h [rows, H] -> [bags, H], added in the bag's order."""
        return BagSums.apply(h, self)


class BagSums(torch.autograd.Function):
    """What `index_add` of gathered rows gives, to the last bit, without the gathered rows."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, bags: Bags) -> Tensor:
        ctx.bags = bags
        return torch.embedding_bag(h, bags.index, bags.starts, False, 0)[0]  # 0: sums

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        turned = ctx.bags.turned
        return torch.embedding_bag(grads[0], turned.index, turned.starts, False, 0)[0], None


# ---- Packing ----


class Batch(NamedTuple):
    """Token trees and action sets of B states, as int64 tensors.

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
    messages: Bags  # children of each distinct node [U]
    trees: Bags  # nodes of each tree [B]
    rounds: Any = ()  # of messages, where a `Pool` has cut the trees: they stand for U and E


def collate(observations: Sequence[Observation], share: bool) -> Batch:
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
    trees = np.repeat(np.arange(len(observations)), sizes)
    child, parent = node[edges], node[parents[edges]]
    columns = (
        tokens[first], roles[first], child, parent, node, trees, node[starts],
        node[starts + 1],  # preorder: the left side follows the root
        sizes, np.concatenate([o.action_ops for o in observations]), node[terms], graph,
        np.arange(len(graph)) - offsets[graph], offsets,
    )  # fmt: skip
    fields: list[Any] = [torch.from_numpy(c.astype(np.int64, copy=False)) for c in columns]
    fields.append(Bags(child, parent, len(first), len(first)))
    fields.append(Bags(node, trees, len(first), len(observations), ordered=True))
    return Batch(*fields)


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


def interned(observations: Sequence[Observation]) -> list[Observation]:
    """The observations, with one object for all that look the same: `distinct` reads it once."""
    which, states = distinct(observations)
    return [states[i] for i in which]


# ---- Over the nodes of a batch ----


def neighbor_sums(h: Tensor, batch: Batch, messages: Literal["up", "both"]) -> list[Tensor]:
    """Sums of incoming states [U, H], no degree normalisation: from the children, then the
    parent if messages go both ways.
    """
    up = batch.messages.sums(h)
    return [up] if messages == "up" else [up, batch.messages.turned.sums(h)]


def mean_pool(h: Tensor, batch: Batch) -> Tensor:
    """Mean over the nodes of each tree [B, H]; merged nodes count as often as they occur."""
    return batch.trees.sums(h) / batch.num_nodes[:, None]


def max_pool(h: Tensor, batch: Batch) -> Tensor:
    """Largest entries over the nodes of each tree [B, H]."""
    nodes = h[batch.node]  # [M, H]
    index = batch.graph[:, None].expand_as(nodes)
    low = torch.full((len(batch.num_nodes), h.shape[1]), -torch.inf)
    return low.scatter_reduce(0, index, nodes, "amax")


def action_sums(nodes: Tensor, ops: Tensor, graphs: Tensor, batch: Batch) -> Tensor:
    """What each legal action's term, operation and state have in these tables, summed [A, H]."""
    table = torch.cat([nodes, ops, graphs])
    op, graph = batch.action_op + len(nodes), batch.action_graph + len(nodes) + len(ops)
    rows = torch.stack([batch.action_node, op, graph], 1).flatten().numpy()
    actions = np.repeat(np.arange(len(op)), 3)
    return Bags(rows, actions, len(table), len(op), ordered=True).sums(table)


POOLS = {"mean": mean_pool, "max": max_pool}
