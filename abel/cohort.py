"""A table of runs from one file: every cell is trained with every seed, evaluated and collected.

    python -m abel.cohort runs/cohorts/open_small.toml               # as many processes as cores
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
reported at the end. Results: one JSON file beside a Markdown table. With Ray, every machine needs
this project and `--out` at the same path.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import tyro

from abel.learner.progress import Progress
from abel.learner.records import RunError, hold, provenance, write_atomically, write_json
from abel.report.learning import read_scalars
from abel.stats import bootstrap_iqm, escape_rate, iqm, wilson

PROJECT = Path(__file__).resolve().parent.parent
LEVELS = (0.67, 0.79, 0.95, 0.99)  # of greedy validation accuracy: when was each first reached
GIVEN_TO_TRAINING = {"--seed", "--out", "--resume"}  # not for the file to say
GIVEN_TO_EVALUATE = {
    "--run", "--split", "--decoder", "--json", "--report", "--out", "--bundle", "--equation",
    "--equations",
}  # fmt: skip


class CohortError(ValueError):
    """A cohort file that cannot be used: where, and why."""


@dataclass(frozen=True)
class CohortArgs:
    """Train, evaluate and collect every cell of a cohort file."""

    file: tyro.conf.Positional[str]
    """the cohort file, in TOML"""
    out: str = "runs/cohorts"
    """directory of the cells' runs"""
    results: str = "runs/results"
    """directory for the table"""
    jobs: int = os.cpu_count() or 1
    """cells trained side by side by the local engine"""
    engine: Literal["local", "ray"] = "local"
    """processes on this machine, or tasks of a Ray cluster"""
    address: str | None = None
    """address of the Ray cluster; none starts one here"""

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ValueError("--jobs must be at least 1")


class Cohort(NamedTuple):
    about: str
    seeds: list[int]
    flags: str
    splits: list[str]
    decoders: list[str]
    evaluate: str
    reports: list[str]
    cells: dict[str, str]
    paper: dict[str, str]


class Job(NamedTuple):
    """One cell with one seed, in a directory of its own."""

    cell: str
    seed: int
    flags: list[str]
    splits: list[str]
    decoders: list[str]
    evaluate: list[str]
    reports: list[str]
    directory: str


def read_cohort(path: Path) -> Cohort:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CohortError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # of TOML, UTF-8 or a number of 5000 digits
        raise CohortError(f"'{path}' is not TOML: {error}") from None
    unknown = sorted(set(data) - set(Cohort._fields))
    if unknown:
        known = ", ".join(Cohort._fields)
        raise CohortError(f"'{path}' has unknown entries {', '.join(unknown)}; known: {known}")
    cohort = Cohort(
        data.get("about", ""), data.get("seeds", [1]), data.get("flags", ""),
        data.get("splits", ["test"]), data.get("decoders", ["greedy"]), data.get("evaluate", ""),
        data.get("reports", []), data.get("cells", {}), data.get("paper", {}),
    )  # fmt: skip
    for name, fits, right in (
        ("seeds", lambda v: type(v) is int and v >= 0, "a list of different whole numbers"),
        ("splits", is_word, "a list of different names"),
        ("decoders", is_word, "a list of different names"),
        ("reports", is_word, "a list of different names"),
    ):
        values = getattr(cohort, name)
        empty = not values and name != "reports"
        if (not isinstance(values, list) or empty or not all(map(fits, values))
                or len(set(values)) < len(values)):  # fmt: skip
            raise CohortError(f"'{path}': {name} must be {right}, got {values!r:.100}")
    for name in ("about", "flags", "evaluate"):
        if type(getattr(cohort, name)) is not str:
            raise CohortError(f"'{path}': {name} must be text")
    cells = cohort.cells
    if not isinstance(cells, dict) or not cells or any(type(f) is not str for f in cells.values()):
        raise CohortError(f"'{path}': [cells] must map names to flags of train_ppo.py")
    paper = cohort.paper
    if not isinstance(paper, dict) or any(type(said) is not str for said in paper.values()):
        raise CohortError(f"'{path}': [paper] must map cells to texts")
    if strangers := sorted(set(paper) - set(cells)):
        raise CohortError(f"'{path}': [paper] names no cell by {', '.join(strangers)}")
    check_flags(path, "evaluate", cohort.evaluate, GIVEN_TO_EVALUATE)
    places: dict[str, str] = {}
    for cell, flags in cells.items():
        place = folder_name(cell)
        if not cell.isprintable() or len(cell) > 100 or place.startswith(".") or not place:
            raise CohortError(
                f"'{path}': cell {cell[:100]!r} must be a name that a folder can have"
            )
        if other := places.get(place):
            raise CohortError(f"'{path}': cells {other!r} and {cell!r} would share a folder")
        places[place] = cell
        check_flags(path, cell, f"{cohort.flags} {flags}", GIVEN_TO_TRAINING)
    return cohort


