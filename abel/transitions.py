"""Everything a state implies, computed once: its legal actions, its observation and its successors.

Training revisits states all the time, so forms of equations are interned and point to their
successors. All of it is a pure function of the form: a warm cache, a cold one and an evicted entry
give the same run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from sympy import Expr

from abel.encode import Constants, Observation, observe
from abel.equation import ZERO, Equation, complexity, shared
from abel.numeric import is_solvable, scale_of
from abel.operations import (
    OPERATIONS,
    SUBSTITUTIONS,
    Action,
    Applied,
    Apply,
    Kind,
    Operation,
    legal_actions,
    settle,
    solved_form,
)
from abel.transforms import Ansatz, Pending, Transform, open_goals, reach_goal, unwind
from abel.verify import Verdict, verify_root

MAX_VERDICTS = 1 << 16


class Form:
    """`lhs = rhs` as it stands, whatever led to it; shared by all states that look like this."""

    __slots__ = (
        "lhs",
        "rhs",
        "complexity",
        "solved_form",
        "successors",
        "observation",
        "capped",
        "flat",
        "stamp",
    )

    def __init__(self, lhs: Expr, rhs: Expr, stamp: int) -> None:
        self.lhs, self.rhs, self.stamp = lhs, rhs, stamp
        self.complexity = sum(complexity(side) for side in (lhs, rhs) if side is not ZERO)
        self.solved_form = solved_form(lhs, rhs)
        self.observation: Observation | None = None
        self.capped: Observation | None = None  # with no substitution left, once that is asked for
        self.flat: Observation | None = None  # with no goal to be opened
        self.successors: dict[Action, tuple[Form, Transform | None]] = {}

    def __str__(self) -> str:
        return f"{self.lhs} = {self.rhs}"


class TransitionCache:
    """Interned forms and their successors, bounded: what a sweep finds unused since the last one
    goes.
    """

    def __init__(
        self,
        *,
        operations: Mapping[str, Operation],
        blocks: bool,
        constants: Constants,
        capacity: int,
    ) -> None:
        if capacity < 2:
            raise ValueError(f"cache capacity must be at least 2 forms, got {capacity}")
        self.operations = operations
        self.op_index = {name: index for index, name in enumerate(OPERATIONS)}
        self.blocks, self.constants, self.capacity = blocks, constants, capacity
        self.forms: dict[tuple[Expr, Expr], Form] = {}
        self.verdicts: dict[tuple[Equation, tuple[Expr, ...], Expr], Verdict] = {}
        self.stamp = 0
        self.failures = 0  # legal actions that could not be applied after all; they change nothing
        self.errors: Counter[str] = Counter()  # what legality raised; such actions are illegal

    def form(self, lhs: Expr, rhs: Expr) -> Form:
        key = (lhs, rhs)
        found = self.forms.get(key)
        if found is None:
            if len(self.forms) >= self.capacity:
                self.sweep()
            key = (shared(lhs), shared(rhs))
            found = self.forms[key] = Form(*key, self.stamp)
        return found

    def sweep(self) -> None:
        """Drop the forms not visited since the last sweep, or all if that frees too little."""
        kept = {key: form for key, form in self.forms.items() if form.stamp == self.stamp}
        if len(kept) > self.capacity // 2:
            kept = {}
        for key, form in self.forms.items():
            if key in kept:
                form.successors = {
                    action: after
                    for action, after in form.successors.items()
                    if after[0].stamp == self.stamp
                }
            else:  # cut the pointers: forms in circles would keep each other alive
                form.successors = {}
        self.forms = kept
        self.stamp += 1

    def observe(self, form: Form, changes_left: bool, goals_left: bool = True) -> Observation:
        """The observation in this form; `changes_left` says whether a substitution is still
        allowed, `goals_left` whether one that opens a goal is.
        """
        full = form.observation or self.enumerate(form)
        if changes_left and goals_left:
            return full
        if changes_left:
            form.flat = form.flat or self.without(full, ("goal",))
            return form.flat
        form.capped = form.capped or self.without(full, SUBSTITUTIONS)
        return form.capped

    def without(self, full: Observation, kinds: tuple[Kind, ...]) -> Observation:
        """An observation without the actions of these kinds of operations."""
        rows = self.operations
        return full.only([rows[action.op].kind not in kinds for action in full.actions])

    def enumerate(self, form: Form) -> Observation:
        lhs, rhs = form.lhs, form.rhs
        actions = legal_actions(lhs, rhs, self.operations.values(), self.blocks, self.errors)
        if not is_solvable(lhs, rhs, scale_of(lhs, rhs)):
            # A given equation may be too large for the samples, or x cancel at all of them, as in
            # asin(x) + acos(x) = a. Legality goes by the samples, so here every action is tried.
            actions = [action for action in actions if self.attempt(action, form)]
        form.observation = observe(lhs, rhs, actions, self.op_index, self.constants)
        return form.observation

    def successor(self, form: Form, action: Action) -> tuple[Form, Transform | None]:
        """The form after a legal action, and the transform it pushed, if any."""
        found = form.successors.get(action)
        if found is None:
            after = self.attempt(action, form)
            self.failures += after is None
            found = (form, None) if after is None else (self.form(*after[:2]), after[2])
            form.successors[action] = found
        return found

    def attempt(self, action: Action, form: Form, apply: Apply | None = None) -> Applied | None:
        """The sides after an action and the transform it pushed; None if it cannot be applied.

        A stored document may have its own way to `apply` the operation.
        """
        apply = self.operations[action.op].apply if apply is None else apply
        try:
            lhs, rhs, transform = apply(form.lhs, form.rhs, action.term)
            lhs, rhs = settle(lhs, rhs)
            # What the samples show as they are must show at them after the step; where they had to
            # be scaled, whatever scale shows it will do.
            scale = scale_of(lhs, rhs) if scale_of(form.lhs, form.rhs) else 0
            sound = (lhs, rhs) == (form.lhs, form.rhs) or is_solvable(lhs, rhs, scale)
        except Exception:  # SymPy raises anything on odd input; a long run must not end by it
            sound = False
        return (lhs, rhs, transform) if sound else None

    def verdict(self, equation: Equation, root: Expr) -> Verdict:
        # Equal equations may differ in their domain: 0 solves x = 0, and x^2/x = 0 it does not.
        key = (equation, equation.nonzero, root)
        if key not in self.verdicts:
            if len(self.verdicts) >= MAX_VERDICTS:
                self.verdicts.clear()
            self.verdicts[key] = verify_root(equation, root)
        return self.verdicts[key]

    def judge(self, equation: Equation, state: State) -> tuple[Expr, Verdict]:
        """The candidate for the equation's root that a state which reads x = r stands for, and what
        is proved of it.
        """
        root = unwind(state.stack, state.form.rhs)
        return root, self.verdict(equation, root)


class State(NamedTuple):
    """Where an episode stands: the equation as it reads now, and what led to it."""

    form: Form
    stack: tuple[Transform, ...] = ()
    goals: tuple[Pending, ...] = ()  # those of the stack
    num_changes: int = 0

    @property
    def lhs(self) -> Expr:
        return self.form.lhs

    @property
    def rhs(self) -> Expr:
        return self.form.rhs

    @property
    def key(self) -> tuple[Expr, Expr, tuple[Pending, ...]]:
        """Equal for states with the same future, whatever led there.

        By sides, not by form: an evicted form that comes back is another object.
        """
        return self.form.lhs, self.form.rhs, self.goals

    @property
    def waiting(self) -> set[tuple]:
        """Equations that wait for the value of a letter in their substitution."""
        return {goal.waiting for goal in self.goals if isinstance(goal, Ansatz)}

    def push(self, form: Form, transform: Transform | None, kind: str) -> State:
        """The state after an operation of this kind that led to `form`."""
        if transform is None:
            return self._replace(form=form)
        goals = (*self.goals, transform) if isinstance(transform, Pending) else self.goals
        num_changes = self.num_changes + (kind in SUBSTITUTIONS)
        return State(form, (*self.stack, transform), goals, num_changes)


def start_of(equation: Equation, cache: TransitionCache) -> State:
    return State(cache.form(*settle(equation.lhs, equation.rhs)))


def advance(state: State, action: Action, cache: TransitionCache) -> tuple[State, Transform | None]:
    """Where a legal action leads, and the transform that it pushed."""
    form, transform = cache.successor(state.form, action)
    after = state.push(form, transform, cache.operations[action.op].kind)
    landed = land(after, cache)
    return landed, transform if landed is after else landed.stack[-1]


def land(state: State, cache: TransitionCache) -> State:
    """With a goal open, `x = r` leads on to the goal's equation, and on from there if that reads
    x = r, too; any other state is itself.
    """
    while state.form.solved_form and state.goals:
        state = land_once(state, cache)
    return state


def land_once(state: State, cache: TransitionCache) -> State:
    """The equation of the innermost open goal, from a state that reads x = r."""
    lhs, rhs, stack = reach_goal(state.stack, state.form.rhs)
    form = cache.form(*settle(lhs, rhs))
    return State(form, stack, open_goals(stack), state.num_changes)
