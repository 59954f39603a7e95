"""The action space: one table of operations, the terms they take, and which of them are legal.

Legality is decided from sizes and from numeric samples (`abel.numeric`), without building the
successor, and afresh in every state. An action is illegal if it changes nothing, if lhs - rhs
would be undefined or no longer depend on x, if it could lose a root, or if the result could pass a
size limit.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from sympy import Add, Expr, acos, asin, atan, cos, exp, latex, pi, sin, sstr, tan

from abel.equation import (
    MINUS_ONE,
    ONE,
    ZERO,
    X,
    has_x,
    integer_bits,
    num_nodes,
    remember,
    subterms,
)  # fmt: skip
from abel.lost_roots import RootGuard, has_denominator
from abel.numeric import (
    TOLERANCE,
    Values,
    depends_on_x,
    finite,
    is_solvable,
    is_zero,
    largest,
    scale_of,
    swelling,
    values_at,
)
from abel.operations.substitute import can_change, gather, lambert
from abel.rewrite import (
    TooLarge,
    call,
    collect,
    collectable,
    difference,
    expand,
    expandable,
    grows_past,
    has_exponential,
    has_logarithm,
    has_root,
    logarithm,
    negate,
    never_zero,
    power,
    product,
    root,
    total,
    undo,
)  # fmt: skip
from abel.transforms import can_relabel

MAX_NODES = 150
MAX_BITS = 256
SMALLEST = 1e-300  # the reciprocal of anything smaller may have no size


class Multiplier(NamedTuple):
    """A factor that both sides may be given, at the sample points."""

    values: Values
    sizes: tuple[float, ...]
    swelling: float
    guarded: bool  # whether it has a denominator with x, which may cost a root


class Facts(NamedTuple):
    """What legality asks about a term, gathered once."""

    term: Expr
    actions: dict[str, Action]  # with this term, by operation
    nodes: int
    has_x: bool
    size: float  # |term| at the first two sample points, which differ in x only
    times: Multiplier | None  # the term as a factor, None where it may be none
    over: Multiplier | None  # its reciprocal


@remember
def facts(term: Expr, scale: int) -> Facts:
    at = values_at(term, scale)
    times = over = None
    # 1 changes nothing, -1 is an operation of its own.
    if not (is_zero(term) or integer_bits(term) > MAX_BITS or term is ONE or term is MINUS_ONE):
        times = Multiplier(at, tuple(map(abs, at)), swelling(term, scale), has_denominator(term))
        if all(abs(v) > SMALLEST for v in at):
            inverse = tuple(1 / v for v in at)
            swell = swelling(term, scale)
            over = Multiplier(inverse, tuple(map(abs, inverse)), swell, has_x(term))
    actions = {name: Action(name, term) for name in TERM_OPERATIONS}
    size = abs(at[0]) + abs(at[1])
    return Facts(term, actions, num_nodes(term), has_x(term), size, times, over)


class Sides(NamedTuple):
    """The two sides of a state, with what legality asks about them again and again."""

    lhs: Expr
    rhs: Expr
    left: Values
    right: Values
    gap: list[complex]  # lhs - rhs at the sample points
    size: list[float]  # |lhs| + |rhs| there
    change: float  # of the gap when only x changes
    room: int  # nodes that a step may still bring
    swelling: float
    guard: RootGuard
    scale: int  # of x at the sample points
    largest: float  # number in the range there

    @classmethod
    def of(cls, lhs: Expr, rhs: Expr) -> Sides:
        scale = scale_of(lhs, rhs)
        left, right = values_at(lhs, scale), values_at(rhs, scale)
        gap = [v - w for v, w in zip(left, right)]
        size = [abs(v) + abs(w) for v, w in zip(left, right)]
        room = MAX_NODES - num_nodes(lhs) - num_nodes(rhs) - 6
        # A given equation may overflow at the samples: 0, so that nothing is legal that needs them.
        seen = finite(left, scale) and finite(right, scale)
        change = abs(gap[0] - gap[1]) if seen else 0.0
        swell = max(swelling(lhs, scale), 1.0 if rhs is ZERO else swelling(rhs, scale))
        guard = RootGuard(lhs, rhs)
        return cls(
            lhs, rhs, left, right, gap, size, change, room, swell, guard, scale, largest(scale)
        )  # fmt: skip

    def lead_on(self, apply: Callable[..., tuple[Expr, Expr]], *term: Expr) -> bool:
        """Whether the step can be made and leaves an equation in x."""
        try:
            return is_solvable(*apply(self.lhs, self.rhs, *term), self.scale)
        except TooLarge:
            return False


class Action(NamedTuple):
    """An operation and, if it takes one, its term."""

    op: str
    term: Expr | None = None

    def __str__(self) -> str:
        return self.op if self.term is None else f"{self.op} {sstr(self.term)}"


@dataclass(frozen=True)
class Operation:
    """One row of the table: adding an operation is adding a row.

    `apply` maps the two sides (and the term) to the new sides; macroactions, which also push a
    transform, are applied by the environment instead. `flag` names the `EnvConfig` field that
    switches it on.
    """

    name: str
    takes_term: bool
    legal: Callable[..., bool]
    apply: Callable[..., tuple[Expr, Expr]]
    text: str
    latex: str
    flag: str | None = None
    general: bool = False  # offered with --substitutions general only


# ---- Operations with a term ----


def add_is_legal(sides: Sides, about: Facts) -> bool:
    # A term so large that x would drown beside it could not be told from one that loses x.
    return sides.change > TOLERANCE * (sides.size[0] + sides.size[1] + 2 * about.size)


def subtract_is_legal(sides: Sides, about: Facts) -> bool:
    # Taking the left side from itself when the right is 0 only turns signs: that is mul -1.
    return add_is_legal(sides, about) and not (sides.rhs is ZERO and about.term == sides.lhs)


def multiply_is_legal(sides: Sides, about: Facts) -> bool:
    return scaling_is_legal(sides, about, about.times, inverse=False)


def divide_is_legal(sides: Sides, about: Facts) -> bool:
    return scaling_is_legal(sides, about, about.over, inverse=True)


def scaling_is_legal(sides: Sides, about: Facts, factor: Multiplier | None, inverse: bool) -> bool:
    """Whether both sides may be multiplied by the term, or divided if `inverse`."""
    if factor is None:
        return False
    size, (f, g, _), (size_f, size_g, size_h), swell, guarded = sides.size, *factor
    scale = size[0] * size_f + size[1] * size_g
    if not scale + size[2] * size_h < sides.largest:
        return False
    if not sides.swelling * swell < sides.largest:  # a power of a part may leave the range
        row = OPERATIONS["div" if inverse else "mul"]
        if not sides.lead_on(row.apply, about.term):
            return False
    if not about.has_x:
        return True
    if abs(sides.gap[0] * f - sides.gap[1] * g) <= TOLERANCE * scale:  # x would cancel
        return False
    return not (guarded and sides.guard.loses(about.term, inverse))


def reciprocal(term: Expr) -> Expr:
    return power(term, MINUS_ONE)


# ---- Operations on both sides ----


def both(function: Callable[[Expr], Expr]) -> Callable[[Expr, Expr], tuple[Expr, Expr]]:
    return lambda lhs, rhs: (function(lhs), function(rhs))


def function_is_legal(name: str, sample: Callable, apply: Callable, cancels: Callable | None):
    """Legality of applying a function to both sides.

    `sample` is the function on complex numbers. It shows whether x stays in the equation, but for
    a side that the function undoes on whatever branch (`cancels`): x**2 = (x + 1)**2 would become
    x = x + 1.
    """

    def legal(sides: Sides) -> bool:
        lhs, rhs, left, right = sides[:4]
        if sides.room < 0 or (
            name == "square" and max(integer_bits(lhs), integer_bits(rhs)) > MAX_BITS / 2
        ):
            return False
        if name == "log" and is_zero(rhs):
            return False
        powers = (name == "square" and not sides.swelling < sides.largest**0.5) or (
            name == "exp" and (has_logarithm(lhs) or has_logarithm(rhs))
        )
        if powers:  # one of them may leave the range where the whole does not
            return sides.lead_on(apply)
        if cancels is not None:
            if name in ("asin", "acos", "atan") and cancels(lhs) and not has_x(rhs):
                # sin(exp(x)) = 0 has roots, exp(x) = 0 has none: all of them would be lost.
                inner, value = apply(lhs, rhs)
                if never_zero(inner) and is_zero(value):
                    return False
            if not has_x(rhs):
                # Roots, log and asin shrink: what is finite and shows x plainly stays so. But acos
                # takes all small numbers, and atan all large ones, to pi/2.
                plain = sides.change > 1000 * TOLERANCE * (sides.size[0] + sides.size[1])
                if plain and name not in ("acos", "atan"):
                    return True
            elif cancels(lhs) or cancels(rhs):
                return sides.lead_on(apply)
        try:
            left, right = tuple(map(sample, left)), tuple(map(sample, right))
            seen = finite(left, sides.scale) and finite(right, sides.scale)
            return seen and depends_on_x(left, right)
        except (OverflowError, ValueError, ZeroDivisionError):
            return False

    return legal


# ---- Rewriting ----


def expand_is_legal(sides: Sides) -> bool:
    return any(map(expandable, sides[:2])) and not any(grows_past(s, MAX_NODES) for s in sides[:2])


def collect_is_legal(sides: Sides) -> bool:
    return any(map(collectable, sides[:2]))


def negate_is_legal(sides: Sides) -> bool:
    return sides.room >= 0 and sides.change > 0


def pushes(*args: Expr) -> NoReturn:
    raise TypeError("this operation pushes a transform: the environment applies it")


# ---- General substitutions (abel.substitute) ----


def holds(test: Callable[..., bool], *args: Any) -> bool:
    try:
        return test(*args)
    except Exception:  # SymPy raises anything on odd input; a long run must not end by it
        return False


def let_is_legal(sides: Sides, about: Facts) -> bool:
    return about.has_x and holds(can_change, "let", sides.lhs, sides.rhs, about.term)


def substitution_row(name: str, text: str, tex: str) -> Operation:
    def legal(sides: Sides) -> bool:
        return holds(can_change, name, sides.lhs, sides.rhs, None)

    return Operation(name, False, legal, pushes, text, tex, name.replace("-", "_"), True)


def gather_is_legal(sides: Sides) -> bool:
    return any(gather(side) != side for side in sides[:2])


def lambert_is_legal(sides: Sides) -> bool:
    return holds(lambda: lambert(sides.lhs, sides.rhs) is not None)


def other_branch(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr]:
    """u from sin(u) = c or cos(u) = c, not by the principal value but by the next one."""
    if isinstance(lhs, sin):
        return lhs.args[0], difference(pi, undo(asin, rhs))
    return lhs.args[0], difference(2 * pi, undo(acos, rhs))


def other_branch_is_legal(sides: Sides) -> bool:
    lhs, rhs = sides[:2]
    if sides.room < 0 or not isinstance(lhs, (sin, cos)) or has_x(rhs):
        return False
    return sides.lead_on(other_branch)


def term_rows() -> list[Operation]:
    return [
        Operation("add", True, add_is_legal,
                  lambda lhs, rhs, t: (total(lhs, t), total(rhs, t)), "add {}", "+ {}"),
        Operation("sub", True, subtract_is_legal,
                  lambda lhs, rhs, t: (difference(lhs, t), difference(rhs, t)),
                  "subtract {}", "- {}"),
        Operation("mul", True, multiply_is_legal,
                  lambda lhs, rhs, t: (product(lhs, t), product(rhs, t)),
                  "multiply by {}", r"\cdot {}"),
        Operation("div", True, divide_is_legal,
                  lambda lhs, rhs, t: (product(lhs, reciprocal(t)), product(rhs, reciprocal(t))),
                  "divide by {}", r"\div {}"),
    ]  # fmt: skip


def function_row(
    name: str, sample: Callable, function: Callable, text: str, tex: str,
    cancels: Callable | None = None, flag: str | None = None,
) -> Operation:  # fmt: skip
    apply = both(function)
    legal = function_is_legal(name, sample, apply, cancels)
    return Operation(name, False, legal, apply, text, tex, flag)


GOALS = ("resolvent", "let")  # what opens a goal
CHANGES = ("cov", "shift", "vieta", "tan-half", *GOALS)  # what a cap on substitutions counts
OPERATIONS: dict[str, Operation] = {
    row.name: row
    for row in [
        *term_rows(),
        function_row("square", lambda v: v * v, lambda s: power(s, ONE + ONE),
                     "square both sides", r"(\cdot)^2"),
        function_row("sqrt", cmath.sqrt, lambda s: root(s, 2),
                     "take the square root", r"\sqrt{\cdot}", lambda s: has_root(s, 2)),
        function_row("cbrt", lambda v: v ** (1 / 3), lambda s: root(s, 3),
                     "take the cube root", r"\sqrt[3]{\cdot}", lambda s: has_root(s, 3), "cbrt"),
        function_row("exp", cmath.exp, lambda s: call(exp, s), "take exp of both sides", r"\exp"),
        function_row("log", cmath.log, logarithm,
                     "take log of both sides", r"\log", has_exponential),
        function_row("sin", cmath.sin, lambda s: call(sin, s), "take sin of both sides", r"\sin"),
        function_row("cos", cmath.cos, lambda s: call(cos, s), "take cos of both sides", r"\cos"),
        function_row("asin", cmath.asin, lambda s: undo(asin, s),
                     "take asin of both sides", r"\arcsin", lambda s: isinstance(s, sin)),
        function_row("acos", cmath.acos, lambda s: undo(acos, s),
                     "take acos of both sides", r"\arccos", lambda s: isinstance(s, cos)),
        function_row("tan", cmath.tan, lambda s: call(tan, s),
                     "take tan of both sides", r"\tan", None, "tan"),
        function_row("atan", cmath.atan, lambda s: undo(atan, s),
                     "take atan of both sides", r"\arctan", lambda s: isinstance(s, tan), "tan"),
        Operation("branch", False, other_branch_is_legal, other_branch,
                  "undo sin or cos on the other branch", r"\text{other branch}", "branches"),
        Operation("expand", False, expand_is_legal, both(expand), "expand", r"\text{expand}"),
        Operation("collect", False, collect_is_legal, both(collect),
                  "collect x", r"\text{collect } x"),
        Operation("mul -1", False, negate_is_legal, both(negate), "multiply by -1", r"\cdot (-1)"),
        Operation("relabel", False, lambda sides: can_relabel(*sides[:2]), pushes,
                  "relabel constants", r"\text{relabel}", "relabel"),
        Operation("cov", False, lambda sides: True, pushes,
                  "change variables", r"\text{change variables}", "cov"),
        Operation("gather", False, gather_is_legal, both(gather), "factor out equal coefficients",
                  r"\text{gather}", None, True),
        Operation("lambert", False, lambert_is_legal,
                  lambda lhs, rhs: lambert(lhs, rhs) or (lhs, rhs),
                  "undo u*exp(u)", "W", "lambert", True),
        # What pushes a transform comes last, what opens a goal at the very end: caps cut the list
        # of actions.
        substitution_row("shift", "remove the next-to-leading term", r"\text{shift}"),
        substitution_row("vieta", "substitute x - p/(n*x)", r"\text{Vieta}"),
        substitution_row("tan-half", "substitute 2*atan(x)", r"x := 2\arctan x"),
        substitution_row("resolvent", "split a quartic into quadratics", r"\text{resolvent}"),
        Operation("let", True, let_is_legal, pushes, "name the part of x in {}", r"u := {}",
                  "let", True),
    ]
}  # fmt: skip


TERM_OPERATIONS = tuple(row.name for row in OPERATIONS.values() if row.takes_term)


# ---- Terms ----


def terms_of(lhs: Expr, rhs: Expr, blocks: bool) -> list[Expr]:
    if rhs is ZERO:
        return list(subterms(lhs, blocks))
    found = dict.fromkeys(subterms(lhs, blocks) + subterms(rhs, blocks))
    return [term for term in found if term is not ZERO]


def legal_actions(
    lhs: Expr, rhs: Expr, operations: tuple[Operation, ...], blocks: bool
) -> list[Action]:
    """Every legal action, operations in table order, each with its terms in preorder."""
    sides = Sides.of(lhs, rhs)
    known = [facts(term, sides.scale) for term in terms_of(lhs, rhs, blocks)]
    terms = [about for about in known if 2 * about.nodes <= sides.room]
    actions: list[Action] = []
    for row in operations:
        legal, name = row.legal, row.name
        try:
            if row.takes_term:
                actions += [about.actions[name] for about in terms if legal(sides, about)]
            elif legal(sides):
                actions.append(Action(name))
        except TooLarge:  # of one term, and then it is not legal
            if row.takes_term:
                actions += [about.actions[name] for about in terms if holds(legal, sides, about)]
    return actions


def settle(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr]:
    """The unknown stands on the left: sides swap if x is only on the right."""
    return (rhs, lhs) if has_x(rhs) and not has_x(lhs) else (lhs, rhs)


def apply(action: Action, lhs: Expr, rhs: Expr) -> tuple[Expr, Expr]:
    """The sides after an action that is not a macroaction."""
    row = OPERATIONS[action.op]
    sides = row.apply(lhs, rhs, action.term) if row.takes_term else row.apply(lhs, rhs)
    return settle(*sides)


def solved_form(lhs: Expr, rhs: Expr) -> bool:
    return lhs == X and not has_x(rhs)


def describe(action: Action, as_latex: bool = False) -> str:
    """What the action does, as a person would say or write it."""
    row = OPERATIONS[action.op]
    template = row.latex if as_latex else row.text
    if action.term is None:
        return template
    term = latex(action.term) if as_latex else sstr(action.term)
    if isinstance(action.term, Add) and as_latex:
        term = rf"\left({term}\right)"
    return template.replace("{}", term)
