"""A solution as a document: shown as text or LaTeX, stored as JSON, re-derived and re-verified.

python -m abel.trace solution.json    # exit 0 if every step follows and the root is proved, else 1
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

from sympy import Symbol, latex, sstr

from abel.actions import (
    CHANGES,
    OPERATIONS,
    Action,
    apply,
    describe,
    legal_actions,
    settle,
    solved_form,
)
from abel.cov import (
    Transform,
    change_and_name,
    open_goals,
    reach_goal,
    relabel,
    unwind,
)
from abel.equation import Equation
from abel.parse import ParseError, parse, parse_expression
from abel.rewrite import replace
from abel.substitute import change
from abel.verify import Verdict, verify_root

FORMAT = "abel-trace-1"


@dataclass(frozen=True)
class Step:
    """An action, the equation after it, and what it did to the variables."""

    op: str
    term: str | None
    equation: str
    transform: str | None = None


@dataclass(frozen=True)
class Trace:
    """An episode: the original equation, its steps, and the root with its verdict if one was
    reached.
    """

    equation: str
    steps: tuple[Step, ...]
    root: str | None = None
    status: str | None = None
    valid_when: str | None = None

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
        )

    @property
    def solved(self) -> bool:
        return self.status == "proved"

    # ---- Show ----

    def to_text(self) -> str:
        """The solution as a person would write it."""
        said = [OPERATIONS[step.op].text.replace("{}", step.term or "") for step in self.steps]
        width = max(map(len, said), default=0)
        lines = [self.equation]
        for number, (step, action) in enumerate(zip(self.steps, said), 1):
            note = f"   [{step.transform}]" if step.transform else ""
            lines.append(f"{number:3}. {action:<{width}}   {step.equation}{note}")
        return "\n".join([*lines, self.conclusion()])

    def conclusion(self) -> str:
        if self.root is None:
            return "not solved"
        condition = f", valid when {self.valid_when}" if self.valid_when else ""
        return f"x = {self.root}   ({self.status}{condition})"

    def to_latex(self) -> str:
        """An align* environment, one line a step."""
        lines = [rf"& {parse(self.equation).to_latex()} \\"]
        for step in self.steps:
            lhs, rhs = map(as_latex, step.equation.split(" = "))
            lines.append(rf"& {lhs} = {rhs} && {action_as_latex(step)} \\")
        if self.solved and self.root is not None:
            condition = ""
            if self.valid_when:
                condition = rf" && \text{{valid when }} {self.valid_when}"
            lines.append(rf"& x = {as_latex(self.root)}{condition}")
        return "\n".join([r"\begin{align*}", *lines, r"\end{align*}"])

    def to_data(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}

    def to_json(self) -> str:
        return json.dumps(self.to_data(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Read what `to_json` wrote; ValueError says what is wrong with anything else."""
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
                raise ValueError(f"no '{FORMAT}' document")
            steps = tuple(Step(**step) for step in data.pop("steps"))
            trace = cls(steps=steps, **data)
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(f"not a trace: {error}") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"not JSON: {error}") from None
        for owner in (trace, *steps):
            for name, value in vars(owner).items():
                if name != "steps" and not isinstance(value, str | None):
                    raise ValueError(f"not a trace: {name} must be text, got {value!r}")
        return trace

    # ---- Check ----

    def replay(self) -> Verdict:
        """Derive every step anew from the original equation, and verify the root in it.

        Needs no policy, and takes only the choice of actions from the document, and phi where
        variables change: whatever phi is, the root is proved at the end.
        """
        equation = parse(self.equation)
        lhs, rhs = settle(equation.lhs, equation.rhs)
        stack: tuple[Transform, ...] = ()
        transform: Transform
        for number, step in enumerate(self.steps, 1):
            action = next(
                (a for a in legal_actions(lhs, rhs, tuple(OPERATIONS.values()), blocks=False)
                 if a.op == step.op and step.term == (None if a.term is None else sstr(a.term))),
                None,
            )  # fmt: skip
            if action is None:
                return broken(
                    number, f"'{step.op} {step.term or ''}'".replace(" '", "'") + " is not legal"
                )
            if action.op == "relabel":
                lhs, rhs, transform = relabel(lhs, rhs)
                stack += (transform,)
            elif action.op == "cov":
                if step.transform is not None:
                    phi = parse_expression(step.transform.removeprefix("x := ").split(",")[0])
                    by_name = {Symbol(s.name): s for s in lhs.free_symbols | rhs.free_symbols}
                    phi = replace(phi, by_name)  # letters from a relabeling are no plain symbols
                    lhs, rhs, transform = change_and_name(lhs, rhs, phi)
                    lhs, rhs = settle(lhs, rhs)
                    stack += (transform,)
            elif action.op in CHANGES:
                changed = change(action.op, lhs, rhs, action.term)
                if changed is None:
                    return broken(number, f"'{action}' does not apply")
                lhs, rhs, transform = changed
                stack += (transform,)
            else:
                lhs, rhs = apply(action, lhs, rhs)
            if solved_form(lhs, rhs) and open_goals(stack):
                *sides, stack = reach_goal(stack, rhs)
                lhs, rhs = settle(*sides)
            derived = f"{sstr(lhs)} = {sstr(rhs)}"
            if derived != step.equation:
                return broken(number, f"gives '{derived}', not '{step.equation}'")
        if not solved_form(lhs, rhs) or open_goals(stack):
            return Verdict("refuted", None, "the last step is not x = r with r free of x")
        root = unwind(stack, rhs)
        if sstr(root) != self.root:
            return Verdict("refuted", None, f"the root is {sstr(root)}, not {self.root}")
        return verify_root(equation, root)


def as_latex(text: str) -> str:
    """A printed expression in LaTeX, or as it is where steps have nested it deeper than is read."""
    try:
        return latex(parse_expression(text))
    except ParseError:
        return rf"\mathtt{{{text.replace('_', chr(92) + '_')}}}"


def action_as_latex(step: Step) -> str:
    try:
        term = None if step.term is None else parse_expression(step.term)
        return describe(Action(step.op, term), as_latex=True)
    except ParseError:
        return OPERATIONS[step.op].latex.replace("{}", as_latex(step.term or ""))


def broken(number: int, reason: str) -> Verdict:
    return Verdict("refuted", None, f"step {number}: {reason}")


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0] in ("-h", "--help"):
        print("usage: python -m abel.trace FILE.json", file=sys.stderr)
        return 2
    try:
        with open(argv[0], encoding="utf-8") as file:
            trace = Trace.from_json(file.read())
        verdict = trace.replay()
    except (OSError, UnicodeDecodeError, ParseError, ValueError) as error:
        print(f"abel.trace: {argv[0]}: {error}", file=sys.stderr)
        return 2
    if not verdict:
        print(f"does not hold: {verdict.reason} ({verdict.status})")
        return 1
    condition = "" if verdict.valid_when is None else f", valid when {verdict.valid_when}"
    print(trace.to_text())
    print(f"holds: {len(trace.steps)} steps re-derived, root proved in the original{condition}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
