"""What of open_wild is solved without learning, and what agents solve of the rest.

python -m abel.wild --mark astar --split nested    # which equations a search alone solves
python -m abel.wild --rates RESULTS.json ...       # what an agent solves of those that it does not
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from abel.datasets import FOLDER, WILD, Problem, load_dataset
from abel.env import SUPPLIED, EnvConfig
from abel.learner.records import provenance, write_json
from abel.search import Oracle, search

BUDGET, LIMIT = 100, 10.0  # states that A* expands, seconds for SymPy
SOLVERS = {
    "astar": f"A* without a policy, {BUDGET} states expanded",
    "sympy": f"SymPy's solve in {LIMIT:g} s of CPU, its root proved",
}


def load_marks(solver: str, folder: Path = FOLDER) -> dict[str, bool]:
    """Whether `astar` or `sympy` solves an equation, by its text, as far as it was tried."""
    path = folder / f"{WILD}.{solver}.marks"
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {text: solved == "1" for solved, text in rows}


def mark(solver: str, problems: list[Problem], folder: Path = FOLDER) -> None:
    """Note which of the problems a solver without learning solves, but for those already noted."""
    config = EnvConfig(
        substitutions="general", relabel=False, branches=True, terms="blocks", max_steps=16,
        **SUPPLIED,
    )  # fmt: skip  # an agent's own, so that the same actions are searched
    known, path = load_marks(solver, folder), folder / f"{WILD}.{solver}.marks"
    if not known:
        path.write_text(f"# 1 if solved by {SOLVERS[solver]}\n", encoding="utf-8")
    with Oracle(LIMIT) as oracle, path.open("a", encoding="utf-8") as file:
        for problem in problems:
            if problem.text in known:
                continue
            if solver == "astar":
                cache = config.new_cache()
                solved = search(problem, config, cache, budget=BUDGET, weight=1.0).solved
            else:
                solved = oracle(problem.text).root is not None
            print(int(solved), problem.text, sep="\t", file=file, flush=True)


def rates(results: list[dict]) -> list[dict]:
    """Solved of asked: of all equations, and of those that others do not solve.

    `results` are of `evaluate.py --json`; several of one split and decoder are seeds, and their
    counts stand side by side. "always" counts a root that holds only under a condition as not
    found.
    """
    marks = {solver: load_marks(solver) for solver in SOLVERS}
    seeds: dict[tuple[str, str], list[list[dict]]] = {}
    for result in results:
        for decoder in result["decoders"]:
            seeds.setdefault((result["split"], decoder), []).append(result["equations"])
    rows = []
    for (split, decoder), found in seeds.items():
        texts = [row["equation"] for row in found[0]]
        hard = {s: {t for t in texts if known.get(t) is False} for s, known in marks.items()}
        row: dict = {"split": split, "decoder": decoder}
        for column, key, some in (
            ("solved", "solved_by", set(texts)), ("always", "always_by", set(texts)),
            ("A* fails", "solved_by", hard["astar"]), ("SymPy fails", "solved_by", hard["sympy"]),
            ("both fail", "solved_by", hard["astar"] & hard["sympy"]),
        ):  # fmt: skip
            counts = [
                sum(decoder in r[key] for r in seed if r["equation"] in some) for seed in found
            ]
            row[column] = {"n": len(some), "seeds": counts}
        rows.append(row)
    return rows


def rates_table(rows: list[dict]) -> str:
    """The same in Markdown."""
    lines = [list(rows[0])]
    for row in rows:
        lines.append([
            f"{', '.join(map(str, cell['seeds']))} of {cell['n']}"
            if isinstance(cell, dict)
            else cell
            for cell in row.values()
        ])  # fmt: skip
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *rest])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m abel.wild", description=mark.__doc__)
    splits = ("train", "val", "test", "zeroshot", "nested")
    job = parser.add_mutually_exclusive_group(required=True)
    job.add_argument("--mark", choices=SOLVERS)
    job.add_argument("--rates", nargs="+", type=Path, metavar="RESULTS", help=rates.__doc__)
    parser.add_argument("--split", choices=splits, default="test", help="to mark")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rates there, too")
    args = parser.parse_args(argv)
    if args.mark:
        mark(args.mark, load_dataset(WILD, args.split))
        return 0
    try:
        results = [json.loads(path.read_text(encoding="utf-8")) for path in args.rates]
        rows = rates(results)
        print(rates_table(rows))
        if args.json:
            agents = [
                {"run": Path(r["run"]).name, "checkpoint_step": r["checkpoint_step"]}
                for r in results
            ]
            told = sys.argv[1:] if argv is None else argv
            write_json(args.json, {"rows": rows, "agents": agents, **provenance(told, [])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"abel.wild: not results of evaluate.py --json: {error}", file=sys.stderr)
        return 2
    return 0
