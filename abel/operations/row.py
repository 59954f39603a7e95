"""What an operation is: one row that says everything about it."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sympy import Expr, sstr

from abel.operations.forks import Fork, Taken, of_substitution
from abel.transforms import Transform

# step: both sides change alike. rewriting: they are written differently. relabel: constants get new
# names. change: x := phi(x). goal: another equation comes first. Caps on substitutions count the
# last two.
Kind = Literal["step", "rewriting", "relabel", "change", "goal"]
SUBSTITUTIONS: tuple[Kind, ...] = ("change", "goal")

Applied = tuple[Expr, Expr, Transform | None]  # the new sides, and what is to be undone later
Apply = Callable[..., Applied]  # of the left side, the right side, and the term or None


class Action(NamedTuple):
    """An operation and, if it takes one, its term."""

    op: str
    term: Expr | None = None

    def __str__(self) -> str:
        return self.op if self.term is None else f"{self.op} {sstr(self.term)}"


@dataclass(frozen=True)
class Operation:
    """One row of the table. The environment, traces and `--all-roots` read nothing else.

    `apply` gets the two sides and the term, or None for an operation without one; what it cannot do
    it refuses with an exception. `legal` is asked before, without building the result where that
    can be avoided; `Sides.lead_on` tries the step where it cannot. `text` and `latex` have `{}`
    where the term goes, and `{x}` for the unknown.

    `flags` are fields of `EnvConfig` that must all be on for the operation to be offered. `forks`
    gives the branches of a step that takes one of several values, and `keeps` says that every root
    survives it if all of them are followed: any step, or the one that it is asked about. `retell`
    applies the operation as a stored document has it, where what it pushes is no function of the
    sides alone.

    `terms` gives the only terms that `legal` is to be asked about. `opens` tells the equation that
    a step opens from others, so that one that is open already is not opened again. `reads` gives
    the name and the term of the step as a person would say it: to subtract -b is to add b.
    """

    name: str
    text: str
    latex: str
    apply: Apply
    legal: Callable[..., bool]  # of Sides, and the term's Facts or None
    takes_term: bool = False
    kind: Kind = "step"
    flags: tuple[str, ...] = ()
    forks: Callable[[Taken], list[Fork]] = of_substitution
    keeps: bool | Callable[[Taken], bool] = False
    retell: Callable[[str, Expr, Expr], Apply | None] | None = None
    terms: Callable[..., Container[Expr]] | None = None  # of Sides
    opens: Callable[[Expr, Expr, Expr], Hashable] | None = None  # of the sides and the term
    reads: Callable[[Expr], tuple[str, Expr]] | None = None  # of the term

    def keeps_roots(self, step: Taken) -> bool:
        """Whether no root is lost if all branches of this step are followed."""
        return self.keeps(step) if callable(self.keeps) else self.keeps


def both(function: Callable[[Expr], Expr]) -> Apply:
    """Apply a function to both sides."""
    return lambda lhs, rhs, _: (function(lhs), function(rhs), None)
