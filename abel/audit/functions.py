"""Cases for the audit about absolute values, hyperbolic functions, and both real branches of W.

Each rule says for which real g its candidate is a root, or its divisor is 0. Then g is a - t, or a
number next to one of the edges.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import mpmath
from sympy import Rational, exp, pi

from abel.audit.attacks import A, B, Case, Probe, places
from abel.audit.plants import first_read
from abel.parse import parse, parse_expression

Test = Callable[[Rational], bool]  # of g, which is never one of the edges


class Rule(NamedTuple):
    """A text and a candidate with {g} in them, and {c} and {k} for positive numbers."""

    text: str
    candidate: str
    holds: Test
    edges: tuple[Rational, ...] = (Rational(0),)  # where it may change, or next to it


def always(g: Rational) -> bool:
    return True


def never(g: Rational) -> bool:
    return False


def positive(g: Rational) -> bool:
    return bool(g > 0)


def negative(g: Rational) -> bool:
    return bool(g < 0)


def below_minus_1(g: Rational) -> bool:
    return bool(g < -1)


def above_minus_1(g: Rational) -> bool:
    return bool(g > -1)


def within(low: Rational, high: Rational) -> Test:
    return lambda g: bool(low < g) and bool(g < high)


LOW, HALF_TURN = Rational(-1), Rational(22, 7)
EDGE = Rational(-46, 125)  # stands for -1/e

ABSOLUTE = (
    Rule("abs(x) = {g}", "{g}", positive), Rule("abs(x) = {g}", "-({g})", positive),
    Rule("abs(x) = {g}", "I*({g})", positive), Rule("{g} + abs(x) = 0", "{g}", negative),
    Rule("abs(x - {c}) = {k}*({g})", "{c} - {k}*({g})", positive),
    Rule("abs(abs(x) - {c}) = {g}", "{c} + {g}", positive),
    Rule("abs({k}*x) = {k}*x", "{g}", positive),
    Rule("x*abs(x) = {g}", "sqrt({g})", positive),
    Rule("x*abs(x) = {g}", "-sqrt(-({g}))", negative),
    Rule("abs(x)^2 = x^2", "{g}", always), Rule("abs(x)^2 = x^2", "I*({g})", never),
    Rule("sqrt(x^2) = abs(x)", "{g}", always), Rule("sqrt(x^2) = abs(x)", "I*({g})", never),
    Rule("abs(x) = abs(b)*({g})", "b*({g})", positive),
    Rule("abs(b*x) = abs(b)*x", "{g}", positive),
    Rule("log(abs(x)) = log(x)", "{g}", positive), Rule("log(x^2) = 2*log(abs(x))", "{g}", always),
    Rule("abs(x)/x = 1", "{g}", positive), Rule("abs(x)/x = -1", "{g}", negative),
)  # fmt: skip
HYPERBOLIC = (
    Rule("acosh(x) = {g}", "cosh({g})", positive), Rule("asinh(x) = {g}", "sinh({g})", always),
    Rule("atanh(x) = {g}", "tanh({g})", always), Rule("acosh(cosh(x)) = x", "{g}", positive),
    Rule("asinh(sinh(x)) = x", "{g}", always), Rule("atanh(tanh(x)) = x", "{g}", always),
    Rule("cosh(x) = cosh({g})", "-({g})", always), Rule("sinh(x) = sinh({g})", "-({g})", never),
    Rule("sqrt(cosh(x)^2 - 1) = sinh(x)", "{g}", positive),
    Rule("sech(x) = 1/cosh({g})", "{g}", always),
    Rule("sqrt(1 + sinh(x)^2) = cosh(x)", "{g}", always),
    Rule("abs(sinh(x)) = sinh(x)", "{g}", positive),
    Rule("asech(x) = {g}", "sech({g})", positive), Rule("acsch(x) = {g}", "csch({g})", always),
    Rule("acoth(x) = {g}", "coth({g})", always),
    Rule("tanh({k}*x) = tanh({k}*({g}))", "{g}", always),
    Rule("acosh(x) = I*({g})", "cos({g})", within(Rational(0), pi), (Rational(0), HALF_TURN)),
    Rule("asinh(x) = I*({g})", "I*sin({g})", within(-pi / 2, pi / 2),
         (-HALF_TURN / 2, HALF_TURN / 2)),
)  # fmt: skip
LAMBERT = (
    Rule("LambertW(x, -1) = {g}", "({g})*exp({g})", below_minus_1, (LOW,)),
    Rule("LambertW(x) = {g}", "({g})*exp({g})", above_minus_1, (LOW,)),
    Rule("LambertW(x*exp(x), -1) = x", "{g}", below_minus_1, (LOW,)),
    Rule("LambertW(x*exp(x)) = x", "{g}", above_minus_1, (LOW,)),
    Rule("LambertW(x, -1) = LambertW(x)", "exp({g})", never),
    Rule("LambertW(x, -1) = LambertW(x)", "({g})*exp({g})", never, (LOW,)),
    Rule("{k}*x*exp(x) = {k}*({g})", "LambertW({g}, -1)", always, (EDGE, Rational(0))),
    Rule("x*exp({k}*x) = {g}", "LambertW({k}*({g}), -1)/{k}", always, (EDGE, Rational(0))),
    Rule("log(x) = LambertW({g}, -1)", "exp(LambertW({g}, -1))", negative, (EDGE, Rational(0))),
    Rule("log(x) = LambertW({g})", "exp(LambertW({g}))", always, (EDGE, Rational(0))),
    Rule("x*log(x) = {g}", "exp(LambertW({g}, -1))", negative, (EDGE, Rational(0))),
    Rule("x*log(x) = {g}", "exp(LambertW({g}))", always, (EDGE, Rational(0))),
    Rule("exp(x) = {k}*x*({g})", "-LambertW(-1/({k}*({g})), -1)", always),
    Rule("sqrt(x) = -LambertW({g}, -1)", "LambertW({g}, -1)^2", within(-pi / 2, 3 * pi / 2),
         (-HALF_TURN / 2, Rational(0), 3 * HALF_TURN / 2)),
    Rule("abs(x) = -LambertW({g}, -1)", "LambertW({g}, -1)", within(-exp(-1), Rational(0)),
         (EDGE, Rational(0))),
    Rule("log(-x) = log(-({g})) - x", "LambertW({g}, -1)", negative, (EDGE, Rational(0))),
)  # fmt: skip
# What is divided by, and where that is 0. The candidate is a number.
DIVISORS = (
    Rule("abs({g}) - ({g})", "", positive), Rule("abs({g}) + {c}", "", never),
    Rule("acosh(cosh({g})) - ({g})", "", positive), Rule("asinh(sinh({g})) - ({g})", "", always),
    Rule("cosh({g})^2 - sinh({g})^2 - 1", "", always), Rule("cosh({g}) + {c}", "", never),
    Rule("tanh({g})*cosh({g}) - sinh({g})", "", always), Rule("abs({g})^2 - ({g})^2", "", always),
    Rule("LambertW(({g})*exp({g}), -1) - ({g})", "", below_minus_1, (LOW,)),
    Rule("LambertW(({g})*exp({g})) - ({g})", "", above_minus_1, (LOW,)),
    Rule("LambertW({g}, -1) - LambertW({g})", "", never, (EDGE, Rational(0))),
    Rule("LambertW({g}, -1)*exp(LambertW({g}, -1)) - ({g})", "", always, (EDGE, Rational(0))),
)  # fmt: skip
DIVIDED = (
    "({t})/({d})",
    "{t} + log({d}) - log({d})",
    "({t})*({d})/({d})",
    "({t}) + 0*LambertW({d}, -1)",
)
MAX_SIZE = 60  # digits of an offset, which W halves next to its edge


def function_case(rng: random.Random) -> Case:
    """`LambertW(x, -1) = a - 3` at (a - 3)*exp(a - 3): a root up to a = 2."""
    return first_read(typed_rule, rng)


def next_to(edge: Rational, size: int) -> Rational:
    """A number that is at most 10**-size below the edge."""
    if edge != EDGE:
        return edge
    with mpmath.workdps(size + 10):
        return -Rational(int(mpmath.ceil(mpmath.exp(-1) * mpmath.mpf(10) ** size)), 10**size)


def typed_rule(rng: random.Random) -> Case:
    kind = rng.choice((ABSOLUTE, HYPERBOLIC, LAMBERT, DIVISORS))
    rule = rng.choice(kind)
    places_of_g: dict[Rational, dict]
    size, t = 0, Rational(rng.randint(-30, 30), 7)
    if rng.random() < 0.4:  # a number
        size = rng.choice((1, 3, 12, rng.randint(1, MAX_SIZE)))
        near = next_to(rng.choice(rule.edges), size)
        near += rng.choice((1, -1)) * Rational(rng.randint(1, 9), 10**size)
        places_of_g = {near: {}}
        g = f"({near})"
    else:
        g = f"(a - ({t}))"
        found = [at[A] - t for at in places(rng, [A], 0)]
        steps = [Rational(1009, 997) * Rational(10) ** k for k in (-6, -3, 0)]
        found += [e + sign * step for e in rule.edges for step in steps for sign in (1, -1)]
        places_of_g = {near: {A: near + t} for near in found if near}
    numbers = {"g": g, "c": rng.randint(2, 9), "k": rng.randint(2, 5)}
    text, guards, candidate = rule.text.format(**numbers), [], rule.candidate.format(**numbers)
    if kind is DIVISORS:
        candidate = str(rng.randint(-4, 4))
        guards = [parse_expression(text)]
        text = rng.choice(DIVIDED).format(t=f"x - ({candidate})", d=text) + " = 0"
    equation, root = parse(text), parse_expression(candidate)
    has_b = B in equation.lhs.free_symbols | equation.rhs.free_symbols
    letters = {B: rng.choice((1, -1)) * Rational(rng.randint(1, 40), 7)} if has_b else {}
    bad = "undefined" if kind is DIVISORS else "other"
    probes = tuple(
        Probe({**at, **letters}, "root" if rule.holds(near) is not (kind is DIVISORS) else bad)
        for near, at in places_of_g.items()
    )
    return Case(equation, root, probes, tuple(guards), size=2 * size + 30, claim=rule.text)
