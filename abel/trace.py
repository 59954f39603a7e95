"""A solution as a document: shown as text or LaTeX, stored as JSON, re-derived and re-verified.

python -m abel.trace solution.json    # exit 0 if every field is what is derived anew and the root
                                      # is proved, 1 if not, 2 if the file is no trace
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from itertools import zip_longest
from reprlib import Repr
from typing import Any

from sympy import sstr

from abel.derive import root_at, rules, take, term_of
from abel.equation import Equation, caret, renamed
from abel.operations import OPERATIONS, Action, legal_actions
from abel.parse import parse
from abel.render import Lines, condition_text, lines_of, to_data, to_latex, to_text
from abel.transforms import Transform
from abel.transitions import State, TransitionCache, start_of
from abel.verify import Verdict, valid_when_text, verify_root

FORMAT = "abel-trace-1"
MAX_BYTES = 4 << 20  # of a file; one without an end (/dev/zero) is not read to it
MAX_STEPS = 10_000

QUOTED = re.compile(r"'[^']*'")

short = Repr()
short.maxstring = short.maxother = 200
shown = short.repr  # a value in a message: on one line, however odd and long it is


@dataclass(frozen=True)
class Step:
    """An action, the equation after it, and what it did to the variables."""

    op: str
    term: str | None
    equation: str
    transform: str | None = None


@dataclass(frozen=True)
class Replay:
    """What came of deriving a trace anew; true only if all of it is so and the root is proved."""

    differs: str  # the first field that is not what was derived ("step 2: transform"), or ""
    reason: str = ""  # how it differs
    verdict: Verdict | None = None  # on the root, if there is one and nothing differs
    unknown: str = "x"  # what the user calls it

    def __bool__(self) -> bool:
        return not self.differs and bool(self.verdict)

    @property
    def valid_when(self) -> Any:
        return None if self.verdict is None else self.verdict.valid_when

    def to_text(self) -> str:
        if self.differs:
            return f"does not hold: {self.differs}: {self.reason}"
        if self.verdict is None:
            return "not solved: every step follows, and no root is claimed"
        if not self.verdict:
            return f"not solved: every step follows, and the root is {self.verdict.status}"
        condition = renamed(valid_when_text(self.valid_when), self.unknown)
        return f"holds: every step follows, and the root is proved in the original{condition}"


@dataclass(frozen=True)
class Trace:
    """An episode: the original equation, its steps, and the root with its verdict if one was
    reached.

    All is in the user's own letters: the unknown is x, or the letter that `unknown` names.
    """

    equation: str
    steps: tuple[Step, ...]
    root: str | None = None
    status: str | None = None
    valid_when: str | None = None
    unknown: str = "x"
    # As a document has it, if it does: what `to_data` makes of `render`, which it is compared with.
    lines: tuple[dict[str, Any], ...] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        equation: Equation,
        path: list[tuple[Action, Any, Transform | None]],
        root: Any = None,
        verdict: Verdict | None = None,
    ) -> Trace:
        steps = [
            Step(action.op, None if action.term is None else sstr(action.term), str(form),
                 None if transform is None else str(transform))
            for action, form, transform in path
        ]  # fmt: skip
        return cls(
            equation.text or str(equation),
            tuple(steps),
            None if verdict is None else sstr(root),
            None if verdict is None else verdict.status,
            None if verdict is None or verdict.valid_when is None else sstr(verdict.valid_when),
        ).renamed(equation.unknown)

    def renamed(self, unknown: str) -> Trace:
        """The trace of an equation about x as that of the same about another letter."""
        steps = tuple(
            replace(step, term=swap(step.term, unknown), equation=renamed(step.equation, unknown),
                    transform=swap(step.transform, unknown))
            for step in self.steps
        )  # fmt: skip
        return Trace(
            renamed(self.equation, unknown), steps, swap(self.root, unknown), self.status,
            swap(self.valid_when, unknown), unknown,
        )  # fmt: skip

    def in_x(self) -> Trace:
        """The same in the letters of `parse`: the unknown is x, and x has the unknown's name."""
        return replace(self.renamed(self.unknown), unknown="x")

    @property
    def solved(self) -> bool:
        return self.status == "proved"

    # ---- Show ----

    def render(self) -> Lines:
        """The solution line by line, in letters for people."""
        return lines_of(self)

    def to_text(self, conclusion: str | None = None) -> str:
        """The solution as a person would write it, with its own last line or another one."""
        return f"{to_text(self.render(), self.equation)}\n{conclusion or self.conclusion()}"

    def conclusion(self) -> str:
        if self.root is None:
            return "not solved"
        condition = f", valid when {condition_text(self.valid_when)}" if self.valid_when else ""
        return f"{self.unknown} = {caret(self.root)}   ({self.status}{condition})"

    def to_latex(self) -> str:
        """An align* environment: the steps, and the root if it is proved."""
        lines = self.render()
        return to_latex(lines if self.solved else lines._replace(answer=None))

    def to_data(self) -> dict[str, Any]:
        """What the solution is derived from; how it reads is not among it."""
        data = asdict(replace(self, lines=None))
        del data["lines"]
        return {"format": FORMAT, **data}

    def to_json(self) -> str:
        return json.dumps({**self.to_data(), "lines": to_data(self.render())}, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Read what `to_json` wrote; ValueError says what is wrong with anything else."""
        try:
            data = json.loads(text, object_pairs_hook=without_doubles)
        except json.JSONDecodeError as error:
            raise ValueError(f"not JSON: {error}") from None
        except RecursionError:
            raise ValueError("not a trace: too many brackets inside each other") from None
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ValueError(f"no '{FORMAT}' document")
        steps = data.get("steps")
        if not isinstance(steps, list):
            raise ValueError(f"not a trace: steps must be a list, got {shown(steps)}")
        if len(steps) > MAX_STEPS:
            raise ValueError(f"not a trace: {len(steps)} steps, at most {MAX_STEPS} are read")
        read = tuple(Step(**checked(Step, step, f"step {i}: ")) for i, step in enumerate(steps, 1))
        lines = read_lines(data.get("lines"))
        return cls(**{**checked(cls, data), "steps": read, "lines": lines})

    # ---- Check ----

    def replay(self) -> Verdict:
        """The verdict on the root, derived anew; refuted if a field of the document differs."""
        found = self.compare()
        if found.differs:
            return Verdict("refuted", None, f"{found.differs}: {found.reason}")
        return found.verdict or Verdict("unproven", None, "no root is claimed")

    def compare(self) -> Replay:
        """Derive every field anew from the original equation and compare it with the document's.

        Needs no policy, and takes only the choice of actions from the document, and what an
        operation cannot derive anew (`Operation.retell`): the root is proved at the end.
        """
        derived = self.compare_steps()
        other = None if derived.differs else self.compare_lines()
        return derived if other is None else other

    def compare_steps(self) -> Replay:
        equation = parse(self.equation, self.unknown)
        found = self.in_x().derive(equation)
        # What is quoted in the reason are expressions and equations.
        said = QUOTED.sub(lambda match: renamed(match[0], self.unknown), found.reason)
        return replace(found, reason=said, unknown=self.unknown)

    def derive(self, equation: Equation) -> Replay:
        """The comparison of the steps and the root, of a trace in x."""
        cache = rules()
        state = start_of(equation, cache)
        root = root_at(state)
        for number, step in enumerate(self.steps, 1):
            after = follow(step, state, cache)
            if isinstance(after, Replay):
                return Replay(f"step {number}: {after.differs}", after.reason)
            state = after
            reached = root_at(state)
            root = root if reached is None else reached  # an episode may go on past a false root
        recorded = {"status": self.status, "valid_when": self.valid_when}
        if self.root is None:
            claims = {name: text for name, text in recorded.items() if text is not None}
            said = " and ".join(f"{name} is {shown(text)}" for name, text in claims.items())
            differs = " or ".join(["root", *claims]) if claims else ""
            return Replay(differs, f"there is no root, but {said}" if claims else "")
        if root is None:
            return Replay("root", "no step ends in x = r with r free of x")
        if sstr(root) != self.root:
            return Replay("root", f"it is {shown(sstr(root))}, not {shown(self.root)}")
        verdict = verify_root(equation, root)
        condition = None if verdict.valid_when is None else sstr(verdict.valid_when)
        for name, text in (("status", verdict.status), ("valid_when", condition)):
            if text != recorded[name]:
                return Replay(name, f"it is {shown(text)}, not {shown(recorded[name])}")
        return Replay("", verdict.reason, verdict)

    def compare_lines(self) -> Replay | None:
        """The first line of a document that does not follow from its steps, if there is one."""
        if self.lines is None or [*self.lines] == (printed := to_data(self.render())):
            return None
        pairs = zip_longest(self.lines, printed)
        number, (line, own) = next((n, p) for n, p in enumerate(pairs, 1) if p[0] != p[1])
        return Replay(f"line {number}", f"it reads {shown(own)}, not {shown(line)}")


# ---- Steps derived anew ----


def follow(step: Step, state: State, cache: TransitionCache) -> State | Replay:
    """Where a recorded step leads, or the field of it that is not so."""
    legal = legal_actions(state.lhs, state.rhs, OPERATIONS.values(), cache.blocks, cache.errors)
    action = next((a for a in legal if (a.op, term_of(a)) == (step.op, step.term)), None)
    recorded = (step.transform, step.equation)
    derived: tuple[str | None, str] | None = None
    if action is not None:
        after, transform = take(action, step.transform, state, cache)
        derived = transform, str(after.form)
        if derived == recorded:
            return after
    # Which field is at odds with the others? One of the action's, if with another value for it the
    # action would do what is recorded.
    fitting = [a for a in legal if told(a, step.transform, state, cache) == recorded]
    wrong = ["op"] * any(term_of(a) == step.term for a in fitting)
    wrong += ["term"] * any(a.op == step.op for a in fitting)
    said = shown(step.op if step.term is None else f"{step.op} {step.term}")
    if action is None or derived is None:
        known = any(a.op == step.op for a in legal)
        field = " or ".join(wrong) or ("term" if known else "op")
        return Replay(field, f"{said} is not legal in {shown(str(state.form))}")
    if wrong:
        differ = " or ".join([*wrong, "equation"])
        return Replay(differ, f"'{fitting[0]}' does what is recorded, {said} does not")
    # What was taken from the document is at fault if the rule by itself does what is recorded.
    by_rule = told(action, None, state, cache)
    derived = by_rule if by_rule[1] == step.equation else derived
    names = ("transform", "equation")
    field, mine, theirs = next(d for d in zip(names, derived, recorded) if d[1] != d[2])
    if OPERATIONS[action.op].retell and field == "equation":
        field = "transform or equation"
    return Replay(field, f"{said} gives {shown(mine)}, not {shown(theirs)}")


def told(
    action: Action, recorded: str | None, state: State, cache: TransitionCache
) -> tuple[str | None, str]:
    """What a step records of where an action leads: the transform, and the equation after it."""
    after, transform = take(action, recorded, state, cache)
    return transform, str(after.form)


# ---- Text ----


def swap(text: str | None, unknown: str) -> str | None:
    return None if text is None else renamed(text, unknown)


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, unless a name stands in it twice: readers differ in which of them counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("not a trace: a field stands twice in one object")
    return found


def checked(kind: type, data: Any, where: str = "") -> dict[str, Any]:
    """The fields of a `Trace` or `Step`, if they are all there, no others, and each is text."""
    if not isinstance(data, dict):
        raise ValueError(f"not a trace: {where}must be an object, got {shown(data)}")
    known = {each.name: each for each in fields(kind)}
    for name in data:
        if name not in known:
            raise ValueError(f"not a trace: {where}unknown field {shown(name)}")
    for name, each in known.items():
        if name not in data:
            if each.default is MISSING:
                raise ValueError(f"not a trace: {where}{name} is missing")
            continue
        optional = "None" in str(each.type)
        value = data.get(name)
        if (
            name not in ("steps", "lines")
            and not isinstance(value, str)
            and not (value is None and optional)
        ):
            raise ValueError(f"not a trace: {where}{name} must be text, got {shown(value)}")
    return data


def read_lines(data: Any) -> tuple[dict[str, Any], ...] | None:
    """The lines of a document as they are; what they say is compared, not read."""
    if data is None:
        return None
    if not isinstance(data, list) or not all(isinstance(line, dict) for line in data):
        raise ValueError(f"not a trace: lines must be a list of objects, got {shown(data)}")
    return tuple(data)


def read(path: str) -> Trace:
    """The trace in a file; OSError or ValueError if there is none."""
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES >> 20} MB, which no trace has")
    return Trace.from_json(data.decode("utf-8"))


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0] in ("-h", "--help"):
        print("usage: python -m abel.trace FILE.json", file=sys.stderr)
        return 2
    try:
        trace = read(argv[0])
        replayed = trace.compare()
    except (OSError, ValueError, RecursionError) as error:  # ParseError and bad UTF-8 among them
        reason = " ".join(str(error).split())
        print(f"abel.trace: {argv[0]}: {reason}", file=sys.stderr)
        return 2
    if not replayed.differs:
        print(trace.to_text())
    print(replayed.to_text())
    return 0 if replayed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
