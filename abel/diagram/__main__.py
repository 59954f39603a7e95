"""Figures of the project itself.

python -m abel.diagram --equation "a*x^2 + b = 0" --out runs/figures/architecture.svg
python -m abel.diagram modules --out runs/figures/modules.svg [--root DIR]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from abel.charts import on_paper
from abel.diagram import draw_modules, draw_network
from abel.home import CODE
from abel.learner.records import write_atomically


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m abel.diagram", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["network", "modules"], default="network")
    parser.add_argument("--equation", default="a*x^2 + b = 0", help="what the network looks at")
    parser.add_argument("--root", type=Path, default=CODE, help="folder of the package to draw")
    parser.add_argument("--out", type=Path, required=True, help="SVG file to write")
    args = parser.parse_args(argv)
    try:
        text = draw_network(args.equation) if args.what == "network" else draw_modules(args.root)
        write_atomically(args.out, lambda file: file.write(on_paper(text).encode()))
    except (ValueError, OSError, SyntaxError) as error:  # ParseError is a ValueError
        print(f"abel.diagram: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
