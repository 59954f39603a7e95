"""SymPy's `solve` as a yardstick: in a child process that can be ended, its roots proved by us."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import sympy

from abel.equation import X, has_x
from abel.parse import parse
from abel.verify import verify_root

ROOT = Path(__file__).resolve().parent.parent


class Answer(NamedTuple):
    """What `solve` made of an equation: a proved root, or the reason why there is none."""

    root: str | None
    valid_when: str | None
    reason: str  # empty where there is a root
    seconds: float  # that `solve` took, without our proof

    @property
    def past_limit(self) -> bool:
        return self.reason.startswith("no answer")


def ask(text: str) -> Answer:
    """SymPy's first root that we can prove; it can take forever, so ask through `Oracle`."""
    equation = parse(text)
    begun = time.perf_counter()
    try:
        roots = sympy.solve(equation.lhs - equation.rhs, X)
    except Exception as error:  # SymPy raises anything; whatever it is, there is no root
        reason = f"raised {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        return Answer(None, None, reason[:200], time.perf_counter() - begun)
    seconds = time.perf_counter() - begun
    found = []
    for root in roots:
        if not isinstance(root, sympy.Expr) or has_x(root):
            found.append("implicit")
            continue
        verdict = verify_root(equation, root)
        if verdict:
            condition = None if verdict.valid_when is None else sympy.sstr(verdict.valid_when)
            return Answer(sympy.sstr(root), condition, "", seconds)
        found.append(verdict.status)
    counts = ", ".join(f"{found.count(kind)} {kind}" for kind in sorted(set(found)))
    return Answer(None, None, f"no proved root ({counts})" if found else "no roots", seconds)


class Oracle:
    """Asks a child process, and ends it when an answer takes more than `limit` seconds."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.child: subprocess.Popen[str] | None = None

    def __call__(self, text: str) -> Answer:
        fresh = self.child is None
        if self.child is None:
            # A new interpreter, not a fork: a copy of a network library's threads may never start.
            self.child = subprocess.Popen(
                [sys.executable, "-m", "abel.oracle"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            )  # fmt: skip
        answers = self.child.stdout
        assert answers is not None  # a pipe, as asked for
        if fresh:
            answers.readline()  # its start is not the equation's time
        try:
            print(json.dumps(text), file=self.child.stdin, flush=True)
            if select.select([answers], [], [], self.limit)[0]:
                return Answer(*json.loads(answers.readline()))
            reason = f"no answer in {self.limit:g} s"
        except (OSError, ValueError):  # broken pipe, or an empty line
            reason = "the process died"
        self.close()
        return Answer(None, None, reason, self.limit)

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            self.child = None

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def serve() -> None:
    """Answer equations, a line of JSON each, until the input ends: at once, whatever is under way.

    The asking process may have been killed, and nobody else would end a `solve` that goes on.
    """
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    print("ready", flush=True)
    while True:
        print(json.dumps(ask(json.loads(lines.get()))), flush=True)


if __name__ == "__main__":
    serve()
