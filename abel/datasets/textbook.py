"""A scripted solver: the steps a textbook would take, played in the environment.

No learning and no search: it says which equations have an honest route at all, before any
training. Its rules undo the outermost operation around x, after bringing x to one place; where
substitutions are the solver's own to choose (`--substitutions general`), it chooses them first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain

from sympy import Add, Expr, Integer, Mul, Pow, acos, asin, cos, exp, log, sin

from abel.datasets.decisions import Decisions
from abel.datasets.load import Problem
from abel.env import SUPPLIED, Env, EnvConfig
from abel.equation import (
    MINUS_ONE,
    ZERO,
    Equation,
    X,
    has_x,
    num_nodes,
    split_factor,
    split_summand,
)
from abel.numeric import is_zero
from abel.operations import Action, propose
from abel.operations.let import lets
from abel.operations.substitutions import exact_coefficients
from abel.rewrite import base_exponent, difference, has_exponential, negate, power
from abel.transitions import TransitionCache

UNDO = {exp: "log", log: "exp", sin: "asin", cos: "acos", asin: "sin", acos: "cos"}
PAPER = EnvConfig(terms="blocks", cache_size=5000)
GENERAL = replace(PAPER, substitutions="general", max_steps=30, **SUPPLIED)
ROUTES = {  # what the script may use, by the question that is decided (`abel.datasets.decisions`)
    "route": PAPER,
    "route without cov": replace(PAPER, cov="off"),
    "general route": GENERAL,
    "general route with resolvent": replace(GENERAL, resolvent=True, max_changes=8),
}


@cache
def solver_cache(config: EnvConfig) -> TransitionCache:
    return config.new_cache()


def has_route(problem: Problem | Equation, kind: str = "route") -> bool:
    """Whether the script proves a root."""
    config = ROUTES[kind]
    env = Env([problem], config, cache=solver_cache(config))
    env.reset(options={"index": 0})
    return solve(env)


def decided_route(problem: Problem, decisions: Decisions, kind: str = "route") -> bool:
    """`has_route`, as it was decided when the sets were drawn."""
    return decisions.agrees(kind, problem.text, lambda: has_route(problem, kind))


def solve(env: Env, relabel: bool = False) -> bool:
    """Play out the current episode of `env`; `relabel` renames constants whenever that is legal.

    No action is taken twice in a state.
    """
    rules = general_proposals if env.config.substitutions == "general" else proposals
    tried: set[tuple] = set()
    while not env.ended:
        legal = {action: index for index, action in enumerate(env.actions)}
        here = env.state.key
        wanted = chain([Action("relabel")] * relabel, rules(env.form.lhs, env.form.rhs))
        new = (action for action in wanted if (*here, action) not in tried)
        action = next((action for action in new if action in legal), None)
        if action is None:
            return False
        tried.add((*here, action))
        env.step(legal[action])
    return env.solved


# ---- Rules: sensible next actions, best first; some may not be legal ----


def proposals(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """With the paper's actions."""
    if has_x(rhs):
        yield from (Action("mul", term) for term in denominators(lhs) + denominators(rhs))
        yield from (Action("sub", term) for term in Add.make_args(rhs) if has_x(term))
        return
    if propose(lhs, rhs) is not None:
        yield Action("cov")
    if isinstance(lhs, Add):
        yield from for_sum(lhs)
    elif isinstance(lhs, Mul):
        yield from for_product(lhs, rhs)
    elif isinstance(lhs, Pow):
        yield from for_power(lhs)
    elif type(lhs) in UNDO:
        yield Action(UNDO[type(lhs)])
    yield Action("expand")
    yield Action("collect")


def for_sum(lhs: Add) -> Iterator[Action]:
    free, rest = split_summand(lhs)
    if isinstance(rest, Add):  # x in several places
        yield Action("collect")
        yield from (Action("mul", term) for term in denominators(lhs))
        yield Action("expand")
    yield Action("sub", free)


