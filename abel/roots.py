"""All roots of an equation: what a solution's steps left out is followed as well, and proved.

A solution is one way through the branches of its steps. Every other branch goes on with the same
later steps, or with the policy's where those do not fit; an integer n stands for branches without
end. What a way ends in is a candidate: proved in the original equation, dropped if refuted, listed
apart if neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from itertools import product
from typing import Any, NamedTuple

import mpmath
import sympy as sp
from flint import acb, arb
from sympy import And, Expr, Integer, Ne, Symbol, latex, sstr

from abel.actions import Action, describe, settle
from abel.balls import Point, precision
from abel.branches import FINITE, factors, forks, may_lose, principal
from abel.cov import open_goals, unwind
from abel.env import EnvConfig, look
from abel.equation import ZERO, Equation, X, num_nodes
from abel.oracle import NEAR, REACH, window
from abel.rewrite import difference, replace, total
from abel.rewrite import product as times
from abel.samples import points_for
from abel.search import Solution
from abel.transitions import Place, TransitionCache, advance, land, start_of
from abel.verify import Verdict, verify_root

MAX_WAYS, MAX_ASKED = 64, 12  # branches followed, and calls of the policy, for an equation
SMALL = range(-NEAR, NEAR + 1)  # integers that are tried where there is no proof for all of them
MAX_FACTORS, MAX_DEGREE = 4, 16
NAMES = ("n", "m", "k", "j", *(f"n{i}" for i in range(1, MAX_WAYS)))

# From an equation and a place on the way from it to a solution that starts there.
Decode = Callable[[Equation, Place], Solution]
Value = Any  # a number of mpmath, or None where there is none
Table = dict[tuple[int, ...], list[Value]]  # a family by its integers, at every sample point


@dataclass(frozen=True)
class Root:
    """A root, or a family of them in integers, with its verdict and where it branched off."""

    value: Expr
    status: str  # "proved", "unproven", or "proved for n = ..." where there is no proof for all
    valid_when: Any = None
    how: tuple[str, ...] = ()
    proved_at: tuple[tuple[int, ...], ...] | None = None  # values of its integers, None for all

    @property
    def proved(self) -> bool:
        return self.status.startswith("proved")

    @property
    def integers(self) -> tuple[Symbol, ...]:
        found = (symbol for symbol in self.value.free_symbols if symbol.is_integer)
        return tuple(sorted(found, key=lambda symbol: NAMES.index(symbol.name)))

    def at(self, index: Iterable[int]) -> Expr:
        """The root for these values of its integers."""
        return replace(self.value, dict(zip(self.integers, map(Integer, index))))

    def to_text(self) -> str:
        names = ", ".join(symbol.name for symbol in self.integers)
        notes = [self.status]
        if names and self.status == "proved":
            notes = [f"proved for all integers {names}"]
        if self.valid_when is not None:
            notes.append(f"valid when {sstr(self.valid_when)}")
        first = f"x = {sstr(self.value)}   ({', '.join(notes)})"
        return "\n".join([first, *(f"    {note}" for note in self.how)])

    def to_data(self) -> dict[str, Any]:
        condition = None if self.valid_when is None else sstr(self.valid_when)
        return {
            "root": sstr(self.value), "integers": [symbol.name for symbol in self.integers],
            "status": self.status, "valid_when": condition, "how": list(self.how),
        }  # fmt: skip


@dataclass(frozen=True)
class Roots:
    """What was found for an equation."""

    equation: Equation
    found: tuple[Root, ...]  # proved, no two the same
    unproven: tuple[Root, ...]
    refuted: int  # candidates that are no roots
    every_branch: bool  # whether every branch was followed to its end

    def to_text(self) -> str:
        lines = [self.count(), *(root.to_text() for root in self.found)]
        lines += ["not proved, not counted:"] * bool(self.unproven)
        return "\n".join([*lines, *(root.to_text() for root in self.unproven)])

    def to_latex(self) -> str:
        lines = [rf"& x = {latex(root.value)} \\" for root in self.found]
        return "\n".join([r"\begin{align*}", *lines, r"\end{align*}"])

    def count(self) -> str:
        families = sum(bool(root.integers) for root in self.found)
        single = len(self.found) - families
        parts = [f"{single} root{'s' * (single != 1)}"] if single or not families else []
        if families:
            parts.append(f"{families} {'family' if families == 1 else 'families'} of roots")
        return " and ".join(parts)

    def to_data(self) -> dict[str, Any]:
        return {
            "roots": [root.to_data() for root in self.found],
            "unproven": [root.to_data() for root in self.unproven],
            "refuted": self.refuted, "every_branch_followed": self.every_branch,
        }  # fmt: skip


def all_roots(
    solution: Solution, decode: Decode, config: EnvConfig, cache: TransitionCache
) -> Roots:
    """Every root that branches of the solution's steps lead to; also where they led to none."""
    equation = solution.equation
    explorer = Explorer(equation, decode, config, cache)
    explorer.run(solution)
    ends: dict[Expr, tuple[str, ...]] = {solution.root: ()} if solution.solved else {}
    for value, how in explorer.ends:
        ends.setdefault(value, how)
    judged = [judge(equation, value, how, cache) for value, how in ends.items()]
    roots = merged(equation, [root for roots in judged for root in roots])
    found, unproven = (tuple(r for r in roots if r.proved is proved) for proved in (True, False))
    refuted = sum(not roots for roots in judged)
    return Roots(equation, found, unproven, refuted, explorer.every_branch)


