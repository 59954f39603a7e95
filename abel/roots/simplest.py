"""The simplest form of a root that is proved to be equal to the one found.

Guesses come from certified numbers: rational, of degree two, a root of a rational, a multiple of
pi, a logarithm, a power of e. They come from rules as well, such as log(exp(u)) = u. A guess
counts only if it is proved: as a root of the same minimal polynomial in a ball that no other root
is in, or by the solving criterion. Without a proof the root stays as it was found. All is bounded
by sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import lcm

import mpmath
import sympy as sp
from flint import acb, arb, fmpq, fmpz_mat
from sympy import Add, Expr, I, Integer, Mul, Pow, Rational, exp, log, pi, sqrt, sstr

from abel.equation import Equation, X, num_nodes
from abel.render import Formula, as_text
from abel.rewrite import difference, rebuild
from abel.roots.polynomial import Isolated, isolated_roots, the_one
from abel.roots.values import BITS, ball_of_number, has_cut
from abel.verify import precision, verify_root

MAX_NODES = 160  # of a root that is looked at part by part
MAX_PROVED_NODES = 60  # of two forms that the criterion is asked to compare
MAX_LETTER_NODES = 80  # of a root with letters that is brought to one denominator
SURE_BITS = 200  # of a ball from which a form is guessed
MAX_DENOMINATOR, MAX_HEIGHT = 10**9, 10**6  # of guessed rationals, and of quadratic polynomials
MAX_BITS = 256  # of a guessed numerator
MAX_POWER = 6  # of a number that may be a root of a simpler one
SCALE_BITS = 120  # with which a quadratic polynomial is looked for


def simplest(equation: Equation, root: Expr) -> Expr:
    """The simplest form known of a proved root of the equation; the root itself if there is none.

    Families in integers stay as they are.
    """
    if any(symbol.is_integer for symbol in root.free_symbols):
        return root
    if root.free_symbols:
        return simplest_with_letters(root)
    return root if root.is_Rational else simplest_without_letters(equation, root)


def simplest_without_letters(equation: Equation, root: Expr) -> Expr:
    roots = [] if equation.coefficients else isolated_roots(equation) or []
    place = the_one(roots, ball_of_number(root)) if roots else None
    if place is not None and place.factor.degree() == 1:
        return next(forms_of_root(place))  # nothing is simpler than a rational number
    forms = [root] if num_nodes(root) > MAX_NODES else [root, simplest_number(root)]
    ball = ball_of_number(forms[-1])
    place = the_one(roots, ball)
    if place is not None:
        forms += [form for form in forms_of_root(place) if is_at(form, place, roots)]
    return best(forms, is_real=real_for_sure(place, ball))


def best(forms: list[Expr], is_real: bool) -> Expr:
    return min(forms, key=lambda form: measure(form, is_real))


def measure(form: Expr, is_real: bool) -> tuple[bool, int, int, int, str]:
    """What is simpler has less of it: rational, few detours through complex numbers, few nodes,
    small numbers.
    """
    digits = sum(len(str(number)) for number in form.atoms(Rational))
    detours = num_detours(form) + is_real * form.count(I)
    return not form.is_Rational, detours, num_nodes(form), digits, sstr(form)


def num_detours(form: Expr) -> int:
    """How many roots and logarithms are taken of a number that is not positive, and powers of e
    with an imaginary exponent.
    """
    inside = [part.args[0] for part in sp.preorder_traversal(form) if has_cut(part)]
    balls = [None if part.free_symbols else ball_of_number(part) for part in inside]
    odd = sum(ball is not None and not (ball.imag.is_zero() and ball.real > 0) for ball in balls)
    return odd + sum(part.has(I) for part in form.atoms(exp))


def real_for_sure(place: Isolated | None, ball: acb | None) -> bool:
    if place is not None:
        return place.is_real
    return ball is not None and ball.imag.is_zero()


# ---- Roots of polynomials ----


def is_at(form: Expr, place: Isolated, roots: list[Isolated]) -> bool:
    """Whether a form is proved to be the root at this place: it is a root of the place's factor,
    by Viete's formula or the criterion, and can be no other root.
    """
    if the_one(roots, ball_of_number(form)) is not place:
        return False
    if form.has(sp.sin, sp.cos):
        return True
    factor = Equation(Add(*[Integer(int(c)) * X**k for k, c in enumerate(place.factor.coeffs())]))
    return bool(verify_root(factor, form))


def forms_of_root(place: Isolated) -> Iterator[Expr]:
    """Closed forms that a root of a factor may have, by the factor's shape."""
    coefficients = [Integer(int(c)) for c in place.factor.coeffs()]
    degree = len(coefficients) - 1
    if degree == 1:
        yield -coefficients[0] / coefficients[1]
    if degree == 2:
        yield from roots_of_quadratic(*coefficients)
    if degree == 3 and place.is_real:
        yield from trigonometric_roots(*coefficients)
    used = [k for k, c in enumerate(coefficients) if c]
    step = sp.igcd(*used)
    if step == 1 or degree // step > 2:
        return
    inner = coefficients[::step]
    values = [-inner[0] / inner[1]] if len(inner) == 2 else [*roots_of_quadratic(*inner)]
    for value in values:
        for sign in (1, -1):  # an odd root of a negative number is real with the sign outside
            for inside in (1, -1):
                yield sign * Pow(inside * value, Rational(1, step))


