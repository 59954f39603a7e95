"""Text to equations: a tokenizer and a recursive-descent parser that build SymPy objects directly.

`^` and `**` are powers, right associative and tighter than a minus sign: -x^2 is -(x^2). A product
may leave out its `*` and keeps the same precedence: 1/2x is (1/2)*x. The unknown is `x`; `pi`, `E`
and `I` are constants; other names, `e` included, are coefficients. Decimals are exact: 0.25 is 1/4.
Text is never run as code, and growth is refused before SymPy computes it: hostile text fails fast.
"""

from __future__ import annotations

import cmath
import re
from collections.abc import Callable
from math import ceil, comb, prod
from typing import NamedTuple, NoReturn

import sympy
from sympy import Add, Dummy, E, Expr, I, Mul, Pow, Rational, Symbol, expand, nan, oo, pi, preorder_traversal, zoo
from sympy import acos, asin, atan, cos, log, sin, tan

from abel.equation import MINUS_ONE, ZERO, Equation, X, has_x, integer_bits, num_nodes, remember

MAX_LENGTH = 2000  # characters of text
MAX_DEPTH = 60  # brackets and exponents inside each other
MAX_DIGITS = 30  # of one number in the text
MAX_EXPONENT = 100  # magnitude of an exponent, or of its constant part
MAX_BITS = 512  # of an integer, and of the magnitude of a constant such as pi^9
MAX_ROOT_BITS = 128  # of the integers under the roots of a product: SymPy trial-divides them
MAX_NODES = 400  # of an expression tree
MAX_LEVELS, MAX_CONSTANT_LEVELS = 10, 4  # powers and functions inside each other
MAX_TERMS = 60  # that SymPy may meet when it expands, or splits into real and imaginary part

CONSTANTS = {"x": X, "pi": pi, "E": E, "I": I}
ROOTS = {"sqrt": Rational(1, 2), "cbrt": Rational(1, 3)}
TRIGONOMETRY = {"sin": sin, "cos": cos, "tan": tan, "asin": asin, "acos": acos, "atan": atan}
FUNCTIONS = (*ROOTS, "exp", "log", "ln", *TRIGONOMETRY)
NUMERIC = {Add: lambda *terms: sum(terms), Mul: lambda *factors: prod(factors), Pow: pow}
NUMERIC |= {getattr(sympy, n): getattr(cmath, n) for n in ("exp", "log", *TRIGONOMETRY)}
TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|\*\*|[-+*/^()=]"
)
SPACE, SCIENTIFIC = re.compile(r"[ \t\r\n]*"), re.compile(r"[eE][-+]?[0-9]")


class ParseError(ValueError):
    """Text that is not an equation: where it goes wrong, why, and what would be right."""

    def __init__(self, text: str, position: int | None, reason: str) -> None:
        super().__init__(text, position, reason)
        self.text, self.position, self.reason = text, position, reason

    def __str__(self) -> str:
        start = max(0, (self.position or 0) - 27)
        shown = "".join(c if c.isprintable() else "?" for c in self.text[start : start + 54])
        shown = "..." * (start > 0) + shown + "..." * (start + 54 < len(self.text))
        where = "" if self.position is None else f" (column {self.position + 1})"
        return f"cannot read '{shown}'{where}: {self.reason}"


class Token(NamedTuple):
    """A piece of the text; `kind` is "number", "name", "end" or the operator itself."""

    kind: str
    text: str
    position: int


