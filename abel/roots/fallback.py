"""Branches that plain decoding left out: for a root where it ended without one, and for a real root
where it ended in a complex one.

The first root that a policy comes to may be extraneous, and another branch holds: sqrt gives one
of two values, a product has several factors. What `--all-roots` follows to find all roots is
followed here to find one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sympy import Expr, Integer

from abel.env import EnvConfig
from abel.equation import Equation
from abel.rewrite import replace
from abel.roots.follow import Decode, Explorer
from abel.roots.polynomial import isolated_roots, the_one
from abel.roots.values import ball_of_number
from abel.search import Solution
from abel.transitions import TransitionCache
from abel.verify import Verdict

TRIED = (0, 1, -1)  # of the integers in a family of roots
NEARNESS = ("proved", "unproven", "undefined", "refuted")


class Branch(NamedTuple):
    """A candidate on another branch, its verdict, and the choices that led to it."""

    root: Expr
    verdict: Verdict
    how: tuple[str, ...]


def branches(
    solution: Solution, decode: Decode, config: EnvConfig, cache: TransitionCache
) -> Iterator[Branch]:
    """The candidates that branches of a solution's steps lead to, one after the other; of a family
    in integers the members with all of them 0, 1 or -1.
    """
    explorer = Explorer(solution.equation, decode, config, cache)
    judged = 0
    for _ in explorer.steps(solution):
        for value, how in explorer.ends[judged:]:
            integers = sorted((s for s in value.free_symbols if s.is_integer), key=str)
            for n in TRIED if integers else TRIED[:1]:
                root = replace(value, dict.fromkeys(integers, Integer(n)))
                verdict = cache.verdict(solution.equation, root)
                yield Branch(root, verdict, (*how, *(f"{name} = {n}" for name in integers)))
        judged = len(explorer.ends)


def other_branch(
    solution: Solution, decode: Decode, config: EnvConfig, cache: TransitionCache
) -> Branch | None:
    """The first proved root of an unsuccessful solution's branches, or else the candidate that came
    nearest to one; None if there was none.
    """
    best = None
    for branch in branches(solution, decode, config, cache):
        if branch.verdict:
            return branch
        best = branch if best is None else nearer(best, branch)
    return best


def nearer(first: Branch, second: Branch) -> Branch:
    """The one that is nearer to a proof; the first if both are as near."""
    return min(first, second, key=lambda branch: NEARNESS.index(branch.verdict.status))


def real_branch(
    solution: Solution, root: Expr, decode: Decode, config: EnvConfig, cache: TransitionCache
) -> Branch | None:
    """A real root on another branch, where the root that was found is certain not to be real; None
    for equations with letters, and where no root is real.
    """
    equation = solution.equation
    if equation.coefficients or root.free_symbols or is_real_root(equation, root) is not False:
        return None
    all_of_them = isolated_roots(equation)
    if all_of_them is not None and not any(each.is_real for each in all_of_them):
        return None
    for branch in branches(solution, decode, config, cache):
        if branch.verdict and is_real_root(equation, branch.root):
            return branch
    return None


def is_real_root(equation: Equation, root: Expr) -> bool | None:
    """Whether a proved root is real, with a proof; None if that cannot be told."""
    ball = ball_of_number(root)
    if ball is None:
        return None
    if not ball.imag.contains(0):
        return False
    place = the_one(isolated_roots(equation) or [], ball)
    if place is not None:
        return place.is_real
    return True if ball.imag.is_zero() else None
