"""A solution as a list of lines, which text, LaTeX, MathML and JSON are written from.

The steps are derived anew, since a stored solution is text: a letter in it may have had several
meanings, and a substitution is undone where a goal is reached. So there is a line for every step,
and one for everything that is put back between them. A step that cannot be derived is shown as it
is recorded, and so is all that follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sympy import Add, Expr, Pow, Symbol, atan, sstr

from abel.derive import push, root_at, rules
from abel.equation import ONE, Equation, X, caret, has_x, split_factor
from abel.operations import OPERATIONS, Action, describe, terms_of, worded
from abel.parse import ParseError, parse, parse_expression
from abel.render.letters import CHANGED, CHOSEN, NAMED, Letters
from abel.rewrite import TooLarge, coefficients, difference, expand, grows_past, replace
from abel.transforms import HOLE, Ansatz, Goal, Relabel, Substitute, Transform
from abel.transitions import Form, State, land_once, start_of

MAX_EXPANDED = 300  # nodes of what is expanded to tell which powers vanish
RELATIONS = ("<=", ">=", "!=", "<", ">", "=")


class Formula(NamedTuple):
    """An expression, or two with a relation between them; powers of the unknown come first."""

    lhs: Expr
    rhs: Expr | None = None
    relation: str = "="
    unknown: Symbol = X


Part = str | Formula  # of a sentence


@dataclass(frozen=True)
class Line:
    """What was done, the equation after it, and what its new letters stand for.

    `step` is the number of the step; the question has none, nor what follows from a value that was
    found. `sign` is the short form of what was done, its words in LaTeX. The equation is text where
    it is shown as recorded.
    """

    step: int | None
    said: tuple[Part, ...]
    equation: Formula | str
    where: tuple[Part, ...] = ()
    sign: tuple[Part, ...] = ()


class Level(NamedTuple):
    """A transform that is not undone yet, and the letters of its unknowns."""

    transform: Transform
    before: Symbol  # the unknown that it took the place of
    after: Symbol  # the unknown of the equation that it led to
    target: Symbol  # that of the equation which an ansatz leads to once its h is known
    vanishes: Expr | None = None  # by that h


class Lines(NamedTuple):
    """A solution: its lines, and the root with the condition under which it is one, if any."""

    steps: tuple[Line, ...]
    answer: Line | None


def lines_of(trace: Any) -> Lines:
    """The lines of a solution, in the letters of whoever asked for it."""
    return walked(trace)[0]


def lines_and_choices(
    trace: Any, actions: Sequence[Action]
) -> tuple[Lines, list[tuple[Part, ...]]]:
    """The lines, and what actions that may come next would do, in the same letters."""
    lines, walk = walked(trace)
    if walk is None:
        return lines, [(describe(action),) for action in actions]
    return lines, [walk.choice(action) for action in actions]


def walked(trace: Any) -> tuple[Lines, Walk | None]:
    """The lines, and the walk to their end if every step follows."""
    in_x = trace.in_x()
    try:
        equation = parse(trace.equation, trace.unknown)
    except ParseError:
        lines = [Line(None, (), trace.equation), *as_recorded(trace, 0)]
        return Lines(tuple(lines), answer_of(trace, None, None)), None
    walk = Walk(equation)
    lines = [Line(None, (), walk.formula(equation.lhs, equation.rhs))]
    for number, step in enumerate(in_x.steps, 1):
        new = walk.take(number, step, lines[-1])
        if new is None:
            lines += as_recorded(trace, number - 1)
            return Lines(tuple(lines), answer_of(trace, walk.letters, None)), None
        lines += new
    root = root_at(walk.state)
    if root is not None and in_x.root == sstr(root):
        lines += walk.put_back(0)
    return Lines(tuple(lines), answer_of(trace, walk.letters, root)), walk


def root_formula(equation: Equation, root: Expr) -> Formula:
    """The unknown and a root of it, in the letters of whoever asked."""
    letters = Letters(equation)
    shown = letters.shown(root, letters.unknown)
    return Formula(letters.unknown, shown, unknown=letters.unknown)


def answer_of(trace: Any, letters: Letters | None, root: Expr | None) -> Line | None:
    """The recorded root, and the condition under which it is one. `root` is the one that the steps
    lead to, which text may nest deeper than it is read.
    """
    if trace.root is None:
        return None
    in_x = trace.in_x()
    said = condition(trace.valid_when) if letters is None else condition(in_x.valid_when, letters)
    try:
        found = parse_expression(in_x.root) if root is None or sstr(root) != in_x.root else root
    except ParseError:
        found = None
    if found is None or letters is None:
        return Line(None, said, f"{trace.unknown} = {caret(trace.root)}")
    value = letters.shown(found, letters.unknown)
    return Line(None, said, Formula(letters.unknown, value, unknown=letters.unknown))


class Walk:
    """The way of an equation along recorded steps, and the letters that it is shown in."""

    def __init__(self, equation: Equation) -> None:
        self.letters = Letters(equation)
        self.cache = rules()
        self.state = start_of(equation, self.cache)
        self.levels: list[Level] = []

    @property
    def now(self) -> Symbol:
        """The unknown of the current equation."""
        return self.levels[-1].after if self.levels else self.letters.unknown

    # ---- Steps ----

    def take(self, number: int, step: Any, last: Line) -> list[Line] | None:
        """The lines of a step; None if it does not lead to what is recorded."""
        action = recorded_action(step, self.state)
        if action is None:
            return None
        before, now = self.state, self.now
        pushed = push(action, step.transform, before, self.cache)
        there, transform = (before, None) if pushed is None else pushed
        if transform is not None:
            self.levels.append(self.level(transform, action))
        self.state = there
        lines = [self.told(number, action, before, now, transform)]
        if isinstance(transform, Relabel) and same(lines[0], last):
            lines = []  # letters for letters: nothing is to be seen
        if there is not before:
            lines += self.landings()
        return lines if str(self.state.form) == step.equation else None

    def choice(self, action: Action) -> tuple[Part, ...]:
        """What an action would do."""
        row, term = worded(action)
        return self.sentence(row.text, term, self.now)

    def level(self, transform: Transform, action: Action) -> Level:
        fresh, now = self.letters.fresh, self.now
        match transform:
            case Relabel():
                return Level(transform, now, now, now)
            case Substitute():
                letter = fresh(CHANGED)
                return Level(transform, now, letter, letter)
            case Goal():
                letter = fresh(NAMED)
                return Level(transform, now, letter, letter)
            case Ansatz():
                target, h = fresh(CHANGED), fresh(CHOSEN)
                part = None if action.term is None else split_factor(action.term)[1]
                return Level(transform, now, h, target, part)

    def told(
        self, number: int, action: Action, before: State, now: Symbol, transform: Transform | None
    ) -> Line:
        """The line of a step, before any goal that it reaches is filled in."""
        form = self.state.form
        match transform:
            case None | Relabel():
                row, term = worded(action)
                said = self.sentence(row.text, term, now)
                sign = self.sentence(row.latex, term, now, in_brackets=True)
                return self.line(number, said, form, sign, [] if term is None else [term])
            case Goal():
                said = self.of_goal(transform, action)
                return self.line(number, said, form, (), [transform.lhs, transform.rhs])
            case Ansatz():
                return self.line(number, self.of_ansatz(), form, (), [transform.phi])
            case Substitute():
                said = self.of_change(transform, before.form)
                return self.line(number, said, form, (), [transform.phi])

    def of_goal(self, goal: Goal, action: Action) -> tuple[Part, ...]:
        level = self.levels[-1]
        if goal.rhs == HOLE:
            return "let ", self.equal(level.after, goal.lhs, level.before)
        lhs, rhs = (self.letters.shown(s, level.before, level.after) for s in (goal.lhs, goal.rhs))
        waiting = Formula(lhs, rhs, unknown=level.before)
        words = self.sentence(OPERATIONS[action.op].text, action.term, level.before)
        return *words, "; first find ", Formula(level.after), " for ", waiting

    def of_ansatz(self) -> tuple[Part, ...]:
        level = self.levels[-1]
        assert isinstance(level.transform, Ansatz)
        put = self.equal(level.before, level.transform.phi, level.target, level.after)
        return "put ", put, ", with ", Formula(level.after), " such that ", *self.aim(level)

    def aim(self, level: Level) -> tuple[Part, ...]:
        if level.vanishes is None or level.vanishes is ONE:
            return ("the constant term vanishes",)
        part = self.letters.shown(level.vanishes, level.target)
        return "the term in ", Formula(part, unknown=level.target), " vanishes"

    def of_change(self, change: Substitute, before: Form) -> tuple[Part, ...]:
        """x = phi(t), and what that is good for if it can be seen from the equations."""
        level = self.levels[-1]
        put = self.equal(level.before, change.phi, level.after)
        form = self.state.form
        gone = [level.after**n for n in vanished(before, form)] if shifts(change.phi) else []
        if gone:
            parts: list[Part] = ["put ", put, f", so that the term{'s' * (len(gone) > 1)} in "]
            for k, power in enumerate(gone):
                parts += [" and "] * bool(k) + [Formula(power)]
            return *parts, " vanishes" if len(gone) == 1 else " vanish"
        cleared = has_poles(change.phi) and not any(map(has_poles, (form.lhs, form.rhs)))
        return "put ", put, *[" and clear denominators"] * cleared

    # ---- What follows from a value ----

    def landings(self) -> Iterator[Line]:
        """Where the goals lead that are reached, each with what is put back on the way."""
        while self.state.form.solved_form and self.state.goals:
            goals = [k for k, level in enumerate(self.levels)
                     if isinstance(level.transform, Goal | Ansatz)]  # fmt: skip
            yield from self.put_back(goals[-1] + 1)
            level = self.levels[goals[-1]]
            self.state = land_once(self.state, self.cache)
            transform = self.state.stack[-1]
            del self.levels[goals[-1] :]
            if isinstance(transform, Substitute):
                self.levels.append(Level(transform, level.before, level.target, level.target))
                put = self.equal(level.before, transform.phi, level.target)
                said: tuple[Part, ...] = "so put ", put, ": ", *self.aim(level)
                used = [transform.phi]
            else:
                self.levels.append(Level(transform, level.before, level.before, level.before))
                assert isinstance(level.transform, Goal)
                named, used = level.transform.rhs == HOLE, [level.transform.lhs]
                said = "with this ", Formula(level.after)
                if named:
                    said = "as ", self.equal(level.after, level.transform.lhs, level.before)
            yield self.line(None, said, self.state.form, (), used)

    def put_back(self, down_to: int) -> Iterator[Line]:
        """What the value of the current unknown makes of those before it; letters stay."""
        value = self.state.rhs
        for level in reversed(self.levels[down_to:]):
            if not isinstance(level.transform, Substitute):
                continue
            phi = level.transform.phi
            try:
                value = replace(phi, {X: value})
            except TooLarge:
                return
            said = "as ", self.equal(level.before, phi, level.after)
            where = self.explained([phi, value])
            yield Line(None, said, self.equal(level.before, value, level.before), where)

    # ---- Parts ----

    def line(
        self, number: int | None, said: tuple[Part, ...], form: Form,
        sign: tuple[Part, ...], used: Sequence[Expr],
    ) -> Line:  # fmt: skip
        equation = self.formula(form.lhs, form.rhs)
        return Line(number, said, equation, self.explained([*used, form.lhs, form.rhs]), sign)

    def explained(self, exprs: Sequence[Expr]) -> tuple[Part, ...]:
        return tuple(Formula(letter, block) for letter, block in self.letters.explain(exprs))

    def formula(self, lhs: Expr, rhs: Expr, unknown: Symbol | None = None) -> Formula:
        """An equation of a state, its x being called as it is now, or otherwise."""
        called = self.now if unknown is None else unknown
        return Formula(
            self.letters.shown(lhs, called), self.letters.shown(rhs, called), unknown=called
        )

    def equal(
        self, letter: Symbol, expr: Expr, unknown: Symbol, hole: Symbol | None = None
    ) -> Formula:
        """What a letter of the page is, by an expression of a state."""
        return Formula(letter, self.letters.shown(expr, unknown, hole), unknown=unknown)

    def sentence(
        self, template: str, term: Expr | None, unknown: Symbol, in_brackets: bool = False
    ) -> tuple[Part, ...]:
        """A row's words with the term in place of {} and the unknown in place of {x}."""
        parts: list[Part] = []
        for n, piece in enumerate(template.split("{x}")):
            parts += [Formula(unknown)] * bool(n)
            words, *more = piece.split("{}")
            parts.append(words)
            for rest in more if term is not None else ():
                shown: list[Part] = [Formula(self.letters.shown(term, unknown), unknown=unknown)]
                if in_brackets and isinstance(term, Add):
                    shown = [r"\left(", *shown, r"\right)"]
                parts += [*shown, rest]
        return tuple(part for part in parts if part != "")


