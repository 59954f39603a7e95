"""Why a root is proved in the original equation: the paper's published traces, replayed.

    python -m abel.soundness [--json FILE]

For every held-out equation of the four families: what the paper's criterion counts as solved, and
what is a root of the equation that was asked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sympy import Expr, Integer, Symbol

from abel.datasets import FAMILIES, load_dataset, textbook
from abel.env import Env, EnvConfig
from abel.equation import ZERO, Equation, X, has_x
from abel.learner.records import provenance, write_json
from abel.operations.detector import change_variables, propose
from abel.operations.relabel import relabel
from abel.paper.check import plain
from abel.report.tables import layout
from abel.rewrite import collect, expand, product, replace
from abel.transforms import Relabel, Substitute, Transform, unwind
from abel.verify import verify_root

SETS = ("open_small", "open_large")


def published(equation: Equation) -> tuple[Expr, Expr, tuple[Transform, ...]] | None:
    """Where the recipe of the paper's table of traces ends, and the transforms on the way.

    cov; for an exponential mul x, expand, cov; relabel, mul -1, mul x, collect, div by the other
    factor, relabel. The division loses every root, which the environment here does not allow, so
    it is plain algebra.
    """
    lhs, rhs = equation.lhs, equation.rhs
    stack: tuple[Transform, ...] = ()
    while (phi := propose(lhs, rhs)) is not None:
        lhs, rhs = change_variables(lhs, rhs, phi)
        stack += (Substitute(phi),)
        if lhs.has(1 / X):
            lhs, rhs = expand(product(lhs, X)), expand(product(rhs, X))
    if not stack or rhs is not ZERO:
        return None
    lhs, rhs, named = relabel(lhs, rhs)
    bracket = product(Integer(-1), lhs)
    lhs = collect(product(X, bracket))
    lhs = product(lhs, bracket**-1)
    lhs, rhs, again = relabel(lhs, rhs)
    return lhs, rhs, (*stack, named, again)


def counts_as_solved(lhs: Expr, rhs: Expr) -> bool:
    """The paper's criterion: x = r, r free of x, and a root of the equation as it stands."""
    return lhs == X and not has_x(rhs) and replace(lhs - rhs, {X: rhs}) == 0


def one_by_one(stack: Sequence[Transform], root: Expr) -> Expr:
    """A root carried back as a list of substitutions for letters is, each after the other: a
    letter that stands in an earlier one's block is taken for the later one.
    """
    root = plain(root)
    for transform in reversed(stack):
        if isinstance(transform, Relabel):
            for label in transform.labels:
                root = root.subs(Symbol(label.name), plain(label.block))
        elif isinstance(transform, Substitute):
            root = plain(transform.phi).subs(X, root)
    return root


def measure(name: str) -> dict[str, list[int]]:
    """Solved by the paper's criterion and proved, of each way to solve the set's equations."""
    problems = [p for p in load_dataset(name, "heldout") if p.family in FAMILIES]
    counts = {"published": [0, 0], "honest, one by one": [0, 0], "honest": [0, 0]}
    for problem in problems:
        equation = problem.equation
        ended = published(equation)
        if ended is not None:
            lhs, rhs, stack = ended
            counts["published"][0] += counts_as_solved(lhs, rhs)
            counts["published"][1] += bool(verify_root(equation, unwind(stack, rhs)))
        env = Env([problem], EnvConfig(terms="blocks", max_steps=30))
        env.reset(options={"index": 0})
        solved = textbook.solve(env, relabel=True)
        if not env.form.solved_form:
            continue
        for way in ("honest, one by one", "honest"):
            counts[way][0] += 1
        carried = one_by_one(env.state.stack, env.form.rhs)
        counts["honest, one by one"][1] += bool(verify_root(equation, carried))
        counts["honest"][1] += solved
    return {"n": [len(problems)], **counts}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m abel.soundness", description=measure.__doc__)
    parser.add_argument("--json", help="also write the counts to this file")
    args = parser.parse_args(argv)
    found: dict[str, Any] = {name: measure(name) for name in SETS}
    rows = [
        [f"{name}, {way}", f"{counted} of {each['n'][0]}", f"{proved} of {each['n'][0]}"]
        for name, each in found.items()
        for way, (counted, proved) in list(each.items())[1:]
    ]
    print(layout([["", "counted as solved", "roots"], *rows]))
    if args.json:
        origin = provenance(argv if argv is not None else sys.argv[1:], [])
        write_json(Path(args.json), {**found, "provenance": origin})
    return 0


if __name__ == "__main__":
    sys.exit(main())
