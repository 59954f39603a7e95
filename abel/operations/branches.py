"""What a step of a solution leaves out: the other roots of unity, the other angles, other factors.

A step such as the square root of both sides takes the principal branch. `forks` gives every
branch of a step, as sides or transforms that replace those of the step; together they hold every
solution that the equation had before it.
"""

from __future__ import annotations

from typing import NamedTuple

from sympy import (
    Expr,
    I,
    Integer,
    Mul,
    Pow,
    Rational,
    Symbol,
    acos,
    asin,
    atan,
    cos,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tan,
)  # fmt: skip

from abel.equation import MINUS_ONE, ONE, ZERO, has_x, ordered_args
from abel.numeric import is_zero
from abel.rewrite import has_exponential, has_root, negate, power, product, replace, total, undo
from abel.transforms import HOLE, Goal, Substitute, Transform

CUBE_ROOTS = tuple(Rational(-1, 2) + sign * sqrt(3) * I / 2 for sign in (1, -1))
UNITS = {"sqrt": (ONE, MINUS_ONE), "cbrt": (ONE, *CUBE_ROOTS)}
ANGLES = {"asin": sin, "acos": cos, "atan": tan}
FINITE = (*UNITS, "resolvent")  # steps whose branches need no integer to count them
# Steps that every solution survives, if all their branches are followed; a new operation is one
# of these or may lose solutions.
KEEPING = (
    "add", "sub", "mul", "div", "square", "exp", "sin", "cos", "tan", "expand", "collect",
    "mul -1", "relabel", "gather", "cov", "let", "resolvent", "shift", "vieta", "log", "branch",
    *UNITS, *ANGLES,
)  # fmt: skip
CHOOSING = (log, atan, asin, acos, exp)


class Fork(NamedTuple):
    """One branch of a step: what it puts in place of the principal one's, and what to call it."""

    rhs: Expr
    transform: Transform | None
    note: str  # empty for the principal branch


def forks(
    op: str, lhs: Expr, rhs: Expr, after: Expr, transform: Transform | None, fresh: Symbol
) -> list[Fork]:
    """All branches of a step from lhs = rhs that gave `after` on the right; none if it has one.

    `fresh` is an integer symbol that does not occur yet, for branches without end.
    """
    if op == "branch":  # another value than the principal one; the branches are the same
        op = principal(op, lhs)
        after = undo(asin if op == "asin" else acos, rhs)
    if op in UNITS:
        index = len(UNITS[op])
        if is_zero(after) or not any(has_x(side) and has_root(side, index) for side in (lhs, rhs)):
            return []
        notes = ["" if unit is ONE else f"times {unit}" for unit in UNITS[op]]
        return [Fork(product(u, after), None, note) for u, note in zip(UNITS[op], notes)]
    if op == "log" and (has_exponential(lhs) or has_exponential(rhs)):
        turn = product(Integer(2), pi, I, fresh)
        return [Fork(total(after, turn), None, f"plus {turn}")]
    if op in ANGLES and any(isinstance(side, ANGLES[op]) for side in (lhs, rhs)):
        return [Fork(angle, None, note) for angle, note in angles(op, rhs, after, fresh)]
    if op == "resolvent" and isinstance(transform, Goal):  # its other factor, by -sqrt(u)
        roots = [power(HOLE, Rational(sign, 2)) for sign in (1, -1)]
        turned = {root: negate(root) for root in roots}
        lhs, rhs = replace(transform.lhs, turned), replace(transform.rhs, turned)
        other = Goal(lhs, rhs, transform.labels)
        return [Fork(after, transform, ""), Fork(after, other, "with -sqrt(u)")]
    if isinstance(transform, Substitute):
        phi = every_value(transform.phi, fresh)
        if phi != transform.phi:
            return [Fork(after, Substitute(phi, transform.labels), f"with x := {phi}")]
    return []


def principal(op: str, lhs: Expr) -> str:
    """The operation of which this one takes another branch, or itself."""
    return op if op != "branch" else "asin" if isinstance(lhs, sin) else "acos"


def angles(op: str, rhs: Expr, after: Expr, n: Symbol) -> list[tuple[Expr, str]]:
    """Every u with sin(u) = rhs (cos, tan), where `after` is one of them."""
    half, whole = product(pi, n), product(Integer(2), pi, n)
    if op == "atan" or is_zero(rhs):  # zeros of sin and cos lie half a turn apart
        return [(total(after, half), f"plus {half}")]
    if op == "asin":
        other = total(pi, negate(after))
        note = f"pi minus it, plus {whole}"
    else:
        other, note = negate(after), f"minus it, plus {whole}"
    return [(total(after, whole), f"plus {whole}"), (total(other, whole), note)]


def every_value(phi: Expr, n: Symbol) -> Expr:
    """phi with all values of its logarithm or arc tangent of x: log(x) + 2*pi*I*n."""
    turns = {log: product(Integer(2), pi, I, n), atan: product(pi, n)}
    many = [node for node in choices(phi) if type(node) in turns]
    return replace(phi, {node: total(node, turns[type(node)]) for node in many[:1]})


def choices(phi: Expr) -> list[Expr]:
    """Functions of x in phi that have several values, or do not take every value."""
    found = [node for arg in ordered_args(phi) for node in choices(arg)]
    fraction = isinstance(phi, Pow) and not phi.exp.is_Integer
    return [phi, *found] if has_x(phi) and (fraction or isinstance(phi, CHOOSING)) else found


def may_lose(op: str, transform: Transform | None) -> bool:
    """Whether a solution may be missing whatever branches of the step are followed: one on another
    branch of W, or x = pi, which no value of tan(x/2) gives, or what is out of phi's reach.
    """
    if op not in KEEPING:
        return True
    found = choices(transform.phi) if isinstance(transform, Substitute) else []
    return bool(found) and not (len(found) == 1 and isinstance(found[0], log))


def factors(lhs: Expr, rhs: Expr) -> list[Expr]:
    """The functions of x of which one must vanish, if the equation is a product = 0."""
    if rhs is not ZERO or not isinstance(lhs, Mul):
        return []
    found: list[Expr] = []
    for factor in lhs.args:
        base, exponent = factor.as_base_exp() if isinstance(factor, Pow) else (factor, ONE)
        if not has_x(factor) or isinstance(factor, exp) or not has_x(base):
            continue  # neither constants nor exponentials vanish
        if not exponent.is_Rational:
            return []
        if exponent.is_positive:
            found.append(base)
    return found if len(found) > 1 else []
