"""Supplied mathematics, one row each: the agent, not a detector, chooses when to use it.

`shift` removes the next-to-leading term of a polynomial, `vieta` turns a depressed cubic into a
quadratic in y**3 by x := y - p/(3*y), `tan-half` makes sin and cos rational by x := 2*atan(y),
`resolvent` asks for a root of a cubic first, by which a quartic splits into quadratics, and
`lambert` undoes u*exp(u). Where one of them would change nothing it is illegal: there are no idle
steps.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import NamedTuple

from sympy import Add, Expr, Integer, LambertW, Mul, Pow, Rational, atan, cos, exp, log, sin

from abel.equation import (
    MINUS_ONE,
    ONE,
    ZERO,
    Label,
    X,
    factors_of,
    has_x,
    remember,
    split_factor,
    split_summand,
    summands_of,
)  # fmt: skip
from abel.numeric import is_zero
from abel.operations.ansatz import as_sum
from abel.operations.forks import Fork, Taken
from abel.operations.laurent import Terms, convolve, merged, without_zeros
from abel.operations.legality import Facts, Sides
from abel.operations.let import ratio
from abel.operations.row import Applied, Operation
from abel.rewrite import (
    base_exponent,
    call,
    coefficients,
    difference,
    expand,
    expand_within,
    grows_past,
    lower_lambert,
    negate,
    polynomial,
    power,
    product,
    replace,
    shift,
    total,
)  # fmt: skip
from abel.transforms import HOLE, Goal, Substitute, with_letters

MAX_DEGREE = 8  # of a polynomial that is shifted
MAX_EXPANDED = 300  # nodes of what is expanded on the way
MAX_ANGLES = 3  # degree in sin and cos together


@remember
def exact_coefficients(lhs: Expr, rhs: Expr) -> list[Expr] | None:
    """Coefficients of the polynomial lhs - rhs, constant first, zeros recognised as such."""
    side = difference(lhs, rhs)
    if grows_past(side, MAX_EXPANDED):
        return None
    found = coefficients(expand(side))
    if found is None:
        return None
    coeffs = [ZERO if is_zero(c) else c for c in found]
    while coeffs and coeffs[-1] is ZERO:
        coeffs.pop()
    return coeffs if 3 <= len(coeffs) <= MAX_DEGREE + 1 else None


def written(coeffs: list[Expr]) -> tuple[Expr, tuple[Label, ...]]:
    """The polynomial with these coefficients, the large ones named, and their names."""
    named, labels = with_letters([ZERO if is_zero(c) else c for c in coeffs], [])
    return polynomial(named), labels


def substituted(coeffs: list[Expr], phi: Expr) -> Applied:
    """The polynomial equation with these coefficients after x := phi(x)."""
    lhs, labels = written(coeffs)
    return lhs, ZERO, Substitute(phi, labels)


def shiftable(lhs: Expr, rhs: Expr) -> list[Expr] | None:
    """The coefficients of a polynomial with a next-to-leading term."""
    coeffs = exact_coefficients(lhs, rhs)
    return None if coeffs is None or coeffs[-2] is ZERO else coeffs


@remember
def shift_roots(lhs: Expr, rhs: Expr) -> Applied | None:
    """x := x - b/(n*a) in a*x**n + b*x**(n - 1) + ... = 0."""
    coeffs = shiftable(lhs, rhs)
    if coeffs is None:
        return None
    n = len(coeffs) - 1
    by = product(Rational(-1, n), coeffs[-2], power(coeffs[-1], MINUS_ONE))
    return substituted(shift(tuple(coeffs), by), total(X, by))


def depressed(lhs: Expr, rhs: Expr) -> list[Expr] | None:
    """The coefficients of a polynomial from degree 3 on without a next-to-leading term."""
    coeffs = exact_coefficients(lhs, rhs)
    if coeffs is None or len(coeffs) < 4 or coeffs[-2] is not ZERO or coeffs[-3] is ZERO:
        return None
    return coeffs


@remember
def vieta(lhs: Expr, rhs: Expr) -> Applied | None:
    """x := x + s/x with s = -p/(n*a) in a*x**n + p*x**(n - 2) + ... = 0, times x**n.

    Offered where a quadratic in x**n results: for every cubic, and for Dickson's polynomials.
    """
    coeffs = depressed(lhs, rhs)
    if coeffs is None:
        return None
    n = len(coeffs) - 1
    s = product(Rational(-1, n), coeffs[-3], power(coeffs[-1], MINUS_ONE))
    moved: Terms = {}
    for k, c in enumerate(coeffs):
        for j in range(k + 1):
            times = power(s, Integer(j)) if j else ONE
            moved = merged(moved, {n + k - 2 * j: product(Integer(comb(k, j)), c, times)})
    moved = without_zeros(moved)
    if not moved.keys() <= {0, n, 2 * n}:
        return None
    phi = total(X, product(s, power(X, MINUS_ONE)))
    return substituted([moved.get(k, ZERO) for k in range(2 * n + 1)], phi)


class Trigonometric(NamedTuple):
    """A polynomial in sin and cos of one angle k*x + c."""

    start: Expr  # c
    rate: Expr  # k
    terms: list[tuple[Expr, int, int]]  # coefficient, power of sin, power of cos

    @property
    def degree(self) -> int:
        return max(i + j for _, i, j in self.terms)


def trigonometric(side: Expr) -> Trigonometric | None:
    """An expanded sum as a polynomial in sin and cos of one angle, if it is one with both."""
    angles: set[Expr] = set()
    terms: list[tuple[Expr, int, int]] = []
    for term in summands_of(side):
        free, rest = split_factor(term)
        exponents = {sin: 0, cos: 0}
        for factor in factors_of(rest) if rest is not ONE else ():
            base, n = base_exponent(factor)
            if type(base) not in exponents or n < 0:
                return None
            angles.add(base.args[0])
            exponents[type(base)] += n.p
        terms.append((free, exponents[sin], exponents[cos]))
    if len(angles) != 1 or not (any(i for _, i, _ in terms) and any(j for _, _, j in terms)):
        return None
    linear = coefficients(expand(angles.pop()))
    return Trigonometric(*linear, terms) if linear is not None and len(linear) == 2 else None


@remember
def tan_half(lhs: Expr, rhs: Expr) -> Applied | None:
    """x := 2*atan(x) in a polynomial in sin(x) and cos(x), times a power of 1 + x**2.

    With sin(k*x + c) in place of sin(x) it is x := (2*atan(x) - c)/k.
    """
    side = difference(lhs, rhs)
    found = None if grows_past(side, MAX_EXPANDED) else trigonometric(expand(side))
    if found is None or found.degree > MAX_ANGLES:
        return None
    rational: Terms = {}
    for free, i, j in found.terms:
        part: Terms = {0: free}
        # sin = 2*t/(1 + t**2), cos = (1 - t**2)/(1 + t**2), all times (1 + t**2)**degree
        for factor, times in (({1: Integer(2)}, i), ({0: ONE, 2: MINUS_ONE}, j),
                              ({0: ONE, 2: ONE}, found.degree - i - j)):  # fmt: skip
            for _ in range(times):
                part = convolve(part, factor)
        rational = merged(rational, part)
    rational = without_zeros(rational)
    twice = difference(product(Integer(2), call(atan, X)), found.start)
    phi = product(twice, power(found.rate, MINUS_ONE))
    return substituted([rational.get(k, ZERO) for k in range(max(rational) + 1)], phi)


# ---- A goal that is no sub-expression ----


@remember
def resolvent(lhs: Expr, rhs: Expr) -> Applied | None:
    """Of x**4 + p*x**2 + q*x + r = 0 the cubic u**3 + 2*p*u**2 + (p**2 - 4*r)*u - q**2 = 0 first.

    By a root u of it the quartic is the product of x**2 -+ sqrt(u)*x + (p + u +- q/sqrt(u))/2
    (Descartes; Ferrari's method in other words). The goal is the first factor = 0.
    """
    coeffs = exact_coefficients(lhs, rhs)
    if coeffs is None or len(coeffs) != 5 or coeffs[3] is not ZERO or coeffs[1] is ZERO:
        return None
    over = power(coeffs[4], MINUS_ONE)
    r, q, p = (product(c, over) for c in coeffs[:3])
    third = difference(power(p, Integer(2)), product(Integer(4), r))
    cubic, labels = written([negate(power(q, Integer(2))), third, product(Integer(2), p), ONE])
    s = power(HOLE, Rational(1, 2))
    free = product(Rational(1, 2), total(p, HOLE, product(q, power(s, MINUS_ONE))))
    quadratic = total(power(X, Integer(2)), negate(product(s, X)))
    return cubic, ZERO, Goal(quadratic, negate(free), labels)


@remember
def squares(lhs: Expr, rhs: Expr) -> Applied | None:
    """Of x**4 + b*x**3 + c*x**2 + d*x + e = 0 an h first, such that both sides are squares in
    (x**2 + b*x/2 + h)**2 = (b**2/4 + 2*h - c)*x**2 + (b*h - d)*x + h**2 - e.

    The right side is a square where its discriminant, a cubic in h, is 0. Where it can become a
    constant, the quartic is one in a square of x + b/4, and needs no h.
    """
    known = as_sum(lhs, rhs)  # shared with the forms, which are asked about every equation
    if known is None or known.kind != "powers" or max(known.parts[ONE]) != 4:
        return None
    coeffs = exact_coefficients(lhs, rhs)
    if coeffs is None or len(coeffs) != 5:
        return None
    over = power(coeffs[4], MINUS_ONE)
    e, d, c, b = (product(coefficient, over) for coefficient in coeffs[:4])
    square, two = power(b, Integer(2)), Integer(2)
    start = difference(product(Rational(1, 4), square), c)  # of the leading coefficient
    if is_zero(difference(product(Rational(-1, 2), b, start), d)):
        return None
    cubic, labels = written([
        difference(negate(power(d, two)), product(Integer(4), e, start)),
        difference(product(two, b, d), product(Integer(8), e)),
        product(Integer(-4), c),
        Integer(8),
    ])  # fmt: skip
    lead, middle = total(start, product(two, HOLE)), difference(product(b, HOLE), d)
    inside = total(power(X, two), product(Rational(1, 2), b, X), HOLE)
    apex = product(Rational(1, 2), middle, power(lead, MINUS_ONE))
    right = product(lead, power(total(X, apex), two))
    return cubic, ZERO, Goal(power(inside, two), right, labels)


# ---- Steps that change no variable ----


@remember
def lambert(lhs: Expr, rhs: Expr) -> Applied | None:
    """a*u*exp(k*u + c) = r becomes u = W(k*r*exp(-c)/a)/k, the principal branch.

    The product may be multiplied out: a*x*exp(x) + b*exp(x) is (a*x + b)*exp(x).
    """
    found = lambert_parts(lhs, rhs)
    if found is None:
        return None
    u, k, inside = found
    return u, product(call(LambertW, inside), power(k, MINUS_ONE)), None


@remember
def lambert_parts(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr, Expr] | None:
    """u, k and k*r*exp(-c)/a of a*u*exp(k*u + c) = r."""
    if has_x(rhs) or is_zero(rhs) or not isinstance(lhs, Add | Mul):
        return None
    if isinstance(lhs, Add):
        common = call(exp, split_exponent(lhs.args[-1])[0])
        divided = product(lhs, power(common, MINUS_ONE))
        lhs = product(expand_within(divided, MAX_EXPANDED), common)
    free, rest = split_factor(lhs)
    exponent, others = split_exponent(rest)
    if exponent is ZERO or len(others) != 1:
        return None
    u = others[0]
    offset, rest = split_summand(expand_within(exponent, MAX_EXPANDED))
    start, kernel = split_summand(u)
    k = ratio(rest, kernel)
    if k is None:
        return None
    c = difference(offset, product(k, start))
    return u, k, product(k, rhs, call(exp, negate(c)), power(free, MINUS_ONE))


def split_exponent(expr: Expr) -> tuple[Expr, list[Expr]]:
    """The exponent of all exponentials of a product together, and its other factors."""
    exponent, others = ZERO, []
    for factor in factors_of(expr):
        if isinstance(factor, exp):
            exponent = total(exponent, factor.args[0])
        elif isinstance(factor, Pow) and not has_x(factor.base):
            exponent = total(exponent, product(factor.exp, call(log, factor.base)))
        else:
            others.append(factor)
    return exponent, others


# ---- The rows ----


def lambert_forks(step: Taken) -> list[Fork]:
    """Both branches of W that have real values; of the others, one for every integer, none."""
    found = lambert_parts(step.lhs, step.rhs)
    if found is None:
        return []
    _, k, inside = found
    other = product(lower_lambert(inside), power(k, MINUS_ONE))
    return [Fork(step.after, None, ""), Fork(other, None, "on the branch -1 of LambertW")]


def resolvent_forks(step: Taken) -> list[Fork]:
    """Both factors of the quartic: the other one has -sqrt(u) in place of sqrt(u)."""
    goal = step.transform
    if not isinstance(goal, Goal):
        return []
    roots = [power(HOLE, Rational(sign, 2)) for sign in (1, -1)]
    turned = {root: negate(root) for root in roots}
    other = Goal(replace(goal.lhs, turned), replace(goal.rhs, turned), goal.labels)
    return [Fork(step.after, goal, ""), Fork(step.after, other, "with -sqrt(u)")]


def vieta_applies(lhs: Expr, rhs: Expr) -> bool:
    coeffs = depressed(lhs, rhs)
    return coeffs is not None and (len(coeffs) == 4 or vieta(lhs, rhs) is not None)


def supplied(
    name: str, text: str, tex: str, rule: Callable[[Expr, Expr], Applied | None], *,
    applies: Callable[[Expr, Expr], bool] | None = None, **rest,
) -> Operation:  # fmt: skip
    """The row of a rule that gives None where it does not apply; `applies` knows that sooner."""

    def legal(sides: Sides, _: Facts | None) -> bool:
        if applies is not None:
            return applies(sides.lhs, sides.rhs)
        return rule(sides.lhs, sides.rhs) is not None

    def apply(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
        applied = rule(lhs, rhs)
        if applied is None:
            raise ValueError(f"'{name}' does not apply to '{lhs} = {rhs}'")
        return applied

    flags = ("general", name.replace("-", "_"))
    return Operation(name, text, tex, apply, legal, flags=flags, **rest)


ROWS = (
    supplied("lambert", "undo u*exp(u)", "W", lambert, forks=lambert_forks),
    supplied("shift", "remove the next-to-leading term", r"\text{shift}", shift_roots,
             applies=lambda lhs, rhs: shiftable(lhs, rhs) is not None, kind="change", keeps=True),
    supplied("vieta", "substitute x - p/(n*x)", r"\text{Vieta}", vieta, applies=vieta_applies,
             kind="change", keeps=True),
    # x = pi is lost, which no value of tan(x/2) gives.
    supplied("tan-half", "substitute 2*atan(x)", r"x := 2\arctan x", tan_half, kind="change"),
    supplied("squares", "make both sides squares", r"(\cdot)^2 = (\cdot)^2", squares, kind="goal",
             keeps=True),
    supplied("resolvent", "split a quartic into quadratics", r"\text{resolvent}", resolvent,
             kind="goal", forks=resolvent_forks, keeps=True),
)  # fmt: skip
