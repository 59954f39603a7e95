"""What one writes first: a plain SymPy environment, the yardstick of `python -m abel.bench env`."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable

import sympy
from sympy import S, Symbol, default_sort_key, preorder_traversal

from abel.equation import Equation
from abel.operations.legality import MAX_NODES

MAX_STEPS = 12
PLAIN_LIMIT = 10  # seconds after which a plain step counts as hung and is abandoned

X = Symbol("x")
PLAIN_FUNCTIONS: dict[str, Callable] = {
    "square": lambda s: s**2,
    "sqrt": lambda s: sympy.powdenest(sympy.simplify(sympy.sqrt(s)), force=True),
    "cbrt": lambda s: sympy.powdenest(sympy.simplify(sympy.cbrt(s)), force=True),
    "exp": sympy.exp,
    "log": lambda s: sympy.expand_log(sympy.log(s), force=True),
    "sin": sympy.sin,
    "cos": sympy.cos,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "expand": sympy.expand,
    "collect": lambda s: sympy.collect(s, X),
    "mul -1": lambda s: -s,
}


class PlainEnv:
    """What one writes first: SymPy calls for everything, nothing remembered.

    Terms by traversal, the division mask by factor(), roots through simplify(), and the paper's
    chain of canonicalizers on every x = r. Kept as the yardstick of the benchmark only.
    """

    def __init__(self, equations: list[Equation], seed: int) -> None:
        self.equations = equations
        self.rng = random.Random(seed)
        self.reset()

    def reset(self) -> None:
        equation = self.equations[self.rng.randrange(len(self.equations))]
        self.start = equation.lhs - equation.rhs
        self.lhs, self.rhs, self.steps = equation.lhs, equation.rhs, 0

    def actions(self) -> list[tuple[str, sympy.Expr | None]]:
        nodes = {*preorder_traversal(self.lhs), *preorder_traversal(self.rhs)}
        terms = sorted(nodes - {S.Zero, S.One, -S.One}, key=default_sort_key)
        factored = sympy.Mul.make_args(sympy.factor(self.lhs - self.rhs))
        factors = {factor.as_base_exp()[0] for factor in factored}
        pairs = [(op, term) for op in ("add", "sub", "mul") for term in terms]
        pairs += [("div", term) for term in terms if term not in factors]
        return pairs + [(name, None) for name in PLAIN_FUNCTIONS]

    def apply(self, op: str, term: sympy.Expr | None) -> tuple[sympy.Expr, sympy.Expr]:
        if term is None:
            return PLAIN_FUNCTIONS[op](self.lhs), PLAIN_FUNCTIONS[op](self.rhs)
        change = {
            "add": lambda s: s + term,
            "sub": lambda s: s - term,
            "mul": lambda s: s * term,
            "div": lambda s: s / term,
        }[op]
        return change(self.lhs), change(self.rhs)

    def step(self) -> None:
        """Enumerate, choose at random, apply, check, encode."""
        op, term = self.rng.choice(self.actions())
        lhs, rhs = self.apply(op, term)
        if rhs.has(X) and not lhs.has(X):
            lhs, rhs = rhs, lhs
        size = sum(1 for side in (lhs, rhs) for _ in preorder_traversal(side))
        if lhs.has(X) and not lhs.has(S.ComplexInfinity, S.NaN, S.Infinity) and size <= MAX_NODES:
            self.lhs, self.rhs = lhs, rhs
        if self.lhs == X and not self.rhs.has(X):
            residual = self.start.subs(X, self.rhs)
            for canonical in (sympy.expand, sympy.powdenest, sympy.ratsimp, sympy.simplify):
                if canonical(residual) == 0:
                    break
        self.steps += 1
        if self.steps >= MAX_STEPS:
            self.reset()


def time_plain(env: PlainEnv, num_steps: int) -> list[float]:
    """Seconds of each step; one that hangs is cut off at the limit, and its episode dropped."""

    def hung(signum, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, hung)
    times = []
    try:
        for _ in range(num_steps):
            start = time.perf_counter()
            signal.alarm(PLAIN_LIMIT)
            try:
                env.step()
            except Exception:  # a hang, or whatever SymPy raises: it took its time all the same
                env.reset()
            signal.alarm(0)
            times.append(time.perf_counter() - start)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return times
