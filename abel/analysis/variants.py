"""The same equations with other constants: does a policy know the form, or the letters?"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from abel.analysis.trigger import tally
from abel.datasets import Problem
from abel.env import EnvConfig
from abel.operations import Generator, propose
from abel.parse import CONSTANTS, FUNCTIONS
from abel.search import Policy, greedy

FRESH = "hjklmnpqrstuvwyz"  # letters of no generated dataset
SCALES = [*range(-100, -10), *range(11, 101)]  # past the numbers that datasets are drawn from
COMPOUNDS = ("({}+{})", "({}-3*{})", "({}*{})", "({}/{})", "sin({})", "exp({})", "({}^2+{})")


def rewrite_letters(text: str, new: Callable[[str], str]) -> str:
    """The text with every coefficient replaced, each occurrence of a letter alike."""
    known: dict[str, str] = {}

    def substitute(match: re.Match[str]) -> str:
        name = match[0]
        if name in CONSTANTS or name in FUNCTIONS:
            return name
        if name not in known:
            known[name] = new(name)
        return known[name]

    return re.sub(r"[A-Za-z_]\w*", substitute, text)


def renamed(problem: Problem, rng: random.Random) -> Problem:
    """Every letter becomes one that training has never seen."""
    letters = iter(rng.sample(FRESH, len(FRESH)))
    return Problem(
        rewrite_letters(problem.equation.text, lambda name: next(letters)), problem.family
    )


def rescaled(problem: Problem, rng: random.Random) -> Problem:
    """Every letter gets a factor from 11 to 100, or its negative; relations between coefficients
    stay, since a letter is scaled wherever it stands.
    """
    text = rewrite_letters(problem.equation.text, lambda name: f"({rng.choice(SCALES)}*{name})")
    return Problem(text, problem.family)


def compound(problem: Problem, rng: random.Random) -> Problem:
    """Every letter becomes a sum, a product or a function of new letters."""
    letters = iter(rng.sample(FRESH, len(FRESH)))

    def shape(name: str) -> str:
        chosen = rng.choice(COMPOUNDS)
        return chosen.format(*(next(letters) for _ in range(chosen.count("{}"))))

    return Problem(rewrite_letters(problem.equation.text, shape), problem.family)


VARIANTS = {"renamed": renamed, "rescaled": rescaled, "compound": compound}


def generalisation(
    policy: Policy,
    problems: Sequence[Problem],
    config: EnvConfig,
    generator: Generator = propose,
    seed: int = 0,
) -> dict[str, Any]:
    """Greedy accuracy on the equations as they are, and with other constants."""
    families = [problem.family for problem in problems]
    report: dict[str, Any] = {"n": len(problems), "seed": seed}
    by_family: dict[str, dict[str, list[int]]] = {}
    for name, change in {"original": None, **VARIANTS}.items():
        rng = random.Random(seed)
        changed = [problem if change is None else change(problem, rng) for problem in problems]
        found = greedy(policy, changed, config, config.new_cache(generator))
        row = tally(families, [solution.solved for solution in found])
        report[name] = row["overall"]
        for family, counts in row["by_family"].items():
            by_family.setdefault(family, {})[name] = counts
    return {**report, "by_family": by_family}
