"""Equations as pairs of SymPy expressions, and the cheap facts about trees that everything else
asks for.

SymPy symbols carry no assumptions here: SymPy then rewrites as little as possible on its own, and
its assumption engine, by far its slowest part, stays idle. `abel.verify` is where coefficients
become real.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from sympy import (
    Add,
    E,
    Expr,
    I,
    Integer,
    LambertW,
    Mul,
    Number,
    Pow,
    Rational,
    Symbol,
    atan,
    cos,
    exp,
    latex,
    log,
    pi,
    sstr,
    tan,
)  # fmt: skip

X = Symbol("x")
ZERO, ONE, MINUS_ONE = Integer(0), Integer(1), Integer(-1)

# Pure facts about immutable trees, remembered per node. The bound keeps a long run's memory flat.
remember = lru_cache(maxsize=1 << 16)
MAX_SHARED = 1 << 18

# Numbers are taken whole: of 2e3 nothing is a name.
NUMBER_OR_NAME = re.compile(
    r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*"
)


class Label(Symbol):
    """A letter that stands for a block of constants, and knows which.

    Two labels of one name are different symbols if their blocks differ. So what holds between the
    blocks can still be seen: after relabeling, 3*b and 3*b**2 are two letters, but their cubic
    stays special.
    """

    __slots__ = ("block",)
    block: Expr

    def __new__(cls, name: str, block: Expr) -> Label:
        return new_label(name, block)

    def _hashable_content(self) -> tuple:
        return (*super()._hashable_content(), self.block)


@remember  # equal labels are one object: comparing them would go down into nested blocks
def new_label(name: str, block: Expr) -> Label:
    label = Symbol.__xnew__(Label, name)
    label.block = block
    return label


@lru_cache(maxsize=MAX_SHARED)
def shared(expr: Expr) -> Expr:
    """An equal tree whose every part is the one object that stands for all that equal it.

    What is remembered per node is then found by identity: SymPy compares equal trees node by node.
    """
    if expr.args:
        expr._args = tuple(map(shared, expr.args))
    return expr


@remember
def has_x(expr: Expr) -> bool:
    """Whether the unknown occurs in `expr`."""
    args = expr.args
    return any(map(has_x, args)) if args else expr == X


@remember
def num_nodes(expr: Expr) -> int:
    """Number of nodes of the expression tree; a repeated sub-expression counts every time."""
    return 1 + sum(map(num_nodes, expr.args))


@remember
def integer_bits(expr: Expr) -> int:
    """Size of the largest integer in the tree, in bits."""
    if isinstance(expr, Rational):
        return max(expr.p.bit_length(), expr.q.bit_length())
    return max(map(integer_bits, expr.args), default=0)


def summands_of(expr: Expr) -> tuple[Expr, ...]:
    """The terms of a sum, or the one that anything else is; SymPy's make_args asks more."""
    return expr.args if isinstance(expr, Add) else (expr,)


def factors_of(expr: Expr) -> tuple[Expr, ...]:
    """The factors of a product, or the one that anything else is."""
    return expr.args if isinstance(expr, Mul) else (expr,)


@remember
def split_factor(expr: Expr) -> tuple[Expr, Expr]:
    """(x-free factor, the other factors): `2*a*x*exp(x)` gives (2*a, x*exp(x))."""
    if isinstance(expr, Mul):
        return split_args(expr)
    return (ONE, expr) if has_x(expr) else (expr, ONE)


@remember
def split_summand(expr: Expr) -> tuple[Expr, Expr]:
    """(x-free summand, the other summands): `a + x + b` gives (a + b, x)."""
    if isinstance(expr, Add):
        return split_args(expr)
    return (ZERO, expr) if has_x(expr) else (expr, ZERO)


def split_args(expr: Add | Mul) -> tuple[Expr, Expr]:
    """The sum or product of the arguments without x, and that of the others."""
    parts: tuple[list[Expr], list[Expr]] = ([], [])
    for arg in expr.args:
        parts[has_x(arg)].append(arg)
    return shared(joined(expr, parts[0])), shared(joined(expr, parts[1]))


def joined(expr: Add | Mul, args: list[Expr]) -> Expr:
    """The sum or product of some arguments of `expr`."""
    if len(args) > 1 and args[0].is_Rational and isinstance(args[1], Add):
        return expr.func(*args)
    return expr.func._from_args(args, True)  # in canonical order still: nothing to evaluate anew


