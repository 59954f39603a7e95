"""Angles taken apart and put together: sums, multiples, quotients, two terms as a product."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, gcd, lcm
from typing import NamedTuple

from sympy import (
    Add,
    Expr,
    Integer,
    Rational,
    acos,
    asin,
    atan,
    cos,
    pi,
    sin,
    tan,
)  # fmt: skip

from abel.equation import (
    MINUS_ONE,
    ONE,
    ZERO,
    has_x,
    num_nodes,
    remember,
    split_factor,
    summands_of,
)
from abel.numeric import is_zero
from abel.operations.legality import MAX_NODES, Facts, Sides
from abel.operations.row import Applied, Operation
from abel.rewrite import (
    call,
    collect,
    difference,
    expand,
    negate,
    power,
    product,
    rebuild,
    total,
)

MAX_MULTIPLE = 8  # of an angle
TWO, HALF = Integer(2), Rational(1, 2)
ANGULAR = (sin, cos, tan)


def square_root(expr: Expr) -> Expr:
    return power(expr, HALF)


def one_minus_square(u: Expr) -> Expr:
    return difference(ONE, power(u, TWO))


def one_plus_square(u: Expr) -> Expr:
    return total(ONE, power(u, TWO))


def over(above: Expr, below: Expr) -> Expr:
    return product(above, power(below, MINUS_ONE))


# sin(acos(u)) and the like by roots: true for all complex u on the principal branches
WITHOUT_ANGLE: dict[tuple[type, type], Callable[[Expr], Expr]] = {
    (sin, acos): lambda u: square_root(one_minus_square(u)),
    (cos, asin): lambda u: square_root(one_minus_square(u)),
    (sin, atan): lambda u: over(u, square_root(one_plus_square(u))),
    (cos, atan): lambda u: over(ONE, square_root(one_plus_square(u))),
    (tan, asin): lambda u: over(u, square_root(one_minus_square(u))),
    (tan, acos): lambda u: over(square_root(one_minus_square(u)), u),
}


# ---- expand-angles: all angles of a kind become one ----


@remember
def angles_of(expr: Expr) -> tuple[Expr, ...]:
    """Sines, cosines and tangents of functions of x, outermost first."""
    if not has_x(expr):
        return ()
    inside = [angle for arg in expr.args for angle in angles_of(arg)]
    return tuple(dict.fromkeys([expr, *inside] if isinstance(expr, ANGULAR) else inside))


def parts_of_angle(angle: Expr) -> list[tuple[Expr, Rational]]:
    """The terms of an angle as units times rational numbers: 2*x/3 + b is 2/3 of x and 1 of b."""
    found = []
    for term in summands_of(angle):
        number, rest = term.as_coeff_Mul()
        found.append((rest, number) if has_x(term) else (term, ONE))
    return found


class Angles(NamedTuple):
    """What is known of all angles of an equation."""

    # Of every function of x in the angles, the largest part of which all are integer multiples.
    units: tuple[tuple[Expr, Rational], ...]
    nodes: frozenset[Expr]  # the sines, cosines and tangents

    def plain(self, node: Expr) -> bool:
        """Whether there is nothing to take apart: one angle, and no tangent beside others."""
        alike = all(other.args == node.args for other in self.nodes)
        mixed = len({type(other) for other in self.nodes}) > 1
        return (
            alike and len(summands_of(node.args[0])) == 1 and not (mixed and isinstance(node, tan))
        )


@remember
def angles_in(lhs: Expr, rhs: Expr) -> Angles:
    nodes = dict.fromkeys((*angles_of(lhs), *angles_of(rhs)))
    found: dict[Expr, list[Rational]] = {}
    for node in nodes:
        for unit, number in parts_of_angle(node.args[0]):
            if has_x(unit):
                found.setdefault(unit, []).append(number)
    units = tuple(
        (unit, Rational(gcd(*(int(n.p) for n in many)), lcm(*(int(n.q) for n in many))))
        for unit, many in found.items()
    )
    return Angles(units, frozenset(nodes))


def multiple(n: int, unit: Expr) -> tuple[Expr, Expr]:
    """(sin, cos) of n*unit in sin and cos of the unit: cos(3*u) = 4*cos(u)**3 - 3*cos(u)."""
    if abs(n) == 1:
        return product(Integer(n), call(sin, unit)), call(cos, unit)
    c, s, size = call(cos, unit), call(sin, unit), abs(n)
    sines: list[tuple[Integer, int]] = []
    cosines: list[tuple[Integer, int]] = []
    for k in range(size + 1):  # (c + I*s)**n, with s**2 = 1 - c**2 or c**2 = 1 - s**2 where even
        sign = Integer((-1) ** (k // 2) * comb(size, k))
        (sines if k % 2 else cosines).append((sign, k))
    even_part = total(*[
        product(sign, power(c, Integer(size - k)), power(one_minus_square(c), Integer(k // 2)))
        for sign, k in cosines
    ])  # fmt: skip
    if size % 2:
        odd_part = total(*[
            product(sign, power(one_minus_square(s), Integer((size - k) // 2)),
                    power(s, Integer(k)))
            for sign, k in sines
        ])  # fmt: skip
    else:
        odd_part = total(*[
            product(sign, c, power(one_minus_square(s), Integer((size - k - 1) // 2)),
                    power(s, Integer(k)))
            for sign, k in sines
        ])  # fmt: skip
    return (odd_part if n > 0 else negate(odd_part)), even_part


def sine_and_cosine(angle: Expr, found: dict[Expr, Rational]) -> tuple[Expr, Expr] | None:
    """sin and cos of a sum of multiples of units."""
    parts = []
    for unit, number in parts_of_angle(angle):
        if not has_x(unit):
            parts.append((call(sin, unit), call(cos, unit)))
            continue
        times = number / found[unit]
        if abs(times) > MAX_MULTIPLE:
            return None
        parts.append(tuple(map(expand, multiple(int(times), product(found[unit], unit)))))
    s, c = parts[0]
    for other_s, other_c in parts[1:]:
        s, c = (
            total(product(s, other_c), product(c, other_s)),
            difference(product(c, other_c), product(s, other_s)),
        )
    return s, c


@remember
def expand_angles(expr: Expr, angles: Angles) -> Expr:
    """A part of an equation with these angles, its angles taken apart."""
    if not has_angle(expr):
        return expr
    args = [expand_angles(arg, angles) for arg in expr.args]
    if isinstance(expr, ANGULAR):
        inner = args[0]
        rule = WITHOUT_ANGLE.get((type(expr), type(inner)))
        if rule is not None:
            return rule(inner.args[0])
        if inner == expr.args[0] and not angles.plain(expr):
            found = sine_and_cosine(inner, dict(angles.units))
            if found is not None:
                s, c = found
                return s if isinstance(expr, sin) else c if isinstance(expr, cos) else over(s, c)
    return rebuild(expr, args)


def apply_expand(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    angles = angles_in(lhs, rhs)
    return expand_angles(lhs, angles), expand_angles(rhs, angles), None


def expand_is_legal(sides: Sides, _: Facts | None) -> bool:
    if not (has_angle(sides.lhs) or has_angle(sides.rhs)):
        return False
    lhs, rhs = apply_expand(sides.lhs, sides.rhs, None)[:2]
    return (lhs, rhs) != (sides.lhs, sides.rhs) and num_nodes(lhs) + num_nodes(rhs) <= MAX_NODES


def has_angle(expr: Expr) -> bool:
    return bool(angles_of(expr))


# ---- sum-to-product: sin(A) + sin(B) = 0 is a product ----


@remember
def as_product(side: Expr) -> Expr | None:
    """c*(f(A) + g(B)) or c*(f(A) - g(B)), f and g sine or cosine, as a product."""
    if not isinstance(side, Add) or len(side.args) != 2:
        return None
    (c, first), (d, second) = (split_factor(term) for term in side.args)
    if not all(isinstance(part, sin | cos) for part in (first, second)):
        return None
    plus, minus = is_zero(difference(c, d)), is_zero(total(c, d))
    if not (plus or minus):
        return None
    a, b = first.args[0], second.args[0]
    if isinstance(first, sin) and isinstance(second, cos):
        b, kind = difference(product(HALF, pi), b), sin  # cos(B) = sin(pi/2 - B)
    elif isinstance(first, cos) and isinstance(second, sin):
        a, kind = difference(product(HALF, pi), a), sin
    else:
        kind = type(first)
    half_sum, half_difference = product(HALF, total(a, b)), product(HALF, difference(a, b))
    if kind is sin:
        functions = (sin, cos) if plus else (cos, sin)
    else:
        functions = (cos, cos) if plus else (sin, sin)
        c = c if plus else negate(c)
    parts = []
    for function, angle in zip(functions, map(spread, (half_sum, half_difference))):
        if starts_with_minus(angle):
            angle, c = negate(angle), negate(c) if function is sin else c
        parts.append(call(function, angle))
    return product(TWO, c, *parts)


@remember  # SymPy sorts for it, which is slow
def starts_with_minus(angle: Expr) -> bool:
    return angle.could_extract_minus_sign()


def spread(angle: Expr) -> Expr:
    return collect(expand(angle))


def sum_to_product(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    found = as_product(difference(lhs, rhs))
    if found is None:
        raise ValueError(f"'{lhs} = {rhs}' is no sum of two sines or cosines")
    return found, ZERO, None


def sum_to_product_is_legal(sides: Sides, _: Facts | None) -> bool:
    if not (has_angle(sides.lhs) or has_angle(sides.rhs)):
        return False
    found = as_product(difference(sides.lhs, sides.rhs))
    return found is not None and sides.lead_on(sum_to_product)


ROWS = (
    Operation("expand-angles", "expand the angles", r"\text{expand angles}", apply_expand,
              expand_is_legal, kind="rewriting", flags=("angles",), keeps=True),
    Operation("sum-to-product", "write the sum as a product", r"\text{sum to product}",
              sum_to_product, sum_to_product_is_legal, kind="rewriting", flags=("angles",),
              keeps=True),
)  # fmt: skip
