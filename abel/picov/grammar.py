"""Changes of variables as programs of a grammar, and equations as the learned generator sees them.

A program writes phi of x := phi(x) in prefix order, one production at a time. Arities end it,
illegal productions are masked, COPY points at a coefficient of the equation, NONE says that no
substitution helps.

The equation is shown as `expand(lhs - rhs)` with equal powers collected and vanishing terms
dropped; each maximal x-free block is one opaque leaf, and leaves that are each other's negatives
are joined by an edge (else exp(k*x) + exp(-k*x) could not be told from exp(k*x) + exp(m*x)). So
letters, scales and shapes of coefficients are invisible by construction.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from sympy import Add, Expr, Integer, Symbol, cos, exp, log, sin, sqrt, tan

from abel.datasets import FAMILIES, load_dataset
from abel.encode import ROLE, TOKENS, VOCAB, shown
from abel.equation import MINUS_ONE, ONE, ZERO, X, has_x, num_nodes, remember, split_factor
from abel.numeric import is_zero
from abel.operations.detector import MAX_DEGREE, change_variables, exponential_rate, propose
from abel.operations.relabel import relabel
from abel.parse import parse_expression
from abel.rewrite import (
    call,
    coefficients,
    collect,
    difference,
    expand,
    grows_past,
    negate,
    power,
    product,
    replace,
    total,
)  # fmt: skip

# ---- Grammar: a program is a list of columns; column NUM + j copies the equation's block j ----

ARITY = {
    "NONE": 0, "ADD": 2, "SUB": 2, "MUL": 2, "DIV": 2, "LOG": 1, "X": 0,
    "INT1": 0, "INT2": 0, "INT3": 0, "INT4": 0,
}  # fmt: skip
PRODUCTIONS = tuple(ARITY)
COLUMN = {name: column for column, name in enumerate(PRODUCTIONS)}
NUM = len(PRODUCTIONS)
ARITIES = np.array(list(ARITY.values()))
MAX_LENGTH = 9
MAX_VIEW_NODES = 300  # of an equation that is looked at, and of a substitution
Program = tuple[int, ...]


@remember
def legal_columns(program: Program, num_blocks: int) -> np.ndarray:
    """Which columns may come next: [NUM + num_blocks]; none once the program is complete."""
    slots = 1 + sum(ARITIES[c] if c < NUM else 0 for c in program) - len(program)
    arities = np.concatenate([ARITIES, np.zeros(num_blocks, dtype=int)])
    legal = (slots > 0) & (len(program) + slots + arities <= MAX_LENGTH)
    # x := x changes nothing; with x in one place phi can be undone by hand.
    legal[COLUMN["X"]] &= bool(program) and COLUMN["X"] not in program
    legal[COLUMN["NONE"]] &= not program
    if slots == 1 and COLUMN["X"] not in program:  # the last chance for x
        constant = arities == 0
        constant[[COLUMN["X"], COLUMN["NONE"]]] = False
        legal &= ~constant
    return legal


def build(program: Program, blocks: Sequence[Expr]) -> Expr | None:
    """The substitution that a complete program writes; None for NONE and for what is no use."""
    items = iter(program)

    def read() -> Expr:
        column = next(items)
        if column >= NUM:
            return blocks[column - NUM]
        name = PRODUCTIONS[column]
        parts = [read() for _ in range(ARITY[name])]
        if name == "ADD":
            return total(*parts)
        if name == "SUB":
            return total(parts[0], negate(parts[1]))
        if name == "MUL":
            return product(*parts)
        if name == "DIV":
            if is_zero(parts[1]):
                raise ZeroDivisionError
            return product(parts[0], power(parts[1], MINUS_ONE))
        if name == "LOG":
            if is_zero(parts[0]):
                raise ZeroDivisionError
            return call(log, parts[0])
        return X if name == "X" else Integer(int(name.removeprefix("INT")))

    if program == (COLUMN["NONE"],):
        return None
    try:
        phi = read()
    except ZeroDivisionError:
        return None
    return phi if has_x(phi) and phi != X and num_nodes(phi) <= MAX_VIEW_NODES else None


# ---- What the network sees ----

NEGATIVE = len(TOKENS)  # the block of two opposite ones that carries the minus sign


class View(NamedTuple):
    """The equation as a tree in preorder, the root's parent -1, and the blocks that COPY takes."""

    tokens: tuple[int, ...]
    roles: tuple[int, ...]
    parents: tuple[int, ...]
    opposites: tuple[tuple[int, int], ...]  # nodes of blocks that are each other's negatives
    nodes: tuple[int, ...]  # of the blocks
    blocks: tuple[Expr, ...]
    side: Expr

    @property
    def key(self) -> tuple:
        """Equal for equations that look the same to the network."""
        return self[:5]