# ---- What can be seen from an equation ----


def same(line: Line, other: Line) -> bool:
    return not line.where and line.equation == other.equation


def shifts(phi: Expr) -> bool:
    return not has_x(difference(phi, X))


def powers_in(form: Form) -> set[int] | None:
    """The exponents of the powers of x in a polynomial equation, but for the constant."""
    side = difference(form.lhs, form.rhs)
    found = None if grows_past(side, MAX_EXPANDED) else coefficients(expand(side))
    return None if found is None else {n for n, c in enumerate(found) if n and c != 0}


def vanished(before: Form, after: Form) -> list[int]:
    """The exponents of powers that a shift of x has removed from a polynomial equation."""
    had, has = powers_in(before), powers_in(after)
    return [] if had is None or has is None else sorted(had - has, reverse=True)


def has_poles(expr: Expr) -> bool:
    """Whether x stands in a denominator or an arc tangent."""
    if isinstance(expr, atan) and has_x(expr):
        return True
    if isinstance(expr, Pow) and has_x(expr.base) and expr.exp.is_negative:
        return True
    return any(map(has_poles, expr.args))


# ---- What stands in a document ----


def recorded_action(step: Any, state: State) -> Action | None:
    """The action with the term that reads like the recorded one."""
    if step.op not in OPERATIONS:
        return None
    if step.term is None:
        return Action(step.op)
    terms = terms_of(state.lhs, state.rhs, blocks=False)
    return next((Action(step.op, term) for term in terms if sstr(term) == step.term), None)


