"""What proofs and scripts decided when the sets were drawn, kept in a file.

Whether a drawn equation is taken depends on what is proved of it and on what the script solves.
Both get better with time, and benchmarks must not move with them. So the decisions for a seed are
written down once, in `datasets/decisions.seed0.txt`, and looked up from then on. For a seed without
such a file they are found anew, by the proofs of the day.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from abel.datasets.load import FOLDER, DatasetError

VERSION = 1  # of the generator: raise it with every change that moves a byte, and decide anew
USUAL = {  # question: the answer that is not written down
    "root": "everywhere",  # where a root was proved: everywhere, under a condition, or none was
    "route": "yes",  # does the script solve it?
    "route without cov": "no",  # does it without a change of variables?
    "general route": "yes",  # does the script of open_wild solve it?
    "general route with resolvent": "yes",
    "world route": "yes",  # does the script of open_world solve it?
}


@dataclass(eq=False)  # an object is equal to itself only: drafts are cached by it
class Decisions:
    """Answers to the questions above for one seed: looked up, or found and kept."""

    seed: int
    known: dict[tuple[str, str], str] | None = None  # by question and equation; None: find them
    found: dict[tuple[str, str], str] = field(default_factory=dict)

    def answer(self, question: str, equation: str, find: Callable[[], str]) -> str:
        """The answer for an equation, given as its text."""
        if self.known is not None:
            return self.known.get((question, equation), USUAL[question])
        answer = find()
        if answer != USUAL[question]:
            self.found[question, equation] = answer
        return answer

    def agrees(self, question: str, equation: str, find: Callable[[], bool]) -> bool:
        """The answer to a question of yes or no."""
        return self.answer(question, equation, lambda: "yes" if find() else "no") == "yes"

    def render(self) -> str:
        """The content of the file: one unusual answer per line."""
        lines = [
            f"# abel decisions, generator version {VERSION}, seed {self.seed}",
            "# question<TAB>answer<TAB>equation, where the answer is not the usual one:",
            *(f"# {question}: {usual}" for question, usual in USUAL.items()),
            *(f"{question}\t{answer}\t{text}" for (question, text), answer in self.found.items()),
        ]
        return "\n".join(lines) + "\n"


@cache
def decisions_for(seed: int) -> Decisions:
    """The decisions of this seed: from their file if there is one, else to be found."""
    path = FOLDER / f"decisions.seed{seed}.txt"
    if not path.is_file():
        return Decisions(seed)
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    if head != Decisions(seed).render().splitlines()[0]:
        raise DatasetError(f"'{path}' is not of generator version {VERSION}; write it anew")
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return Decisions(seed, {(question, text): answer for question, answer, text in rows})
