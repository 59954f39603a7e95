"""`train`: where a short training spends its time, and the network by itself."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from abel.bench.plain import MAX_STEPS
from abel.datasets import load_dataset
from abel.encode import Observation
from abel.env import EnvConfig, SyncVectorEnv
from abel.learner.events import read_scalars
from abel.learner.records import provenance, write_json


def bench_train(args: argparse.Namespace) -> None:
    """Where a short training spends its time, and TreeMLP against the paper's padded listing."""
    import torch  # these sit above `abel`: only this command needs them

    import train_ppo
    from abel.paper.padded import PaddedTreeMLP, pad

    with tempfile.TemporaryDirectory() as out:
        flags = ["--dataset", args.dataset, "--total-timesteps", str(args.train_steps)]
        start = time.perf_counter()
        run = train_ppo.main(train_ppo.parse_args([*flags, "--out", out]), flags)
        seconds = time.perf_counter() - start
        times = read_scalars(run, "time/")
        parts = {name: float(times[name][1].sum()) for name in ("env", "network", "update")}
    rate = args.train_steps / seconds
    shares = {name: part / seconds for name, part in parts.items()}
    shares["rest"] = 1 - sum(shares.values())
    print(f"end to end {rate:.0f} steps/s: "
          + ", ".join(f"{name} {share:.0%}" for name, share in shares.items()))  # fmt: skip

    problems = load_dataset(args.dataset, "train")
    envs = SyncVectorEnv(64, problems, EnvConfig(max_steps=MAX_STEPS))
    states, _ = envs.reset(seed=0)
    rng = random.Random(0)
    seen: list[Observation] = []
    while len(seen) < 2048:
        seen += states
        states = envs.step([rng.randrange(len(state.actions)) for state in states])[0]
    encoder = train_ppo.paper_encoder(train_ppo.PRESETS["ppo-tree"]["net"])
    padded = PaddedTreeMLP(encoder)
    ratios = {}
    for size in (64, 1024):
        batches = [rng.sample(seen, size) for _ in range(args.turns * 1024 // size)]
        inputs = [pad(batch) for batch in batches]  # the listing's users store them padded
        spent = {"packed": 0.0, "padded": 0.0}
        for batch, columns in zip(batches, inputs):
            for name in spent:
                start = time.perf_counter()
                if name == "padded":
                    vectors = padded(*columns)
                else:
                    distinct = list({id(state): state for state in batch}.values())
                    vectors = encoder(train_ppo.collate(distinct, share=True))[1]
                vectors.sum().backward()
                spent[name] += time.perf_counter() - start
        ratios[size] = spent["padded"] / spent["packed"]
        print(f"TreeMLP, minibatch {size}: packed against padded {ratios[size]:.1f}x")
    if args.json:
        results = {
            **provenance(sys.argv[1:], []), "steps": args.train_steps,
            "seconds": round(seconds, 1), "steps_per_second": round(rate),
            "shares": {name: round(share, 3) for name, share in shares.items()},
            "packed_against_padded": {str(k): round(v, 1) for k, v in ratios.items()},
            "threads": torch.get_num_threads(),
        }  # fmt: skip
        write_json(Path(args.json), results)
