"""A root, or a family of them in integers: what is claimed of it, and which family has which.

Members of a family in one integer, alpha*n + beta, lie within another one's where plain arithmetic
on integers says so; numbers and proofs come in only to find where beta lies (`abel.roots.merging`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import sympy as sp
from sympy import And, Expr, Ge, Gt, Integer, Le, Lt, Mod, Ne, Symbol, sstr

from abel.equation import num_nodes
from abel.rewrite import replace
from abel.verify import Point, valid_when_text

NAMES = ("n", "m", "k", "j", *(f"n{i}" for i in range(1, 64)))
MAX_PERIOD = 10_000  # integers that are tried for the classes which families leave out
MAX_FAMILY_NODES = 200  # of what is expanded


@dataclass(frozen=True)
class Root:
    """A root, or a family of them in integers, with its verdict and where it branched off."""

    value: Expr
    status: str  # "proved", "unproven", or "proved for n = ..." where there is no proof for all
    valid_when: Any = None
    how: tuple[str, ...] = ()
    proved_at: tuple[tuple[int, ...], ...] | None = None  # values of its integers, None for all
    # How it is shown, where that was asked for: its simplest form, as text, the number beside it.
    form: Expr | None = None
    shown: str = ""
    beside: str = ""

    @property
    def proved(self) -> bool:
        return self.status.startswith("proved")

    @property
    def integers(self) -> tuple[Symbol, ...]:
        found = (symbol for symbol in self.value.free_symbols if symbol.is_integer)
        return tuple(sorted(found, key=lambda symbol: NAMES.index(symbol.name)))

    def at(self, index: Iterable[int]) -> Expr:
        """The root for these values of its integers."""
        return replace(self.value, dict(zip(self.integers, map(Integer, index))))

    def is_claimed(self, index: tuple[int, ...], letters: dict[Symbol, Any]) -> bool | None:
        """Whether it is claimed for these integers and coefficients; None if that is undecided."""
        if self.proved_at is not None and index not in self.proved_at:
            return False
        return Point({**letters, **dict(zip(self.integers, index))}).holds(self.valid_when)

    def to_text(self, told: Callable[[Expr | str], str] = sstr) -> str:
        names = ", ".join(symbol.name for symbol in self.integers)
        status = self.status
        if names and status == "proved":
            status = f"proved for all integers {names}"
        condition = told(valid_when_text(self.valid_when))
        value = beside(self.shown, self.beside) if self.shown else told(self.value)
        first = f"{told('x')} = {value}   ({status}{condition})"
        return "\n".join([first, *(f"    {note}" for note in self.how)])

    def to_data(self, shown: Callable[[Expr | str], str] = sstr) -> dict[str, Any]:
        condition = None if self.valid_when is None else shown(self.valid_when)
        return {
            "root": shown(self.value), "integers": [symbol.name for symbol in self.integers],
            "status": self.status, "valid_when": condition, "how": list(self.how),
            **({"shown": beside(self.shown, self.beside)} if self.shown else {}),
        }  # fmt: skip


def beside(text: str, number: str) -> str:
    """A root and the number that it is: "1/2 = 0.5" or "sqrt(2), about 1.414214"."""
    separator = " " if number[:1] == "=" else ", "
    return f"{text}{separator}{number}" if number else text


# ---- Conditions taken apart ----


class Exceptions(NamedTuple):
    """The condition of a family in at most one integer, taken apart."""

    letters: Any  # what it demands of the coefficients, None for nothing
    singles: frozenset[int]  # integers that are left out
    classes: frozenset[tuple[int, int]]  # (modulus, residue) that are left out


def exceptions_of(root: Root) -> Exceptions | None:
    """None where the condition binds integers otherwise than by leaving some out."""
    letters, singles, classes = [], set(), set()
    for part in And.make_args(sp.true if root.valid_when is None else root.valid_when):
        found = exception(part)
        if not any(symbol.is_integer for symbol in part.free_symbols):
            letters.append(part)
        elif found is None:
            return None
        elif found[1] is None:
            singles.add(found[2])
        else:
            classes.add((found[1], found[2]))
    condition = And(*letters)
    found_letters = None if condition == sp.true else condition
    return Exceptions(found_letters, frozenset(singles), frozenset(classes))


def exception(part: Any) -> tuple[Symbol, int | None, int] | None:
    """(n, None, 4) of n != 4, (n, 4, 1) of n mod 4 != 1, None of any other condition."""
    if not isinstance(part, Ne):
        return None
    for side, value in (part.args, reversed(part.args)):
        if isinstance(value, Integer) and isinstance(side, Symbol) and side.is_integer:
            return side, None, int(value)
        if isinstance(value, Integer) and isinstance(side, Mod):
            symbol, modulus = side.args
            if isinstance(symbol, Symbol) and isinstance(modulus, Integer) and modulus > 0:
                return symbol, int(modulus), int(value)
    return None


def without_turns(value: Expr) -> Expr:
    """With exp(2*pi*I*n) = 1, so that what is the same for all integers is no family."""
    found = {}
    for node in value.atoms(sp.exp):
        whole = {symbol for symbol in node.free_symbols if symbol.is_integer}
        once = sp.exp(node.args[0]) if whole else node  # SymPy knows of whole turns
        if whole.isdisjoint(once.free_symbols):
            found[node] = once
    return replace(value, found)


def implies(first: Any, second: Any) -> bool:
    """Whether a condition is seen to hold wherever the first one does."""
    if second is None or second == sp.true or first == second:
        return True
    if first is None:
        return False
    given: set[Any] = set()
    for part in And.make_args(first):
        weaker = {Gt: Ge, Lt: Le}.get(type(part))
        given |= {part} if weaker is None else {part, weaker(*part.args), Ne(*part.args)}
    return all(part in given for part in And.make_args(second))


# ---- Families in one integer ----


class Line(NamedTuple):
    """alpha*n + beta; a single root has alpha = 0."""

    alpha: Expr
    beta: Expr


def line_of(root: Root) -> Line | None:
    """None for families in several integers, and for those in which n is not linear."""
    if not root.integers:
        return Line(Integer(0), root.value)
    if len(root.integers) > 1 or num_nodes(root.value) > MAX_FAMILY_NODES:
        return None
    (n,) = root.integers
    alpha, beta = [], []
    for term in sp.Add.make_args(sp.expand_mul(root.value)):
        if n not in term.free_symbols:
            beta.append(term)
            continue
        rest, power = term.as_independent(n, as_Add=False)
        if power != n:
            return None
        alpha.append(rest)
    return Line(sp.Add(*alpha), sp.Add(*beta))


def ratio_of(first: Expr, second: Expr) -> Fraction | None:
    """first/second, if that is a rational number."""
    found = first / second
    if not found.is_Rational and num_nodes(found) <= MAX_FAMILY_NODES:
        try:
            found = sp.cancel(found)
        except (sp.PolynomialError, NotImplementedError):
            return None
    return Fraction(int(found.p), int(found.q)) if isinstance(found, sp.Rational) else None


def is_within(inner: Root, outer: Root, ratio: Fraction, start: Fraction) -> bool:
    """Whether all that is claimed of the inner family is claimed of the outer one, the inner's n
    being the outer's ratio*n + start. Both have one integer at most.
    """
    left, right = exceptions_of(inner), exceptions_of(outer)
    if left is None or right is None or not implies(left.letters, right.letters):
        return False
    members = [()] if not inner.integers else inner.proved_at
    if members is not None:
        return all(is_member(outer, ratio * sum(index) + start) for index in members)
    if outer.proved_at is not None or ratio.denominator > 1 or start.denominator > 1:
        return False
    if not outer.integers or not ratio:
        return False
    reached = ((single - start) / ratio for single in right.singles)
    if any(n.denominator == 1 and not is_left_out(int(n), left) for n in reached):
        return False
    return avoids(left, right, ratio, start)


def avoids(left: Exceptions, right: Exceptions, ratio: Fraction, start: Fraction) -> bool:
    """Whether ratio*n + start is in none of the classes that `right` leaves out, for every n that
    is in none of those of `left`.
    """
    period = lcm(*(modulus for modulus, _ in (*left.classes, *right.classes)))
    if period > MAX_PERIOD:
        return False
    classes = left._replace(singles=frozenset())
    return not any(
        int(ratio * n + start) % modulus == residue
        for n in range(period)
        if not is_left_out(n, classes)
        for modulus, residue in right.classes
    )


def is_left_out(n: int, exceptions: Exceptions) -> bool:
    return n in exceptions.singles or any(n % m == residue for m, residue in exceptions.classes)


def is_member(family: Root, number: Fraction) -> bool:
    """Whether the member with this number is claimed; a single root has the number 0."""
    if number.denominator > 1:
        return False
    if not family.integers:
        return number == 0
    if family.proved_at is not None and (int(number),) not in family.proved_at:
        return False
    exceptions = exceptions_of(family)
    return exceptions is not None and not is_left_out(int(number), exceptions)
