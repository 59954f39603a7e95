"""Classes of equations: equal up to names of constants and an x-free factor.

An equation's class is told by a fingerprint, `canonical_key`. No class is both trained on and held
out, in whichever sets.
"""

from __future__ import annotations

import hashlib
from itertools import permutations, product
from math import prod

from sympy import Add, Expr, Mul, Pow, Symbol, asin, atan, cos, sin, tan

from abel.equation import Equation, X
from abel.rewrite import difference, expand, grows_past

PRIME = (1 << 61) - 1  # the datasets were drawn with it


def scramble(text: str) -> int:
    """A pseudo-random element of the prime field."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % PRIME


X_POINTS = tuple(scramble(f"x{n}") for n in range(3))
ODD = (sin, asin, tan, atan)
LETTER_POINTS = tuple(scramble(f"letter {n}") for n in range(40))


def canonical_key(equation: Equation) -> tuple[int, int]:
    """A fingerprint of the equation's class: equal for equal classes, different for different ones.

    lhs - rhs is evaluated exactly in a prime field at three x; the ratios do not see an x-free
    factor. Constants get fixed values in an order that does not hang on their names: by how the
    equation answers when one constant alone is changed; ties are tried in every order, and the
    smallest answer counts.
    """
    side = difference(equation.lhs, equation.rhs)
    side = side if grows_past(side, 300) else expand(side)  # (sqrt(x) + a)**2 has an x in it
    letters = equation.coefficients
    generic = list(LETTER_POINTS[1 : len(letters) + 1])
    moved = [[*generic[:n], LETTER_POINTS[0], *generic[n + 1 :]] for n in range(len(letters))]
    usual, *answers = ratios(side, letters, [generic, *moved])
    # A letter that only scales does not take part: c*(a*x + b) is in the class of a*x + b.
    letters = tuple(letter for letter, answer in zip(letters, answers) if answer != usual)
    alone = [[LETTER_POINTS[letter is other] for letter in letters] for other in letters]
    groups: dict[tuple[int, int], list[Symbol]] = {}
    for letter, answer in sorted(
        zip(letters, ratios(side, letters, alone)), key=lambda pair: pair[1]
    ):
        groups.setdefault(answer, []).append(letter)
    orders = [sum(order, ()) for order in product(*map(permutations, groups.values()))]
    named = [[LETTER_POINTS[order.index(letter)] for letter in letters] for order in orders]
    return min(ratios(side, letters, named))


def ratios(
    side: Expr, letters: tuple[Symbol, ...], points: list[list[int]]
) -> list[tuple[int, int]]:
    """(f(x1)/f(x0), f(x2)/f(x0)) of f = side for each choice of values for the letters.

    A letter that is not listed gets a value of its own.
    """
    columns = {
        letter: [v for v in values for _ in X_POINTS]
        for letter, values in zip(letters, zip(*points))
    }
    columns[X] = list(X_POINTS) * len(points)
    f = residues(side, columns)
    inverses = [pow(v, PRIME - 2, PRIME) for v in f[::3]]
    return [(v * i % PRIME, w * i % PRIME) for v, w, i in zip(f[1::3], f[2::3], inverses)]


def residues(expr: Expr, columns: dict[Expr, list[int]]) -> list[int]:
    """`expr` in the prime field; a function's value is a hash of its name and argument."""
    if expr in columns:
        return columns[expr]
    size = len(columns[X])
    if expr.is_Rational:
        found = [expr.p * pow(expr.q, PRIME - 2, PRIME) % PRIME] * size
    elif not expr.args:
        found = [scramble(str(expr))] * size
    elif isinstance(expr, Add):
        found = [sum(row) % PRIME for row in zip(*(residues(arg, columns) for arg in expr.args))]
    elif isinstance(expr, Mul):
        found = [prod(row) % PRIME for row in zip(*(residues(arg, columns) for arg in expr.args))]
    elif isinstance(expr, Pow) and expr.exp.is_Integer:
        # By Fermat, a negative power; 1/0 becomes 0, whatever the names.
        found = [pow(v, expr.exp.p % (PRIME - 1), PRIME) for v in residues(expr.base, columns)]
    else:
        rows = zip(*(residues(arg, columns) for arg in expr.args))
        found = [opaque(expr.func, row) for row in rows]
    columns[expr] = found
    return found


def opaque(function: type, args: tuple[int, ...]) -> int:
    """The value of a function: a hash, but odd where the function is, and even where it is.

    SymPy writes sin(a - b) as -sin(b - a) or not, as the names will have it.
    """
    sign = 1
    if function in (cos, *ODD) and args[0] > PRIME // 2:
        args, sign = (PRIME - args[0],), 1 if function is cos else -1
    return sign * scramble(f"{function.__name__} {args}") % PRIME
