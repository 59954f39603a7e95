"""What fails, and why: the failures of stored results by kind, and how long what is solved took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import mean, median
from typing import Any

from abel.roots import kind_of_failure

Row = Mapping[str, Any]


def failures(data: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    """Each kind of failure, how often it is, and one of its equations; the most frequent first."""
    found = [("unreadable", each["text"]) for each in data.get("unreadable", [])]
    found += [
        (kind_of_failure(row["reason"]), row["equation"])
        for row in data["equations"] if not row["solved"]
    ]  # fmt: skip
    counts, first = Counter(kind for kind, _ in found), dict(reversed(found))
    return [(kind, count, first[kind]) for kind, count in counts.most_common()]


def as_markdown(rows: Iterable[tuple[str, int, str]]) -> str:
    lines = ["| why | equations | one of them |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {kind} | {n} | `{text}` |" for kind, n, text in rows)])


def times(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """Milliseconds of CPU that each decoder takes per equation that all of them solve."""
    merged: dict[str, dict[str, tuple[bool, float]]] = {}
    for row in rows:
        for name, spent in row["cpu_ms"].items():
            merged.setdefault(row["equation"], {})[name] = (name in row["solved_by"], spent)
    names = list(dict.fromkeys(name for found in merged.values() for name in found))
    common = [
        found for found in merged.values()
        if all(name in found and found[name][0] for name in names)
    ]  # fmt: skip
    return {
        name: {"n": len(common), "mean": mean(spent), "median": median(spent)}
        for name in names if (spent := [found[name][1] for found in common])
    }  # fmt: skip