def for_product(lhs: Mul, rhs: Expr) -> Iterator[Action]:
    free, rest = split_factor(lhs)
    yield Action("mul -1") if free is MINUS_ONE else Action("div", free)
    yield from (Action("mul", term) for term in denominators(rest))
    yield Action("expand")
    if rhs is ZERO:  # a factor that occurs twice may be divided out once
        factors = Mul.make_args(rest)
        yield from (Action("div", factor) for factor in factors)
        yield from (Action("div", base_exponent(factor)[0]) for factor in factors)


def for_power(lhs: Pow) -> Iterator[Action]:
    if not has_x(lhs.base):
        yield Action("log")
    elif lhs.exp.is_Rational and lhs.exp.is_negative:
        yield Action("mul", power(lhs.base, -lhs.exp))
    elif lhs.exp.is_Integer:
        yield Action("cbrt" if lhs.exp % 3 == 0 else "sqrt")
    elif lhs.exp.is_Rational and lhs.exp.q % 2 == 0:
        yield Action("square")


def general_proposals(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """Where substitutions are to be chosen: those first."""
    yield Action("lambert")
    if is_reciprocal(lhs, rhs):
        yield Action("sub", rhs)
        yield Action("div", power(X, Integer(2)))
    if power(X, Integer(-2)) in lhs.args:
        yield Action("expand")
    yield Action("gather")
    known = lets(lhs, rhs)
    yield from sorted(
        (Action("let", term) for term in known),
        key=lambda action: sum(map(num_nodes, known[action.term][:2])),
    )
    yield Action("shift")
    yield Action("vieta")
    yield Action("resolvent")
    yield Action("tan-half")
    yield from of_exponentials(lhs, rhs)
    yield from of_radicals(lhs, rhs)
    if isinstance(lhs, Mul) and has_exponential(lhs):
        yield Action("log")
    yield from proposals(lhs, rhs)


def is_reciprocal(lhs: Expr, rhs: Expr) -> bool:
    """Whether a quartic's coefficients read the same from both ends, up to a sign."""
    coeffs = exact_coefficients(lhs, rhs)
    if coeffs is None or len(coeffs) != 5:
        return False
    ends = difference(coeffs[0], coeffs[4])
    inner = [difference(coeffs[1], c) for c in (coeffs[3], negate(coeffs[3]))]
    return coeffs[1] is not ZERO and is_zero(ends) and any(map(is_zero, inner))


def of_exponentials(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """a*x + b*exp(x) = c has its exponential moved to the right and divided by."""
    if has_exponential(rhs):
        yield Action("div", split_factor(rhs)[1])
    if has_exponential(split_summand(rhs)[1]):
        yield Action("sub", split_summand(rhs)[0])
    terms = Add.make_args(split_summand(lhs)[1])
    exponentials = [term for term in terms if has_exponential(term)]
    if not has_x(rhs) and len(exponentials) == len(terms) > 1 and split_summand(lhs)[0] is ZERO:
        yield from (Action("div", split_factor(term)[1]) for term in reversed(exponentials))
    if not has_x(rhs) and 0 < len(exponentials) < len(terms):
        yield from (Action("sub", term) for term in exponentials)


def of_radicals(lhs: Expr, rhs: Expr) -> Iterator[Action]:
    """A root is isolated, and squared."""
    if is_radical(split_factor(lhs)[1]) and has_x(rhs):
        yield Action("square")
    terms = [term for term in Add.make_args(lhs) if has_x(term)]
    radicals = [term for term in terms if is_radical(split_factor(term)[1])]
    if radicals and not has_x(rhs):
        yield from (Action("sub", term) for term in terms if term != radicals[0])


def is_radical(expr: Expr) -> bool:
    return isinstance(expr, Pow) and expr.exp.is_Rational and expr.exp.q == 2


def denominators(expr: Expr) -> list[Expr]:
    """Functions of x under a fraction bar."""
    return [
        power(factor.base, -factor.exp)
        for term in Add.make_args(expr)
        for factor in Mul.make_args(term)
        if isinstance(factor, Pow) and factor.exp.is_Rational and factor.exp.is_negative
        if has_x(factor.base)
    ]
