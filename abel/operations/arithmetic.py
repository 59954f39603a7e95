"""Adding a term to both sides, subtracting it, multiplying and dividing by it."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Add, Expr, fraction

from abel.equation import MINUS_ONE, ONE, ZERO
from abel.numeric import TOLERANCE
from abel.operations.forks import of_division
from abel.operations.legality import Facts, Multiplier, Sides
from abel.operations.row import Applied, Apply, Operation
from abel.rewrite import difference, negate, power, product, total


def add(lhs: Expr, rhs: Expr, term: Expr) -> Applied:
    return total(lhs, term), total(rhs, term), None


def subtract(lhs: Expr, rhs: Expr, term: Expr) -> Applied:
    return difference(lhs, term), difference(rhs, term), None


def multiply(lhs: Expr, rhs: Expr, term: Expr) -> Applied:
    return product(lhs, term), product(rhs, term), None


def divide(lhs: Expr, rhs: Expr, term: Expr) -> Applied:
    return multiply(lhs, rhs, power(term, MINUS_ONE))


def add_is_legal(sides: Sides, about: Facts) -> bool:
    # A term so large that x would drown beside it could not be told from one that loses x.
    return sides.change > TOLERANCE * (sides.size[0] + sides.size[1] + 2 * about.size)


def subtract_is_legal(sides: Sides, about: Facts) -> bool:
    # Taking the left side from itself when the right is 0 only turns signs: that is mul -1.
    return add_is_legal(sides, about) and not (sides.rhs is ZERO and about.term == sides.lhs)


def multiply_is_legal(sides: Sides, about: Facts) -> bool:
    return scaling_is_legal(sides, about, about.times, multiply, inverse=False)


def divide_is_legal(sides: Sides, about: Facts) -> bool:
    return scaling_is_legal(sides, about, about.over, divide, inverse=True)


def scaling_is_legal(
    sides: Sides, about: Facts, factor: Multiplier | None, apply: Apply, inverse: bool
) -> bool:
    """Whether both sides may be multiplied by the term, or divided if `inverse`."""
    if factor is None:
        return False
    size, (f, g, _), (size_f, size_g, size_h), swell, guarded = sides.size, *factor
    scale = size[0] * size_f + size[1] * size_g
    if not scale + size[2] * size_h < sides.largest:
        return False
    # A power of a part may leave the range where the whole does not.
    if not sides.swelling * swell < sides.largest and not sides.lead_on(apply, about.term):
        return False
    if not about.has_x:
        return True
    if abs(sides.gap[0] * f - sides.gap[1] * g) <= TOLERANCE * scale:  # x would cancel
        return False
    return not (guarded and sides.guard.loses(about.term, inverse))


# ---- Words ----


def is_negative(term: Expr) -> bool:
    """Whether a term is written with a minus sign; a sum is if all of it is."""
    if isinstance(term, Add):
        return all(map(is_negative, term.args))
    return term.as_coeff_Mul()[0].is_negative is True


def is_one_over(term: Expr) -> bool:
    """Whether a term is written as 1/u, but for its sign."""
    above, below = fraction(term)
    return below != ONE and above in (ONE, MINUS_ONE)


def in_words(name: str, opposite: str, turn: Callable[[Expr], Expr], odd: Callable[[Expr], bool]):
    """A person turns an odd term round, and says the opposite."""
    return lambda term: (opposite, turn(term)) if odd(term) else (name, term)


def reciprocal(term: Expr) -> Expr:
    return power(term, MINUS_ONE)


def is_fraction(term: Expr) -> bool:
    return is_one_over(term) or (term.is_Rational and not term.is_Integer)


ROWS = (
    Operation("add", "add {}", "+ {}", add, add_is_legal, takes_term=True, keeps=True,
              reads=in_words("add", "sub", negate, is_negative)),
    Operation("sub", "subtract {}", "- {}", subtract, subtract_is_legal,
              takes_term=True, keeps=True, reads=in_words("sub", "add", negate, is_negative)),
    Operation("mul", "multiply by {}", r"\cdot {}", multiply, multiply_is_legal,
              takes_term=True, keeps=True, reads=in_words("mul", "div", reciprocal, is_one_over)),
    Operation("div", "divide by {}", r"\div {}", divide, divide_is_legal, forks=of_division,
              takes_term=True, keeps=True, reads=in_words("div", "mul", reciprocal, is_fraction)),
)  # fmt: skip
