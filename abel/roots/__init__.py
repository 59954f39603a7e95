"""All roots of an equation: other branches, no root twice, and whether these are all; and how a
root is shown.
"""

from abel.roots.answer import STUCK, Answer, answer_of, as_told, kind_of_failure, unsolved, why_not
from abel.roots.complete import STATES, Check, check_roots
from abel.roots.fallback import Branch, nearer, other_branch, real_branch
from abel.roots.families import Root
from abel.roots.follow import Roots, all_roots
from abel.roots.none import NO_ROOT, why_no_root
from abel.roots.simplest import number_beside, simplest, written

__all__ = [
    "NO_ROOT", "STATES", "STUCK", "Answer", "Branch", "Check", "Root", "Roots", "all_roots",
    "answer_of", "as_told", "check_roots", "kind_of_failure", "nearer", "number_beside",
    "other_branch", "real_branch", "simplest", "unsolved", "why_no_root", "why_not", "written",
]  # fmt: skip
