"""What an iteration of training says of itself: values are gathered by tag and logged as means."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from abel.learner.curriculum import SolveCounts
from abel.learner.replay import Finished, Memory
from abel.learner.rollout import Workers
from abel.operations import OPERATIONS, SUBSTITUTIONS

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def event_writer(run: Path) -> SummaryWriter:
    """Writes a run's event files."""
    from torch.utils.tensorboard import SummaryWriter  # here, for a trained agent needs none of it

    return SummaryWriter(str(run))


class Clock:
    """Seconds of a run and of its iterations, those before a resumption included."""

    def __init__(self, seconds: float, cpu_seconds: float) -> None:
        self.before = seconds, cpu_seconds
        self.started = time.perf_counter()

    def begin(self) -> None:
        """An iteration begins."""
        self.began = time.perf_counter()

    def collect(self, workers: Workers) -> None:
        """Its rollout is complete."""
        self.collected, self.env = time.perf_counter(), workers.seconds
        workers.seconds = 0.0

    @property
    def seconds(self) -> float:
        return self.before[0] + time.perf_counter() - self.started

    @property
    def cpu_seconds(self) -> float:
        return self.before[1] + time.process_time()


class Scalars:
    """Values of one iteration by tag."""

    def __init__(self) -> None:
        self.values: dict[str, list[Any]] = defaultdict(list)

    def add(self, group: str, **values: Any) -> None:
        """One more value for each of the group's tags: numbers or tensors of one number."""
        for name, value in values.items():
            kept = value.detach() if isinstance(value, Tensor) else value
            self.values[f"{group}/{name}"].append(kept)

    def largest(self, loss: str) -> float:
        """The largest value so far of one of the losses."""
        return max(map(float, self.values[f"losses/{loss}"]))

    def write(self, writer: SummaryWriter, step: int) -> dict[str, float]:
        """Log the means, and return them."""
        means = {tag: float(np.mean([float(v) for v in vs])) for tag, vs in self.values.items()}
        for tag, value in means.items():
            writer.add_scalar(tag, value, step)
        return means

    # ---- Groups of tags ----

    def add_steps(self, workers: Workers, actions: Sequence[int]) -> None:
        """What is about to be done in every environment."""
        for observation, action, episode in zip(workers.observations, actions, workers.episodes):
            taken, legal = observation.actions[action], len(observation.actions)
            changes = OPERATIONS[taken.op].kind in SUBSTITUTIONS
            self.add("actions", legal_count=legal, cov_rate=changes)
            if episode:
                seen, index, _ = episode[-1]
                self.add("actions", repeat_rate=taken == seen.actions[index])

    def add_episode(self, ended: Finished, counts: SolveCounts) -> None:
        total = sum(reward for _, _, reward in ended.steps)
        family = counts.classes[counts.class_of[ended.equation]]
        self.add("charts", episodic_return=total, episodic_length=len(ended.steps))
        self.add("solve", rate=ended.solved)
        self.add("solve", **{family: ended.solved})

    def add_curriculum(self, counts: SolveCounts, weights: np.ndarray) -> None:
        """How likely the next equation is of each family, and its episodes solved just now."""
        for family, weight in zip(counts.classes, weights):
            self.add("curriculum", **{family: weight})
            self.add("events", **{family: sum(self.values.get(f"solve/{family}", ()))})

    def add_explained(self, values: Tensor, advantages: Tensor) -> None:
        """Share of the returns' variance that the values explain; 0 if the returns are equal."""
        returns = (advantages + values).reshape(-1)
        spread = returns.var()
        unexplained = (returns - values.reshape(-1)).var() / spread if spread else 1.0
        self.add("losses", explained_variance=1 - unexplained)

    def add_replay(self, memories: Sequence[Memory], iteration: int) -> None:
        self.add("replay", size=len(memories))
        if memories:
            self.add("replay", age=iteration - np.mean([memory.born for memory in memories]))

    def add_times(self, clock: Clock, steps: int) -> None:
        """Where the iteration's time went, and how fast its environment steps were."""
        spent = clock.collected - clock.began
        ended = time.perf_counter()
        self.add("charts", SPS=steps / (ended - clock.began))
        self.add("time", env=clock.env, network=spent - clock.env, update=ended - clock.collected)
        self.add("time", total=clock.seconds, cpu=clock.cpu_seconds)
