"""Steps that write the sides differently: expand, collect x, turn signs, gather coefficients."""

from __future__ import annotations

from sympy import Add, Expr

from abel.equation import ONE, remember, split_factor
from abel.operations.legality import MAX_NODES, Facts, Sides
from abel.operations.row import Operation, both
from abel.rewrite import (
    collect,
    collectable,
    expand,
    expandable,
    grows_past,
    negate,
    product,
    total,
)


def expand_is_legal(sides: Sides, _: Facts | None) -> bool:
    return any(map(expandable, sides[:2])) and not any(grows_past(s, MAX_NODES) for s in sides[:2])


def collect_is_legal(sides: Sides, _: Facts | None) -> bool:
    return any(map(collectable, sides[:2]))


def negate_is_legal(sides: Sides, _: Facts | None) -> bool:
    return sides.room >= 0 and sides.change > 0


@remember
def gather(side: Expr) -> Expr:
    """b*x + c*x**2 + b/x gives b*(x + 1/x) + c*x**2: equal coefficients are factored out."""
    if not isinstance(side, Add):
        return side
    groups: dict[Expr, list[Expr]] = {}
    for term in side.args:
        free, rest = split_factor(term)
        number, letter = free.as_coeff_Mul()
        groups.setdefault(ONE if rest is ONE else letter, []).append(
            term if letter is ONE or rest is ONE else product(number, rest)
        )
    return total(*[
        total(*parts) if letter is ONE else product(letter, total(*parts))
        for letter, parts in groups.items()
    ])  # fmt: skip


def gather_is_legal(sides: Sides, _: Facts | None) -> bool:
    return any(gather(side) != side for side in sides[:2])


ROWS = (
    Operation("expand", "expand", r"\text{expand}", both(expand), expand_is_legal,
              kind="rewriting", keeps=True),
    Operation("collect", "collect {x}", r"\text{collect } {x}", both(collect), collect_is_legal,
              kind="rewriting", keeps=True),
    Operation("mul -1", "multiply by -1", r"\cdot (-1)", both(negate), negate_is_legal, keeps=True),
)  # fmt: skip
GATHER = Operation("gather", "factor out equal coefficients", r"\text{gather}", both(gather),
                   gather_is_legal, kind="rewriting", flags=("general",), keeps=True)  # fmt: skip
