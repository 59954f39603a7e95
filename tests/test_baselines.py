"""The paper's other encoders and its curiosity bonuses, against hand-worked numbers."""

import numpy as np
import pytest
import torch

from abel import Env, EnvConfig
from abel.encode import TOKENS, VOCAB
from abel.learner.batch import collate
from abel.paper.curiosity import ICM, NGU, RND
from abel.paper.encoders import GraphConvolution, GraphSAGE, PreorderMLP
from train_ppo import Agent, NetConfig, forward

ENV = Env(["a*x + b", "a*x^2 + b*x + c", "sin(x) = a"], EnvConfig(constants="letters"))
STATES = [ENV.reset(options={"index": i})[0] for i in range(3)]


def test_the_mlp_sees_preorder_ids_padded_and_cut():
    long = Env(["+".join(f"sin({n}*x)" for n in range(1, 20))], EnvConfig(constants="letters"))
    states = [*STATES, long.reset()[0]]
    encoder = PreorderMLP(8)
    seen = []
    encoder.layers[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    encoder(collate(states, False))
    assert len(states[0].tokens) < 50 < len(states[-1].tokens)
    for state, row in zip(states, seen[0] * len(TOKENS)):
        ids = state.tokens.tolist() + [VOCAB["<pad>"]] * 50
        assert row.round().int().tolist() == ids[:50]


def test_gcn_by_hand_on_x_equals_a():
    """Three nodes: the root has degree 3 with itself, each side 2."""
    env = Env(["x = a"], EnvConfig(constants="letters"))
    state, _ = env.reset()
    encoder = GraphConvolution(hidden=1, embed=1, rounds=1)
    with torch.no_grad():
        encoder.embed.weight[:] = torch.arange(len(TOKENS))[:, None].float()
        encoder.layers[0].weight[:], encoder.layers[0].bias[:] = 1.0, 0.0
    nodes, graph = encoder(collate([state], False))
    root, x, a = (float(VOCAB[token]) for token in ("=", "x", "a"))
    expected = [root / 3 + (x + a) / 6**0.5, x / 2 + root / 6**0.5, a / 2 + root / 6**0.5]
    assert nodes[:, 0].tolist() == pytest.approx(expected, rel=1e-5)
    assert graph.item() == pytest.approx(np.mean(expected), rel=1e-5)


def test_graphsage_by_hand_on_x_equals_a():
    env = Env(["x = a"], EnvConfig(constants="letters"))
    state, _ = env.reset()
    encoder = GraphSAGE(hidden=1, embed=1, rounds=1)
    with torch.no_grad():
        encoder.embed.weight[:] = torch.arange(len(TOKENS))[:, None].float()
        encoder.own[0].weight[:], encoder.own[0].bias[:] = 1.0, 0.0
        encoder.near[0].weight[:] = 2.0
    nodes, _ = encoder(collate([state], False))
    root, x, a = (float(VOCAB[token]) for token in ("=", "x", "a"))
    assert nodes[:, 0].tolist() == pytest.approx([root + x + a, x + 2 * root, a + 2 * root])


@pytest.mark.parametrize("encoder", ["mlp", "gcn", "sage"])
def test_a_state_does_not_depend_on_its_batch(encoder):
    torch.manual_seed(0)
    agent = Agent(NetConfig(hidden=16, encoder=encoder, head="index"))
    alone = torch.cat([forward(agent, [state]).value() for state in STATES])
    assert torch.allclose(forward(agent, STATES).value(), alone, atol=1e-5)


def test_an_mlp_has_no_nodes_to_point_at():
    with pytest.raises(ValueError, match="index"):
        NetConfig(encoder="mlp", head="pointer")


def transitions() -> tuple:
    return STATES[:2], torch.tensor([0, 1]), STATES[1:]


@pytest.mark.parametrize("kind", [ICM, RND, NGU])
def test_what_was_learned_surprises_less(kind):
    torch.manual_seed(0)
    module = kind(8, 8, 3e-2)
    if kind is ICM:  # its features move while it learns, and what is surprising with them
        module.features.requires_grad_(False)
    states, ops, successors = transitions()
    part = module.lifetime if kind is NGU else module

    def surprise() -> float:
        return part.surprise(collate(states, False), ops, collate(successors, False)).mean().item()

    before = surprise()
    for _ in range(60):
        module.learn(states, ops, successors, 2)
    assert surprise() < 0.5 * before


def test_rnd_never_trains_its_target():
    module = RND(8, 8, 1e-2)
    assert not any(p.requires_grad for p in module.target.parameters())


def test_icm_learns_to_tell_the_operation():
    torch.manual_seed(0)
    module = ICM(16, 8, 1e-2)
    states, ops, successors = transitions()
    for _ in range(60):
        module.learn(states, ops, successors, 2)
    both = [module.features(collate(part, False))[1] for part in (states, successors)]
    assert module.inverse_model(torch.cat(both, -1)).argmax(-1).tolist() == ops.tolist()


def test_bonuses_are_in_standard_deviations():
    torch.manual_seed(0)
    module = RND(16, 8, 1e-2)
    ended = torch.zeros(1, 2, dtype=torch.bool)
    bonus = module.bonus(*transitions(), ended)
    assert bonus.shape == (1, 2) and bonus.std(unbiased=False).item() == pytest.approx(1, abs=1e-3)


def test_ngu_forgets_at_the_end_of_an_episode_and_rewards_the_new():
    torch.manual_seed(0)
    module = NGU(16, 8, 1e-2)
    point = torch.zeros(16)
    assert module.novelty(point, torch.zeros(3, 16)) < 0.05
    assert module.novelty(point, torch.ones(1, 16)).item() == pytest.approx(0.5**0.5, abs=1e-2)
    states, ops, successors = [STATES[0]] * 3, torch.zeros(3, dtype=torch.long), [STATES[1]] * 3
    ended = torch.tensor([[False], [True], [False]])
    first, again, after = module.bonus(states, ops, successors, ended)[:, 0].tolist()
    assert first == after == pytest.approx(1, abs=1e-2) and again < 0.1
    assert len(module.seen[0]) == 1


def test_curiosity_survives_being_stored():
    torch.manual_seed(0)
    module, again = NGU(8, 8, 1e-2), NGU(8, 8, 1e-2)
    ended = torch.zeros(1, 2, dtype=torch.bool)
    module.bonus(*transitions(), ended)
    again.load_state_dict(module.state_dict())
    assert torch.equal(module.bonus(*transitions(), ended), again.bonus(*transitions(), ended))
