"""The paper's check of a root, for experiments on what it lets through. The product never calls it:
`abel.verify.verify_root` decides what is proved, and nothing here has the status "proved".

The paper checks r in the equation as it stands; a change of variables and a relabeling replace it.
Its author's code also divides by what hides a root, which the paper masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from sympy import Expr, Symbol

from abel.env import EnvConfig
from abel.equation import Equation, Label, X, has_x
from abel.lost_roots import RootGuard
from abel.operations import Operation, Sides
from abel.rewrite import replace as put
from abel.transforms import Relabel, Substitute, Transform
from abel.transitions import State, TransitionCache
from abel.verify import Verdict, verify_root

CheckName = Literal["published", "ours"]
CHECKS = get_args(CheckName)


def plain(expr: Expr) -> Expr:
    """With letters that do not remember what they stand for."""
    labels = expr.atoms(Label)
    return put(expr, {label: Symbol(label.name) for label in labels})


# ---- The equation as it stands ----


@dataclass(frozen=True)
class RelabelAnew(Relabel):
    """A relabeling with the equation that it leads to: from here on roots are checked in that."""

    sides: tuple[Expr, Expr] | None = None


@dataclass(frozen=True)
class SubstituteAnew(Substitute):
    """A change of variables with the equation that it leads to."""

    sides: tuple[Expr, Expr] | None = None


def remembering(row: Operation) -> Operation:
    """The operation, with the equation that it leads to on the stack."""

    def apply(lhs: Expr, rhs: Expr, term: Expr | None) -> tuple[Expr, Expr, Transform | None]:
        lhs, rhs, pushed = row.apply(lhs, rhs, term)
        if isinstance(pushed, Relabel):
            pushed = RelabelAnew(pushed.labels, (lhs, rhs))
        elif isinstance(pushed, Substitute):
            pushed = SubstituteAnew(pushed.phi, pushed.labels, pushed.given, (lhs, rhs))
        return lhs, rhs, pushed

    return replace(row, apply=apply)


def as_it_stands(equation: Equation, stack: Sequence[Transform]) -> Equation:
    """The equation that the paper checks a root in."""
    for transform in reversed(stack):
        if isinstance(transform, RelabelAnew | SubstituteAnew) and transform.sides:
            return Equation(*map(plain, transform.sides))
    return equation


# ---- Verdicts ----


@dataclass(frozen=True)
class Judged(Verdict):
    """Our verdict, and whether the paper's check accepts the root."""

    accepted: bool = False
    proved: bool = False
    root: str = ""  # of the equation that was asked


@dataclass(frozen=True)
class Claim(Judged):
    """The same where the paper's check decides: true if it accepts."""

    def __bool__(self) -> bool:
        return self.accepted


class PaperCache(TransitionCache):
    """Judges states by the paper's check, or by ours with a note of what the paper's says."""

    def __init__(self, check: CheckName, **rest: Any) -> None:
        super().__init__(**rest)
        self.check = check

    def judge(self, equation: Equation, state: State) -> tuple[Expr, Verdict]:
        root, verdict = super().judge(equation, state)
        stands = as_it_stands(equation, state.stack)
        accepted = bool(verify_root(stands, plain(state.form.rhs)))
        proved, told = bool(verdict), equation.shown(root)
        if self.check == "published":
            status = "claimed" if accepted else "rejected"
            return root, Claim(status, accepted=accepted, proved=proved, root=told)
        ours = verdict.status, verdict.valid_when, verdict.reason
        return root, Judged(*ours, accepted=accepted, proved=proved, root=told)


# ---- Actions ----


class Unguarded(RootGuard):
    """In place of the guard of lost roots: any division may be made."""

    def __init__(self) -> None:
        pass

    def loses(self, term: Expr, inverse: bool) -> bool:
        return False


def without_guard(row: Operation) -> Operation:
    """A multiplication or division, legal whatever root it takes away."""
    return replace(
        row, legal=lambda sides, about: row.legal(sides._replace(guard=Unguarded()), about)
    )


def at_the_end_too(row: Operation) -> Operation:
    """Relabeling, legal at x = r as well, where it has nothing to name."""

    def legal(sides: Sides, about: Any) -> bool:
        return row.legal(sides, about) or (sides.lhs == X and not has_x(sides.rhs))

    return replace(row, legal=legal)


def rows_of(config: EnvConfig, check: CheckName) -> Mapping[str, Operation]:
    """What is offered: the operations of `config`, for the published check those of its code."""
    if config.general:
        raise ValueError("the paper's check is about cov: this agent chooses its substitutions")
    rows = dict(config.new_cache().operations)
    for name in rows.keys() & {"relabel", "cov"}:
        rows[name] = remembering(rows[name])
    if check == "published":
        rows |= {name: without_guard(rows[name]) for name in ("mul", "div")}
        if "relabel" in rows:
            rows["relabel"] = at_the_end_too(rows["relabel"])
    return rows


def paper_cache(config: EnvConfig, check: CheckName) -> PaperCache:
    return PaperCache(
        check, operations=rows_of(config, check), blocks=config.terms == "blocks",
        constants=config.constants, capacity=config.cache_size,
    )  # fmt: skip
