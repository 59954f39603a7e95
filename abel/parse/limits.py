"""What is undefined, too large or too hard for SymPy, told before SymPy builds it.

SymPy simplifies while it builds, which can take minutes over a few dozen characters, so whatever
could grow is measured first: hostile text fails in milliseconds.
"""

from __future__ import annotations

from math import ceil, comb, prod

import sympy
from sympy import Add, Dummy, E, Expr, Function, Mul, Pow, nan, oo, zoo

from abel.equation import has_x, integer_bits, num_nodes, remember
from abel.numeric import FUNCTIONS, LOWER, depends_on_x, finite, values

MAX_PARSED_NODES = 400  # of an expression tree
MAX_EXPONENT = 100  # magnitude of an exponent, or of its constant part
MAX_DEGREE = 1000  # the same of a single letter or x
MAX_BITS = 512  # of an integer, and of the magnitude of a constant such as pi^9
MAX_TERMS = 60  # of what SymPy expands, or splits into real and imaginary part
# Powers and functions inside each other: of anything, of constants, of wild ones.
MAX_LEVELS, MAX_CONSTANT_LEVELS, MAX_WILD_LEVELS = 10, 4, 3
HARD_POWER = "powers inside each other that are too large to combine"

UNDEFINED = (nan, zoo, oo, -oo)
NUMERIC = {getattr(sympy, n): function for n, function in FUNCTIONS.items() if n != LOWER}
NUMERIC[sympy.Abs] = abs
NUMERIC[sympy.LambertW] = lambda *args: FUNCTIONS["LambertW" if len(args) == 1 else LOWER](args[0])
NUMERIC |= {Add: lambda *terms: sum(terms), Mul: lambda *factors: prod(factors), Pow: pow}


@remember
def is_constant(expr: Expr) -> bool:
    """Whether no symbol occurs in `expr`."""
    return all(map(is_constant, expr.args)) and not expr.is_Symbol


@remember
def float_of(constant: Expr) -> complex:
    """The value in floats, once per node: SymPy's own `evalf` is exponential in the depth.

    Not `abel.numeric.values`, which has no numbers past 1e60: here everything that a float can hold
    is to be told from what is too large, and nothing is sampled.
    """
    try:
        if constant.args:
            return NUMERIC[constant.func](*map(float_of, constant.args))
        return complex(constant)
    except (OverflowError, ZeroDivisionError, ValueError):
        return complex("inf")


@remember
def is_imaginary(expr: Expr) -> bool:
    """Whether a constant that is not real occurs in `expr`."""
    if is_constant(expr):
        return abs(float_of(expr).imag) > 1e-9
    return any(map(is_imaginary, expr.args))


@remember
def is_wild(expr: Expr) -> bool:
    """Whether a constant occurs in `expr` that is not real and made of more than roots: SymPy looks
    for its sign in ever more digits, for every power and function around it anew.
    """
    if (
        is_constant(expr)
        and is_imaginary(expr)
        and any(map(is_transcendental, sympy.preorder_traversal(expr)))
    ):
        return True
    return any(map(is_wild, expr.args))


def is_transcendental(node: Expr) -> bool:
    return isinstance(node, Function) or (node.is_Pow and not node.exp.is_Rational)


@remember
def root_index(expr: Expr) -> int:
    """The largest denominator of an exponent in `expr`."""
    own = expr.exp.q if expr.is_Pow and expr.exp.is_Rational else 1
    return max(own, *map(root_index, expr.args), 1)


@remember
def num_levels(expr: Expr) -> int:
    """How many powers and functions are inside each other."""
    return max(map(num_levels, expr.args), default=-1) + (not isinstance(expr, Add | Mul))


@remember
def num_terms(expr: Expr) -> int:
    """A bound on the terms of any part of `expr` once expanded, each symbol being two of them."""
    if not expr.args:
        return 2 if expr.is_Symbol else 1
    sizes = [min(num_terms(arg), MAX_TERMS + 1) for arg in expr.args]
    if isinstance(expr, Pow) and expr.exp.is_Rational:
        power = ceil(abs(expr.exp))
        return comb(power + sizes[0] - 1, power)
    return sum(sizes) if isinstance(expr, Add) else prod(sizes)


@remember
def find_flaw(expr: Expr) -> str | None:
    """What makes `expr` undefined or too large, if anything does."""
    if expr in UNDEFINED:
        return "undefined: a division by 0, or a function at its pole"
    if num_nodes(expr) > MAX_PARSED_NODES:
        return f"an expression of more than {MAX_PARSED_NODES} nodes"
    if flaw := next(filter(None, map(find_flaw, expr.args)), None):
        return flaw
    if expr.args and expr.func not in NUMERIC:  # sin(I) is I*sinh(1)
        return f"SymPy makes {expr.func.__name__}(...) of this, which is not among the functions"
    if expr.is_Rational:
        return f"an integer beyond {MAX_BITS} bits" if integer_bits(expr) > MAX_BITS else None
    if isinstance(expr, Pow) and expr.exp.is_Rational:
        if abs(expr.exp) > largest_exponent(expr.base):
            return f"an exponent beyond {largest_exponent(expr.base)}"
    # SymPy evaluates constants to decide their signs, and sin(exp(10^9)) would take 10^9 bits.
    if is_constant(expr) and not 2**-MAX_BITS < (abs(float_of(expr)) or 1) < 2**MAX_BITS:
        return f"a constant beyond 2^{MAX_BITS}, or that close to 0"
    return None


