"""What was derived: the substitutions in solutions, family by family, and when they were found.

    python -m abel.analysis.derivations runs/results/derived.json --cell derived
    python -m abel.analysis.derivations runs/results/derived.json runs/results/derived_random.json \
        --cell derived random --figure discovery.svg

prints the table of each cell of a cohort with the report `derivations`: for each family the
substitutions that most of its seeds ended up with, and the steps of training after which each
seed had first solved one of its equations. The figure has a mark for each of these steps. What
only a search beside the episodes has solved is not among them. Several results are read as one.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sympy import Expr, sstr

from abel.charts import on_paper, strip_chart
from abel.equation import caret, split_factor
from abel.learner.records import write_atomically
from abel.operations import OPERATIONS, SUBSTITUTIONS, Action
from abel.search import Solution
from abel.transforms import Substitute

TITLE = "When each family was first solved, a mark for each seed"
Series = Mapping[str, tuple[np.ndarray, np.ndarray]]  # steps and values by family


# ---- One agent ----


def derivations(solutions: Sequence[tuple[Solution, str]], events: Series) -> dict[str, Any]:
    """The ways in which equations were solved, by the families that stand beside the solutions:
    most frequent first, with the shortest example of each. `events` says how many episodes of a
    family training solved at which step.
    """
    rows: dict[str, dict[str, Any]] = {}
    for family in sorted({family for _, family in solutions}):
        own = [solution for solution, kind in solutions if kind == family]
        solved = sorted((s for s in own if s.solved), key=lambda s: len(s.path))
        ways = Counter(way_of(s) for s in solved)
        examples = {way_of(s): example(s) for s in reversed(solved)}
        rows[family] = {
            "solved": [len(solved), len(own)], "first_solved": first_solved(events.get(family)),
            "ways": [{"way": list(way), "count": n, **examples[way]}
                     for way, n in ways.most_common()],
        }  # fmt: skip
    return {"n": len(solutions), "families": rows}


def way_of(solution: Solution) -> tuple[str, ...]:
    """The substitutions of a solution without its letters: "put x + h without x^2"."""
    actions = (observation.actions[index] for observation, index, *_ in solution.path)
    return tuple(told(a) for a in actions if OPERATIONS[a.op].kind in SUBSTITUTIONS)


def told(action: Action) -> str:
    if OPERATIONS[action.op].opens is None or action.term is None:
        return action.op
    return f"{action.op} without {function_in(action.term)}"


def function_in(term: Expr) -> str:
    """What stands beside the coefficient of a term."""
    return caret(sstr(split_factor(term)[1]))


def example(solution: Solution) -> dict[str, Any]:
    """The equation, and what was put for x in the end."""
    equation = solution.equation
    values = [equation.told(str(t)) for *_, t in solution.path if isinstance(t, Substitute)]
    return {"equation": equation.told(equation.text or str(equation)), "values": values}


def first_solved(series: tuple[np.ndarray, np.ndarray] | None) -> int | None:
    """The step by which an episode was first solved; None if none was."""
    pairs = zip(*series) if series is not None else ()
    return next((int(step) for step, count in pairs if count > 0), None)


# ---- Many seeds ----


def over_seeds(reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each family the way that most seeds prefer, by how many, and each seed's first step."""
    rows = []
    for family in sorted({name for report in reports for name in report["families"]}):
        seeds = [report["families"].get(family) for report in reports]
        found = [seed["ways"][0] for seed in seeds if seed and seed["ways"]]
        chosen = Counter(tuple(way["way"]) for way in found).most_common(1)
        way, count = chosen[0] if chosen else ((), 0)
        shown: dict[str, Any] = next((each for each in found if tuple(each["way"]) == way), {})
        rows.append({
            "family": family, "way": list(way), "seeds": [count, len(reports)],
            "ways": len({tuple(each["way"]) for each in found}),
            "equation": shown.get("equation"), "values": shown.get("values", []),
            "first_solved": [seed and seed["first_solved"] for seed in seeds],
        })  # fmt: skip
    return rows


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| family | substitutions | by seeds | ways | for example | first solved, median | range |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        way = ", ".join(f"`{each}`" for each in row["way"]) or "none needed"
        if not row["ways"]:
            way = "none found"
        values = "; ".join(f"`{each}`" for each in row["values"])
        shown = f"`{row['equation']}`" + (f": {values}" if values else "") if row["ways"] else "-"
        known = sorted(step for step in row["first_solved"] if step is not None)
        median = thousands(statistics.median(known)) if known else "-"
        spread = f"{thousands(known[0])} - {thousands(known[-1])}" if known else "-"
        if missing := len(row["first_solved"]) - len(known):
            spread += f", {missing} never"
        count, of = row["seeds"]
        told = [row["family"], way, f"{count} of {of}", row["ways"], shown, median, spread]
        lines.append(f"| {' | '.join(map(str, told))} |")
    return "\n".join(lines) + "\n"


def coverage(reports: Sequence[dict[str, Any]]) -> list[str]:
    """What training solved at least once, if the reports say so."""
    shares = [report.get("coverage") for report in reports]
    if None in shares:
        return []
    return [f"Training equations solved at least once: {', '.join(map(str, shares))}\n"]


def discoveries(
    cells: Mapping[str, Mapping[str, dict[str, Any]]],
) -> dict[str, dict[str, dict[str, int | None]]]:
    """By family, cell and seed the step by which it was first solved; families in the order of the
    first cell's medians, one that was never solved counted as infinitely late.
    """
    families = {name for seeds in cells.values() for report in seeds.values()
                for name in report["families"]}  # fmt: skip
    steps = {
        family: {cell: {f"seed {seed}": report["families"].get(family, {}).get("first_solved")
                        for seed, report in seeds.items()}
                 for cell, seeds in cells.items()}
        for family in families
    }  # fmt: skip

    def rank(family: str) -> tuple[float, str]:
        first = next(iter(steps[family].values())).values()
        return statistics.median(math.inf if step is None else step for step in first), family

    return {family: steps[family] for family in sorted(families, key=rank)}


def thousands(steps: float) -> str:
    return f"{steps / 1000:.0f}k"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.analysis.derivations", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("results", type=Path, nargs="+", help="results of cohorts, in JSON")
    parser.add_argument("--cell", nargs="+", required=True, help="cells of the cohort")
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw the steps as well")
    args = parser.parse_args(argv)
    try:
        cells: dict[str, Any] = {}
        for path in args.results:
            cells |= json.loads(path.read_text(encoding="utf-8"))["cells"]
        reports = {cell: reports_of(cells[cell]["seeds"]) for cell in args.cell}
        for cell, seeds in reports.items():
            told = [*seeds.values()]
            heading = [cell, ""] if len(reports) > 1 else []
            print("\n".join([*heading, markdown(over_seeds(told)), *coverage(told)]))
        if args.figure:
            drawn = on_paper(strip_chart(discoveries(reports), TITLE, "steps of the environment"))
            write_atomically(args.figure, lambda file: file.write(drawn.encode()))
    except OSError as error:
        print(f"abel.analysis.derivations: {error}", file=sys.stderr)
        return 2
    except (ValueError, LookupError, TypeError) as error:
        said = f"no cells {', '.join(args.cell)} with the report derivations"
        print(f"abel.analysis.derivations: {said} ({error})", file=sys.stderr)
        return 2
    return 0


def reports_of(seeds: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The report of each seed that did not fail."""
    found = {s: row["reports"]["derivations"] for s, row in seeds.items() if "error" not in row}
    if not found:
        raise LookupError("no seed has finished")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
