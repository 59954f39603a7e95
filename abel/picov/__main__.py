"""The paper's pi_cov: a network that writes the change of variables for an equation.

python -m abel.picov --seed 1 --out runs/picov      # trains, tests on unseen equations
python -m abel.picov --eval --json out.json         # the bundled one against the CAS
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict

import torch
import tyro

from abel.datasets import DatasetError
from abel.learner.records import RunError, write_json
from abel.picov.exactness import heldout_results, measure
from abel.picov.supervise import Args, save, train


def main(args: Args, argv: Sequence[str]) -> None:
    torch.set_num_threads(1)
    for name, value in asdict(args).items():
        if isinstance(value, int) and "seed" not in name and value is not False and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {value}")
    if args.eval:
        results = measure(args)
    else:
        start = time.process_time()
        net = train(args)
        results = {"seed": args.seed, "cpu_seconds": round(time.process_time() - start, 1)}
        results |= heldout_results(net, args)
        save(net, args, argv, results)
    print(json.dumps(results, indent=1))
    if args.json is not None:
        write_json(args.json, results)


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; the exit code."""
    try:
        main(tyro.cli(Args, args=argv, description=__doc__, prog="python -m abel.picov"), argv)
    except (DatasetError, RunError, ValueError, OSError) as error:
        print(f"abel.picov: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
