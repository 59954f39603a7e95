"""Zero products: a side factored where that is exact and cheap, and one of its factors set to 0."""

from __future__ import annotations

from math import lcm, prod
from typing import NamedTuple

from flint import Ordering, fmpq, fmpq_mpoly_ctx
from sympy import Add, E, Expr, Integer, Mul, Pow, Rational, exp

from abel.equation import ONE, ZERO, factors_of, has_x, num_nodes, remember, summands_of
from abel.operations.forks import factors
from abel.operations.legality import MAX_BITS, Facts, Sides
from abel.operations.row import Applied, Operation
from abel.rewrite import call, difference, expand, grows_past, power, product, total

MAX_EXPANDED = 300  # nodes of what is expanded on the way
MAX_TERMS, MAX_GENERATORS = 40, 8
MAX_DEGREE, MAX_SIZE = 30, 400  # of a generator; product of (degree + 1) over them

Key = tuple[Expr, Expr]  # base and what its exponent is a rational multiple of


class Monomial(NamedTuple):
    """A rational coefficient, and the powers of what else is multiplied."""

    number: Rational
    powers: dict[Key, Rational]


def monomial(term: Expr) -> Monomial | None:
    """2*a*x**2*exp(3*x) is 2 with {a: 1, x: 2, (E, x): 3}."""
    number, powers = ONE, dict[Key, Rational]()
    for factor in factors_of(term):
        if factor.is_Rational:
            number *= factor
            continue
        base, exponent = (E, factor.args[0]) if isinstance(factor, exp) else factor.as_base_exp()
        if isinstance(exponent, Add):
            exponent, kind = exponent.primitive()
        else:
            exponent, kind = exponent.as_coeff_Mul()
        powers[base, kind] = powers.get((base, kind), ZERO) + exponent
    return Monomial(number, powers) if number is not ZERO else None


@remember
def factored(side: Expr) -> Expr | None:
    """A side of `side` = 0 as a product of which at least two factors have x, or one to a power.

    It is a polynomial over the rationals in x, in letters and in other functions, each of which is
    as good as a letter: what holds for all values of them holds for theirs. Numbers such as sqrt(2)
    and pi are letters, too.
    """
    if grows_past(side, MAX_EXPANDED) or num_nodes(side) > MAX_EXPANDED:
        return None
    summands = summands_of(expand(side))
    terms = [found for found in map(monomial, summands) if found is not None]
    if not 1 < len(summands) == len(terms) <= MAX_TERMS:
        return None
    keys = list(dict.fromkeys(key for term in terms for key in term.powers))
    if not 0 < len(keys) <= MAX_GENERATORS:
        return None
    scale = [lcm(*(term.powers.get(key, ZERO).q for term in terms)) for key in keys]
    rows = [
        tuple(int(term.powers.get(key, ZERO) * s) for key, s in zip(keys, scale)) for term in terms
    ]
    low = [min(column) for column in zip(*rows)]
    rows = [tuple(e - least for e, least in zip(row, low)) for row in rows]
    degrees = [max(column) for column in zip(*rows)]
    if max(degrees) > MAX_DEGREE or prod(degree + 1 for degree in degrees) > MAX_SIZE:
        return None
    if any(max(t.number.p.bit_length(), t.number.q.bit_length()) > MAX_BITS for t in terms):
        return None
    names = [f"g{i}" for i in range(len(keys))]
    ring = fmpq_mpoly_ctx.get(names, Ordering.lex)
    coefficients: dict[tuple[int, ...], fmpq] = {}
    for row, term in zip(rows, terms):
        known = coefficients.get(row, fmpq(0))
        coefficients[row] = known + fmpq(int(term.number.p), int(term.number.q))
    number, found = ring.from_dict(coefficients).factor()
    parts = [generator_power(key, Rational(e, s)) for key, s, e in zip(keys, scale, low) if e]
    if sum(int(times) for _, times in found) == 1 and not any(map(has_x, parts)):
        return None
    for polynomial, times in found:
        parts.append(power(as_sum(polynomial, keys, scale), Integer(int(times))))
    with_x = [part for part in parts if has_x(part) and vanishes_somewhere(part)]
    repeated = len(with_x) == 1 and isinstance(with_x[0], Pow) and isinstance(with_x[0].base, Add)
    if not (len(with_x) > 1 or repeated):
        return None
    return product(Rational(int(number.p), int(number.q)), *parts)


def vanishes_somewhere(part: Expr) -> bool:
    """Whether a factor may be 0: not an exponential, and no negative power."""
    base, exponent = part.as_base_exp()
    if isinstance(part, exp) or not has_x(base):
        return False
    return exponent.is_Rational and exponent.is_positive


def generator_power(key: Key, exponent: Rational) -> Expr:
    base, kind = key
    if base is E:
        return call(exp, product(exponent, kind))
    return power(base, product(exponent, kind))


def as_sum(polynomial, keys: list[Key], scale: list[int]) -> Expr:
    """A factor as an expression."""
    terms = []
    for row, c in polynomial.to_dict().items():
        powers = [
            generator_power(key, Rational(int(e), s)) for key, s, e in zip(keys, scale, row) if e
        ]
        terms.append(product(Rational(int(c.p), int(c.q)), *powers))
    return total(*terms)


def factor(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    found = factored(difference(lhs, rhs))
    if found is None:
        raise ValueError(f"'{lhs} = {rhs}' does not factor")
    return found, ZERO, None


def factor_is_legal(sides: Sides, _: Facts | None) -> bool:
    found = factored(difference(sides.lhs, sides.rhs))
    return found is not None and (found != sides.lhs or sides.rhs is not ZERO)


# ---- split ----


def vanishing(lhs: Expr, rhs: Expr) -> list[Expr]:
    """The factors of which one is 0; a single one if what else has x is an exponential."""
    found = factors(lhs, rhs)
    if found or rhs is not ZERO or not isinstance(lhs, Mul):
        return found
    others = [f for f in lhs.args if has_x(f) and not isinstance(f, exp)]
    if len(others) == 1 and sum(map(has_x, lhs.args)) > 1:
        base, exponent = others[0].as_base_exp()
        if has_x(base) and exponent.is_Rational and exponent.is_positive:
            return [base]
    return []


def split(lhs: Expr, rhs: Expr, term: Expr) -> Applied:
    if term not in vanishing(lhs, rhs):
        raise ValueError(f"'{term}' is no factor of '{lhs} = {rhs}'")
    return term, ZERO, None


def split_is_legal(sides: Sides, about: Facts) -> bool:
    return about.has_x and about.term in vanishing(sides.lhs, sides.rhs)


ROWS = (
    Operation("factor", "factor", r"\text{factor}", factor, factor_is_legal, kind="rewriting",
              flags=("products",), keeps=True),
    # The roots of the other factors are followed wherever a product is 0: `forks.factors`.
    Operation("split", "set the factor {} to 0", "{} = 0", split, split_is_legal, takes_term=True,
              flags=("products",), keeps=True, terms=lambda sides: vanishing(*sides[:2])),
)  # fmt: skip
