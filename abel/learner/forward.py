"""An agent's forward pass over observations: repeated ones are computed once.

Minibatches come from a `Pool`. For the paper's encoder it is packed once, not once per minibatch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abel.encode import TOKENS, Observation
from abel.learner.batch import Bags, Batch, collate, distinct
from abel.learner.config import NetConfig
from abel.learner.replay import Memory
from abel.learner.rollout import Rollout
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
    return run(agent, collate(states, agent.net.share), which)


def run(agent: Any, batch: Batch, which: np.ndarray) -> Outputs:
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


# ---- Minibatches ----


class Pool:
    """What the minibatches of an update are drawn from: a rollout's steps, then stored ones."""

    def __init__(self, rollout: Rollout, memories: Sequence[Memory], net: NetConfig) -> None:
        self.rollout = rollout
        self.observations = rollout.observations + [memory.observation for memory in memories]
        stored = np.array([memory.action for memory in memories], dtype=np.int64)
        # An index head gives all actions past its cap the probability 0: one of them is enough.
        most_actions = net.cap + 1 if net.head == "index" else sys.maxsize
        actions = np.concatenate([rollout.actions.reshape(-1), stored])
        self.actions = np.minimum(actions, most_actions - 1)
        self.trees: CutTrees | None = None
        if net.encoder == "paper" and net.share and net.rounds:
            self.which, states = distinct(self.observations)
            self.trees = CutTrees(states, net.rounds, most_actions)

    def forward(self, agent: Any, places: np.ndarray) -> Outputs:
        """Run the agent on the observations at these places."""
        if self.trees is None:
            return forward(agent, [self.observations[place] for place in places])
        kept, which = np.unique(self.which[places], return_inverse=True)
        return run(agent, self.trees.batch(kept), which)


class CutTrees:
    """Packed trees of which batches are taken.

    After k rounds of messages from child to parent, a node's state depends on k levels of its
    subtree. Nodes that are equal so far have one state, which a batch computes once.
    """

    def __init__(self, states: Sequence[Observation], rounds: int, most_actions: int) -> None:
        packed = collate(states, share=True)
        edges = packed.child.numpy(), packed.parent.numpy()
        self.rounds, last = cut(packed.tokens.numpy(), *edges, rounds)
        self.node = last[packed.node.numpy()]  # [M] its state after the last round
        self.sizes = packed.num_nodes.numpy()
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.num_states = len(self.rounds[-1].counts)
        offsets = packed.offsets.numpy()
        self.action_starts = offsets[:-1]
        self.action_counts = np.minimum(np.diff(offsets), most_actions)
        self.action_rank = packed.action_rank.numpy()
        self.action_op = packed.action_op.numpy()
        self.action_node = last[packed.action_node.numpy()]

    def batch(self, kept: np.ndarray) -> Batch:
        """Some of the trees; what only other encoders need is left out."""
        sizes, counts = self.sizes[kept], self.action_counts[kept]
        nodes = self.node[spans(self.starts[kept], sizes)]
        states, place = renumber(nodes, self.num_states)
        node, trees = place[nodes], np.repeat(np.arange(len(kept)), sizes)
        actions = spans(self.action_starts[kept], counts)
        columns = {
            "node": node, "graph": trees, "num_nodes": sizes, "action_op": self.action_op[actions],
            "action_node": place[self.action_node[actions]],
            "action_graph": np.repeat(np.arange(len(kept)), counts),
            "action_rank": self.action_rank[actions],
            "offsets": np.concatenate([[0], np.cumsum(counts)]),
        }  # fmt: skip
        fields: dict[str, Any] = dict.fromkeys(Batch._fields)
        fields |= {name: torch.from_numpy(column) for name, column in columns.items()}
        fields["trees"] = Bags(node, trees, len(states), len(kept), ordered=True)
        fields["rounds"] = needed(self.rounds, states)
        return Batch(**fields)


class Round(NamedTuple):
    """What the states of a round are made of: rows of a table that has a row for each token, and
    then one for each state of the round before. Before the first round these are the tokens again.
    """

    rows: np.ndarray  # of all states, one after the other
    starts: np.ndarray  # [states] where each one's begin
    counts: np.ndarray  # [states]


def cut(
    tokens: np.ndarray, child: np.ndarray, parent: np.ndarray, rounds: int
) -> tuple[list[Round], np.ndarray]:
    """The rounds, and the state that each node [U] has after the last."""
    found, state = [], tokens
    own = scrambled(tokens + (1 << 32))  # a token's name is that of no state
    for _ in range(rounds):
        below = np.zeros(len(tokens), dtype=np.uint64)
        np.add.at(below, parent, scrambled(state)[child])  # in whatever order they come
        names = scrambled(below + own)
        _, first, after = np.unique(names, return_index=True, return_inverse=True)
        edges = np.flatnonzero(first[after[parent]] == parent)  # of one node for each state
        rows = np.concatenate([tokens[first], len(TOKENS) + state[child[edges]]])
        owners = np.concatenate([np.arange(len(first)), after[parent[edges]]])
        counts = np.bincount(owners)
        order = np.argsort(owners, kind="stable")
        found.append(Round(rows[order], np.cumsum(counts) - counts, counts))
        state = after
    return found, state


def scrambled(numbers: np.ndarray) -> np.ndarray:
    """64-bit names, so that sums of them tell sets of numbers apart (SplitMix64)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def needed(rounds: Sequence[Round], states: np.ndarray) -> list[Bags]:
    """The rounds for some states of the last one, with those of the others that they need."""
    found: list[Bags] = []
    for number, (rows, starts, counts) in reversed(list(enumerate(rounds))):
        lengths = counts[states]
        owners = np.repeat(np.arange(len(states)), lengths)
        taken, num_states = rows[spans(starts[states], lengths)], len(states)
        if number:
            size = len(TOKENS) + len(rounds[number - 1].counts)
            table, place = renumber(np.concatenate([np.arange(len(TOKENS)), taken]), size)
            taken, states = place[taken], table[len(TOKENS) :] - len(TOKENS)
            found.append(Bags(taken, owners, len(table), num_states, ordered=True))
        else:
            found.append(Bags(taken, owners, 2 * len(TOKENS), num_states, ordered=True))
    return found[::-1]


def spans(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """All places from each start on, as many as its length."""
    ends = np.cumsum(lengths)
    return np.repeat(starts + lengths - ends, lengths) + np.arange(lengths.sum())


def renumber(numbers: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Those that occur among numbers below `size`, in order, and each one's place there [size]."""
    occurs = np.zeros(size, dtype=bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs), np.cumsum(occurs) - 1
