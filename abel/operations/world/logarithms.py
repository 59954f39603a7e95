"""Logarithms of products and powers taken apart."""

from __future__ import annotations

from math import gcd, lcm

from sympy import Add, E, Expr, I, Integer, LambertW, Pow, Rational, exp, log, pi

from abel.equation import ONE, factors_of, has_x, ordered_args, remember, split_factor
from abel.operations.forks import Fork, Taken
from abel.operations.legality import Facts, Sides
from abel.operations.row import Applied, Operation, both
from abel.rewrite import call, difference, product, rebuild, replace, total


@remember
def split_logarithms(expr: Expr) -> Expr:
    """log(u*v) = log(u) + log(v), log(u**v) = v*log(u) in all logarithms of x.

    On other branches this is off by whole turns.
    """
    if not has_x(expr) or not expr.args:
        return expr
    args = [split_logarithms(arg) for arg in expr.args]
    if not isinstance(expr, log):
        return rebuild(expr, args)
    parts, numbers = [], []
    for factor in factors_of(args[0]):
        if not has_x(factor):
            numbers.append(factor)
        elif isinstance(factor, exp):
            parts.append(factor.args[0])
        elif isinstance(factor, Pow):
            parts.append(product(factor.exp, ONE if factor.base is E else call(log, factor.base)))
        else:
            parts.append(call(log, factor))
    if numbers:
        parts.append(call(log, product(*numbers)))
    return total(*parts)


def taken_apart(expr: Expr) -> list[Expr]:
    """The logarithms that are taken apart, outermost first, each once."""
    found = [expr] if isinstance(expr, log) and split_logarithms(expr) != expr else []
    return [*dict.fromkeys([*found, *(each for arg in ordered_args(expr)
                                      for each in taken_apart(arg))])]  # fmt: skip


def least_turn(step: Taken) -> Rational | None:
    """Of which all that the two sides can be apart after the step is a whole multiple, in turns;
    None where the logarithms are no rational multiples that are added up.
    """
    apart = {*taken_apart(step.lhs), *taken_apart(step.rhs)}
    rates: list[Rational] = []
    for term in Add.make_args(difference(step.lhs, step.rhs)):
        free, rest = split_factor(term)
        if rest in apart and free.is_Rational:
            rates.append(free)
        elif taken_apart(rest):
            return None
    if not rates:
        return None
    return Rational(gcd(*(int(r.p) for r in rates)), lcm(*(int(r.q) for r in rates)))


def split_forks(step: Taken) -> list[Fork]:
    """A whole number of turns beside the logarithm, or beside the sum of several; first none,
    with which later steps go on as they did.
    """
    turn = product(Integer(2), pi, I, step.fresh)
    apart = [*dict.fromkeys(each for side in step.sides for each in taken_apart(side))]
    if len(apart) == 1:
        turned = {apart[0]: total(split_logarithms(apart[0]), turn)}
        lhs, rhs = (replace(side, turned) for side in step.sides)
        return [Fork(step.after, None, ""), Fork(rhs, None, f"plus {turn}", lhs=lhs)]
    rate = least_turn(step)
    if rate is None:
        return []
    more = product(rate, turn)
    return [Fork(step.after, None, ""), Fork(total(step.after, more), None, f"plus {more}")]


def split_keeps(step: Taken) -> bool:
    return bool(split_forks(step))


def split_is_legal(sides: Sides, _: Facts | None) -> bool:
    if sides.room < 0:
        return False
    changed = any(split_logarithms(side) != side for side in sides[:2])
    return changed and sides.lead_on(both(split_logarithms))


def undo_lambert(lhs: Expr, rhs: Expr, _: Expr | None) -> Applied:
    """W(u) = r says that u = r*exp(r)."""
    if not isinstance(lhs, LambertW):
        raise ValueError(f"'{lhs}' is no LambertW")
    return lhs.args[0], product(rhs, call(exp, rhs)), None


def undo_lambert_is_legal(sides: Sides, _: Facts | None) -> bool:
    return isinstance(sides.lhs, LambertW) and sides.lead_on(undo_lambert)


ROWS = (
    Operation("split-logs", "split the logarithms", r"\text{split logarithms}",
              both(split_logarithms), split_is_legal, kind="rewriting", flags=("logs",),
              forks=split_forks, keeps=split_keeps),
    Operation("undo-lambert", "undo LambertW", "W^{-1}", undo_lambert, undo_lambert_is_legal,
              flags=("logs",), keeps=True),
)  # fmt: skip
