"""`env` and `soak`: how fast the environment is, and whether it lasts."""

from __future__ import annotations

import argparse
import gc
import random
import resource
import statistics
import sys
from pathlib import Path

from abel.bench.plain import MAX_STEPS, PlainEnv, time_plain
from abel.bench.times import Durations, percentiles, quantiles, time_ours, time_warm
from abel.datasets import load_dataset
from abel.env import Env, EnvConfig
from abel.learner.records import provenance, write_json


def bench_env(args: argparse.Namespace) -> None:
    """Cold environment against the plain one, in turns, on the same equations; then cold against
    warm.
    """
    equations = [problem.equation for problem in load_dataset(args.dataset, "train")]
    gc.disable()  # its pauses belong to neither side
    cold_times, plain_times, ratios, warm_rates = [], [], [], []
    for seed in range(args.seeds):
        env = Env(equations, EnvConfig(max_steps=MAX_STEPS))
        _, info = env.reset(seed=seed)
        first, rng = info["index"], random.Random(seed)
        log: list[tuple] = []
        plain = PlainEnv(equations, seed)
        ours, theirs = [], []
        for _ in range(args.turns):
            ours += time_ours(env, rng, args.steps // args.turns, log)
            theirs += time_plain(plain, args.plain_steps // args.turns)
        ratios.append(statistics.mean(theirs) / statistics.mean(ours))
        warm_rates.append(len(log) / min(time_warm(env, first, log) for _ in range(3)))
        cold_times += ours
        plain_times += theirs
        print(f"seed {seed}: cold {len(ours) / sum(ours):7.0f} steps/s,"
              f" plain {len(theirs) / sum(theirs):5.1f}, ratio {ratios[-1]:.1f}x,"
              f" warm {warm_rates[-1]:9.0f}, failed actions {env.cache.failures}",
              flush=True)  # fmt: skip
        gc.collect()
    cold_rate = len(cold_times) / sum(cold_times)
    if args.json:
        results = {
            **provenance(sys.argv[1:], []),
            "seeds": args.seeds, "steps": len(cold_times), "plain_steps": len(plain_times),
            "cold_steps_per_second": round(cold_rate), "ratios": [round(r, 1) for r in ratios],
            "warm_steps_per_second": [round(rate) for rate in warm_rates],
            "cold_ms": percentiles(cold_times), "plain_ms": percentiles(plain_times),
        }  # fmt: skip
        write_json(Path(args.json), results)
    print(f"cold   {quantiles(cold_times)}")
    print(f"plain  {quantiles(plain_times)}")
    print(f"cold against plain, median of {args.seeds} seeds: {statistics.median(ratios):.1f}x")
    print(f"warm against cold: {statistics.median(warm_rates) / cold_rate:.1f}x"
          f" ({statistics.median(warm_rates):.0f} steps/s)")  # fmt: skip


def memory_mb() -> float:
    """What this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def bench_soak(args: argparse.Namespace) -> None:
    """Random play for long: nothing may raise, hang, fail or grow.

    Every round of new steps is played `--again` times more, from the cache, where a trained agent
    mostly is. Memory is noted at every tenth of the way. Caches fill at first; flat means that the
    second half adds next to nothing.
    """
    equations = [problem.equation for problem in load_dataset(args.dataset, "train")]
    env = Env(equations, EnvConfig(max_steps=MAX_STEPS))
    _, info = env.reset(seed=0)
    rng, times, origin = random.Random(0), Durations(), provenance(sys.argv[1:], [])
    memory: dict[int, int] = {}  # megabytes by steps done
    marks = [-(-args.soak_steps * tenth // 10) for tenth in range(1, 11)]
    steps = 0
    gc.disable()
    for mark in marks:
        while steps < mark:
            log: list[tuple] = []
            times.add(time_ours(env, rng, -(-min(20_000, mark - steps) // (1 + args.again)), log))
            for _ in range(args.again):
                times.add([time_warm(env, info["index"], log) / len(log)] * len(log))
            _, info = env.reset()
            steps += len(log) * (1 + args.again)
            gc.collect(2 if steps >= mark else 1)  # as in training, where a full one is rare
            memory[mark] = round(memory_mb())
            results = {
                **origin,
                "dataset": args.dataset, "again": args.again,
                "steps": steps, "seconds": round(times.total, 1),
                "ms": times.percentiles(), "failed_actions": env.cache.failures,
                "memory_mb": memory, "forms": len(env.cache.forms),
                "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
            }  # fmt: skip
            if steps >= args.soak_steps:
                results["second_half_growth_mb"] = memory[marks[-1]] - memory[marks[4]]
            if args.json:  # after every round, so that a run cut short leaves its figures
                write_json(Path(args.json), results)
            named = "  ".join(f"{name} {ms:9.2f}" for name, ms in results["ms"].items())
            print(f"{steps:10,} steps  {steps / times.total:7.0f} steps/s   {named} ms"
                  f"  failed actions {env.cache.failures}  memory {memory[mark]} MB",
                  flush=True)  # fmt: skip
    print(f"memory at each tenth: {', '.join(map(str, memory.values()))} MB;"
          f" the second half added {results['second_half_growth_mb']} MB")  # fmt: skip