@remember
def view_of(lhs: Expr, rhs: Expr) -> View | None:
    """The view of `lhs = rhs`; None if it is too large or x cancels."""
    side = difference(lhs, rhs)
    if grows_past(side, MAX_VIEW_NODES):
        return None
    terms = Add.make_args(collect(expand(side)))
    side = total(*[term for term in terms if not is_zero(split_factor(term)[0])])
    if not has_x(side) or num_nodes(side) > MAX_VIEW_NODES:
        return None
    tokens: list[int] = []
    roles: list[int] = []
    parents: list[int] = []
    blocks: dict[int, Expr] = {}

    def visit(expr: Expr, role: int, parent: int) -> None:
        node = len(tokens)
        token, children, *_ = shown(expr, role, "blocks")
        if token == VOCAB["<const>"]:
            blocks[node] = expr
        tokens.append(token)
        roles.append(role)
        parents.append(parent)
        for child, child_role, _ in children:
            visit(child, child_role, node)

    visit(side, ROLE["lhs"], -1)
    where: dict[Expr, list[int]] = {}
    for node, block in blocks.items():
        where.setdefault(block, []).append(node)
    opposites = []
    for node, block in blocks.items():
        partners = where.get(negate(block), ())
        opposites += [(node, other) for other in partners]
        if partners and block.could_extract_minus_sign():
            tokens[node] = NEGATIVE
    columns = tuple(tokens), tuple(roles), tuple(parents), tuple(opposites)
    return View(*columns, tuple(blocks), tuple(blocks.values()), side)


Targets = tuple[tuple[int, ...], ...]  # for each step, the columns that are right


def teach(view: View) -> Targets | None:
    """The CAS detector's answer as a program: `x - b/(n*a)`, `log(x)/k` or NONE."""
    coeffs = coefficients(view.side)
    words: list[str | Expr]
    if coeffs is None:
        rate = exponential_rate(view.side)
        words = ["NONE"] if rate is None else ["LOG", "X"] if rate is ONE else ["DIV", "LOG", "X"]
        words += [rate] * (len(words) == 3)
    elif not 2 <= len(coeffs) - 1 <= MAX_DEGREE or coeffs[-2] is ZERO:
        words = ["NONE"]
    else:
        b, a = coeffs[-2:]
        units, degree = (ONE, MINUS_ONE), f"INT{len(coeffs) - 1}"
        words = ["ADD" if (b is MINUS_ONE) != (a is MINUS_ONE) else "SUB", "X", "DIV"]
        words.append("INT1" if b in units else b)
        words += [degree] if a in units else ["MUL", degree, a]
    targets = tuple(
        (COLUMN[word],)
        if isinstance(word, str)
        else tuple(NUM + j for j, block in enumerate(view.blocks) if block == word)
        for word in words
    )
    return targets if all(targets) else None


# ---- Equations to learn from, and others to be tested on ----

FUNCTIONS = (exp, log, sin, cos, tan, sqrt, lambda u: u**2, lambda u: u**3, lambda u: 1 / u)
SEEN_SHAPES = "n*p", "n*p", "n*p", "p*q", "n*p/q", "p + n*q", "n*p^2/q", "n"
UNSEEN_SHAPES = (
    "n*p", "n*p*q^3", "n*sqrt(p) + q", "p^2/(q + n*r)", "n*sin(p)", "p*exp(q)", "n/7", "n*sqrt(7)",
    "p*q - r/n",
)  # fmt: skip
PLACES = tuple(map(Symbol, "npqr"))
parse_once = remember(parse_expression)


def draw_block(rng: random.Random, unseen: bool) -> Expr:
    """A coefficient; with `unseen`, of letters, scales and shapes that training never has."""
    letters = map(Symbol, rng.sample("hjkmnpqrst" if unseen else "abcdefgl", 3))
    n = Integer(rng.choice((-1, 1)) * (rng.randint(11, 60) if unseen else rng.randint(1, 10)))
    shape = rng.choice(UNSEEN_SHAPES if unseen else SEEN_SHAPES)
    return replace(parse_once(shape), dict(zip(PLACES, (n, *letters))))


def draw_family(family: str, rng: random.Random, unseen: bool) -> Expr:
    """A member of one of the paper's families: general, monic, special or not."""
    a, b, c = (draw_block(rng, unseen) for _ in range(3))
    a = rng.choice((a, a, a, ONE, MINUS_ONE))
    c = rng.choice((c, c, c, ZERO, a, b, -b))
    if family == "exponential":
        k = rng.choice((*map(Integer, range(1, 6)), *(draw_block(rng, unseen) for _ in range(2))))
        return a * exp(k * X) + b * exp(-k * X) + c
    n = FAMILIES.index(family) + 2
    if rng.random() < 0.5:  # special: nothing but x**n and a constant remains
        return expand(a * (X + b / (n * a)) ** n) + c
    b = rng.choice((b, b, b, a, -a, ONE, MINUS_ONE))
    rest = [rng.choice((ZERO, draw_block(rng, unseen), b, ONE)) * X**k for k in range(1, n - 1)]
    return a * X**n + b * X ** (n - 1) + Add(*rest) + c


OTHERS = (
    "powers", "dense", "dense", "exponentials", "exponentials", "inside", "nested", "mixture",
    "soup", "soup",
)  # fmt: skip