def as_recorded(trace: Any, done: int) -> list[Line]:
    """The steps after the first few as the document has them."""
    lines = []
    for number, step in enumerate(trace.steps[done:], done + 1):
        text = OPERATIONS[step.op].text if step.op in OPERATIONS else f"{step.op} {{}}"
        said = text.replace("{x}", trace.unknown).replace("{}", caret(step.term or "")).rstrip()
        where = (caret(step.transform),) if step.transform else ()
        lines.append(Line(number, (said,), caret(step.equation), where))
    return lines


def condition(text: str | None, letters: Letters | None = None) -> tuple[Part, ...]:
    """A condition as SymPy prints it, for people: `(a > 0) & Ne(b, 0)` is a > 0 and b != 0."""
    if text is None:
        return ()
    text = without_brackets(text.strip())
    for sign, word in ((" | ", " or "), (" & ", " and ")):
        pieces = at_top(text, sign)
        if len(pieces) > 1:
            parts: list[Part] = []
            for n, piece in enumerate(pieces):
                inner = condition(piece, letters)
                nested = any(part in (" or ", " and ") for part in inner)
                parts += [word] * bool(n) + ["("] * nested + [*inner] + [")"] * nested
            return tuple(parts)
    if text.startswith("~"):
        return "not (", *condition(text[1:], letters), ")"
    for name, sign in (("Ne(", "!="), ("Eq(", "=")):
        if text.startswith(name) and text.endswith(")"):
            sides = at_top(text[len(name) : -1], ", ")
            return (related(text, sides, sign, letters),)
    for sign in RELATIONS:
        sides = at_top(text, f" {sign} ")
        if len(sides) == 2:
            return (related(text, sides, sign, letters),)
    return (text,)


def related(text: str, sides: list[str], sign: str, letters: Letters | None) -> Part:
    try:
        lhs, rhs = map(parse_expression, sides)
    except (ParseError, ValueError):
        return text
    if letters is not None:
        lhs, rhs = (letters.shown(side, letters.unknown) for side in (lhs, rhs))
    return Formula(lhs, rhs, sign)


def at_top(text: str, sign: str) -> list[str]:
    """The pieces between signs that stand in no brackets."""
    pieces, depth, start = [], 0, 0
    for k, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and text.startswith(sign, k):
            pieces.append(text[start:k])
            start = k + len(sign)
    return [*pieces, text[start:]]


def without_brackets(text: str) -> str:
    """The text without brackets around all of it."""
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for k, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0 and k < len(text) - 1:
                return text
        text = text[1:-1]
    return text