def check_flags(path: Path, whose: str, flags: str, given: set[str]) -> None:
    """Refuse flags that cannot be read, or that the cohort itself gives."""
    try:
        words = shlex.split(flags)
    except ValueError as error:
        raise CohortError(f"'{path}': the flags of {whose!r}: {error}") from None
    names = {word.split("=")[0].replace("_", "-") for word in words}
    if taken := sorted(names & given):
        raise CohortError(f"'{path}': {', '.join(taken)} of {whose!r} is for the cohort to give")


def is_word(value: Any) -> bool:
    return type(value) is str and value.isalnum()


def folder_name(cell: str) -> str:
    """The directory of a cell, in that of the cohort."""
    return re.sub(r"[/\\ ]", "-", cell)


def jobs_of(cohort: Cohort, directory: Path) -> list[Job]:
    """Seeds in turn, so that every cell has its first seed before any has its second."""
    jobs = []
    for seed in cohort.seeds:
        for cell, flags in cohort.cells.items():
            words = [*shlex.split(cohort.flags), *shlex.split(flags), "--seed", str(seed)]
            place = directory / folder_name(cell) / str(seed)
            jobs.append(
                Job(cell, seed, words, cohort.splits, cohort.decoders,
                    shlex.split(cohort.evaluate), cohort.reports, str(place))
            )  # fmt: skip
    return jobs


def run_job(job: Job) -> dict[str, Any]:
    """Train and evaluate, or give what an earlier call left; `error` says what went wrong."""
    place = Path(job.directory)
    asked = {"flags": job.flags, "evaluate": job.evaluate}
    try:
        if (place / "asked.json").exists() and stored(place / "asked.json") != asked:
            shutil.rmtree(place)  # the cohort file has changed since
        place.mkdir(parents=True, exist_ok=True)
        write_json(place / "asked.json", asked)
        run = begun(place)
        if run is None or num_missing(run):
            begin = [*job.flags, "--out", str(place / "train")]
            call(place, "train_ppo.py", *(["--resume", str(run)] if run else begin))
            run = begun(place)
        if run is None:
            return {"error": "stopped before its first checkpoint"}
        if missing := num_missing(run):
            return {"error": f"interrupted {missing:,} steps before its end; start again to go on"}
        told = ["--run", str(run), *job.evaluate]
        scores: dict[str, Any] = {}
        for split in job.splits:
            for decoder in job.decoders:
                answers = place / f"{split}-{decoder}.json"
                if not answers.exists():
                    call(place, "evaluate.py", *told, "--split", split, "--decoder", decoder,
                         "--json", str(answers))  # fmt: skip
                found = stored(answers)
                row = {"n": found["n"], **found["decoders"][decoder]}
                scores.setdefault(split, {})[decoder] = row
        reports = {}
        for report in job.reports:
            answers = place / "reports" / f"{report}.json"
            if not answers.exists():
                call(place, "evaluate.py", *told, "--split", job.splits[0], "--report", report,
                     "--out", str(answers.parent))  # fmt: skip
            reports[report] = stored(answers)
        trained = stored(run / "provenance.json")
    except subprocess.CalledProcessError as failed:
        said = (place / "log.txt").read_text(errors="replace").strip().splitlines()
        return {"error": said[-1] if said else f"exit code {failed.returncode}"}
    except (CohortError, RunError, OSError) as error:  # this one fails, the others go on
        return {"error": str(error)}
    origin = {"command": f"python train_ppo.py {shlex.join(job.flags)}"}
    origin |= {name: trained[name] for name in ("commit", "dirty")}
    for data in reports.values():  # where and when it was made is told once
        for name in ("run", "provenance"):
            data.pop(name, None)
    return {**origin, **curve_of(run), "scores": scores, "reports": reports}


