"""All roots of an equation: what a solution's steps left out is followed as well, and proved.

A solution is one way through the branches of its steps. Every other branch goes on with the same
later steps, or with the policy's where those do not fit; an integer n stands for branches without
end. What a way ends in is a candidate: proved in the original equation, dropped if refuted, listed
apart if neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from itertools import product
from typing import Any, NamedTuple

import sympy as sp
from sympy import And, Expr, Integer, Ne, Symbol, sstr

from abel.env import EnvConfig, look
from abel.equation import ZERO, Equation
from abel.operations import (
    OPERATIONS,
    Action,
    Fork,
    Taken,
    describe,
    factors,
    out_of_reach,
    settle,
)
from abel.render import Formula, Line, Lines, as_text, condition, root_formula, to_latex
from abel.rewrite import replace
from abel.roots.families import NAMES, Root, exception, implies, without_turns
from abel.roots.merging import merged
from abel.search import NEAR, REACH, Solution
from abel.transforms import Substitute, unwind
from abel.transitions import State, TransitionCache, advance, land, start_of
from abel.verify import Verdict

MAX_LEADS, MAX_ASKED = 64, 12  # branches followed, and calls of the policy, for an equation
SMALL = range(-NEAR, NEAR + 1)  # integers that are tried where there is no proof for all of them

# From an equation and a state on the way from it to a solution that starts there.
Decode = Callable[[Equation, State], Solution]


@dataclass(frozen=True)
class Roots:
    """What was found for an equation."""

    equation: Equation
    found: tuple[Root, ...]  # proved, no two the same
    unproven: tuple[Root, ...]
    refuted: int  # candidates that are no roots
    every_branch: bool  # whether every branch was followed to its end

    def to_text(self) -> str:
        told = self.equation.told
        lines = [self.count(), *(root.to_text(told) for root in self.found)]
        lines += ["not proved, not counted:"] * bool(self.unproven)
        return "\n".join([*lines, *(root.to_text(told) for root in self.unproven)])

    def to_latex(self) -> str:
        """An align* environment: each root in its simplest form, and when it is one."""
        lines = [self.line(root) for root in self.found]
        return to_latex(Lines(tuple(lines), None))

    def line(self, root: Root) -> Line:
        names = ", ".join(symbol.name for symbol in root.integers)
        said: list[Any] = [f"for all integers {names}"] * bool(names and root.status == "proved")
        if root.valid_when is not None:
            stored = self.equation.shown(root.valid_when)
            said += [", " * bool(said) + "valid when ", *condition(stored)]
        value = root.value if root.form is None else root.form
        return Line(None, tuple(said), root_formula(self.equation, value))

    def count(self) -> str:
        families = sum(bool(root.integers) for root in self.found)
        single = len(self.found) - families
        parts = [f"{single} root{'s' * (single != 1)}"] if single or not families else []
        if families:
            parts.append(f"{families} {'family' if families == 1 else 'families'} of roots")
        return " and ".join(parts)

    def to_data(self) -> dict[str, Any]:
        return {
            "roots": [root.to_data(self.equation.shown) for root in self.found],
            "unproven": [root.to_data(self.equation.shown) for root in self.unproven],
            "refuted": self.refuted, "every_branch_followed": self.every_branch,
        }  # fmt: skip


def all_roots(
    solution: Solution, decode: Decode, config: EnvConfig, cache: TransitionCache
) -> Roots:
    """Every root that branches of the solution's steps lead to; also where they led to none."""
    equation = solution.equation
    explorer = Explorer(equation, decode, config, cache)
    for _ in explorer.steps(solution):
        pass
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


# ---- Leads: from a state to x = r ----


