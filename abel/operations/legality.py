"""What decides whether a step is legal: sizes, and numbers at the sample points of `abel.numeric`.

The successor is not built where that can be avoided, and every state is looked at afresh. A step is
illegal if it changes nothing, if lhs - rhs would be undefined or no longer depend on x, if it could
lose a root, or if the result could pass a size limit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sympy import Expr

from abel.equation import MINUS_ONE, ONE, ZERO, has_x, integer_bits, num_nodes, remember
from abel.lost_roots import RootGuard, has_denominator
from abel.numeric import (
    Values,
    depends_on_x,
    finite,
    is_solvable,
    is_zero,
    largest,
    scale_of,
    swelling,
    values_at,
)
from abel.rewrite import TooLarge

MAX_NODES = 150
MAX_BITS = 256
SMALLEST = 1e-300  # the reciprocal of anything smaller may have no size


class Multiplier(NamedTuple):
    """A factor that both sides may be given, at the sample points."""

    values: Values
    sizes: tuple[float, ...]
    swelling: float
    guarded: bool  # whether it has a denominator with x, which may cost a root


class Facts(NamedTuple):
    """What legality asks about a term, gathered once."""

    term: Expr
    actions: dict[str, Any]  # with this term, by operation, as they are asked for
    nodes: int
    has_x: bool
    size: float  # |term| at the first two sample points, which differ in x only
    times: Multiplier | None  # the term as a factor, None where it may be none
    over: Multiplier | None  # its reciprocal


@remember
def facts(term: Expr, scale: int) -> Facts:
    at = values_at(term, scale)
    times = over = None
    # 1 changes nothing, -1 is an operation of its own.
    if not (is_zero(term) or integer_bits(term) > MAX_BITS or term is ONE or term is MINUS_ONE):
        times = Multiplier(at, tuple(map(abs, at)), swelling(term, scale), has_denominator(term))
        if all(abs(v) > SMALLEST for v in at):
            inverse = tuple(1 / v for v in at)
            swell = swelling(term, scale)
            over = Multiplier(inverse, tuple(map(abs, inverse)), swell, has_x(term))
    size = abs(at[0]) + abs(at[1])
    return Facts(term, {}, num_nodes(term), has_x(term), size, times, over)


class Sides(NamedTuple):
    """The two sides of an equation, with what legality asks about them again and again."""

    lhs: Expr
    rhs: Expr
    left: Values
    right: Values
    gap: list[complex]  # lhs - rhs at the sample points
    size: list[float]  # |lhs| + |rhs| there
    change: float  # of the gap when only x changes
    room: int  # nodes that a step may still bring
    swelling: float
    guard: RootGuard
    scale: int  # of x at the sample points
    largest: float  # number in the range there

    @classmethod
    def of(cls, lhs: Expr, rhs: Expr) -> Sides:
        scale = scale_of(lhs, rhs)
        left, right = values_at(lhs, scale), values_at(rhs, scale)
        gap = [v - w for v, w in zip(left, right)]
        size = [abs(v) + abs(w) for v, w in zip(left, right)]
        room = MAX_NODES - num_nodes(lhs) - num_nodes(rhs) - 6
        # A given equation may overflow at the samples: 0, so that nothing is legal that needs them.
        seen = finite(left, scale) and finite(right, scale)
        change = abs(gap[0] - gap[1]) if seen else 0.0
        swell = max(swelling(lhs, scale), 1.0 if rhs is ZERO else swelling(rhs, scale))
        guard = RootGuard(lhs, rhs)
        return cls(
            lhs, rhs, left, right, gap, size, change, room, swell, guard, scale, largest(scale)
        )  # fmt: skip

    def lead_on(self, apply: Callable, term: Expr | None = None) -> bool:
        """Whether the step can be made and leaves an equation in x."""
        try:
            lhs, rhs, _ = apply(self.lhs, self.rhs, term)
            return is_solvable(lhs, rhs, self.scale)
        except TooLarge:
            return False

    def show_after(self, sample: Callable[[complex], complex]) -> bool:
        """Whether x shows at the samples after a function of both sides, given on numbers."""
        try:
            left, right = tuple(map(sample, self.left)), tuple(map(sample, self.right))
            seen = finite(left, self.scale) and finite(right, self.scale)
            return seen and depends_on_x(left, right)
        except (OverflowError, ValueError, ZeroDivisionError):
            return False
