"""Nodes of an expression tree, built without SymPy's assumption engine.

SymPy's constructors consult it for every function and power (milliseconds, no use to us since
symbols carry no assumptions), so functions, and powers of sums, are built unevaluated here and the
few rules that matter are applied by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cmp_to_key
from math import ceil, lcm, prod

from sympy import (
    Add,
    Basic,
    E,
    Expr,
    FiniteSet,
    I,
    LambertW,
    Mul,
    Pow,
    Rational,
    acos,
    asin,
    atan,
    cos,
    exp,
    factorint,
    log,
    pi,
    sin,
    tan,
)  # fmt: skip

from abel.equation import (
    MINUS_ONE,
    ONE,
    ZERO,
    factors_of,
    integer_bits,
    is_lower_lambert,
    remember,
    summands_of,
)

MAX_NUMBER_BITS = 4096  # of a number that is computed
MAX_ROOT_BITS = 2048  # of a number under a root: SymPy looks for its prime factors
MAX_PRIME = 1 << 15
ONE_ARGUMENT, TWO_ARGUMENTS = FiniteSet(1), FiniteSet(2)
CANONICAL = cmp_to_key(remember(Basic.compare))  # SymPy's order of summands and factors
INVERSE = {sin: asin, cos: acos, tan: atan, asin: sin, acos: cos, atan: tan}


class TooLarge(ArithmeticError):
    """A result is refused before it is computed: it would have more bits than anyone needs."""


@remember
def small_factors(n: int) -> dict[int, int]:
    """The prime factors of n up to MAX_PRIME and what is left: to go on could take forever."""
    try:
        found = factorint(n, limit=MAX_PRIME, use_rho=False, use_pm1=False, use_ecm=False)
    except ValueError as error:  # SymPy does so at 10**60 - 9, and at every root of it
        raise TooLarge("a number that SymPy cannot factor") from error
    return {int(p): e for p, e in found.items()}


@remember
def power_bits(base: Rational, exponent: Rational) -> int:
    """Size of the integers that SymPy may compute for base**exponent, its inverse and the like.

    Whole parts come out of a root, 2**(10**20/3). Where primes are left under it to different
    powers, they are multiplied out: (1/12)**(1/q) has the q-th root of 2**(q - 2)*3**(q - 1).
    """
    if abs(base) == 1 or base is ZERO:
        return 0
    whole = integer_bits(base) * ceil(abs(exponent))
    if exponent.is_Integer or whole > MAX_NUMBER_BITS:
        return whole
    mixed = any(len(set(small_factors(abs(n)).values())) > 1 for n in (base.p, base.q))
    return max(whole, integer_bits(base) * exponent.q) if mixed else whole


def surd_bits(powers: Iterable[tuple[Expr, Expr]]) -> int:
    """Size of the integers that SymPy may compute when it joins roots of numbers in a product."""
    surds = [
        (base, exponent.q)
        for base, exponent in powers
        if base.is_Rational and exponent.is_Rational and not exponent.is_Integer
    ]
    if len(surds) < 2:
        return 0
    return sum(integer_bits(base) for base, _ in surds) * lcm(*(index for _, index in surds))


def is_simple(expr: Expr) -> bool:
    """A rational number or a rational multiple of pi: what SymPy evaluates well, and at once."""
    return expr.is_Rational or expr is pi or (isinstance(expr, Mul) and expr.args[1:] == (pi,))


@remember
def product(*factors: Expr) -> Expr:
    """What Mul(*factors) is, without the assumption engine that SymPy's Mul consults on every
    power.

    Powers of one base are gathered, and exponentials of numbers: 21**x/49**x = (3/7)**x; a number
    is distributed over a sum only if nothing else is there.
    """
    numbers, powers = gather(factors)
    number = multiplied(numbers)
    if number is ZERO:
        return ZERO
    merge_exponentials(powers)
    parts = [
        power(base, times if kind is ONE else product(times, kind))
        for base, kinds in powers.items()
        for kind, times in kinds.items()
        if times is not ZERO
    ]
    # A power of a product is a product, and x**0 a number: gathered with the rest once more.
    if any(isinstance(part, Mul) or part.is_Rational for part in parts):
        return product(number, *parts)
    if len(parts) == 1:
        if number is ONE:
            return parts[0]
        if isinstance(parts[0], Add) and number.is_Rational:
            return total(*[product(number, term) for term in parts[0].args])
    number, radicals = number.as_coeff_Mul()
    parts += () if radicals is ONE else factors_of(radicals)
    parts.sort(key=CANONICAL)
    return Mul._from_args([number] * (number is not ONE) + parts, True)


def gather(factors: Iterable[Expr]) -> tuple[list[Expr], dict[Expr, dict[Expr, Rational]]]:
    """The numbers among the factors, their roots and I included, and the other factors as powers:
    base -> {t: r}, for the product of base**(r*t).
    """
    numbers: list[Expr] = []
    powers: dict[Expr, dict[Expr, Rational]] = {}
    pending = list(factors)
    while pending:
        factor = pending.pop()
        if isinstance(factor, Mul):
            pending.extend(factor.args)
            continue
        if factor.is_Rational or factor is I:
            numbers.append(factor)
            continue
        base, exponent = (E, factor.args[0]) if type(factor) is exp else factor.as_base_exp()
        if base.is_Rational and exponent.is_Rational:
            numbers.append(factor)
            continue
        times, kind = (exponent, ONE) if exponent.is_Rational else exponent.as_coeff_Mul()
        kinds = powers.setdefault(base, {})
        kinds[kind] = kinds[kind] + times if kind in kinds else times
    return numbers, powers


def multiplied(numbers: list[Expr]) -> Expr:
    """The product of numbers, with roots left to SymPy: sqrt(2)*sqrt(6) = 2*sqrt(3)."""
    if len(numbers) < 2:
        return numbers[0] if numbers else ONE
    if all(n.is_Rational for n in numbers):
        number = prod(numbers)
    elif surd_bits(n.as_base_exp() for n in numbers if isinstance(n, Pow)) > MAX_NUMBER_BITS:
        raise TooLarge(f"a root of a product beyond {MAX_NUMBER_BITS} bits")
    else:
        number = Mul(*numbers)
    if number.is_Rational and number.p.bit_length() > MAX_NUMBER_BITS:
        raise TooLarge(f"a product beyond {MAX_NUMBER_BITS} bits")
    return number


def merge_exponentials(powers: dict[Expr, dict[Expr, Rational]]) -> None:
    """Make one of all the powers of positive numbers that have an exponent in common."""
    by_kind: dict[Expr, list[Expr]] = {}
    for base, kinds in powers.items():
        if base.is_Rational and base.is_positive:
            for kind, times in kinds.items():
                if times.is_Integer:
                    by_kind.setdefault(kind, []).append(base)
    for kind, bases in by_kind.items():
        if len(bases) < 2:
            continue
        if sum(integer_bits(base) * abs(powers[base][kind]) for base in bases) <= MAX_NUMBER_BITS:
            merged = Mul(*[base ** powers[base].pop(kind) for base in bases])
            kinds = powers.setdefault(merged, {})
            kinds[kind] = kinds.get(kind, ZERO) + ONE


@remember
def total(*terms: Expr) -> Expr:
    """What Add(*terms) is, without the Mul by which SymPy puts coefficients to terms."""
    number = ZERO
    coefficients_of: dict[Expr, Rational] = {}
    pending = list(terms)
    while pending:
        term = pending.pop()
        if isinstance(term, Add):
            pending.extend(term.args)
        elif term.is_Rational:
            number = term if number is ZERO else number + term
        else:
            times, rest = term.as_coeff_Mul() if isinstance(term, Mul) else (ONE, term)
            known = coefficients_of.get(rest)
            coefficients_of[rest] = times if known is None else known + times
    result: list[Expr] = []
    for rest, times in coefficients_of.items():
        if times is ONE:
            result.append(rest)
        elif times is not ZERO:
            factors = rest.args if isinstance(rest, Mul) else (rest,)
            result.append(Mul._from_args((times, *factors), True))
    if any(isinstance(term, Add) for term in result):  # a coefficient became 1: (a + b)/2 twice
        return total(number, *result)
    if len(result) == 1 and number is ZERO:
        return result[0]
    result.sort(key=CANONICAL)
    return Add._from_args([number] * (number is not ZERO) + result, True)


def negate(expr: Expr) -> Expr:
    """-expr, term by term."""
    if isinstance(expr, Add):
        return total(*[product(MINUS_ONE, arg) for arg in expr.args])
    return product(MINUS_ONE, expr)


@remember  # the same for many equations: steps that add keep it
def difference(lhs: Expr, rhs: Expr) -> Expr:
    return lhs if rhs is ZERO else total(lhs, negate(rhs))


@remember
def power(base: Expr, exponent: Expr) -> Expr:
    """base**exponent; a rational power moves into products, powers and exponentials only if
    integer.
    """
    if base is E:
        return call(exp, exponent)
    if not exponent.is_Rational:
        return Pow(base, exponent, evaluate=not exponent.args)
    if not base.args:
        if base.is_Rational and exponent is not MINUS_ONE:
            most = MAX_NUMBER_BITS if exponent.is_Integer else MAX_ROOT_BITS
            if power_bits(base, exponent) > most:
                raise TooLarge(f"a power beyond {most} bits")
        return Pow(base, exponent)
    if exponent is ONE:
        return base
    if exponent.is_Integer:
        if isinstance(base, Mul):
            return product(*[power(factor, exponent) for factor in base.args])
        if isinstance(base, Pow):
            return power(base.base, base.exp * exponent)
        if isinstance(base, exp):
            return call(exp, product(base.args[0], exponent))
    return Pow(base, exponent, evaluate=False)


def call(function: type, arg: Expr) -> Expr:
    """function(arg), with the cancellations that hold on every branch: sin(asin u), exp(log u),
    ...
    """
    if is_simple(arg):
        return function(arg)
    if function is exp:
        powers, rest = [], []
        for term in summands_of(arg):
            times, kernel = (ONE, term) if not isinstance(term, Mul) else term.as_coeff_Mul()
            if isinstance(kernel, log):
                powers.append(power(kernel.args[0], times))
            else:
                rest.append(term)
        if powers:
            return product(*powers, call(exp, total(*rest)))
    elif isinstance(arg, INVERSE.get(function, ())) and function in (sin, cos, tan):
        return arg.args[0]
    # function(arg, evaluate=False) without the set of allowed argument counts it builds every time.
    unevaluated = Basic.__new__(function, arg)
    unevaluated.nargs = ONE_ARGUMENT
    return unevaluated


def lower_lambert(arg: Expr) -> Expr:
    """LambertW(arg, -1)"""
    if is_simple(arg):
        return LambertW(arg, MINUS_ONE)
    unevaluated = Basic.__new__(LambertW, arg, MINUS_ONE)
    unevaluated.nargs = TWO_ARGUMENTS
    return unevaluated


def base_exponent(factor: Expr) -> tuple[Expr, Expr]:
    """(u, n) of an integer power u**n, (factor, 1) of anything else."""
    if isinstance(factor, Pow) and factor.exp.is_Integer:
        return factor.base, factor.exp
    return factor, ONE


def rebuild(expr: Expr, args: list[Expr]) -> Expr:
    """`expr` with other arguments."""
    if isinstance(expr, Add):
        return total(*args)
    if isinstance(expr, Mul):
        return product(*args)
    if isinstance(expr, Pow):
        return power(*args)
    return lower_lambert(args[0]) if is_lower_lambert(expr) else call(expr.func, args[0])


def replace(expr: Expr, mapping: Mapping[Expr, Expr]) -> Expr:
    """Simultaneous substitution."""
    if expr in mapping:
        return mapping[expr]
    args = [replace(arg, mapping) for arg in expr.args]
    return expr if all(a is b for a, b in zip(args, expr.args)) else rebuild(expr, args)
