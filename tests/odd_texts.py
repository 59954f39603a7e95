"""Equations that nobody would write down but someone might type: for tests of time and size."""

from random import Random
from re import sub

LETTERS = [*"abcdfghk", "k_1", "lambda"]
FUNCTIONS = ["exp", "log", "ln", "sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "cbrt"]
PRIMES = (2**61 - 1, 2**89 - 1, (2**61 - 1) * (2**31 - 1), 10**29 + 319, 10**150 + 67)


def number(rng: Random) -> str:
    """From 0 to what the caps allow, with few digits or many."""
    kind = rng.randrange(9)
    if kind <= 2:
        return str(rng.randint(0, 12))
    if kind == 3:
        return f"10^{rng.choice([2, 6, 9, 20, 29, 60, 99, 120])}"
    if kind == 4:
        return f"1/10^{rng.choice([2, 6, 20, 60, 99])}"
    if kind == 5:
        return str(rng.randrange(10 ** rng.choice([3, 8, 20, 50, 150])))
    if kind == 6:
        return f"{rng.randint(0, 99)}.{rng.randrange(10 ** rng.choice([1, 3, 15, 40]))}"
    if kind == 7:
        return f"{rng.randint(1, 99)}/{rng.randint(1, 10 ** rng.choice([1, 4, 9]))}"
    return str(rng.choice(PRIMES))


def exponent(rng: Random, depth: int) -> str:
    """Integers, fractions and decimals of all sizes, letters, and exponents with x."""
    kind = rng.randrange(12)
    if kind <= 2:
        return str(rng.choice([-3, -2, -1, 2, 2, 3, 4, 5]))
    if kind == 3:
        return str(rng.choice([-100, -99, 40, 60, 99, 100, 101, 10**9]))
    if kind == 4:
        return f"({rng.randint(-7, 7)}/{rng.randint(2, 12)})"
    if kind == 5:
        return f"(1/{rng.choice([64, 97, 1000, 65537, 99999999, 10**20 + 39, 10**150])})"
    if kind == 6:
        return f"({rng.randint(1, 99)}/{rng.randint(2, 10**6)})"
    if kind == 7:
        return f"{rng.randint(0, 9)}.{rng.choice(['5', '25', '33333333333333', '1' * 40])}"
    if kind == 8:
        return rng.choice(LETTERS)
    if kind == 9:
        return f"({number(rng)}*x)"
    if kind == 10:
        return f"({number(rng)}/x)"
    return f"({expression(rng, depth - 1)})"


def atom(rng: Random) -> str:
    kind = rng.randrange(12)
    if kind <= 4:
        return "x"
    if kind <= 6:
        return rng.choice(LETTERS)
    if kind == 7:
        return rng.choice(["pi", "E", "I", "e"])
    if kind == 8:
        return surd(rng)
    return number(rng)


def surd(rng: Random) -> str:
    radicand = rng.choice([2, 3, 5, 6, 7, 10, 12, 30, 97, 1001, 65537, 10**9 + 7])
    return f"{radicand}^({rng.randint(1, 9)}/{rng.choice([2, 2, 3, 5, 7, 11, 12, 97, 9973])})"


def expression(rng: Random, depth: int) -> str:
    if depth <= 0:
        return atom(rng)
    kind = rng.randrange(10)
    if kind <= 2:
        count = rng.choice([2, 2, 2, 3, 4, 8])
        signs = [rng.choice([" + ", " - "]) for _ in range(count)]
        parts = [sign + expression(rng, depth - 1) for sign in signs]
        return "".join(parts).removeprefix(" + ")
    if kind <= 4:
        parts = [expression(rng, depth - 1) for _ in range(rng.choice([2, 2, 2, 3, 5]))]
        return "*".join(f"({part})" for part in parts)
    if kind == 5:
        return f"({expression(rng, depth - 1)})/({expression(rng, depth - 1)})"
    if kind <= 7:
        return f"({expression(rng, depth - 1)})^{exponent(rng, depth - 1)}"
    return f"{rng.choice(FUNCTIONS)}({expression(rng, depth - 1)})"


# ---- Shapes that grow when something is multiplied out, combined or looked into ----


def nested(rng: Random) -> str:
    """One operation inside itself, again and again."""
    before, after = rng.choice(
        [
            ("1/(1 + ", ")"), ("sqrt(1 + ", ")"), ("exp(", ")"), ("log(2 + ", ")"),
            ("sin(", " + a)"), ("tan(asin(", "))"), ("0*(", ")"), ("sqrt(I + ", ")"),
            ("(1 + ", ")^2"), ("(a + ", ")^99"), ("(", ")^(1/3)"), ("2^(", ")"), ("atan(", "/2)"),
            ("tan(", ")"), ("(b - ", ")^-1"), ("cos(2*", ")"), ("-(", ")"), ("(3*", ")^a"),
            ("x^(", ")"), ("acos(", ")"), ("(2^(1/3) + ", ")^(1/2)"), ("asin(1/2 + ", ")"),
        ]
    )  # fmt: skip
    times = rng.choice([2, 3, 4, 5, 8, 12, 30, 60])
    return before * times + expression(rng, rng.randint(0, 1)) + after * times


def power_of_sum(rng: Random) -> str:
    """(a + b + c + ...)^60, of letters, surds or both."""
    count = rng.choice([2, 3, 4, 8])
    terms = [rng.choice([atom, surd, lambda r: r.choice(LETTERS)])(rng) for _ in range(count)]
    power = rng.choice([2, 3, 5, 10, 30, 60, 100, -2, -50])
    return f"({' + '.join(terms)})^{power}*x"


def long_sum(rng: Random) -> str:
    """Many terms of one kind."""
    kinds = [
        lambda i: f"{surd(rng)}", lambda i: f"a{i}*x", lambda i: f"x^{i}", lambda i: f"sin({i}*x)",
        lambda i: f"exp({number(rng)}*x)", lambda i: f"{number(rng)}^x", lambda i: f"log(x + {i})",
        lambda i: f"1/(x + {i})", lambda i: f"sqrt(x + {number(rng)})", lambda i: f"x^(1/{i + 2})",
        lambda i: f"{number(rng)}", lambda i: f"{rng.choice(LETTERS)}^{i}",
        lambda i: f"tan({i}*x)", lambda i: f"log({number(rng)})", lambda i: f"atan({surd(rng)})",
    ]  # fmt: skip
    kind, count = rng.choice(kinds), rng.choice([3, 6, 12, 25, 50])
    joint = rng.choice([" + ", " - ", "*", "/", ")*("])
    text = joint.join(kind(i) for i in range(count))
    return f"({text})" if joint == ")*(" else text


def constant(rng: Random) -> str:
    """No letter and no x: SymPy looks for the signs of such things."""
    numbers = ["I", "I", "pi", "E", "2", "3", "-1", "1/2", "(1 + I)", "sqrt(3)"]
    text = expression(rng, rng.randint(1, 5))
    return sub(r"\b(x|e|[a-dfghk]|k_1|lambda)\b", lambda match: rng.choice(numbers), text)


def mixed(rng: Random) -> str:
    return expression(rng, rng.randint(1, 4))


def odd_text(rng: Random) -> str:
    """One equation, mostly with an x; some are beyond the caps and some are no equations."""
    shape = rng.choice([mixed, mixed, mixed, mixed, nested, power_of_sum, long_sum, constant])
    text = shape(rng)
    if rng.random() < 0.3:
        text = f"{rng.choice([mixed, atom, constant])(rng)}*({text})"
    if rng.random() < 0.4:
        text = f"{text} + {rng.choice([mixed, atom, nested, surd, constant])(rng)}"
    if "x" not in text:
        text = f"{text} + x" if rng.random() < 0.5 else f"({text})*x"
    return f"{text} = {rng.choice([atom, number, mixed])(rng)}"
