"""Any number of new school equations, from a template file or from the templates of our own."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice, repeat

from abel.datasets import templates
from abel.datasets.construct import construct_root
from abel.datasets.generate import render
from abel.datasets.load import POESIA, DatasetError, Problem, load_dataset
from abel.parse import ParseError


def draw_file(source: str, count: int, seed: int) -> str:
    """A dataset drawn from a template file in ConPoLe's format; or from the templates of a school
    set, given its name: equations that are not in its training file, each once.
    """
    rng, taken = random.Random(seed), set()
    if source in POESIA:
        name, lines = f"{source} draws", list(templates.TEMPLATES)
        taken = {problem.text for problem in load_dataset(source, "train")}
        letters = source == "poesia"
        drawn: Iterator[str] = (
            templates.draw(rng.choice(lines), rng, letters) for _ in repeat(None)
        )
    else:
        name, lines = "conpole", templates.read_conpole(source)
        if not lines:
            raise DatasetError(f"'{source}' has no templates")
        drawn = templates.draw_conpole(lines, rng)
    problems: list[Problem] = []
    counts: Counter[str] = Counter()
    for text in islice(drawn, 100 * count):
        problem = Problem(text, name.split()[0])
        try:
            solvable = construct_root(problem.equation) is not None
        except ParseError as error:
            if "x" in text and "cancels" not in error.reason:
                raise DatasetError(f"'{source}': {error}") from None
            solvable = False
        if not solvable or text in taken:
            counts["known" if solvable else "unsolvable"] += 1
            continue
        problems.append(problem)
        if source in POESIA:
            taken.add(text)
        if len(problems) == count:
            break
    else:
        raise DatasetError(f"'{source}': fewer than {count} of {100 * count} draws have a solution")
    note = (
        f"drawn from {len(lines)} templates; {counts['unsolvable']} draws without a solution"
        f" and {counts['known']} in training or drawn before left out"
    )
    return render(name, seed, problems, [note])
