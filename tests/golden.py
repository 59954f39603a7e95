"""Scalars of a few iterations, pinned: `python -m tests.golden` writes tests/golden.json anew.

Do that only for a change that is meant to move a learning curve, or for another row in the table
of operations, and say so in the commit.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import train_ppo
from abel.learner.events import read_scalars

FILE = Path(__file__).with_name("golden.json")
TINY = "--seed 3 --hidden 16 --embed 16 --eval-problems 5 --eval-period 128"
SMALL = f"--dataset abel_level1+abel_level2 {TINY} --num-envs 8 --num-steps 16 --minibatch-size 64"
RUNS = {
    "default": f"{SMALL} --max-steps 6 --epsilon-start 2 --replay-ramp 5 --total-timesteps 1024",
    "general": f"--preset general {SMALL} --max-steps 5 --search-period 1 --total-timesteps 640",
    "c7": f"--preset c7 --dataset abel_level1 {TINY} --num-envs 1 --num-steps 64 --num-epochs 3"
    " --minibatch-size 32 --total-timesteps 256",
}


def scalars(name: str) -> dict[str, list[float]]:
    """All that a short run logs but for times, by tag."""
    flags = RUNS[name].split()
    with tempfile.TemporaryDirectory() as out:
        run = train_ppo.main(train_ppo.parse_args([*flags, "--out", out]), flags)
        found = read_scalars(run, "")
    timed = ("time/", "charts/SPS")
    return {tag: found[tag][1].tolist() for tag in sorted(found) if not tag.startswith(timed)}


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: scalars(name) for name in RUNS}, indent=1) + "\n")
