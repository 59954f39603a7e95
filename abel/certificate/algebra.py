"""Normal forms: polynomials in letters and kernels over products of what is known not to be 0.

A kernel is a variable of the script that stands for a radical, an exponential or the like; a rule
says what is known of it, such as w^2 = P. Nothing here has to be believed: each normal form is
written into the script as an equation, and the kernel of Coq checks it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from abel.certificate.reader import NotCovered

MAX_KERNELS = 48
MAX_TERMS = 4000
MAX_WORK = 300_000  # products of terms in a proof
MAX_FACTOR_TERMS = 200  # beyond it a polynomial is taken as it is

CONTEXT = fmpq_mpoly_ctx.get([f"g{i}" for i in range(MAX_KERNELS)], Ordering.lex)
GENS = CONTEXT.gens()
POLY_ONE, POLY_ZERO = CONTEXT.constant(1), CONTEXT.constant(0)
Monomial = tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """A monomial, what it equals, and the hypothesis of the script that says so."""

    lead: dict[int, int]
    value: fmpq_mpoly
    name: str


@dataclass(frozen=True)
class Atom:
    """A factor of a divisor: a polynomial, its variable, and the hypothesis that it is not 0."""

    poly: fmpq_mpoly
    text: str
    name: str


@dataclass(frozen=True)
class Form:
    """num / (product of atoms to powers)"""

    num: fmpq_mpoly
    den: tuple[tuple[int, int], ...] = ()

    @property
    def key(self) -> tuple:
        return (frozenset(self.num.to_dict().items()), self.den)


@dataclass(frozen=True)
class Summand:
    """coefficient * monomial / den"""

    coefficient: Fraction
    monomial: Monomial
    den: tuple[tuple[int, int], ...]


class Algebra:
    """The ring of one script."""

    def __init__(self) -> None:
        self.work = 0  # terms that have been multiplied
        self.names: list[str] = []  # of the generators in use
        self.rules: list[Rule] = []
        self.definitions: list[str] = []  # hypotheses d = P for the atoms with a name of their own
        self.atoms: list[Atom] = []

    # ---- Forms ----

    def generator(self, name: str) -> int:
        if len(self.names) == MAX_KERNELS:
            raise NotCovered(f"more than {MAX_KERNELS} letters, radicals and functions")
        self.names.append(name)
        return len(self.names) - 1

    def constant(self, value: Fraction | int) -> Form:
        value = Fraction(value)
        return Form(CONTEXT.constant(fmpq(value.numerator, value.denominator)))

    def add(self, f: Form, g: Form) -> Form:
        most = {i: max(dict(f.den).get(i, 0), dict(g.den).get(i, 0)) for i, _ in f.den + g.den}
        return self.form(self.over(f, most) + self.over(g, most), most)

    def over(self, f: Form, den: dict[int, int]) -> fmpq_mpoly:
        """The numerator of f over a larger denominator."""
        mine = dict(f.den)
        return self.product([f.num, *[self.atoms[i].poly ** (e - mine.get(i, 0))
                                      for i, e in den.items() if e > mine.get(i, 0)]])  # fmt: skip

    def times(self, f: Form, g: Form) -> Form:
        den = dict(f.den)
        for i, e in g.den:
            den[i] = den.get(i, 0) + e
        return self.form(self.product([f.num, g.num]), den)

    def power(self, f: Form, exponent: int) -> Form:
        found = self.constant(1)
        for _ in range(exponent):
            found = self.times(found, f)
        return found

    def product(self, factors: Iterable[fmpq_mpoly]) -> fmpq_mpoly:
        found = POLY_ONE
        for factor in factors:
            self.work += len(found) * len(factor)
            if len(found) * len(factor) > MAX_TERMS * 10 or self.work > MAX_WORK:
                raise NotCovered("too large")
            found = self.reduced(found * factor)
        return found

    def form(self, num: fmpq_mpoly, den: dict[int, int]) -> Form:
        """num / den, without the factors that both have."""
        num = self.reduced(num)
        if not num:
            return Form(num)
        left = {}
        for i, e in sorted(den.items()):
            while e and len(num) <= MAX_FACTOR_TERMS:
                quotient, rest = divmod(num, self.atoms[i].poly)
                if rest:
                    break
                num, e = quotient, e - 1
            if e:
                left[i] = e
        return Form(num, tuple(left.items()))

    def reduced(self, f: fmpq_mpoly) -> fmpq_mpoly:
        """By all rules; a kernel's rule has earlier kernels only in it."""
        for rule in reversed(self.rules):
            while True:
                low: dict[Monomial, fmpq] = {}
                high: dict[Monomial, fmpq] = {}
                for monomial, c in f.to_dict().items():
                    if all(monomial[i] >= e for i, e in rule.lead.items()):
                        rest = list(monomial)
                        for i, e in rule.lead.items():
                            rest[i] -= e
                        high[tuple(rest)] = c
                    else:
                        low[monomial] = c
                if not high:
                    break
                f = CONTEXT.from_dict(low) + CONTEXT.from_dict(high) * rule.value
        if len(f) > MAX_TERMS:
            raise NotCovered("too large")
        return f

    def factors(self, f: fmpq_mpoly) -> tuple[Fraction, list[tuple[fmpq_mpoly, int]]]:
        """A number, and integer polynomials without a common factor of their coefficients."""
        if len(f) <= MAX_FACTOR_TERMS:
            found = [(part, int(e)) for part, e in f.factor()[1]]
        else:
            found = [(f, 1)]
        whole, number = [], Fraction(1)
        for part, e in found:
            whole.append((primitive(part)[1], e))
        rest = f
        for part, e in whole:
            rest = divmod(rest, part**e)[0]
        [(_, c)] = rest.to_dict().items()
        number = Fraction(int(c.p), int(c.q))
        return number, sorted(whole, key=lambda pair: (len(pair[0]), str(pair[0])))

    def summands(self, f: Form) -> list[Summand]:
        return [
            Summand(Fraction(int(c.p), int(c.q)), monomial, f.den)
            for monomial, c in sorted(f.num.to_dict().items(), key=lambda pair: pair[0])
        ]

    def atom_of(self, poly: fmpq_mpoly) -> int | None:
        return next((i for i, atom in enumerate(self.atoms) if atom.poly == poly), None)

    # ---- Text ----

    def text(self, f: Form) -> str:
        content, whole = primitive(f.num)
        content, num = abs(content), whole if content > 0 else -whole
        if content.numerator != 1:
            num = num * content.numerator
        den = [str(content.denominator)] if content.denominator > 1 else []
        den += [raised(self.atoms[i].text, e) for i, e in f.den]
        top = self.poly_text(num)
        return f"({top}) / ({' * '.join(den)})" if den else top

    def poly_text(self, f: fmpq_mpoly) -> str:
        """A polynomial with integer coefficients."""
        terms = []
        for monomial, c in f.to_dict().items():
            factors = [raised(self.names[i], e) for i, e in enumerate(monomial) if e]
            if abs(c) != 1 or not factors:
                factors.insert(0, str(abs(int(c.p))))
            terms.append(("- " if c < 0 else "+ ") + " * ".join(factors))
        if not terms:
            return "0"
        first = terms[0].removeprefix("+ ")
        if first.startswith("- "):  # in Coq a minus binds tighter than a product
            first = f"- ({first[2:]})"
        return " ".join([first, *terms[1:]])


def monomial(exponents: Monomial) -> fmpq_mpoly:
    return CONTEXT.from_dict({exponents: fmpq(1)})


def raised(text: str, exponent: int) -> str:
    return text if exponent == 1 else f"{text} ^ {exponent}"


def primitive(f: fmpq_mpoly) -> tuple[Fraction, fmpq_mpoly]:
    """f as a rational number times a polynomial with coprime integer coefficients."""
    if not f:
        return Fraction(1), f
    coefficients = [Fraction(int(c.p), int(c.q)) for c in f.to_dict().values()]
    common = math.lcm(*[c.denominator for c in coefficients])
    content = Fraction(math.gcd(*[int(c * common) for c in coefficients]), common)
    if coefficients[0] < 0:
        content = -content
    return content, f * fmpq(content.denominator, content.numerator)
