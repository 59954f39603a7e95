"""Speed, measured against plain references in one run; ratios are printed as "47.1x".

python -m abel.bench env     # the environment against an uncached SymPy environment
python -m abel.bench train   # a short training, by parts; TreeMLP against the padded listing
python -m abel.bench train --against REF    # the same training from another commit, and the ratio
python -m abel.bench env --against REF      # random play from another commit, and the ratio
python -m abel.bench soak    # a million random steps (--soak-steps): rate, slowest step, memory
python -m abel.bench audit   # 20,000 cases (--cases) whose truth is known, against the verifier
python -m abel.bench verdicts  # every root that runs/results has, proved again
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path
from typing import Any

from abel.bench.against import play_against, train_against
from abel.bench.criterion import bench_audit, bench_verdicts
from abel.bench.environment import bench_env, bench_soak
from abel.bench.plain import MAX_STEPS
from abel.bench.training import bench_train
from abel.datasets import DatasetError
from abel.learner.records import RunError, provenance, write_json


def bench_against(args: argparse.Namespace) -> int:
    """Another commit and this one, alternating."""
    origin = provenance(sys.argv[1:], [])
    if args.what == "train":
        flags = ["--dataset", args.dataset, "--preset", args.preset, "--seed", str(args.seed or 1)]
        found = train_against(args.against, flags, args.train_steps, args.turns)
        differ = len(found["differing_scalars"])
        print(f"scalars: {differ} tags differ" if differ else "scalars: all equal, bit for bit")
    else:
        config: dict[str, Any] = {"substitutions": "general"} if args.preset == "general" else {}
        config["max_steps"] = MAX_STEPS
        found = play_against(args.against, args.dataset, config, args.steps, args.turns)
    rates = found["steps_per_cpu_second"]
    print(f"{rates['here']} steps per second of CPU here, {rates['there']} there:"
          f" {found['ratio']:.2f}x")  # fmt: skip
    if args.json:
        write_json(Path(args.json), {**origin, **found})
    return 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.bench", description=__doc__.splitlines()[0]
    )
    parser.add_argument("what", choices=["env", "train", "soak", "audit", "verdicts"])
    parser.add_argument("--dataset", default="open_small", help="equations to play on")
    parser.add_argument("--seeds", type=int, default=5, help="independent repetitions")
    parser.add_argument("--steps", type=int, default=4000, help="steps of ours a seed")
    parser.add_argument(
        "--plain-steps", type=int, default=120, help="steps of the reference a seed"
    )
    parser.add_argument("--train-steps", type=int, default=100_000, help="steps of the training")
    parser.add_argument("--soak-steps", type=int, default=1_000_000, help="steps of the soak")
    parser.add_argument("--again", type=int, default=0, help="times the soak repeats each round")
    parser.add_argument("--cases", type=int, default=20_000, help="cases of the audit")
    parser.add_argument("--seed", type=int, default=0, help="of the audit's cases")
    parser.add_argument("--limit", type=float, default=10, help="seconds of CPU a verdict may take")
    parser.add_argument("--turns", type=int, default=4, help="times the two alternate a seed")
    parser.add_argument("--results", default="runs/results", help="folder of stored roots")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--against", metavar="REF", help="env, train: a commit to compare with")
    parser.add_argument("--preset", default="default", help="of the training with --against")
    args = parser.parse_args(argv)
    if min(args.seeds, args.steps, args.plain_steps, args.turns, args.train_steps) < 1:
        parser.error("--seeds, --steps, --plain-steps, --train-steps and --turns must be positive")
    if args.soak_steps < 10 or args.again < 0:
        parser.error("--soak-steps must be at least 10, --again at least 0")
    if args.against is not None and args.what not in ("env", "train"):
        parser.error("--against goes with env and train")
    if args.cases < 1 or args.limit <= 0:
        parser.error("--cases and --limit must be positive")
    try:
        commands = {
            "env": bench_env, "train": bench_train, "soak": bench_soak, "audit": bench_audit,
            "verdicts": bench_verdicts,
        }  # fmt: skip
        if args.against is not None:
            return bench_against(args)
        return commands[args.what](args) or 0
    except (DatasetError, RunError) as error:
        print(f"abel.bench: {error}", file=sys.stderr)
        return 2
    finally:
        gc.enable()
