"""Values of trees as certified balls: is there a point at which all hypotheses hold?

Hypotheses that contradict each other would prove anything. So no script is written unless at one
point of letters every hypothesis certainly holds; and there the conclusion must look true.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping

from flint import acb, arb, ctx, fmpq

from abel.certificate.reader import Condition, Tree

BITS = 256
NUM_POINTS = 60
CLOSE = -60  # a difference below 2^-60 of the sides' size looks like 0

FUNCTIONS = {
    "exp": acb.exp, "log": acb.log, "sin": acb.sin, "cos": acb.cos, "tan": acb.tan,
    "asin": acb.asin, "acos": acb.acos, "atan": acb.atan, "lambert": acb.lambertw,
    "lower_lambert": lambda z: z.lambertw(-1),
}  # fmt: skip
Values = dict[Tree, acb]


def ball(node: Tree, known: Values, any_branch: bool = False) -> acb:
    """The value on principal branches; `known` has the letters, and remembers the rest.

    Next to a cut the ball has values of both sides, which tells nothing. With `any_branch` a root
    is then taken on the upper side.
    """
    found = known.get(node)
    if found is None:
        args = [ball(arg, known, any_branch) for arg in node.args]
        if any_branch and node.op == "root" and on_a_cut(args[0]):
            order = int(node.value)  # type: ignore[arg-type]
            found = apply(node, [-args[0]]) * (acb(0, arb.pi()) / order).exp()
        else:
            found = apply(node, args)
        known[node] = found
    return found


def on_a_cut(z: acb) -> bool:
    return bool(z.real < 0 and z.imag.contains(0) and not z.imag.is_zero())


def apply(node: Tree, args: list[acb]) -> acb:
    op, value = node.op, node.value
    if op == "number":
        return acb(fmpq(value.numerator, value.denominator))  # type: ignore[union-attr]
    if op == "pi":
        return acb(arb.pi())
    if op == "I":
        return acb(0, 1)
    if op == "negate":
        return -args[0]
    if op == "power":
        return args[0] ** int(value)  # type: ignore[arg-type]
    if op == "root":
        root = int(value)  # type: ignore[arg-type]
        return args[0].sqrt() if root == 2 else args[0].root(root)
    if op in FUNCTIONS:
        if op == "log" and args[0].is_zero():
            return acb(math.nan)
        return FUNCTIONS[op](args[0])
    left, right = args
    if op == "/":
        return left / right
    return left + right if op == "+" else left - right if op == "-" else left * right


def points(names: list[str]) -> Iterator[dict[str, fmpq]]:
    """Real letters, the same ones each time: small and large, of both signs."""
    rng = random.Random(0)
    for turn in range(NUM_POINTS):
        scale = (16, 64, 400)[turn % 3]
        yield {
            name: fmpq(rng.choice((1, 1, -1)) * rng.randrange(1, scale), rng.choice((7, 11, 16)))
            for name in names
        }


def holds(condition: Condition, known: Values) -> bool:
    """Whether a condition certainly holds; an order is one of real numbers only."""
    if condition.op in ("and", "or"):
        answers = [holds(part, known) for part in condition.args]
        return all(answers) if condition.op == "and" else any(answers)
    left, right = (ball(side, known) for side in condition.args)
    gap = left - right
    if not gap.is_finite():
        return False
    if condition.op == "!=":
        return not gap.contains(0)
    if not gap.imag.is_zero():
        return False
    sign = gap.real
    return {
        "=": sign.is_zero(), "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0
    }[condition.op]  # fmt: skip


def at(letters: Mapping[Tree, fmpq], root: Tree, x: Tree, any_branch: bool) -> Values:
    """What is known at a point: the letters, and x, the root's value there."""
    known: Values = {letter: acb(value) for letter, value in letters.items()}
    known[x] = ball(root, known, any_branch)
    return known


def looks_equal(left: acb, right: acb) -> bool | None:
    """False if the two certainly differ, None if nothing can be said."""
    gap = left - right
    if not gap.is_finite():
        return None
    if not gap.contains(0):
        return False
    size = 1 + abs(left) + abs(right)
    return True if gap.abs_upper() < size.abs_upper() * arb(2) ** CLOSE else None


class precise:
    """Balls of BITS bits inside of it."""

    def __enter__(self) -> None:
        self.before, ctx.prec = ctx.prec, BITS

    def __exit__(self, *error: object) -> None:
        ctx.prec = self.before