def roots_of_quadratic(c: Expr, b: Expr, a: Expr) -> Iterator[Expr]:
    for sign in (1, -1):
        yield -b / (2 * a) + sign * sqrt(b**2 - 4 * a * c) / (2 * a)


def trigonometric_roots(d: Expr, c: Expr, b: Expr, a: Expr) -> Iterator[Expr]:
    """Of a cubic with three real roots, by Viete's formula: radicals need complex numbers there."""
    p, q = (3 * a * c - b**2) / (3 * a**2), (2 * b**3 - 9 * a * b * c + 27 * a**2 * d) / (27 * a**3)
    if p >= 0 or 4 * p**3 + 27 * q**2 >= 0:
        return
    angle = sp.acos(3 * q / (2 * p) * sqrt(-3 / p)) / 3
    for k in range(3):
        yield 2 * sqrt(-p / 3) * sp.cos(angle - 2 * pi * k / 3) - b / (3 * a)


# ---- Numbers ----


def simplest_number(expr: Expr) -> Expr:
    """The simplest form known of a number, its parts first; of the numbers in an expression with
    letters.
    """
    if not expr.args or expr.is_Rational:
        return expr
    args = [simplest_number(arg) for arg in expr.args]
    if args != list(expr.args):
        expr = rebuild(expr, args)
    if expr.free_symbols or expr.is_Rational:
        return expr
    ball = ball_of_number(expr)
    if ball is None or not expr.args:
        return expr
    is_real = ball.imag.is_zero() or is_small(ball.imag)
    forms = sorted(guesses(expr, ball), key=lambda form: measure(form, is_real))
    mine = measure(expr, is_real)
    for form in forms:
        if measure(form, is_real) >= mine:
            return expr
        if is_proved_equal(expr, form) or is_by_definition(expr, form):
            return form
    return expr


def is_by_definition(expr: Expr, form: Expr) -> bool:
    """Whether W(u) is the form w: w*exp(w) = u, and w is real and above -1."""
    if not isinstance(expr, sp.LambertW) or len(expr.args) > 1:
        return False
    ball = ball_of_number(form)
    if ball is None or not (ball.imag.is_zero() and ball.real > -1):
        return False
    return is_proved_equal(form * exp(form), expr.args[0])


def is_proved_equal(first: Expr, second: Expr) -> bool:
    """Whether two numbers, or for almost all letters two expressions, are one on every branch."""
    if num_nodes(first) + num_nodes(second) > MAX_PROVED_NODES:
        return False
    verdict = verify_root(Equation(difference(X, second)), first)
    return bool(verdict) and verdict.valid_when is None


def guesses(expr: Expr, ball: acb) -> list[Expr]:
    """Forms that have the same number, as far as so many bits tell."""
    if ball.rad() > arb(2) ** -SURE_BITS * (1 + abs(ball)):
        return []
    found: dict[Expr, None] = dict.fromkeys(ruled(expr))
    with precision(BITS):
        for rule in (rational, quadratic, multiple_of_pi, power_of_e, logarithm, root_of_simpler):
            found.update(dict.fromkeys(rule(ball)))
        return [form for form in found if form != expr and is_near(form, ball)]


def is_near(form: Expr, ball: acb) -> bool:
    other = ball_of_number(form)
    return other is not None and other.overlaps(ball)


def is_small(number: arb) -> bool:
    return abs(number) < arb(2) ** -SURE_BITS


def as_rational(number: arb) -> Rational | None:
    """The only simple rational that a ball may be."""
    if is_small(number):
        return sp.S.Zero
    if not number.is_finite() or not abs(number) < arb(2) ** MAX_BITS:
        return None
    middle = number.mid().fmpq()
    found = Rational(int(middle.p), int(middle.q)).limit_denominator(MAX_DENOMINATOR)
    return found if is_small(number - fmpq(int(found.p), int(found.q))) else None


