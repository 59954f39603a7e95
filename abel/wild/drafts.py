"""A family's equations, drawn until there are enough for training and for what is held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from abel.datasets.classes import canonical_key
from abel.datasets.decisions import Decisions
from abel.datasets.generate import is_heldout
from abel.datasets.load import Problem
from abel.parse import ParseError


def draft(
    family: str,
    sizes: tuple[int, int],
    most: int,
    drawn: Callable[[int], Problem],
    has_route: Callable[[Problem], bool],
    decisions: Decisions,
    unreadable: str,
) -> tuple[list[Problem], list[Problem], str]:
    """Training and held-out equations, as many as `sizes` says or `most` draws give, and what
    happened on the way. `drawn` gets the number of the draw; `unreadable` is the word for what is
    no equation.
    """
    counts: Counter[str] = Counter()
    train: list[Problem] = []
    heldout: list[Problem] = []
    seen: set[tuple[int, int]] = set()
    while (len(train), len(heldout)) != sizes and counts["drawn"] < most:
        counts["drawn"] += 1
        try:
            problem = drawn(counts["drawn"])
            key = canonical_key(problem.equation)
        except (ParseError, ArithmeticError):  # numbers may cancel x, or grow
            counts[unreadable] += 1
            continue
        chosen, size = (heldout, sizes[1]) if is_heldout(key, decisions) else (train, sizes[0])
        if key in seen or len(chosen) == size:
            counts["repeated" if key in seen else "surplus"] += 1
        elif not has_route(problem):
            counts["unsolved"] += 1
        else:
            chosen.append(problem)
        seen.add(key)
    return train, heldout, f"{family}: " + ", ".join(f"{n} {k}" for k, n in counts.items())
