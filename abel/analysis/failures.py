"""Why a policy did not solve an equation, told from the path that it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sympy import Expr

from abel.operations import describe
from abel.search import Solution
from abel.transforms import unwind
from abel.transitions import TransitionCache, advance, start_of
from abel.verify import Verdict

KINDS = (
    "1-cycle", "2-cycle", "longer cycle", "dead end", "step limit", "refuted root", "unproven root",
)  # fmt: skip
MAX_EXAMPLES = 3  # of each kind


def diagnose(solution: Solution, cache: TransitionCache, max_steps: int) -> tuple[str, int]:
    """What went wrong first, and at which step: a form came back, or x = r was reached and r was
    not proved.

    A greedy policy that comes back to a form goes around for ever; one that did neither ran into a
    state without actions, or out of steps.
    """
    state = start_of(solution.equation, cache)
    met = {(state.lhs, state.rhs, state.goals): 0}
    for number, (observation, index, form, _) in enumerate(solution.path, 1):
        state, _ = advance(state, observation.actions[index], cache)
        here = (form.lhs, form.rhs, state.goals)
        if here in met:
            length = number - met[here]
            return f"{length}-cycle" if length <= 2 else "longer cycle", number
        met[here] = number
        if form.solved_form:
            root = unwind(state.stack, form.rhs)
            status = cache.verdict(solution.equation, root).status
            return "unproven root" if status == "unproven" else "refuted root", number
    number = len(solution.path)
    return "step limit" if number >= max_steps else "dead end", number


def candidates(solution: Solution, cache: TransitionCache) -> Iterator[tuple[Expr, Verdict]]:
    """The candidates that a path came to, with their verdicts."""
    state = start_of(solution.equation, cache)
    for observation, index, form, _ in solution.path:
        state, _ = advance(state, observation.actions[index], cache)
        if form.solved_form and not state.goals:
            root = unwind(state.stack, form.rhs)
            yield root, cache.verdict(solution.equation, root)


def failures(
    solutions: Sequence[Solution],
    families: Sequence[str],
    cache: TransitionCache,
    max_steps: int,
) -> dict[str, Any]:
    """Counts of the kinds of failure, with examples of each."""
    counts = dict.fromkeys(KINDS, 0)
    by_family: dict[str, dict[str, int]] = {}
    examples: dict[str, list[dict[str, Any]]] = {}
    for solution, family in zip(solutions, families):
        if solution.solved:
            continue
        kind, _ = diagnose(solution, cache, max_steps)
        counts[kind] += 1
        row = by_family.setdefault(family, {})
        row[kind] = row.get(kind, 0) + 1
        if len(examples.setdefault(kind, [])) < MAX_EXAMPLES:
            text = solution.equation.text or str(solution.equation)
            examples[kind].append({"equation": text, "family": family, "steps": steps(solution)})
    return {
        "n": len(solutions),
        "unsolved": sum(counts.values()),
        "counts": counts,
        "by_family": by_family,
        "examples": examples,
    }


def steps(solution: Solution) -> list[str]:
    """The path as text: what was done, and the equation after it."""
    return [
        f"{describe(observation.actions[action])}: {form}"
        for observation, action, form, _ in solution.path
    ]
