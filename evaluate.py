"""Evaluate a trained agent: decode, compare with search and with SymPy, explain, solve by hand.

    python evaluate.py                                      # the reference agent on its test split
    python evaluate.py --run runs/<run> --decoder all --json out.json
    python evaluate.py --equation "a*x^2 + b*x + c = 0"     # exit 0 solved, 1 unsolved, 2 bad input
    python evaluate.py --equations FILE                     # one per line, or family<TAB>equation
    python evaluate.py --equation "x^3 = a" --all-roots     # every root; on a split, how often all
    python evaluate.py --report all --out DIR               # tables, JSON and a page

The protocol is the paper's: held-out equations are split 30/70 with seed 42; training keeps the
checkpoint that is best on the 30 %, and what is reported here is the 70 % (`--split test`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
import tyro

from abel.answers import Growing, Telling, counts
from abel.datasets import DatasetError, Problem, Unreadable, load_dataset, read_list
from abel.home import home
from abel.learner.config import glued
from abel.learner.records import RunError, provenance, refusing, save_checkpoint, write_json
from abel.operations import OPERATIONS
from abel.parse import ParseError
from abel.report.brief import brief, brief_set
from abel.report.reports import ABOUT_COV, REPORTS, ReportName, Run
from abel.report.study import DECODERS, Study
from abel.report.tables import TABLES, completeness, layout
from train_ppo import FORMAT, as_policy, forward, load_agent

# States that a search without a policy expands: per equation of a report, for a whole split.
REPORT_BUDGET, SHARED_BUDGET = 200, 5_000

DecoderName = Literal["greedy", "beam", "bfs", "astar", "oracle"]


@dataclass(frozen=True)
class Args:
    """What to evaluate, on what, and how."""

    run: str = "runs/reference"
    """directory of a run (its best checkpoint is used), or a checkpoint"""
    dataset: str = ""
    """name of a dataset or path of a file; empty is the one that the run was trained on"""
    split: str = "test"
    """train, val, test, heldout (val and test), all; poesia also has templates"""
    decoder: DecoderName | Literal["all"] | None = None
    """how to solve; greedy and beam if not given, greedy for a file of equations"""
    json: str = ""
    """file to write the results to"""
    brief: bool = False
    """with --json: of each equation only what other commands read, without its steps"""
    equation: str | None = None
    """solve this equation and show the steps"""
    unknown: str | None = None
    """the letter to solve for; x, or the only letter of an equation, if not given"""
    equations: str | None = None
    """solve the equations of this file; lines that cannot be read are counted and listed"""
    format: Literal["text", "latex", "json"] = "text"
    """how solutions of --equation and --equations are printed"""
    all_roots: bool = False
    """go on from the first root to all others; on a split, say how many sets are complete"""
    beam: bool = False
    """the same as --decoder beam"""
    verbose: bool = False
    """show the steps of what was not solved, too, and the root as it was found"""
    report: ReportName | Literal["all"] | None = None
    """analysis to make; all also writes a page"""
    bundle: str = ""
    """directory to write the agent to, without what only going on with training needs"""
    out: str = ""
    """directory of the reports; empty is reports/ in the run's directory"""
    width: int = 10
    """beam width"""
    value_coef: float = 0.0
    """weight of the last state's value in a beam's score, the paper's lambda"""
    complexity_coef: float = 0.0
    """weight of the last state's complexity in a beam's score, the paper's beta"""
    budget: int | None = None
    """states that bfs and astar expand per equation (paper: 100,000); by default the
    equations of a split or file share 5,000, and reports take 200 each"""
    limit: float = 10.0
    """seconds that SymPy's solve gets for an equation"""
    cov: Literal["run", "cas", "learned", "off"] = "run"
    """who finds changes of variables: as in training, rules, the learned generator, nobody"""


class UsageError(ValueError):
    """Flags that make no sense, alone or together."""


def check(args: Args) -> None:
    """Say what is wrong with the flags, before anything takes time."""
    if args.width < 1 or (args.budget is not None and args.budget < 1) or args.limit <= 0:
        raise UsageError("--width, --budget and --limit must be positive")
    if args.beam and args.decoder not in (None, "beam"):
        raise UsageError(f"--beam contradicts --decoder {args.decoder}")
    if sum(job is not None for job in (args.equation, args.equations, args.report)) > 1:
        raise UsageError("give one of --equation, --equations and --report")
    if args.all_roots and (args.report or args.decoder not in (None, "greedy", "beam")):
        raise UsageError("--all-roots goes with --decoder greedy or beam, and without --report")
    check_output(args)