def stored(path: Path) -> dict[str, Any]:
    """What an earlier call wrote."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise CohortError(f"'{path}' is damaged: delete it, and this seed goes on from there")
    return data


def begun(place: Path) -> Path | None:
    """The run that was begun here, if it has come to a checkpoint."""
    checkpoints = sorted(place.glob("train/*/last.pt"))
    return checkpoints[-1].parent if checkpoints else None


def num_missing(run: Path) -> int:
    """Steps that the run's last checkpoint is short of what was asked."""
    asked = stored(run / "args.json")["total_timesteps"]
    return max(asked - curve_of(run)["steps"], 0)


def call(place: Path, *words: str) -> None:
    """Run a script of the project; what it says goes to the cell's log."""
    with open(place / "log.txt", "ab") as log:
        command = [sys.executable, *words]
        subprocess.run(command, cwd=PROJECT, stdout=log, stderr=log, check=True)


def curve_of(run: Path) -> dict[str, Any]:
    """Steps and CPU seconds of a run (a busy machine slows clocks, not work), its validation curve,
    and when it first reached each level.
    """
    scalars = read_scalars(run, "")
    seconds = dict(zip(*(column.tolist() for column in scalars["time/cpu"])))
    steps, values = scalars["eval/val_greedy"]
    curve = list(zip(steps.tolist(), values.round(4).tolist()))
    reached = {}
    for level in LEVELS:
        step = next((step for step, value in curve if value >= level), None)
        reached[str(level)] = None if step is None else [step, round(seconds[step] / 60, 1)]
    return {
        "steps": max(seconds), "cpu_seconds": round(seconds[max(seconds)]),
        "curve": curve, "steps_and_minutes_to": reached,
    }  # fmt: skip


def run_local(jobs: list[Job], num_jobs: int) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Results as they come; a thread a job waits for its processes."""
    with ThreadPoolExecutor(num_jobs) as pool:
        waiting = {pool.submit(run_job, job): job for job in jobs}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def run_ray(jobs: list[Job], address: str | None) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Results as they come, each job a task of one core."""
    try:
        import ray
    except ImportError:
        raise CohortError('--engine ray needs Ray: pip install -e ".[ray]"') from None
    ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    task = ray.remote(num_cpus=1)(run_job)
    waiting = {task.remote(job): job for job in jobs}
    while waiting:
        (done,), _ = ray.wait(list(waiting))
        job = waiting.pop(done)
        try:
            yield job, ray.get(done)
        except ray.exceptions.RayError as error:
            yield job, {"error": str(error).splitlines()[0]}
    ray.shutdown()


def summary(scores: list[tuple[int, int]]) -> dict[str, Any]:
    """What the seeds of a cell come to; `scores` are solved and asked of each."""
    rates = [solved / asked for solved, asked in scores]
    low, high = wilson(sum(solved for solved, _ in scores), sum(asked for _, asked in scores))
    return {
        "mean": sum(rates) / len(rates), "min": min(rates), "max": max(rates),
        "iqm": iqm(rates), "iqm_interval": bootstrap_iqm(rates, seed=0),
        "wilson": [low, high], "escaped": escape_rate(rates),
    }  # fmt: skip


def collect(cohort: Cohort, results: dict[tuple[str, int], dict[str, Any]]) -> dict[str, Any]:
    """All cells with their seeds side by side; what failed keeps its error."""
    cells: dict[str, Any] = {}
    for cell in cohort.cells:
        seeds = {s: results[cell, s] for s in cohort.seeds if (cell, s) in results}
        whole = {s: result for s, result in seeds.items() if "error" not in result}
        table = {}
        for split in cohort.splits if whole else ():
            for decoder in cohort.decoders:
                found = [result["scores"][split][decoder] for result in whole.values()]
                table[f"{split} {decoder}"] = summary([(f["solved"], f["n"]) for f in found])
        cells[cell] = {"summary": table, "seeds": {str(s): r for s, r in seeds.items()}}
    return {"about": cohort.about, "cells": cells}