def free_part(expr: Expr) -> Expr:
    """The x-free summand of a sum, the x-free factor of anything else."""
    return (split_summand if isinstance(expr, Add) else split_factor)(expr)[0]


@remember
def subterms(expr: Expr, blocks: bool) -> dict[Expr, None]:
    """Sub-expressions in preorder, with the whole x-free part of every sum and product as one of
    them; as keys, since joining dictionaries asks for no hash again.

    With `blocks`, a maximal x-free part is one term and is not taken apart. Numeric exponents, and
    the -1 of a negative product, are signs of writing and no terms; nor is the number of a branch.
    """
    found: dict[Expr, None] = {expr: None}
    if not (blocks and not has_x(expr)):
        for part in parts_of(expr, blocks):
            found.update(subterms(part, blocks))
    return found


def parts_of(expr: Expr, blocks: bool) -> list[Expr]:
    """The terms right below an expression, the x-free part of a sum or product first."""
    if isinstance(expr, Pow) and expr.exp.is_Rational:
        return [expr.base]
    if isinstance(expr, LambertW):  # without the number of its branch
        return [expr.args[0]]
    if not isinstance(expr, Add | Mul):
        return list(expr.args)
    parts = [arg for arg in expr.args if not blocks or has_x(arg)]
    nothing = ZERO if isinstance(expr, Add) else ONE
    if has_x(expr) and (free := free_part(expr)) is not nothing:
        parts.insert(0, free)
    return [part for part in parts if part is not MINUS_ONE] if isinstance(expr, Mul) else parts


@remember
def skeleton(expr: Expr) -> str:
    """The tree as text with every x-free part written `c`: relabeling constants does not change
    it.
    """
    if not has_x(expr):
        return "c"
    if isinstance(expr, Pow) and expr.exp.is_Rational:
        return f"({skeleton(expr.base)})^{expr.exp}"
    parts = ",".join(skeleton(arg) for arg in ordered_args(expr) if has_x(arg) or not expr.is_Mul)
    return f"{expr.func.__name__}({parts})" if expr.args else "x"


@remember
def shape(expr: Expr) -> str:
    """The tree as text with every coefficient written `?`: equal up to names, equal text."""
    if isinstance(expr, Symbol):
        return "x" if expr == X else "?"
    if not expr.args:
        return str(expr).replace("-", "~")  # negative numbers sort last
    return f"{expr.func.__name__}({','.join(shape(arg) for arg in ordered_args(expr))})"


@remember
def ordered_args(expr: Expr) -> tuple[Expr, ...]:
    """Arguments, in sums and products ordered so that coefficients' names play no part."""
    if not isinstance(expr, Add | Mul):
        return expr.args
    return tuple(sorted(expr.args, key=lambda arg: (skeleton(arg), shape(arg))))


def is_lower_lambert(node: Expr) -> bool:
    """Whether this is LambertW(u, -1): of the branches of W the other one with real values."""
    return isinstance(node, LambertW) and node.args[1:] == (MINUS_ONE,)


def complexity(expr: Expr) -> int:
    """Nodes plus edges of an expression tree (paper, "Rewards"): C(a*x + b) = 5 + 4 = 9."""
    return 2 * num_nodes(expr) - 1


@remember
def vanishing_parts(expr: Expr) -> tuple[Expr, ...]:
    """The factors of which one is 0 wherever `expr` is: 2*x**3*(a - b)*exp(x) gives x and a - b.

    Numbers and exponentials, which never vanish, are left out: less is left to be proved.
    """
    if isinstance(expr, Mul):
        parts = [part for factor in expr.args for part in vanishing_parts(factor)]
        return tuple(dict.fromkeys(parts))
    if isinstance(expr, Pow):  # of a negative one the base is a denominator, which says the same
        return vanishing_parts(expr.base)
    if isinstance(expr, exp) or expr in (pi, E, I) or (expr.is_Rational and expr is not ZERO):
        return ()
    return (expr.primitive()[1] if isinstance(expr, Add) else expr,)


