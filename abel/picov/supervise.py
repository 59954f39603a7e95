"""The generator trained by supervision: it clones the answers of the CAS detector."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from abel.datasets import load_dataset
from abel.learner.records import provenance, save_checkpoint, write_json
from abel.picov.grammar import training_pool
from abel.picov.network import FORMAT, PiCov, cloning_loss

CLOSED = ("small", "large", "poesia")  # their training parts teach where nothing helps


@dataclass(frozen=True)
class Args:
    """Train the generator, or with --eval test it."""

    seed: int = 1
    """seed of initial weights, batches and samples"""
    out: Path | None = None
    """directory of the weights; default: runs/picov_SEED in training, runs/picov with --eval"""
    eval: bool = False
    """test the generator in --out against the CAS detector instead of training"""
    json: Path | None = None
    """file for the results"""
    pool_seed: int = 0
    """seed of the equations to learn from"""
    pool_size: int = 24_000
    """equations drawn to learn from; the network sees far fewer different ones"""
    steps: int = 2500
    """gradient steps"""
    batch_size: int = 64
    """equations in a gradient step"""
    learning_rate: float = 2e-3
    """step size of Adam at the start; falls linearly to a twentieth"""
    hidden: int = 64
    """width of the network"""
    rounds: int = 4
    """rounds of message passing"""
    heldout: int = 1200
    """unseen equations to test on"""


def train(args: Args) -> PiCov:
    """Clone the CAS detector's answers."""
    counts = training_pool(args.pool_seed, args.pool_size, CLOSED)
    # Between all views alike and as often as they occur: rare ones must be learned too.
    examples, weights = list(counts), np.cumsum([n**0.5 for n in counts.values()])
    print(f"{args.pool_size} equations, {len(examples)} different to the network", flush=True)
    torch.manual_seed(args.seed)
    net, rng, losses = PiCov(args.hidden, args.rounds), random.Random(args.seed), []
    optimizer = torch.optim.Adam(net.parameters(), lr=args.learning_rate)
    for step in range(args.steps):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - 0.95 * step / args.steps)
        loss = cloning_loss(net, rng.choices(examples, cum_weights=weights.tolist(),
                                             k=args.batch_size))  # fmt: skip
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        if (step + 1) % 500 == 0:
            print(f"step {step + 1:>6}  loss {np.mean(losses[-500:]):.4f}", flush=True)
    return net.eval()


def save(net: PiCov, args: Args, argv: Sequence[str], results: dict) -> None:
    folder = args.out or Path(f"runs/picov_{args.seed}")
    folder.mkdir(parents=True, exist_ok=True)
    stored = {
        "format": FORMAT, "hidden": args.hidden, "rounds": args.rounds, "weights": net.state_dict(),
    }  # fmt: skip
    save_checkpoint(folder / "weights.pt", stored)
    settings = asdict(args)
    del settings["out"], settings["json"]  # where it was written is no part of what it is
    write_json(folder / "args.json", settings)
    texts = [p.text for name in CLOSED for p in load_dataset(name, "train")]
    write_json(folder / "provenance.json", provenance(argv, texts) | {"results": results})
