"""Who decides when variables change: the policy, or a rule in its place.

A regime masks the change of variables (cov) from the policy and hands the decision to a rule; the
policy still chooses all else. Definitions as in the paper's section on the trigger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from abel.datasets import FAMILIES, Problem
from abel.env import EnvConfig
from abel.operations import Generator, propose
from abel.rewrite import expandable
from abel.search import Node, Policy, Solution, Steer, beam, greedy

REGIMES = ("never", "always", "rule", "learned", "rule+expand")


def only_op(node: Node, op: str) -> np.ndarray:
    """Log-probabilities that leave nothing but `op`."""
    return np.array([0.0 if a.op == op else -np.inf for a in node.observation.actions])


def without_cov(node: Node, log_probs: np.ndarray) -> np.ndarray:
    """The log-probabilities when variables may not change."""
    barred = np.array([action.op == "cov" for action in node.observation.actions], dtype=bool)
    return np.where(barred, -np.inf, log_probs)


def steer_for(regime: str, generator: Generator) -> Steer | None:
    """What a regime does to the policy's log-probabilities; None leaves the trigger to it."""
    if regime not in REGIMES:
        raise ValueError(f"unknown regime {regime!r}; known: {', '.join(REGIMES)}")
    if regime == "learned":
        return None

    def steer(node: Node, log_probs: np.ndarray) -> np.ndarray:
        ops = {action.op for action in node.observation.actions}
        if "cov" not in ops or regime == "never":
            return without_cov(node, log_probs)
        if regime == "always":
            return without_cov(node, log_probs) if node.path else only_op(node, "cov")
        if generator(node.form.lhs, node.form.rhs) is None:
            return without_cov(node, log_probs)
        if regime == "rule+expand" and "expand" in ops and expandable(node.form.lhs):
            return only_op(node, "expand")
        return only_op(node, "cov")

    return steer


def tally(families: Sequence[str], solved: Sequence[bool]) -> dict[str, Any]:
    """[solved, all] overall and by family."""
    by_family: dict[str, list[int]] = {}
    for family, won in zip(families, solved):
        row = by_family.setdefault(family, [0, 0])
        row[0] += won
        row[1] += 1
    return {"overall": [sum(map(bool, solved)), len(solved)], "by_family": by_family}


def trigger(
    policy: Policy,
    problems: Sequence[Problem],
    config: EnvConfig,
    generator: Generator = propose,
) -> dict[str, Any]:
    """Accuracy of the paper's greedy decoder under each regime, and the trigger as a classifier."""
    regimes, learned = {}, []
    families = [problem.family for problem in problems]
    is_open = [family in FAMILIES for family in families]
    cache = config.new_cache(generator)
    for regime in REGIMES:
        steer = steer_for(regime, generator)
        found = greedy(policy, problems, config, cache, loops=True, steer=steer)
        solved = [solution.solved for solution in found]
        row = tally(families, solved)
        for name, wanted in (("open", True), ("closed", False)):
            part = [won for won, kind in zip(solved, is_open) if kind == wanted]
            row[name] = [sum(part), len(part)]
        regimes[regime] = row
        if regime == "learned":
            learned = found
    return {
        "n": len(problems),
        "regimes": regimes,
        "classifier": classifier(learned, families, is_open),
    }


def classifier(
    solutions: Sequence[Solution], families: Sequence[str], is_open: Sequence[bool]
) -> dict[str, Any]:
    """The policy as a test for "needs a change of variables": it fired, it was an open equation."""
    counts = dict.fromkeys(("tp", "fp", "fn", "tn"), 0)
    false_positives = []
    for solution, family, needed in zip(solutions, families, is_open):
        state, fired = solution.equation, False
        for observation, action, form, transform in solution.path:
            if observation.actions[action].op == "cov":
                fired = True
                break
            state = form
        counts[("t" if fired == needed else "f") + ("p" if fired else "n")] += 1
        if fired and not needed:
            false_positives.append({
                "equation": solution.equation.text or str(solution.equation), "state": str(state),
                "family": family, "solved": solution.solved, "idle": transform is None,
            })  # fmt: skip
    right, wrong, missed = counts["tp"], counts["fp"], counts["fn"]
    return {
        **counts,
        "precision": right / (right + wrong) if right + wrong else None,
        "recall": right / (right + missed) if right + missed else None,
        "f1": 2 * right / (2 * right + wrong + missed) if right + wrong + missed else None,
        "false_positives": false_positives,
        "false_positives_solved": sum(row["solved"] for row in false_positives),
    }


def decomposition(
    policy: Policy,
    problems: Sequence[Problem],
    config: EnvConfig,
    generator: Generator,
    other: Generator,
    **beam_flags: Any,
) -> dict[str, Any]:
    """Beam accuracy: (A) as trained, (B) cov masked, (C) substitutions from the other generator."""
    names = {"cas": "rules", "learned": "learned generator", "off": "none"}
    mine = names[config.cov]
    theirs = "rules" if config.cov == "learned" else "learned generator"
    arms: dict[str, tuple[str, EnvConfig, Generator]] = {
        "A": (f"full pipeline (substitutions: {mine})", config, generator),
        "B": ("cov masked", replace(config, max_cov=0), generator),
        "C": (f"substitutions: {theirs}", config, other),
    }
    families = [problem.family for problem in problems]
    report: dict[str, Any] = {"n": len(problems), "arms": {}}
    for name, (label, settings, source) in arms.items():
        cache = settings.new_cache(source)
        found = beam(policy, problems, settings, cache, **beam_flags)
        row = tally(families, [solution.solved for solution in found])
        invoked = sum(
            any(observation.actions[action].op == "cov" for observation, action, *_ in s.path)
            for s in found
        )
        report["arms"][name] = {"label": label, **row, "invoked_cov": invoked}
    return report