def draw_other(rng: random.Random, unseen: bool) -> Expr:
    """Mostly equations without a substitution: powers, exponentials, functions of x at random."""

    def block() -> Expr:
        return rng.choice((draw_block(rng, unseen), draw_block(rng, unseen), ONE, MINUS_ONE))

    kind = rng.choice(OTHERS)
    if kind == "dense":
        some = [rng.choice((block(), ONE, MINUS_ONE, ZERO)) for _ in range(rng.randint(1, 5))]
        return Add(*[c * X**k for k, c in enumerate(some)]) + block() * X ** len(some)
    if kind == "powers":
        exponents = rng.sample(range(-3, 8), rng.randint(1, 4))
        return Add(*[block() * X**k for k in exponents if k]) + rng.choice((ZERO, block()))
    if kind == "exponentials":
        k, m = (rng.choice((draw_block(rng, unseen), Integer(2), ONE)) for _ in range(2))
        rates = [k, rng.choice((-k, -k, -k, m))]
        rates += rng.choice(([], [], [], [k], [m], [-m, m], [2 * k]))
        shifts = [rng.choice((ZERO, ZERO, block())) for _ in rates]
        return Add(*[block() * exp(r * X + s) for r, s in zip(rates, shifts)]) + block()
    if kind == "inside":  # a quadratic in sin(x) is not a quadratic
        inner = rng.choice(FUNCTIONS)(rng.choice((X, X + block(), block() * X)))
        return draw_family(rng.choice(FAMILIES), rng, unseen).subs(X, inner)
    if kind == "soup":  # what makes a substitution, and one term too many
        k = rng.choice((ONE, draw_block(rng, unseen)))
        terms = (X, X**2, X**3, X**4, X**5, 1 / X, exp(k * X), exp(-k * X), sin(X), sqrt(X), log(X))
        return Add(*[block() * term for term in rng.sample(terms, rng.randint(2, 5))]) + block()
    if kind == "mixture":
        side = draw_family(rng.choice(FAMILIES), rng, unseen) + block() * rng.choice(FUNCTIONS)(X)
        return side * rng.choice((ONE, ONE, X, X**2, exp(X)))
    side = X
    for _ in range(rng.randint(1, 5)):
        step = rng.choice((*"++**/", *FUNCTIONS, *FUNCTIONS[:6]))
        if step == "+":
            side += block() * rng.choice((ONE, ONE, X))
        elif step in ("*", "/"):
            side = side * block() if step == "*" else side / block()
        else:
            side = step(side)
    return side


def draw_equation(family: str, rng: random.Random, unseen: bool) -> tuple[Expr, Expr]:
    """An equation as it may stand at the beginning or in the middle of an episode."""
    draw = draw_other if family == "other" else lambda *args: draw_family(family, *args)
    lhs, rhs = draw(rng, unseen), ZERO
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        step = rng.choice(("cov", "cov", "sub", "scale", "mul x", "relabel"))
        if step == "cov" and (phi := propose(lhs, rhs)) is not None:
            lhs, rhs = change_variables(lhs, rhs, phi)
            if family == "exponential" and rng.random() < 0.7:  # Laurent, then quadratic
                lhs, rhs = product(X, lhs), product(X, rhs)
        elif step == "sub":
            term = rng.choice(Add.make_args(lhs))
            lhs, rhs = difference(lhs, term), difference(rhs, term)
        elif step in ("scale", "mul x"):
            factor = X if step == "mul x" else draw_block(rng, unseen)
            lhs, rhs = product(factor, lhs), product(factor, rhs)
        elif step == "relabel":
            lhs, rhs, _ = relabel(lhs, rhs)
    return lhs, rhs


class Example(NamedTuple):
    view: View
    targets: Targets


ALL_KINDS = (*FAMILIES, "exponential", "other", "other", "other", "other")


def draw_equations(
    rng: random.Random, count: int, unseen: bool, families: Sequence[str] = ALL_KINDS
) -> Iterator[tuple[Expr, Expr]]:
    while count:
        lhs, rhs = draw_equation(rng.choice(families), rng, unseen)
        if num_nodes(lhs) + num_nodes(rhs) <= MAX_VIEW_NODES and (has_x(lhs) or has_x(rhs)):
            count -= 1
            yield lhs, rhs


@cache
def training_pool(seed: int, size: int, closed: tuple[str, ...]) -> dict[Example, int]:
    """Distinct examples and how often each was drawn; a quarter from `closed` datasets."""
    rng = random.Random(seed)
    pool: dict[tuple, Example] = {}
    counts: Counter[Example] = Counter()
    problems = [problem for name in closed for problem in load_dataset(name, "train")]
    chosen = [problem.equation for problem in rng.sample(problems, min(size // 4, len(problems)))]
    known = [(equation.lhs, equation.rhs) for equation in chosen]
    for lhs, rhs in (*known, *draw_equations(rng, size - len(known), unseen=False)):
        view = view_of(lhs, rhs)
        targets = None if view is None else teach(view)
        if view is not None and targets is not None:
            example = pool.setdefault((view.key, targets), Example(view, targets))
            counts[example] += 1
    return counts
