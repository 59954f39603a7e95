"""`let` names a sub-expression u = t(x) in which the whole equation can be written.

The equation in u is solved first, and then t(x) = u.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sympy import Add, E, Expr, Integer, Mul, Pow, Symbol, cos, exp, log, sin

from abel.equation import (
    MINUS_ONE,
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
from abel.numeric import is_zero
from abel.operations.laurent import convolve, merged, powers_of_x, without_zeros
from abel.operations.legality import Facts, Sides
from abel.operations.row import Applied, Operation
from abel.rewrite import (
    base_exponent,
    call,
    difference,
    expand_within,
    negate,
    power,
    product,
    rebuild,
    replace,
    small_factors,
    total,
)  # fmt: skip
from abel.transforms import HOLE, Goal

MAX_POWER = 8  # of u
MAX_EXPANDED = 300  # nodes of what is expanded on the way
U = Symbol("<u>")  # the new unknown while the old one is still about; afterwards it is called x
SQUARE = power(U, Integer(2))


class Named(NamedTuple):
    """An equation written in U, which stands for the kernel."""

    lhs: Expr
    rhs: Expr
    kernel: Expr


@remember
def lets(lhs: Expr, rhs: Expr) -> dict[Expr, Named]:
    """The sub-expressions that may be named, each with the equation in the new unknown.

    What counts is the x-part of a sub-expression: 2*a*log(x) + b stands for log(x). Of several
    that stand for the same, the x-part itself is offered if it occurs, else the first. x must
    disappear, and the new unknown must occur twice: what occurs once is isolated without a name.
    1/x must make the equation smaller, since its inverse is of the same kind.
    """
    chosen: dict[Expr, Expr] = {}
    num_x = occurrences(lhs, X) + occurrences(rhs, X)
    for term in (*subterms(lhs, True), *subterms(rhs, True)):
        if not has_x(term) or occurrences(term, X) == num_x:
            continue  # nothing of x is left beside it
        kernel = x_part(term)
        if kernel.args and (kernel not in chosen or term == kernel):
            chosen[kernel] = term
    found, size = {}, num_nodes(lhs) + num_nodes(rhs)
    for kernel, term in chosen.items():
        right = in_terms_of(rhs, kernel)  # mostly the smaller side: a misfit shows sooner
        left = None if right is None else in_terms_of(lhs, kernel)
        if left is None or occurrences(left, U) + occurrences(right, U) < 2:
            continue
        if not is_reciprocal(kernel) or num_nodes(left) + num_nodes(right) < size:
            found[term] = Named(left, right, kernel)
    return found


@remember
def x_part(expr: Expr) -> Expr:
    """`expr` without x-free summands and factors around it."""
    while True:
        core = (split_summand if isinstance(expr, Add) else split_factor)(expr)[1]
        if core == expr:
            return expr
        expr = core


def is_reciprocal(kernel: Expr) -> bool:
    """Whether this is 1/x or 1/(a*x + b)."""
    base = kernel.base if isinstance(kernel, Pow) and kernel.exp is MINUS_ONE else kernel
    return base is not kernel and x_part(base) == X


@remember
def occurrences(expr: Expr, unknown: Symbol) -> int:
    args = expr.args
    return sum([occurrences(arg, unknown) for arg in args]) if args else expr == unknown


@remember
def in_terms_of(expr: Expr, kernel: Expr) -> Expr | None:
    """`expr` written in U = kernel, without x; None if that is not possible."""
    if not has_x(expr):
        return expr
    if type(expr) is type(kernel) and expr == kernel:  # SymPy takes its time to compare kinds
        return U
    for rule in rules(kernel):
        written = rule(expr, kernel)
        if written is not None:
            return written
    if isinstance(expr, Add | Mul):
        return part_by_part(expr, kernel)
    args = [in_terms_of(arg, kernel) for arg in expr.args]
    return None if None in args or not args else rebuild(expr, args)


@remember
def rules(kernel: Expr) -> tuple[Callable[[Expr, Expr], Expr | None], ...]:
    """What may write more than the kernel itself in U."""
    base, exponent = (kernel.base, kernel.exp) if isinstance(kernel, Pow) else (kernel, ONE)
    is_root = isinstance(base, Add) and exponent.is_Rational and abs(exponent.p) == 1
    applies = {
        as_power: not isinstance(kernel, Add),
        as_affine: is_root,
        as_trigonometric: isinstance(kernel, sin | cos),
        as_composition: isinstance(kernel, Add),
    }
    return tuple(rule for rule, may in applies.items() if may)


@remember
def smallest_first(expr: Expr) -> list[Expr]:
    return sorted(expr.args, key=num_nodes)


def part_by_part(expr: Expr, kernel: Expr) -> Expr | None:
    """A sum or product in u; the parts that do not fit must fit together, as parts of a sum or
    product that is the kernel can.
    """
    fitting, others = [], []
    for arg in smallest_first(expr):  # a misfit is mostly small: x itself
        written = in_terms_of(arg, kernel) if has_x(arg) else arg
        if written is not None:
            fitting.append(written)
        elif not isinstance(kernel, expr.func):
            return None
        else:
            others.append(arg)
    if others:
        if len(others) in (1, len(expr.args)):
            return None
        rest = in_terms_of(rebuild(expr, others), kernel)
        if rest is None:
            return None
        fitting.append(rest)
    return rebuild(expr, fitting)


def as_power(expr: Expr, kernel: Expr) -> Expr | None:
    """exp(2*x + a) = exp(a)*u**2, 1/x = u**-1, x = u**2 for sqrt(x); x**2 = exp(2*u) for log(x)."""
    if isinstance(expr, Add):
        inner = kernel.args[0] if isinstance(kernel, log) else None
        return call(exp, U) if expr == inner else None
    factor, powers = as_monomial(expr)
    if isinstance(kernel, log):
        n = multiple_of_powers(powers, as_monomial(kernel.args[0])[1])
        if n is not None and as_monomial(kernel.args[0])[0] is ONE:
            return product(factor, call(exp, product(n, U)))
    scale, kernel_powers = as_monomial(kernel)
    n = multiple_of_powers(powers, kernel_powers)
    if n is None:
        return None
    return product(factor, power(product(U, power(scale, MINUS_ONE)), n))


@remember
def as_monomial(expr: Expr) -> tuple[Expr, dict[Expr, Expr]]:
    """An x-free factor, and the exponent of every base; bases of exponentials are split in primes:
    a*4**x*exp(x + 1)/x gives a*exp(1), {2: 2*x, E: x, x: -1}.
    """
    factors: list[Expr] = []
    powers: dict[Expr, Expr] = {}
    for arg in factors_of(expr):
        if not has_x(arg):
            factors.append(arg)
            continue
        base, exponent = (E, arg.args[0]) if isinstance(arg, exp) else arg.as_base_exp()
        if has_x(exponent):
            if has_x(base):
                base, exponent = arg, ONE
            else:
                offset, exponent = split_summand(expand_within(exponent, MAX_EXPANDED))
                factors.append(power(base, offset))
        primes = {base: 1}
        if base.is_Rational and base.is_positive:
            primes = {Integer(p): e for p, e in small_factors(base.p).items()}
            primes |= {Integer(p): -e for p, e in small_factors(base.q).items()}
        for prime, e in primes.items():
            raised = total(powers.get(prime, ZERO), product(Integer(e), exponent))
            powers[prime] = raised
    return product(*factors), {base: e for base, e in powers.items() if e is not ZERO}


def multiple_of_powers(powers: dict[Expr, Expr], of: dict[Expr, Expr]) -> Integer | None:
    """The integer n for which every exponent is n times the other's."""
    if not powers or powers.keys() != of.keys():
        return None
    ratios = [ratio(powers[base], of[base]) for base in of]
    n = ratios[0]
    fits = n is not None and n.is_Integer and 0 < abs(n) <= MAX_POWER
    return n if fits and all(other == n for other in ratios) else None


