"""What can be solved before any training: by construction, by a script, by SymPy's `solve`."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from zlib import crc32

import sympy

from abel.datasets.construct import construct_root
from abel.datasets.decisions import VERSION
from abel.datasets.load import POESIA, load_dataset
from abel.datasets.textbook import has_route
from abel.parse import parse
from abel.search import Oracle


def statistics(names: Iterable[str], num_scripted: int, num_sympy: int, limit: float) -> dict:
    """Counts, and fractions solved of those with the smallest hashes, by family and split."""
    solver = cache(Oracle(limit))
    sets: dict[str, dict[str, dict[str, dict[str, float]]]] = {}  # name, family, split
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
                row: dict[str, float] = {"count": len(texts)}
                if split == "heldout":
                    row |= {part: counts[part][family] for part in ("val", "test")}
                row |= {
                    "sampled": len(few),
                    "by_construction": sum(map(constructed, few)) / len(few),
                    "by_script": sum(map(scripted, few)) / len(few),
                    "sympy_sampled": len(fewer),
                    "by_sympy_solve": sum(answer.root is not None for answer in answers)
                    / len(fewer),
                    "sympy_past_limit": sum(answer.past_limit for answer in answers) / len(fewer),
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
