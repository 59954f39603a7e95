"""Where the paper's criterion counts: an agent trained under its check, its claims proved by ours.

    python -m abel.paper.criterion --check published --flags "--dataset open_small --preset c7" \
        --seeds 1 2 3 --json runs/results/FILE.json

`--check published` ends an episode where the paper's check accepts x = r, and lets divisions take
roots away, as its author's code does. `--check ours` changes nothing, but notes what the paper's
check says of each x = r on the way. Both count claims, which are what that check accepts, and how
many of them `verify_root` proves in the original equation. The flags are those of `train_ppo.py`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from abel.datasets import DatasetError, Problem, load_dataset
from abel.encode import Observation
from abel.env import EnvConfig, SyncVectorEnv
from abel.learner.records import RunError, provenance, write_json
from abel.paper.check import CHECKS, CheckName, Judged, paper_cache
from abel.search import Solution, beam

BINS = 20  # of a training, in which claims are counted
WIDTH = 10  # of the beam


class PaperEnvs(SyncVectorEnv):
    """Environments that judge as `paper_cache` does; `heard` is told the step and the equation of
    each x = r, with what was found of it.
    """

    def __init__(
        self, check: CheckName, heard: Callable[[int, int, Judged], None], *args: Any, **rest: Any
    ) -> None:
        super().__init__(*args, **rest)
        self.cache = paper_cache(self.envs[0].config, check)
        for env in self.envs:
            env.cache = self.cache
        self.heard, self.num_steps = heard, 0
        self.index: dict[int, int] = {}  # of an environment's equation

    def begin(self, env: Any, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        observation, info = super().begin(env, seed)
        self.index[id(env)] = info["index"]
        return observation, info

    def step(self, actions: Sequence[int]):
        solving = [self.index[id(env)] for env in self.envs]
        self.num_steps += len(actions)
        found = super().step(actions)
        for index, info in zip(solving, found[-1]):
            if isinstance(judged := info.get("verdict"), Judged):
                self.heard(self.num_steps, index, judged)
        return found


class Claims:
    """What the paper's check accepts, and how much of it is proved: in all, by family, by time."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str, bool]] = []  # step, family, proved
        self.examples: dict[str, dict[str, str]] = {}  # of each family the first that is no root

    def add(self, step: int, problem: Problem, judged: Judged) -> None:
        if judged.accepted:
            self.found.append((step, problem.family, judged.proved))
            if not judged.proved:
                example = {"equation": problem.text, "claimed": judged.root}
                self.examples.setdefault(problem.family, example)

    def to_data(self, steps: int = 0) -> dict[str, Any]:
        """Claims and roots; over `steps` of training, if there are any, in bins."""
        claims = Counter(family for _, family, _ in self.found)
        roots = Counter(family for _, family, proved in self.found if proved)
        data: dict[str, Any] = {
            "claims": len(self.found), "roots": sum(roots.values()),
            "by_family": {name: [claims[name], roots[name]] for name in sorted(claims)},
            "no_roots": self.examples,
        }  # fmt: skip
        if steps:
            edges = [round(steps * (k + 1) / BINS) for k in range(BINS)]
            over = [[edge, 0, 0] for edge in edges]
            for step, _, proved in self.found:
                row = over[min((step - 1) * BINS // steps, BINS - 1)]
                row[1], row[2] = row[1] + 1, row[2] + proved
            data["over_steps"] = over
        return data


def claims_of(solutions: Sequence[Solution], problems: Sequence[Problem]) -> dict[str, Any]:
    """What decoding claims to have solved."""
    claims = Claims()
    for solution, problem in zip(solutions, problems):
        if isinstance(solution.verdict, Judged):
            claims.add(0, problem, solution.verdict)
    return {"n": len(problems), **claims.to_data()}


def measure(check: CheckName, flags: Sequence[str]) -> dict[str, Any]:
    """Train and decode the test equations, all under one check; what it claims."""
    import train_ppo  # the learner is the script's

    claims, before = Claims(), time.process_time()
    with tempfile.TemporaryDirectory() as out:
        args = train_ppo.parse_args([*flags, "--out", out])
        asked = load_dataset(args.dataset, "train")
        paper_cache(args.env, check)  # refuses what it is not about, before anything takes time

        def heard(step: int, index: int, judged: Judged) -> None:
            claims.add(step, asked[index], judged)

        run = train_ppo.main(args, flags, partial(PaperEnvs, check, heard))
        # Not the best by validation, which passes over steps that change nothing.
        agent = train_ppo.load_agent(run / "last.pt")[0]
    problems = load_dataset(args.dataset, "test")
    policy = train_ppo.as_policy(agent)
    return {
        "steps": args.total_timesteps, "training": claims.to_data(args.total_timesteps),
        "test": {name: claims_of(decode(policy, problems, args.env, check, width), problems)
                 for name, width in (("greedy", 1), ("beam", WIDTH))},
        "cpu_seconds": round(time.process_time() - before),
    }  # fmt: skip


def decode(
    policy: Any, problems: Sequence[Problem], config: EnvConfig, check: CheckName, width: int
) -> list[Solution]:
    """Steps that change nothing are taken, as in the paper: a relabeling of x = 0 is one."""
    cache = paper_cache(config, check)
    flags: dict[str, Any] = {"width": width, "value_coef": 0, "complexity_coef": 0}
    return beam(policy, problems, config, cache, **flags, loops=check == "published")


def line(name: str, row: dict[str, Any]) -> str:
    of = f" of {row['n']}" if "n" in row else ""
    false = row["claims"] - row["roots"]
    return f"{name}: {row['claims']}{of} claimed, {row['roots']} roots, {false} not"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.paper.criterion", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--check", choices=CHECKS, required=True, help="which one decides")
    parser.add_argument("--flags", default="", help="of train_ppo.py, without --seed and --out")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--json", type=Path, help="also write the counts to this file")
    args = parser.parse_args(argv)
    told, seeds = shlex.split(args.flags), {}
    origin = provenance(sys.argv[1:] if argv is None else argv, [])
    try:
        for seed in args.seeds:
            found = seeds[str(seed)] = measure(args.check, [*told, "--seed", str(seed)])
            print(line(f"seed {seed}, training", found["training"]))
            for name, row in found["test"].items():
                print(line(f"seed {seed}, test, {name}", row))
            if args.json:
                about = {"check": args.check, "flags": args.flags, "seeds": seeds}
                write_json(args.json, {**origin, **about})
    except (RunError, DatasetError, ValueError, OSError) as error:
        print(f"abel.paper.criterion: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
