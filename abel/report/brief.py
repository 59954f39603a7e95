"""Results with `--brief`: of each equation what other commands read, without its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What tables, `abel.answers`, `abel.certificate` and `abel.bench verdicts` go by.
KEPT = (
    "equation", "unknown", "family", "solved", "root", "valid_when", "steps", "solved_by", "line",
)  # fmt: skip
KEPT_OF_SETS = ("equation", "unknown", "family", "roots", "unproven", "completeness")
ROOT = ("root", "integers", "status", "valid_when")
UNKNOWN = "x"  # goes without saying


def brief(row: Mapping[str, Any]) -> dict[str, Any]:
    """An equation's row of `evaluate.py --json`; one that is not solved says why."""
    whole = KEPT if row["solved"] else (*KEPT, "reason")
    return without_x({name: row[name] for name in whole if name in row})


def brief_set(row: Mapping[str, Any]) -> dict[str, Any]:
    """An equation's row of `--all-roots`: its roots and whether they are all."""
    kept = {name: row[name] for name in KEPT_OF_SETS if name in row}
    kept["roots"] = [{name: root[name] for name in ROOT} for root in row["roots"]]
    kept["completeness"] = {"state": row["completeness"]["state"]}
    return without_x(kept)


def without_x(row: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in row.items() if (k, v) != ("unknown", UNKNOWN)}
