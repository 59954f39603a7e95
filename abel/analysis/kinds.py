"""Structural types of equations, as the paper's per-type table has them."""

from __future__ import annotations

from sympy import Add, Expr, Mul, Pow, acos, asin, atan, cos, exp, log, preorder_traversal, sin, tan

from abel.equation import Equation, has_x
from abel.rewrite import TooLarge, coefficients, difference, expand, grows_past

TRIGONOMETRIC = (sin, cos, tan, asin, acos, atan)
MAX_EXPANDED_NODES = 300  # of a polynomial that is expanded to know its degree


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
    side = difference(equation.lhs, equation.rhs)
    if grows_past(side, MAX_EXPANDED_NODES):
        return f"degree {degree(side)}"
    try:
        found = coefficients(expand(side))
    except TooLarge:
        return f"degree {degree(side)}"
    return "other" if found is None else f"degree {len(found) - 1}"


def degree(expr: Expr) -> int:
    """The degree in x of a polynomial as it is written: leading terms that cancel go unseen."""
    if isinstance(expr, Pow) and expr.exp.is_Integer:
        return expr.exp.p * degree(expr.base)
    degrees = [degree(arg) for arg in expr.args]
    if isinstance(expr, Mul):
        return sum(degrees)
    return max(degrees, default=0) if isinstance(expr, Add) else int(has_x(expr))


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
