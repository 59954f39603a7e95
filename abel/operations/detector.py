"""`cov`: the change of variables that a generator proposes, by default the paper's detector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sympy import Expr, Rational, Symbol, exp, log

from abel.equation import MINUS_ONE, ZERO, X, has_x, num_nodes, split_factor, summands_of
from abel.numeric import is_zero
from abel.operations.relabel import relabel
from abel.operations.row import Applied, Apply, Operation
from abel.parse import ParseError, parse_expression
from abel.rewrite import (
    coefficients,
    difference,
    expand,
    expand_within,
    grows_past,
    polynomial,
    power,
    product,
    replace,
    shift,
    total,
)  # fmt: skip
from abel.transforms import Substitute

MAX_DEGREE = 4
PLAIN_NODES = 30  # of an equation after a change of variables, past which its blocks get letters
MAX_COV_NODES = 600  # past which a change of variables is of no use

# From the two sides of an equation to phi, where x := phi(x) brings it closer to a solution, or to
# None.
Generator = Callable[[Expr, Expr], Expr | None]


def propose(lhs: Expr, rhs: Expr) -> Expr | None:
    """The paper's detector, read off the expanded lhs - rhs; None where it finds nothing.

    A polynomial of degree 2 to 4 is depressed by x := x - b/(n*a); a*exp(k*x) + b*exp(-k*x) + c
    becomes rational by x := log(x)/k.
    """
    side = difference(lhs, rhs)
    if grows_past(side, 300):
        return None
    side = expand(side)
    coeffs = coefficients(side)
    if coeffs is None:
        rate = exponential_rate(side)
        return None if rate is None else product(log(X), power(rate, MINUS_ONE))
    degree = len(coeffs) - 1
    if not 2 <= degree <= MAX_DEGREE or is_zero(coeffs[-2]) or is_zero(coeffs[-1]):
        return None
    return total(X, product(Rational(-1, degree), coeffs[-2], power(coeffs[-1], MINUS_ONE)))


def exponential_rate(side: Expr) -> Expr | None:
    """k if `side` is a*exp(k*x + m) + b*exp(-k*x + n) + c."""
    rates: list[Expr] = []
    for term in summands_of(side):
        if has_x(term):
            kernel = split_factor(term)[1]
            linear = coefficients(expand(kernel.args[0])) if isinstance(kernel, exp) else None
            if linear is None or len(linear) != 2:
                return None
            rates.append(linear[1])
    rates = sorted(set(rates), key=lambda rate: (rate.could_extract_minus_sign(), str(rate)))
    return rates[0] if len(rates) == 2 and is_zero(total(*rates)) else None


def change_variables(lhs: Expr, rhs: Expr, phi: Expr) -> tuple[Expr, Expr]:
    """Both sides with x := phi(x), expanded."""
    return substitute_side(lhs, phi), substitute_side(rhs, phi)


def change_and_name(lhs: Expr, rhs: Expr, phi: Expr) -> tuple[Expr, Expr, Substitute]:
    """Both sides with x := phi(x), and what is to be undone.

    Where that makes them large, blocks of constants get letters: coefficients that are sums
    themselves would otherwise leave no room for any step.
    """
    lhs, rhs = change_variables(lhs, rhs, phi)
    if num_nodes(lhs) + num_nodes(rhs) <= PLAIN_NODES:
        return lhs, rhs, Substitute(phi)
    lhs, rhs, named = relabel(lhs, rhs)
    return lhs, rhs, Substitute(phi, named.labels)


def substitute_side(side: Expr, phi: Expr) -> Expr:
    if not has_x(side):
        return side
    by = difference(phi, X)
    coeffs = None if has_x(by) or grows_past(side, 300) else coefficients(expand(side))
    if coeffs is not None:
        # Exact binomials; a coefficient that vanishes must vanish, not linger as an unsimplified
        # zero.
        return polynomial([c if not is_zero(c) else ZERO for c in shift(coeffs, by)])
    return expand_within(replace(side, {X: phi}), 300)


# ---- The row ----


def apply(generator: Generator, lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    """x := phi(x) if the generator finds one; else nothing changes, and the step is lost."""
    phi = generator(lhs, rhs)
    if phi is None:
        return lhs, rhs, None
    *changed, transform = change_and_name(lhs, rhs, phi)
    return (
        (lhs, rhs, None) if sum(map(num_nodes, changed)) > MAX_COV_NODES else (*changed, transform)
    )


def retell(transform: str, lhs: Expr, rhs: Expr) -> Apply | None:
    """Whatever phi a document has is taken, since a generator may be learned: the root is proved
    at the end. None if it records no change of variables that can be read.
    """
    text = transform.removeprefix("x := ").split(", ")[0]
    phi = propose(lhs, rhs)
    if phi is None or str(phi) != text:  # the rule's may be nested deeper than text is read
        try:
            phi = parse_expression(text)
        except ParseError:
            return None
        # Letters from a relabeling are no plain ones.
        letters = sorted(lhs.free_symbols | rhs.free_symbols, key=str)
        phi = replace(phi, {Symbol(letter.name): letter for letter in letters})
    if not has_x(phi) or phi == X:
        return None
    return partial(apply, lambda lhs, rhs: phi)


def cov(generator: Generator) -> Operation:
    return Operation("cov", "change variables", r"\text{change variables}",
                     partial(apply, generator), lambda sides, _: True, kind="change",
                     flags=("detector", "cov"), keeps=True, retell=retell)  # fmt: skip
