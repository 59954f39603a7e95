"""What a step leaves out: the other roots of unity, the other angles, other factors.

A step such as the square root of both sides takes the principal branch. The functions here give
every branch of a step, as right sides or transforms that replace those of the step; together they
hold every solution that the equation had before it. Rows of the table name the one that is theirs.
"""

from __future__ import annotations

from collections.abc import Callable
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
from abel.lost_roots import decides
from abel.numeric import is_zero
from abel.rewrite import (
    has_exponential,
    has_root,
    negate,
    never_zero,
    product,
    replace,
    total,
    undo,
)  # fmt: skip
from abel.transforms import Substitute, Transform

CUBE_ROOTS = tuple(Rational(-1, 2) + sign * sqrt(3) * I / 2 for sign in (1, -1))
UNITS = {2: (ONE, MINUS_ONE), 3: (ONE, *CUBE_ROOTS)}
ANGLES = {asin: sin, acos: cos, atan: tan}
CHOOSING = (log, atan, asin, acos, exp)


class Taken(NamedTuple):
    """A step from lhs = rhs that gave `after` on the right and pushed `transform`.

    `fresh` is an integer symbol that does not occur yet, for branches without end.
    """

    lhs: Expr
    rhs: Expr
    after: Expr
    transform: Transform | None
    fresh: Symbol
    term: Expr | None = None

    @property
    def sides(self) -> tuple[Expr, Expr]:
        return self.lhs, self.rhs


class Fork(NamedTuple):
    """One branch of a step: what it puts in place of the principal one's, and what to call it."""

    rhs: Expr
    transform: Transform | None
    note: str  # empty for the principal branch
    op: str = ""  # the operation that the note is about, if not the one taken
    lhs: Expr | None = None  # the left side, if that differs as well
    late: bool = False  # whether it is rarely a root, and is followed when all others are


Forks = Callable[[Taken], list[Fork]]


def of_root(index: int) -> Forks:
    """Forks of a square or cube root: its product with each root of unity."""
    units = UNITS[index]

    def forks(step: Taken) -> list[Fork]:
        undone = any(has_x(side) and has_root(side, index) for side in step.sides)
        if is_zero(step.after) or not undone:
            return []
        notes = ["" if unit is ONE else f"times {unit}" for unit in units]
        return [Fork(product(u, step.after), None, note) for u, note in zip(units, notes)]

    return forks


def of_division(step: Taken) -> list[Fork]:
    """Forks of a division: sin(u)/u = 0 has no longer the root u = 0 of sin(u) = 0.

    Legality sees that among rational functions of one function; else the divisor may be 0 as well.
    """
    term = step.term
    if term is None or not may_vanish(term) or decides(step.lhs, step.rhs, term):
        return []
    other = Fork(ZERO, None, f"where {term} is 0", lhs=term, late=True)
    return [Fork(step.after, None, ""), other]


def may_vanish(term: Expr) -> bool:
    """Whether a factor of a term has x and may be 0: not a constant, an exponential or 1/x."""
    for factor in Mul.make_args(term):
        exponent = factor.exp if isinstance(factor, Pow) else ONE
        if has_x(factor) and not never_zero(factor) and not exponent.is_negative:
            return True
    return False


def of_logarithm(step: Taken) -> list[Fork]:
    """Forks of a logarithm: its values, and where both sides are 0, so that they have none."""
    forks = [Fork(step.after, None, "")]
    if any(map(has_exponential, step.sides)):
        turn = product(Integer(2), pi, I, step.fresh)
        forks = [Fork(total(step.after, turn), None, f"plus {turn}")]
    if all(has_x(side) and not never_zero(side) for side in step.sides):
        forks.append(Fork(ZERO, None, "where both sides are 0", lhs=step.lhs, late=True))
    return forks if len(forks) > 1 or forks[0].note else []


def of_tangent(step: Taken) -> list[Fork]:
    """Forks of tan of both sides: it has no value where both are an odd multiple of pi/2."""
    if not all(map(has_x, step.sides)):
        return []
    pole = total(product(Rational(1, 2), pi), product(pi, step.fresh))
    return [Fork(step.after, None, ""),
            Fork(pole, None, f"where both sides are {pole}", lhs=step.lhs, late=True)]  # fmt: skip


def of_angle(inverse: type) -> Forks:
    """Forks of asin, acos or atan of both sides."""

    def forks(step: Taken) -> list[Fork]:
        if not any(isinstance(side, ANGLES[inverse]) for side in step.sides):
            return []
        return [Fork(value, None, note) for value, note in angles(inverse, step)]

    return forks


def of_other_angle(step: Taken) -> list[Fork]:
    """The branches are the same where not the principal value was taken but the next one."""
    inverse = asin if isinstance(step.lhs, sin) else acos
    principal = of_angle(inverse)(step._replace(after=undo(inverse, step.rhs)))
    return [fork._replace(op=inverse.__name__) for fork in principal]


def of_substitution(step: Taken) -> list[Fork]:
    """Forks of x := phi(x) where phi has several values; none of a step that pushes no phi."""
    if not isinstance(step.transform, Substitute):
        return []
    phi = every_value(step.transform.phi, step.fresh)
    if phi == step.transform.phi:
        return []
    return [Fork(step.after, Substitute(phi, step.transform.labels), f"with x := {phi}")]


def angles(inverse: type, step: Taken) -> list[tuple[Expr, str]]:
    """Every u with sin(u) = rhs (cos, tan), where `after` is one of them."""
    half, whole = product(pi, step.fresh), product(Integer(2), pi, step.fresh)
    if inverse is atan or is_zero(step.rhs):  # zeros of sin and cos lie half a turn apart
        return [(total(step.after, half), f"plus {half}")]
    other, how = negate(step.after), "minus it"
    if inverse is asin:
        other, how = total(pi, other), "pi minus it"
    first = (total(step.after, whole), f"plus {whole}")
    return [first, (total(other, whole), f"{how}, plus {whole}")]


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


def out_of_reach(transform: Transform | None) -> bool:
    """Whether a solution may be out of phi's reach on all of the branches that are followed."""
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
