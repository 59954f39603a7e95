"""Learning curves of runs, as an SVG file.

python -m abel.charts curves RUN [RUN ...] --tag eval/val_greedy --out curves.svg
python -m abel.charts curves runs/results/open_small.json --out curves.svg
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from abel.charts.marks import Point, on_paper
from abel.charts.plots import Band, line_chart
from abel.learner.records import RunError, write_atomically

# Axis titles: what is drawn under a tag of TensorBoard, in words.
WORDS = {
    "eval/val_greedy": "validation equations solved", "solve/rate": "episodes solved",
    "solve/coverage": "training equations solved once", "charts/SPS": "steps per second",
}  # fmt: skip
STEPS = "steps of the environment"


def in_words(name: str) -> str:
    return WORDS.get(name, name.rsplit("/", 1)[-1].replace("_", " "))


def read_run(run: Path, name: str) -> tuple[str, list[Point]]:
    """The cohort of a run, "dataset, preset", and its values of a TensorBoard tag by step."""
    from abel.learner.events import read_scalars  # slow to import, and only this command needs it

    try:
        args = json.loads((run / "args.json").read_text())
        cohort = f"{args['dataset']}, {args['preset']}"
    except (OSError, ValueError, KeyError, TypeError):
        raise RunError(f"'{run}' is no run: it has no readable args.json") from None
    found = read_scalars(run, name).get("")
    return cohort, [] if found is None else list(zip(*(column.tolist() for column in found)))


def read_results(path: Path) -> dict[str, list[list[Point]]]:
    """The validation curves of a cohort's results file, a list of seeds for each cell."""
    try:
        cells = json.loads(path.read_text())["cells"]
        return {
            cell: [[tuple(point) for point in run["curve"]] for run in seeds if "curve" in run]
            for cell, seeds in ((name, entry["seeds"].values()) for name, entry in cells.items())
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise RunError(f"'{path}' is no results file of a cohort") from None


def mean_and_band(runs: Sequence[Sequence[Point]]) -> tuple[list[Point], Band]:
    """Mean and range of runs over the steps that all of them cover."""
    first, last = max(run[0][0] for run in runs), min(run[-1][0] for run in runs)
    steps = sorted({x for run in runs for x, _ in run if first <= x <= last})
    rows = np.array(  # [runs, steps]
        [np.interp(steps, [x for x, _ in run], [y for _, y in run]) for run in runs]
    )
    band = zip(steps, rows.min(0).tolist(), rows.max(0).tolist())
    return list(zip(steps, rows.mean(0).tolist())), list(band)


def curves(runs: Sequence[Path], name: str) -> str:
    """Draw learning curves: for each dataset and preset, or each cell of a results file, the mean,
    the range, and every seed.
    """
    cohorts: dict[str, list[list[Point]]] = {}
    for run in runs:
        if run.suffix == ".json":
            for cell, lines in read_results(run).items():
                cohorts.setdefault(cell, []).extend(lines)
            continue
        cohort, values = read_run(run, name)
        if values:
            cohorts.setdefault(cohort, []).append(values)
        else:
            print(f"abel.charts: '{run}' has no values of {name}; left out", file=sys.stderr)
    cohorts = {key: lines for key, lines in cohorts.items() if lines}
    if not cohorts:
        raise RunError(f"no run has values of {name}")
    seeds = {f"{key} ({len(lines)})": lines for key, lines in cohorts.items()}
    means, bands = {}, {}
    for key, lines in seeds.items():
        means[key], bands[key] = mean_and_band(lines)
    what = in_words(name)
    return line_chart(means, "Mean, range and every run (how many)", STEPS, what, bands, seeds)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.charts", description="Learning curves of runs as an SVG file."
    )
    parser.add_argument("what", choices=["curves"])
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="run directories, or results files of cohorts",
    )
    parser.add_argument("--tag", default="eval/val_greedy", help="TensorBoard tag to draw")
    parser.add_argument("--out", type=Path, required=True, help="SVG file to write")
    args = parser.parse_args(argv)
    try:
        text = on_paper(curves(args.runs, args.tag))
        write_atomically(args.out, lambda file: file.write(text.encode()))
    except (RunError, OSError) as error:
        print(f"abel.charts: {error}", file=sys.stderr)
        return 2
    return 0
