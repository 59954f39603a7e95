"""When plain decoding ends without a root: the branches that its steps left out, until one is
proved.

The first root that a policy comes to may be extraneous, and another branch holds: sqrt gives one
of two values, a product has several factors. What `--all-roots` follows to find all roots is
followed here to find one.
"""

from __future__ import annotations

from typing import NamedTuple

from sympy import Expr, Integer

from abel.env import EnvConfig
from abel.rewrite import replace
from abel.roots.follow import Decode, Explorer
from abel.search import Solution
from abel.transitions import TransitionCache
from abel.verify import Verdict

TRIED = (0, 1, -1)  # of the integers in a family of roots


class Branch(NamedTuple):
    """A proved root on another branch, and the choices that led to it."""

    root: Expr
    verdict: Verdict
    how: tuple[str, ...]


def other_branch(
    solution: Solution, decode: Decode, config: EnvConfig, cache: TransitionCache
) -> Branch | None:
    """A root that branches of an unsuccessful solution's steps lead to, the first that is proved;
    of a family in integers a member with all of them 0, 1 or -1.
    """
    explorer = Explorer(solution.equation, decode, config, cache)
    judged = 0
    for _ in explorer.steps(solution):
        for value, how in explorer.ends[judged:]:
            integers = sorted((s for s in value.free_symbols if s.is_integer), key=str)
            for n in TRIED if integers else TRIED[:1]:
                root = replace(value, dict.fromkeys(integers, Integer(n)))
                verdict = cache.verdict(solution.equation, root)
                if verdict:
                    return Branch(root, verdict, (*how, *(f"{name} = {n}" for name in integers)))
        judged = len(explorer.ends)
    return None
