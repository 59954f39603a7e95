"""The reports: each a function from a study and its run to plain data.

A table for a terminal is in `abel.report.tables`, a section of the page in `abel.report.pages`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from abel.analysis.derivations import derivations
from abel.analysis.failures import failures
from abel.analysis.probes import MAX_POINTS, dormant, embeddings
from abel.analysis.trigger import decomposition, trigger
from abel.analysis.variants import generalisation
from abel.encode import Observation
from abel.env import EnvConfig
from abel.learner.batch import collate
from abel.learner.events import read_scalars, training
from abel.operations import Generator, settle
from abel.report.study import COST, Study, show_trace
from abel.search import greedy

WIDTHS = (1, 2, 5, 10, 20)
DORMANT_THRESHOLD = 0.1
ABOUT_COV = ("trigger", "decomposition")  # reports on cov, which general agents do not have

ReportName = Literal[
    "families", "widths", "search", "trigger", "decomposition", "failures", "cost", "dormant",
    "embeddings", "training", "generalisation", "derivations", "traces",
]  # fmt: skip


@dataclass(frozen=True)
class Run:
    """A trained agent, what it was trained with, and where its reports go."""

    agent: Any
    forward: Callable[[Sequence[Observation]], Any]  # what the agent's network makes of states
    dataset: str
    config: EnvConfig
    generator: Generator
    step: int
    cpu_seconds: float | None  # of the training; a bundle's are in its provenance
    folder: Path
    out: Path


def families_report(study: Study, run: Run) -> dict[str, Any]:
    decoders = {name: study.summary(name) for name in ("greedy", "beam")}
    return {"n": len(study.problems), "width": study.width, "decoders": decoders}


def widths_report(study: Study, run: Run) -> dict[str, Any]:
    rows = [study.summary("beam", width) for width in WIDTHS]
    parallel = {name: [row[name] for row in rows] for name in COST}
    return {"n": len(study.problems), "widths": list(WIDTHS), **parallel}


def search_report(study: Study, run: Run) -> dict[str, Any]:
    rows = {name: study.summary(name) for name in ("bfs", "astar", "oracle")}
    rows["oracle"]["failures"] = [
        {"equation": problem.text, "family": problem.family, "reason": outcome.reason}
        for problem, outcome in zip(study.problems, study.decode("oracle"))
        if not outcome.solved
    ]
    about = {"n": len(study.problems), "budget": study.budget, "limit_seconds": study.limit}
    return {**about, **rows}


def decomposition_report(study: Study, run: Run) -> dict[str, Any]:
    other = replace(study.config, cov="cas" if study.config.cov == "learned" else "learned")
    return decomposition(
        study.policy, study.problems, study.config, study.generator, other.generator(),
        **study.beam_flags(),
    )  # fmt: skip


def failures_report(study: Study, run: Run) -> dict[str, Any]:
    cache = study.new_cache()
    solutions = greedy(study.policy, study.problems, study.config, cache, loops=True)
    return failures(solutions, study.families, cache, study.config.max_steps)


def cost_report(study: Study, run: Run) -> dict[str, Any]:
    return {"n": len(study.problems), "budget": study.budget, "rows": study.costs()}


def dormant_report(study: Study, run: Run) -> dict[str, Any]:
    """Over all states that the greedy policy meets."""
    paths = [outcome.solution.path for outcome in study.decode("greedy") if outcome.solution]
    states = [observation for path in paths for observation, *_ in path]
    report = dormant(run.agent, lambda: run.forward(states), DORMANT_THRESHOLD)
    return {"n": len(states), **report}


@torch.no_grad()
def embeddings_report(study: Study, run: Run) -> dict[str, Any]:
    problems, cache = study.problems[:MAX_POINTS], study.new_cache()
    forms = [cache.form(*settle(p.equation.lhs, p.equation.rhs)) for p in problems]
    states = [cache.observe(form, True) for form in forms]
    _, graph = run.agent.encoder(collate(states, run.agent.net.share))  # [N, H]
    labels, kinds = [problem.text for problem in problems], study.families[:MAX_POINTS]
    return embeddings(graph.numpy(), labels, kinds, run.out / "projector")


def derivations_report(study: Study, run: Run) -> dict[str, Any]:
    outcomes = zip(study.decode("greedy"), study.families)
    solutions = [(each.solution, family) for each, family in outcomes if each.solution]
    coverage = read_scalars(run.folder, "solve/coverage").get("")
    data = derivations(solutions, read_scalars(run.folder, "events/"))
    return {**data, "coverage": None if coverage is None else round(float(coverage[1][-1]), 4)}


def compared(report: Callable[..., dict[str, Any]]) -> Callable[[Study, Run], dict[str, Any]]:
    """A report that needs the agent, the equations and the environment, nothing more."""
    return lambda study, _: report(study.policy, study.problems, study.config, study.generator)


def traces_report(study: Study, run: Run) -> dict[str, Any]:
    """One solved equation of each family, the first that greedy or else the beam has solved."""
    chosen: dict[str, dict[str, Any]] = {}
    for outcomes in (study.decode("greedy"), study.decode("beam")):
        for problem, outcome in zip(study.problems, outcomes):
            if outcome.solution and outcome.solved and problem.family not in chosen:
                chosen[problem.family] = show_trace(problem, outcome.solution)
    return {"traces": [chosen[family] for family in sorted(chosen)]}


REPORTS: dict[str, Callable[[Study, Run], dict[str, Any]]] = {
    "families": families_report, "widths": widths_report, "search": search_report,
    "trigger": compared(trigger), "decomposition": decomposition_report, "cost": cost_report,
    "failures": failures_report, "dormant": dormant_report, "embeddings": embeddings_report,
    "training": lambda _, run: training(run.folder), "generalisation": compared(generalisation),
    "derivations": derivations_report, "traces": traces_report,
}  # fmt: skip