def check_output(args: Args) -> None:
    """The same for where the results go."""
    if args.brief and not args.json:
        raise UsageError("--brief goes with --json")
    if args.json and not Path(args.json).parent.is_dir():
        raise UsageError(f"there is no directory '{Path(args.json).parent}' for --json")


# ---- What is evaluated ----


def load_run(args: Args) -> Run:
    path = home() / args.run  # the reference agent is found from anywhere
    path = path if path.exists() and not Path(args.run).exists() else Path(args.run)
    agent, trained, state = load_agent(path)
    config = trained.env if args.cov == "run" else replace(trained.env, cov=args.cov)
    folder = path if path.is_dir() else path.parent
    out = Path(args.out) if args.out else folder / "reports"
    dataset, spent = args.dataset or trained.dataset, state.get("cpu_seconds")
    return Run(
        agent, partial(forward, agent), dataset, config, config.generator(), int(state["step"]),
        spent, folder, out,
    )  # fmt: skip


def write_bundle(run: Run, out: Path) -> None:
    """The agent with its arguments and provenance, small enough to keep and to share."""
    with refusing(f"'{run.folder}' has no readable args.json and provenance.json"):
        trained, origin = (json.loads((run.folder / f"{n}.json").read_text())
                           for n in ("args", "provenance"))  # fmt: skip
        trained["out"] = "runs"  # where it was trained is nobody's business
        origin = {"checkpoint_step": run.step, "cpu_seconds": run.cpu_seconds} | origin
    out.mkdir(parents=True, exist_ok=True)
    weights, about = run.agent.state_dict(), {"format": FORMAT, "operations": list(OPERATIONS)}
    save_checkpoint(out / "best.pt", {**about, "args": trained, "agent": weights, "step": run.step})
    write_json(out / "args.json", trained)
    write_json(out / "provenance.json", origin)
    print(f"written to {out}")


