"""Cells with their seeds: each is trained, evaluated and read, here or on a Ray cluster."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from abel.cohort.file import Cohort, CohortError, folder_name
from abel.home import CODE, home
from abel.learner.events import read_scalars
from abel.learner.records import RunError, write_json

LEVELS = (0.67, 0.79, 0.95, 0.99)  # of greedy validation accuracy: when was each first reached


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


def in_results(jobs: Sequence[Job], table: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    """Rows of an earlier table that were trained and evaluated as these jobs would be, whatever the
    commit, which each row names.
    """
    rows = {}
    for job in jobs:
        row = table.get("cells", {}).get(job.cell, {}).get("seeds", {}).get(str(job.seed), {})
        scores, reports = row.get("scores", {}), row.get("reports", {})
        whole = set(job.splits) <= set(scores) and set(job.reports) <= set(reports)
        if whole and all(set(job.decoders) <= set(scores[split]) for split in job.splits):
            if {name: row.get(name) for name in asked(job)} == asked(job):
                rows[job.cell, job.seed] = row
    return rows


def asked(job: Job) -> dict[str, str]:
    """How a job's row was made."""
    return {
        "command": f"python train_ppo.py {shlex.join(job.flags)}",
        "evaluate": shlex.join(job.evaluate),
    }


def run_job(job: Job) -> dict[str, Any]:
    """Train and evaluate, or give what an earlier call left; `error` says what went wrong."""
    place = Path(job.directory)
    wanted = {"flags": job.flags, "evaluate": job.evaluate}
    try:
        if (place / "asked.json").exists() and stored(place / "asked.json") != wanted:
            shutil.rmtree(place)  # the cohort file has changed since
        place.mkdir(parents=True, exist_ok=True)
        write_json(place / "asked.json", wanted)
        run = trained_run(job, place)
        told = ["--run", str(run), *job.evaluate]
        scores, reports = scores_of(job, place, told), reports_of(job, place, told)
        trained = stored(run / "provenance.json")
    except subprocess.CalledProcessError as failed:
        said = (place / "log.txt").read_text(errors="replace").strip().splitlines()
        return {"error": said[-1] if said else f"exit code {failed.returncode}"}
    except (CohortError, RunError, OSError) as error:  # this one fails, the others go on
        return {"error": str(error)}
    origin = {name: trained[name] for name in ("commit", "dirty")}
    return {**asked(job), **origin, **curve_of(run), "scores": scores, "reports": reports}


def trained_run(job: Job, place: Path) -> Path:
    """The job's run, trained to its end: begun, gone on with, or as an earlier call left it."""
    run = begun(place)
    if run is None or num_missing(run):
        begin = [*job.flags, "--out", str(place / "train")]
        call(place, "train_ppo.py", *(["--resume", str(run)] if run else begin))
        run = begun(place)
    if run is None:
        raise CohortError("stopped before its first checkpoint")
    if missing := num_missing(run):
        raise CohortError(f"interrupted {missing:,} steps before its end; start again to go on")
    return run


def scores_of(job: Job, place: Path, told: Sequence[str]) -> dict[str, Any]:
    """What is solved of every split, by decoder; `told` are flags of `evaluate.py`."""
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
    return scores


def reports_of(job: Job, place: Path, told: Sequence[str]) -> dict[str, Any]:
    """The job's reports, without where and when they were made, which is told once."""
    reports = {}
    for report in job.reports:
        answers = place / "reports" / f"{report}.json"
        if not answers.exists():
            call(place, "evaluate.py", *told, "--split", job.splits[0], "--report", report,
                 "--out", str(answers.parent))  # fmt: skip
        data = stored(answers)
        reports[report] = {k: v for k, v in data.items() if k not in ("run", "provenance")}
    return reports


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


def call(place: Path, script: str, *words: str) -> None:
    """Run a script of the project; what it says goes to the cell's log."""
    with open(place / "log.txt", "ab") as log:
        command = [sys.executable, str(CODE / script), *words]
        subprocess.run(command, cwd=home(), stdout=log, stderr=log, check=True)


def curve_of(run: Path) -> dict[str, Any]:
    """Steps and CPU seconds of a run (a busy machine slows clocks, not work), its validation curve,
    and when it first reached each level.
    """
    scalars = read_scalars(run, "")
    seconds = dict(zip(*(column.tolist() for column in scalars["time/cpu"])))
    curve = []
    if "eval/val_greedy" in scalars:  # a set without validation equations has none
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
