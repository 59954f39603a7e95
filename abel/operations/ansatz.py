"""Substitutions that are derived: x := phi(x, h), with h such that a chosen term vanishes.

A row of the table is a form phi, an action a form and a term: "put x := x + h, and choose h so that
b*x vanishes". What the term's coefficient becomes after the substitution, set to 0, is an equation
in h. That comes first, solved like any other, and its root goes into phi. The forms are all
monomials h*x^i and binomials x^i + h*x^j up to a bound; none was made for a kind of equation.

A step is legal where the coefficient in h has a root that is not 0, and another one than every
equation has that still waits for its h. A form can do this where the equation is a sum of

- powers of x: any form but monomials, which only scale each coefficient;
- powers of log(c*x): the monomials, as log(h*x) = log(h) + log(x);
- powers of x times exponentials: x + h, which keeps the exponentials;
- sin and cos of one angle: x + h, by the addition theorems.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from math import comb
from typing import Literal, NamedTuple

from sympy import Expr, Integer, Pow, Symbol, cos, exp, latex, log, sin, tan

from abel.equation import (
    ONE,
    ZERO,
    X,
    factors_of,
    has_x,
    num_nodes,
    remember,
    split_factor,
    split_summand,
    subterms,
    summands_of,
)  # fmt: skip
from abel.lost_roots import PRIME, residue
from abel.operations.laurent import Terms, merged, without_zeros
from abel.operations.legality import Facts, Sides
from abel.operations.row import Applied, Operation
from abel.rewrite import (
    base_exponent,
    call,
    coefficients,
    difference,
    expand,
    expand_within,
    grows_past,
    negate,
    power,
    product,
    replace,
    total,
)  # fmt: skip
from abel.transforms import HOLE, Ansatz, with_letters

BOUNDS = (1, 2, 3)  # of the exponents in a form, one of which an environment offers
MAX_EXPANDED = 300  # nodes of what is expanded on the way, and of all coefficients together
MAX_DEGREE = 8  # between the exponents of a sum of powers
MAX_SPAN = 12  # between those after the substitution


# ---- Forms ----


class Form(NamedTuple):
    """x^i + h*x^j, or h*x^j where i is None."""

    i: int | None
    j: int

    def __str__(self) -> str:
        times_h = {0: "h", 1: "h*x", -1: "h/x"}.get(self.j) or f"h{'*/'[self.j < 0]}x^{abs(self.j)}"
        if self.i is None:
            return times_h
        alone = {0: "1", 1: "x", -1: "1/x"}.get(self.i) or f"{'1/' * (self.i < 0)}x^{abs(self.i)}"
        return f"{alone} + {times_h}"

    def as_latex(self) -> str:
        return latex(replace(self.phi, {HOLE: Symbol("h")}))

    @property
    def phi(self) -> Expr:
        second = product(HOLE, power(X, Integer(self.j)))
        return second if self.i is None else total(power(X, Integer(self.i)), second)

    @property
    def exponents(self) -> tuple[int, ...]:
        return (self.j,) if self.i is None else (self.i, self.j)

    def span(self, shape: tuple[int, ...]) -> int:
        """How far apart the exponents of a sum of powers lie after the substitution."""
        ends = [e * m for e in self.exponents for m in (shape[0], shape[-1])]
        return max(ends) - min(ends)

    @property
    def bound(self) -> int:
        return max(map(abs, self.exponents))


def forms(bound: int) -> Iterator[Form]:
    """All monomials and binomials with exponents up to the bound; x + h comes first."""
    exponents = sorted(range(-bound, bound + 1), key=lambda e: (abs(e), -e))
    ones = sorted(exponents, key=lambda i: (i == 0, abs(i), -i))
    yield from (Form(i, j) for i in ones for j in exponents if i != j)
    yield from (Form(None, j) for j in exponents if j)


SHIFT = Form(1, 0)


# ---- What an equation is a sum of ----


Kind = Literal["powers", "products", "logarithms", "angles"]
Shapes = tuple[tuple[Expr, tuple[int, ...]], ...]
Key = tuple[Expr, int]  # what stands beside the power, and its exponent
SINE, COSINE = sin(X), cos(X)  # stand beside the power 0 of an angle for its sin and cos


class Sum(NamedTuple):
    """lhs - rhs as a sum of c * kernel**n * beside."""

    kind: Kind
    kernel: Expr  # x, or log(c*x), or the sin of the angle
    parts: dict[Expr, Terms]  # coefficients by beside and n; beside is 1 in a sum of powers
    named: dict[Key, Expr]  # a term of the equation, as it is written, for each function of x
    shapes: Shapes  # exponents that occur, by beside

    @property
    def identity(self) -> tuple:
        return identity(self.kernel, self.parts)


@remember
def as_sum(lhs: Expr, rhs: Expr) -> Sum | None:
    """What the equation is a sum of, times a power of x where x stands in denominators; None if
    no form has anything to do with it.
    """
    found = kernel_and_parts(difference(lhs, rhs))
    return None if found is None else sorted_out(*found, lhs, rhs)


@remember
def kernel_and_parts(side: Expr) -> tuple[Expr, dict[Expr, Terms]] | None:
    """The kernel of a sum, and the coefficients by what stands beside its power and exponent."""
    if grows_past(side, MAX_EXPANDED):
        return None
    read: list[Reading] = []
    for term in summands_of(expand(side)):
        found = reading(term)
        if found is None:
            return None
        read.append(found)
    kernels = list(dict.fromkeys(found.kernel for found in read if found.kernel is not ONE))
    if len(kernels) != 1:
        return None
    parts = coefficients_of(read)
    return None if not parts or too_large(parts) else (kernels[0], parts)


def sorted_out(kernel: Expr, parts: dict[Expr, Terms], lhs: Expr, rhs: Expr) -> Sum:
    """The sum with its kind; exponents are not negative in a sum of powers."""
    named = terms_by_name(lhs, rhs)
    kind: Kind = "powers"
    if isinstance(kernel, log):
        kind = "logarithms"
    elif SINE in parts or COSINE in parts:
        kind = "angles"
    elif parts.keys() != {ONE}:
        kernel, kind = X, "products"
    else:
        low = min(0, *parts[ONE])
        kernel, parts = X, {ONE: {n - low: c for n, c in parts[ONE].items()}}
        named = {(beside, n - low): term for (beside, n), term in named.items()}
    shapes = tuple((beside, tuple(sorted(terms))) for beside, terms in parts.items())
    return Sum(kind, kernel, parts, named, shapes)


def coefficients_of(read: list[Reading]) -> dict[Expr, Terms]:
    """The coefficients by what stands beside and exponent, without those that are 0."""
    parts: dict[Expr, Terms] = {}
    for found in read:
        parts[found.beside] = merged(parts.get(found.beside, {}), {found.n: found.free})
    exact = {beside: without_zeros(terms) for beside, terms in parts.items()}
    return {beside: terms for beside, terms in exact.items() if terms}


def sum_of(lhs: Expr, rhs: Expr) -> Sum:
    found = as_sum(lhs, rhs)
    if found is None:
        raise ValueError(f"no form has anything to do with '{lhs} = {rhs}'")
    return found


def too_large(parts: dict[Expr, Terms]) -> bool:
    nodes = sum(num_nodes(c) for terms in parts.values() for c in terms.values())
    spans = [max(terms) - min(terms) for terms in parts.values()]
    return nodes > MAX_EXPANDED or max(spans, default=0) > MAX_DEGREE


class Reading(NamedTuple):
    """A summand as free * kernel**n * beside."""

    free: Expr
    beside: Expr = ONE
    n: int = 0
    kernel: Expr = ONE  # where x does not occur


@remember
def reading(term: Expr) -> Reading | None:
    """What a summand is made of, if a form can do something with it."""
    free, rest = split_factor(term)
    if rest is ONE:
        return Reading(free)
    if isinstance(rest, sin | cos):
        angle, beside = rest.args[0], SINE if isinstance(rest, sin) else COSINE
        return None if slope(angle) is None else Reading(free, beside, 0, call(sin, angle))
    base, exponent = base_exponent(rest)
    if isinstance(base, log) and split_factor(base.args[0])[1] == X and exponent.p > 0:
        return Reading(free, ONE, exponent.p, base)
    n, beside = 0, []
    for factor in factors_of(rest):
        base, exponent = base_exponent(factor)
        if base == X:
            n += exponent.p
        elif rate(factor) is None:
            return None
        else:
            beside.append(factor)
    return Reading(free, product(*beside), n, X)


@remember
def slope(expr: Expr) -> Expr | None:
    """k of k*x + c."""
    linear = coefficients(expand_within(expr, MAX_EXPANDED))
    return linear[1] if linear is not None and len(linear) == 2 else None


@remember
def rate(factor: Expr) -> Expr | None:
    """k of exp(k*x + c), k*log(a) of a**(k*x + c); None of what is no such exponential."""
    if isinstance(factor, exp):
        return slope(factor.args[0])
    if not isinstance(factor, Pow) or has_x(factor.base):
        return None
    k = slope(factor.exp)
    return None if k is None else product(k, call(log, factor.base))


@remember
def terms_by_name(lhs: Expr, rhs: Expr) -> dict[Key, Expr]:
    """For each function of x a term of the equation that is a multiple of it: a summand of a side
    if there is one, else the first that occurs. For the constant, the x-free part of a side.
    """
    summands = [term for side in (lhs, rhs) for term in summands_of(side)]
    inside = [term for side in (lhs, rhs) for term in subterms(side, True)]
    named: dict[Key, Expr] = {}
    for term in (*summands, *inside):
        found = reading(term) if has_x(term) else None
        if found is not None:
            named.setdefault((found.beside, found.n), term)
    free = [split_summand(side)[0] for side in (lhs, rhs)]
    constant = next((part for part in free if part is not ZERO), None)
    return named if constant is None else {**named, (ONE, 0): constant}


def identity(kernel: Expr, parts: dict[Expr, Terms]) -> tuple:
    """Equal for two equations that differ in a factor or a power of x only."""
    low = min(n for terms in parts.values() for n in terms)
    known = [(str(b), n - low, residue(c)) for b, terms in parts.items() for n, c in terms.items()]
    found = sorted((beside, n, r) for beside, n, r in known if r)  # some 0 are hard to recognise
    unit = pow(found[-1][2], -1, PRIME) if found else 1
    return kernel, tuple((beside, n, r * unit % PRIME) for beside, n, r in found)


# ---- Which terms can vanish ----


@lru_cache(maxsize=None)
def contributions(form: Form, n: int, shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """What goes into the coefficient of x**n when x := x^i + h*x^j in a sum of powers with these
    exponents: pairs (m, k) for the terms c_m * comb(m, k) * h**k.
    """
    i, j = form.exponents
    pairs = ((m, *divmod(n - i * m, j - i)) for m in shape)
    return tuple((m, k) for m, k, rest in pairs if rest == 0 and 0 <= k <= m)


@lru_cache(maxsize=None)
def can_vanish(form: Form, shape: tuple[int, ...], whole: bool) -> tuple[int, ...]:
    """The exponents whose coefficient can become 0 by an h that is not 0.

    There have to be several powers of h in it, which no monomial gives, nor 1 + h*x^j. And if the
    sum is the whole equation, it must not be the same equation, in h.
    """
    if form.i in (None, 0) or shape[0] < 0 or form.span(shape) > MAX_SPAN:
        return ()
    same = [(m - shape[0], 1) for m in shape] if whole else []
    found = []
    for n in shape:
        pairs = contributions(form, n, shape)
        lowest = min((k for _, k in pairs), default=0)
        if len(pairs) > 1 and [(k - lowest, comb(m, k)) for m, k in pairs] != same:
            found.append(n)
    return tuple(found)


def keys(form: Form, kind: Kind, shapes: Shapes) -> list[Key]:
    """The functions of x that can be made to vanish in a sum of this kind and these exponents."""
    if kind == "angles":
        both = {beside for beside, _ in shapes} >= {SINE, COSINE}
        return [(SINE, 0), (COSINE, 0)] if both and form == SHIFT else []
    if kind == "logarithms":  # log(c*h*x^j) is j*log(x) + log(c*h): a shift
        form = Form(int(form.i is None), 0)
    elif kind == "products" and form != SHIFT:
        return []
    whole = kind != "products"
    return [(beside, n) for beside, shape in shapes for n in can_vanish(form, shape, whole)]


@remember
def keys_by_form(kind: Kind, shapes: Shapes) -> dict[Form, list[Key]]:
    """What each form can make vanish, without those that can do nothing."""
    found = {form: keys(form, kind, shapes) for form in forms(max(BOUNDS))}
    return {form: able for form, able in found.items() if able}


@remember  # by form: most can do nothing, and each is asked about
def spots(lhs: Expr, rhs: Expr) -> dict[Form, dict[Expr, Key]]:
    """The terms of the equation that can be made to vanish, and what they are multiples of."""
    found = as_sum(lhs, rhs)
    if found is None:
        return {}
    return {
        form: {found.named[key]: key for key in able if key in found.named}
        for form, able in keys_by_form(found.kind, found.shapes).items()
    }


# ---- The equation for h, and the one that follows ----


@remember
def for_h(form: Form, term: Expr, lhs: Expr, rhs: Expr) -> tuple[Expr, Terms]:
    """The equation for h, as a sum of powers: of what, h being called x, and the coefficients."""
    found, (beside, n) = sum_of(lhs, rhs), spots(lhs, rhs)[form][term]
    if found.kind == "angles":
        a, b = found.parts[SINE][0], found.parts[COSINE][0]
        tangent = call(tan, product(slope(found.kernel.args[0]), X))
        return tangent, {0: a, 1: negate(b)} if beside == SINE else {0: b, 1: a}
    terms = found.parts[beside]
    pairs = contributions(SHIFT if form.i is None else form, n, tuple(sorted(terms)))
    lowest = min(k for _, k in pairs)
    coeffs = {k - lowest: product(Integer(comb(m, k)), terms[m]) for m, k in pairs}
    return found.kernel, coeffs


@remember
def follows(form: Form, lhs: Expr, rhs: Expr) -> tuple[tuple[Expr, Expr], ...]:
    """The functions of x after x := phi, each with its coefficient; h is HOLE."""
    found = sum_of(lhs, rhs)
    if found.kind == "angles":
        return turned(found)
    moved: dict[tuple[Expr, int], Expr] = {}
    for beside, terms in found.parts.items():
        for m, c in terms.items():
            for k in range(m + 1):
                n, factor = moved_power(form, found.kernel, m, k)
                key = beside, n
                moved[key] = total(moved.get(key, ZERO), product(Integer(comb(m, k)), c, factor))
    low = min(0, *(n for _, n in moved))
    base = call(log, X) if found.kind == "logarithms" else X
    return tuple(
        (
            product(power(base, Integer(n - low)) if n > low else ONE, beside),
            product(c, stretch(beside)),
        )
        for (beside, n), c in moved.items()
    )


def moved_power(form: Form, kernel: Expr, m: int, k: int) -> tuple[int, Expr]:
    """The exponent and the factor of the k-th summand of kernel**m after x := phi."""
    if isinstance(kernel, log):  # (j*log(x) + log(c*h))**m
        constant = replace(kernel, {X: HOLE})
        return m - k, product(Integer(form.j) ** (m - k), power(constant, Integer(k)))
    i, j = form.exponents
    return i * (m - k) + j * k, power(HOLE, Integer(k))


def stretch(beside: Expr) -> Expr:
    """exp(r*h), by which an exponential of rate r grows from x to x + h."""
    rates = [rate(factor) for factor in factors_of(beside)] if beside is not ONE else []
    return call(exp, product(total(*rates), HOLE))


def turned(found: Sum) -> tuple[tuple[Expr, Expr], ...]:
    """a*sin(u) + b*cos(u) + c with u + k*h for u."""
    a, b = found.parts[SINE][0], found.parts[COSINE][0]
    angle = found.kernel.args[0]
    turn = product(slope(angle), HOLE)
    s, c = call(sin, turn), call(cos, turn)
    return (
        (call(sin, angle), difference(product(a, c), product(b, s))),
        (call(cos, angle), total(product(a, s), product(b, c))),
        *((ONE, constant) for constant in found.parts.get(ONE, {}).values()),
    )


# ---- The rows ----


def apply(form: Form, lhs: Expr, rhs: Expr, term: Expr) -> Applied:
    of, coeffs = for_h(form, term, lhs, rhs)
    named, labels = with_letters(list(coeffs.values()), [of])
    equation = total(*[product(c, power(of, Integer(k))) for k, c in zip(coeffs, named)])
    found = sum_of(lhs, rhs)
    pole = found.kind == "powers" and min(form.exponents) < 0
    pending = Ansatz(form.phi, follows(form, lhs, rhs), labels, not pole, found.identity)
    return equation, ZERO, pending


def opens(form: Form, lhs: Expr, rhs: Expr, term: Expr) -> tuple:
    """What tells the equation for h from others."""
    of, coeffs = for_h(form, term, lhs, rhs)
    return identity(of, {ONE: coeffs})


def row(form: Form) -> Operation:
    def is_legal(sides: Sides, about: Facts) -> bool:
        return about.term in spots(sides.lhs, sides.rhs).get(form, {})

    shown = str(form).replace("x", "{x}")
    return Operation(
        f"put {form}", f"put {{x}} := {shown}, and choose h so that {{}} vanishes",
        rf"x := {form.as_latex()} \text{{ without }} {{}}", partial(apply, form), is_legal,
        takes_term=True, kind="goal", flags=("general", f"ansatz_{form.bound}"),
        # 1/x + h does not reach h itself; a monomial may leave the branch of the logarithm.
        keeps=form.i is not None and not (form.i < 0 and form.j == 0),
        terms=lambda sides: spots(sides.lhs, sides.rhs).get(form, {}), opens=partial(opens, form),
    )  # fmt: skip


ROWS = tuple(row(form) for form in forms(max(BOUNDS)))