def domain_of(node: Expr) -> Expr:
    """What must not be 0 for this node to have a value, if its arguments have one; else 1."""
    if isinstance(node, Pow) and not (isinstance(node.exp, Number) and node.exp.is_positive):
        return node.base
    if isinstance(node, log):
        return node.args[0]
    if isinstance(node, tan):
        return cos(node.args[0])
    if is_lower_lambert(node):
        return node.args[0]
    return ONE + node.args[0] ** 2 if isinstance(node, atan) else ONE


@remember
def must_not_vanish(expr: Expr) -> tuple[Expr, ...]:
    """All that is not 0 where `expr` is defined, with x or without: denominators, arguments of
    logarithms, bases of powers with letters in the exponent, cos(u) for tan(u), 1 + u**2 for
    atan(u), u for LambertW(u, -1).
    """
    found = dict.fromkeys(vanishing_parts(domain_of(expr)))
    for arg in expr.args:
        found.update(dict.fromkeys(must_not_vanish(arg)))
    return tuple(found)


def caret(text: str) -> str:
    """An expression's text with powers as people type and read them."""
    return text.replace("**", "^")


def renamed(text: str, unknown: str) -> str:
    """An equation's or expression's text in which x and the unknown's name have changed places."""
    if unknown == "x":
        return text
    names = {"x": unknown, unknown: "x"}
    return NUMBER_OR_NAME.sub(lambda match: names.get(match[0], match[0]), text)


@dataclass(frozen=True)
class Equation:
    """`lhs = rhs` in the unknown x; every other symbol is a real coefficient.

    `nonzero` is its domain: what must not be 0 for the equation to be defined, with x or of letters
    alone. SymPy cancels `x*(x + a)/x` to `x + a` on construction, so the parser notes what the text
    had; that is part of what the equation means, but two that look alike are equal. `text` is what
    the user wrote, if it was parsed, and `notes` say where it could have been read otherwise.

    `unknown` is what the user calls x. All else is in x, `text` included, and the user's own x, a
    coefficient then, has the unknown's name; `shown` is for what the user reads.
    """

    lhs: Expr
    rhs: Expr = ZERO
    nonzero: tuple[Expr, ...] = field(default=(), compare=False, repr=False)
    text: str = field(default="", compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)
    unknown: str = field(default="x", compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("lhs", "rhs"):
            side = getattr(self, name)
            if isinstance(side, int):
                object.__setattr__(self, name, Integer(side))
            elif not isinstance(side, Expr):
                raise TypeError(
                    f"Equation.{name} must be a SymPy expression, got {side!r}"
                    " (text goes through abel.parse)"
                )
        if not (has_x(self.lhs) or has_x(self.rhs)):
            raise ValueError(f"'{self}' has no x: nothing to solve for")
        given = [part for entry in self.nonzero for part in vanishing_parts(entry)]
        both = (*given, *must_not_vanish(self.lhs), *must_not_vanish(self.rhs))
        object.__setattr__(self, "nonzero", tuple(dict.fromkeys(both)))

    @property
    def complexity(self) -> int:
        """Nodes plus edges of both sides; a side that is 0 counts nothing: C(a*x + b = 0) = 9."""
        return sum(complexity(side) for side in (self.lhs, self.rhs) if side != 0)

    @property
    def coefficients(self) -> tuple[Symbol, ...]:
        """Every symbol but x, sorted by name."""
        symbols = self.lhs.free_symbols | self.rhs.free_symbols
        return tuple(sorted(symbols - {X}, key=lambda symbol: symbol.name))

    def __str__(self) -> str:
        return f"{sstr(self.lhs)} = {sstr(self.rhs)}"

    def shown(self, found: Expr | str) -> str:
        """An expression, or the text of one, in the user's own letters."""
        return renamed(found if isinstance(found, str) else sstr(found), self.unknown)

    def told(self, found: Expr | str) -> str:
        """The same as people read it; `shown` is for what is stored."""
        return caret(self.shown(found))

    def to_latex(self) -> str:
        """In the user's own letters."""
        names = self.latex_names
        return " = ".join(latex(side, symbol_names=names) for side in (self.lhs, self.rhs))

    @property
    def latex_names(self) -> dict[Symbol, str]:
        """What SymPy's `latex` takes as the symbols' names, for what the user reads."""
        theirs = Symbol(self.unknown)
        return {theirs: latex(X), X: latex(theirs)}