def has_imaginary_part(power: Expr) -> bool:
    return any(map(is_imaginary, (power, *power.args)))


def is_on_cut(base: Expr) -> bool:
    """Whether `base` is a constant with a factor such as acos(2)^2: negative, of one not real."""
    for part in Mul.make_args(base) if is_constant(base) else ():
        if part.is_Pow and part.base.has(Function) and is_imaginary(part.base):
            value = float_of(part)
            if value.real < 0 and abs(value.imag) < 1e-9 * abs(value):
                return True
    return False


def is_hard_power(base: Expr, exponent: Expr) -> bool:
    """Whether SymPy might split a large part of the power into real and imaginary part."""
    if is_on_cut(base) and not exponent.is_Integer:  # it would look for a sign in ever more digits
        return True
    inner = [part for part in Mul.make_args(base) if part.is_Pow and not part.exp.is_Rational]
    if is_constant(base) and not exponent.is_Integer and any(map(has_imaginary_part, inner)):
        return True
    return is_split_in_parts(base, exponent)


def splits_base(base: Expr, exponent: Expr) -> bool:
    """Whether SymPy splits the base: one that is a power itself, or any where the exponent divides
    by a sum, for that may be a logarithm of the base.
    """
    if exponent.is_Rational or base == E:
        return False
    if isinstance(base, Pow | sympy.exp):
        return True
    return any(p.is_Pow and p.base.is_Add for p in sympy.preorder_traversal(exponent))


def is_split_in_parts(base: Expr, exponent: Expr) -> bool:
    """Whether what would be split is large: the base, those in a product, or the exponent."""
    split = [base] if splits_base(base, exponent) else []
    if not exponent.is_Integer:
        split += [arg.base for arg in Mul.make_args(base) if arg.is_Pow]
    if any(num_terms(part) > MAX_TERMS or num_levels(part) > 2 for part in split):
        return True
    return num_levels(exponent) > 1 and (num_terms(exponent) > MAX_TERMS or is_imaginary(exponent))


def constant_size(exponent: Expr) -> float:
    """The magnitude of an exponent's constant part."""
    return sum(abs(float_of(t)) for t in Add.make_args(exponent) if is_constant(t))


def largest_exponent(base: Expr) -> int:
    return MAX_DEGREE if base.is_Symbol else MAX_EXPONENT


def most_levels(args: tuple[Expr, ...]) -> int:
    """How many powers and functions inside each other there may be around these. SymPy asks every
    node for its sign: quadratic in the depth, exponential without symbols.
    """
    if any(map(is_wild, args)):
        return MAX_WILD_LEVELS
    return MAX_CONSTANT_LEVELS if all(map(is_constant, args)) else MAX_LEVELS


@remember
def hard_to_read(expr: Expr) -> str | None:
    """What the parser would refuse if this were typed: SymPy makes u^(1/log(2)) of
    exp(log(u)/log(2)), and what is printed of an expression must be read again.
    """
    if flaw := next(filter(None, map(hard_to_read, expr.args)), None):
        return flaw
    if not expr.args or isinstance(expr, Add | Mul):
        return None
    most = most_levels(expr.args)
    if max(map(num_levels, expr.args)) >= most:
        return f"more than {most} powers and functions inside each other"
    if not isinstance(expr, Pow | sympy.exp):
        return None
    base, exponent = expr.args if expr.is_Pow else (E, expr.args[0])
    if constant_size(exponent) > largest_exponent(base):
        return f"an exponent beyond {largest_exponent(base)}"
    return HARD_POWER if is_hard_power(base, exponent) else None


def without_x(lhs: Expr, rhs: Expr) -> Expr | None:
    """lhs - rhs if no x is left of it after expanding, which is tried where it is quick; names
    stand for its powers and functions of numbers.
    """
    at = values(lhs), values(rhs)
    if all(map(finite, at)) and depends_on_x(*at):
        return None
    expr = lhs - rhs
    if num_terms(expr) <= MAX_TERMS:
        # Names for constants such as 2^(1/3): `expand` can take minutes over a few of them.
        nodes = [n for n in sympy.preorder_traversal(expr) if num_levels(n) and is_constant(n)]
        names = {node: Dummy() for node in nodes if not isinstance(node, Add | Mul)}
        expr = sympy.expand(expr.xreplace(names))
    return None if has_x(expr) else expr