def ratio(expr: Expr, of: Expr) -> Expr | None:
    """The x-free alpha with expr = alpha*of, term by term."""
    if expr == of:
        return ONE
    left, right = by_function(expr), by_function(of)
    if left.keys() != right.keys():
        return None
    pairs = [(left[part], right[part]) for part in right]
    alpha = product(pairs[0][0], power(pairs[0][1], MINUS_ONE))
    if not alpha.is_Rational and is_zero(total(alpha, ONE)):
        alpha = MINUS_ONE  # (-a**2 - 1)/(a**2 + 1)
    same = all(is_zero(difference(a, product(alpha, b))) for a, b in pairs[1:])
    return alpha if same else None


@remember
def by_function(expr: Expr) -> dict[Expr, Expr]:
    """The x-free factor of every function of x in a sum."""
    found: dict[Expr, Expr] = {}
    for term in summands_of(expr):
        free, rest = split_factor(term)
        found[rest] = total(found.get(rest, ZERO), free)
    return found


def as_affine(expr: Expr, kernel: Expr) -> Expr | None:
    """2*x**2 + 2*d*x + 1 = 2*u + 1 for x**2 + d*x; x + b = u**2 + b - a for sqrt(x + a)."""
    base, root = (kernel.base, ONE / kernel.exp) if isinstance(kernel, Pow) else (kernel, ONE)
    offset, rest = split_summand(expr)
    base_offset, base_rest = split_summand(base)
    alpha = ratio(rest, base_rest)
    if alpha is None:
        return None
    return total(offset, product(alpha, difference(power(U, root), base_offset)))


