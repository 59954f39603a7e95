"""Statistics for small counts and few seeds: intervals, exact tests, robust means.

python -m abel.stats FIRST.json SECOND.json    # two results of evaluate.py --json, paired
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def wilson(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval of a rate; no trials leave it open, (0, 1)."""
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return 0.0, 1.0
    rate, spread = successes / n, z * z / n
    middle = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / n + spread / (4 * n)) / (1 + spread)
    # At the ends the interval closes exactly; rounding would leave 1e-17 there.
    low = 0.0 if successes == 0 else middle - half
    return low, 1.0 if successes == n else middle + half


def log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def fisher_exact(a: int, b: int, c: int, d: int) -> float:
    """Two-sided p of the table [[a, b], [c, d]]: all tables with its margins that are at most as
    probable.
    """
    if min(a, b, c, d) < 0:
        raise ValueError(f"a count is negative: {a}, {b}, {c}, {d}")
    row, column, n = a + b, a + c, a + b + c + d
    corners = range(max(0, row + column - n), min(row, column) + 1)
    logs = [
        log_choose(column, k) + log_choose(n - column, row - k) - log_choose(n, row)
        for k in corners
    ]
    # Tables of equal probability must count on both sides although their logarithms are rounded.
    limit = logs[a - corners[0]] + 1e-7
    return min(1.0, math.fsum(math.exp(value) for value in logs if value <= limit))


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Exact two-sided p that two solvers are equally good, from the same equations in one order.

    Only equations that exactly one of them solves say anything: under equality each is a coin.
    """
    if len(first) != len(second):
        raise ValueError(f"runs on {len(first)} and {len(second)} equations cannot be paired")
    only_first = sum(bool(a) and not b for a, b in zip(first, second))
    only_second = sum(bool(b) and not a for a, b in zip(first, second))
    n, fewer = only_first + only_second, min(only_first, only_second)
    tail = math.fsum(math.exp(log_choose(n, k) - n * math.log(2)) for k in range(fewer + 1))
    return min(1.0, 2 * tail)


def iqm(values: Sequence[float]) -> float:
    """Interquartile mean (Agarwal et al. 2021): of the middle half, values cut by a quartile in
    part.
    """
    return float(_iqm_rows(np.asarray(values, dtype=float)[None])[0])


def _iqm_rows(rows: np.ndarray) -> np.ndarray:  # [R, n] -> [R]
    n = rows.shape[1]
    if n == 0:
        raise ValueError("no values")
    # Value i of the sorted ones covers [i, i + 1]; its weight is what lies in [n/4, 3n/4].
    start = np.arange(n)
    weights = np.clip(np.minimum(start + 1, 0.75 * n) - np.maximum(start, 0.25 * n), 0, None)
    return np.sort(rows, axis=1) @ weights / (n / 2)


def bootstrap_iqm(values: Sequence[float], seed: int, repeats: int = 2000) -> tuple[float, float]:
    """95 % percentile interval of the interquartile mean, resampling the seeds' values."""
    data = np.asarray(values, dtype=float)
    if len(data) == 0:
        raise ValueError("no values")
    picks = np.random.default_rng(seed).integers(0, len(data), size=(repeats, len(data)))
    low, high = np.percentile(_iqm_rows(data[picks]), [2.5, 97.5])
    return float(low), float(high)


def escape_rate(accuracies: Sequence[float], threshold: float = 0.2) -> float:
    """Share of seeds that did not stall; the paper calls a beam accuracy of 0.2 or more escaped."""
    if len(accuracies) == 0:
        raise ValueError("no values")
    return sum(value >= threshold for value in accuracies) / len(accuracies)


def compare(first: dict[str, bool], second: dict[str, bool]) -> str:
    """Two solvers on the equations that both were asked; `first` and `second` say what was solved.

    McNemar's test pairs them; Fisher's takes them as two samples, as one must with other equations.
    """
    both = [text for text in first if text in second]
    if not both:
        raise ValueError("the two have no equation in common")
    pairs = [(first[text], second[text]) for text in both]
    counts = [sum(column) for column in zip(*pairs)]
    lines = []
    for name, solved in zip(("first", "second"), counts):
        low, high = wilson(solved, len(both))
        rate = f"{solved / len(both):.3f} [{low:.3f}, {high:.3f}]"
        lines.append(f"{name:8} {solved} of {len(both)} = {rate}")
    alone = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    table = counts[0], len(both) - counts[0], counts[1], len(both) - counts[1]
    lines.append(f"solved by the first only {alone[0]}, by the second only {alone[1]}")
    lines.append(f"McNemar p = {mcnemar(*zip(*pairs)):.4g}, Fisher p = {fisher_exact(*table):.4g}")
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    if len(argv) != 2 or argv[0].startswith("-"):
        print("usage: python -m abel.stats FIRST.json SECOND.json", file=sys.stderr)
        return 2
    try:
        runs = [
            {
                row["equation"]: row["solved"]
                for row in json.loads(Path(path).read_text())["equations"]
            }
            for path in argv
        ]
        print(compare(*runs))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"abel.stats: not two results of evaluate.py --json: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