def actions_of(solution: Solution) -> tuple[Action, ...]:
    return tuple(observation.actions[index] for observation, index, *_ in solution.path)


# ---- Ways: from a place to x = r ----


class Way(NamedTuple):
    """A place from which to go on, and the steps to try first."""

    place: Place
    plan: tuple[Action, ...] = ()
    trusted: bool = True  # whether the plan led to a root, so that it may on other branches
    how: tuple[str, ...] = ()
    num_integers: int = 0


class Explorer:
    """Follows every branch of every step, each until x = r."""

    def __init__(
        self, equation: Equation, decode: Decode, config: EnvConfig, cache: TransitionCache
    ) -> None:
        self.equation, self.decode, self.config, self.cache = equation, decode, config, cache
        taken = {symbol.name for symbol in equation.coefficients}
        self.names = [name for name in NAMES if name not in taken]
        self.pending: list[Way] = []
        self.met: set[Place] = set()
        self.ends: list[tuple[Expr, tuple[str, ...]]] = []
        self.asked = 0
        self.every_branch = True

    def run(self, solution: Solution) -> None:
        start = start_of(self.equation, self.cache)
        self.pending = [Way(start, actions_of(solution), solution.solved)]
        for _ in range(MAX_WAYS):
            if not self.pending:
                return
            if not self.follow(self.pending.pop(0)):
                self.every_branch = False
        self.every_branch = False

    def follow(self, way: Way) -> bool:
        """Go on until x = r, or until the way parts in others; whether one of these happened."""
        place, plan, trusted, how, num_integers = way
        asked, own = False, set()
        spare = False  # whether the ways of factors hold all roots, so that this one may end
        while not place.form.solved_form:
            if place in self.met:  # its future is known, unless this way goes in a circle
                return place not in own
            self.met.add(place)
            own.add(place)
            parts = self.split(place, how, num_integers)
            spare = spare or bool(parts) and self.met.isdisjoint(part.place for part in parts)
            self.pending += parts
            legal = look(place, self.config, self.cache).actions
            index = locate(plan, legal)
            if index is None and not asked:
                (plan, trusted), asked = self.ask(place), True
                index = locate(plan, legal)
            if index is None:
                return spare
            action, plan = legal[index], plan[1:]
            rest = plan if trusted else ()
            ways = self.fork(Way(place, rest, True, how, num_integers), action, index)
            if ways:
                self.pending += ways
                return True
            place, _ = advance(place, action, index, self.cache)
        self.ends.append((unwind(place.stack, place.form.rhs), how))
        return True

    def ask(self, place: Place) -> tuple[tuple[Action, ...], bool]:
        """The policy's steps from here, and whether they lead to a root."""
        self.asked += 1
        if self.asked > MAX_ASKED:
            return (), False
        solution = self.decode(self.equation, place)
        return actions_of(solution), solution.solved

    def split(self, place: Place, how: tuple[str, ...], num_integers: int) -> list[Way]:
        """If the equation is a product = 0, a way for each factor."""
        ways = []
        for factor in factors(place.form.lhs, place.form.rhs):
            part = land(place._replace(form=self.cache.form(factor, ZERO)), self.cache)
            note = f"{place.form}: {sstr(factor)} = 0"
            ways.append(Way(part, how=(*how, note), num_integers=num_integers))
        return ways

    def fork(self, way: Way, action: Action, index: int) -> list[Way]:
        """The branches of a step, the principal one among them; none if there is only one."""
        place, plan, trusted, how, num_integers = way
        form = place.form
        after, transform = form.successors[index] or self.cache.successor(form, index)
        if after is form:
            return []
        if may_lose(action.op, transform):
            self.every_branch = False
        fresh = Symbol(self.names[num_integers], integer=True)
        step, ways = describe(action._replace(op=principal(action.op, form.lhs))), []
        for branch in forks(action.op, form.lhs, form.rhs, after.rhs, transform, fresh):
            there = place._replace(form=self.cache.form(*settle(after.lhs, branch.rhs)))
            if branch.transform is not None:
                stack = (*place.stack, branch.transform)
                there = there._replace(
                    stack=stack, goals=open_goals(stack), num_changes=place.num_changes + 1
                )
            used = num_integers + (action.op not in FINITE)
            note = (f"{form}: {step}, {branch.note}",) if branch.note else ()
            ways.append(Way(land(there, self.cache), plan, trusted, (*how, *note), used))
        return ways


