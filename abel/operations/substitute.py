"""Substitutions that any equation may ask for: the agent, not a detector, chooses when and where.

`let` names a sub-expression u = t(x) in which the whole equation can be written; the equation in u
is solved first, and then t(x) = u. The others are supplied mathematics, one row each in the table
of operations: `shift` removes the next-to-leading term of a polynomial, `vieta` turns a depressed
cubic into a quadratic in y**3 by x := y - p/(3*y), `tan-half` makes sin and cos rational by
x := 2*atan(y), `resolvent` asks for a root of a cubic first, by which a quartic splits into
quadratics, `lambert` undoes u*exp(u), and `gather` factors out equal coefficients. Where one of
them would change nothing it is illegal: there are no idle steps.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

from sympy import (
    Add,
    E,
    Expr,
    Integer,
    LambertW,
    Mul,
    Pow,
    Rational,
    Symbol,
    atan,
    cos,
    exp,
    log,
    sin,
)  # fmt: skip

from abel.equation import (
    MINUS_ONE,
    ONE,
    ZERO,
    Label,
    X,
    has_x,
    num_nodes,
    remember,
    split_factor,
    split_summand,
    subterms,
)  # fmt: skip
from abel.numeric import is_zero
from abel.rewrite import (
    base_exponent,
    call,
    coefficients,
    difference,
    expand,
    expand_within,
    grows_past,
    negate,
    polynomial,
    power,
    product,
    rebuild,
    replace,
    shift,
    small_factors,
    total,
)  # fmt: skip
from abel.transforms import HOLE, Goal, Substitute, Transform, name_blocks

MAX_DEGREE = 8  # of a polynomial that is shifted, and of powers of u
MAX_TERMS_NODES = 300  # of what is expanded on the way
LARGE = 7  # nodes past which a coefficient of the new equation gets a letter
U = Symbol("<u>")  # the new unknown while the old one is still about; afterwards it is called x

Change = tuple[Expr, Expr, Transform]  # the new sides, and what was pushed


# ---- let: which sub-expressions, and the equation in u ----


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
        if kernel != X and (kernel not in chosen or term == kernel):
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
    return sum(occurrences(arg, unknown) for arg in expr.args) if expr.args else expr == unknown


@remember
def in_terms_of(expr: Expr, kernel: Expr) -> Expr | None:
    """`expr` written in U = kernel, without x; None if that is not possible."""
    if not has_x(expr):
        return expr
    if expr == kernel:
        return U
    for rule in (as_power, as_affine, as_trigonometric, as_composition):
        written = rule(expr, kernel)
        if written is not None:
            return written
    if isinstance(expr, Add | Mul):
        return part_by_part(expr, kernel)
    args = [in_terms_of(arg, kernel) for arg in expr.args]
    return None if None in args or not args else rebuild(expr, args)


def part_by_part(expr: Expr, kernel: Expr) -> Expr | None:
    """A sum or product in u; the parts that do not fit must fit together, as parts of a sum or
    product that is the kernel can.
    """
    fitting, others = [], []
    for arg in sorted(expr.args, key=num_nodes):  # a misfit is mostly small: x itself
        written = in_terms_of(arg, kernel)
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
    if isinstance(kernel, Add) or isinstance(expr, Add):
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
    for arg in Mul.make_args(expr):
        if not has_x(arg):
            factors.append(arg)
            continue
        base, exponent = (E, arg.args[0]) if isinstance(arg, exp) else arg.as_base_exp()
        if has_x(exponent):
            if has_x(base):
                base, exponent = arg, ONE
            else:
                offset, exponent = split_summand(expand_within(exponent, MAX_TERMS_NODES))
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
    fits = n is not None and n.is_Integer and 0 < abs(n) <= MAX_DEGREE
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
    same = all(is_zero(difference(a, product(alpha, b))) for a, b in pairs[1:])
    return alpha if same else None


@remember
def by_function(expr: Expr) -> dict[Expr, Expr]:
    """The x-free factor of every function of x in a sum."""
    found: dict[Expr, Expr] = {}
    for term in Add.make_args(expr):
        free, rest = split_factor(term)
        found[rest] = total(found.get(rest, ZERO), free)
    return found


def as_affine(expr: Expr, kernel: Expr) -> Expr | None:
    """2*x**2 + 2*d*x + 1 = 2*u + 1 for x**2 + d*x; x + b = u**2 + b - a for sqrt(x + a)."""
    base, exponent = (kernel.base, kernel.exp) if isinstance(kernel, Pow) else (kernel, ONE)
    if not isinstance(base, Add) or not exponent.is_Rational or abs(exponent.p) != 1:
        return None
    root = ONE / exponent
    offset, rest = split_summand(expr)
    base_offset, base_rest = split_summand(base)
    alpha = ratio(rest, base_rest)
    if alpha is None:
        return None
    return total(offset, product(alpha, difference(power(U, root), base_offset)))


def as_trigonometric(expr: Expr, kernel: Expr) -> Expr | None:
    """cos(g)**2 = 1 - u**2 and cos(2*g) = 1 - 2*u**2 for u = sin(g), and so for cos(g)."""
    if not isinstance(kernel, sin | cos):
        return None
    square = power(U, Integer(2))
    if isinstance(expr, cos) and ratio(expr.args[0], kernel.args[0]) == 2:
        double = difference(product(Integer(2), square), ONE)
        return double if isinstance(kernel, cos) else negate(double)
    base, exponent = base_exponent(expr)
    other = cos if isinstance(kernel, sin) else sin
    if isinstance(base, other) and base.args == kernel.args and exponent % 2 == 0:
        return power(difference(ONE, square), exponent / 2)
    return None


def as_composition(expr: Expr, kernel: Expr) -> Expr | None:
    """x**2 + 1/x**2 = u**2 - 2 for x + 1/x: a polynomial in a sum of powers of x."""
    if not isinstance(kernel, Add) or not isinstance(expr, Add):
        return None
    terms, inner = powers_of_x(expr), powers_of_x(kernel)
    if terms is None or inner is None or len(inner) < 2 or max(inner) < 1:
        return None
    found: list[Expr] = []
    degree = max(inner)
    while any(terms):
        n, rest = divmod(max(terms), degree)
        if rest or not 0 < n <= MAX_DEGREE:
            return None
        raised = {0: ONE}
        for _ in range(n):
            raised = convolve(raised, inner)
        lead = product(terms[max(terms)], power(raised[n * degree], MINUS_ONE))
        found.append(product(lead, power(U, Integer(n))))
        taken = {k: product(MINUS_ONE, lead, c) for k, c in raised.items()}
        terms = without_zeros(merged(terms, taken))
    return total(*found, *terms.values())


Terms = dict[int, Expr]  # coefficients by exponent


@remember
def powers_of_x(expr: Expr) -> Terms | None:
    """The coefficients of a sum of integer powers of x; None for anything else."""
    found: Terms = {}
    for term in Add.make_args(expr):
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


# ---- Substitutions x := phi(x) ----


@remember
def exact_coefficients(lhs: Expr, rhs: Expr) -> list[Expr] | None:
    """Coefficients of the polynomial lhs - rhs, constant first, zeros recognised as such."""
    side = difference(lhs, rhs)
    if grows_past(side, MAX_TERMS_NODES):
        return None
    found = coefficients(expand(side))
    if found is None:
        return None
    coeffs = [ZERO if is_zero(c) else c for c in found]
    while coeffs and coeffs[-1] is ZERO:
        coeffs.pop()
    return coeffs if 3 <= len(coeffs) <= MAX_DEGREE + 1 else None


def with_letters(coeffs: list[Expr]) -> tuple[Expr, tuple[Label, ...]]:
    """The polynomial with these coefficients, the large ones named, and their names."""
    coeffs = [ZERO if is_zero(c) else c for c in coeffs]
    large = list(dict.fromkeys(c for c in coeffs if num_nodes(c) > LARGE))
    labels = name_blocks(large, coeffs)
    named = dict(zip(large, labels))
    return polynomial([named.get(c, c) for c in coeffs]), labels


def substituted(coeffs: list[Expr], phi: Expr) -> Change:
    """The polynomial equation with these coefficients after x := phi(x)."""
    lhs, labels = with_letters(coeffs)
    return lhs, ZERO, Substitute(phi, labels)


def shiftable(lhs: Expr, rhs: Expr) -> list[Expr] | None:
    """The coefficients of a polynomial with a next-to-leading term."""
    coeffs = exact_coefficients(lhs, rhs)
    return None if coeffs is None or coeffs[-2] is ZERO else coeffs


@remember
def shift_roots(lhs: Expr, rhs: Expr) -> Change | None:
    """x := x - b/(n*a) in a*x**n + b*x**(n - 1) + ... = 0."""
    coeffs = shiftable(lhs, rhs)
    if coeffs is None:
        return None
    n = len(coeffs) - 1
    by = product(Rational(-1, n), coeffs[-2], power(coeffs[-1], MINUS_ONE))
    return substituted(shift(tuple(coeffs), by), total(X, by))


def depressed(lhs: Expr, rhs: Expr) -> list[Expr] | None:
    """The coefficients of a polynomial from degree 3 on without a next-to-leading term."""
    coeffs = exact_coefficients(lhs, rhs)
    if coeffs is None or len(coeffs) < 4 or coeffs[-2] is not ZERO or coeffs[-3] is ZERO:
        return None
    return coeffs


@remember
def vieta(lhs: Expr, rhs: Expr) -> Change | None:
    """x := x + s/x with s = -p/(n*a) in a*x**n + p*x**(n - 2) + ... = 0, times x**n.

    Offered where a quadratic in x**n results: for every cubic, and for Dickson's polynomials.
    """
    coeffs = depressed(lhs, rhs)
    if coeffs is None:
        return None
    n = len(coeffs) - 1
    s = product(Rational(-1, n), coeffs[-3], power(coeffs[-1], MINUS_ONE))
    moved: Terms = {}
    for k, c in enumerate(coeffs):
        for j in range(k + 1):
            times = power(s, Integer(j)) if j else ONE
            moved = merged(moved, {n + k - 2 * j: product(Integer(comb(k, j)), c, times)})
    moved = without_zeros(moved)
    if not moved.keys() <= {0, n, 2 * n}:
        return None
    phi = total(X, product(s, power(X, MINUS_ONE)))
    return substituted([moved.get(k, ZERO) for k in range(2 * n + 1)], phi)


@remember
def tan_half(lhs: Expr, rhs: Expr) -> Change | None:
    """x := 2*atan(x) in a polynomial in sin(x) and cos(x), times a power of 1 + x**2.

    With sin(k*x + c) in place of sin(x) it is x := (2*atan(x) - c)/k.
    """
    side = difference(lhs, rhs)
    if grows_past(side, MAX_TERMS_NODES):
        return None
    angle, terms = None, []
    for term in Add.make_args(expand(side)):
        free, rest = split_factor(term)
        exponents = {sin: 0, cos: 0}
        for factor in Mul.make_args(rest) if rest is not ONE else ():
            base, n = base_exponent(factor)
            if type(base) not in exponents or n < 0 or angle not in (None, base.args[0]):
                return None
            angle = base.args[0]
            exponents[type(base)] += n.p
        terms.append((free, exponents[sin], exponents[cos]))
    linear = None if angle is None else coefficients(expand(angle))
    degree = max(i + j for _, i, j in terms)
    if linear is None or len(linear) != 2 or degree > 3 or all(j == 0 for _, _, j in terms):
        return None
    if all(i == 0 for _, i, _ in terms):
        return None
    rational: Terms = {}
    for free, i, j in terms:
        part: Terms = {0: free}
        for factor, times in (({1: Integer(2)}, i), ({0: ONE, 2: MINUS_ONE}, j),
                              ({0: ONE, 2: ONE}, degree - i - j)):  # fmt: skip
            for _ in range(times):
                part = convolve(part, factor)
        rational = merged(rational, part)
    rational = without_zeros(rational)
    phi = product(
        difference(product(Integer(2), call(atan, X)), linear[0]), power(linear[1], MINUS_ONE)
    )
    return substituted([rational.get(k, ZERO) for k in range(max(rational) + 1)], phi)


# ---- A goal that is no sub-expression ----


@remember
def resolvent(lhs: Expr, rhs: Expr) -> Change | None:
    """Of x**4 + p*x**2 + q*x + r = 0 the cubic u**3 + 2*p*u**2 + (p**2 - 4*r)*u - q**2 = 0 first.

    By a root u of it the quartic is the product of x**2 -+ sqrt(u)*x + (p + u +- q/sqrt(u))/2
    (Descartes; Ferrari's method in other words). The goal is the first factor = 0.
    """
    coeffs = exact_coefficients(lhs, rhs)
    if coeffs is None or len(coeffs) != 5 or coeffs[3] is not ZERO or coeffs[1] is ZERO:
        return None
    over = power(coeffs[4], MINUS_ONE)
    r, q, p = (product(c, over) for c in coeffs[:3])
    third = difference(power(p, Integer(2)), product(Integer(4), r))
    cubic, labels = with_letters([negate(power(q, Integer(2))), third, product(Integer(2), p), ONE])
    s = power(HOLE, Rational(1, 2))
    free = product(Rational(1, 2), total(p, HOLE, product(q, power(s, MINUS_ONE))))
    quadratic = total(power(X, Integer(2)), negate(product(s, X)))
    return cubic, ZERO, Goal(quadratic, negate(free), labels)


# ---- Steps that change no variable ----


@remember
def lambert(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr] | None:
    """a*u*exp(k*u + c) = r becomes u = W(k*r*exp(-c)/a)/k, the principal branch.

    The product may be multiplied out: a*x*exp(x) + b*exp(x) is (a*x + b)*exp(x).
    """
    if has_x(rhs) or is_zero(rhs) or not isinstance(lhs, Add | Mul):
        return None
    if isinstance(lhs, Add):
        common = call(exp, split_exponent(lhs.args[-1])[0])
        divided = product(lhs, power(common, MINUS_ONE))
        lhs = product(expand_within(divided, MAX_TERMS_NODES), common)
    free, rest = split_factor(lhs)
    exponent, others = split_exponent(rest)
    if exponent is ZERO or len(others) != 1:
        return None
    u = others[0]
    offset, rest = split_summand(expand_within(exponent, MAX_TERMS_NODES))
    start, kernel = split_summand(u)
    k = ratio(rest, kernel)
    if k is None:
        return None
    c = difference(offset, product(k, start))
    inside = product(k, rhs, call(exp, negate(c)), power(free, MINUS_ONE))
    return u, product(call(LambertW, inside), power(k, MINUS_ONE))


def split_exponent(expr: Expr) -> tuple[Expr, list[Expr]]:
    """The exponent of all exponentials of a product together, and its other factors."""
    exponent, others = ZERO, []
    for factor in Mul.make_args(expr):
        if isinstance(factor, exp):
            exponent = total(exponent, factor.args[0])
        elif isinstance(factor, Pow) and not has_x(factor.base):
            exponent = total(exponent, product(factor.exp, call(log, factor.base)))
        else:
            others.append(factor)
    return exponent, others


@remember
def gather(side: Expr) -> Expr:
    """b*x + c*x**2 + b/x gives b*(x + 1/x) + c*x**2: equal coefficients are factored out."""
    if not isinstance(side, Add):
        return side
    groups: dict[Expr, list[Expr]] = {}
    for term in side.args:
        free, rest = split_factor(term)
        number, letter = free.as_coeff_Mul()
        groups.setdefault(ONE if rest is ONE else letter, []).append(
            term if letter is ONE or rest is ONE else product(number, rest)
        )
    return total(*[
        total(*parts) if letter is ONE else product(letter, total(*parts))
        for letter, parts in groups.items()
    ])  # fmt: skip


def change(op: str, lhs: Expr, rhs: Expr, term: Expr | None) -> Change | None:
    """The sides after a substitution and what it pushes; None where it does not apply."""
    if op == "let":
        named = lets(lhs, rhs).get(term)
        if named is None:
            return None
        left, right = (replace(side, {U: X}) for side in named[:2])
        return left, right, Goal(named.kernel, HOLE)
    rules = {
        "shift": shift_roots, "vieta": vieta, "tan-half": tan_half, "resolvent": resolvent
    }  # fmt: skip
    return rules[op](lhs, rhs)


def can_change(op: str, lhs: Expr, rhs: Expr, term: Expr | None) -> bool:
    """Whether `change` gives anything; where that shows before, it is not worked out."""
    if op == "let":
        return term in lets(lhs, rhs)
    if op == "shift":
        return shiftable(lhs, rhs) is not None
    if op == "vieta":
        coeffs = depressed(lhs, rhs)
        if coeffs is None or len(coeffs) == 4:
            return coeffs is not None
    return change(op, lhs, rhs, term) is not None
