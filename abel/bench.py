"""Speed, measured against plain references in one run; ratios are printed as "47.1x".

python -m abel.bench env     # the environment against an uncached SymPy environment
python -m abel.bench train   # a short training, by parts; TreeMLP against the padded listing
python -m abel.bench soak    # a million random steps (--soak-steps): rate, slowest step, memory
python -m abel.bench audit   # 20,000 cases (--cases) whose truth is known, against the verifier
python -m abel.bench verdicts  # every root that runs/results has, proved again
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import resource
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import sympy
from sympy import S, Symbol, default_sort_key, preorder_traversal

from abel.datasets import DatasetError, load_dataset
from abel.encode import Observation
from abel.env import Env, EnvConfig, SyncVectorEnv
from abel.equation import Equation
from abel.learner.events import read_scalars
from abel.learner.records import RunError, provenance, write_json
from abel.operations.legality import MAX_NODES

MAX_STEPS = 12
PLAIN_LIMIT = 10  # seconds after which a plain step counts as hung and is abandoned

X = Symbol("x")
PLAIN_FUNCTIONS: dict[str, Callable] = {
    "square": lambda s: s**2,
    "sqrt": lambda s: sympy.powdenest(sympy.simplify(sympy.sqrt(s)), force=True),
    "cbrt": lambda s: sympy.powdenest(sympy.simplify(sympy.cbrt(s)), force=True),
    "exp": sympy.exp,
    "log": lambda s: sympy.expand_log(sympy.log(s), force=True),
    "sin": sympy.sin,
    "cos": sympy.cos,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "expand": sympy.expand,
    "collect": lambda s: sympy.collect(s, X),
    "mul -1": lambda s: -s,
}


class PlainEnv:
    """What one writes first: SymPy calls for everything, nothing remembered.

    Terms by traversal, the division mask by factor(), roots through simplify(), and the paper's
    chain of canonicalizers on every x = r. Kept as the yardstick of the benchmark only.
    """

    def __init__(self, equations: list[Equation], seed: int) -> None:
        self.equations = equations
        self.rng = random.Random(seed)
        self.reset()

    def reset(self) -> None:
        equation = self.equations[self.rng.randrange(len(self.equations))]
        self.start = equation.lhs - equation.rhs
        self.lhs, self.rhs, self.steps = equation.lhs, equation.rhs, 0

    def actions(self) -> list[tuple[str, sympy.Expr | None]]:
        nodes = {*preorder_traversal(self.lhs), *preorder_traversal(self.rhs)}
        terms = sorted(nodes - {S.Zero, S.One, -S.One}, key=default_sort_key)
        factored = sympy.Mul.make_args(sympy.factor(self.lhs - self.rhs))
        factors = {factor.as_base_exp()[0] for factor in factored}
        pairs = [(op, term) for op in ("add", "sub", "mul") for term in terms]
        pairs += [("div", term) for term in terms if term not in factors]
        return pairs + [(name, None) for name in PLAIN_FUNCTIONS]

    def apply(self, op: str, term: sympy.Expr | None) -> tuple[sympy.Expr, sympy.Expr]:
        if term is None:
            return PLAIN_FUNCTIONS[op](self.lhs), PLAIN_FUNCTIONS[op](self.rhs)
        change = {
            "add": lambda s: s + term,
            "sub": lambda s: s - term,
            "mul": lambda s: s * term,
            "div": lambda s: s / term,
        }[op]
        return change(self.lhs), change(self.rhs)

    def step(self) -> None:
        """Enumerate, choose at random, apply, check, encode."""
        op, term = self.rng.choice(self.actions())
        lhs, rhs = self.apply(op, term)
        if rhs.has(X) and not lhs.has(X):
            lhs, rhs = rhs, lhs
        size = sum(1 for side in (lhs, rhs) for _ in preorder_traversal(side))
        if lhs.has(X) and not lhs.has(S.ComplexInfinity, S.NaN, S.Infinity) and size <= MAX_NODES:
            self.lhs, self.rhs = lhs, rhs
        if self.lhs == X and not self.rhs.has(X):
            residual = self.start.subs(X, self.rhs)
            for canonical in (sympy.expand, sympy.powdenest, sympy.ratsimp, sympy.simplify):
                if canonical(residual) == 0:
                    break
        self.steps += 1
        if self.steps >= MAX_STEPS:
            self.reset()


def time_plain(env: PlainEnv, num_steps: int) -> list[float]:
    """Seconds of each step; one that hangs is cut off at the limit, and its episode dropped."""

    def hung(signum, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, hung)
    times = []
    try:
        for _ in range(num_steps):
            start = time.perf_counter()
            signal.alarm(PLAIN_LIMIT)
            try:
                env.step()
            except Exception:  # a hang, or whatever SymPy raises: it took its time all the same
                env.reset()
            signal.alarm(0)
            times.append(time.perf_counter() - start)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return times


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


def bench_train(args: argparse.Namespace) -> None:
    """Where a short training spends its time, and TreeMLP against the paper's padded listing."""
    import torch  # these sit above `abel`: only this command needs them

    import train_ppo
    from abel.paper.padded import PaddedTreeMLP, pad

    with tempfile.TemporaryDirectory() as out:
        flags = ["--dataset", args.dataset, "--total-timesteps", str(args.train_steps)]
        start = time.perf_counter()
        run = train_ppo.main(train_ppo.parse_args([*flags, "--out", out]), flags)
        seconds = time.perf_counter() - start
        times = read_scalars(run, "time/")
        parts = {name: float(times[name][1].sum()) for name in ("env", "network", "update")}
    rate = args.train_steps / seconds
    shares = {name: part / seconds for name, part in parts.items()}
    shares["rest"] = 1 - sum(shares.values())
    print(f"end to end {rate:.0f} steps/s: "
          + ", ".join(f"{name} {share:.0%}" for name, share in shares.items()))  # fmt: skip

    problems = load_dataset(args.dataset, "train")
    envs = SyncVectorEnv(64, problems, EnvConfig(max_steps=MAX_STEPS))
    states, _ = envs.reset(seed=0)
    rng = random.Random(0)
    seen: list[Observation] = []
    while len(seen) < 2048:
        seen += states
        states = envs.step([rng.randrange(len(state.actions)) for state in states])[0]
    encoder = train_ppo.paper_encoder(train_ppo.PRESETS["ppo-tree"]["net"])
    padded = PaddedTreeMLP(encoder)
    ratios = {}
    for size in (64, 1024):
        batches = [rng.sample(seen, size) for _ in range(args.turns * 1024 // size)]
        inputs = [pad(batch) for batch in batches]  # the listing's users store them padded
        spent = {"packed": 0.0, "padded": 0.0}
        for batch, columns in zip(batches, inputs):
            for name in spent:
                start = time.perf_counter()
                if name == "padded":
                    vectors = padded(*columns)
                else:
                    distinct = list({id(state): state for state in batch}.values())
                    vectors = encoder(train_ppo.collate(distinct, share=True))[1]
                vectors.sum().backward()
                spent[name] += time.perf_counter() - start
        ratios[size] = spent["padded"] / spent["packed"]
        print(f"TreeMLP, minibatch {size}: packed against padded {ratios[size]:.1f}x")
    if args.json:
        results = {
            **provenance(sys.argv[1:], []), "steps": args.train_steps,
            "seconds": round(seconds, 1), "steps_per_second": round(rate),
            "shares": {name: round(share, 3) for name, share in shares.items()},
            "packed_against_padded": {str(k): round(v, 1) for k, v in ratios.items()},
            "threads": torch.get_num_threads(),
        }  # fmt: skip
        write_json(Path(args.json), results)


def bench_audit(args: argparse.Namespace) -> int:
    """Attack the solving criterion; 1 if a claim is false, or a case itself is wrong."""
    from abel.audit.judge import audit, is_clean

    origin = provenance(sys.argv[1:], [])
    found = audit(args.cases, args.seed, limit=args.limit, say=lambda text: print(text, flush=True))
    if args.json:
        write_json(Path(args.json), {**origin, "seed": args.seed, "attacks": found})
    false = sum(tally["false"] for tally in found.values())
    print(f"{args.cases:,} cases, {false} false claims")
    return 0 if is_clean(found) else 1


def bench_verdicts(args: argparse.Namespace) -> int:
    """Prove again what was proved before; 1 if one of these roots is refuted or undefined."""
    from abel.audit.judge import prove_again, stored_roots

    files = sorted(Path(args.results).rglob("*.json"))
    pairs = [pair for path in files for pair in stored_roots(json.loads(path.read_text()))]
    found = prove_again(dict.fromkeys(pairs))
    print(f"{found['roots']:,} stored roots, {found['statuses'].get('proved', 0):,} proved again,"
          f" {found['mean_ms']:.2f} ms each; {found['not_read']} too large to read")  # fmt: skip
    for entry in found["lost"]:
        print(f"  {entry['status']}: {entry['root']} of {entry['equation']}")
    if args.json:
        write_json(Path(args.json), {**provenance(sys.argv[1:], []), **found})
    return 1 if {"refuted", "undefined"} & found["statuses"].keys() else 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.bench", description=__doc__.splitlines()[0]
    )
    parser.add_argument("what", choices=["env", "train", "soak", "audit", "verdicts"])
    parser.add_argument("--dataset", default="open_small", help="equations to play on")
    parser.add_argument("--seeds", type=int, default=5, help="independent repetitions")
    parser.add_argument("--steps", type=int, default=4000, help="steps of ours a seed")
    parser.add_argument(
        "--plain-steps", type=int, default=120, help="steps of the reference a seed"
    )
    parser.add_argument("--train-steps", type=int, default=100_000, help="steps of the training")
    parser.add_argument("--soak-steps", type=int, default=1_000_000, help="steps of the soak")
    parser.add_argument("--again", type=int, default=0, help="times the soak repeats each round")
    parser.add_argument("--cases", type=int, default=20_000, help="cases of the audit")
    parser.add_argument("--seed", type=int, default=0, help="of the audit's cases")
    parser.add_argument("--limit", type=float, default=10, help="seconds of CPU a verdict may take")
    parser.add_argument("--turns", type=int, default=4, help="times the two alternate a seed")
    parser.add_argument("--results", default="runs/results", help="folder of stored roots")
    parser.add_argument("--json", help="file for the results")
    args = parser.parse_args(argv)
    if min(args.seeds, args.steps, args.plain_steps, args.turns, args.train_steps) < 1:
        parser.error("--seeds, --steps, --plain-steps, --train-steps and --turns must be positive")
    if args.soak_steps < 10 or args.again < 0:
        parser.error("--soak-steps must be at least 10, --again at least 0")
    if args.cases < 1 or args.limit <= 0:
        parser.error("--cases and --limit must be positive")
    try:
        commands = {
            "env": bench_env, "train": bench_train, "soak": bench_soak, "audit": bench_audit,
            "verdicts": bench_verdicts,
        }  # fmt: skip
        return commands[args.what](args) or 0
    except (DatasetError, RunError) as error:
        print(f"abel.bench: {error}", file=sys.stderr)
        return 2
    finally:
        gc.enable()


if __name__ == "__main__":
    sys.exit(main())
