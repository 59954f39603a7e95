"""Definedness, the other half of a proof: what is divided by is not 0, for almost all letters.

An element of a tower is an analytic function of the letters with many branches. If it were 0 on
any open set of letters, on any branch, then by continuation one of its branches would be 0 at every
point, complex ones included. So one point at which no branch is 0, by a ball each, shows that it is
0 nowhere but on a set without volume, on whatever branch the letters choose. Branches without end
are balls as well: a logarithm's imaginary part is any number.

Integers are no such letters: what holds for almost all of them is not enough. They are any number
at once, too; where that is too coarse, a polynomial in one integer has few roots, and those that
may be integers are named as exceptions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import sympy as sp
from flint import acb, arb, fmpq
from sympy import I, Pow, Symbol, exp, pi
from sympy.polys.rings import PolyElement

from abel.verify.balls import precision
from abel.verify.kernels import INVERSE, LOWER, NAME, PARITY, Kernel, KernelRing, lowest, shifted

BITS = (128, 1024, 4096)
NUM_POINTS, MAX_BRANCHES = 3, 288
MAX_INTEGER = 10_000  # exceptions are looked for up to here

ANY = arb(0, arb.pos_inf())  # a real number


class Unsure(Exception):
    """It cannot be told whether something is 0."""


@lru_cache(maxsize=1 << 10)
def generic(name: str, point: int) -> acb:
    """A letter's complex value: exact, a function of its name alone, and like no other's."""
    rng = random.Random(f"{name} {point}")
    re, im = (rng.choice((-1, 1)) * rng.randrange(2**10, 2**14) / 2**12 for _ in range(2))
    return acb(re, im)


def exceptions(tower: KernelRing, integers: list[Symbol]) -> dict[Symbol, set[int]] | None:
    """The integers for which some divisor of the tower may be 0, none listed if there are none;
    None if it cannot be told.
    """
    found: dict[Symbol, set[int]] = {}
    done: set[PolyElement] = set()
    try:
        for divisor in list(tower.divisors):
            for core in cores(tower, divisor, done):
                for symbol, values in zeros(tower, core, integers).items():
                    found.setdefault(symbol, set()).update(values)
    except Unsure:
        return None
    return found


def cores(tower: KernelRing, f: PolyElement, done: set[PolyElement]) -> Iterator[PolyElement]:
    """What must not be 0 so that f is not: without its monomial, of which each kernel by itself."""
    if not f:
        raise Unsure
    if f in done:
        return
    done.add(f)
    low = lowest(f)
    core = shifted(f, low)
    if len(core) > 1:
        product = exponential_of_logarithms(tower, core)
        if product is not None:
            yield from cores(tower, product - 1, done)
        else:  # factor by factor: a ball of (pi/2 - asin(a))**2, multiplied out, holds 0
            yield from (factor for factor, _ in tower.factors(core))
    for i, e in enumerate(low):
        if not e:
            continue
        kind, arg, _ = tower.kernels[i]
        if kind in (exp, pi, I, PARITY, INVERSE) or (is_letter(kind) and not kind.is_integer):
            continue
        if kind in (Pow, NAME, sp.asin, sp.atan, sp.LambertW, LOWER):
            yield from cores(tower, arg, done)  # 0 only where this is
        elif kind is sp.log:
            if arg is not None and arg != 1:
                yield from cores(tower, arg - 1, done)
        else:
            yield tower.ring.gens[i]


def exponential_of_logarithms(tower: KernelRing, f: PolyElement) -> PolyElement | None:
    """u**2/v for 2*log(u) - log(v): where that is not 1, the sum is not 0; None for other sums."""
    scale = math.lcm(*[int(c.denominator) for c in f.values()])
    result = tower.one
    for monom, c in f.items():
        places = [i for i, e in enumerate(monom) if e]
        if sum(monom) != 1 or len(places) != 1 or tower.kernels[places[0]].kind is not sp.log:
            return None
        arg = tower.kernels[places[0]].arg
        assert arg is not None
        result = tower.times(result, tower.power(arg, int(c * scale)))
    return result


def is_letter(kind: Any) -> bool:
    return isinstance(kind, Symbol)


def zeros(tower: KernelRing, f: PolyElement, integers: list[Symbol]) -> dict[Symbol, set[int]]:
    """Integers at which f may be 0; Unsure if not even that can be told."""
    needed = dependencies(tower, f)
    inside = [n for n in integers if tower.index[n, None] in needed]
    if not range_of(tower, f, needed).contains(0):
        return {}
    moves = inside or any(is_letter(tower.kernels[i].kind) for i in needed)
    for point, bits in product(range(NUM_POINTS if moves else 1), BITS):  # a number has one point
        with precision(bits):
            if all(not value.contains(0) for value in branch_values(tower, f, needed, point)):
                return {}
    if len(inside) != 1:
        raise Unsure
    place = tower.index[inside[0], None]
    if any(kernel_depends_on(tower, i, place) for i in needed if i != place):
        raise Unsure
    found = integer_zeros(tower, f, place, needed)
    return {inside[0]: found} if found else {}


def integer_zeros(tower: KernelRing, f: PolyElement, place: int, needed: Any) -> set[int]:
    """Integers in the kernel at `place` at which f may be 0 on some branch."""
    found: set[int] = set()
    with precision(BITS[1]):
        for factor, _ in tower.factors(f):
            parts = coefficients(factor, place)
            values = [list(branch_values(tower, part, needed, 0)) for part in parts]
            for row in zip(*values):
                found |= integer_roots(row)
    return found


def range_of(tower: KernelRing, f: PolyElement, needed: list[int]) -> acb:
    """A ball with the values of f for all letters at once, by the ranges of principal values: of
    pi - asin(u) the real part is at least pi/2.
    """
    row: dict[int, acb] = {}
    with precision(BITS[0]):
        quarter = arb(0, (arb.pi() / 2).upper())
        for i in needed:
            kind, arg, _ = tower.kernels[i]
            if kind in (sp.asin, sp.atan):
                row[i] = acb(quarter, ANY)
            elif kind is sp.log:
                row[i] = acb(ANY, 2 * quarter)
            elif arg is None:
                row[i] = acb(arb.pi()) if kind is pi else acb(ANY)
            elif kind is NAME:
                row[i] = polynomial(arg, row)
            else:
                row[i] = acb(0, 1) if kind is I else acb(ANY, ANY)
        return polynomial(f, row)


def dependencies(tower: KernelRing, f: PolyElement) -> list[int]:
    """The kernels in f, those in their arguments and so on, in the order of their making."""
    needed: set[int] = set()
    pending = [f]
    while pending:
        for i, used in enumerate(map(any, zip(*pending.pop()))):
            if used and i not in needed:
                needed.add(i)
                if tower.kernels[i].arg is not None:
                    pending.append(tower.kernels[i].arg)
    return sorted(needed)


def kernel_depends_on(tower: KernelRing, i: int, place: int) -> bool:
    arg = tower.kernels[i].arg
    if arg is None or tower.kernels[i].kind is PARITY:  # whose sign is both at once
        return False
    return place in dependencies(tower, arg)


def branch_values(
    tower: KernelRing, f: PolyElement, needed: list[int], point: int
) -> Iterator[acb]:
    """f on every branch at one generic point."""
    rows: list[dict[int, acb]] = [{}]
    varying: set[int] = set()  # kernels that depend on a symbol: only these have other branches
    for i in needed:
        kernel = tower.kernels[i]
        moves = is_letter(kernel.kind)
        if kernel.arg is not None:
            moves = any(j in varying for j in dependencies(tower, kernel.arg))
        if moves:
            varying.add(i)
        rows = [{**row, i: v} for row in rows for v in kernel_values(kernel, row, point, moves)]
        if len(rows) > MAX_BRANCHES:
            raise Unsure
    for row in rows:
        yield polynomial(f, row)


def polynomial(f: PolyElement, row: dict[int, acb]) -> acb:
    total = acb(0)
    for monom, c in f.items():
        term = acb(fmpq(int(c.numerator), int(c.denominator)))
        for i, e in enumerate(monom):
            if e:
                term *= row[i] ** e
        total += term
    return total


def kernel_values(kernel: Kernel, row: dict[int, acb], point: int, moves: bool) -> list[acb]:
    """A kernel on all its branches, or on the principal one if no letter moves it."""
    kind, arg, order = kernel
    if arg is None:
        if kind is pi:
            return [acb(arb.pi())]
        return [acb(ANY)] if kind.is_integer else [generic(kind.name, point)]
    if kind is I:
        return [acb(0, 1)]
    if kind is PARITY:
        return [acb(1), acb(-1)]
    u = polynomial(arg, row)
    if kind is NAME:
        return [u]
    if kind is INVERSE:
        return [1 / u]
    if kind is Pow:
        return root_values(u, order, moves)
    if kind in (exp, sp.sin, sp.cos):
        return [getattr(u / order, kind.__name__)()]
    return inverse_values(kind, u, moves)


def root_values(u: acb, order: int, moves: bool) -> list[acb]:
    first = u.sqrt() if order == 2 else u.root(order)
    if not moves:
        return [first]
    if order > MAX_BRANCHES:
        raise Unsure
    return [first * acb(fmpq(2 * k, order)).exp_pi_i() for k in range(order)]


def inverse_values(kind: Any, u: acb, moves: bool) -> list[acb]:
    """Of a logarithm, an arc function or LambertW."""
    if kind in (sp.LambertW, LOWER):
        return [acb(ANY, ANY) if moves else u.lambertw(-1 if kind is LOWER else 0)]
    value = getattr(u, kind.__name__)()
    if not moves:
        return [value]
    if kind is sp.log:
        return [acb(value.real, ANY)]
    signs = (1, -1) if kind is sp.asin else (1,)
    return [acb(ANY, value.imag * sign) for sign in signs]


def coefficients(f: PolyElement, place: int) -> list[PolyElement]:
    """f as a polynomial in one generator, constant first."""
    found: dict[int, dict] = {}
    for monom, c in f.items():
        found.setdefault(monom[place], {})[monom[:place] + (0,) + monom[place + 1 :]] = c
    return [f.ring.from_dict(found.get(k, {})) for k in range(max(found) + 1)]


def integer_roots(row: tuple[acb, ...]) -> set[int]:
    """The integers that may be roots of the polynomial with these coefficients, constant first."""
    *rest, lead = row
    if lead.contains(0):
        raise Unsure
    if not rest:
        return set()
    if len(rest) == 1:
        root = -rest[0] / lead
        if not root.imag.contains(0) or not root.real.contains_integer():
            return set()
        value = root.real.unique_fmpz()
        if value is None:
            raise Unsure
        return {int(value)}
    largest = max(float((abs(c) / abs(lead)).upper()) for c in rest)  # Cauchy's bound
    if not 1 + largest < MAX_INTEGER:
        raise Unsure
    bound = int(largest) + 2
    return {n for n in range(-bound, bound + 1) if horner(row, n).contains(0)}


def horner(row: tuple[acb, ...], n: int) -> acb:
    total = acb(0)
    for c in reversed(row):
        total = total * n + c
    return total
