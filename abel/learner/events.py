"""How the families were learned: solve events of a training run, read from its event files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

NOT_FAMILIES = ("rate", "coverage")
MAX_POINTS = 60


def read_scalars(run: Path, prefix: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Steps and values of every tag that begins with `prefix`, which is cut off."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run), size_guidance={"scalars": 0})
    events.Reload()
    found = {}
    for tag in sorted(events.Tags()["scalars"]):
        if tag.startswith(prefix):
            # A resumed run may log a step twice; the later one counts.
            last = {event.step: event.value for event in events.Scalars(tag)}
            steps = np.array(sorted(last))
            found[tag.removeprefix(prefix)] = steps, np.array([last[s] for s in steps.tolist()])
    return found


def training(run: Path) -> dict[str, Any]:
    """Solve rates of the families over training, and their shares of all solve events."""
    rates = {k: v for k, v in read_scalars(run, "solve/").items() if k not in NOT_FAMILIES}
    events = read_scalars(run, "events/")
    if not rates:
        return {"steps": [], "share": {}, "rate": {}}
    last = max(int(steps[-1]) for steps, _ in rates.values())
    num_bins = min(MAX_POINTS, max(len(steps) for steps, _ in rates.values()))
    edges = np.linspace(0, last, num_bins + 1)

    def binned(steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many values are in each bin, and their sum."""
        which = np.clip(np.searchsorted(edges, steps, "left") - 1, 0, num_bins - 1)
        return np.bincount(which, minlength=num_bins), np.bincount(which, values, num_bins)

    def mean(steps: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Of each bin; where nothing was logged, the last one stands."""
        count, total = binned(steps, values)
        last = np.maximum.accumulate(np.where(count > 0, np.arange(num_bins), -1))
        return np.where(last >= 0, (total / np.maximum(count, 1))[last], 0.0)

    rate = {family: mean(*series) for family, series in rates.items()}
    solves = {family: binned(*series)[1] for family, series in events.items()}
    total = np.maximum(sum(solves.values()), 1)
    return {
        "steps": [round(float(edge)) for edge in edges[1:]],
        "share": {family: (count / total).round(4).tolist() for family, count in solves.items()},
        "rate": {family: values.round(4).tolist() for family, values in rate.items()},
    }
