"""All roots of an equation: other branches, no root twice, and whether these are all."""

from abel.roots.complete import STATES, Check, check_roots
from abel.roots.fallback import Branch, other_branch
from abel.roots.follow import Roots, all_roots
from abel.roots.none import why_no_root

__all__ = [
    "STATES", "Branch", "Check", "Roots", "all_roots", "check_roots", "other_branch",
    "why_no_root",
]  # fmt: skip