def as_trigonometric(expr: Expr, kernel: Expr) -> Expr | None:
    """cos(g)**2 = 1 - u**2 and cos(2*g) = 1 - 2*u**2 for u = sin(g), and so for cos(g)."""
    if isinstance(expr, cos) and ratio(expr.args[0], kernel.args[0]) == 2:
        double = difference(product(Integer(2), SQUARE), ONE)
        return double if isinstance(kernel, cos) else negate(double)
    base, exponent = base_exponent(expr)
    other = cos if isinstance(kernel, sin) else sin
    if isinstance(base, other) and base.args == kernel.args and exponent % 2 == 0:
        return power(difference(ONE, SQUARE), exponent / 2)
    return None


def as_composition(expr: Expr, kernel: Expr) -> Expr | None:
    """x**2 + 1/x**2 = u**2 - 2 for x + 1/x: a polynomial in a sum of powers of x."""
    if not isinstance(expr, Add):
        return None
    terms, inner = powers_of_x(expr), powers_of_x(kernel)
    if terms is None or inner is None or len(inner) < 2 or max(inner) < 1:
        return None
    found: list[Expr] = []
    degree = max(inner)
    while any(terms):
        n, rest = divmod(max(terms), degree)
        if rest or not 0 < n <= MAX_POWER:
            return None
        raised = {0: ONE}
        for _ in range(n):
            raised = convolve(raised, inner)
        lead = product(terms[max(terms)], power(raised[n * degree], MINUS_ONE))
        found.append(product(lead, power(U, Integer(n))))
        taken = {k: product(MINUS_ONE, lead, c) for k, c in raised.items()}
        terms = without_zeros(merged(terms, taken))
    return total(*found, *terms.values())


# ---- The row ----


def is_legal(sides: Sides, about: Facts) -> bool:
    return about.term in lets(sides.lhs, sides.rhs)


def apply(lhs: Expr, rhs: Expr, term: Expr) -> Applied:
    named = lets(lhs, rhs)[term]
    left, right = (replace(side, {U: X}) for side in (named.lhs, named.rhs))
    return left, right, Goal(named.kernel, HOLE)


ROW = Operation("let", "name the part of {x} in {}", "u := {}", apply, is_legal, takes_term=True,
                kind="goal", flags=("general", "let"), keeps=True,
                terms=lambda sides: lets(sides.lhs, sides.rhs))  # fmt: skip