def rational(ball: acb) -> Iterator[Expr]:
    real, imag = as_rational(ball.real), as_rational(ball.imag)
    if real is not None and imag is not None:
        yield real + imag * I


def quadratic(ball: acb) -> Iterator[Expr]:
    """Roots of a polynomial of degree two with small integer coefficients."""
    if is_small(ball.imag):
        row = relation([arb(1), ball.real, ball.real**2])
    else:
        trace, norm = as_rational(2 * ball.real), as_rational(ball.real**2 + ball.imag**2)
        row = None
        if trace is not None and norm is not None:
            scale = lcm(int(trace.q), int(norm.q))
            row = [int(norm * scale), int(-trace * scale), scale]
    if row is not None and row[2]:
        yield from roots_of_quadratic(*map(Integer, row))


def relation(numbers: list[arb]) -> list[int] | None:
    """Small integers with which these numbers sum to 0, found by LLL."""
    if not all(number.is_finite() and abs(number) < arb(2) ** MAX_BITS for number in numbers):
        return None
    size = len(numbers)
    scaled = [(number * arb(2) ** SCALE_BITS).mid().fmpq() for number in numbers]
    last = [int(q.p) // int(q.q) for q in scaled]
    rows = [[int(i == j) for j in range(size)] + [last[i]] for i in range(size)]
    shortest = fmpz_mat(rows).lll().tolist()[0][:size]
    found = [int(c) for c in shortest]
    return found if max(map(abs, found)) <= MAX_HEIGHT else None


def multiple_of_pi(ball: acb) -> Iterator[Expr]:
    yield from (form * pi for form in rational(ball / arb.pi()))


def power_of_e(ball: acb) -> Iterator[Expr]:
    if not ball.contains(0):
        inside = ball.log()
        yield from (exp(form) for rule in (rational, multiple_of_pi) for form in rule(inside))


def logarithm(ball: acb) -> Iterator[Expr]:
    if abs(ball) < MAX_BITS:
        yield from (log(form) for form in rational(ball.exp()) if form)


def root_of_simpler(ball: acb) -> Iterator[Expr]:
    for k in range(2, MAX_POWER + 1):
        for value in rational(ball**k):
            root = Pow(value, Rational(1, k))
            yield from (root, -root, -Pow(-value, Rational(1, k)))
    for value in quadratic(ball**2):
        yield from (sqrt(value), -sqrt(value))


def ruled(expr: Expr) -> Iterator[Expr]:
    """What school rules make of an expression, whether they hold here or not."""
    for rule, how in (
        (sp.expand, {}), (sp.expand_log, {"force": True}), (sp.sqrtdenest, {}),
        (sp.radsimp, {"max_terms": 2}),
    ):  # fmt: skip
        try:
            yield rule(expr, **how)
        except Exception:  # SymPy raises anything; a guess less is no harm
            continue
    if isinstance(expr, log) and isinstance(expr.args[0], exp):
        yield expr.args[0].args[0]
    if isinstance(expr, log) and isinstance(expr.args[0], Pow):
        yield expr.args[0].exp * log(expr.args[0].base)
    if isinstance(expr, Pow) and isinstance(expr.base, Pow | exp):
        base, inside = expr.base.as_base_exp()
        yield Pow(base, inside * expr.exp)


# ---- Letters ----


def inside_roots(expr: Expr, rule: Callable[[Expr], Expr]) -> Expr:
    """An expression with what stands under its roots written otherwise."""
    if not expr.args:
        return expr
    args = [inside_roots(arg, rule) for arg in expr.args]
    if isinstance(expr, Pow) and expr.exp.is_Rational and not expr.exp.is_Integer:
        args[0] = min(args[0], rule(args[0]), key=length)
    return expr if args == list(expr.args) else rebuild(expr, args)


def length(form: Expr) -> tuple[int, int, str]:
    """What is shown has I as often as it must, no minus before a bracket with another, no fractions
    inside of fractions; and it is short.
    """
    nodes = [*sp.preorder_traversal(form)]
    odd = sum(node == I or is_double_minus(node) or is_stacked(node) for node in nodes)
    text = sstr(form)
    return odd, len(text), text


def is_double_minus(node: Expr) -> bool:
    """Whether this is like -(a - b)/c or -c/(a - b), which are (b - a)/c and c/(b - a)."""
    return without_minus(node) != node


def is_stacked(node: Expr) -> bool:
    """Whether this is like (a/b + c)/d or 1/(a/b + c)."""
    factors = [factor.as_base_exp() for factor in Mul.make_args(node)]
    divided = any(power.is_negative for _, power in factors)
    sums = [base for base, power in factors if isinstance(base, Add) and power.is_Integer]
    return divided and any(has_denominator(term) for each in sums for term in each.args)


def has_denominator(term: Expr) -> bool:
    """Whether something with letters stands below."""
    return any(p.is_negative and b.free_symbols for b, p in
               (factor.as_base_exp() for factor in Mul.make_args(term)))  # fmt: skip


def without_minus(node: Expr) -> Expr:
    """A product with its minus in the first of its sums that has another one."""
    if not isinstance(node, Mul) or not node.as_coeff_Mul()[0].is_negative:
        return node
    for factor in node.args:
        base, power = factor.as_base_exp()
        if not isinstance(base, Add) or not power.is_Integer or power % 2 == 0:
            continue
        if any(term.as_coeff_Mul()[0].is_negative for term in base.args):
            turned = Pow(Add(*[-term for term in base.args]), power)
            return Mul(-1, *(turned if each is factor else each for each in node.args))
    return node


def without_double_minuses(expr: Expr) -> Expr:
    if not expr.args:
        return expr
    args = [without_double_minuses(arg) for arg in expr.args]
    return without_minus(expr if args == list(expr.args) else rebuild(expr, args))


COMBINATIONS: tuple[Callable[[Expr], Expr], ...] = (
    sp.together, sp.factor_terms, sp.cancel, lambda expr: sp.factor(sp.together(expr)),
    lambda expr: inside_roots(expr, sp.expand),
    lambda expr: inside_roots(expr, sp.cancel), without_double_minuses,
    lambda expr: without_double_minuses(sp.factor(sp.together(expr))),
)  # fmt: skip


def simplest_with_letters(root: Expr) -> Expr:
    """Its numbers in their simplest form, and what is shorter of the forms of school algebra."""
    if num_nodes(root) > MAX_NODES:
        return root
    root = simplest_number(root)
    if num_nodes(root) > MAX_LETTER_NODES:
        return root
    forms = []
    for combine in COMBINATIONS:
        try:
            forms.append(combine(root))
        except (sp.PolynomialError, NotImplementedError, ZeroDivisionError):
            continue
    for form in sorted(forms, key=length):
        if length(form)[:2] >= length(root)[:2]:
            return root
        if is_proved_equal(root, form):
            return form
    return root


# ---- Print ----


def written(form: Expr) -> str:
    """A form as text; a sum of square roots and rationals over one denominator."""
    terms = Add.make_args(form)
    plain = all(part.base.is_Rational for part in form.atoms(Pow)) and not form.free_symbols
    if not plain or len(terms) == 1 or form.atoms(sp.Function, sp.NumberSymbol):
        return as_text(Formula(form))
    denominator = lcm(*(int(term.as_coeff_Mul()[0].q) for term in terms))
    if denominator == 1:
        return as_text(Formula(form))
    top = Add(*[term * denominator for term in terms])
    return as_text(Formula(Mul(Rational(1, denominator), top, evaluate=False)))


def number_beside(form: Expr, digits: int = 7) -> str:
    """Such as "= 0.5" or "about 1.618034" for a number; nothing for integers and what is
    made of them and I, for letters, or for what is no number to so many digits.
    """
    if form.free_symbols or form.is_Integer:
        return ""
    ball = ball_of_number(form)
    if ball is None or not ball.rad() <= arb(10) ** -(2 * digits) * abs(ball):
        return ""
    parts = [decimal(part, abs(ball), digits) for part in (ball.real, ball.imag)]
    exact = form - Rational(parts[0]) - Rational(parts[1]) * I == 0
    if exact and all(Rational(part).is_Integer for part in parts):
        return ""
    return f"{'=' if exact else 'about'} {as_sum(*parts)}"


def as_sum(real: str, imag: str) -> str:
    if imag == "0":
        return real
    if real == "0":
        return f"{imag}*I"
    return f"{real} - {imag[1:]}*I" if imag[0] == "-" else f"{real} + {imag}*I"


def decimal(part: arb, size: arb, digits: int) -> str:
    """A part of a number in so many digits; 0 if it is nothing beside the number's size."""
    if abs(part) < arb(10) ** -(2 * digits) * size:
        return "0"
    return str(mpmath.nstr(mpmath.mpmathify(part.mid()), digits)).removesuffix(".0")
