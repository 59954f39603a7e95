"""Powers and roots of any kind: raise both sides to 1/t, and roots named so that they disappear."""

from __future__ import annotations

from math import gcd, lcm

from sympy import Expr, I, Integer, Pow, Rational, exp, pi

from abel.equation import MINUS_ONE, ONE, ZERO, X, factors_of, has_x, remember, split_factor
from abel.numeric import is_zero
from abel.operations.forks import Fork, Taken
from abel.operations.legality import Facts, Sides
from abel.operations.let import U, in_terms_of, occurrences
from abel.operations.row import Applied, Operation
from abel.rewrite import call, power, product, replace, small_factors, total
from abel.transforms import HOLE, Goal

MAX_DEGREE = 100  # to which both sides are raised
MAX_LISTED = 12  # roots of unity that are listed one by one
MAX_INDEX = 12  # of a root that is named


# ---- undo-power: u**t = r becomes u = r**(1/t) ----


@remember
def undone(lhs: Expr, rhs: Expr, term: Expr) -> tuple[Expr, Expr, Expr] | None:
    """(u, t, r) where the equation says u**t = r and `term` is a power of u in it.

    t has no x. Powers of one base count as one: a*x**p/x**q = r says x**(p - q) = r/a.
    """
    if not isinstance(term, Pow) or has_x(term.exp) or not has_x(term.base):
        return None
    free, rest = split_factor(lhs)
    exponents = []
    for factor in factors_of(rest):
        base, exponent = factor.as_base_exp() if isinstance(factor, Pow) else (factor, ONE)
        if base != term.base or has_x(exponent):
            return None
        exponents.append(exponent)
    exponent = total(*exponents)
    if exponent in (ZERO, ONE):
        return None
    return term.base, exponent, product(rhs, power(free, MINUS_ONE))


def undo_power(lhs: Expr, rhs: Expr, term: Expr) -> Applied:
    found = undone(lhs, rhs, term)
    if found is None:
        raise ValueError(f"'{term}' is not what '{lhs} = {rhs}' says the value of")
    base, t, r = found
    if not has_x(rhs):
        return base, real_power(r, power(t, MINUS_ONE)), None
    if split_factor(rhs)[1] != ONE and (taken := rooted(r, t)) is not None:
        return base, taken, None  # u**5 = c*v**5
    return power(base, Integer(t.p)), power(r, Integer(t.q)), None  # only the root goes


def real_power(r: Expr, exponent: Expr) -> Expr:
    """r**exponent, but the real odd root of a negative number."""
    if exponent.is_Rational and exponent.q % 2 and r.is_Rational and r.is_negative:
        whole = power(product(MINUS_ONE, r), exponent)
        return product(MINUS_ONE, whole) if exponent.p % 2 else whole
    return power(r, exponent)


def rooted(side: Expr, t: Expr) -> Expr | None:
    """side**(1/t) for a positive integer t if all of its x is in t-th powers."""
    if not t.is_Integer or not t.is_positive:
        return None
    free, rest = split_factor(side)
    taken = []
    for factor in factors_of(rest):
        if isinstance(factor, exp):
            taken.append(call(exp, product(ONE / t, factor.args[0])))
        elif isinstance(factor, Pow) and factor.exp.is_Integer and factor.exp.p % t.p == 0:
            taken.append(power(factor.base, factor.exp / t))
        else:
            return None
    return product(real_power(free, ONE / t), *taken)


def undo_power_is_legal(sides: Sides, about: Facts) -> bool:
    lhs, rhs, term = sides.lhs, sides.rhs, about.term
    found = undone(lhs, rhs, term) if isinstance(term, Pow) else None
    if found is None or sides.room < 0:
        return False
    _, t, _ = found
    if t.is_Rational and max(abs(t.p), t.q) > MAX_DEGREE**2:
        return False
    if not has_x(rhs):  # 0 has only positive powers and roots, and a letter need not be positive
        return not is_zero(rhs) or (t.is_Rational and t.is_positive)
    if not t.is_Rational or not t.is_positive or max(t.p, t.q) > MAX_DEGREE:
        return False
    return (rooted(rhs, t) is not None or t.q > 1) and sides.lead_on(undo_power, term)


def undo_power_forks(step: Taken) -> list[Fork]:
    """The value times each root of unity; where t is no rational number, times any power of one.

    u**(p/q) = r says u**p = r**q, of which u = r**(q/p) is one solution.
    """
    terms = factors_of(split_factor(step.lhs)[1])
    t = total(*[f.exp if isinstance(f, Pow) else ONE for f in terms])
    if is_zero(step.after) or (has_x(step.rhs) and not (t.is_Integer and has_x(step.after))):
        return []
    n = abs(t.p) if t.is_Rational else 0
    if n == 1:
        return []
    if has_x(step.rhs) and rooted(step.rhs, t) is None:
        return []
    if 0 < n <= MAX_LISTED:
        units = [unit(Rational(2 * k, n)) for k in range(n)]
        return [
            Fork(product(u, step.after), None, f"times {u}" if k else "")
            for k, u in enumerate(units)
        ]
    turn = product(Integer(2), pi, I, step.fresh, power(t, MINUS_ONE))
    many = call(exp, turn)
    return [Fork(product(step.after, many), None, f"times {many}")]