class Lead(NamedTuple):
    """A state from which to go on, and the steps to try first."""

    state: State
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
        taken = {equation.unknown, *(symbol.name for symbol in equation.coefficients)}
        self.names = [name for name in NAMES if name not in taken]
        self.pending: list[Lead] = []
        self.late: list[Lead] = []  # for when none is pending
        self.met: set[State] = set()
        self.ends: list[tuple[Expr, tuple[str, ...]]] = []
        self.asked = 0
        self.every_branch = True

    def steps(self, solution: Solution) -> Iterator[None]:
        """Follow one lead after another."""
        start = start_of(self.equation, self.cache)
        self.pending = [Lead(start, actions_of(solution), solution.solved)]
        for _ in range(MAX_LEADS):
            if not self.pending:
                self.pending, self.late = self.late, []
            if not self.pending:
                return
            if not self.follow(self.pending.pop(0)):
                self.every_branch = False
            yield
        self.every_branch = False

    def follow(self, lead: Lead) -> bool:
        """Go on until x = r, or until the lead parts in others; whether one of these happened."""
        state, plan, trusted, how, num_integers = lead
        asked, own = False, set()
        spare = False  # whether the leads of factors hold all roots, so that this one may end
        while not state.form.solved_form:
            if state in self.met:  # its future is known, unless this lead goes in a circle
                return state not in own
            self.met.add(state)
            own.add(state)
            parts = self.split(state, how, num_integers)
            spare = spare or bool(parts) and self.met.isdisjoint(part.state for part in parts)
            self.pending += parts
            legal = look(state, self.config, self.cache).actions
            action = locate(plan, legal)
            if action is None and not asked:
                (plan, trusted), asked = self.ask(state), True
                action = locate(plan, legal)
            if action is None:
                return spare
            plan = plan[1:]
            rest = plan if trusted else ()
            leads = self.fork(Lead(state, rest, True, how, num_integers), action)
            if leads:
                self.pending += leads
                return True
            state, _ = advance(state, action, self.cache)
        self.ends.append((without_turns(unwind(state.stack, state.rhs)), how))
        return True

    def ask(self, state: State) -> tuple[tuple[Action, ...], bool]:
        """The policy's steps from here, and whether they lead to a root."""
        self.asked += 1
        if self.asked > MAX_ASKED:
            return (), False
        solution = self.decode(self.equation, state)
        return actions_of(solution), solution.solved

    def split(self, state: State, how: tuple[str, ...], num_integers: int) -> list[Lead]:
        """If the equation is a product = 0, a lead for each factor."""
        leads = []
        for factor in factors(state.lhs, state.rhs):
            part = land(state._replace(form=self.cache.form(factor, ZERO)), self.cache)
            told = self.told(state, factor, ZERO) or "another factor is 0"
            note = self.note(state, told)
            leads.append(Lead(part, how=(*how, note), num_integers=num_integers))
        return leads

    def told(self, state: State, lhs: Expr, rhs: Expr) -> str:
        """An equation of a state; nothing after a substitution, when x is another one."""
        return "" if state.stack else self.equation.told(as_text(Formula(lhs, rhs)))

    def note(self, state: State, what: str) -> str:
        """Where a branch parts from the steps that are shown, and how."""
        equation = self.told(state, state.lhs, state.rhs)
        return f"{equation}: {what}" if equation else what

    def fork(self, lead: Lead, action: Action) -> list[Lead]:
        """The branches of a step, the principal one among them; none if there is only one."""
        state, plan, trusted, how, num_integers = lead
        form, row = state.form, OPERATIONS[action.op]
        after, transform = self.cache.successor(form, action)
        if after is form:
            return []
        fresh = Symbol(self.names[num_integers], integer=True)
        taken = Taken(form.lhs, form.rhs, after.rhs, transform, fresh, action.term)
        if not row.keeps_roots(taken) or out_of_reach(transform):
            self.every_branch = False
        leads: list[Lead] = []
        for fork in row.forks(taken):
            lhs = after.lhs if fork.lhs is None else fork.lhs
            there = state.push(self.cache.form(*settle(lhs, fork.rhs)), fork.transform, row.kind)
            told = self.equation.told
            step = describe(action._replace(op=fork.op or action.op), told=told)
            note = (self.note(state, f"{step}, {told(fork.note)}"),) if fork.note else ()
            used = num_integers + counts(fork, fresh)
            found = self.late if fork.late else leads
            found.append(Lead(land(there, self.cache), plan, trusted, (*how, *note), used))
        return leads


def counts(fork: Fork, fresh: Symbol) -> bool:
    """Whether the branch needs an integer to count its values."""
    pushed = fork.transform.phi if isinstance(fork.transform, Substitute) else ZERO
    lhs = ZERO if fork.lhs is None else fork.lhs
    return fresh in lhs.free_symbols | fork.rhs.free_symbols | pushed.free_symbols


