"""Durations of steps: played, played again from the cache, and summed up in fixed memory."""

from __future__ import annotations

import math
import random
import time
from collections import Counter

from abel.env import Env


def time_ours(env: Env, rng: random.Random, num_steps: int, log: list[tuple]) -> list[float]:
    """Seconds of each step with the reset that may follow it; `log` records what was done."""
    times = []
    observation = env.observation
    for _ in range(num_steps):
        action = rng.randrange(len(observation.actions))
        start = time.perf_counter()
        observation, _, terminated, truncated, _ = env.step(action)
        index = None
        if terminated or truncated:
            observation, info = env.reset()
            index = info["index"]
        times.append(time.perf_counter() - start)
        log.append((action, index))
    return times


def time_warm(env: Env, first: int, log: list[tuple]) -> float:
    """Seconds to do all of `log` again, every state and successor being in the cache."""
    env.reset(options={"index": first})
    step, reset = env.step, env.reset
    start = time.perf_counter()
    for action, index in log:
        step(action)
        if index is not None:
            reset(options={"index": index})
    return time.perf_counter() - start


def percentiles(times: list[float]) -> dict[str, float]:
    """Milliseconds that half of the steps, 99 % and so on stay below."""
    ordered = sorted(times)
    places = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
    return {
        name: round(1000 * ordered[min(int(q * len(ordered)), len(ordered) - 1)], 3)
        for name, q in places.items()
    }


def quantiles(times: list[float]) -> str:
    named = "  ".join(f"{name} {value:9.2f}" for name, value in percentiles(times).items())
    return f"{len(times) / sum(times):7.0f} steps/s   {named} ms"


class Durations:
    """Any number of durations in fixed memory: counts in buckets that are 2 % wide."""

    WIDTH = 1.02

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.total = self.largest = 0.0

    def add(self, times: list[float]) -> None:
        self.counts.update(math.ceil(math.log(t, self.WIDTH)) for t in times)
        self.total += sum(times)
        self.largest = max(self.largest, *times)

    def percentiles(self) -> dict[str, float]:
        """As the function of this name, rounded up to the next bucket."""
        found, seen, wanted = {}, 0, {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
        for bucket in sorted(self.counts):
            seen += self.counts[bucket]
            for name, share in wanted.items():
                if name not in found and seen >= share * self.counts.total():
                    found[name] = round(1000 * self.WIDTH**bucket, 3)
        return {**found, "max": round(1000 * self.largest, 3)}
