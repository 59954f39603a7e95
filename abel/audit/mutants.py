"""Cases for the audit made of true roots: left as they are, changed in one place, or extraneous.

What a change does to a root is not known beforehand, unless it is an offset: there numbers decide.
"""

from __future__ import annotations

import random

import sympy as sp
from sympy import (
    Add,
    Expr,
    I,
    Integer,
    LambertW,
    Pow,
    Rational,
    acos,
    asin,
    atan,
    cbrt,
    cos,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tan,
)
from sympy.functions.elementary.hyperbolic import HyperbolicFunction, InverseHyperbolicFunction

from abel.audit.attacks import A, B, C, Case, Probe, places
from abel.equation import Equation, X

FUNCTIONS = (log, asin, acos, atan, LambertW)  # of several branches


def solved(rng: random.Random) -> tuple[Expr, Expr]:
    """A left-hand side and a root of it on every branch, at all real values of the letters."""
    m, k, s = rng.randint(1, 7), rng.randint(2, 5), rng.choice((1, -1))
    p, q = rng.choice(((A, B), (A, Integer(m)), (Integer(k), B), (Integer(-m), Rational(k, 3))))
    cube = cbrt(-q / 2 + sqrt(q**2 / 4 + p**3 / 27))
    unity = rng.choice((Integer(1), (-1 + s * sqrt(3) * I) / 2))
    cubed = -B / (3 * A) + unity * cbrt(B**3 / (27 * A**3) - C / A)
    return rng.choice((
        (p * X + q, -q / p),
        (m * X**2 + p * X + q, (-p + s * sqrt(p**2 - 4 * m * q)) / (2 * m)),
        (A * X**2 + B * X + C, (-B + s * sqrt(B**2 - 4 * A * C)) / (2 * A)),
        (X**3 + p * X + q, cube - p / (3 * cube)),
        (A * X**3 + B * X**2 + B**2 / (3 * A) * X + C, cubed),
        (X**4 + 2 * p * X**2 + q, s * sqrt(-p + sqrt(p**2 - q))),
        (A * exp(k * X) + B * exp(-k * X) + C,
         log((-C + s * sqrt(C**2 - 4 * A * B)) / (2 * A)) / k),
        (exp(m * X) - p, log(p) / m),
        (log(m * X) + p, exp(-p) / m),
        (log(log(X) + A) - B, exp(exp(B) - A)),
        (m**X * k - p, log(p / k) / log(m)) if m > 1 else (k**X - p, log(p) / log(k)),
        (sin(k * X) - p, asin(p) / k),
        (sin(X) * m - p, pi - asin(p / m)),
        (cos(m * X + q) - p, (s * acos(p) - q) / m),
        (tan(X) - p, atan(p)),
        (2 * sin(X) + 3 * cos(X) - A, asin(A / sqrt(13)) - atan(Rational(3, 2))),
        (X * exp(X) - p, LambertW(p, rng.choice((0, -1)))),
        (X * exp(m * X) - p, LambertW(m * p, rng.choice((0, -1))) / m),
        ((A * X + B) / (C * X + m) - k, (m * k - B) / (A - C * k)),
        (1 / X + 1 / (X - A), A / 2),
        (X**6 - A, s * A ** Rational(1, 6)),
        (X ** Rational(3, 2) - A, A ** Rational(2, 3)),
    ))  # fmt: skip


def squared(rng: random.Random) -> tuple[Equation, Expr, bool]:
    """An equation with roots, the root of a squared or exponentiated form, and whether it stays."""
    u, v = (rng.choice((1, -1)) * Rational(rng.randint(1, 30), rng.randint(1, 6)) for _ in "uv")
    q, kind = Rational(rng.randint(-9, 9)), rng.randrange(4)
    if kind == 0:  # y**2 = (u + v)*y - u*v for y = x - q
        return Equation(sqrt((u + v) * (X - q) - u * v), X - q), q + u, u > 0
    if kind == 1:
        return Equation(sqrt(X + q) + sqrt(X + q + v**2 - u**2), u + v), u**2 - q, u > 0 and v > 0
    if kind == 2:
        return Equation(log(X - q + u) + log(X - q + v), log(u * v)), q + 0 * u, u > 0 or v > 0
    return Equation(sqrt((X - q) ** 2) + u, v), q + v - u, v - u >= 0


