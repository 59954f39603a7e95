"""What a script claims: the theorem's letters, hypotheses and conclusion.

All of it comes from the texts of the equation and the root. Nothing is taken from the verifier but
`valid_when`, which is a part of the claim. There are two kinds of statement:

field  for letters in any field of characteristic 0, with functions of which only laws are known
       that the principal branches over the complex numbers obey: sqrt(u)^2 = u, exp(log(u)) = u
       for u != 0, and the like. It says more than is claimed: the root is one on every branch.
real   for real letters at which every part of the equation and the root is real: radicands are at
       least 0, arguments of log positive. There the functions are those of Coq's library, and
       sqrt(u) is the root that is not negative.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from abel.certificate.numbers import Values, at, ball, holds, looks_equal, points, precise
from abel.certificate.reader import (
    Condition,
    NotCovered,
    Tree,
    number,
    read_condition,
    read_equation,
    read_expression,
    tree,
)  # fmt: skip

X = tree("letter", value="x")
ENOUGH_MODELS = 12
ZERO, ONE = number(0), number(1)


@dataclass(frozen=True)
class Claim:
    """x = root solves the equation, under a condition on the letters or always."""

    equation: str
    root: str
    valid_when: str | None = None


@dataclass(frozen=True)
class Statement:
    """A theorem: for all letters, with x = root, the hypotheses imply lhs = rhs."""

    claim: Claim
    real: bool
    letters: tuple[str, ...]
    root: Tree
    sides: tuple[Tree, Tree]
    hypotheses: tuple[Condition, ...]
    # Letters at which the claim has a meaning, but the statement says nothing: a part of the root
    # or the equation is not real there.
    restricted: bool = False


def state(claim: Claim, real: bool, look: bool = True) -> Statement:
    """The theorem for a claim; NotCovered if its hypotheses have no model, or numbers deny it.

    Without `look` no numbers are asked.
    """
    sides, root = read_equation(claim.equation), read_expression(claim.root)
    trees = (root, *sides)
    names = sorted(frozenset().union(*[each.names for each in trees]) - {"x"})
    if X.value in root.names:
        raise NotCovered("the root has x in it")
    condition = read_condition(claim.valid_when) if claim.valid_when else Condition("and", ())
    conditions = condition.args if condition.op == "and" else (condition,)
    for each in conditions:
        if not set().union(*[side.names for side in sides_of(each)]) <= set(names):
            raise NotCovered("the condition has a letter that the equation has not")
    asked = [side for each in conditions for side in sides_of(each)] if real else []
    domain = tuple(dict.fromkeys(part for each in (*trees, *asked) for part in defined(each, real)))
    restricted = look and check_model(names, trees, conditions, domain, real)
    if real and any(each.op == "I" for each in parts(*trees)):
        raise NotCovered("needs the principal branch of complex numbers")
    if not real:  # there is no order in a field; without the condition the theorem says more
        conditions = tuple(each for each in conditions if each.op == "!=")
    return Statement(claim, real, tuple(names), root, sides, (*conditions, *domain), restricted)


def parts(*trees: Tree) -> list[Tree]:
    """Every part of some trees once, arguments before what is made of them."""
    found: dict[Tree, None] = {}

    def visit(node: Tree) -> None:
        if node not in found:
            for arg in node.args:
                visit(arg)
            found[node] = None

    for each in trees:
        visit(each)
    return list(found)


def sides_of(condition: Condition) -> list[Tree]:
    found: list[Tree] = []
    for arg in condition.args:
        found += sides_of(arg) if isinstance(arg, Condition) else [arg]
    return found


def differs_from_0(node: Tree) -> list[Condition]:
    """`node` != 0, unless it is a number."""
    value = node.rational
    if value is None:
        return [Condition("!=", (node, ZERO))]
    if value == 0:
        raise NotCovered("a division by 0")
    return []


def defined(whole: Tree, real: bool) -> list[Condition]:
    """What must hold so that a tree has a value (over the reals, a real one)."""
    found: list[Condition] = []
    for node in parts(whole):
        arg = node.args[0] if node.args else ZERO
        if node.op == "/":
            found += differs_from_0(node.args[1])
        elif node.op == "power" and int(node.value) < 0:  # type: ignore[arg-type]
            found += differs_from_0(arg)
        elif node.op == "tan":
            found += differs_from_0(tree("cos", arg))
        elif node.op == "log":
            positive = [Condition("<", (ZERO, arg))] if not arg.is_number else []
            found += positive if real else differs_from_0(arg)
        elif node.op == "lower_lambert" and not real:
            found += differs_from_0(arg)
        elif node.op == "atan":
            found += differs_from_0(tree("+", ONE, tree("power", arg, value=2)))
        found += real_range(node.op, arg) if real else []
    return found


def real_range(op: str, arg: Tree) -> list[Condition]:
    """Where a function is real. Of numbers Coq knows that, but not where -1/e is."""
    if op == "lower_lambert":
        edge = tree("negate", tree("exp", tree("negate", ONE)))
        return [Condition("<=", (edge, arg)), Condition("<", (arg, ZERO))]
    if arg.is_number:
        return []
    if op in ("root", "lambert"):
        return [Condition("<=", (ZERO, arg))]
    if op in ("asin", "acos"):
        return [Condition("<=", (number(-1), arg)), Condition("<=", (arg, ONE))]
    return []


# ---- Models ----


def check_model(
    names: list[str], trees: tuple[Tree, ...], conditions: tuple, domain: tuple, real: bool
) -> bool:
    """Whether the domain leaves out letters that the claim is about; NotCovered without a model.

    A model is a point at which all hypotheses certainly hold; there the sides must look equal. Over
    a field any branch will do if the principal ones cannot be told.
    """
    with precise():
        for any_branch in (False, True)[: 1 if real else 2]:
            models, outside = find_models(names, trees, conditions, domain, any_branch)
            if models:
                return bool(outside)
    raise NotCovered("no letters were found at which all hypotheses hold")


def find_models(
    names: list[str], trees: tuple[Tree, ...], conditions: tuple, domain: tuple, any_branch: bool
) -> tuple[int, int]:
    """How many points are models, and how many are left out by an order in the domain."""
    root, lhs, rhs = trees
    models, outside = 0, 0
    for point in points(names):
        known = values_at(point, root, any_branch)
        left, right = (ball(side, known, any_branch) for side in (lhs, rhs))
        for each in (side for condition in domain for side in sides_of(condition)):
            ball(each, known, any_branch)
        if not all(holds(each, known) for each in conditions):
            continue
        if not all(holds(each, known) for each in domain):
            outside += any(order_fails(each, known) for each in domain)
            continue
        equal = looks_equal(left, right)
        if equal is False and not any_branch:
            at_point = ", ".join(f"{name} = {value}" for name, value in point.items())
            raise Denied(f"the sides differ at {at_point or 'the root'}")
        models += bool(equal)
        if not names or models == ENOUGH_MODELS:
            break
    return models, outside


class Denied(NotCovered):
    """Certified numbers say that the claim is false."""


def values_at(point: dict[str, fmpq], root: Tree, any_branch: bool) -> Values:
    letters = {tree("letter", value=name): value for name, value in point.items()}
    return at(letters, root, X, any_branch)


def order_fails(condition: Condition, known: Values) -> bool:
    """Whether an order, and no mere != 0, is certainly not given at a point."""
    left, right = (ball(side, known) for side in condition.args)
    gap = left - right
    if condition.op == "!=" or not gap.is_finite():
        return False
    return bool(not gap.imag.contains(0) or gap.real > 0)