def locate(plan: Sequence[Action], legal: Sequence[Action]) -> int | None:
    """Where the plan's next action is among the legal ones; a letter for constants may stand for
    others on this branch, so its name will do.
    """
    if not plan:
        return None
    if plan[0] in legal:
        return legal.index(plan[0])
    names = [str(action) for action in legal]
    return names.index(str(plan[0])) if str(plan[0]) in names else None


# ---- Verdicts, for families as well ----


def judge(
    equation: Equation, value: Expr, how: tuple[str, ...], cache: TransitionCache
) -> list[Root]:
    """The candidate if it is a root or may be one; what is left of a family that is none.

    A proof for a symbol n says nothing of n = 0, which is tried by itself.
    """
    verdict = cache.verdict(equation, value)
    root = Root(value, verdict.status, verdict.valid_when, how)
    if root.integers and verdict.status == "unproven":
        return [one_by_one(equation, root, cache)]
    rest: list[Root] = []
    for n in root.integers:
        zero = replace(value, {n: ZERO})
        found = judge(equation, zero, (*how, f"{n} = 0"), cache)
        if not verdict:
            rest += found
        elif not any(same_condition(root, other, n) for other in found if other.value == zero):
            rest += found
            condition = Ne(n, 0) if root.valid_when is None else And(root.valid_when, Ne(n, 0))
            root = Root(value, root.status, condition, how)
    refuted = verdict.status in ("refuted", "undefined")
    return rest if refuted else [root, *rest]


def same_condition(root: Root, zero: Root, n: Symbol) -> bool:
    """Whether n = 0 is proved, and wherever the family is."""
    if zero.status != "proved" or zero.valid_when is None:
        return zero.status == "proved"
    return root.valid_when is not None and root.valid_when.subs(n, 0) == zero.valid_when


def one_by_one(equation: Equation, root: Root, cache: TransitionCache) -> Root:
    """A family without a proof for all integers: those from -2 to 2 that are proved."""
    if len(root.integers) not in REACH:
        return root
    verdicts: dict[tuple[int, ...], Verdict] = {}
    for index in product(SMALL, repeat=len(root.integers)):
        verdicts[index] = cache.verdict(equation, root.at(index))
    proved = {index: verdict for index, verdict in verdicts.items() if verdict}
    conditions = {verdict.valid_when for verdict in proved.values()}
    if len(conditions) > 1:
        proved = {index: verdict for index, verdict in proved.items() if not verdict.valid_when}
    if not proved:
        return root
    names = ", ".join(symbol.name for symbol in root.integers)
    listed = ", ".join(str(index if len(index) > 1 else index[0]) for index in proved)
    which = f"{SMALL[0]}..{SMALL[-1]}" if len(proved) == len(verdicts) else listed
    condition = next(iter(proved.values())).valid_when
    status = f"proved for {names} = {which}"
    return Root(root.value, status, condition, root.how, tuple(proved))


# ---- No root twice ----


def values_at(expr: Expr, symbols: list[Symbol], points: list[tuple[float, ...]]) -> list[Value]:
    """The expression at every point, to 40 digits; None where it has no such value."""
    return [value_at(expr, Point(dict(zip(symbols, point)))) for point in points]


def value_at(expr: Expr, point: Point) -> Value:
    return point.settle(expr, lambda z: mpmath.mpmathify(z) if is_exact_enough(z) else None)


def is_exact_enough(value: acb) -> bool:
    return bool(value.rad() < 1e-40 * (1 + abs(value)))


def is_same(first: Value, second: Value) -> bool:
    if first is None or second is None:
        return False
    return abs(first - second) <= 1e-25 * (1 + abs(first))


def is_root_at(
    equation: Equation, symbols: list[Symbol], point: tuple[float, ...], value: Value
) -> bool:
    """Whether a number with 40 digits is a root for these coefficients."""
    ball = acb(arb(value.real, radius := 1e-38 * float(1 + abs(value))), arb(value.imag, radius))
    where, bits = Point(dict(zip(symbols, point))), 256
    where.let(X, ball, bits)
    try:
        sides = [where.value(side, bits) for side in (equation.lhs, equation.rhs)]
        away = [where.value(entry, bits) for entry in equation.nonzero]
    except (ArithmeticError, RecursionError):
        return False
    with precision(bits):
        residual = sides[0] - sides[1]
    return residual.contains(0) and not any(entry.contains(0) for entry in away)


