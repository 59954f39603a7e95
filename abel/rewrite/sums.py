"""Sums: products distributed over them, equal functions of x gathered, polynomials in x."""

from __future__ import annotations

from math import comb

from sympy import Add, Expr, Integer, Mul, Pow

from abel.equation import ONE, X, factors_of, has_x, remember, split_factor, summands_of
from abel.rewrite.nodes import base_exponent, power, product, rebuild, total

MAX_POLYNOMIAL_DEGREE = 1000  # of a polynomial that is written as its coefficients
MAX_TERMS = 10**6  # what is predicted to have more has too many

# ---- Expand ----


def is_sum(factor: Expr) -> bool:
    base, exponent = base_exponent(factor)
    return isinstance(base, Add) and exponent.p > 0


@remember
def expandable(expr: Expr) -> bool:
    """Whether some product or power in `expr` distributes over a sum."""
    if isinstance(expr, Mul) and any(map(is_sum, expr.args)):
        return True
    if isinstance(expr, Pow) and is_sum(expr):
        return True
    return any(map(expandable, expr.args))


@remember
def expanded_size(expr: Expr) -> tuple[int, int]:
    """(summands, nodes) that `expand` can produce at the most."""
    if isinstance(expr, Pow) and is_sum(expr):
        summands, nodes = expanded_size(expr.base)
        n = min(expr.exp.p, 64)
        total = min(max(comb(summands + n - 1, n), expr.exp.p), MAX_TERMS)
        return total, total * (1 + min(summands, n) * (2 + nodes // summands))
    sizes = list(map(expanded_size, expr.args))
    if isinstance(expr, Add):
        return min(sum(s for s, _ in sizes), MAX_TERMS), 1 + sum(n for _, n in sizes)
    if isinstance(expr, Mul):
        summands = 1
        for s, _ in sizes:
            summands = min(summands * s, MAX_TERMS)
        return summands, 1 + sum((n + 1) * (summands // s) for s, n in sizes)
    return 1, 1 + sum(n for _, n in sizes)


@remember
def expand(expr: Expr) -> Expr:
    """Distribute products and integer powers over sums, everywhere in the tree.

    Unlike SymPy's, it cancels a factor against denominators before distributing:
    (e + (a*x + b)/(c*x + d))*(c*x + d) gives a*x + b + c*e*x + d*e, not four fractions.
    """
    if not expandable(expr):
        return expr
    if isinstance(expr, Pow) and is_sum(expr):
        return distribute([expand(expr.base)] * expr.exp.p)
    if not isinstance(expr, Mul):
        return rebuild(expr, [expand(arg) for arg in expr.args])
    factors: list[Expr] = []
    for factor in expr.args:
        base, exponent = base_exponent(factor)
        if is_sum(factor):
            factors += [expand(base)] * exponent.p
        else:
            factors.append(expand(factor))
    return distribute(factors)


def distribute(factors: list[Expr]) -> Expr:
    """The product of `factors` as a sum of products."""
    sums = [factor for factor in factors if isinstance(factor, Add)]
    terms = [product(*[factor for factor in factors if not isinstance(factor, Add)])]
    # A sum that stands under a fraction bar elsewhere comes last: by then it can cancel.
    last = [any(divides(s, arg) for other in sums for arg in other.args) for s in sums]
    for factor in sorted(sums, key=dict(zip(sums, last)).__getitem__):
        grown: list[Expr] = []
        for term in terms:
            if divides(factor, term):
                grown += summands_of(expand(product(term, factor)))
            else:
                grown += [product(term, summand) for summand in factor.args]
        terms = list(summands_of(total(*grown)))
    return total(*terms)


def divides(factor: Expr, term: Expr) -> bool:
    """Whether `factor` is a denominator of `term`."""
    return any(
        isinstance(part, Pow) and part.exp.is_negative and part.base == factor
        for part in factors_of(term)
    )


def grows_past(expr: Expr, max_nodes: int) -> bool:
    """Whether expanding `expr` may produce more than `max_nodes` nodes."""
    return expandable(expr) and expanded_size(expr)[1] > max_nodes


def expand_within(expr: Expr, max_nodes: int) -> Expr:
    """`expr` expanded, or as it is if that may produce more than `max_nodes` nodes."""
    return expr if grows_past(expr, max_nodes) else expand(expr)


# ---- Collect ----


@remember
def collectable(expr: Expr) -> bool:
    """Whether `collect` changes `expr`."""
    if not has_x(expr):
        return False
    if isinstance(expr, Add):
        parts = [split_factor(arg)[1] for arg in expr.args if has_x(arg)]
        if len(set(parts)) < len(parts):
            return True
    return any(map(collectable, expr.args))


@remember
def collect(expr: Expr) -> Expr:
    """Gather the coefficients of equal functions of x: a*x + b*x gives (a + b)*x."""
    if not collectable(expr):
        return expr
    args = [collect(arg) for arg in expr.args]
    if not isinstance(expr, Add):
        return rebuild(expr, args)
    groups: dict[Expr, list[Expr]] = {}
    for arg in args:
        free, rest = split_factor(arg)
        groups.setdefault(rest, []).append(free)
    return total(*[
        total(*free) if rest is ONE else product(total(*free), rest)
        for rest, free in groups.items()
    ])  # fmt: skip


# ---- Polynomials in x ----


@remember
def coefficients(expr: Expr) -> tuple[Expr, ...] | None:
    """Coefficients of an expanded polynomial in x, constant first; None for anything else."""
    found: dict[int, list[Expr]] = {}
    for term in summands_of(expr):
        free, rest = split_factor(term)
        base, exponent = base_exponent(rest)
        if rest is not ONE and (base != X or exponent < 0):
            return None
        found.setdefault(0 if rest is ONE else exponent.p, []).append(free)
    degree = max(found, default=0)
    if degree > MAX_POLYNOMIAL_DEGREE:
        return None
    return tuple(total(*found.get(k, ())) for k in range(degree + 1))


def polynomial(coeffs: list[Expr]) -> Expr:
    return total(*[product(c, power(X, Integer(k))) if k else c for k, c in enumerate(coeffs)])


def shift(coeffs: tuple[Expr, ...], by: Expr) -> list[Expr]:
    """Coefficients of p(x + by)."""
    return [
        total(*[
            product(Integer(comb(k, j)), coeffs[k], power(by, Integer(k - j)) if k > j else ONE)
            for k in range(j, len(coeffs))
        ])
        for j in range(len(coeffs))
    ]  # fmt: skip
