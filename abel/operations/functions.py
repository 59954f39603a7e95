"""Functions of both sides: powers and roots, exp and log, angles."""

from __future__ import annotations

import cmath
from collections.abc import Callable

from sympy import Expr, acos, asin, atan, cos, exp, pi, sin, tan

from abel.equation import ONE, has_x, integer_bits
from abel.numeric import TOLERANCE, is_zero
from abel.operations.forks import of_angle, of_logarithm, of_other_angle, of_root, of_tangent
from abel.operations.legality import MAX_BITS, Facts, Sides
from abel.operations.row import Applied, Operation, both
from abel.rewrite import (
    call,
    difference,
    has_exponential,
    has_logarithm,
    has_root,
    logarithm,
    never_zero,
    power,
    root,
    undo,
)

Test = Callable[[Sides], bool]


def never(sides: Sides) -> bool:
    return False


def function_row(
    name: str, text: str, tex: str, function: Callable[[Expr], Expr],
    sample: Callable[[complex], complex], *, refuses: Test = never, risky: Test = never,
    undoes: Callable[[Expr], bool] | None = None, crowds: bool = False, **rest,
) -> Operation:  # fmt: skip
    """The row of a function that is applied to both sides; `sample` is the function on numbers.

    `refuses` says where the step is illegal for a reason of its own, and `risky` where parts of the
    result may leave the range though the whole does not, so that the step must be tried.

    The numbers show whether x stays in the equation, but for a side that the function undoes on
    whatever branch (`undoes`): x**2 = (x + 1)**2 would become x = x + 1. A function that undoes
    something shrinks its argument: what is finite and shows x plainly stays so, unless it crowds
    numbers together, as acos takes all small ones to pi/2 and atan all large ones.
    """
    apply = both(function)

    def legal(sides: Sides, _: Facts | None) -> bool:
        if sides.room < 0 or refuses(sides):
            return False
        if risky(sides):
            return sides.lead_on(apply)
        if undoes is not None:
            if not has_x(sides.rhs):
                plain = sides.change > 1000 * TOLERANCE * (sides.size[0] + sides.size[1])
                if plain and not crowds:
                    return True
            elif undoes(sides.lhs) or undoes(sides.rhs):
                return sides.lead_on(apply)
        return sides.show_after(sample)

    return Operation(name, text, tex, apply, legal, keeps=True, **rest)


def square_has_large_numbers(sides: Sides) -> bool:
    return max(integer_bits(sides.lhs), integer_bits(sides.rhs)) > MAX_BITS / 2


def square_may_overflow(sides: Sides) -> bool:
    return not sides.swelling < sides.largest**0.5


def exp_makes_powers(sides: Sides) -> bool:
    return has_logarithm(sides.lhs) or has_logarithm(sides.rhs)


def log_of_zero(sides: Sides) -> bool:
    return is_zero(sides.rhs)


def loses_all_roots(function: type, inverse: type) -> Test:
    """sin(exp(x)) = 0 has roots, exp(x) = 0 has none: all of them would be lost."""

    def refuses(sides: Sides) -> bool:
        if not isinstance(sides.lhs, function) or has_x(sides.rhs):
            return False
        return never_zero(undo(inverse, sides.lhs)) and is_zero(undo(inverse, sides.rhs))

    return refuses


def angle_row(
    function: type, inverse: type, sample: Callable[[complex], complex],
    *, crowds: bool, flags: tuple[str, ...] = (),
) -> Operation:  # fmt: skip
    """The row of asin, acos or atan."""
    name = inverse.__name__
    return function_row(
        name, f"take {name} of both sides", rf"\arc{function.__name__}",
        lambda side: undo(inverse, side), sample, refuses=loses_all_roots(function, inverse),
        undoes=lambda side: isinstance(side, function), crowds=crowds, flags=flags,
        forks=of_angle(inverse),
    )  # fmt: skip


def other_branch(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    """u from sin(u) = c or cos(u) = c, not by the principal value but by the next one."""
    if isinstance(lhs, sin):
        return lhs.args[0], difference(pi, undo(asin, rhs)), None
    return lhs.args[0], difference(2 * pi, undo(acos, rhs)), None


def other_branch_is_legal(sides: Sides, _: Facts | None) -> bool:
    if sides.room < 0 or not isinstance(sides.lhs, (sin, cos)) or has_x(sides.rhs):
        return False
    return sides.lead_on(other_branch)


ROWS = (
    function_row("square", "square both sides", r"(\cdot)^2", lambda side: power(side, ONE + ONE),
                 lambda v: v * v, refuses=square_has_large_numbers, risky=square_may_overflow),
    function_row("sqrt", "take the square root", r"\sqrt{\cdot}", lambda side: root(side, 2),
                 cmath.sqrt, undoes=lambda side: has_root(side, 2), forks=of_root(2)),
    function_row("cbrt", "take the cube root", r"\sqrt[3]{\cdot}", lambda side: root(side, 3),
                 lambda v: v ** (1 / 3), undoes=lambda side: has_root(side, 3), forks=of_root(3),
                 flags=("cbrt",)),
    function_row("exp", "take exp of both sides", r"\exp", lambda side: call(exp, side),
                 cmath.exp, risky=exp_makes_powers),
    function_row("log", "take log of both sides", r"\log", logarithm, cmath.log,
                 refuses=log_of_zero, undoes=has_exponential, forks=of_logarithm),
    function_row("sin", "take sin of both sides", r"\sin", lambda side: call(sin, side), cmath.sin),
    function_row("cos", "take cos of both sides", r"\cos", lambda side: call(cos, side), cmath.cos),
    angle_row(sin, asin, cmath.asin, crowds=False),
    angle_row(cos, acos, cmath.acos, crowds=True),
    function_row("tan", "take tan of both sides", r"\tan", lambda side: call(tan, side), cmath.tan,
                 flags=("tan",), forks=of_tangent),
    angle_row(tan, atan, cmath.atan, crowds=True, flags=("tan",)),
    Operation("branch", "undo sin or cos on the other branch", r"\text{other branch}",
              other_branch, other_branch_is_legal, flags=("branches",), forks=of_other_angle,
              keeps=True),
)  # fmt: skip