def merged(equation: Equation, roots: list[Root]) -> tuple[Root, ...]:
    """Without roots that others give: unproven ones go before proved ones, single roots before
    families, conditional before unconditional, large before small.

    What equals others at every sample point goes if it is proved to be equal, or if a polynomial
    has no more roots than the others. Otherwise it stays, and says so.
    """
    symbols = list(equation.coefficients)
    points = points_for(symbols)
    order = sorted(roots, key=lambda root: (
        not root.proved, -len(root.integers), root.proved_at is not None,
        root.valid_when is not None, num_nodes(root.value),
    ))  # fmt: skip
    kept: list[tuple[Root, Table]] = []
    for root in order:
        indices = window(len(root.integers)) if root.proved_at is None else root.proved_at
        kept.append((root, {i: values_at(root.at(i), symbols, points) for i in indices}))
    matched: list[tuple[Root, list[Expr]]] = []
    for root in reversed(order):
        rest = [pair for pair in kept if pair[0] is not root]
        others = matches(equation, root, rest, symbols, points)
        if others is not None:
            kept = rest
            if root.proved:
                matched.append((root, others))
    sure = [root for root, _ in kept if root.proved and root.valid_when is None]
    if matched and len(sure) == distinct_roots(equation):
        matched = []
    doubtful = [root for root, others in matched if not is_one_of(root, others)]
    note = "equal to another root at every sample point, which is no proof"
    noted = {id(root): replaced(root, how=(*root.how, note)) for root in doubtful}
    noted |= {id(root): root for root, _ in kept}
    return tuple(noted[id(root)] for root in roots if id(root) in noted)


def matches(
    equation: Equation, root: Root, kept: list[tuple[Root, Table]], symbols: list, points: list
) -> list[Expr] | None:
    """Other roots, one of which equals this one at every sample point; None if there is a point
    without.

    Which of them may change from point to point: a/2 + b/2 + sqrt((a - b)**2)/2 is a or b.
    """
    start = (0,) * len(root.integers)
    probes = [start] + [tuple(int(i == j) for i in range(len(start))) for j in range(len(start))]
    mine = [values_at(root.at(probe), symbols, points) for probe in probes]
    needed: dict[Expr, None] = {}
    for i, point in enumerate(points):
        numbers = [row[i] for row in mine]
        if None in numbers or not is_root_at(equation, symbols, point, numbers[0]):
            continue
        for other, table in kept:
            hits = find_all(numbers, table, i)
            filled = None if hits is None else reindexed(other, hits, root.integers)
            if filled is not None and holds_with(root, other, filled):
                needed[replace(other.value, filled)] = None
                break
        else:
            return None
    return list(needed) or None


def is_one_of(root: Root, others: list[Expr]) -> bool:
    """Whether it is proved that the root is always one of the others."""
    if len(others) > MAX_FACTORS:
        return False
    zero = times(*[difference(X, other) for other in others])
    equal = verify_root(Equation(zero), root.value)
    return bool(equal) and (equal.valid_when is None or root.valid_when is not None)


def find_all(numbers: list[Value], table: Table, place: int) -> list[tuple[int, ...]] | None:
    """Where in a family these numbers are, at one sample point."""
    hits = []
    for number in numbers:
        hit = next((index for index, row in table.items() if is_same(number, row[place])), None)
        if hit is None:
            return None
        hits.append(hit)
    return hits


def reindexed(
    other: Root, hits: list[tuple[int, ...]], integers: tuple[Symbol, ...]
) -> dict[Symbol, Expr]:
    """A family's integers written in other `integers`, by where 0 and the units lie in it."""
    start, *units = hits
    filled = {}
    for j, symbol in enumerate(other.integers):
        slopes = [times(Integer(unit[j] - start[j]), n) for unit, n in zip(units, integers)]
        filled[symbol] = total(Integer(start[j]), *slopes)
    return filled


def holds_with(root: Root, other: Root, filled: dict[Symbol, Expr]) -> bool:
    """Whether the other root is valid wherever this one is, as far as can be seen."""
    if other.valid_when is None:
        return True
    return other.valid_when.subs(filled, simultaneous=True) in (sp.true, root.valid_when)


def distinct_roots(equation: Equation) -> int | None:
    """How many roots a polynomial or rational equation has for general coefficients, each counted
    once; None for other equations.
    """
    try:
        top, _ = sp.fraction(sp.together(equation.lhs - equation.rhs))
        whole = sp.Poly(top, X).to_field()
        if not 0 < whole.degree() <= MAX_DEGREE:
            return None
        once = whole.quo(whole.gcd(whole.diff()))
        for entry in equation.nonzero:
            above, _ = sp.fraction(sp.together(entry))
            once = once.quo(once.gcd(sp.Poly(above, X).to_field()))
    except (sp.PolynomialError, sp.polys.polyerrors.BasePolynomialError):
        return None
    return once.degree()
