"""A recursive-descent parser that builds SymPy objects directly.

`^` and `**` are powers, right associative and tighter than a minus sign: -x^2 is -(x^2). A product
may leave out its `*` and keeps the same precedence: 1/2x is (1/2)*x. The unknown is `x`, another
letter that is asked for, or the only letter that there is. `pi`, `E` and `I` are constants; other
names are coefficients, `e` included, but for one case: as the base of a power with the unknown in
the exponent it is Euler's number, and a note says so. Decimals are exact: 0.25 is 1/4, and 2.5e-3
is 1/400. `abel.parse.functions` has what is read as other functions, `abel.parse.glyphs` what is
read of characters beyond ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil
from typing import NoReturn

import sympy
from sympy import Add, E, Expr, I, Mul, Pow, Rational, Symbol, nan, oo, pi, zoo

from abel.equation import (
    MINUS_ONE,
    ONE,
    ZERO,
    Equation,
    X,
    domain_of,
    has_x,
    integer_bits,
    renamed,
    vanishing_parts,
)  # fmt: skip
from abel.parse.functions import IDENTITIES, WITH_BASE, absolute
from abel.parse.glyphs import COMMA, SYSTEM
from abel.parse.limits import (
    HARD_POWER,
    MAX_BITS,
    constant_size,
    find_flaw,
    hard_to_read,
    is_constant,
    is_hard_power,
    is_imaginary,
    largest_exponent,
    most_levels,
    num_levels,
    root_index,
    without_x,
)  # fmt: skip
from abel.parse.tokens import ParseError, Token, as_typed, tokenize
from abel.rewrite import TooLarge, power_bits, surd_bits

EXP_OF_1 = sympy.exp(ONE, evaluate=False)  # SymPy makes it of exp(1 + 2*pi*I)
MAX_DEPTH = 60  # brackets and exponents inside each other
MAX_DIGITS = 155  # of one number in the text: as many as the largest integer has
MAX_ROOT_BITS = 128  # of the integers under the roots of a product: SymPy trial-divides them
MAX_JOINED_BITS = 2048  # of those integers to the powers that a root of them all brings
MAX_INDEX = 100  # of a root in the logarithm of a complex number

LETTER_E = Symbol("e")
CONSTANTS = {"x": X, "pi": pi, "E": E, "I": I}
CONSTANTS |= {"nan": nan, "zoo": zoo, "oo": oo}  # no coefficients: what SymPy prints is refused
ROOTS = {"sqrt": Rational(1, 2), "cbrt": Rational(1, 3)}
TRIGONOMETRY = ("sin", "cos", "tan", "asin", "acos", "atan")
FUNCTIONS = (*ROOTS, "exp", "log", "ln", *TRIGONOMETRY, "LambertW", "abs", "Abs", *IDENTITIES)
# What Python reads as a truth value or a number would be taken for a coefficient.
NOT_READ = dict.fromkeys(("true", "false"), "write 1 or 0 for it")
NOT_READ |= dict.fromkeys(("none", "null"), "leave it out, or write 0 for it")
NOT_READ |= dict.fromkeys(("inf", "infinity", "nan"), "all numbers are finite here")
SCIENTIFIC = "a number such as 2e+3 is 2*10^3; write 2*e + 3 for a product"
EULER = "e as the base of a power with {} is Euler's number, E; any other e is a coefficient"
NUMBERS = {"E": "Euler's number, 2.718...", "I": "the imaginary unit", "pi": "3.14159..."}
# What can be the unknown without being asked for: a letter, Greek ones included, or one with an
# index. A longer name may be a product, or mistyped.
GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "omicron", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
)  # fmt: skip
LETTER = re.compile(rf"(?:[A-Za-z]|{'|'.join(GREEK)})(?:_?[0-9]+)?", re.IGNORECASE)
# Where the unknown cancels out, by whether the number that is left is 0.
LEFT = {
    True: "this holds for every number for which it is defined",
    False: "this holds for no number",
}
UNKNOWN = "the unknown is a letter, such as t, theta or v_0"


def power_parts(factor: Expr) -> tuple[Expr, Expr]:
    return factor.args if factor.is_Pow else (factor, ONE)


class Parser:
    """One pass over the tokens of a text.

    `nonzero` collects what must not be 0 for the text to be defined, before SymPy cancels any of
    it, and `notes` what may have been meant otherwise. `bound` says what names stand for, where it
    is not a letter of that name.

    A value is the list of its factors, multiplied only when the whole product is known: SymPy turns
    2*(x + 1) into 2*x + 2 at once, and then could not read back the y/(2*(x + 1)) that it prints.
    """

    def __init__(self, text: str, euler: bool = False, **bound: Expr) -> None:
        self.text, self.tokens, self.index, self.depth = text, tokenize(text), 0, 0
        self.euler = euler  # whether e^x is E^x
        self.bound = bound
        self.nonzero: dict[Expr, None] = {}
        self.notes: dict[str, None] = {}

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def accept(self, *kinds: str) -> Token | None:
        if self.token.kind not in kinds:
            return None
        self.index += 1
        return self.tokens[self.index - 1]

    def fail(self, reason: str, token: Token) -> NoReturn:
        raise ParseError(self.text, token.position, reason)

    def must_not_vanish(self, *factors: Expr) -> None:
        for factor in factors:
            self.nonzero.update(dict.fromkeys(vanishing_parts(factor)))

    def check(self, expr: Expr, token: Token) -> Expr:
        if flaw := find_flaw(expr) or hard_to_read(expr):
            self.fail(flaw, token)
        return expr

    def multiply(self, factors: list[Expr], token: Token) -> Expr:
        powers = [arg for factor in factors for arg in Mul.make_args(factor) if arg.is_Pow]
        # SymPy joins roots: sqrt(6)*sqrt(7) is sqrt(42).
        bits = sum(integer_bits(p.base) for p in powers if p.base.is_Rational)
        if bits > MAX_ROOT_BITS or surd_bits(p.args for p in powers) > MAX_JOINED_BITS:
            self.fail(f"roots of integers of more than {MAX_ROOT_BITS} bits together", token)
        if ZERO in factors:  # SymPy would ask every other factor whether it is finite
            return ZERO
        return self.check(Mul(*factors), token)

    def apply(self, function: Callable[..., Expr], *args: Expr, token: Token) -> Expr:
        most = most_levels(args)
        if max(map(num_levels, args)) >= most:
            self.fail(f"more than {most} powers and functions inside each other", token)
        try:
            found = function(*args)
        except Exception as error:  # SymPy raises anything on odd input
            self.fail(f"SymPy cannot make an expression of this: {type(error).__name__}", token)
        if found.is_Mul:  # perhaps not as its factors are multiplied: 4*(1/2 - I)/5 for 1/(1/2 + I)
            return self.multiply([*found.args], token)
        return self.check(found, token)

    def inverse(self, factor: Expr, token: Token) -> Expr:
        """1/factor; that of a power is a power as well, with no more levels."""
        base, exponent = power_parts(factor)
        return self.apply(Pow, base, -exponent, token=token)

    def power(self, base: Expr, exponent: Expr, token: Token) -> Expr:
        """`base**exponent`, refused before it is computed if it would be too large."""
        size = constant_size(exponent)
        if size > largest_exponent(base):
            self.fail(f"an exponent beyond {largest_exponent(base)}", token)
        if base == 0 and not exponent.is_positive:
            self.fail("undefined: 0 to a power that need not be positive", token)
        self.must_have_few_bits(base, exponent, size, token)
        if is_hard_power(base, exponent):
            self.fail(HARD_POWER, token)
        if not (exponent.is_Rational and exponent > 0):
            self.must_not_vanish(base)
        return self.apply(Pow, base, exponent, token=token)

    def must_have_few_bits(self, base: Expr, exponent: Expr, size: float, token: Token) -> None:
        """Refuse powers and roots of numbers that are too long; `size` is the exponent's."""
        if base.is_Rational and abs(base) != 1:
            whole = exponent.is_Integer or not is_constant(exponent)  # no root is drawn
            most = MAX_BITS if whole else MAX_ROOT_BITS
            if integer_bits(base) * max(1, ceil(size)) > most:
                self.fail(f"a power or root of integers beyond {most} bits", token)
        if exponent.is_Rational:  # SymPy takes the numbers out of a product's root
            parts = [(b, e * exponent) for b, e in map(power_parts, Mul.make_args(base))]
            numbers = [(b, e) for b, e in parts if b.is_Rational and e.is_Rational]
            bits = max((self.power_bits(b, e, token) for b, e in numbers), default=0)
            if max(bits, surd_bits(numbers)) > MAX_JOINED_BITS:
                self.fail(f"a power or root of numbers beyond {MAX_JOINED_BITS} bits", token)

    def power_bits(self, base: Expr, exponent: Expr, token: Token) -> int:
        try:
            return power_bits(base, exponent)
        except TooLarge as error:
            self.fail(str(error), token)

    def expression(self) -> Expr:
        first = self.token
        return self.multiply(self.sum(), first)

    def sum(self) -> list[Expr]:
        first, factors = self.token, self.product()
        if self.token.kind not in ("+", "-"):
            return factors
        terms = [self.multiply(factors, first)]
        while self.token.kind in ("+", "-"):
            second, factors = self.token, self.product()  # whose first factor reads the sign
            terms.append(self.multiply(factors, second))
        return [self.check(Add(*terms), first)]

    def product(self) -> list[Expr]:
        factors = self.factor()
        while (operator := self.accept("*", "/")) or self.token.kind in ("name", "("):
            first, value = self.token, self.factor()
            if operator and operator.kind == "/":
                divisor = self.multiply(value, first)
                if divisor == 0:
                    self.fail("undefined: a division by 0", first)
                self.must_not_vanish(*value)
                value = [self.inverse(part, first) for part in value]
            factors += value
        if self.token.kind == "number":
            self.fail("a number right after a factor; write * or ^ between them", self.token)
        return factors

    def factor(self) -> list[Expr]:
        """Signs, then an atom or a power: all nesting passes through here."""
        signs = []
        while sign := self.accept("+", "-"):
            signs += [MINUS_ONE] if sign.kind == "-" else []
        if self.depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH} levels", self.token)
        self.depth += 1
        first, value = self.token, self.atom()
        if self.accept("^"):
            second, exponent = self.token, self.factor()
            base, exponent = self.multiply(value, first), self.multiply(exponent, second)
            if self.euler and base == LETTER_E and has_x(exponent):
                unknown = next((name for name, to in self.bound.items() if to == X), "x")
                base, self.notes[EULER.format(unknown)] = E, None
            value = [self.power(base, exponent, second)]
        self.depth -= 1
        return signs + value

    def atom(self) -> list[Expr]:
        if number := self.accept("number"):
            digits, _, exponent = number.text.lower().partition("e")
            whole, _, decimals = digits.partition(".")
            if exponent:
                self.notes[SCIENTIFIC] = None
            shift = int(exponent[:5] or 0) - len(decimals)
            if len(whole + decimals) + max(abs(shift) - len(decimals), 0) > MAX_DIGITS:
                self.fail(f"a number of more than {MAX_DIGITS} digits", number)
            return [Rational(int(whole + decimals)) * Rational(10) ** shift]
        if name := self.accept("name"):
            return [self.named(name)]
        opening = self.accept("(")
        if not opening:
            self.fail(f"expected a number, name or '(' instead of {self.token.text}", self.token)
        value = self.sum()
        self.close(opening)
        return value

    def named(self, token: Token) -> Expr:
        name, called = token.text, self.token.kind == "("
        if name not in FUNCTIONS:
            if called and len(name) > 1 and not (name in CONSTANTS or name in self.bound):
                known = f"known: {' '.join(FUNCTIONS)}; write {name}*(...) for a product"
                self.fail(f"unknown function '{name}'; {known}", token)
            if hint := NOT_READ.get(name.lower()):
                self.fail(f"'{name}' is neither a number nor a coefficient; {hint}", token)
            if name in ("E", "I") and self.token.kind != "^":
                self.notes[f"{name} is {NUMBERS[name]}; write another letter for a constant"] = None
            meant = self.bound.get(name) or CONSTANTS.get(name)
            return self.check(meant or Symbol(name), token)
        return self.called(token) if called else self.powered(token)

    def powered(self, token: Token) -> Expr:
        """sin^2(u) as sin(u)^2."""
        name, after = token.text, [each.kind for each in self.tokens[self.index : self.index + 3]]
        exponent = self.tokens[self.index + 1] if after[0] == "^" else token
        if exponent.kind in ("-", "(") and f"a{name}" in FUNCTIONS:
            reason = f"{name} to the -1 could mean two things; write a{name}(...) or 1/{name}(...)"
            self.fail(reason, token)
        if after != ["^", "number", "("] or not exponent.text.isdigit():
            power = f"; write {name}(x)^2 for a power of it" * (after[0] == "^")
            self.fail(f"{name} needs parentheses: {name}(...){power}", token)
        self.index += 1
        (raised,) = self.atom()
        return self.power(self.called(token), raised, exponent)

    def called(self, token: Token) -> Expr:
        """A function of what stands in the brackets that come next."""
        name = token.text
        argument, second = self.arguments(token)
        if name == "LambertW":
            return self.lambert(argument, second, token)
        if second is not None:
            return self.identity(WITH_BASE, token, u=argument, v=second)
        if name in IDENTITIES:
            return self.identity(IDENTITIES[name], token, u=argument)
        if name in ("abs", "Abs"):
            return self.apply(absolute, argument, token=token)
        if name in ROOTS:
            return self.power(argument, ROOTS[name], token)
        if name == "exp":
            return self.power(E, argument, token)
        function = sympy.log if name == "ln" else getattr(sympy, name)
        # SymPy makes polynomials of a complex number's roots, to know its angle.
        if function is sympy.log and is_imaginary(argument) and root_index(argument) > MAX_INDEX:
            self.fail(f"log of complex numbers with roots of an index beyond {MAX_INDEX}", token)
        found = self.apply(function, argument, token=token)
        self.must_not_vanish(domain_of(function(argument, evaluate=False)))
        return found

    def arguments(self, token: Token) -> tuple[Expr, Expr | None]:
        """The argument of a function, and the base of a logarithm or the branch of LambertW."""
        opening = self.token
        self.index += 1
        argument = self.multiply(self.sum(), token)
        second = None
        if token.text in ("log", "ln", "LambertW") and self.accept(","):
            second = self.multiply(self.sum(), token)
        self.close(opening)
        return argument, second

    def lambert(self, argument: Expr, branch: Expr | None, token: Token) -> Expr:
        """LambertW(u) and LambertW(u, -1), the branches with real values."""
        if branch not in (None, ZERO, MINUS_ONE):
            self.fail("of the branches of LambertW 0 and -1 are read: LambertW(u, -1)", token)
        args = (argument, MINUS_ONE) if branch is MINUS_ONE else (argument,)
        found = self.apply(sympy.LambertW, *args, token=token)
        self.must_not_vanish(domain_of(sympy.LambertW(*args, evaluate=False)))
        return found

    def close(self, opening: Token) -> None:
        if not self.accept(")"):
            missing = f"the '(' of column {opening.position + 1} needs a ')'"
            self.fail(f"{missing}; {self.about_comma()}".removesuffix("; "), self.token)

    def identity(self, text: str, token: Token, **bound: Expr) -> Expr:
        """An identity with these arguments; its domain becomes part of the text's."""
        inner = Parser(text, **bound)
        try:
            found = inner.expression()
        except ParseError as error:
            self.fail(error.reason, token)
        self.nonzero.update(inner.nonzero)
        return self.check(found.xreplace({EXP_OF_1: E}), token)

    def finish(self) -> None:
        if self.token.kind == "end":
            return
        reason = "')' without a '('"
        if self.token.kind == "=":
            reason = f"one '=' too many; {SYSTEM}"
        self.fail(self.about_comma() or reason, self.token)

    def about_comma(self) -> str:
        """What is said of a comma where the text should go on or end."""
        if self.token.kind != ",":
            return ""
        around = self.tokens[self.index - 1], self.tokens[self.index + 1]
        decimal = all(token.kind == "number" for token in around) and not around[1].spaced
        return COMMA if decimal else SYSTEM


