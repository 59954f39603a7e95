"""SymPy's `solve` and `solveset` as yardsticks, in a child process that can be ended.

The roots of `solve` are proved by us; a set from `solveset` comes as numbers at sample points.
Limits are seconds of the child's CPU, so that what else the machine does decides nothing.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import product
from queue import SimpleQueue
from typing import NamedTuple

import mpmath
import sympy
from sympy import (
    Complement,
    ConditionSet,
    Eq,
    Expr,
    FiniteSet,
    ImageSet,
    Piecewise,
    S,
    Symbol,
    Union,
)

from abel.equation import X, has_x
from abel.home import CODE
from abel.parse import parse
from abel.verify import sample_points, verify_root

REACH = {0: 0, 1: 16, 2: 5}  # how far from 0 a family's integers are taken, by their number
NEAR = 2  # integers so close to 0 must lie within the reach of another way to write the family
POINT_STRIDE = 3  # every third sample point
DIGITS = 50
PATIENCE = 20  # times the limit by the clock: a child that gets so little of a core is ended too


class Answer(NamedTuple):
    """What `solve` made of an equation: a proved root, or the reason why there is none."""

    root: str | None
    valid_when: str | None
    reason: str  # empty where there is a root
    seconds: float  # of CPU that `solve` took, without our proof

    @property
    def past_limit(self) -> bool:
        return self.reason.startswith("no answer")


def ask(text: str) -> Answer:
    """SymPy's first root that we can prove; it can take forever, so ask through `Oracle`."""
    equation = parse(text)
    begun = time.process_time()
    try:
        roots = sympy.solve(equation.lhs - equation.rhs, X)
    except Exception as error:  # SymPy raises anything; whatever it is, there is no root
        reason = f"raised {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        return Answer(None, None, reason[:200], time.process_time() - begun)
    seconds = time.process_time() - begun
    found = []
    for root in roots:
        if not isinstance(root, sympy.Expr) or has_x(root):
            found.append("implicit")
            continue
        root = general_case(root)
        verdict = verify_root(equation, root)
        if verdict:
            condition = None if verdict.valid_when is None else sympy.sstr(verdict.valid_when)
            return Answer(sympy.sstr(root), condition, "", seconds)
        found.append(verdict.status)
    counts = ", ".join(f"{found.count(kind)} {kind}" for kind in sorted(set(found)))
    return Answer(None, None, f"no proved root ({counts})" if found else "no roots", seconds)


def general_case(root: Expr) -> Expr:
    """A root without cases that are for special coefficients, where something is equal to 0."""

    def has_general_case(part: Expr) -> bool:
        if not isinstance(part, Piecewise):
            return False
        *special, (_, last) = part.args
        return last == S.true and all(isinstance(condition, Eq) for _, condition in special)

    return root.replace(has_general_case, lambda part: part.args[-1][0])


# ---- Sets of roots ----


class SetAnswer(NamedTuple):
    """What `solveset` made of an equation: its set and numbers in it, or the reason why not."""

    text: str | None
    points: list | None  # for every point [real part, imaginary part, whether near], or None
    reason: str
    seconds: float


def window(num_integers: int) -> list[tuple[int, ...]]:
    """Values of a family's integers, small ones first; none where there are too many integers."""
    reach = REACH.get(num_integers)
    if reach is None:
        return []
    indices = product(range(-reach, reach + 1), repeat=num_integers)
    return sorted(indices, key=lambda index: (sum(map(abs, index)), index))


def is_near(index: tuple[int, ...]) -> bool:
    return max(map(abs, index), default=0) <= NEAR


def compared_points(num_symbols: int) -> list[tuple[float, ...]]:
    return sample_points(num_symbols)[::POINT_STRIDE]


def ask_set(text: str) -> SetAnswer:
    """SymPy's set of all complex roots as numbers; it can take forever, so ask through `Oracle`.

    Some of the numbers may be no roots: what restricts a set (Complement, ConditionSet) is left
    to whoever compares.
    """
    equation = parse(text)
    begun = time.process_time()
    try:
        found = sympy.solveset(equation.lhs - equation.rhs, X, S.Complexes)
        parts = explicit(found)
    except Exception as error:  # SymPy raises anything; whatever it is, there is no set
        return SetAnswer(None, None, f"raised {type(error).__name__}", time.process_time() - begun)
    seconds = time.process_time() - begun
    if parts is None:
        return SetAnswer(None, None, f"no explicit set: {found}"[:200], seconds)
    symbols = equation.coefficients
    points = [numbers(parts, symbols, point) for point in compared_points(len(symbols))]
    return SetAnswer(sympy.sstr(found), points, "", seconds)


