"""Validation while training: how many equations are solved, and a look at each family."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from abel.charts import bar_image
from abel.datasets import Problem
from abel.env import EnvConfig, SyncVectorEnv
from abel.search import Policy, Solution, greedy
from abel.transitions import TransitionCache

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def validate(
    policy: Policy, problems: Sequence[Problem], config: EnvConfig, cache: TransitionCache,
    writer: SummaryWriter, step: int,
) -> float:  # fmt: skip
    """Share of the equations that greedy decoding solves; of none, 0 and nothing is logged."""
    if not problems:
        return 0.0
    found = greedy(policy, problems, config, cache)
    score = solved_share(found)
    writer.add_scalar("eval/val_greedy", score, step)
    show_families(problems, found, writer, step)
    return score


def solved_share(solutions: Sequence[Solution]) -> float:
    return sum(solution.solved for solution in solutions) / max(len(solutions), 1)


def closing_lines(
    run: Path, policy: Policy, validation: Sequence[Problem], training: Sequence[Problem],
    best_score: float, envs: SyncVectorEnv,
) -> str:  # fmt: skip
    """How a finished run did by greedy decoding, where it lies, and what to type next.

    It is judged by its best score in validation; without that, by training equations.
    """
    split, count, flags = "validation", len(validation), ""
    if not validation:
        split, count, flags = "training", len(training), " --split train"
        best_score = solved_share(greedy(policy, training, envs.envs[0].config, envs.cache))
    return (
        f"done: {run} solves {best_score:.1%} of {count} {split} equations by greedy decoding\n"
        f"next: python evaluate.py --run {run}{flags}"
    )


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
