"""Validation while training: how many equations are solved, and a look at each family."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from torch.utils.tensorboard import SummaryWriter

from abel.charts import bar_image
from abel.datasets import Problem
from abel.env import EnvConfig
from abel.search import Policy, Solution, greedy
from abel.transitions import TransitionCache


def validate(
    policy: Policy, problems: Sequence[Problem], config: EnvConfig, cache: TransitionCache,
    writer: SummaryWriter, step: int,
) -> float:  # fmt: skip
    """Share of the equations that greedy decoding solves."""
    found = greedy(policy, problems, config, cache)
    score = sum(solution.solved for solution in found) / max(len(found), 1)
    writer.add_scalar("eval/val_greedy", score, step)
    show_families(problems, found, writer, step)
    return score


def show_families(
    problems: Sequence[Problem], found: Sequence[Solution], writer: SummaryWriter, step: int
) -> None:
    """A solution of each family as text, and the families' rates as a picture."""
    solved: dict[str, list[bool]] = defaultdict(list)
    traces: dict[str, str] = {}
    for problem, solution in zip(problems, found):
        solved[problem.family].append(solution.solved)
        if solution.solved and problem.family not in traces:
            traces[problem.family] = f"**{problem.family}**\n```\n{solution.trace().to_text()}\n```"
    rates = {family: float(np.mean(flags)) for family, flags in sorted(solved.items())}
    writer.add_text("eval/traces", "\n\n".join(traces.values()), step)
    image = bar_image(rates, f"solved of each family, step {step:,}")
    writer.add_image("eval/val_by_family", image, step, dataformats="HWC")