def unit(turns: Rational) -> Expr:
    """exp(I*pi*turns): by radicals where these are short, else a power of -1."""
    if turns.q in (1, 2, 3):
        return exp(I * pi * turns).expand(complex=True)
    return power(MINUS_ONE, turns)


# ---- let-root: x**(1/2) + x**(1/3) in terms of u = x**(1/6) ----


@remember
def common_root(lhs: Expr, rhs: Expr) -> Expr | None:
    """The root of which all roots of one base are powers, if there are several kinds."""
    indices: dict[Expr, set[int]] = {}
    for base, index in root_indices(lhs) + root_indices(rhs):
        indices.setdefault(base, set()).add(index)
    for base, found in indices.items():
        index = lcm(*found)
        if index not in found and index <= MAX_INDEX:
            return Pow(base, Rational(1, index), evaluate=False)
    return None


@remember
def root_indices(expr: Expr) -> tuple[tuple[Expr, int], ...]:
    """What is under each root of a function of x, and the index of the root."""
    if not has_x(expr):
        return ()
    found = [root for arg in expr.args for root in root_indices(arg)]
    if isinstance(expr, Pow) and expr.exp.is_Rational and expr.exp.q > 1:
        found.insert(0, (expr.base, expr.exp.q))
    return tuple(dict.fromkeys(found))


@remember
def let_root(lhs: Expr, rhs: Expr) -> Applied | None:
    kernel = common_root(lhs, rhs)
    if kernel is None:
        return None
    left, right = in_terms_of(lhs, kernel), in_terms_of(rhs, kernel)
    if left is None or right is None or occurrences(left, U) + occurrences(right, U) < 2:
        return None
    left, right = (replace(side, {U: X}) for side in (left, right))
    return left, right, Goal(kernel, HOLE)


def apply_let_root(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    applied = let_root(lhs, rhs)
    if applied is None:
        raise ValueError(f"there are no roots of several kinds in '{lhs} = {rhs}'")
    return applied


# ---- match-power: u**v = b**e is tried with v = e ----


@remember
def matching(lhs: Expr, rhs: Expr) -> Applied | None:
    """v = e for u**v = b**e with x in u and v; e is as large as a rational number b allows.

    Some roots may be lost: with both in motion, the exponents need not agree.
    """
    free, rest = split_factor(lhs)
    if has_x(rhs) or not isinstance(rest, Pow) or not (has_x(rest.base) and has_x(rest.exp)):
        return None
    value = product(rhs, power(free, MINUS_ONE))
    exponents: dict[int, Expr] = {}
    for factor in factors_of(value):
        base, exponent = factor.as_base_exp() if isinstance(factor, Pow) else (factor, ONE)
        if not (base.is_Rational and base.is_positive and exponent.is_Rational):
            return None
        for number, sign in ((base.p, 1), (base.q, -1)):
            for prime, times in small_factors(number).items():
                exponents[prime] = exponents.get(prime, ZERO) + exponent * sign * times
    found = [e for prime, e in sorted(exponents.items()) if prime > 1 and e is not ZERO]
    if not found:
        return None
    numerators, denominators = [abs(e.p) for e in found], [e.q for e in found]
    common = Rational(gcd(*numerators), lcm(*denominators))
    return rest.exp, common if found[0].is_positive else -common, None


def match_is_legal(sides: Sides, _: Facts | None) -> bool:
    return matching(sides.lhs, sides.rhs) is not None and sides.lead_on(match_power)


def match_power(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    applied = matching(lhs, rhs)
    if applied is None:
        raise ValueError(f"'{lhs} = {rhs}' is no power that is a power of a number")
    return applied


ROWS = (
    Operation("undo-power", "undo the power {}", r"\text{undo the power } {}", undo_power,
              undo_power_is_legal, takes_term=True, flags=("powers",), forks=undo_power_forks,
              keeps=True),
    Operation("let-root", "name the root of which all roots are powers", r"u := \sqrt[n]{\cdot}",
              apply_let_root, lambda sides, _: let_root(sides.lhs, sides.rhs) is not None,
              kind="goal", flags=("powers",), keeps=True),
    Operation("match-power", "equate the exponents", r"u^v = b^e \to v = e", match_power,
              match_is_legal, flags=("powers",)),
)  # fmt: skip
