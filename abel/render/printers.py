"""Formulas as text, LaTeX and MathML: sums with the highest power of the unknown first."""

from __future__ import annotations

import re
from html.entities import html5
from typing import Any

from sympy import Add, E, Expr, I, Mul, Pow, Rational, Symbol, UnevaluatedExpr, exp
from sympy.printing.latex import LatexPrinter
from sympy.printing.mathml import MathMLPresentationPrinter
from sympy.printing.str import StrPrinter

from abel.equation import MINUS_ONE, ONE, ZERO, caret
from abel.render.lines import Formula

LONG = 60  # characters of a side past which a formula may break between its terms
IN_LATEX = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne"}
IN_MATHML = {"<=": "≤", ">=": "≥", "!=": "≠", "<": "&lt;", ">": "&gt;"}
LATEX_SETTINGS = {"inv_trig_style": "full", "imaginary_unit": "ri"}
HALF = Rational(1, 2)
TIMES = "\u2062"  # between factors; it is not seen
BEFORE_FUNCTION = re.compile(rf"<mo>{TIMES}</mo>(?=(?:<m(?:row|sup)>)*<mi>[a-z]{{2,}}</mi>)")
AS_PEOPLE_SET = (
    ("<mo>-</mo>", "<mo>−</mo>"), ("<mn>-", "<mn>−"),
    ("<mi>ⅇ</mi>", '<mi mathvariant="normal">e</mi>'),
    ("<mi>ⅈ</mi>", '<mi mathvariant="normal">i</mi>'),
)  # fmt: skip
OF_XML = {"lt", "gt", "amp", "quot", "apos"}  # the only entities that XML knows by name


def degree(term: Expr, unknown: Symbol) -> Expr:
    """The exponent of what has the unknown in a product, as far as it is a number."""
    found = ZERO
    for factor in Mul.make_args(term):
        if not factor.has(unknown):
            continue
        base, exponent = (E, factor.args[0]) if isinstance(factor, exp) else factor.as_base_exp()
        number = exponent if base.has(unknown) else exponent.as_coeff_Mul()[0]
        found += number if number.is_Rational else 1
    return found


def is_negative(term: Expr) -> bool:
    return term.as_coeff_Mul()[0].is_negative is True


def with_joined_roots(expr: Expr) -> Expr:
    """An expression with sqrt(2*u) for sqrt(2)*sqrt(u), which SymPy takes apart. Numbers are
    positive, so that this holds on every branch.
    """
    if not expr.args:
        return expr
    args = [with_joined_roots(arg) for arg in expr.args]
    if isinstance(expr, Mul):
        args = joined(args)
    if args == list(expr.args):
        return expr
    alone = isinstance(expr, Mul) and len(args) == 1
    return args[0] if alone else expr.func(*args, evaluate=False)


def joined(factors: list[Expr]) -> list[Expr]:
    """The factors of a product, the root of a product with letters as one with those of numbers."""
    target = next((f for f in factors if is_root(f) and f.base.free_symbols
                   and not isinstance(f.base, Add)), None)  # fmt: skip
    if target is None:
        return factors
    index = ONE / target.exp
    own = [f for f in factors if is_root_of_number(f, index)]
    if not own:
        return factors
    inside = Mul(*(f.base ** (f.exp * index) for f in own))
    others = [f for f in factors if f is not target and f not in own]
    inside, others = with_number(inside, others, index)
    # SymPy leaves this base alone, whatever printers do with the product.
    return [*others, Pow(UnevaluatedExpr(inside * target.base), target.exp)]


def with_number(inside: Expr, others: list[Expr], index: Expr) -> tuple[Expr, list[Expr]]:
    """A rational factor within the root if that makes no number larger; its sign stays outside."""
    number = next((f for f in others if f.is_Rational), ONE)
    taken_in = inside * abs(number) ** index
    if number is ONE or height(taken_in) > max(height(inside), height(number)):
        return inside, others
    sign = [MINUS_ONE] * (number.is_negative is True)
    return taken_in, [*sign, *(f for f in others if f != number)]


def is_root(factor: Expr) -> bool:
    return isinstance(factor, Pow) and factor.exp.is_Rational and factor.exp.p == 1 < factor.exp.q


def is_root_of_number(factor: Expr, index: Expr) -> bool:
    """Whether this is a power of the root of a positive number, with this index."""
    if not isinstance(factor, Pow) or not (factor.base.is_number and factor.base.is_positive):
        return False
    return not factor.exp.is_Integer and (factor.exp * index).is_Integer is True


def height(number: Expr) -> int:
    rational = number.as_coeff_Mul()[0]
    return max(abs(int(rational.p)), int(rational.q))


