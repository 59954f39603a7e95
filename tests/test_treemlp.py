"""TreeMLP on packed, shared trees equals the paper's padded listing, in values and gradients."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
import torch
from torch import nn

from abel import Env, EnvConfig, load_dataset
from abel.learner.batch import collate, mean_pool, neighbor_sums
from abel.learner.forward import Pool
from abel.learner.replay import Memory
from abel.learner.rollout import Rollout
from abel.paper.encoders import paper_encoder
from abel.paper.padded import PaddedTreeMLP, pad
from train_ppo import Agent, NetConfig, forward

TEXTS = [
    "a*x + b", "e + (a*x + b)/(c*x + d)", "sin(a*x) + log(x)^2 = b", "a*x^2 + b*x + c",
    "x = a", "exp(x)*(x + a*(x + b))",
]  # fmt: skip
PAPER = NetConfig(hidden=16, embed=8, encoder="paper")


def observations(constants: str = "raw") -> list:
    env = Env(TEXTS, EnvConfig(constants=constants))
    return [env.reset(options={"index": i})[0] for i in range(len(TEXTS))]


def gradients(module: nn.Module, output: torch.Tensor) -> list[torch.Tensor]:
    weights = torch.linspace(-1, 1, output.numel()).reshape(output.shape)
    return list(torch.autograd.grad((output * weights).sum(), list(module.parameters())))


@pytest.mark.parametrize("pool", ["mean", "max"])
@pytest.mark.parametrize("share", [False, True])
def test_packed_equals_padded(pool, share):
    torch.manual_seed(0)
    encoder = paper_encoder(replace(PAPER, pool=pool))
    states = observations()
    packed = encoder(collate(states, share))[1]
    reference = PaddedTreeMLP(encoder)(*pad(states))
    assert torch.allclose(packed, reference, atol=1e-5)
    for ours, theirs in zip(gradients(encoder, packed), gradients(encoder, reference)):
        assert torch.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("head", ["pointer", "index"])
@pytest.mark.parametrize("encoder", ["tree", "paper"])
def test_equal_subtrees_computed_once_change_nothing(encoder, head):
    torch.manual_seed(0)
    agent = Agent(NetConfig(hidden=16, encoder=encoder, head=head))
    states = observations("blocks")
    shared, plain = collate(states, True), collate(states, False)
    assert len(shared.tokens) < len(plain.tokens)
    for ours, theirs in zip(agent(shared), agent(plain)):
        assert torch.allclose(ours, theirs, atol=1e-5)


def test_messages_both_ways_equal_the_listing_with_sums_from_children_and_parent():
    torch.manual_seed(0)
    encoder = paper_encoder(replace(PAPER, messages="both"))
    batch = collate(observations(), False)
    found = encoder(batch)[1]
    embedded = encoder.project(encoder.embed(batch.tokens))
    h = embedded
    for _ in range(PAPER.rounds):
        h = encoder.update(torch.cat([embedded, *neighbor_sums(h, batch, "both")], -1))
    expected = encoder.out(mean_pool(h, batch))
    assert torch.allclose(found, expected, atol=1e-5)
    for ours, theirs in zip(gradients(encoder, found), gradients(encoder, expected)):
        assert torch.allclose(ours, theirs, atol=1e-5)


def test_without_rounds_a_node_is_its_token():
    encoder = paper_encoder(replace(PAPER, rounds=0))
    batch = collate(observations(), True)
    nodes, _ = encoder(batch)
    assert torch.equal(nodes, encoder.project(encoder.embed.weight)[batch.tokens])


def pool_of(states: list, net: NetConfig) -> Pool:
    """A pool of two copies of some observations, of which the second are stored ones."""
    nothing = torch.zeros(1, len(states))
    rollout = Rollout(states, states, states, nothing.numpy().astype(int), *[nothing] * 6)
    return Pool(rollout, [Memory(state, 1, 0.0, 0, (), 1) for state in states], net)


@pytest.mark.parametrize("head", ["pointer", "index"])
@pytest.mark.parametrize("rounds", [1, 3, 9])
@pytest.mark.parametrize("pool", ["mean", "max"])
def test_a_minibatch_of_cut_trees_is_as_if_its_trees_were_packed_for_it(head, rounds, pool):
    torch.manual_seed(0)
    net = replace(PAPER, rounds=rounds, head=head, pool=pool, cap=7)
    agent, states = Agent(net), observations("letters")
    pooled = pool_of(states, net)
    places = np.array([4, 0, 5 + len(states), 0, 3, 1 + len(states)])
    found = pooled.forward(agent, places)
    expected = forward(agent, [pooled.observations[place] for place in places])
    zeros = np.zeros(len(places), dtype=np.int64)
    for action in (zeros, zeros + 2):
        ours, theirs = found.log_prob(action), expected.log_prob(action)
        assert torch.allclose(ours, theirs, atol=1e-5)
    assert torch.allclose(found.value(), expected.value(), atol=1e-5)
    entropies = found.entropy[found.which], expected.entropy[expected.which]
    assert torch.allclose(*entropies, atol=1e-5)
    slopes = [gradients(agent.encoder, out.value()) for out in (found, expected)]
    for ours, theirs in zip(*slopes):
        assert torch.allclose(ours, theirs, atol=1e-5)
    assert pooled.actions[places].tolist() == [0, 0, 1, 0, 0, 1]


def test_a_token_above_a_state_is_not_taken_for_another_pair():
    """exp over sin and log over log had one name: tokens 5 and 7, 6 and 6 added up alike."""
    env = Env(["exp(sin(x)) = a", "log(log(x)) = a"], EnvConfig(constants="letters"))
    states = [env.reset(options={"index": i})[0] for i in range(2)]
    rounds = pool_of(states, PAPER).trees.rounds
    assert len(rounds[0].counts) == 8  # two roots, two functions over functions, two over x, x, a


def test_cut_trees_of_random_play_equal_whole_ones_in_double_precision():
    torch.manual_seed(0)
    env, rng = Env(load_dataset("open_small", "train"), EnvConfig(constants="letters")), Random(0)
    states = [env.reset(seed=0)[0]]
    while len(states) < 300:
        states.append(env.step(rng.randrange(len(states[-1].actions)))[0])
        if env.ended:
            states.append(env.reset()[0])
    encoder = paper_encoder(PAPER).double()
    cut = pool_of(states, PAPER)
    found = encoder(cut.trees.batch(np.arange(len(cut.trees.sizes))))[1][cut.which[: len(states)]]
    expected = encoder(collate(states, True))[1]
    assert torch.allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_in_a_minibatch_an_action_past_the_cap_is_impossible_too():
    net = replace(PAPER, head="index", cap=3)
    agent, states = Agent(net), observations("letters")[:2]
    pooled = pool_of(states, net)
    pooled.actions[:] = [2, 3, 2, 3]
    stored = [Memory(state, 9, 0.0, 0, (), 1) for state in states]
    assert Pool(pooled.rollout, stored, net).actions.tolist() == [0, 0, 3, 3]
    log_probs = pooled.forward(agent, np.arange(4)).log_prob(pooled.actions)
    assert torch.isfinite(log_probs).tolist() == [True, False, True, False]


def test_nodes_that_are_equal_as_deep_as_messages_reach_share_a_state():
    """Of these sines one round tells two from the others, two rounds four, and three all six."""
    env = Env(["sin(sin(sin(x))) = a", "sin(sin(sin(b))) + x = a"], EnvConfig(constants="letters"))
    states = [env.reset(options={"index": i})[0] for i in range(2)]
    rounds = pool_of(states, PAPER).trees.rounds
    others = 6  # two roots, a sum, and the leaves x, a, b
    assert [len(each.counts) - others for each in rounds] == [3, 5, 6]


@pytest.mark.parametrize("messages", ["up", "both"])
def test_a_state_does_not_depend_on_its_batch(messages):
    torch.manual_seed(0)
    agent = Agent(NetConfig(hidden=16, messages=messages))
    states = observations()
    together = forward(agent, states)
    order = [3, 0, 5, 1, 4, 2, 3]
    shuffled = forward(agent, [states[i] for i in order])
    assert torch.allclose(shuffled.value(), together.value()[order], atol=1e-5)
    first = np.zeros(len(order), dtype=np.int64)
    assert torch.allclose(
        shuffled.log_prob(first),
        together.log_prob(np.zeros(len(states), dtype=np.int64))[order],
        atol=1e-5,
    )


def test_repeated_states_are_forwarded_once():
    agent = Agent(NetConfig(hidden=16))
    states = observations()
    out = forward(agent, [states[0], states[1], states[0]])
    assert len(out.values) == 2 and out.which.tolist() == [0, 1, 0]


def test_the_index_head_masks_what_is_past_its_cap():
    agent = Agent(NetConfig(hidden=16, head="index", cap=7))
    states = observations()
    out = forward(agent, states)
    for d, state in enumerate(states):
        log_probs = out.log_probs[out.offsets[d] : out.offsets[d + 1]]
        assert torch.isfinite(log_probs[:7]).all() and (log_probs[7:] == -torch.inf).all()
        assert log_probs.exp().sum().item() == pytest.approx(1, abs=1e-5)
        assert len(log_probs) == len(state.actions)


def test_sum_aggregation_counts_children():
    """No degree normalisation: a sum of three differs from a sum of two of the same kind."""
    env = Env(["sin(x) + sin(x + a) = b", "sin(x) + sin(x + a) + sin(a*x) = b"])
    agent = Agent(NetConfig(hidden=16, encoder="paper"))
    states = [env.reset(options={"index": i})[0] for i in range(2)]
    nodes, _ = agent.encoder(collate(states, False))
    assert not torch.allclose(nodes[1], nodes[len(states[0].tokens) + 1])