def parse_expression(text: str) -> Expr:
    """Read an expression, with or without x, such as `sstr` prints."""
    parser = Parser(text)
    expr = parser.expression()
    parser.finish()
    return expr


def parse(text: str, unknown: str | None = None) -> Equation:
    """Read `lhs = rhs`, or `lhs` alone for `lhs = 0`.

    The unknown is x, the letter that is given, or the only letter if it is another. An equation
    always has x for its unknown, and where x is a constant, it has the unknown's letter for it:
    the two names change places, and `Equation.shown` puts them back.
    """
    tokens = tokenize(text)
    names = [token.text for token in tokens if token.kind == "name"]
    name = unknown_of(names) if unknown is None else name_of_unknown(unknown)
    if name == "e" and "x" in names:
        raise ParseError(text, None, "with e as the unknown, x must be another letter")
    bound = {} if name == "x" else {name: X, "x": Symbol(name)}
    parser = Parser(text, euler=True, **bound)
    lhs = parser.expression()
    rhs = parser.expression() if parser.accept("=") else ZERO
    parser.finish()
    if name not in names:
        raise ParseError(text, None, f"the equation has no {name}{hint(names, unknown)}")
    if (rest := without_x(lhs, rhs)) is not None:
        left = LEFT[rest == 0] if rest.is_Rational else "nothing is left to solve for"
        raise ParseError(text, None, f"{name} cancels out: {left}")
    domain, notes = tuple(parser.nonzero), tuple(parser.notes)
    typed = text.strip() if text.isascii() and "|" not in text else as_typed(tokens)
    return Equation(lhs, rhs, domain, renamed(typed, name), notes, name)