class ByPowers:
    """A printer of SymPy that writes the highest power of the unknown first."""

    unknown: Symbol

    def _as_ordered_terms(self, expr: Expr, order: Any = None) -> list[Expr]:
        terms = super()._as_ordered_terms(expr, order=order)  # type: ignore[misc]
        terms = sorted(terms, key=lambda t: (-degree(t, self.unknown), t.has(I)))
        # c - b rather than -b + c, and 2 - x rather than -x + 2
        highest = degree(terms[0], self.unknown)
        ahead = [t for t in terms if len(terms) == 2 or degree(t, self.unknown) == highest]
        if any(term.has(I) for term in terms):  # -2 + 3*I: the real part stands first
            ahead = terms[:1]
        first = next((term for term in ahead if not is_negative(term)), terms[0])
        return sorted(terms, key=lambda term: term is not first)


class Text(ByPowers, StrPrinter):
    def _print_Abs(self, expr: Expr) -> str:
        inside = self._print(expr.args[0])
        return f"abs({inside})" if "|" in inside else f"|{inside}|"


class Principal:
    """A printer with root signs, but for the principal roots of negative numbers: the cube root of
    -1 is read as -1.
    """

    _settings: dict[str, Any]

    def _print_Pow(self, expr: Pow, *args: Any) -> Any:
        signs = self._settings["root_notation"]
        negative = expr.base.is_Rational and expr.base.is_negative and expr.exp != HALF
        self._settings["root_notation"] = signs and not negative
        try:
            return super()._print_Pow(expr, *args)  # type: ignore[misc]
        finally:
            self._settings["root_notation"] = signs


class Latex(ByPowers, Principal, LatexPrinter):
    """Euler's number is upright, for the letter e is a coefficient."""

    def _print(self, expr: Any, **rest: Any) -> str:
        return r"\mathrm{e}" if expr is E else super()._print(expr, **rest)

    def _print_ExpBase(self, expr: Expr, exp: str | None = None) -> str:
        raised = rf"\mathrm{{e}}^{{{self._print(expr.args[0])}}}"
        return raised if exp is None else rf"\left({raised}\right)^{{{exp}}}"


class MathML(ByPowers, Principal, MathMLPresentationPrinter):
    def _print_UnevaluatedExpr(self, expr: Expr) -> Any:
        return self._print(expr.args[0])


def written(printer: Any, formula: Formula, signs: dict[str, str]) -> str:
    printer.unknown = formula.unknown
    lhs = printer.doprint(with_joined_roots(formula.lhs))
    if formula.rhs is None:
        return lhs
    sign = signs.get(formula.relation, formula.relation)
    return f"{lhs} {sign} {printer.doprint(with_joined_roots(formula.rhs))}"


def as_text(formula: Formula) -> str:
    return caret(written(Text(), formula, {}))


def as_latex(formula: Formula) -> str:
    return written(Latex(LATEX_SETTINGS), formula, IN_LATEX)


def as_mathml(formula: Formula) -> list[str]:
    """The formula as elements that stand in a row. A long one comes in several: a browser breaks
    lines between elements, never inside one.
    """
    printer = MathML()
    printer.unknown = formula.unknown
    pieces = terms_of_side(printer, formula.lhs)
    if formula.rhs is not None:
        first, *others = terms_of_side(printer, formula.rhs)
        sign = IN_MATHML.get(formula.relation, formula.relation)
        pieces += [f'<mo form="infix">{sign}</mo>{first}', *others]
    if len(pieces) <= 2 and len(as_text(formula)) <= LONG:
        pieces = ["".join(pieces)]
    return [f"<math><mrow>{piece}</mrow></math>" for piece in pieces]


def terms_of_side(printer: MathML, side: Expr) -> list[str]:
    """A side, or its terms if it is a long sum, each but the first with its sign before it."""
    side = with_joined_roots(side)
    if not isinstance(side, Add) or len(as_text(Formula(side))) <= LONG:
        return [presented(printer.doprint(side))]
    pieces = []
    for n, term in enumerate(printer._as_ordered_terms(side)):
        minus = n > 0 and is_negative(term)
        sign = f'<mo form="infix">{"−" if minus else "+"}</mo>' if n else ""
        pieces.append(sign + presented(printer.doprint(-term if minus else term)))
    return pieces


def presented(mathml: str) -> str:
    """MathML by SymPy with minus signs, upright e and i, and a space before functions."""
    mathml = characters(mathml)
    for old, new in AS_PEOPLE_SET:
        mathml = mathml.replace(old, new)
    return BEFORE_FUNCTION.sub(f'<mo lspace="0.17em">{TIMES}</mo>', mathml)


def characters(mathml: str) -> str:
    """MathML without entities that are known by name in HTML only: `&pi;` becomes the letter."""

    def character(match: re.Match[str]) -> str:
        name = match[1]
        return match[0] if name in OF_XML else html5.get(f"{name};", match[0])

    return re.sub(r"&(\w+);", character, mathml)
