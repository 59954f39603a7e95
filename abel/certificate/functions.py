"""The laws of exp, log and the trigonometric functions, as steps of a proof.

An argument is taken apart into summands: exp(2*s + t) is exp(s)^2*exp(t), and sin and cos of a sum
follow from those of its summands. Each summand has a variable for its exponential, or two for its
sine and cosine, unless it is a logarithm or an arc function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from abel.certificate.algebra import CONTEXT, GENS, POLY_ONE, Form, Rule
from abel.certificate.reader import NotCovered, Tree, number, tree

MAX_SUMMANDS = 24  # each becomes a factor


class Rescale(Exception):
    """A function is needed of a smaller part of a summand: the proof begins anew."""


@dataclass(frozen=True)
class Piece:
    """A summand of an argument: `count` times what `text` says."""

    unit: Form
    text: str
    count: int
    whole: Form  # the unit times its scale: an arc function or a logarithm, perhaps


def pieces(p, family: str, value: Form) -> list[Piece]:
    found = []
    for s in p.algebra.summands(value):
        basis = (family, s.monomial, s.den)
        whole = Form(CONTEXT.from_dict({s.monomial: fmpq(1)}), s.den)
        least = 2 if family == "angle" and p.algebra.text(whole) == "pi" else 1
        scale = p.scales.get(basis, least)
        count = s.coefficient * scale
        if count.denominator > 1:
            p.scales[basis] = math.lcm(scale, s.coefficient.denominator)
            raise Rescale
        unit = Form(whole.num / scale, s.den)
        found.append(Piece(unit, p.algebra.text(unit), int(count), whole))
    if sum(abs(piece.count) for piece in found) > MAX_SUMMANDS:
        raise NotCovered("too large a multiple of an angle or an exponent")
    return found


def if_there(fact: str) -> str:
    """As `rewrite` takes it for something that need not occur."""
    return f"<- ?{fact[3:]}" if fact.startswith("<- ") else f"?{fact}"


def sum_text(found: list[Piece]) -> str:
    """t + (t + - s), as the laws of sums take it apart."""
    terms = [f"({piece.text})" if piece.count > 0 else f"- ({piece.text})"
             for piece in found for _ in range(abs(piece.count))]  # fmt: skip
    text = terms[-1] if terms else "0"
    for term in reversed(terms[:-1]):
        text = f"{term} + ({text})"
    return text


def in_pieces(p, function: str, definition: str, argument: str, value: Form, sum_: str) -> str:
    """The first half of a proof: the argument is the sum of the pieces."""
    same = f"transitivity ({p.algebra.text(value)}); [{p.by_field(argument)} | {p.field()}]"
    return f"rewrite {definition}; transitivity ({function} ({sum_})); [f_equal; ({same}) |"


# ---- exp ----


def exponential(p, definition: str, node: Tree, value: Form) -> tuple[Form, str]:
    found = pieces(p, "exp", value)
    form, facts = p.algebra.constant(1), []
    for piece in found:
        part, fact = exp_of(p, piece)
        if piece.count < 0:
            inverse = p.invert(part, f"apply (exp_nonzero ({piece.text}))", f"rewrite {fact}")
            if len(part.num) > 1:
                text = p.factored(part)
                fact = p.prove(f"exp ({piece.text}) = {text}", f"rewrite {fact}; {p.field()}")
            part = inverse
        facts.append(if_there(fact))
        form = p.algebra.times(form, p.algebra.power(part, abs(piece.count)))
    half = in_pieces(p, "exp", definition, p.text(node.args[0]), value, sum_text(found))
    laws = ", ".join(["?exp_0"] * (not found) + ["?exp_add", "?exp_opp", *dict.fromkeys(facts)])
    return form, f"{half} rewrite {laws}; {p.field()}]"


def exp_of(p, piece: Piece) -> tuple[Form, str]:
    """exp of a piece, and the fact that says so."""
    key = ("exp", piece.unit.key)
    if key not in p.kernels:
        kind, log_definition, log = p.kernels.get(("at", piece.whole.key), (None, None, None))
        if kind == "log":
            p.kernels[key] = exp_of_log(p, piece, log_definition, log)
        else:
            name, definition = p.name("e", f"exp ({piece.text})")
            i = p.algebra.generator(name)
            form = Form(GENS[i])
            p.exponents[i] = (piece.unit, f"<- {definition}")
            p.add_sign(form, name, f"rewrite {definition}; left; apply exp_pos")
            p.not_0(form.num, name, f"rewrite {definition}; apply exp_nonzero")
            p.kernels[key] = (form, f"<- {definition}")
    return p.kernels[key]


def exp_of_log(p, piece: Piece, definition: str, log: Tree) -> tuple[Form, str]:
    """exp(log(u)/n) is an n-th root of u."""
    argument, u = p.text(log.args[0]), p.values[log.args[0]]
    name = p.algebra.text(piece.whole)
    law = f"rewrite {definition}; transitivity ({argument}); [apply log_law; side | "
    fact = p.prove(f"exp ({name}) = {p.algebra.text(u)}", f"{law}{p.by_field(argument)}]")
    order = round(1 / part_of(piece))
    if order == 1:
        return u, fact
    root, root_definition = p.name("v", f"exp ({piece.text})")
    many = sum_text([Piece(piece.unit, piece.text, order, piece.whole)])
    proof = (f"rewrite {root_definition}; transitivity (exp ({many})); [rewrite ?exp_add; ring |"
             f" transitivity (exp ({name})); [f_equal; field; nonzero |"
             f" exact {fact}]]")  # fmt: skip
    power = p.prove(f"{root} ^ {order} = {p.algebra.text(u)}", proof, "P")
    form, proof = p.radical(root, order, u, power)
    equation = p.prove(f"{root} = {p.algebra.text(form)}", proof)
    text = p.algebra.text(form)
    proof = f"rewrite <- {root_definition}; exact {equation}"
    return form, p.prove(f"exp ({piece.text}) = {text}", proof)


def part_of(piece: Piece) -> Fraction:
    """Which part of the whole a piece is."""
    [c], [d] = piece.unit.num.coeffs(), piece.whole.num.coeffs()
    return Fraction(int(c.p), int(c.q)) / Fraction(int(d.p), int(d.q))


# ---- sin, cos, tan ----


def angle(p, node: Tree, value: Form) -> Form:
    found = pieces(p, "angle", value)
    sine, cosine, facts = p.algebra.constant(0), p.algebra.constant(1), []
    for piece in found:
        (s, s_fact), (c, c_fact) = sin_and_cos(p, piece)
        facts += [if_there(s_fact), if_there(c_fact)]
        for _ in range(abs(piece.count)):
            sine, cosine = turned(p, sine, cosine, s, c, piece.count > 0)
    name, definition, text = p.cut(node, "v")
    p.defined_by[node] = definition
    half = in_pieces(p, node.op, definition, text_of_argument(p, node), value, sum_text(found))
    zero = ["?sin_0", "?cos_0"] * (not found)
    rewriting = f"rewrite {', '.join([*zero, *dict.fromkeys(facts)])}; " if facts or zero else ""
    form = sine if node.op == "sin" else cosine
    return p.known(node, name, form, f"{half} expand; {rewriting}{p.field()}]")


def text_of_argument(p, node: Tree) -> str:
    return p.text(node.args[0])


def turned(p, sine: Form, cosine: Form, s: Form, c: Form, on: bool) -> tuple[Form, Form]:
    """sin and cos of a sum, or of a difference."""
    times, add = p.algebra.times, p.algebra.add
    s = s if on else times(p.algebra.constant(-1), s)
    minus = times(p.algebra.constant(-1), s)
    return add(times(sine, c), times(cosine, s)), add(times(cosine, c), times(sine, minus))


def sin_and_cos(p, piece: Piece) -> tuple[tuple[Form, str], tuple[Form, str]]:
    key = ("angle", piece.unit.key)
    if key not in p.kernels:
        kind, definition, node = p.kernels.get(("at", piece.whole.key), (None, None, None))
        if p.algebra.text(piece.whole) == "pi":
            if part_of(piece) != Fraction(1, 2):
                raise NotCovered("parts of pi that are no multiples of pi/2")
            p.kernels[key] = (
                (p.algebra.constant(1), "sin_half"),
                (p.algebra.constant(0), "cos_half"),
            )
        elif kind in ("asin", "acos", "atan"):
            if part_of(piece) != 1:
                raise NotCovered(f"a part of {kind}(u) as an angle")
            p.kernels[key] = arc(p, kind, piece.text, definition, node)
        else:
            p.kernels[key] = free_angle(p, piece.text)
    return p.kernels[key]


def free_angle(p, text: str) -> tuple[tuple[Form, str], tuple[Form, str]]:
    found = []
    for function in ("cos", "sin"):
        name, definition = p.name(function[0], f"{function} ({text})")
        found.append((name, definition, p.algebra.generator(name)))
    (c, c_definition, i), (s, s_definition, j) = found
    proof = f"rewrite {s_definition}, {c_definition}; apply sin_square"
    fact = p.prove(f"{s} ^ 2 = 1 - {c} ^ 2", proof, "R")
    p.algebra.rules.append(Rule({j: 2}, POLY_ONE - GENS[i] ** 2, fact))
    return (Form(GENS[j]), f"<- {s_definition}"), (Form(GENS[i]), f"<- {c_definition}")


def arc(
    p, kind: str, name: str, definition: str, node: Tree
) -> tuple[tuple[Form, str], tuple[Form, str]]:
    """sin and cos of asin(u), acos(u), atan(u)."""
    argument, u = p.text(node.args[0]), p.values[node.args[0]]
    times, add, constant = p.algebra.times, p.algebra.add, p.algebra.constant
    other = "sin" if kind == "acos" else "cos"
    if kind == "atan":
        divisor = tree("+", number(1), tree("power", node.args[0], value=2))
        square = p.inverse(divisor)
        back = f"rewrite <- {p.defined_by[divisor]}; " if divisor in p.cuts else ""
        law = (f"rewrite {definition}, atan_cos; [{back}{p.by_field(p.text(divisor))} |"
               f" {back}assumption]")  # fmt: skip
    else:
        own = "sin" if kind == "asin" else "cos"
        proof = (f"rewrite {definition}; transitivity ({argument}); [apply {kind}_law; side |"
                 f" {p.by_field(argument)}]")  # fmt: skip
        fact = p.prove(f"{own} {name} = {p.algebra.text(u)}", proof)
        square = add(constant(1), times(constant(-1), times(u, u)))
        law = f"rewrite {other}_square, {fact}; {p.field()}"
    root, root_definition = p.name("v", f"{other} {name}")
    goal = f"{root} ^ 2 = {p.algebra.text(square)}"
    power = p.prove(goal, f"rewrite {root_definition}; {law}", "P")
    form, proof = p.radical(root, 2, square, power)
    equation = p.prove(f"{root} = {p.algebra.text(form)}", proof)
    text = f"{other} {name} = {p.algebra.text(form)}"
    other_fact = p.prove(text, f"rewrite <- {root_definition}; exact {equation}")
    if kind == "asin":
        return (u, fact), (form, other_fact)
    if kind == "acos":
        return (form, other_fact), (u, fact)
    sine = times(u, form)
    proof = (f"transitivity (({argument}) * cos {name}); [rewrite {definition}; apply atan_law;"
             f" {back}assumption | rewrite {other_fact};"
             f" {p.by_field(argument)}]")  # fmt: skip
    return (sine, p.prove(f"sin {name} = {p.algebra.text(sine)}", proof)), (form, other_fact)


def tangent(p, node: Tree) -> Form:
    """tan(u) is sin(u)/cos(u)."""
    ways = [tree(name, node.args[0]) for name in ("sin", "cos")]
    sine, cosine = p.value(ways[0]), p.inverse(ways[1])
    form = p.algebra.times(sine, cosine)
    name, definition, _ = p.cut(node, "v")
    back = ", ".join(f"<- {p.defined_by[way]}" for way in ways)
    facts = p.by_field(*[p.cuts[way][0] for way in ways])
    proof = (f"rewrite {definition}, tan_law; [rewrite {back}; {facts} |"
             f" rewrite <- {p.defined_by[ways[1]]}; assumption]")  # fmt: skip
    return p.known(node, name, form, proof)


# ---- LambertW ----


def lambert(p, node: Tree, name: str, definition: str, value: Form) -> tuple[Form, str]:
    """W*exp(W) = u, where the kernel is W times what makes u a polynomial."""
    algebra = p.algebra
    argument = p.text(node.args[0])
    scale = math.lcm(*[int(c.q) for c in value.num.to_dict().values()] or [1])
    unit = Form(POLY_ONE / scale, value.den)
    factor = algebra.text(Form(CONTEXT.constant(scale)))
    factor = " * ".join([factor] + [f"{algebra.atoms[i].text} ^ {e}" for i, e in value.den])
    kernel, kernel_definition = p.name("w", f"{factor} * {name}")
    i = algebra.generator(kernel)
    form = algebra.times(Form(GENS[i]), unit)
    equation = p.prove(
        f"{name} = {algebra.text(form)}", f"rewrite {kernel_definition}; field; nonzero"
    )
    [piece] = pieces(p, "exp", form)
    if piece.count != 1:
        raise NotCovered("a part of LambertW(u) as an exponent")
    exponential_, fact = exp_of(p, piece)
    poly = algebra.over(value, dict(value.den)) * scale
    text = algebra.text(exponential_)
    same = (f"symmetry; transitivity (exp ({piece.text}));"
            f" [f_equal; rewrite {equation}; field; nonzero | now rewrite {fact}]")  # fmt: skip
    proof = (f"transitivity (({factor}) * ({name} * exp {name})); [replace (exp {name}) with"
             f" ({text}) by ({same}); rewrite {kernel_definition}; ring |"
             f" rewrite {definition}, {node.op}_law by side; {p.by_field(argument)}]")  # fmt: skip
    [(lead, _)] = exponential_.num.to_dict().items()
    j = next(k for k, e in enumerate(lead) if e)
    rule = p.prove(f"{kernel} * {text} = {algebra.poly_text(poly)}", proof, "R")
    algebra.rules.append(Rule({i: 1, j: 1}, poly, rule))
    return form, f"exact {equation}"