def changed(rng: random.Random, root: Expr) -> Expr:
    """The root with one thing changed, so that it most likely is none."""
    ways = changeable(root)
    way = rng.choice(sorted(name for name, nodes in ways.items() if nodes) or ["whole"])
    if way == "whole":
        return -root - Rational(1, 3)
    if way == "swap":
        first, second = ways[way]
        return root.xreplace({first: second, second: first})
    node = rng.choice(ways[way])
    return root.xreplace({node: changed_node(rng, way, node)})


def changeable(root: Expr) -> dict[str, list[Expr]]:
    """The ways to change a root, each with the nodes that it could change."""
    nodes = [node for node in sp.preorder_traversal(root) if node != root and not node.is_Atom]
    letters = sorted(root.free_symbols, key=lambda symbol: symbol.name)
    kept = (0, 1, -1) if root.has(LambertW) else (0, 1)  # -1 may be the number of a branch
    return {
        "sign": [*nodes, *letters],
        "drop": [node for node in (root, *nodes) if isinstance(node, Add)],
        "unity": [n for n in (root, *nodes) if isinstance(n, Pow) and getattr(n.exp, "q", 1) > 1],
        "branch": [n for n in (root, *nodes) if isinstance(n, FUNCTIONS)],
        "number": sorted((n for n in root.atoms(Rational) if n not in kept), key=str),
        "swap": letters[:2] if len(letters) > 1 else [],
    }


def changed_node(rng: random.Random, way: str, node: Expr) -> Expr:
    if way == "sign":
        return -node
    if way == "drop":
        return node - rng.choice(node.args)
    if way == "number":
        return node + rng.choice((1, -1, Rational(1, 10**9)))
    if way == "unity":
        return node * rng.choice((-1, I, (-1 + sqrt(3) * I) / 2))
    if isinstance(node, LambertW):
        return LambertW(node.args[0], 0 if len(node.args) == 2 else -1)
    other = {log: node + 2 * pi * I, asin: pi - node, acos: -node, atan: node + pi}[type(node)]
    return rng.choice((other, node + pi))


def mutant(rng: random.Random, root: Expr) -> Expr:
    """A changed root in the functions that an equation may have: SymPy makes asinh of asin(I*u)."""
    while True:
        found = changed(rng, root)
        if not found.has(HyperbolicFunction, InverseHyperbolicFunction, sp.zoo, sp.nan, X):
            return found


def mutant_case(rng: random.Random) -> Case:
    """True roots, mutants, offsets down to 1e-1000, and roots that squaring brings in."""
    way, size, truth = rng.random(), 30, None
    if way < 0.2:
        equation, candidate, stays = squared(rng)
        truth = "root" if stays else "other"
    else:
        lhs, candidate = solved(rng)
        factor = rng.choice((Integer(1), Integer(1), Integer(-2), C**2 + 1))
        equation = Equation(factor * lhs) if rng.random() < 0.7 else Equation(lhs + C, C)
        if way < 0.45:
            truth = "root"
        elif way < 0.65:
            size = rng.choice((rng.randint(3, 60), rng.randint(60, 300), rng.randint(300, 1000)))
            if candidate.has(LambertW):
                size = min(size, 100)
            tiny = rng.choice((1, -1)) * Rational(rng.randint(1, 9), 10**size)
            candidate = candidate * (1 + tiny) if candidate.has(exp) else candidate + tiny
            size, truth = 2 * size, "other"  # next to a double root the residual is the square
        else:
            candidate = mutant(rng, candidate)
    free = equation.lhs.free_symbols | equation.rhs.free_symbols | candidate.free_symbols
    letters = sorted(free - {X}, key=lambda symbol: symbol.name)
    probes = tuple(Probe(at, truth) for at in places(rng, letters, 0))
    return Case(equation, candidate, probes, size=size, claim="extraneous" if way < 0.2 else "root"
                if way < 0.45 else "offset" if way < 0.65 else "changed")  # fmt: skip
