"""A claim as a Coq script."""

from __future__ import annotations

from dataclasses import dataclass

from abel.certificate.functions import Rescale
from abel.certificate.prelude import FIELD, FIELD_LAWS, REAL, REAL_LAWS
from abel.certificate.prover import Prover, letter_name, printed
from abel.certificate.reader import Condition, NotCovered, Tree
from abel.certificate.statement import Claim, Denied, Statement, parts, state

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
        body = whole_text(self.statement.real, self.laws, [self.theorem])
        return f"{header(self.statement)}\n{body}Print Assumptions {NAME}.\n"


FIELD_HEADER = """\
   For all letters in any field of characteristic 0 whose functions obey the laws below. Over the
   complex numbers the principal branches obey them, and so do others: the root is one on every
   branch. What is divided by, and the arguments of logarithms, are not 0 by hypothesis."""
REAL_HEADER = """\
   For all real letters at which every part of the equation and the root is real: what is under a
   root is not negative and what is in a logarithm positive, by hypothesis. sqrt(u) is the root that
   is not negative."""
RESTRICTED = """
   The claim is about more letters than that: this theorem says nothing of the others."""


def header(statement: Statement) -> str:
    """What a reader is told first: the claim as it was typed, and what the theorem says of it."""
    claim = statement.claim
    lines = [f"   {claim.equation}", f"   has the root x = {claim.root}"]
    if claim.valid_when:
        lines.append(f"   valid when {claim.valid_when}")
    said = "\n".join(lines).replace("(*", "( *").replace("*)", "* )")
    kind = REAL_HEADER if statement.real else FIELD_HEADER
    return f"(*{said[2:]}\n\n{kind}{RESTRICTED * statement.restricted} *)\n"


SIGNS = {"!=": "<>", "=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def condition_text(condition: Condition) -> str:
    if condition.op in ("and", "or"):
        sign = " /\\ " if condition.op == "and" else " \\/ "
        return "(" + sign.join(map(condition_text, condition.args)) + ")"
    left, right = (printed(side, {}) for side in condition.args)
    return f"{left} {SIGNS[condition.op]} {right}"


def laws_needed(trees: list[Tree]) -> dict[str, None]:
    found: dict[str, None] = {}
    for node in parts(*trees):
        if node.op == "root":
            found["sqrt" if node.value == 2 else "root"] = None
        elif node.op in ("sin", "cos", "tan", "asin", "acos", "atan"):
            found["trigonometry"] = found[node.op] = None
        elif node.op in ("lambert", "lower_lambert"):
            found["exp"] = found[node.op] = None
        elif node.op in FIELD_LAWS:
            found[node.op] = None
    if "log" in found:
        found["exp"] = None
    if {"pi", "trigonometry"} <= found.keys():
        found["half_turn"] = None
    return found


def whole_text(real: bool, laws: tuple[str, ...], theorems: list[str]) -> str:
    """Theorems behind what they stand on."""
    known = REAL_LAWS if real else FIELD_LAWS
    texts = [known[name] for name in known if name in laws]
    return "\n".join([REAL if real else FIELD, *texts, *theorems, "End Certificate.\n"])


def theorem_text(statement: Statement, name: str) -> str:
    letters = " ".join([*map(letter_name, statement.letters), "x"])
    lines = [
        f"Theorem {name} : forall {letters} : {'R' if statement.real else 'F'},",
        f"  x = {printed(statement.root, {})} ->",
    ]
    lines += [f"  {condition_text(each)} ->" for each in statement.hypotheses]
    lhs, rhs = (printed(side, {}) for side in statement.sides)
    field = "R" if statement.real else "F"
    # Coq takes the type of an equation from its left side, and that of a number is Z.
    lines.append(f"  {lhs} = {rhs}{f' :> {field}' if statement.sides[0].is_number else ''}.")
    names = [f"H'{i}" for i in range(1, len(statement.hypotheses) + 1)]
    intro = " ".join([letters, "X'", *names])
    return "\n".join([*lines, "Proof.", f"  intros {intro}."])


def export(claim: Claim) -> Script:
    """The script for a claim: over any field if it holds on every branch, or else over the reals.

    NotCovered says why there is none.
    """
    try:
        return script(state(claim, real=False))
    except Denied:
        raise
    except NotCovered as reason:
        try:
            return script(state(claim, real=True))
        except Denied:
            raise
        except NotCovered as other:
            raise NotCovered(f"in a field: {reason}; over the reals: {other}") from None


def attempt(claim: Claim) -> Script:
    """A proof over a field for a claim that may be false, to see the kernel refuse it."""
    return script(state(claim, real=False, look=False), believe=True)


def script(statement: Statement, believe: bool = False) -> Script:
    """NotCovered unless the sides are equal; `believe` writes the proof all the same."""
    scales: dict = {}
    for _ in range(MAX_TURNS):
        prover = Prover(statement, scales)
        try:
            proof = prover.write(believe)
        except Rescale:
            continue
        laws = tuple(laws_needed([statement.root, *statement.sides]))
        theorem = f"{theorem_text(statement, NAME)}\n{proof}\nQed.\n"
        return Script(statement, laws, theorem, proof)
    raise NotCovered("parts of arguments that are too small")