def locate(plan: Sequence[Action], legal: Sequence[Action]) -> Action | None:
    """The plan's next action among the legal ones; a letter for constants may stand for others on
    this branch, so its name will do.
    """
    if not plan:
        return None
    if plan[0] in legal:
        return plan[0]
    return next((action for action in legal if str(action) == str(plan[0])), None)


# ---- Verdicts, for families as well ----


def judge(
    equation: Equation, value: Expr, how: tuple[str, ...], cache: TransitionCache
) -> list[Root]:
    """The candidate if it is a root or may be one; what is left of a family that is none.

    The integers that a proof leaves out are tried by themselves: one that is a root under the same
    condition is no exception, one under another condition is a root of its own.
    """
    verdict = cache.verdict(equation, value)
    root = Root(value, verdict.status, verdict.valid_when, how)
    if not root.integers:
        return [root] if verdict.status in ("proved", "unproven") else []
    if not verdict:
        return one_by_one(equation, root, cache)
    rest: list[Root] = []
    for n, k in left_out(root):
        remaining = without(root.valid_when, n, k)
        there = None if remaining is None else or_none(remaining.subs(n, k))
        if there == sp.false:  # a class of integers that is left out has it
            root = replaced(root, valid_when=remaining)
            continue
        member = replace(value, {n: Integer(k)})
        found = judge(equation, member, (*how, f"{n} = {k}"), cache)
        same = [r for r in found if r.value == member and r.status == "proved"]
        if any(implies(there, r.valid_when) for r in same):
            root = replaced(root, valid_when=remaining)
            found = [r for r in found if r.valid_when != there or r not in same]
        else:
            condition = Ne(n, k) if remaining is None else And(remaining, Ne(n, k))
            root = replaced(root, valid_when=condition)
        rest += found
    return [root, *rest]


def left_out(root: Root) -> list[tuple[Symbol, int]]:
    """The single integers that a family's condition leaves out."""
    found: dict[tuple[Symbol, int], None] = {}
    for part in [] if root.valid_when is None else sorted(root.valid_when.atoms(Ne), key=sstr):
        exceptional = exception(part)
        if exceptional is not None and exceptional[1] is None:
            found[exceptional[0], exceptional[2]] = None
    return list(found)


def without(condition: Any, n: Symbol, k: int) -> Any:
    """A condition that no longer leaves out n = k."""
    if condition is None:
        return None
    parts = {part: sp.true for part in condition.atoms(Ne) if exception(part) == (n, None, k)}
    return or_none(condition.xreplace(parts))


def or_none(condition: Any) -> Any:
    """A condition, or None for one that always holds, as verdicts have it."""
    return None if condition == sp.true else condition


def one_by_one(equation: Equation, root: Root, cache: TransitionCache) -> list[Root]:
    """What is left of a family without a proof for all integers: those from -2 to 2 that are
    proved, and it says so; if there is one only, it is a single root.
    """
    hopeless = [] if root.status in ("refuted", "undefined") else [root]
    if len(root.integers) not in REACH:
        return hopeless
    indices = list(product(SMALL, repeat=len(root.integers)))
    proved = proved_under_one_condition(equation, root, indices, cache)
    if not proved:
        return hopeless
    condition = next(iter(proved.values())).valid_when
    if len({root.at(index) for index in proved}) == 1 and not hopeless:
        index = next(iter(proved))
        which = tuple(f"{n} = {k}" for n, k in zip(root.integers, index))
        return [Root(root.at(index), "proved", condition, (*root.how, *which))]
    names = ", ".join(symbol.name for symbol in root.integers)
    listed = ", ".join(str(index if len(index) > 1 else index[0]) for index in proved)
    which_ones = f"{SMALL[0]}..{SMALL[-1]}" if len(proved) == len(indices) else listed
    status = f"proved for {names} = {which_ones}"
    return [Root(root.value, status, condition, root.how, tuple(proved))]


def proved_under_one_condition(
    equation: Equation, root: Root, indices: list[tuple[int, ...]], cache: TransitionCache
) -> dict[tuple[int, ...], Verdict]:
    """The members that are proved; if under several conditions, those that always are."""
    verdicts = {index: cache.verdict(equation, root.at(index)) for index in indices}
    proved = {index: verdict for index, verdict in verdicts.items() if verdict}
    if len({verdict.valid_when for verdict in proved.values()}) > 1:
        return {index: verdict for index, verdict in proved.items() if not verdict.valid_when}
    return proved