def name_of_unknown(unknown: str) -> str:
    """The name of the unknown in ASCII; ParseError if it cannot be one."""
    token, *others = tokenize(unknown)
    if token.kind != "name" or len(others) > 1 or token.text in FUNCTIONS:
        raise ParseError(unknown, None, UNKNOWN)
    if what := NUMBERS.get(token.text):
        raise ParseError(unknown, None, f"{token.text} is {what}; {UNKNOWN}")
    if token.text in CONSTANTS and token.text != "x" or token.text.lower() in NOT_READ:
        raise ParseError(unknown, None, UNKNOWN)
    return token.text


def letters_of(names: list[str]) -> list[str]:
    """The names that stand for coefficients or the unknown, in order, once each."""
    found = dict.fromkeys(n for n in names if n not in FUNCTIONS and n not in NUMBERS)
    return list(found)


def unknown_of(names: list[str]) -> str:
    """x, or the only letter of an equation without x; e counts only if it is alone."""
    letters = letters_of(names)
    others = [name for name in letters if name != "e"] or letters
    alone = len(others) == 1 and LETTER.fullmatch(others[0])
    return others[0] if alone else "x"


def hint(names: list[str], unknown: str | None) -> str:
    """What may have been meant by an equation that does not have its unknown."""
    letters = letters_of(names)
    said = [f"{n} is {NUMBERS[n]}, not a letter" for n in ("E", "I") if n in names]
    product = next((n for n in letters if not LETTER.fullmatch(n) and len(n) < 9), None)
    if product and "x" in product:
        said.append("did you mean " + "*".join(filter(None, product.partition("x"))) + "?")
    elif product:
        said.append(f"'{product}' is read as one letter, write * between letters for a product")
    elif len(letters) > 1:
        *first, last = letters
        which = f"{', '.join(first[-3:])} and {last}"
        said.append(f"it has {which}: choose one to solve for, such as --unknown {last}")
    return "".join(f"; {part}" for part in said)