def markdown(cohort: Cohort, table: dict[str, Any]) -> str:
    """The table as people read it: a row a cell, per-seed values first."""
    lines = [cohort.about, ""] if cohort.about else []
    beside = bool(cohort.paper)
    lines += [
        "| cell | split, decoder | per seed | mean | IQM | 95 % interval | CPU minutes |"
        + " paper |" * beside,
        "|---|---|---|---|---|---|---|" + "---|" * beside,
    ]
    for cell, entry in table["cells"].items():
        seeds = entry["seeds"].values()
        minutes = [f"{r['cpu_seconds'] / 60:.0f}" for r in seeds if "error" not in r]
        for name, total in entry["summary"].items():
            split, decoder = name.split()
            rates = [
                "failed" if "error" in r else f"{r['scores'][split][decoder]['accuracy']:.3f}"
                for r in seeds
            ]
            low, high = total["wilson"]
            said = f" {cohort.paper.get(cell, '')} |" * beside
            lines.append(
                f"| {cell} | {name} | {', '.join(rates)} | {total['mean']:.3f} | {total['iqm']:.3f}"
                f" | {low:.3f} - {high:.3f} | {', '.join(minutes)} |{said}"
            )
        if not entry["summary"]:
            lines.append(f"| {cell} | | failed | | | | |" + " |" * beside)
    kinds = breakdown(table, "by_family", "family") + breakdown(table, "by_type", "type")
    return "\n".join(lines + levels(table) + conditions(table) + kinds) + "\n"


def whole_seeds(entry: dict[str, Any]) -> list[dict[str, Any]]:
    return [result for result in entry["seeds"].values() if "error" not in result]


def levels(table: dict[str, Any]) -> list[str]:
    """When greedy validation accuracy first reached each level."""
    lines = ["", "Thousand steps (CPU minutes) to a greedy validation accuracy, per seed:", ""]
    lines += [
        "| cell |" + "".join(f" {level} |" for level in LEVELS),
        "|---|" + "---|" * len(LEVELS),
    ]
    for cell, entry in table["cells"].items():
        columns = []
        for level in LEVELS:
            reached = [seed["steps_and_minutes_to"][str(level)] for seed in whole_seeds(entry)]
            told = [f"{at[0] / 1000:.0f} ({at[1]:.1f})" if at else "-" for at in reached]
            columns.append(", ".join(told))
        lines.append(f"| {cell} | {' | '.join(columns)} |")
    return lines


def conditions(table: dict[str, Any]) -> list[str]:
    """Solved with a root that holds without a condition on the letters."""
    lines = []
    for cell, entry in table["cells"].items():
        for name in entry["summary"]:
            split, decoder = name.split()
            found = [seed["scores"][split][decoder] for seed in whole_seeds(entry)]
            if all("always" in each for each in found):  # results of earlier versions do not tell
                told = ", ".join(str(each["always"]) for each in found)
                lines.append(f"| {cell} | {name} | {told} of {found[0]['n']} |")
    head = ["", "Solved by a root that needs no condition, per seed:", ""]
    return [*head, "| cell | split, decoder | solved |", "|---|---|---|", *lines] if lines else []


def breakdown(table: dict[str, Any], key: str, kind: str) -> list[str]:
    """Solved of each family or structural type, a table for every split and decoder."""
    rows: dict[str, dict[str, list[dict[str, list[int]]]]] = {}
    for cell, entry in table["cells"].items():
        for name in entry["summary"]:
            split, decoder = name.split()
            scores = [seed["scores"][split][decoder] for seed in whole_seeds(entry)]
            rows.setdefault(name, {})[cell] = [score.get(key, {}) for score in scores]
    lines: list[str] = []
    for name, cells in rows.items():
        known = sorted({each for seeds in cells.values() for seed in seeds for each in seed})
        if len(known) < 2:
            continue
        lines += ["", f"Solved of each {kind}, {name}, per seed:", ""]
        lines += [f"| {kind} | {' | '.join(cells)} |", "|---|" + "---|" * len(cells)]
        for each in known:
            counts = [[seed.get(each, [0, 0]) for seed in seeds] for seeds in cells.values()]
            told = [", ".join(str(c) for c, _ in row) + f" of {row[0][1]}" for row in counts]
            lines.append(f"| {each} | {' | '.join(told)} |")
    return lines


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
        stream = run_ray(jobs, args.address) if args.engine == "ray" else run_local(jobs, args.jobs)
        results: dict[tuple[str, int], dict[str, Any]] = {}
        progress.show(f"0 of {len(jobs)} done")
        for job, result in stream:
            results[job.cell, job.seed] = result
            failed = f"failed: {result.get('error')} (log in {job.directory})"
            progress.say(f"{job.cell}, seed {job.seed}: {failed if 'error' in result else 'done'}")
            progress.show(f"{len(results)} of {len(jobs)} done")
            table = {**provenance(argv or sys.argv[1:], []), **collect(cohort, results)}
            Path(args.results).mkdir(parents=True, exist_ok=True)
            write_json(Path(args.results) / f"{path.stem}.json", table)
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
