"""Looking into a trained network: dormant neurons, and where it puts the equations (torch)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from abel.analysis.projection import pca, tsne

MAX_POINTS = 500  # of a picture: exact t-SNE takes time and memory with the square
RELU = (torch.relu, nn.functional.relu, Tensor.relu, Tensor.relu_)


class WatchRelu(TorchFunctionMode):
    """Mean activity of every neuron behind a ReLU, by the module that called it."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.activity: dict[str, Tensor] = {}
        self.inside: list[str] = []
        self.hooks = []
        for name, module in network.named_modules():
            enter = module.register_forward_pre_hook(lambda *_, n=name: self.inside.append(n))
            self.hooks += [enter, module.register_forward_hook(self.leave)]

    def leave(self, *_: Any) -> None:
        self.inside.pop()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func in RELU:
            name = self.inside[-1] or "head"
            while name in self.activity:  # a module may call it more than once
                name += "+"
            self.activity[name] = out.detach().abs().reshape(-1, out.shape[-1]).mean(0)
        return out

    def __exit__(self, *exception):
        for hook in self.hooks:
            hook.remove()
        return super().__exit__(*exception)


@torch.no_grad()
def dormant(network: nn.Module, forward: Callable[[], Any], threshold: float) -> dict[str, Any]:
    """Share of dormant neurons (ReDo, Sokar et al. 2023) while `forward` runs the network once.

    A neuron is dormant if its mean activity is at most `threshold` times its layer's mean. The
    paper's text compares with the layer's maximum instead: `overall_by_max`.
    """
    with WatchRelu(network) as watch:
        forward()

    def count(activity: Tensor, scale: Tensor) -> int:
        return int((activity <= threshold * scale).sum())

    layers = {name: (count(a, a.mean()), count(a, a.max())) for name, a in watch.activity.items()}
    sizes = {name: len(activity) for name, activity in watch.activity.items()}
    total = max(sum(sizes.values()), 1)
    return {
        "threshold": threshold,
        "layers": {name: layers[name][0] / sizes[name] for name in layers},
        "neurons": sizes,
        "overall": sum(by_mean for by_mean, _ in layers.values()) / total,
        "overall_by_max": sum(by_max for _, by_max in layers.values()) / total,
    }


def embeddings(
    vectors: np.ndarray, labels: Sequence[str], families: Sequence[str], projector: Path
) -> dict[str, Any]:
    """Pooled vectors [N, H] as pictures in two dimensions and as a TensorBoard projector."""
    from torch.utils.tensorboard import SummaryWriter  # slow to import

    with SummaryWriter(str(projector)) as writer:
        rows = [[family, label] for family, label in zip(families, labels)]
        writer.add_embedding(
            torch.from_numpy(vectors), rows, metadata_header=["family", "equation"]
        )
    flat, explained = pca(vectors)
    return {
        "families": list(families),
        "labels": list(labels),
        "pca": flat.round(4).tolist(),
        "tsne": tsne(vectors).round(4).tolist(),
        "explained": explained.round(4).tolist(),
    }
