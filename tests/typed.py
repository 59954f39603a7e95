"""What is printed for what a new user types, to be read by people and compared by a test.

    python -m tests.typed            # what differs from tests/golden_inputs.txt; exit 1 if anything
    python -m tests.typed --write    # write that file anew, and read the difference

The inputs are in tests/inputs.txt. The bundled agent answers them, as it does without --run.
"""

from __future__ import annotations

import argparse
import difflib
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

INPUTS = Path(__file__).parent / "inputs.txt"
GOLDEN = Path(__file__).parent / "golden_inputs.txt"


def printed(words: list[str]) -> tuple[str, int]:
    """What a command line prints, in both streams, and its exit code."""
    import evaluate  # with torch: the list alone is read without it

    shown = StringIO()
    with redirect_stdout(shown), redirect_stderr(shown):
        code = evaluate.run(["--equation", *words])
    return shown.getvalue(), code


def inputs() -> list[str]:
    """The lines that are typed."""
    lines = INPUTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def transcript() -> str:
    """The file of inputs with what each prints below it."""
    found = []
    for line in INPUTS.read_text(encoding="utf-8").splitlines()[3:]:
        if not line or line.startswith("#"):
            found.append(line)
            continue
        text, code = printed(shlex.split(line))
        found.append(f"$ {line}\n{text}" + f"exit code {code}\n" * (code != 0))
    return "\n".join(found) + "\n"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.typed", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--write", action="store_true", help="write golden_inputs.txt anew")
    write = parser.parse_args(argv).write
    now = transcript()
    before = GOLDEN.read_text(encoding="utf-8") if GOLDEN.exists() else ""
    changes = difflib.unified_diff(
        before.splitlines(), now.splitlines(), GOLDEN.name, "now", lineterm="", n=2
    )
    print("\n".join(changes))
    if write:
        GOLDEN.write_text(now, encoding="utf-8")
    return 0 if write or now == before else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
