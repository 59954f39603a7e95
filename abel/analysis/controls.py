"""What a search without a policy finds with as many transitions as a training had.

    python -m abel.analysis.controls runs/<run> --seeds 1 2 3 --json runs/results/FILE.json

Takes from the run its training equations, its actions and its number of steps. A seed draws some
equations of each family and A* works on one after the other, families in turn. All share the
transitions: what an equation leaves over goes to those after it. The results read like a cohort's
with the report `derivations`, so that `abel.analysis.derivations` has a table and a figure of both.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from abel.analysis.derivations import derivations, markdown, over_seeds
from abel.datasets import DatasetError, Problem, load_dataset
from abel.env import EnvConfig
from abel.learner.config import config_from_dict
from abel.learner.progress import Progress
from abel.learner.records import RunError, provenance, write_json
from abel.search import Solution, search

CELL, WEIGHT = "A*", 1.0  # steps that a node or an edge counts for in the search's guess


def in_turn(problems: Sequence[Problem], per_family: int, seed: int) -> list[Problem]:
    """Equations of each family, drawn by the seed: the first of every family, then the seconds."""
    rng = random.Random(seed)
    families: dict[str, list[Problem]] = {}
    for problem in problems:
        families.setdefault(problem.family, []).append(problem)
    drawn = [rng.sample(own, min(per_family, len(own))) for _, own in sorted(families.items())]
    return [problem for row in zip_longest(*drawn) for problem in row if problem is not None]


def share(left: int, equations_left: int) -> int:
    """Transitions for the next equation, of those that are left for it and the rest."""
    return -(-left // equations_left)


def found_by_search(
    problems: Sequence[Problem], config: EnvConfig, transitions: int, progress: Progress
) -> dict[str, Any]:
    """The report `derivations` of searches for all problems, with a step for each transition."""
    solutions: list[tuple[Solution, str]] = []
    first: dict[str, int] = {}
    spent = 0
    for done, problem in enumerate(problems):
        most = share(transitions - spent, len(problems) - done)
        cache = config.new_cache()  # so that none profits from another's
        found = search(
            problem, config, cache, budget=most, weight=WEIGHT, max_transitions=most
        )  # fmt: skip
        spent += found.transitions
        solutions.append((found, problem.family))
        if found.solved:
            first.setdefault(problem.family, spent)
        progress.show(f"{done + 1} of {len(problems)} equations, {spent:,} transitions")
    events = {family: (np.array([step]), np.ones(1)) for family, step in first.items()}
    return {**derivations(solutions, events), "transitions": spent}


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.analysis.controls", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("run", type=Path, help="directory of the training")
    parser.add_argument("--transitions", type=int, help="in all, for a seed; the run's by default")
    parser.add_argument("--per-family", type=int, default=1, help="equations of each family")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="which equations")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    args = parser.parse_args(argv)
    progress = Progress()
    try:
        if args.per_family < 1 or (args.transitions is not None and args.transitions < 1):
            raise ValueError("--per-family and --transitions must be at least 1")
        trained = json.loads((args.run / "args.json").read_text(encoding="utf-8"))
        config, dataset = config_from_dict(EnvConfig, trained["env"]), trained["dataset"]
        transitions = args.transitions or trained["total_timesteps"]
        problems = load_dataset(dataset, "train")
        told = {"dataset": dataset, "transitions": transitions, "per_family": args.per_family}
        origin = provenance(argv, [problem.text for problem in problems])
        seeds: dict[str, Any] = {}
        for seed in args.seeds:
            before, some = time.process_time(), in_turn(problems, args.per_family, seed)
            found = found_by_search(some, config, transitions, progress)
            spent = round(time.process_time() - before)
            seeds[str(seed)] = {"cpu_seconds": spent, "reports": {"derivations": found}}
            if args.json:
                write_json(args.json, {**origin, **told, "cells": {CELL: {"seeds": seeds}}})
    except (OSError, ValueError, LookupError, TypeError, RunError, DatasetError) as error:
        print(f"abel.analysis.controls: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    reports = [row["reports"]["derivations"] for row in seeds.values()]
    print(markdown(over_seeds(reports)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
