"""What stored results say: how rational roots are printed, what fails and why, what it costs.

python -m abel.answers runs/results/reference/*.json     # exit 1 if one is printed as anything else
python -m abel.answers --failures FILE...                # the failures by kind, as a table
python -m abel.answers --times GREEDY SYMPY              # CPU per equation that all of them solve
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from abel.answers.failures import as_markdown, failures, times
from abel.answers.rationals import counted


def main(argv: Sequence[str]) -> int:
    about = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m abel.answers", description=about)
    parser.add_argument("files", nargs="+", help="results that evaluate.py --json wrote")
    parser.add_argument("--failures", action="store_true", help="a table of what fails, and why")
    parser.add_argument("--times", action="store_true", help="CPU per equation that all solve")
    args = parser.parse_args(argv)
    results: dict[str, Mapping[str, Any]] = {}
    path = ""
    try:
        for path in args.files:
            with open(path, encoding="utf-8") as file:
                results[path] = json.load(file)
        if args.failures:
            print(*(f"{path}\n{as_markdown(failures(each))}" for path, each in results.items()),
                  sep="\n\n")  # fmt: skip
            return 0
        if args.times:
            print_times([row for each in results.values() for row in each["equations"]])
            return 0
        return 1 if sum([print_rationals(path, each) for path, each in results.items()]) else 0
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"abel.answers: {path}: no results of evaluate.py ({error})", file=sys.stderr)
        return 2


def print_times(rows: Sequence[Mapping[str, Any]]) -> None:
    for name, found in times(rows).items():
        print(f"{name}: {found['n']} equations that all solve,"
              f" mean {found['mean']:.1f} ms, median {found['median']:.1f} ms of CPU")  # fmt: skip


def print_rationals(path: str, data: Mapping[str, Any]) -> int:
    """How many rational roots are printed as anything else."""
    found = counted(data["equations"])
    print(
        f"{path}: {found.numeric} roots without letters, {found.rational} of them rational,"
        f" {len(found.unlike)} printed as anything else",
        *(f"{equation}   {root}   {shown}" for equation, root, shown in found.unlike),
        sep="\n    ",
    )
    return len(found.unlike)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
