"""What was derived: the substitutions in solutions, family by family, and when they were found.

    python -m abel.analysis.derivations runs/results/derived.json --cell derived

prints the table of a cohort whose cells have the report `derivations`: for each family the
substitutions that most of its seeds ended up with, and the steps of training after which each
seed had first solved one of its equations.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sympy import Expr, sstr

from abel.equation import caret, split_factor
from abel.operations import OPERATIONS, SUBSTITUTIONS, Action
from abel.search import Solution
from abel.transforms import Substitute

Series = Mapping[str, tuple[np.ndarray, np.ndarray]]  # steps and values by family


# ---- One agent ----


def derivations(
    solutions: Sequence[Solution], families: Sequence[str], events: Series
) -> dict[str, Any]:
    """The ways in which each family's equations were solved, most frequent first, with the shortest
    example of each; `events` says how many episodes of a family training solved at which step.
    """
    rows: dict[str, dict[str, Any]] = {}
    for family in sorted(set(families)):
        own = [s for s, f in zip(solutions, families) if f == family]
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
        values = "; ".join(f"`{each}`" for each in row["values"])
        shown = f"`{row['equation']}`" + (f": {values}" if values else "")
        known = sorted(step for step in row["first_solved"] if step is not None)
        median = thousands(statistics.median(known)) if known else "-"
        spread = f"{thousands(known[0])} - {thousands(known[-1])}" if known else "-"
        if missing := len(row["first_solved"]) - len(known):
            spread += f", {missing} never"
        count, of = row["seeds"]
        told = [row["family"], way, f"{count} of {of}", row["ways"], shown, median, spread]
        lines.append(f"| {' | '.join(map(str, told))} |")
    return "\n".join(lines) + "\n"


def thousands(steps: float) -> str:
    return f"{steps / 1000:.0f}k"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.analysis.derivations", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("results", type=Path, help="results of a cohort, in JSON")
    parser.add_argument("--cell", required=True, help="the cell of the cohort")
    args = parser.parse_args(argv)
    try:
        seeds = json.loads(args.results.read_text(encoding="utf-8"))["cells"][args.cell]["seeds"]
        reports = [seed["reports"]["derivations"] for seed in seeds.values() if "error" not in seed]
        print(markdown(over_seeds(reports)), end="")
    except (OSError, ValueError, LookupError, TypeError) as error:
        told = f"no cell '{args.cell}' with the report derivations in '{args.results}'"
        print(f"abel.analysis.derivations: {told} ({error})", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