def explicit(roots: sympy.Set) -> list[tuple[tuple[Symbol, ...], Expr]] | None:
    """A set as expressions with their integers; None if it is not given by such."""
    if roots is S.EmptySet:
        return []
    if isinstance(roots, FiniteSet):
        return None if any(has_x(root) for root in roots) else [((), root) for root in roots]
    if isinstance(roots, Union):
        found = []
        for part in map(explicit, roots.args):
            if part is None:
                return None
            found += part
        return found
    if isinstance(roots, Complement):
        return explicit(roots.args[0])
    if isinstance(roots, ConditionSet) and roots.base_set is not S.Complexes:
        return explicit(roots.base_set)
    if isinstance(roots, ImageSet) and all(base is S.Integers for base in roots.base_sets):
        integers = roots.lamda.variables
        if isinstance(roots.lamda.expr, Expr) and len(integers) in REACH:
            return [(tuple(integers), roots.lamda.expr)]
    return None


def numbers(parts: list, symbols: tuple[Symbol, ...], point: tuple[float, ...]) -> list | None:
    """The numbers of a set at a sample point; None where SymPy has none."""
    found = []
    with mpmath.workdps(DIGITS):
        for integers, expr in parts:
            function = sympy.lambdify([*symbols, *integers], expr, "mpmath")
            for index in window(len(integers)):
                try:
                    value = mpmath.mpmathify(function(*map(mpmath.mpf, (*point, *index))))
                except (ArithmeticError, ValueError, TypeError, NameError):
                    return None
                if not mpmath.isfinite(value):  # log(0), of a root that is none
                    continue
                texts = [mpmath.nstr(part, DIGITS) for part in (value.real, value.imag)]
                found.append([*texts, is_near(index)])
    return found


# ---- The child process ----


class Oracle:
    """Asks a child process, which ends when an answer takes more than `limit` seconds of CPU."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.child: subprocess.Popen[str] | None = None

    def __call__(self, text: str) -> Answer:
        """A root, from `solve`."""
        return Answer(*self.ask("solve", text))

    def solution_set(self, text: str) -> SetAnswer:
        """All roots, from `solveset`."""
        return SetAnswer(*self.ask("solveset", text))

    def ask(self, question: str, text: str) -> list:
        """The fields of the answer; without one, two of None, the reason, and the limit."""
        fresh = self.child is None
        if self.child is None:
            # A new interpreter, not a fork: a copy of a network library's threads may never start.
            self.child = subprocess.Popen(
                [sys.executable, "-c", "from abel.search.oracle import serve; serve()"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=CODE,
            )  # fmt: skip
        answers = self.child.stdout
        assert answers is not None  # a pipe, as asked for
        if fresh:
            answers.readline()  # its start is not the equation's time
        late = False
        try:
            print(json.dumps([question, text, self.limit]), file=self.child.stdin, flush=True)
            late = not select.select([answers], [], [], PATIENCE * self.limit)[0]
            if not late and (line := answers.readline()):
                return json.loads(line)
        except (OSError, ValueError):  # broken pipe, or no answer of ours
            pass
        late = self.close() == -signal.SIGPROF or late
        reason = f"no answer in {self.limit:g} s" if late else "the process died"
        return [None, None, reason, self.limit]

    def close(self) -> int | None:
        """End the child; what it ended with, if there was one."""
        if self.child is None:
            return None
        self.child.kill()  # or it has ended before
        self.child.communicate()
        code = self.child.returncode
        self.child = None
        return code

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


QUESTIONS: dict[str, Callable[[str], tuple]] = {"solve": ask, "solveset": ask_set}


def serve() -> None:
    """Answer questions, a line of JSON each, until the input ends: at once, whatever is under way.

    The asking process may have been killed, and nobody else would end a `solve` that goes on.
    """
    lines: SimpleQueue[str] = SimpleQueue()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks, and who asks ends this

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    print("ready", flush=True)
    while True:
        question, text, limit = json.loads(lines.get())
        # What is sent past the limit ends the process, in the midst of whatever it computes.
        signal.setitimer(signal.ITIMER_PROF, limit)
        answer = QUESTIONS[question](text)
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(answer), flush=True)
