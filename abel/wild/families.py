"""open_wild: open equations of many families, for agents that choose their own substitutions.

A family is trained on, or held out (zero-shot), or nested: held out as well, and made of parts that
each occur in training. A development family is not trained on either; by such families
hyperparameters are chosen. Which is which is fixed here, before any training. Every equation has a
route that a script (`abel.datasets.textbook`) plays in the environment, to a proved root.

python -m abel.datasets --name open_wild           # writes the set; its extras alike
"""

from __future__ import annotations

import random
import re

from abel.datasets.decisions import Decisions
from abel.datasets.generate import as_problem, family_expression, level_draft, render
from abel.datasets.load import FAMILIES, WILD, DatasetError, Problem
from abel.datasets.templates import LETTERS, signed_number
from abel.datasets.textbook import decided_route
from abel.parse import parse
from abel.wild.drafts import draft

# A to F are coefficients, L to N, R and S numbers, K a factor of x, G and H x or a linear form, P
# and Q numbers without a common factor.
TRAINED = {
    **dict.fromkeys(FAMILIES, ""),  # the paper's, as `abel.datasets.generate` draws them
    "quad_exp": "A*exp(2*(G)) + B*exp(G) + C",
    "quad_log": "A*log(G)^2 + B*log(G) + C",
    "quad_sin": "A*sin(G)^2 + B*sin(G) + C",
    "quad_sqrt": "A*(H) + B*sqrt(H) + C",
    "quad_reciprocal": "A/(H)^2 + B/(H) + C",
    "quad_square": "A*x^4 + B*x^2 + C",
    "quad_moebius": "A*(x + D)^2/(x + F)^2 + B*(x + D)/(x + F) + C",
    "cubic_depressed": "A*x^3 + B*x + C",
    "cubic_generic": "A*x^3 + B*x^2 + C*x + D",
    "sin_cos": "A*sin(x) + B*cos(x) + C",
    "sin2_cos": "A*sin(G)^2 + B*cos(G) + C",
    "x_exp": "A*x*exp(K*x) + C",
    "linear_exp": "A*x + B*exp(K*x) + C",
    "two_bases": "A*(P^2)^x + B*(P*Q)^x + C*(Q^2)^x",
    "two_bases_numeric": "L*(P^2)^x + M*(P*Q)^x + N*(Q^2)^x",
    "palindromic": "A*x^4 + B*x^3 + C*x^2 + B*x + A",
    "radical": "sqrt(A*x + B) - C*x - D",
    # Parts of the ones above that occur in no other: the levels have no x in a denominator and no
    # power of a number.
    "reciprocal": "A/(H) + C",
    "power": "A*P^(G) + C",
    "quad_rational": "A*x + B/x + C",
    "quad_reciprocal_sum": "A*x^2 + A/x^2 + B*x + B/x + C",
}
ZERO_SHOT = {
    "quad_cos": "A*cos(G)^2 + B*cos(G) + C",
    "quad_cube": "A*x^6 + B*x^3 + C",
    "quad_linear": "A*(K*x + F)^2 + B*(K*x + F) + C",
    "quad_power": "A*(P^2)^x + B*P^x + C",
    "cos2_sin": "A*cos(G)^2 + B*sin(G) + C",
    "double_angle_cos": "A*cos(2*x) + B*cos(x) + C",
    "double_angle_sin": "A*cos(2*x) + B*sin(x) + C",
    "sin_cos_scaled": "A*sin(K*x) + B*cos(K*x) + C",
    "antipalindromic": "A*x^4 + B*x^3 + C*x^2 - B*x + A",
    "two_radicals": "sqrt(x + A) + sqrt(x + B) - C",
    "x_log": "A*x*log(x) + C",
    "logistic": "A*exp(G)/(B*exp(G) + D) - C",
}
NESTED = {
    "cubic_log": "A*log(x)^3 + B*log(x)^2 + C*log(x) + D",
    "cubic_exp": "A*exp(3*x) + B*exp(2*x) + C*exp(x) + D",
    "cubic_sin": "A*sin(x)^3 + B*sin(x)^2 + C*sin(x) + D",
    "cubic_x_exp": "A*x^3*exp(3*x) + B*x^2*exp(2*x) + C*x*exp(x) + D",
    "quad_x_exp": "A*x^2*exp(2*x) + B*x*exp(x) + C",
    "quad_log_quadratic": "A*log(x^2 + D*x)^2 + B*log(x^2 + D*x) + C",
    "quad_exp_quadratic": "A*exp(2*x^2 + 2*D*x) + B*exp(x^2 + D*x) + C",
    "quad_sqrt_quadratic": "A*(x^2 + D*x) + B*sqrt(x^2 + D*x) + C",
    "quad_log_log": "A*log(log(x))^2 + B*log(log(x)) + C",
    "sin_cos_log": "A*sin(log(x)) + B*cos(log(x)) + C",
}
# For choosing hyperparameters: never trained on, and in no table of results. Both kinds of unseen
# families occur, parts in a new place and new parts.
DEVELOPMENT = {
    "log_quadratic": "log(x^2 + D*x) - C",
    "exp_quadratic": "A*exp(x^2 + D*x) + C",
    "sqrt_quadratic": "A*sqrt(x^2 + D*x) + C",
    "sin_quadratic": "A*sin(x^2 + D*x) + C",
    "cubic_sqrt": "A*x*sqrt(x) + B*x + C*sqrt(x) + D",
    "cubic_reciprocal": "A/x^3 + B/x^2 + C/x + D",
    "cubic_square": "A*x^6 + B*x^4 + C*x^2 + D",
    "quad_exp_exp": "A*exp(2*exp(x)) + B*exp(exp(x)) + C",
    "quad_sin_log": "A*sin(log(x))^2 + B*sin(log(x)) + C",
    "quad_log_exp": "A*log(exp(x) + D)^2 + B*log(exp(x) + D) + C",
    "sin_cos_exp": "A*sin(exp(x)) + B*cos(exp(x)) + C",
    "quad_exp_sin": "A*exp(2*sin(x)) + B*exp(sin(x)) + C",
}
# For agents that see nine of the twelve as well: all but every fourth.
MORE = {name: text for i, (name, text) in enumerate(ZERO_SHOT.items()) if i % 4}
# The trained ones as people write them, with numbers, and 1 often among them: x + exp(x) = 3 has no
# product, so that an agent that has only seen letters does not know it again. Equal numbers cannot
# be gathered (SymPy multiplies 2*(x + 1/x) out), which two families need.
UNGATHERED = ("palindromic", "quad_reciprocal_sum")
PLAIN = {
    "quadratic": "A*x^2 + B*x + C",
    "exponential": "A*exp(K*x) + B*exp(-K*x) + C",
    **{
        name: text
        for name, text in TRAINED.items()
        if text and name not in ("two_bases", *UNGATHERED)
    },
}
# For agents that have `resolvent`, too, which these need; the last part is never trained on.
QUARTIC = {
    "quartic_depressed": "A*x^4 + B*x^2 + C*x + D",
    "quartic_generic": "A*x^4 + B*x^3 + C*x^2 + D*x + F",
    "quartic_numeric": "L*x^4 + M*x^3 + N*x^2 + R*x + S",
}
QUARTIC_NESTED = {
    "quartic_exp": "A*exp(4*x) + B*exp(3*x) + C*exp(2*x) + D*exp(x) + F",
    "quartic_sin": "A*sin(x)^4 + B*sin(x)^3 + C*sin(x)^2 + D*sin(x) + F",
    "quartic_reciprocal": "A/x^4 + B/x^3 + C/x^2 + D/x + F",
    "quartic_square": "A*x^8 + B*x^6 + C*x^4 + D*x^2 + F",
}
PARTS = {
    "trained": TRAINED, "more": MORE, "plain": PLAIN, "zeroshot": ZERO_SHOT, "nested": NESTED,
    "quartic": QUARTIC, "quartic_nested": QUARTIC_NESTED, "dev": DEVELOPMENT,
}  # fmt: skip
CLOSED = {1: (16, 1), 2: (100, 10), 3: (150, 15)}  # closed levels, without which nothing starts
NUM_TRAIN, NUM_HELDOUT, NUM_UNSEEN = 40, 21, 15
COPRIME = ((2, 3), (3, 2), (2, 5), (5, 2), (3, 5), (2, 7), (3, 7), (5, 3), (7, 2), (4, 3))


