"""How exact a generator is beside the CAS detector, what it solves, and what a call costs."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from functools import cache

from sympy import Expr

from abel.datasets import FAMILIES, Problem, load_dataset, textbook
from abel.env import Env, EnvConfig
from abel.operations import Generator, propose
from abel.picov.grammar import draw_equations, training_pool, view_of
from abel.picov.network import LearnedGenerator, PiCov, load_network
from abel.picov.supervise import CLOSED, Args
from abel.rewrite import coefficients, difference, expand
from abel.verify import is_identity


def same(one: Expr | None, other: Expr | None) -> bool:
    """Equal as functions of x and the coefficients, by symbols: their difference is proved 0."""
    if one is None or other is None or one == other:
        return one is other or one == other
    return is_identity(difference(one, other))


def family_of(phi: Expr | None, lhs: Expr, rhs: Expr) -> str:
    if phi is None:
        return "none"
    coeffs = coefficients(expand(difference(lhs, rhs)))
    return "exponential" if coeffs is None else FAMILIES[len(coeffs) - 3]


def compare(generator: Generator, equations: Sequence[tuple[Expr, Expr]]) -> dict:
    """Exact answers by the CAS detector's family, false substitutions, and the mistakes."""
    rows: dict[str, list[int]] = {}
    mistakes = []
    for lhs, rhs in equations:
        wanted, got = propose(lhs, rhs), generator(lhs, rhs)
        row = rows.setdefault(family_of(wanted, lhs, rhs), [0, 0])
        right = same(wanted, got)
        row[0] += right
        row[1] += 1
        if not right:
            mistakes.append(f"{lhs} = {rhs}: {got} instead of {wanted}")
    none = rows.get("none", [0, 0])
    return {
        "exact": sum(right for right, _ in rows.values()),
        "of": len(equations),
        "by_family": {family: rows[family] for family in (*FAMILIES, "none") if family in rows},
        "false_substitutions": none[1] - none[0],
        "without_substitution": none[1],
        "mistakes": mistakes,
    }


def seconds_per_call(generator: Generator, equations: Sequence[tuple[Expr, Expr]]) -> float:
    start = time.process_time()
    for lhs, rhs in equations:
        generator(lhs, rhs)
    return (time.process_time() - start) / len(equations)


@cache
def heldout_equations(kind: str, count: int) -> list[tuple[Expr, Expr]]:
    """Letters, scales and shapes of coefficients not in training; the same for every seed.

    `families` are the paper's, as given and in mid-episode; `other` is made to look like them.
    """
    families = FAMILIES if kind == "families" else ("other",)
    return list(draw_equations(random.Random(kind), count, True, families))


def heldout_results(net: PiCov, args: Args) -> dict:
    """Exactness on unseen equations; nearly all of a family look like seen ones, so those that do
    not are also counted apart.
    """
    pool = training_pool(args.pool_seed, args.pool_size, CLOSED)
    seen, results = {view.key for view, _ in pool}, {}
    for kind, count in (("families", args.heldout), ("other", args.heldout // 2)):
        equations = heldout_equations(kind, count)
        views = [view_of(lhs, rhs) for lhs, rhs in equations]
        new = [pair for pair, view in zip(equations, views) if view and view.key not in seen]
        results[kind] = compare(LearnedGenerator(net), equations)
        results[f"{kind}, new views"] = compare(LearnedGenerator(net), new)
    return results


def dataset_equations(name: str, split: str) -> list[tuple[Expr, Expr]]:
    return [(p.equation.lhs, p.equation.rhs) for p in load_dataset(name, split)]


def wandered_equations(name: str, count: int) -> list[tuple[Expr, Expr]]:
    """What random legal steps make of held-out equations, changes of variables among them."""
    env, rng = Env(load_dataset(name, "heldout"), EnvConfig()), random.Random(0)
    found: dict[tuple[Expr, Expr], None] = {}
    while len(found) < count:
        env.reset(options={"index": rng.randrange(len(env.equations))})
        for _ in range(6):
            if not env.ended:
                ops = sorted({action.op for action in env.actions})
                op = rng.choice(ops)  # else the many terms of add and mul crowd out the rest
                chosen = [i for i, action in enumerate(env.actions) if action.op == op]
                env.step(rng.choice(chosen))
                found[env.form.lhs, env.form.rhs] = None
    return list(found)


def measure(args: Args) -> dict:
    """All that is claimed about a generator."""
    net = load_network(args.out)
    generator = LearnedGenerator(net)
    results = {
        kind: compare(generator, heldout_equations(kind, args.heldout))
        for kind in ("families", "other")
    }
    for name in ("small", "large", "poesia", "open_small", "open_large"):
        split = "heldout" if name.startswith("open") else "test"
        results[name] = compare(generator, dataset_equations(name, split))
    results["open_large, random steps"] = compare(generator, wandered_equations("open_large", 2000))
    for name in ("open_small", "open_large"):
        problems = load_dataset(name, "heldout")
        rates = {"learned": solved_by_script(problems, LearnedGenerator(net))}
        rates["cas"] = solved_by_script(problems, propose)
        results[f"{name}_solved_by_script"] = {
            who: {family: [sum(row), len(row)] for family, row in rows.items()}
            for who, rows in rates.items()
        }
    results["seconds_per_call"] = costs(net)
    return results


def costs(net: PiCov) -> dict[str, float]:
    """CPU seconds per call, each on equations that no cache has seen (but for the last two)."""
    equations = dataset_equations("cov_large", "train")
    random.Random(0).shuffle(equations)
    parts, generator = [equations[n : n + 300] for n in (0, 300, 600)], LearnedGenerator(net)

    def forgetful(lhs: Expr, rhs: Expr) -> Expr | None:
        generator.programs.clear()
        return generator(lhs, rhs)

    return {
        "cas": seconds_per_call(propose, parts[0]),
        "learned": seconds_per_call(forgetful, parts[1]),
        "learned, views remembered": seconds_per_call(generator, parts[2]),
        "learned, equations remembered": seconds_per_call(generator, parts[2]),
    }


def solved_by_script(problems: Sequence[Problem], generator: Generator) -> dict[str, list[bool]]:
    """Which problems the textbook solver solves with this generator's substitutions, by family."""
    env = Env(problems, EnvConfig(cov="learned", terms="blocks"), generator=generator)
    rows: dict[str, list[bool]] = {}
    for index, problem in enumerate(problems):
        env.reset(options={"index": index})
        rows.setdefault(problem.family, []).append(textbook.solve(env))
    return rows
