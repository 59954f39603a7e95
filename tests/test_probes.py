"""Dormant neurons counted by hand, and the projector's files."""

import numpy as np
import torch
from torch import nn

from abel import Env
from abel.analysis.probes import dormant, embeddings
from train_ppo import Agent, NetConfig, forward


class Net(nn.Module):
    """A ReLU as a module, and one as a function."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(1, 4, bias=False), nn.ReLU())
        self.second = nn.Linear(4, 2, bias=False)
        with torch.no_grad():
            self.first[0].weight.copy_(torch.tensor([[1.0], [1.0], [0.05], [-1.0]]))
            self.second.weight.copy_(torch.eye(2, 4))

    def forward(self, x):
        return torch.relu(self.second(self.first(x)))


def test_dormant_neurons_by_hand():
    """Activities 1, 1, 0.05 and 0: mean 0.5125, so 0.05 and 0 are at most a tenth of it."""
    net = Net()
    report = dormant(net, lambda: net(torch.ones(3, 1)), 0.1)
    assert report["layers"] == {"first.1": 0.5, "head": 0.0}
    assert report["neurons"] == {"first.1": 4, "head": 2}
    assert report["overall"] == report["overall_by_max"] == 2 / 6
    assert not net._forward_hooks and not net.first[1]._forward_pre_hooks  # nothing stays behind


def test_the_two_scales_differ():
    """Activities 1, 0.05, 0.05, 0.05: a tenth of the mean is 0.029, of the maximum 0.1."""
    net = Net()
    with torch.no_grad():
        net.first[0].weight.copy_(torch.tensor([[1.0], [0.05], [0.05], [0.05]]))
    report = dormant(net, lambda: net.first(torch.ones(1, 1)), 0.1)
    assert report["overall"] == 0.0 and report["overall_by_max"] == 0.75


def test_the_rounds_of_the_papers_encoder_are_counted():
    """Each has two layers; they run in one function with a gradient of its own."""
    net = NetConfig(hidden=16, encoder="paper", head="index")
    agent, state = Agent(net), Env(["a*x + b"]).reset()[0]
    report = dormant(agent, lambda: forward(agent, [state]), 0.1)
    names = [name for name in report["neurons"] if name.startswith("encoder")]
    assert len(names) == 2 * net.rounds
    assert {report["neurons"][name] for name in names} == {16}


def test_embeddings_are_pictures_and_a_projector(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    labels, families = [f"x = {i}" for i in range(6)], ["a"] * 3 + ["b"] * 3
    report = embeddings(vectors, labels, families, tmp_path / "projector")
    assert np.array(report["pca"]).shape == np.array(report["tsne"]).shape == (6, 2)
    assert report["families"] == families and len(report["explained"]) == 2
    assert (tmp_path / "projector" / "projector_config.pbtxt").exists()
