"""A claim as a Coq script."""

from __future__ import annotations

from dataclasses import dataclass

from abel.certificate.functions import Rescale
from abel.certificate.prelude import FIELD, FIELD_LAWS
from abel.certificate.prover import Prover, letter_name, printed
from abel.certificate.reader import Condition, NotCovered, Tree
from abel.certificate.statement import Claim, Statement, parts, state

MAX_TURNS = 6
NAME = "x_is_a_root"


@dataclass(frozen=True)
class Script:
    statement: Statement
    laws: tuple[str, ...]
    theorem: str  # statement and proof
    proof: str

    @property
    def text(self) -> str:
        return "\n".join([FIELD, *laws_text(self.laws), self.theorem, "End Certificate.\n", f"Print Assumptions {NAME}.\n"])


SIGNS = {"!=": "<>", "=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def condition_text(condition: Condition) -> str:
    if condition.op in ("and", "or"):
        sign = " /\\ " if condition.op == "and" else " \\/ "
        return "(" + sign.join(map(condition_text, condition.args)) + ")"
    left, right = (printed(side, {}) for side in condition.args)
    return f"{left} {SIGNS[condition.op]} {right}"


def laws_needed(trees: list[Tree]) -> dict[str, None]:
    found = {}
    for node in parts(*trees):
        if node.op == "root":
            found["sqrt" if node.value == 2 else "root"] = None
        elif node.op in ("sin", "cos", "tan", "asin", "acos", "atan"):
            found["trigonometry"] = found[node.op] = None
        elif node.op == "lambert":
            found["exp"] = found["lambert"] = None
        elif node.op in FIELD_LAWS:
            found[node.op] = None
    if "log" in found:
        found["exp"] = None
    if {"pi", "trigonometry"} <= found.keys():
        found["half_turn"] = None
    return found


def laws_text(laws: tuple[str, ...]) -> list[str]:
    return [FIELD_LAWS[name] for name in FIELD_LAWS if name in laws]


def theorem_text(statement: Statement, name: str) -> str:
    letters = " ".join([*map(letter_name, statement.letters), "x"])
    lines = [f"Theorem {name} : forall {letters} : F,", f"  x = {printed(statement.root, {})} ->"]
    lines += [f"  {condition_text(each)} ->" for each in statement.hypotheses]
    lhs, rhs = (printed(side, {}) for side in statement.sides)
    lines.append(f"  {lhs} = {rhs}.")
    names = [f"H'{i}" for i in range(1, len(statement.hypotheses) + 1)]
    intro = " ".join([letters, "X'", *names])
    return "\n".join([*lines, "Proof.", f"  intros {intro}."])


def export(claim: Claim, name: str = NAME) -> Script:
    statement = state(claim, real=False)
    scales: dict = {}
    for _ in range(MAX_TURNS):
        prover = Prover(statement, scales)
        try:
            proof = prover.write()
        except Rescale:
            continue
        theorem = f"{theorem_text(statement, name)}\n{proof}\nQed.\n"
        laws = tuple(laws_needed([statement.root, *statement.sides]))
        return Script(statement, laws, theorem, proof)
    raise NotCovered("parts of arguments that are too small")
