"""open_world: equations of every form that a computer algebra system solves, drawn by form.

A family is a list of templates. It is trained on or held out, which is fixed here, before any
training. What is drawn has a route that a script (`abel.wild.script`) finds, to a proved root.

python -m abel.datasets --name open_world          # writes the set
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from fractions import Fraction

from abel.datasets.classes import canonical_key
from abel.datasets.decisions import Decisions
from abel.datasets.generate import render
from abel.datasets.load import WORLD, Problem
from abel.datasets.templates import LETTERS, signed_number
from abel.equation import Equation, X, integer_bits, num_nodes, split_factor
from abel.parse import parse
from abel.rewrite import collect, difference
from abel.wild.drafts import draft
from abel.wild.script import has_route

# A to F are coefficients, numbers or letters; L to N, R and S numbers; T is between -1 and 1, U
# positive; P and Q are bases without a common factor; I and J whole exponents, V a broken one, W a
# decimal one; K and Z are factors of x; G and H linear forms; Y is a letter.
TRAINED: dict[str, tuple[str, ...]] = {
    "power_whole": ("A*(G)^I = B", "A*(G)^I + B = 0", "C - A*(G)^I = B", "A*x^I = B*x^J"),
    "power_root": ("A*(G)^(1/I) = B", "A*(G)^(1/I) - B = C", "B = A*(G)^(1/3)",
                   "Y = A*x^(1/I) + B"),
    "power_broken": ("A*(G)^(V) = B", "A*(G)^(-V) + B = C", "A*x^(V) + U = B", "(G)^(-I) = U"),
    "power_decimal": ("A*x^W + B = C", "A*x^(-W) = B", "U*(G)^W = N"),
    "power_letter": ("x^Y = B", "A*x^Y + B = 0", "(G)^Y = B", "A*x^(K*Y) = B", "A*x^Y = B*x"),
    "power_two_letters": ("A*x^c = B*x^d", "A*x^(1/c) + B = 0", "x^(c*d) = B*x"),
    "quad_any_power": ("A*x^10 + B*x^5 + C = 0", "A*x^(2*Y) + B*x^Y + C = 0",
                       "A*x^(2/3) + B*x^(1/3) + C = 0", "A*x^3 + B*x^(3/2) = C",
                       "A*x^5 = B*x^2*sqrt(x) + C", "A*x^(2/5) + B*x^(1/5) = C"),
    "zero_product": ("x*(G)*(x + B) = 0", "(G)^2*(x - C) = 0", "(x - A)*(x - B)*(x - C) = 0",
                     "A*(x^2 - U)*(G) = 0", "x^3*(x + A) = 0"),
    "unlike_product": ("x*sin(G) = 0", "(G)*(exp(x) - B) = 0", "(G)*log(H) = 0", "x^2*cos(G) = 0",
                       "sin(x)*(G) = 0", "x*log(x)*(x - A) = 0", "sin(K*x)*cos(Z*x) = 0",
                       "(A*x + B)*(C*exp(x) + D) = 0", "(x^2 - U)*tan(x) = 0", "x*exp(x) = A*x",
                       "A*sin(x)*cos(x)*sin(K*x) = 0"),
    "common_factor": ("x^2*exp(x) = A*exp(x)", "x*sin(x) + A*sin(x) = 0", "x*log(x) = A*log(x)",
                      "x^2*exp(K*x) + A*x*exp(K*x) = 0", "A*x^I = B*x^2", "x*sqrt(x) = A*x",
                      "sin(x)*cos(x) = A*sin(x)", "A*x*exp(x) + A*B*exp(x) + x + B = 0",
                      "A*x^3 + B*x^2 = C*x^3", "N*x^I = x^5"),
    "tangent": ("A*tan(G) + B = 0", "tan(G) = B", "A*tan(G)^2 + B*tan(G) + C = 0", "tan(K*x)^2 = U",
                "tan(x + A) = B", "tan(x)^I = B", "tan(A*x) = 0", "tan(x - atan(Y)) = 0"),
    "inverse_angle": ("A*asin(G) = T", "acos(G) = T", "atan(G) = T", "acos(A/x) = T",
                      "asin(A*x) + T = 0", "N*atan(G) + T = 0", "asin(x)^2 = T^2"),
    "inverse_angle_pair": ("asin(x) = acos(x)", "asin(x) = acos(K*x)", "acos(x) = atan(K*x)",
                           "asin(x) = atan(K*x)", "asin(K*x) = atan(x)"),
    "two_angles": ("sin(K*x) = sin(Z*x)", "sin(K*x) + sin(Z*x) = 0", "cos(K*x) = sin(Z*x)",
                   "cos(K*x) + cos(Z*x) = 0", "A*cos(x/2) = A*cos(x/3)", "sin(x) = cos(x + A)",
                   "cos(x) - cos(K*x) = 0", "sin(x/3) + sin(x/5) = 0"),
    "multiple_angle": ("A*sin(2*x) = B*cos(x)", "A*sin(2*x) = B*sin(x)",
                       "A*cos(2*x) + B*cos(x) = C",
                       "cos(3*x) = A*cos(x)", "sin(3*x) = A*sin(x)", "A*cos(2*x) + B*sin(x) = C",
                       "cos(x) + N*cos(2*x) + cos(3*x) = 0", "cos(4*x) + A*cos(2*x) = B",
                       "A*cos(x) + B*sin(x/2) = C", "sin(4*x) = A*sin(2*x)"),
    "angle_sum": ("sin(x + A) = B*sin(x)", "A*sin(x + U) + B*cos(x) = 0", "cos(x + A) = B*cos(x)",
                  "sin(x + pi/3) = A*cos(x)", "cos(x - pi/4) + A*sin(x) = 0"),
    "angle_ratio": ("A*sin(x) = B*tan(x)", "cot(G) = A", "sec(G) = A", "csc(G) = A", "cot(x) = 0",
                    "A*sin(G) = B*cos(G)", "tan(x) = A*cot(x)", "A*cos(x) = B*cot(x)",
                    "sec(x) + A = B", "A*sec(x)^2 + B*sec(x) = C", "A*tan(x) + B*cot(x) = C"),
    "angle_powers": ("sin(x)^I = A*cos(x)^I", "A*sin(x)^4 = B", "cos(G)^I = T",
                     "sin(x)^2 = A*cos(x)^2", "A*sin(x)*cos(x) = B", "cos(x)^2 - sin(x)^2 = T"),
    "hyperbolic": ("sinh(G) = A", "A*cosh(G) + B = C", "cosh(G) = A", "tanh(G) = T", "coth(G) = U",
                   "sech(G) = T", "csch(G) = A", "A*sinh(x) + B = 0", "sinh(x)^2 = A",
                   "cosh(x^2 - U) = N", "cosh(Y*x) = 0", "sinh(K*x) = cosh(N)"),
    "hyperbolic_sum": ("A*sinh(x) + B*cosh(x) = C", "A*sinh(x) = B*cosh(x)",
                       "A*cosh(x)^2 + B*cosh(x) + C = 0", "A*sinh(x)^2 + B*sinh(x) = C",
                       "sinh(x)*cosh(x) = A", "A*cosh(2*x) + B*cosh(x) = C", "A*sinh(x) = tanh(x)",
                       "cosh(x) + cosh(3*x) = 0", "A*cosh(x) = sinh(2*x)", "tanh(x) = A*exp(x)"),
    "inverse_hyperbolic": ("asinh(G) = A", "acosh(G) = U", "atanh(G) = A", "A*asinh(x) + B = 0",
                           "asinh(x) = acosh(N)"),
    "absolute": ("abs(G) = U", "A*abs(G) + B = C", "abs(x^2 - A) = U", "abs(x) = Y", "U*abs(G) = N",
                 "abs(L*x^2 + M) = U", "abs(x/Y) = U", "abs(x^2 + M*x) = U"),
    "absolute_x": ("abs(G) = H", "abs(x + M) = L*x", "x + abs(x - U) = N", "abs(x)*(G) = 0",
                   "abs(x - U) + x^2 = N", "abs(G)*sin(x) = 0", "x*abs(x) = N"),
    "absolute_two": ("abs(G) = abs(H)", "abs(x + A) = abs(B)", "abs(x + M) + abs(x + N) = U",
                     "abs(x) - abs(x - M) = T", "abs(x^2 - U) = abs(x)"),
    "log_sum": ("log(x + M) + log(x + N) = B", "log(x) + log(x + A) = B", "log(G) - log(H) = T",
                "A*log(x) = log(x + N)", "2*log(x) = log(K*x + U)", "log(x + U) = log(x) + B",
                "log(x^2) + log(x) = A", "log(A*x) + log(x + B) = C"),
    "log_base": ("log(G, P) = N", "log10(G) = T", "log2(x) + log2(x + U) = U", "log(x, Y) = A",
                 "log(x, P) + log(x, Q) = A", "A*log10(x) + B = C", "log(x, P)^2 = U",
                 "log(G)/log(P) = N", "log(P, x) = U"),
    "log_power": ("log(sqrt(x)) = A*log(x)^2", "log(x^3)^2 = A*log(x)", "x^log(x) = U",
                  "log(x)^2 = log(x^K)", "sqrt(log(x)) = A*log(x)", "log(A*x^2) + log(x) = B"),
    "two_exponents": ("A*P^(G) = B*Q^(H)", "P^(K*x + M) = Q^(x + N)", "A*P^(K*x) = B*exp(H)",
                      "P^(x + M) = U*exp(N - K*x)", "(P^2)^x = P^(H)", "exp(K*x + A) = B*exp(H)",
                      "(1/P)^(K*x) = P^(x + M)", "P^x*Q^(x + M) = U", "U*P^(x + M) = P^(K*x)"),
    "exponent_of_x": ("P^(x^2 + M*x) = Q^x", "exp(x^2 + A*x) = B", "P^(A/x) = Q", "exp(A/x) = B",
                      "exp(A/x)*exp(B/x) = C", "P^(x^2) = Q^(x + N)", "(P^x)^x = B",
                      "A = B*Y^(K/x)",
                      "C - A*exp(B/(K*x)) = D", "P^(sqrt(x)) = Q"),
    "x_to_x": ("x^x = U", "x^(K*x) = U", "A*x^x = B", "x^(1/x) = U", "x^(K/x) = P", "(K*x)^x = U",
               "x^x = Y", "(x + M)^(x + M) = U"),
    "exp_and_power": ("P^x = x^2", "P^x = x^I", "exp(x) = A*x", "exp(x) = x^I", "x^2*exp(x) = U",
                      "P^x = A*x", "x^I = A*exp(x)", "I*log(x) = x*log(P)"),
    "lambert_linear": ("A*x + B*exp(G) = C", "A*exp(H) = B*x + C", "A*x + log(K*x) = C",
                       "A*x + B*log(x) = C", "log(G) = A*x + B", "A*x + B*P^x = C",
                       "x + exp(x) = A",
                       "K*x + U*exp(N - Z*x) = M", "x = A*P^x"),
    "lambert_product": ("A*(x + B)*exp(K*x) = C", "x*log(x) = A", "A*x*log(x) + B*x = C",
                        "x^Y*log(x) = A", "A*x*P^x = B", "x^2*exp(x^2) = A", "x*log(K*x) = A",
                        "sqrt(x)*exp(x) = A"),
    "radical_and_x": ("x + sqrt(G) = C", "sqrt(x^2 + N*x + U) = x + M", "A*x = B*sqrt(x + C)",
                      "x - sqrt(x^2 + N) = M", "sqrt(U*x^2 + N) = M*x + R", "x*sqrt(x) + A = B",
                      "A/sqrt(x) = B", "x/sqrt(1 - x^2) = Y", "x/sqrt(x^2 + U) = T",
                      "x + sqrt(U*x^2 - N) = M"),
    "radical_other_index": ("(G)^(1/3) = x + M", "(x^3 + N*x^2)^(1/3) = x + M",
                            "x = (x^3 + U)^(1/3)",
                            "(x^4 + N*x^3 + M)^(1/4) = x + 1", "(G)^(1/4) = sqrt(H)",
                            "(G)^(1/3) = (H)^(1/3)"),
    "radical_mixed": ("x^(1/3) + sqrt(x) = M", "x^(1/4) + A*sqrt(x) = B", "sqrt(x) = A*x^(1/3)",
                      "x^(1/3) + sqrt(x + N) = M", "sqrt(x)*x^(1/3) = B", "x^(1/6) = A*x^(1/4)"),
    "radical_nested": ("sqrt(A + sqrt(x)) = B", "sqrt(x + sqrt(x)) = U", "sqrt(A*sqrt(G) + B) = C",
                       "(sqrt(x) + M)^(1/3) = N", "sqrt(x) + (sqrt(x) + M)^(1/3) = N",
                       "sqrt(1 + sqrt(1 + x)) = U"),
    "fractions": ("A/(x + B) + C/(x + D) = F", "A/(x^2 - U) + x = 0", "x/(x + A) + B/x = C",
                  "(x^2 + A*x)/(x + B) = C", "(G)/(H) = x", "A/(1 + B/(x + C)) = D",
                  "1/(x + M) = 1/(x^2 + N)", "(x + A)/(x^2 + B) = C"),
    "quad_of_anything": ("A*atan(x)^2 + B*atan(x) = C", "A*x^4*exp(2*x^2) + B*x^2*exp(x^2) = C",
                         "A*cosh(x)^4 + B*cosh(x)^2 = C", "A*abs(x)^2 + B*abs(x) = C"),
    "size": ("exp(-BIG*x) = U", "cos(BIG*x) = T", "sin(BIG*x) = T", "BIG*x^2 - x = TINY",
             "TINY*exp(x) = B", "x^2 + BIG*x = 1", "BIG*(1 - exp(-TINY*x)) = U",
             "sin(BIG*x) + sin(2*BIG*x) = 0", "exp(TINY*x) = BIG"),
    "shifted_exponents": ("P^(x + M) + P^x = U", "A*P^(x + M) + B*P^(x + N) = C",
                          "P^(x + M) - P^(x + N) = U", "P^(x/K + M) + U*P^(x/K) = N",
                          "P^x = U*P^(x + M) + N", "A*exp(x + B) + C*exp(x) = D",
                          "P^(K*x + M) = 1", "Y^(x + M) + Y^x = U", "P^(x + M) = U*P^x + L"),
    "lambert_inside": ("(x^2 + M*x)*exp(x^2 + M*x) = U", "(x^2 + M*x)*exp(K*x^2 + K*M*x) = U",
                       "sqrt(x)*exp(K*sqrt(x)) = U", "A*x^I*exp(x^I) = B", "K*x^2*exp(-x^2) = T",
                       "x*exp(x)*exp(x*exp(x)) = U", "sqrt(x + M)*P^(sqrt(x + M)) = U",
                       "sin(x)*exp(A*sin(x)) = B", "log(x)*x^K = U", "x^2 + L*log(x) = U"),
    "radical_sums": ("sqrt(x + L) + sqrt(x + M) = U", "sqrt(x + U) - sqrt(x) = T",
                     "sqrt(K*x + M) = sqrt(x) + U", "L*sqrt(x) + sqrt(x + M) = U",
                     "sqrt(U*x + L) + sqrt(x) = N", "sqrt(x + L)*sqrt(K*x + M) = U",
                     "sqrt(x + U) + sqrt(x + K) = sqrt(Z*x + N)", "sqrt(x^2 + U) = x + sqrt(x)",
                     "sqrt(x)/sqrt(x + U) + M = T", "sqrt(K*x + M) - sqrt(x + L) = sqrt(x)"),
}  # fmt: skip
HELD_OUT: dict[str, tuple[str, ...]] = {
    "power_of_sum": ("(x^2 + A)^I = B", "(x^2 + A*x)^(V) = U", "(A + B/x)^(1/3) = C"),
    "quad_tangent_angle": ("A*tan(2*x)^2 + B*tan(2*x) = C", "tan(x)^4 = U"),
    "sine_of_sum_two": ("sin(x + A) = sin(x + B)", "cos(x + A) + cos(x + B) = 0"),
    "hyperbolic_tangent": ("A*tanh(x)^2 + B*tanh(x) = C", "tanh(x + M) = T", "tanh(x^2 - U) = T"),
    "absolute_nested": ("abs(abs(x) - U) = N", "abs(abs(x + M) - U) = N",
                        "abs(x - abs(x - M)) = U"),
    "log_three": ("log(x) + log(x + M) = log(N*x + U)", "log(x, 2) + log(x, 4) = U"),
    "three_exponents": ("P^x*Q^(x + M) = N^(K*x)", "A*P^(x + M)*exp(x) = B"),
    "power_of_x_to_x": ("(x^2)^x = U", "x^(x + 1) = A*x", "x^(2*x) = A*x^x + B"),
    "radical_of_quadratic": ("sqrt(x^2 + M*x) + x = N", "sqrt(x^2 + U) + sqrt(x^2) = N"),
    "product_of_radicals": ("(sqrt(x) - A)*(x - B) = 0", "sqrt(x)*log(x) = 0",
                            "x^(1/3)*cos(x) = 0"),
}  # fmt: skip

COPRIME = ((2, 3), (3, 2), (2, 5), (5, 2), (3, 5), (2, 7), (3, 7), (5, 3), (7, 2), (4, 3))
BROKEN = ("2/3", "3/2", "4/3", "3/4", "5/2", "2/5", "5/3", "3/5", "7/2")
INSIDE = ("1/2", "-1/2", "1/3", "2/3", "-1/3", "1/4", "3/4", "1/5", "-2/5", "3/10")


def draw(template: str, rng: random.Random, plain: bool) -> str:
    """An equation of a template: coefficients are letters with factors or, if `plain`, numbers."""
    letters = iter(rng.sample(LETTERS, len(LETTERS)))
    first, second = rng.choice(COPRIME)
    powers = rng.sample((3, 4, 5, 6, 7, 8, 9), 2)
    factors = rng.sample((2, 3, 4, 5, 6), 2)

    def number(low: int = 1, high: int = 10) -> str:
        return str(rng.randint(low, high))

    def coefficient() -> str:
        value = signed_number(rng) if rng.random() < 0.7 else 1
        if plain:
            return f"({value}/{number(2, 5)})" if rng.random() < 0.1 else f"({value})"
        return next(letters) if value == 1 else f"({value}*{next(letters)})"

    def linear(scaled: bool) -> str:
        kind = rng.choice(("x", "x", "x + ", "k*x", "k*x + ") if scaled else ("x", "x + "))
        k = number(2, 6) if plain or rng.random() < 0.5 else None
        kind = kind if "k" not in kind else kind.replace("k", k or next(letters))
        return kind + coefficient() if kind.endswith("+ ") else kind

    drawn: dict[str, Callable[[], str]] = {
        "P": lambda: str(first), "Q": lambda: str(second),
        "I": lambda: str(powers[0]), "J": lambda: str(powers[1]),
        "K": lambda: str(factors[0]), "Z": lambda: str(factors[1]),
        "V": lambda: rng.choice(BROKEN), "W": lambda: f"{rng.randint(3, 95) / 10:.1f}",
        "T": lambda: f"({rng.choice(INSIDE)})" if plain or rng.random() < 0.3 else next(letters),
        "U": lambda: number(), "Y": lambda: next(letters),
        "G": lambda: linear(True), "H": lambda: linear(False),
        "BIG": lambda: rng.choice(("100", "300", "1000", "2500", "18000", "10^6", "1.5*10^7")),
        "TINY": lambda: rng.choice(("0.001", "0.0002", "1/10^5", "2.5/10^6", "1/10^7")),
    }  # fmt: skip
    filled: dict[str, str] = {}

    def fill(match: re.Match[str]) -> str:
        name = match[0]
        if name not in filled:
            if name in "LMNRS":
                filled[name] = f"({signed_number(rng) if rng.random() < 0.7 else 1})"
            else:
                filled[name] = drawn.get(name, coefficient)()
        return filled[name]

    return moved(re.sub("BIG|TINY|[A-DF-Z]", fill, template), rng)


def moved(text: str, rng: random.Random) -> str:
    """Sides swapped, or all on one side, or a term on both: as people write the same equation."""
    lhs, rhs = text.split(" = ")
    kind = rng.random()
    if kind < 0.45:
        return text
    if kind < 0.6:
        return f"{rhs} = {lhs}"
    if kind < 0.9:
        return f"{lhs} - ({rhs}) = 0"
    return f"{lhs} + {rng.randint(1, 9)} = {rhs} + {rng.randint(10, 19)}"


# ---- Families whose numbers are chosen so that there is a simple root ----


def by_integer_roots(rng: random.Random) -> str:
    """A polynomial of degree 3 to 6 with whole roots, some perhaps of a quadratic that has none."""
    roots = [rng.randint(-6, 6) for _ in range(rng.randint(1, 4))]
    coefficients = [rng.choice((1, 1, 1, 2, 3))]
    for root in roots:
        coefficients = times(coefficients, [-root, 1])
    while len(coefficients) < 4 or (len(coefficients) < 6 and rng.random() < 0.4):
        coefficients = times(coefficients, [rng.randint(-5, 5), rng.randint(-4, 4), 1])
    variable = rng.choice(("x",) * 6 + ("exp(x)", "log(x)", "sin(x)", "sqrt(x)"))
    return f"{written(coefficients, variable)} = 0"


def times(f: list[int], g: list[int]) -> list[int]:
    """The product of two polynomials, constant first."""
    result = [0] * (len(f) + len(g) - 1)
    for i, a in enumerate(f):
        for j, b in enumerate(g):
            result[i + j] += a * b
    return result


def written(coefficients: list[int], variable: str) -> str:
    terms = [
        f"({c})*{variable}^{k}" if k > 1 else f"({c})*{variable}" if k else f"({c})"
        for k, c in enumerate(coefficients)
        if c
    ]
    return " + ".join(reversed(terms))


def two_radicals(rng: random.Random) -> str:
    """Two square roots, with whole values at a whole root; the root may be an extraneous one."""
    x, values = rng.randint(-4, 12), [rng.randint(0, 7) for _ in range(2)]
    roots, result = [], 0
    for value in values:
        k, sign = rng.choice((1, 1, 1, 2, 3, 5)), rng.choice((1, 1, -1))
        shift = value * value - k * x
        inside = f"{k}*x + {shift}" if shift else f"{k}*x"
        roots.append(f"{'-' if sign < 0 else '+'} sqrt({inside})")
        result += sign * value
    if rng.random() < 0.2:
        roots[-1] += " + sqrt(x)"
    return f"{' '.join(roots).removeprefix('+ ')} = {result}"


def three_radicals(rng: random.Random) -> str:
    """Three square roots, with whole values at a whole root, of which two make up the third."""
    x, values = rng.randint(-4, 12), [rng.randint(1, 6) for _ in range(2)]
    roots = []
    for value in (*values, sum(values)):
        k = rng.choice((1, 1, 2, 3, 5))
        shift = value * value - k * x
        roots.append(f"sqrt({k}*x + {shift})" if shift else f"sqrt({k}*x)")
    return f"{roots[0]} + {roots[1]} = {roots[2]}"


def matching_powers(rng: random.Random) -> str:
    """f(x)^g(x) = c with small whole numbers at a whole root."""
    x = rng.randint(1, 4)
    base, exponent = rng.choice((2, 2, 3, 5)), rng.choice((1, 2, 2, 3, 4))
    k = rng.choice((1, 1, 2))
    power = rng.choice((1, 1, 2))
    first = f"x^{power} + ({base - x**power})"
    return f"({first})^({k}*x + ({exponent - k * x})) = {Fraction(base) ** exponent}"


def nest(rng: random.Random) -> str:
    """Functions that can be undone inside each other, two to four deep."""
    text = "x"
    for _ in range(rng.choice((2, 2, 2, 3))):
        text = rng.choice((
            f"log({text})", f"exp({text})", f"sqrt({text})", f"({text})^{rng.randint(2, 7)}",
            f"sin({text})", f"cos({text})", f"tan({text})", f"asin({text})", f"acos({text})",
            f"atan({text})", f"({text})^({rng.choice(BROKEN)})", f"1/({text})",
            f"sinh({text})", f"({text})^(1/{rng.randint(3, 7)})", f"{rng.randint(2, 4)}^({text})",
        ))  # fmt: skip
        if rng.random() < 0.5:
            text = f"{rng.randint(2, 6)}*{text}"
        if rng.random() < 0.5:
            text = f"{text} + {rng.choice(LETTERS) if rng.random() < 0.4 else signed_number(rng)}"
    value = rng.choice(LETTERS) if rng.random() < 0.4 else str(rng.choice((0, 1, 2, 3)))
    return f"{text} = {value}"


CONSTRUCTED: dict[str, Callable[[random.Random], str]] = {
    "integer_roots": by_integer_roots,
    "two_radicals_numeric": two_radicals,
    "matching_powers": matching_powers,
    "nested_functions": nest,
    "three_radicals": three_radicals,
}


# ---- The set ----

SHORT, SMALL = 24, 10  # nodes, and the largest number, of what may stand in a textbook
UNKNOWN = re.compile(r"\bx\b")
NUM_TRAIN, NUM_HELDOUT, MAX_DRAWS = 18, 7, 300  # per family
QUESTION = "world route"


def draft_family(family: str, decisions: Decisions) -> tuple[list[Problem], list[Problem], str]:
    """Training and held-out equations of a family, and what happened on the way."""
    rng = random.Random(f"{decisions.seed} world {family}")
    sizes = (0, NUM_HELDOUT) if family in HELD_OUT else (NUM_TRAIN, NUM_HELDOUT)

    def drawn(number: int) -> Problem:
        return Problem(text_of(family, number, rng), family)

    def solvable(problem: Problem) -> bool:
        return decisions.agrees(QUESTION, problem.text, lambda: has_route(problem))

    return draft(family, sizes, MAX_DRAWS, drawn, solvable, decisions, "unreadable")


def text_of(family: str, number: int, rng: random.Random) -> str:
    """An equation of a family; the templates take turns, with letters and with numbers."""
    if family in CONSTRUCTED:
        text = CONSTRUCTED[family](rng)
    else:
        templates = TRAINED.get(family) or HELD_OUT[family]
        text = draw(templates[number % len(templates)], rng, plain=rng.random() < 0.6)
    equation = parse(text)
    if num_nodes(equation.lhs) + num_nodes(equation.rhs) <= SHORT:
        if max(map(integer_bits, (equation.lhs, equation.rhs))) <= SMALL.bit_length():
            return str(parse(UNKNOWN.sub(marked(rng), text)))
    return str(equation)


def marked(rng: random.Random) -> str:
    """x with a number that textbooks do not use: short equations with small numbers, which stand
    in everybody's tests, would be trained on otherwise.
    """
    number = rng.choice((11, 13, 14, 17, 19, 21, 22, 23, 26, 29))
    return rng.choice((f"({number}*x)", f"(x + {number})", f"(x/{number})"))


def distinct(problems: Iterable[Problem]) -> list[Problem]:
    """Without those whose class an earlier family has, and those that say c*x**n = 0."""
    kept = [problem for problem in problems if not says_zero(problem.equation)]
    first = {canonical_key(p.equation): p for p in reversed(kept)}
    return [*reversed(first.values())]


def says_zero(equation: Equation) -> bool:
    """Whether numbers have cancelled until only x = 0 is left."""
    core = split_factor(collect(difference(equation.lhs, equation.rhs)))[1]
    return core.as_base_exp()[0] == X


def files(decisions: Decisions) -> dict[str, str]:
    """The files of the set: name to content."""
    drafts = [draft_family(family, decisions) for family in (*TRAINED, *CONSTRUCTED)]
    unseen = [draft_family(family, decisions) for family in HELD_OUT]
    parts = {
        "train": (drafts, distinct(p for train, _, _ in drafts for p in train)),
        "heldout": (drafts, distinct(p for _, heldout, _ in drafts for p in heldout)),
        "zeroshot": (unseen, distinct(p for _, heldout, _ in unseen for p in heldout)),
    }
    return {
        f"{WORLD}.{part}.txt": render(
            f"{WORLD}.{part}", decisions.seed, problems, [note for _, _, note in drawn]
        )
        for part, (drawn, problems) in parts.items()
    }
