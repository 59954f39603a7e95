"""Over the reals: sqrt(t^2) is t where t >= 0, and log(exp(t)) is t.

That t >= 0 is shown from the hypotheses: t is a positive number times a square times some of what
is known not to be negative. Which of them is found by the parity of exponents of irreducible
factors; Coq checks the product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from flint import acb, fmpq

from abel.certificate.algebra import GENS, Form, monomial
from abel.certificate.functions import MAX_SUMMANDS, Piece, exp_of, if_there, sum_text
from abel.certificate.reader import NotCovered, Tree, number, tree
from abel.certificate.statement import X, parts

ORDERS = ("<", "<=", ">", ">=")
MAX_PRIME = 1000
MOST_FACTS = 3  # that are multiplied
Factors = dict[frozenset, int]  # by the terms of the factor


@dataclass(frozen=True)
class Sign:
    """Something that is not negative: its form, its text, and the proof of 0 <= text."""

    form: Form
    text: str
    proof: str
    content: Fraction
    factors: Factors


def split(p, form: Form) -> tuple[Fraction, Factors]:
    """A number, and irreducible factors with their exponents."""
    content, found = p.algebra.factors(form.num)
    factors: Factors = {}
    for poly, e in [*found, *[(p.algebra.atoms[i].poly, -e) for i, e in form.den]]:
        key = frozenset(poly.to_dict().items())
        p.polys[key] = poly
        factors[key] = factors.get(key, 0) + e
    return content, {key: e for key, e in factors.items() if e}


def known_signs(p) -> list[Sign]:
    """What the hypotheses and the kernels say; each hypothesis is read when it is first needed."""
    if p.reading_signs:
        return p.signs
    p.reading_signs = True
    for i, condition in enumerate(p.statement.hypotheses, 1):
        if condition.op not in ORDERS or f"H'{i}" in p.read:
            continue
        inside = parts(*condition.args)
        if (X in inside and not p.has_root) or not p.open.isdisjoint(inside):
            continue
        p.read.add(f"H'{i}")
        left, right = condition.args
        if condition.op in (">", ">="):
            left, right = right, left
        form = p.algebra.add(p.value(right), p.algebra.times(p.algebra.constant(-1), p.value(left)))
        if form.num:
            text = f"({p.text(right)}) - ({p.text(left)})"
            p.signs.append(Sign(form, text, "lra", *split(p, form)))
    p.reading_signs = False
    return p.signs


def add_sign(p, form: Form, text: str, proof: str) -> None:
    if form.num:
        p.signs.append(Sign(form, text, proof, *split(p, form)))


def nonnegative(p, form: Form) -> tuple[int, str] | None:
    """1 or -1 with the proof that this times the form is not negative; None if none is found."""
    if not form.num:
        return 1, "lra"
    content, factors = split(p, form)
    signs = known_signs(p)
    for count in range(MOST_FACTS + 1):
        for chosen in combinations(signs, count):
            number, total = Fraction(1), dict.fromkeys(factors, 0)
            for sign in chosen:
                number *= sign.content
                for key, e in sign.factors.items():
                    total[key] = total.get(key, 0) + e
            gaps = {f: factors.get(f, 0) - e for f, e in total.items()}
            if any(gap % 2 for gap in gaps.values()):
                continue
            if any(gap < 0 and p.algebra.atom_of(p.polys[f]) is None for f, gap in gaps.items()):
                continue
            ratio = content / number
            return (1 if ratio > 0 else -1), proof_of_product(p, abs(ratio), chosen, gaps)
    return sum_of_signs(p, form, signs) or sign_of_number(p, form, signs)


def sign_of_number(p, form: Form, signs: list[Sign]) -> tuple[int, str] | None:
    """The sign of a sum of square roots of numbers, which Coq finds by their squares."""
    value = acb(0)
    for term in p.algebra.summands(form):
        part = acb(fmpq(term.coefficient.numerator, term.coefficient.denominator))
        for i, e in enumerate(term.monomial):
            if e and i not in p.numbers:
                return None
            part *= p.numbers[i] ** int(e) if e else 1
        value += part
    if form.den or not (value.real > 0 or value.real < 0):
        return None
    for i in [i for i, e in enumerate(form.num.degrees()) if e]:
        unit = Form(GENS[i])
        fact = next(sign for sign in signs if multiple(sign.form, unit) > 0)
        ratio = multiple(fact.form, unit)
        name, number_ = p.algebra.names[i], p.algebra.text(p.algebra.constant(ratio))
        proof = (f"replace {name} with ({number_} * {fact.text}) by ({p.by_field(fact.text)});"
                 f" apply Rmult_le_pos; [lra | {fact.proof}]")  # fmt: skip
        p.prove(f"0 <= {name}", proof, "S")
    return (1 if value.real > 0 else -1), "nra"


def sum_of_signs(p, form: Form, signs: list[Sign]) -> tuple[int, str] | None:
    """A sum of things of one sign, if they are kernels that are not negative."""
    terms = p.algebra.summands(form)
    if form.den or len({term.coefficient > 0 for term in terms}) > 1:
        return None
    for term in terms:
        if any(term.monomial):
            unit = Form(GENS[0] ** 0 * monomial(term.monomial))
            fact = next((sign for sign in signs if sign.form.key == unit.key), None)
            if fact is None:
                return None
            text = p.algebra.text(unit)
            proof = (
                f"replace ({text}) with ({fact.text}) by ({p.by_field(fact.text)}); {fact.proof}"
            )
            p.prove(f"0 <= {text}", proof, "S")
    return (1 if terms[0].coefficient > 0 else -1), "lra"


def proof_of_product(p, ratio: Fraction, chosen: tuple[Sign, ...], gaps: Factors) -> str:
    """0 <= form, which is the goal, since it is this product."""
    square = p.algebra.constant(1)
    for key, gap in gaps.items():
        i = p.algebra.atom_of(p.polys[key])
        part = Form(p.polys[key]) if gap > 0 else Form(GENS[0] ** 0, ((i, 1),)) if gap else None
        if part is not None:
            square = p.algebra.times(square, p.algebra.power(part, abs(gap) // 2))
    texts = [f"({p.algebra.text(p.algebra.constant(ratio))})", f"({p.algebra.text(square)}) ^ 2",
             *[f"({sign.text})" for sign in chosen]]  # fmt: skip
    proofs = ["lra", "apply pow2_ge_0", *[sign.proof for sign in chosen]]
    product, proof = texts[-1], proofs[-1]
    for text, each in zip(reversed(texts[:-1]), reversed(proofs[:-1])):
        product, proof = f"{text} * ({product})", f"apply Rmult_le_pos; [{each} | {proof}]"
    return (f"match goal with |- 0 <= ?t => replace t with ({product}) by"
            f" ({p.by_field(*[sign.text for sign in chosen])}) end; {proof}")  # fmt: skip


# ---- Roots of powers ----


def root_of_power(
    p, node: Tree, order: int, name: str, definition: str, value: Form
) -> tuple[Form, str] | None:
    """t for an n-th root of t^n, with the sign that it has."""
    for form in candidates(p, order, value):
        sign = nonnegative(p, form)
        if sign is None:
            continue
        form = p.algebra.times(p.algebra.constant(sign[0]), form)
        text = p.algebra.text(form)
        fact = p.prove(f"0 <= {text}", sign[1], "S")
        argument = p.text(node.args[0])
        law = (
            "apply sqrt_of_power; ["
            if order == 2
            else "apply root_of_power; [discriminate | side | "
        )
        proof = f"rewrite {definition}; {law}exact {fact} | {p.by_field(argument)}]"
        return form, proof
    return None


def candidates(p, order: int, value: Form) -> Iterator[Form]:
    """Forms whose power is the value: parts of the root and the equation, and by its factors."""
    if not value.num:
        yield value
        return
    content, factors = split(p, value)
    number = nth_root(content, order)
    if number is not None and not any(e % order for e in factors.values()):
        found = p.algebra.constant(number)
        for key, e in factors.items():
            i = p.algebra.atom_of(p.polys[key])
            part = Form(p.polys[key]) if e > 0 else Form(GENS[0] ** 0, ((i, 1),))
            found = p.algebra.times(found, p.algebra.power(part, abs(e) // order))
        yield found
    for form in list(p.values.values()):
        if len(form.num) < 40:
            try:
                power = p.algebra.power(form, order)
            except NotCovered:
                continue
            ratio = nth_root(multiple(power, value), order)
            if ratio:
                yield p.algebra.times(p.algebra.constant(ratio), form)


def multiple(f: Form, g: Form) -> Fraction:
    """The number that g is times f; 0 if there is none."""
    if f.den != g.den or len(f.num) != len(g.num) or not f.num:
        return Fraction(0)
    [first, second] = [next(iter(each.num.to_dict().items())) for each in (f, g)]
    ratio = second[1] / first[1]
    same = first[0] == second[0] and f.num * ratio == g.num
    return Fraction(int(ratio.p), int(ratio.q)) if same else Fraction(0)


def nth_root(value: Fraction, order: int) -> Fraction | None:
    if value <= 0 or value.numerator.bit_length() + value.denominator.bit_length() > 100:
        return None
    parts = [round(part ** (1 / order)) for part in value.as_integer_ratio()]
    found = Fraction(*parts)
    return found if found**order == value else None


# ---- Logarithms of exponentials ----


def log_of_number(p, node: Tree, definition: str) -> tuple[Form, str] | None:
    """The logarithm of a number by those of its prime factors."""
    value = node.args[0].rational
    exponents = prime_exponents(value) if value is not None and value > 0 else None
    if not exponents or list(exponents.values()) == [1]:
        return None
    form, found, facts = p.algebra.constant(0), [], []
    for prime, e in exponents.items():
        unit = p.value(tree("log", number(prime)))
        piece = Piece(unit, p.algebra.text(unit), e, unit)
        found.append(piece)
        facts.append(exp_of(p, piece)[1])
        form = p.algebra.add(form, p.algebra.times(p.algebra.constant(e), unit))
    sum_, laws = sum_text(found), ", ".join(["?exp_0", "?exp_add", "?exp_opp", *facts])
    proof = (f"rewrite {definition}; transitivity (log (exp ({sum_}))); [f_equal; rewrite {laws};"
             f" field | rewrite ln_exp; {p.field()}]")  # fmt: skip
    return form, proof


def prime_exponents(value: Fraction) -> dict[int, int] | None:
    """None for large prime factors, and for many factors."""
    found: dict[int, int] = {}
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime in range(2, MAX_PRIME):
            while part % prime == 0:
                part //= prime
                found[prime] = found.get(prime, 0) + sign
        if part > 1:
            return None
    return found if sum(map(abs, found.values())) <= MAX_SUMMANDS else None


def log_of_exponential(p, node: Tree, definition: str, value: Form) -> tuple[Form, str] | None:
    """t for log(exp(t)): the value is a product of powers of exponentials."""
    terms = value.num.to_dict()
    exponents: dict[int, int] = {}
    if len(terms) != 1 or set(terms.values()) != {1}:
        return None
    for i, e in enumerate(next(iter(terms))):
        if e:
            exponents[i] = int(e)
    for i, e in value.den:
        atom = p.algebra.atoms[i]
        if atom.text not in p.algebra.names:
            return None
        place = p.algebra.names.index(atom.text)
        exponents[place] = exponents.get(place, 0) - e
    found, form, facts = [], p.algebra.constant(0), []
    for i, e in exponents.items():
        if i not in p.exponents:
            return None
        unit, fact = p.exponents[i]
        found.append(Piece(unit, p.algebra.text(unit), e, unit))
        form = p.algebra.add(form, p.algebra.times(p.algebra.constant(e), unit))
        facts.append(if_there(fact))
    argument, sum_ = p.text(node.args[0]), sum_text(found)
    laws = ", ".join(["?exp_0"] * (not found) + ["?exp_add", "?exp_opp", *facts])
    middle = (f"transitivity ({p.algebra.text(value)}); [{p.by_field(argument)} |"
              f" rewrite {laws}; {p.field()}]")  # fmt: skip
    proof = (f"rewrite {definition}; transitivity (log (exp ({sum_}))); [f_equal; ({middle}) |"
             f" rewrite ln_exp; {p.field()}]")  # fmt: skip
    return form, proof