# ---- Draw ----


def draw(template: str, rng: random.Random, plain: bool) -> str:
    """An equation of a family: coefficients are letters with factors, or, if it is to be plain,
    the factors alone; terms may change sides.
    """
    letters = iter(rng.sample(LETTERS, len(LETTERS)))
    first, second = rng.choice(COPRIME)

    def coefficient() -> str:
        number = signed_number(rng) if rng.random() < 0.7 else 1
        if plain:
            return f"({number})"
        return next(letters) if number == 1 else f"({number}*{next(letters)})"

    def inner(scale: bool) -> str:
        kind = rng.choice(("x", "x", "x + ", "k*x", "k*x + ") if scale else ("x", "x + "))
        k = str(rng.choice((2, 3, 4, 5))) if plain or rng.random() < 0.5 else None
        kind = kind if "k" not in kind else kind.replace("k", k or next(letters))
        return kind + coefficient() if kind.endswith("+ ") else kind

    filled = {"P": str(first), "Q": str(second), "K": str(rng.choice((2, 3, 4, 5)))}
    if rng.random() < 0.5:
        filled["K"] = "1" if plain else next(letters)

    def fill(match: re.Match[str]) -> str:
        name = match[0]
        if name not in filled:
            if name in "LMNRS":
                filled[name] = f"({signed_number(rng) if rng.random() < 0.5 else 1})"
            else:
                filled[name] = inner(name == "G") if name in "GH" else coefficient()
        return filled[name]

    text = re.sub("[A-Z]", fill, template)
    match = re.match(r"(.*) ([+-]) ([^()]*|.*)$", text)
    assert match, f"the template '{template}' is no sum"
    lhs, sign, last = match.groups()
    if rng.random() < 0.3:
        text = f"{lhs} = {'-' if sign == '+' else ''}{last}"
    return str(parse(text))