def study_of(args: Args, run: Run, problems: Sequence[Problem]) -> Study:
    shared = -(-SHARED_BUDGET // max(len(problems), 1))
    budget = args.budget or (REPORT_BUDGET if args.report else shared)
    return Study(
        as_policy(run.agent), problems, run.config, run.generator, args.width, args.value_coef,
        args.complexity_coef, budget, args.limit, fall_back=bool(args.equation or args.equations),
    )  # fmt: skip


# ---- Reports ----


def write_reports(args: Args, argv: Sequence[str], run: Run, study: Study) -> None:
    names = list(REPORTS) if args.report == "all" else [args.report]
    if run.config.substitutions == "general":
        names = [name for name in names if name not in ABOUT_COV]
    if not names:
        raise UsageError(f"--report {args.report} is about cov: this agent chooses substitutions")
    run.out.mkdir(parents=True, exist_ok=True)
    about = {
        "run": args.run, "checkpoint_step": run.step, "dataset": run.dataset, "split": args.split,
        "provenance": provenance(argv, study.texts),
    }  # fmt: skip
    reports = {}
    for name in names:
        reports[name] = {**about, **REPORTS[name](study, run)}
        write_json(run.out / f"{name}.json", reports[name])
        print(f"{name} ({run.dataset} {args.split}, {len(study.problems)} equations)")
        print(layout(TABLES[name](reports[name])), end="\n\n", flush=True)
    if args.report == "all":
        from abel.report.pages import write_page  # solving an equation should start at once

        write_page(reports, run.out)
    print(f"written to {run.out}")


# ---- Datasets and single equations ----


def results(
    args: Args, run: Run, study: Study, found: Mapping, source: tuple, refused: list
) -> dict[str, Any]:  # fmt: skip
    """The outcome of every decoder and equation; after Ctrl-C, of those that are done."""
    shown = brief if args.brief else dict
    return {
        "run": args.run, "checkpoint_step": run.step, "dataset": source[0], "split": source[1],
        "n": len(study.problems), "width": args.width, "budget": study.budget,
        "interrupted": study.interrupted,
        "decoders": {name: {**study.counted(row), "n": len(row)} for name, row in found.items()},
        "equations": [shown(row) for row in study.by_equation(found)],
        "unreadable": [asdict(each) for each in refused],
        "counts": counts(study.first_solved(found), refused, len(study.problems)),
    }  # fmt: skip


def find_all_roots(args: Args, argv: Sequence[str], run: Run, study: Study, source: tuple) -> int:
    """All roots of single equations, shown one by one; of a split, a table of complete sets."""
    from abel.report.sets import show, solution_sets, summary  # on demand, as the page is

    sets = solution_sets(study, "beam" if args.beam else args.decoder or "greedy")
    counted = summary(sets)
    if args.brief:
        counted["equations"] = [brief_set(row) for row in counted["equations"]]
    data = {
        "run": args.run, "checkpoint_step": run.step, "dataset": source[0], "split": source[1],
        "limit_seconds": study.limit, **counted,
        "provenance": provenance(argv, study.texts),
    }  # fmt: skip
    if args.json:
        write_json(Path(args.json), data)
    if not source[1]:
        print(show(sets, args.format, args.equation is not None))
        return 0 if all(each.roots.found for each in sets) else 1
    print(f"all roots: {' '.join(source)}, {len(sets)} equations\n{layout(completeness(data))}")
    return 0


def given_problems(args: Args) -> tuple[list[Problem] | None, list[Unreadable]]:
    """What --equation or --equations names, all of it parsed, and lines that cannot be read; None
    if a dataset is asked for.
    """
    problems = None if args.equation is None else [Problem(args.equation, unknown=args.unknown)]
    refused: list[Unreadable] = []
    if args.equations is not None:
        problems, refused = read_list(Path(args.equations), args.unknown)
    if problems is None and args.unknown is not None:
        raise UsageError("--unknown goes with --equation or --equations")
    for note in dict.fromkeys(n for problem in problems or () for n in problem.equation.notes):
        print(f"note: {note}", file=sys.stderr)
    return problems, refused


def decode(
    args: Args, argv: Sequence[str], run: Run, study: Study, source: tuple, refused: list
) -> int:  # fmt: skip
    """Solve with every decoder that is asked for; print and store the outcomes."""
    chosen, single = "beam" if args.beam else args.decoder, not source[1]
    default = ["greedy", "beam"] if args.equations is None else ["greedy"]  # of a list: to be fast
    names = list(DECODERS) if chosen == "all" else [chosen] if chosen else default
    if not single:  # before it takes its time
        about = f"{args.run} (step {run.step:,}) on {' '.join(source)}"
        print(f"{about}, {len(study.problems)} equations", flush=True)
    live = single and len(names) == 1
    told = Telling(study, args.format, args.equation is not None, args.verbose, live)
    origin = {"provenance": provenance(argv, study.texts)} if args.json else {}

    def data_of(found: Mapping) -> dict[str, Any]:
        return {**results(args, run, study, found, source, refused), **origin}

    stored = [Growing(Path(args.json), data_of)] if args.json else []
    study.watchers = [told.as_they_come, *stored]
    found = study.decode_all(names)
    data = data_of(found)
    if args.json:
        write_json(Path(args.json), data)
    told.all_of(found, data, refused)
    if study.interrupted:
        raise KeyboardInterrupt
    return int(single and bool(refused or not all(row["solved"] for row in data["equations"])))


def main(args: Args, argv: Sequence[str]) -> int:
    torch.set_num_threads(1)
    check(args)
    problems, refused = given_problems(args)  # bad input is told before it takes time
    run = load_run(args)
    if args.bundle:
        write_bundle(run, Path(args.bundle))
        return 0
    source = (run.dataset, args.split) if problems is None else (args.equations or "", "")
    if problems is None:
        problems = load_dataset(run.dataset, args.split)
    study = study_of(args, run, problems)
    if args.report:
        write_reports(args, argv, run, study)
        return 0
    if args.all_roots:
        return find_all_roots(args, argv, run, study, source)
    return decode(args, argv, run, study, source, refused)


def run(argv: Sequence[str]) -> int:
    """Evaluate as the command line says; the exit code."""
    try:
        words = glued(argv, "--equation")
        return main(tyro.cli(Args, args=words, description=__doc__), argv)
    except (DatasetError, ParseError, RunError, UsageError, OSError) as error:
        print(f"evaluate.py: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("evaluate.py: interrupted; what was finished has been kept", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
