"""What can be solved before any training: by construction, by a script, by SymPy's `solve`."""

from __future__ import annotations

import multiprocessing
import platform
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from zlib import crc32

import sympy

from abel.datasets import POESIA, load_dataset
from abel.equation import X, has_x
from abel.generate import VERSION, construct_root, has_route
from abel.parse import parse
from abel.verify import verify_root


def sympy_worker(pipe) -> None:
    while True:
        text = pipe.recv()
        equation = parse(text)
        try:
            roots = sympy.solve(equation.lhs - equation.rhs, X)
            proved = any(verify_root(equation, root) for root in roots if not has_x(root))
        except Exception:  # whatever SymPy stumbles over, it did not solve the equation
            proved = False
        pipe.send(proved)


class SympySolver:
    """SymPy's `solve` in a child process that is ended when it takes too long."""

    def __init__(self, limit: float) -> None:
        self.limit, self.child = limit, None
        self.known: dict[str, bool | None] = {}

    def __call__(self, text: str) -> bool | None:
        """Whether it finds a root that is proved; None past the limit."""
        if text not in self.known:
            self.known[text] = self.ask(text)
        return self.known[text]

    def ask(self, text: str) -> bool | None:
        if self.child is None:
            self.pipe, other = multiprocessing.Pipe()
            self.child = multiprocessing.get_context("fork").Process(
                target=sympy_worker, args=(other,), daemon=True
            )
            self.child.start()
        self.pipe.send(text)
        if self.pipe.poll(self.limit):
            return self.pipe.recv()
        self.child.kill()
        self.child.join()
        self.child = None
        return None


def statistics(names: Iterable[str], num_scripted: int, num_sympy: int, limit: float) -> dict:
    """Counts, and fractions solved of those with the smallest hashes, by family and split."""
    solver, sets = SympySolver(limit), {}
    constructed = cache(lambda text: construct_root(parse(text)) is not None)
    scripted = cache(lambda text: has_route(parse(text)))
    for name in names:
        sets[name] = {}
        counts = {
            split: Counter(problem.family for problem in load_dataset(name, split))
            for split in ("val", "test")
        }
        for split in ("train", "heldout", *["templates"] * (name in POESIA)):
            by_family: dict[str, list[str]] = {}
            for problem in load_dataset(name, split):
                by_family.setdefault(problem.family, []).append(problem.text)
            for family, texts in by_family.items():
                # By hash, so that sets which share equations share samples as far as possible.
                order = sorted(texts, key=lambda text: (crc32(text.encode()), text))
                few, fewer = order[:num_scripted], order[:num_sympy]
                answers = [solver(text) for text in fewer]
                row = {"count": len(texts)}
                if split == "heldout":
                    row |= {part: counts[part][family] for part in ("val", "test")}
                row |= {
                    "sampled": len(few),
                    "by_construction": sum(map(constructed, few)) / len(few),
                    "by_script": sum(map(scripted, few)) / len(few),
                    "sympy_sampled": len(fewer),
                    "by_sympy_solve": answers.count(True) / len(fewer),
                    "sympy_past_limit": answers.count(None) / len(fewer),
                }
                sets[name].setdefault(family, {})[split] = row
                print(name, split, family, row, file=sys.stderr, flush=True)
    return {
        "command": "python -m abel.datasets " + " ".join(sys.argv[1:]),
        "versions": {
            "generator": VERSION,
            "python": platform.python_version(),
            "sympy": sympy.__version__,
        },
        "sympy_limit_seconds": limit,
        "sets": sets,
    }
