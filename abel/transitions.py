"""Everything a state implies, computed once: its legal actions, its observation and its successors.

Training revisits states all the time, so forms of equations are interned and point to their
successors. All of it is a pure function of the form: a warm cache, a cold one and an evicted entry
give the same run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sympy import Expr

from abel.encode import Array, Constants, encode
from abel.equation import ZERO, Equation, complexity, num_nodes
from abel.numeric import is_solvable, scale_of
from abel.operations import (
    CHANGES,
    GOALS,
    Action,
    Operation,
    apply,
    legal_actions,
    settle,
    solved_form,
)
from abel.operations.substitute import change
from abel.rewrite import TooLarge
from abel.transforms import (
    Generator,
    Goal,
    Transform,
    change_and_name,
    open_goals,
    reach_goal,
    relabel,
)
from abel.verify import Verdict, verify_root

MAX_VERDICTS = 1 << 16
MAX_COV_NODES = 600  # of an equation after a change of variables


class Observation(NamedTuple):
    """What the agent sees: the token tree, and the legal actions with the nodes they point at."""

    tokens: Array  # [N] int16
    roles: Array  # [N] int16
    parents: Array  # [N] int16, -1 for the root
    subtrees: Array  # [N] int64, equal where everything at and below the node is equal
    action_ops: Array  # [A] int16, index of the operation in the table
    action_nodes: Array  # [A] int16, node of the term; the root for an operation without one
    actions: tuple[Action, ...]


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
        self.capped: Observation | None = None  # where it differs: no substitution left
        self.flat: Observation | None = None  # where it differs: no goal may be opened
        self.successors: list[tuple[Form, Transform | None] | None] = []

    def __str__(self) -> str:
        return f"{self.lhs} = {self.rhs}"


class TransitionCache:
    """Interned forms and their successors, bounded: what a sweep finds unused since the last one
    goes.
    """

    def __init__(
        self,
        *,
        operations: tuple[Operation, ...],
        op_index: dict[str, int],
        blocks: bool,
        constants: Constants,
        mask_idle_cov: bool,
        generator: Generator,
        capacity: int,
    ) -> None:
        if capacity < 2:
            raise ValueError(f"cache capacity must be at least 2 forms, got {capacity}")
        self.operations, self.op_index = operations, op_index
        self.blocks, self.constants = blocks, constants
        self.mask_idle_cov, self.generator = mask_idle_cov, generator
        self.capacity = capacity
        self.forms: dict[tuple[Expr, Expr], Form] = {}
        self.verdicts: dict[tuple[Equation, tuple[Expr, ...], Expr], Verdict] = {}
        self.stamp = 0
        self.failures = 0  # legal actions that could not be applied after all; they change nothing

    def form(self, lhs: Expr, rhs: Expr) -> Form:
        key = (lhs, rhs)
        found = self.forms.get(key)
        if found is None:
            if len(self.forms) >= self.capacity:
                self.sweep()
            found = self.forms[key] = Form(lhs, rhs, self.stamp)
        return found

    def sweep(self) -> None:
        """Drop the forms not visited since the last sweep, or all if that frees too little."""
        kept = {key: form for key, form in self.forms.items() if form.stamp == self.stamp}
        if len(kept) > self.capacity // 2:
            kept = {}
        for key, form in self.forms.items():
            if key in kept:
                form.successors = [
                    s if s and s[0].stamp == self.stamp else None for s in form.successors
                ]
            else:  # cut the pointers: forms in circles would keep each other alive
                form.successors = [None] * len(form.successors)
        self.forms = kept
        self.stamp += 1

    def observe(self, form: Form, cov_left: bool, let_left: bool = True) -> Observation:
        """The observation in this form; `cov_left` says whether a substitution is still allowed,
        `let_left` whether one that opens a goal is.
        """
        full = form.observation or self.enumerate(form)
        if not cov_left:
            return form.capped or full
        return full if let_left else form.flat or full

    def enumerate(self, form: Form) -> Observation:
        actions = legal_actions(form.lhs, form.rhs, self.operations, self.blocks)
        if self.mask_idle_cov and actions and actions[-1].op == "cov":
            try:
                idle = self.generator(form.lhs, form.rhs) is None
            except TooLarge:
                idle = True
            if idle:
                actions.pop()
        if not is_solvable(form.lhs, form.rhs, scale_of(form.lhs, form.rhs)):
            # A given equation may be too large for the samples, or x cancel at all of them, as in
            # asin(x) + acos(x) = a. Legality goes by the samples, so here every action is tried.
            actions = [action for action in actions if self.attempt(action, form)]
        tree = encode(form.lhs, form.rhs, self.constants)
        nodes = [0 if a.term is None else tree.node_of[a.term] for a in actions]
        ops = np.array([self.op_index[a.op] for a in actions], dtype=np.int16)
        full = Observation(*tree[:4], ops, np.array(nodes, dtype=np.int16), tuple(actions))
        form.successors = [None] * len(actions)
        form.observation = full
        # Substitutions are the last rows of the table, those that open goals the very last.
        for name, cut in (("capped", CHANGES), ("flat", GOALS)):
            num_left = len(actions)
            while num_left and actions[num_left - 1].op in cut:
                num_left -= 1
            if num_left < len(actions):
                left = full._replace(
                    action_ops=ops[:num_left],
                    action_nodes=full.action_nodes[:num_left],
                    actions=full.actions[:num_left],
                )
                setattr(form, name, left)
        return full

    def successor(self, form: Form, index: int) -> tuple[Form, Transform | None]:
        """The form after a legal action, and the transform it pushed, if any."""
        action = (form.observation or self.enumerate(form)).actions[index]
        after = self.attempt(action, form)
        result: tuple[Form, Transform | None] = (form, None)
        if after is None:
            self.failures += 1
        else:
            result = self.form(*after[:2]), after[2]
        form.successors[index] = result
        return result

    def attempt(self, action: Action, form: Form) -> tuple[Expr, Expr, Transform | None] | None:
        """The sides after an action and the transform it pushed; None if it cannot be applied."""
        try:
            lhs, rhs, transform = self.apply(action, form.lhs, form.rhs)
            # What the samples show as they are must show at them after the step; where they had to
            # be scaled, whatever scale shows it will do.
            scale = scale_of(lhs, rhs) if scale_of(form.lhs, form.rhs) else 0
            sound = (lhs, rhs) == (form.lhs, form.rhs) or is_solvable(lhs, rhs, scale)
        except Exception:  # SymPy raises anything on odd input; a long run must not end by it
            sound = False
        return (lhs, rhs, transform) if sound else None

    def apply(self, action: Action, lhs: Expr, rhs: Expr) -> tuple[Expr, Expr, Transform | None]:
        if action.op == "relabel":
            return relabel(lhs, rhs)
        if action.op == "cov":
            phi = self.generator(lhs, rhs)
            if phi is None:
                return lhs, rhs, None
            *changed, transform = change_and_name(lhs, rhs, phi)
            if sum(map(num_nodes, changed)) > MAX_COV_NODES:
                return lhs, rhs, None  # too large to be of use: as if nothing were found
            return *settle(*changed), transform
        if action.op in CHANGES:
            pushed = change(action.op, lhs, rhs, action.term)
            if pushed is None:
                raise ValueError(f"'{action}' does not apply to '{lhs} = {rhs}'")
            return pushed
        return *apply(action, lhs, rhs), None

    def reach_goal(
        self, form: Form, stack: tuple[Transform, ...]
    ) -> tuple[Form, tuple[Transform, ...]]:
        """Where `x = r` leads with a goal open: its equation with r filled in, and the stack."""
        lhs, rhs, stack = reach_goal(stack, form.rhs)
        return self.form(*settle(lhs, rhs)), stack

    def verdict(self, equation: Equation, root: Expr) -> Verdict:
        # Equal equations may differ in their domain: 0 solves x = 0, and x^2/x = 0 it does not.
        key = (equation, equation.nonzero, root)
        if key not in self.verdicts:
            if len(self.verdicts) >= MAX_VERDICTS:
                self.verdicts.clear()
            self.verdicts[key] = verify_root(equation, root)
        return self.verdicts[key]


class Place(NamedTuple):
    """Where an episode can stand: what `Env` keeps, as a value."""

    form: Form
    stack: tuple[Transform, ...] = ()
    goals: tuple[Goal, ...] = ()
    num_changes: int = 0

    @property
    def key(self) -> tuple[Expr, Expr, tuple[Goal, ...]]:
        """Equal for places with the same future, whatever led there.

        By sides, not by form: an evicted form that comes back is another object.
        """
        return self.form.lhs, self.form.rhs, self.goals


def start_of(equation: Equation, cache: TransitionCache) -> Place:
    return Place(cache.form(*settle(equation.lhs, equation.rhs)))


def advance(
    place: Place, action: Action, index: int, cache: TransitionCache
) -> tuple[Place, Transform | None]:
    """Where the legal action with this index leads, and the transform that it pushed."""
    form, stack, goals, num_changes = place
    form, transform = form.successors[index] or cache.successor(form, index)
    if transform is not None:
        stack += (transform,)
        num_changes += action.op in CHANGES
        if isinstance(transform, Goal):
            goals += (transform,)
    after = Place(form, stack, goals, num_changes)
    if not (form.solved_form and goals):
        return after, transform
    after = land(after, cache)
    return after, after.stack[-1]


def land(place: Place, cache: TransitionCache) -> Place:
    """With a goal open, `x = r` leads on to the goal's equation; any other place is itself."""
    if not (place.form.solved_form and place.goals):
        return place
    form, stack = cache.reach_goal(place.form, place.stack)
    return Place(form, stack, open_goals(stack), place.num_changes)