def tokenize(text: str) -> list[Token]:
    """Split `text` into tokens, the last of kind "end"."""
    if not isinstance(text, str):
        raise TypeError(f"an equation is read from a str, got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise ParseError(text, None, f"{len(text)} characters; at most {MAX_LENGTH} are read")
    tokens, position = [], SPACE.match(text).end()
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise ParseError(text, position, f"unexpected character {text[position]!a}")
        if match["number"] and SCIENTIFIC.match(text, match.end()):
            reason = "scientific notation is not read; write 1e5 as 10^5, and a product as 2*e + 3"
            raise ParseError(text, position, reason)
        tokens.append(Token(match.lastgroup or match[0].replace("**", "^"), match[0], position))
        position = SPACE.match(text, match.end()).end()
    if not tokens:
        raise ParseError(text, None, "there is no equation; write one such as a*x + b = 0")
    return [*tokens, Token("end", "the end", len(text))]


@remember
def is_constant(expr: Expr) -> bool:
    """Whether no symbol occurs in `expr`."""
    return all(map(is_constant, expr.args)) and not expr.is_Symbol


@remember
def num_levels(expr: Expr) -> int:
    """How many powers and functions are inside each other."""
    return max(map(num_levels, expr.args), default=-1) + (not isinstance(expr, Add | Mul))


@remember
def evaluate(constant: Expr) -> complex:
    """The value in floats, once per node: SymPy's own `evalf` is exponential in the depth."""
    try:
        if constant.args:
            return NUMERIC[constant.func](*map(evaluate, constant.args))
        return complex(constant)
    except (OverflowError, ZeroDivisionError, ValueError):
        return complex("inf")


@remember
def is_imaginary(expr: Expr) -> bool:
    """Whether a constant that is not real occurs in `expr`."""
    if is_constant(expr):
        return abs(evaluate(expr).imag) > 1e-9
    return any(map(is_imaginary, expr.args))


@remember
def find_flaw(expr: Expr) -> str | None:
    """What makes `expr` undefined or too large, if anything does."""
    if expr in (nan, zoo, oo, -oo):
        return "undefined: a division by 0, or a function at its pole"
    if num_nodes(expr) > MAX_NODES:
        return f"an expression of more than {MAX_NODES} nodes"
    if flaw := next(filter(None, map(find_flaw, expr.args)), None):
        return flaw
    if expr.args and expr.func not in NUMERIC:  # sin(I) is I*sinh(1)
        return f"comes out as {expr.func.__name__}(...), which has no place here"
    if isinstance(expr, Rational):
        return f"an integer beyond {MAX_BITS} bits" if integer_bits(expr) > MAX_BITS else None
    if isinstance(expr, Pow) and isinstance(expr.exp, Rational) and abs(expr.exp) > MAX_EXPONENT:
        return f"an exponent beyond {MAX_EXPONENT}"
    # SymPy evaluates constants to decide their signs, and sin(exp(10^9)) would take 10^9 bits.
    if is_constant(expr) and not 2**-MAX_BITS < (abs(evaluate(expr)) or 1) < 2**MAX_BITS:
        return f"a constant beyond 2^{MAX_BITS}, or that close to 0"
    return None


@remember
def num_terms(expr: Expr) -> int:
    """A bound on the terms of any part of `expr` once expanded, each symbol being two of them."""
    sizes = [min(num_terms(arg), MAX_TERMS + 1) for arg in expr.args]
    if isinstance(expr, Pow) and isinstance(expr.exp, Rational):
        power = ceil(abs(expr.exp))
        return comb(power + sizes[0] - 1, power)
    return sum(sizes) if isinstance(expr, Add) else 1 + expr.is_Symbol if not sizes else prod(sizes)


def x_cancels(expr: Expr) -> bool:
    """Whether no x is left after expanding, which is tried where it is quick."""
    if num_terms(expr) <= MAX_TERMS:
        # Names for constants such as 2^(1/3): `expand` can take minutes over a few of them.
        inner = [node for node in preorder_traversal(expr) if num_levels(node) and is_constant(node)]
        expr = expand(expr.xreplace({c: Dummy() for c in inner if not isinstance(c, Add | Mul)}))
    return not has_x(expr)


class Parser:
    """One pass over the tokens of a text; `nonzero` collects what the text divides by.

    A value is the list of its factors, multiplied only when the whole product is known: SymPy turns
    2*(x + 1) into 2*x + 2 at once, and then could not read back the y/(2*(x + 1)) that it prints.
    """

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.index, self.depth = text, tokenize(text), 0, 0
        self.nonzero: dict[Expr, None] = {}

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

    def check(self, expr: Expr, token: Token) -> Expr:
        if flaw := find_flaw(expr):
            self.fail(flaw, token)
        return expr

    def apply(self, function: Callable[..., Expr], *args: Expr, token: Token) -> Expr:
        # SymPy asks every node for its sign: quadratic in the depth, exponential without symbols.
        most = MAX_CONSTANT_LEVELS if all(map(is_constant, args)) else MAX_LEVELS
        if max(map(num_levels, args)) >= most:
            self.fail(f"more than {most} powers and functions inside each other", token)
        return self.check(function(*args), token)

    def multiply(self, factors: list[Expr], token: Token) -> Expr:
        powers = [arg for factor in factors for arg in Mul.make_args(factor) if arg.is_Pow]
        roots = (integer_bits(arg.base) for arg in powers if arg.base.is_Rational)
        if sum(roots) > MAX_ROOT_BITS:  # SymPy joins them: sqrt(6)*sqrt(7) is sqrt(42)
            self.fail(f"roots of integers of more than {MAX_ROOT_BITS} bits together", token)
        return self.check(Mul(*factors), token)

    def must_not_vanish(self, expr: Expr) -> None:
        if has_x(expr):
            self.nonzero[expr] = None

    def raised(self, base: Expr, exponent: Expr, token: Token) -> Expr:
        """`base**exponent`, refused before it is computed if it would be too large."""
        size = sum((abs(evaluate(t)) for t in Add.make_args(exponent) if is_constant(t)), 0.0)
        if size > MAX_EXPONENT:
            self.fail(f"an exponent beyond {MAX_EXPONENT}", token)
        # SymPy splits these into real and imaginary part to see how the powers combine.
        split = [] if exponent.is_Rational or base == E else [base]
        split += [arg.base for arg in Mul.make_args(base) if arg.is_Pow and not exponent.is_Integer]
        hard = any(num_terms(expr) > MAX_TERMS or num_levels(expr) > 2 for expr in split)
        if num_levels(exponent) > 1:
            hard |= num_terms(exponent) > MAX_TERMS or is_imaginary(exponent)
        if hard:
            self.fail("powers inside each other that are too large to combine", token)
        if base == 0 and not exponent.is_positive:
            self.fail("undefined: 0 to a power that need not be positive", token)
        if isinstance(base, Rational) and abs(base) != 1:
            most = MAX_BITS if exponent.is_Integer else MAX_ROOT_BITS
            if integer_bits(base) * max(1, ceil(size)) > most:
                self.fail(f"a power or root of an integer beyond {most} bits", token)
        if not (isinstance(exponent, Rational) and exponent > 0):
            self.must_not_vanish(base)
        return self.apply(Pow, base, exponent, token=token)

    def expression(self) -> Expr:
        first = self.token
        return self.multiply(self.sum(), first)

    def sum(self) -> list[Expr]:
        first, terms = self.token, [self.product()]
        while self.token.kind in ("+", "-"):
            terms.append(self.product())  # its first factor reads the sign
        if len(terms) == 1:
            return terms[0]
        return [self.check(Add(*[self.multiply(factors, first) for factors in terms]), first)]

    def product(self) -> list[Expr]:
        factors = self.signed()
        while (operator := self.accept("*", "/")) or self.token.kind in ("name", "("):
            first, value = self.token, self.signed()
            if operator and operator.kind == "/":
                divisor = self.multiply(value, first)
                if divisor == 0:
                    self.fail("undefined: a division by 0", first)
                self.must_not_vanish(divisor)
                value = [self.apply(Pow, f, MINUS_ONE, token=first) for f in value]
            factors += value
        if self.token.kind == "number":
            self.fail("a number right after a factor; write * or ^ between them", self.token)
        return factors

    def signed(self) -> list[Expr]:
        """Signs, then a power: every bracket and every exponent passes through here."""
        signs = []
        while sign := self.accept("+", "-"):
            signs += [MINUS_ONE] if sign.kind == "-" else []
        if self.depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH} levels", self.token)
        self.depth += 1
        first, value = self.token, self.atom()
        if self.accept("^"):
            second, exponent = self.token, self.signed()
            base, exponent = self.multiply(value, first), self.multiply(exponent, second)
            value = [self.raised(base, exponent, second)]
        self.depth -= 1
        return signs + value

    def atom(self) -> list[Expr]:
        if number := self.accept("number"):
            whole, _, decimals = number.text.partition(".")
            if len(whole + decimals) > MAX_DIGITS:
                self.fail(f"a number of more than {MAX_DIGITS} digits", number)
            return [Rational(int(whole + decimals), 10 ** len(decimals))]
        if name := self.accept("name"):
            return [self.named(name)]
        opening = self.accept("(")
        if not opening:
            self.fail(f"expected a number, name or '(' instead of {self.token.text}", self.token)
        value = self.sum()
        if not self.accept(")"):
            self.fail(f"the '(' of column {opening.position + 1} needs a ')'", self.token)
        return value

    def named(self, token: Token) -> Expr:
        name, called = token.text, self.token.kind == "("
        if name not in FUNCTIONS:
            if called and len(name) > 1 and name not in CONSTANTS:
                known = f"known: {' '.join(FUNCTIONS)}; write {name}*(...) for a product"
                self.fail(f"unknown function '{name}'; {known}", token)
            return CONSTANTS.get(name) or Symbol(name)
        if not called:
            self.fail(f"{name} needs parentheses: {name}(...)", token)
        argument = self.multiply(self.atom(), token)
        if name in ROOTS or name == "exp":
            base, exponent = (E, argument) if name == "exp" else (argument, ROOTS[name])
            return self.raised(base, exponent, token)
        if name in ("log", "ln"):
            self.must_not_vanish(argument)
        return self.apply(TRIGONOMETRY.get(name, log), argument, token=token)

    def finish(self) -> None:
        if self.token.kind != "end":
            reason = "one '=' too many" if self.token.kind == "=" else "')' without a '('"
            self.fail(reason, self.token)


def parse_expression(text: str) -> Expr:
    """Read an expression, with or without x, such as `sstr` prints."""
    parser = Parser(text)
    expr = parser.expression()
    parser.finish()
    return expr


def parse(text: str) -> Equation:
    """Read `lhs = rhs`, or `lhs` alone for `lhs = 0`."""
    parser = Parser(text)
    lhs = parser.expression()
    rhs = parser.expression() if parser.accept("=") else ZERO
    parser.finish()
    names = [token.text for token in parser.tokens if token.kind == "name"]
    if "x" not in names:
        hints = ["*".join(filter(None, n.partition("x"))) for n in names if "x" in n and len(n) < 9]
        hint = f"; did you mean {hints[0]}?" if hints else ""
        raise ParseError(text, None, f"the equation has no x{hint}")
    if x_cancels(lhs - rhs):
        raise ParseError(text, None, "x cancels out: nothing is left to solve for")
    return Equation(lhs, rhs, nonzero=tuple(parser.nonzero))
