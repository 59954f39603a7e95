"""`--against REF`: another commit of the project and this one, alternating on one machine.

Both sides run from work trees of their own, so that what is not committed does not count. What is
compared is CPU time of one process: other load on the machine moves both sides alike.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from abel.home import clone
from abel.learner.events import read_scalars
from abel.learner.records import RunError

# Public names alone, so that it runs in every version: random legal actions, every state new.
PLAY = """
import json, random, sys, time
import abel
dataset, steps, config = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
problems = abel.load_dataset(dataset, "train")
env, rng, times = abel.Env(problems, abel.EnvConfig(**config)), random.Random(0), []
observation, _ = env.reset(seed=0)
for _ in range(steps):
    start = time.process_time()
    observation, _, terminated, truncated, _ = env.step(rng.randrange(len(observation.actions)))
    while env.ended:
        observation, _ = env.reset()
    times.append(time.process_time() - start)
times.sort()
print(json.dumps([sum(times), times[int(0.999 * steps)], times[-1]]))
"""
UNTIMED = ("time/", "charts/SPS")


@contextmanager
def work_trees(ref: str) -> Iterator[dict[str, Path]]:
    """Clean work trees of another commit and of the current one."""
    root = clone()
    if root is None:
        raise RunError("--against needs a clone of the project, with its history")
    with tempfile.TemporaryDirectory() as folder:
        trees = {"there": Path(folder) / "there", "here": Path(folder) / "here"}
        try:
            for tree, commit in zip(trees.values(), (ref, "HEAD")):
                git(root, "worktree", "add", "--detach", str(tree), commit)
            yield trees
        finally:
            for tree in trees.values():
                git(root, "worktree", "remove", "--force", str(tree), check=False)


def git(root: Path, *words: str, check: bool = True) -> None:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    if check and done.returncode:
        raise RunError(f"git {' '.join(words[:2])}: {done.stderr.strip().splitlines()[-1]}")


def run_in(tree: Path, *words: str) -> tuple[float, str]:
    """CPU seconds of a Python process in a work tree, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words], cwd=tree, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tree)},
    )  # fmt: skip
    if done.returncode:
        raise RunError(f"{' '.join(words[:1])} failed in {tree.name}: {done.stderr.strip()[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def train_against(ref: str, flags: Sequence[str], steps: int, turns: int) -> dict[str, Any]:
    """The same training from both commits, `turns` times in turn: seconds, ratio, equal scalars."""
    seconds: dict[str, list[float]] = {"there": [], "here": []}
    scalars: dict[str, dict[str, Any]] = {}
    with work_trees(ref) as trees:
        for turn in range(turns):
            for side, tree in trees.items():
                out = tree.parent / f"{side}{turn}"
                words = ["train_ppo.py", *flags, "--total-timesteps", str(steps), "--out", str(out)]
                spent, _ = run_in(tree, *words)
                seconds[side].append(round(spent, 1))
                print(f"turn {turn + 1}, {side}: {spent:.1f} s of CPU", flush=True)
                (run,) = out.iterdir()
                scalars[side] = read_scalars(run, "")
    return {
        "against": ref, "flags": list(flags), "steps": steps, "cpu_seconds": seconds,
        "steps_per_cpu_second": {side: round(steps / median(s)) for side, s in seconds.items()},
        "ratio": round(median(seconds["there"]) / median(seconds["here"]), 3),
        "differing_scalars": differing(scalars["there"], scalars["here"]),
    }  # fmt: skip


def differing(there: dict[str, Any], here: dict[str, Any]) -> list[str]:
    """Tags whose values are not equal to the last bit; timings are left out."""
    tags = [tag for tag in sorted(there.keys() | here.keys()) if not tag.startswith(UNTIMED)]
    return [tag for tag in tags if not same(there.get(tag), here.get(tag))]


def same(first: Any, second: Any) -> bool:
    if first is None or second is None or len(first[0]) != len(second[0]):
        return False
    return bool((first[0] == second[0]).all() and (first[1] == second[1]).all())


def play_against(
    ref: str, dataset: str, config: dict[str, Any], steps: int, turns: int
) -> dict[str, Any]:
    """Random play from both commits, in turn: rates, and the slowest steps."""
    rows: dict[str, list[list[float]]] = {"there": [], "here": []}
    with work_trees(ref) as trees:
        for turn in range(turns):
            for side, tree in trees.items():
                said = run_in(tree, "-c", PLAY, dataset, str(steps), json.dumps(config))[1]
                rows[side].append(json.loads(said))
                print(f"turn {turn + 1}, {side}: {steps / rows[side][-1][0]:.0f} steps/s of CPU",
                      flush=True)  # fmt: skip
    rates = {side: round(steps / median(row[0] for row in found)) for side, found in rows.items()}
    return {
        "against": ref, "dataset": dataset, "config": config, "steps": steps,
        "steps_per_cpu_second": rates, "ratio": round(rates["here"] / rates["there"], 3),
        "p99.9_ms": {s: round(1000 * median(r[1] for r in f), 2) for s, f in rows.items()},
        "max_ms": {s: round(1000 * max(r[2] for r in f), 1) for s, f in rows.items()},
    }  # fmt: skip
