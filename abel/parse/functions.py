"""Functions that are read as others: exact identities on the principal branches.

They are texts, read by the same parser with the argument for u. So what an identity divides by, or
takes the logarithm of, becomes part of the domain: cot(u) has no value where sin(u) is 0. Where a
convention gives a value that the identity does not, as acot(0), the equation is not defined here.
"""

from __future__ import annotations

from sympy import Abs, Expr

from abel.rewrite import call, product

IDENTITIES = {
    "cot": "cos(u)/sin(u)",
    "sec": "1/cos(u)",
    "csc": "1/sin(u)",
    "acot": "atan(1/u)",
    "asec": "acos(1/u)",
    "acsc": "asin(1/u)",
    "sinh": "(exp(u) - exp(-u))/2",
    "cosh": "(exp(u) + exp(-u))/2",
    "tanh": "(exp(2*u) - 1)/(exp(2*u) + 1)",
    "coth": "(exp(2*u) + 1)/(exp(2*u) - 1)",
    "sech": "2/(exp(u) + exp(-u))",
    "csch": "2/(exp(u) - exp(-u))",
    "asinh": "log(u + sqrt(u^2 + 1))",
    "acosh": "log(u + sqrt(u - 1)*sqrt(u + 1))",
    "atanh": "(log(1 + u) - log(1 - u))/2",
    "acoth": "(log(1 + 1/u) - log(1 - 1/u))/2",
    "asech": "log(1/u + sqrt(1/u - 1)*sqrt(1/u + 1))",
    "acsch": "log(1/u + sqrt(1/u^2 + 1))",
    "log2": "log(u)/log(2)",
    "log10": "log(u)/log(10)",
}
WITH_BASE = "log(u)/log(v)"  # log(u, v)


def absolute(u: Expr) -> Expr:
    """|u| without SymPy's questions about signs; a rational factor comes out."""
    number, rest = u.as_coeff_Mul()
    return product(abs(number), call(Abs, rest))
