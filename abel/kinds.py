"""Structural types of equations, as the paper's per-type table has them."""

from __future__ import annotations

from sympy import Expr, Pow, acos, asin, atan, cos, exp, log, preorder_traversal, sin, tan

from abel.equation import Equation, has_x
from abel.rewrite import coefficients, difference, expand

TRIGONOMETRIC = (sin, cos, tan, asin, acos, atan)


def structural_type(equation: Equation) -> str:
    """The hardest kind of expression that x is in: trig, log, exp, radical, rational, degree n."""
    kinds = {
        kind_of(expr)
        for side in (equation.lhs, equation.rhs)
        for expr in preorder_traversal(side)
        if has_x(expr)
    }
    for kind in ("trig", "log", "exp", "radical", "rational"):
        if kind in kinds:
            return kind
    found = coefficients(expand(difference(equation.lhs, equation.rhs)))
    return "other" if found is None else f"degree {len(found) - 1}"


def kind_of(expr: Expr) -> str:
    if isinstance(expr, TRIGONOMETRIC):
        return "trig"
    if isinstance(expr, log):
        return "log"
    if isinstance(expr, exp) or (isinstance(expr, Pow) and has_x(expr.exp)):
        return "exp"
    if isinstance(expr, Pow) and not expr.exp.is_Integer:
        return "radical"
    return "rational" if isinstance(expr, Pow) and expr.exp.is_negative else "plain"
