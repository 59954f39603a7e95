"""A table of runs from one file: every cell is trained with every seed, evaluated and collected.

    python -m abel.cohort runs/cohorts/open_small.toml               # as many processes as cores
    python -m abel.cohort FILE.toml --keep                           # add seeds to its table
    python -m abel.cohort FILE.toml --engine ray --address auto      # on a Ray cluster

A cohort file names its cells by the flags that they give to `train_ppo.py`:

    about = "one line on what the table shows"
    seeds = [1, 2, 3]
    flags = "--dataset open_small"         # for every cell
    splits = ["test"]                      # evaluated with the best checkpoint by validation
    decoders = ["greedy"]
    evaluate = ""                          # more flags for evaluate.py, such as --dataset
    reports = []                           # of evaluate.py, on the first split

    [cells]
    default = ""
    "no replay" = "--replay none"

    [paper]                                # what the paper says of a cell, if anything
    default = "0.67"

Finished seeds are skipped, interrupted ones go on from their last checkpoint, and one that fails is
reported at the end. `--keep` needs no folder of runs: it goes by the results file. Results: one
JSON file beside a Markdown table. With Ray, every machine needs this project and `--out` at the
same path.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from abel.cohort.cells import in_results, jobs_of, run_local, run_ray, stored
from abel.cohort.file import read_cohort
from abel.cohort.table import collect, markdown
from abel.learner.progress import Progress
from abel.learner.records import hold, provenance, write_atomically, write_json


@dataclass(frozen=True)
class CohortArgs:
    """Train, evaluate and collect every cell of a cohort file."""

    file: tyro.conf.Positional[str]
    """the cohort file, in TOML"""
    out: str = "runs/cohorts"
    """directory of the cells' runs"""
    results: str = "runs/results"
    """directory for the table"""
    keep: bool = False
    """keep the seeds of the table that is there, where they were trained by the same command"""
    jobs: int = os.cpu_count() or 1
    """cells trained side by side by the local engine"""
    engine: Literal["local", "ray"] = "local"
    """processes on this machine, or tasks of a Ray cluster"""
    address: str | None = None
    """address of the Ray cluster; none starts one here"""

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ValueError("--jobs must be at least 1")


def main(argv: list[str] | None = None) -> int:
    progress = Progress()
    try:
        args = tyro.cli(CohortArgs, args=argv, prog="python -m abel.cohort")
        path = Path(args.file)
        cohort = read_cohort(path)
        directory = Path(args.out).resolve() / path.stem
        jobs = jobs_of(cohort, directory)
        directory.mkdir(parents=True, exist_ok=True)
        lock = hold(directory)
        former = Path(args.results) / f"{path.stem}.json"
        results = in_results(jobs, stored(former)) if args.keep and former.exists() else {}
        left = [job for job in jobs if (job.cell, job.seed) not in results]
        stream = run_ray(left, args.address) if args.engine == "ray" else run_local(left, args.jobs)
        table = {**provenance(argv or sys.argv[1:], []), **collect(cohort, results)}
        progress.show(f"{len(results)} of {len(jobs)} done")
        for job, result in stream:
            results[job.cell, job.seed] = result
            failed = f"failed: {result.get('error')} (log in {job.directory})"
            progress.say(f"{job.cell}, seed {job.seed}: {failed if 'error' in result else 'done'}")
            progress.show(f"{len(results)} of {len(jobs)} done")
            table = {**provenance(argv or sys.argv[1:], []), **collect(cohort, results)}
            Path(args.results).mkdir(parents=True, exist_ok=True)
            write_json(former, table)
        text = markdown(cohort, table).encode()
        write_atomically(Path(args.results) / f"{path.stem}.md", lambda file: file.write(text))
        lock.close()
    except (ValueError, OSError) as error:
        print(f"abel.cohort: {error}", file=sys.stderr)
        return 2
    progress.say(text.decode())
    return 1 if any("error" in result for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