def draft_part(
    family: str, part: str, decisions: Decisions
) -> tuple[list[Problem], list[Problem], str]:
    """Training and held-out equations of a family, and what happened on the way."""
    extra = part not in ("trained", "zeroshot", "nested")  # of open_wild itself
    rng = random.Random(f"{decisions.seed} wild {f'{part} ' * extra}{family}")
    route = "general route with resolvent" if "quartic" in part else "general route"
    unseen = part in ("zeroshot", "nested", "quartic_nested", "dev")
    sizes = (0, NUM_UNSEEN) if unseen else (NUM_TRAIN, NUM_HELDOUT)

    def drawn(_: int) -> Problem:
        template = PARTS[part][family]
        if template:
            return Problem(draw(template, rng, part == "plain"), family)
        return as_problem(family, family_expression(family, rng))

    def has_route(problem: Problem) -> bool:
        return decided_route(problem, decisions, route)

    most = 100 * sum(sizes)
    train, heldout, note = draft(family, sizes, most, drawn, has_route, decisions, "without x")
    if (len(train), len(heldout)) != sizes:
        raise DatasetError(f"{family}: too few classes for {sizes[0]} + {sizes[1]} equations")
    return train, heldout, note


def files(decisions: Decisions) -> dict[str, str]:
    """The files of the set: name to content."""
    parts: dict[str, list[Problem]] = {
        part: [] for part in ("train", "heldout", "zeroshot", "nested", "dev")
    }
    notes: dict[str, list[str]] = {part: [] for part in parts}
    for part in ("trained", "zeroshot", "nested", "dev"):
        for family in PARTS[part]:
            train, heldout, note = draft_part(family, part, decisions)
            parts["train"] += train
            parts["heldout" if part == "trained" else part] += heldout
            notes["train" if part == "trained" else part].append(note)
    rng = random.Random(f"{decisions.seed} wild closed")
    taken: set[tuple[int, int]] = set()
    for level, sizes in CLOSED.items():
        closed = level_draft(level, decisions).sample(*sizes, rng, taken)
        parts["train"] += closed.train
        parts["heldout"] += closed.heldout
    return {
        f"{WILD}.{part}.txt": render(f"{WILD}.{part}", decisions.seed, problems, notes[part])
        for part, problems in parts.items()
    }


def extra_files(name: str, decisions: Decisions) -> dict[str, str]:
    """The files of a set that goes with open_wild: name to content."""
    part = name.removeprefix(f"{WILD}_")
    drafts = [draft_part(family, part, decisions) for family in PARTS[part]]
    nested = [
        draft_part(family, f"{part}_nested", decisions)
        for family in PARTS.get(f"{part}_nested", ())
    ]
    written = {}
    for split, drawn, problems in (
        ("train", drafts, [p for train, _, _ in drafts for p in train]),
        ("heldout", drafts, [p for _, heldout, _ in drafts for p in heldout]),
        ("nested", nested, [p for _, heldout, _ in nested for p in heldout]),
    ):
        if problems:
            notes = [note for _, _, note in drawn]
            written[f"{name}.{split}.txt"] = render(
                f"{name}.{split}", decisions.seed, problems, notes
            )
    return written
