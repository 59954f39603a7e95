"""Does every root survive every step, on some branch? By numbers, without the verifier.

python -m tests.branches --cases 2000 --seed 1    # exit 1 if a row with `keeps` loses a root

Random equations with random numbers for their letters are walked through random legal steps. Their
roots are found by Newton's method. A legal step of a row with `keeps` must lead to an equation of
which each root is one, on one of the branches that the row lists.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import mpmath
from sympy import Expr, Symbol, tan

from abel import load_dataset
from abel.audit.judge import number_of
from abel.env import EnvConfig
from abel.equation import Label, X, has_x
from abel.operations import OPERATIONS, Action, Fork, Taken, factors, out_of_reach
from abel.transforms import HOLE, Ansatz, Goal, Relabel, Substitute, Transform
from abel.transitions import Form, TransitionCache

DIGITS = 30
NEAR = mpmath.mpf(10) ** -12  # of the size of what is compared
ROUNDING = mpmath.mpf(10) ** -18
STARTS, MAX_ROOTS, NEWTON = 14, 3, 60  # of Newton's method; roots that are followed; its steps
TURNS = (0, 1, -1, 2, -2, 3, -3)  # what is tried for the integer of a branch
N = Symbol("n", integer=True)
WALK = 3  # steps from an equation
DATASETS = ("open_world", "open_world", "open_world", "open_wild", "open_small", "poesia")
FAILED = (ArithmeticError, ValueError, TypeError, KeyError, mpmath.libmp.NoConvergence)

Known = dict[Expr, Any]  # a number for every letter


class Lost(NamedTuple):
    """A root that no branch of a step holds."""

    row: str
    equation: str
    action: str
    root: str
    letters: str

    def __str__(self) -> str:
        return f"{self.action}: {self.equation} loses {self.root} at {self.letters}"


def number(expr: Expr, known: Known, x: Any) -> Any:
    """The value of an expression in x; its letters for blocks stand for their blocks."""
    if expr == X:
        return x
    if isinstance(expr, Label):
        return number(expr.block, known, x)
    values = {arg: number(arg, known, x) for arg in expr.args}
    value = on_axis(number_of(expr, values if expr.args else known))
    if isinstance(expr, tan) and abs(value) > 1 / ROUNDING:  # a pole, but for rounding
        raise ZeroDivisionError
    return value


def on_axis(value: Any) -> Any:
    """A number that is real but for rounding is real: on a cut, a rounding error is a branch."""
    tiny = ROUNDING * abs(value)
    if abs(mpmath.im(value)) < tiny:
        return mpmath.re(value)
    return mpmath.mpc(0, mpmath.im(value)) if abs(mpmath.re(value)) < tiny else value


def gap(lhs: Expr, rhs: Expr, known: Known, x: Any) -> Any:
    return number(lhs, known, x) - number(rhs, known, x)


def holds(lhs: Expr, rhs: Expr, known: Known, x: Any) -> bool:
    """Whether x is a root, as far as so many digits tell."""
    try:
        left, right = number(lhs, known, x), number(rhs, known, x)
    except FAILED:
        return False
    size = 1 + abs(left) + abs(x)
    if abs(left - right) < NEAR * size:
        return True
    # Parts may cancel: a root is also where the gap grows in proportion to the distance from it.
    step = mpmath.mpf(10) ** -8 * (1 + abs(x))
    try:
        slope = abs(gap(lhs, rhs, known, x + step) - (left - right)) / step
    except FAILED:
        return False
    return abs(left - right) < NEAR * slope * (1 + abs(x))


def newton(lhs: Expr, rhs: Expr, known: Known, start: Any) -> Any:
    """A root near the start, by secants; None if it runs away."""
    try:
        x, y = start, start * (1 + mpmath.mpf(10) ** -3) + mpmath.mpf(10) ** -4
        f, g = gap(lhs, rhs, known, x), gap(lhs, rhs, known, y)
        for _ in range(NEWTON):
            if f == g:
                break
            x, y, f = y, y - g * (y - x) / (g - f), g
            if abs(y) > 10**4:
                return None
            g = gap(lhs, rhs, known, y)
            if abs(y - x) < mpmath.mpf(10) ** -(DIGITS - 4) * (1 + abs(y)):
                break
    except FAILED:
        return None
    y = on_axis(y) if abs(y) > ROUNDING else mpmath.mpf(0)
    return y if is_simple(lhs, rhs, known, y) else None


def is_simple(lhs: Expr, rhs: Expr, known: Known, x: Any) -> bool:
    """Whether x is a root of multiplicity one, known to nearly all digits."""
    try:
        here = abs(gap(lhs, rhs, known, x))
        near = abs(gap(lhs, rhs, known, x + mpmath.mpf(10) ** -9 * (1 + abs(x))))
        far = abs(gap(lhs, rhs, known, x + mpmath.mpf(10) ** -3 * (1 + abs(x))))
    except FAILED:
        return False
    # The gap of a simple root grows in proportion; beside one that only seems to be, it is flat.
    return here < mpmath.mpf(10) ** -12 * near and far < mpmath.mpf(10) ** 7 * near


def roots_of(lhs: Expr, rhs: Expr, known: Known, rng: random.Random, most: int) -> list[Any]:
    """Some of the roots, real and complex."""
    found: list[Any] = []
    for k in range(STARTS):
        start: Any = mpmath.mpf(rng.uniform(-4, 4))
        if k % 2:
            start = mpmath.mpc(start, rng.uniform(-4, 4))
        root = newton(lhs, rhs, known, start)
        if root is not None and all(abs(root - other) > NEAR for other in found):
            found.append(root)
        if len(found) == most:
            break
    return found


# ---- Steps ----


def branches(form: Form, action: Action, cache: TransitionCache) -> list[Fork] | None:
    """What a step leads to, as `--all-roots` follows it; None where it promises nothing."""
    row = OPERATIONS[action.op]
    after, transform = cache.successor(form, action)
    taken = Taken(form.lhs, form.rhs, after.rhs, transform, N, action.term)
    if after is form or not row.keeps_roots(taken) or out_of_reach(transform):
        return None
    forks = row.forks(taken) or [Fork(after.rhs, transform, "")]
    return [fork._replace(lhs=after.lhs if fork.lhs is None else fork.lhs) for fork in forks]


def survives(fork: Fork, known: Known, root: Any, rng: random.Random) -> bool:
    """Whether the root of the equation before is one on this branch, for some integer n."""
    assert fork.lhs is not None
    pushed = fork.transform
    parts = (fork.lhs, fork.rhs, *([pushed.phi] if isinstance(pushed, Substitute) else []))
    turning = any(part.has(N) for part in parts)
    turns = [*TURNS, *linear_turns(fork, known, root)] if turning else TURNS[:1]
    return any(
        holds_after(fork.lhs, fork.rhs, pushed, {**known, N: mpmath.mpf(n)}, root, rng)
        for n in turns
    )


def linear_turns(fork: Fork, known: Known, root: Any) -> list[int]:
    """The integer for which a branch holds the root, where its sides are linear in the integer."""
    try:
        assert fork.lhs is not None
        first, second = (gap(fork.lhs, fork.rhs, {**known, N: mpmath.mpf(n)}, root) for n in (0, 1))
        return [int(mpmath.nint(mpmath.re(first / (first - second))))]
    except FAILED:
        return []


def holds_after(
    lhs: Expr, rhs: Expr, pushed: Transform | None, known: Known, root: Any, rng: random.Random
) -> bool:
    if pushed is None or isinstance(pushed, Relabel):
        return holds(lhs, rhs, known, root)
    try:
        if isinstance(pushed, Substitute):
            return any(holds(lhs, rhs, known, t) for t in inverses(pushed.phi, known, root, rng))
        if isinstance(pushed, Goal) and pushed.rhs == HOLE:
            return holds(lhs, rhs, known, number(pushed.lhs, known, root))
        for value in roots_of(lhs, rhs, known, rng, 2):
            at = {**known, HOLE: value}
            if isinstance(pushed, Goal):
                if not holds(pushed.lhs, pushed.rhs, at, root):
                    return False
            elif not holds_after_ansatz(pushed, at, root, rng):
                return False
        return True
    except FAILED:
        return False


def holds_after_ansatz(pushed: Ansatz, at: Known, root: Any, rng: random.Random) -> bool:
    total = sum((c * function for function, c in pushed.terms), start=X * 0)
    return any(holds(total, total * 0, at, t) for t in inverses(pushed.phi, at, root, rng))


def inverses(phi: Expr, known: Known, root: Any, rng: random.Random) -> list[Any]:
    target = Symbol("<target>")
    return roots_of(phi, target, {**known, target: root}, rng, 4)


# ---- Cases ----


def letters_for(form: Form, rng: random.Random) -> Known:
    symbols = (form.lhs - form.rhs).free_symbols - {X}
    plain = {s for s in symbols if not isinstance(s, Label)}
    return {
        letter: mpmath.mpf(round(rng.uniform(0.3, 3) * rng.choice((1, 1, -1)), 3))
        for letter in sorted(plain, key=str)
    }


class Case(NamedTuple):
    """An equation with numbers for its letters, and some of its roots."""

    form: Form
    known: Known
    roots: list[Any]


def check_steps(
    case: Case, cache: TransitionCache, rng: random.Random, counts: Counter[str],
    rows: Sequence[str] = (),
) -> Iterator[Lost]:  # fmt: skip
    """The roots that a legal step loses; `counts` hears how many were tried by row."""
    form = case.form
    parts = factor_branches(form)
    steps = [("products", "one factor is 0", parts)] * bool(parts)
    for action in cache.observe(form, True).actions:
        if action.op != "split" and (not rows or action.op in rows):
            listed = branches(form, action, cache)
            steps += [] if listed is None else [(action.op, str(action), listed)]
    for row, name, forks in steps:
        for root in case.roots:
            counts[row] += 1
            if not any(survives(fork, case.known, root, rng) for fork in forks):
                letters = ", ".join(f"{k} = {v}" for k, v in case.known.items())
                yield Lost(row, str(form), name, mpmath.nstr(root, 12), letters)


def factor_branches(form: Form) -> list[Fork]:
    """The equations into which a product that is 0 parts."""
    return [Fork(form.rhs, None, "", lhs=factor) for factor in factors(form.lhs, form.rhs)]


def forms(cache: TransitionCache, number_of_forms: int, seed: int) -> Iterator[Form]:
    """Equations of the training sets, and what random steps make of them."""
    rng = random.Random(seed)
    sets = {name: load_dataset(name, "train") for name in dict.fromkeys(DATASETS)}
    for _ in range(number_of_forms):
        equation = rng.choice(sets[rng.choice(DATASETS)]).equation
        form = cache.form(equation.lhs, equation.rhs)
        for _ in range(rng.randint(0, WALK)):
            actions = cache.observe(form, True).actions
            after = cache.successor(form, rng.choice(actions))[0] if actions else form
            if not has_x(after.lhs - after.rhs) or after.solved_form:
                break
            form = after
        yield form


def attack(
    config: EnvConfig, number_of_cases: int, seed: int, counts: Counter[str],
    rows: Sequence[str] = (),
) -> Iterator[Lost]:  # fmt: skip
    rng, cache = random.Random(f"{seed} roots"), config.new_cache()
    with mpmath.workdps(DIGITS):
        for form in forms(cache, number_of_cases, seed):
            known = letters_for(form, rng)
            roots = roots_of(form.lhs, form.rhs, known, rng, MAX_ROOTS)
            yield from check_steps(Case(form, known, roots), cache, rng, counts, rows)


def main(argv: list[str]) -> int:
    import train_ppo

    parser = argparse.ArgumentParser(prog="python -m tests.branches", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--preset", default="world")
    parser.add_argument("--rows", nargs="*", default=[], help="only these operations")
    args = parser.parse_args(argv)
    config = train_ppo.parse_args(["--preset", args.preset]).env
    counts: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for each in attack(config, args.cases, args.seed, counts, args.rows):
        failed[each.row] += 1
        print(each, flush=True)
    for row, tried in sorted(counts.items()):
        print(f"{row}: {tried} roots, {failed[row]} lost")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
