"""How are rational roots printed? Counted over stored results, of equations without letters.

python -m abel.answers runs/results/reference/*.json     # exit 1 if one is printed as anything else
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from abel.answers.rationals import counted


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m abel.answers", description=__doc__)
    parser.add_argument("files", nargs="+", help="results that evaluate.py --json wrote")
    bad = 0
    for path in parser.parse_args(argv).files:
        try:
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)["equations"]
            found = counted(rows)
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"abel.answers: {path}: no results of evaluate.py ({error})", file=sys.stderr)
            return 2
        bad += len(found.unlike)
        print(
            f"{path}: {found.numeric} roots without letters, {found.rational} of them rational,"
            f" {len(found.unlike)} printed as anything else",
            *(f"{equation}   {root}   {shown}" for equation, root, shown in found.unlike),
            sep="\n    ",
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
