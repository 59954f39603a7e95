"""Sums of integer powers of x as coefficients by exponent."""

from __future__ import annotations

from sympy import Expr

from abel.equation import ONE, ZERO, X, remember, split_factor, summands_of
from abel.numeric import is_zero
from abel.rewrite import base_exponent, product, total

Terms = dict[int, Expr]  # coefficients by exponent


@remember
def powers_of_x(expr: Expr) -> Terms | None:
    """The coefficients of a sum of integer powers of x; None for anything else."""
    found: Terms = {}
    for term in summands_of(expr):
        free, rest = split_factor(term)
        base, exponent = base_exponent(rest)
        if rest is not ONE and base != X:
            return None
        found = merged(found, {0 if rest is ONE else exponent.p: free})
    return without_zeros(found)


def merged(first: Terms, second: Terms) -> Terms:
    return {
        k: total(first.get(k, ZERO), second.get(k, ZERO)) for k in dict.fromkeys([*first, *second])
    }


def without_zeros(terms: Terms) -> Terms:
    return {k: c for k, c in terms.items() if not is_zero(c)}


def convolve(first: Terms, second: Terms) -> Terms:
    result: Terms = {}
    for (j, a), (k, b) in ((p, q) for p in first.items() for q in second.items()):
        result = merged(result, {j + k: product(a, b)})
    return result
