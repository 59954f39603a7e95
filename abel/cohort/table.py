"""What the runs of a cohort come to: one table, as data and as Markdown."""

from __future__ import annotations

from typing import Any

from abel.cohort.cells import LEVELS
from abel.cohort.file import Cohort
from abel.stats import bootstrap_iqm, escape_rate, iqm, wilson


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
