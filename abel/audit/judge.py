"""A standing attack on the solving criterion: cases whose truth is known, and every claim checked.

    python -m abel.bench audit [--cases 20000] [--seed 0] [--json FILE]

The cases come from `attacks`, `plants`, `mutants` and `functions` beside this file, which know the
truth by construction. A second witness, the evaluator below, shares nothing with the verifier:
plain numbers in as many digits as the case needs. Where the two disagree the case itself is wrong,
and that fails the audit as well.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import mpmath
import sympy as sp
from sympy import Add, Expr, Mul, Pow, Rational
from sympy.core.relational import Relational

from abel.audit.attacks import Case, Probe, branch_case
from abel.audit.functions import function_case
from abel.audit.mutants import mutant_case
from abel.audit.plants import domain_case, family_case, threshold_case
from abel.equation import X
from abel.parse import ParseError, parse, parse_expression
from abel.verify import Verdict, verify_root

MAX_SHOWN = 300  # characters of an expression in the report
NUM_SHOWN = 5  # cases of a kind that are printed; the file has all
MAX_SIZE, MAX_DIGITS = mpmath.mpf(10) ** 15, 6000  # numbers beyond it need more digits
SPARE = 40  # digits between the smallest difference of a case and what counts as 0

ATTACKS: dict[str, Callable[[random.Random], Case]] = {
    "branches": branch_case,
    "families": family_case,
    "domains": domain_case,
    "thresholds": threshold_case,
    "mutants": mutant_case,
    "functions": function_case,
}

# ---- The second witness ----

FUNCTIONS = {
    sp.exp: mpmath.exp, sp.log: mpmath.log, sp.sin: mpmath.sin, sp.cos: mpmath.cos,
    sp.tan: mpmath.tan, sp.asin: mpmath.asin, sp.acos: mpmath.acos, sp.atan: mpmath.atan,
    sp.Abs: abs, sp.LambertW: lambda u, k=0: mpmath.lambertw(u, int(k)),
}  # fmt: skip
MOST_BITS = 1 << 16  # of a number that a function is taken of
ATOMS = {sp.pi: lambda: +mpmath.mp.pi, sp.E: lambda: +mpmath.mp.e, sp.I: lambda: mpmath.mpc(0, 1)}


def number_of(expr: Expr, known: dict) -> Any:
    """The number that `expr` is, in the digits that mpmath is set to."""
    if expr in known:
        return known[expr]
    if isinstance(expr, Rational):
        return mpmath.mpf(expr.p) / expr.q
    if expr in ATOMS:
        return ATOMS[expr]()
    args = [number_of(arg, known) for arg in expr.args]
    if isinstance(expr, Add):
        found = mpmath.fsum(args)
    elif isinstance(expr, Mul):
        found = mpmath.fprod(args)
    elif isinstance(expr, Pow):
        found = powered(args[0], expr.exp, args[1])
    else:
        if expr.func in (sp.log, sp.LambertW):
            must_be_clear(args[0])
        for arg in args:
            must_be_moderate(arg)
        found = FUNCTIONS[expr.func](*args)
    if not mpmath.isfinite(found):  # mpmath has -inf for log(0)
        raise ZeroDivisionError
    known[expr] = found
    return found


def must_be_clear(number: Any) -> None:
    """A divisor or the argument of a logarithm that may be 0 but for rounding tells nothing."""
    if number and abs(number) < mpmath.mpf(10) ** -(3 * mpmath.mp.dps // 4):
        raise OverflowError


def must_be_moderate(number: Any) -> None:
    """For the sine of 2^5000000 mpmath would compute pi to as many digits."""
    if number and mpmath.mag(number) > MOST_BITS:
        raise OverflowError


def powered(base: Any, exponent: Expr, number: Any) -> Any:
    if exponent.is_Integer:
        if exponent < 0:
            must_be_clear(base)
        return base ** int(exponent)
    if exponent == Rational(1, 2):
        return mpmath.sqrt(base)
    if not base:
        if mpmath.re(number) > 0:
            return base
        raise ZeroDivisionError
    return mpmath.exp(number * mpmath.log(base))


def witness(case: Case, at: dict) -> str | None:
    """What numbers say of the candidate: "root", "other", "undefined"; None where they do not."""
    digits = 2 * case.size + 3 * SPARE
    for _ in range(2):
        with mpmath.workdps(digits):
            known = {letter: number_of(number, {}) for letter, number in at.items()}
            try:
                known[X] = number_of(case.candidate, known)
                sides = [number_of(side, known) for side in (case.equation.lhs, case.equation.rhs)]
                guards = [number_of(guard, known) for guard in case.guards]
            except (ZeroDivisionError, ValueError):
                return "undefined"
            except (OverflowError, mpmath.libmp.NoConvergence):
                return None
            tiny = mpmath.mpf(10) ** -(case.size + SPARE)
            if any(abs(guard) < tiny for guard in guards):
                return "undefined"
            largest = max([1, *(abs(number) for number in known.values())])
            if largest < MAX_SIZE or digits > 2 * case.size + 3 * SPARE:
                scale = max(1, *map(abs, sides))
                return "root" if abs(sides[0] - sides[1]) < tiny * scale else "other"
            digits += 2 * int(mpmath.log10(largest))  # what large numbers cost in digits
            if digits > MAX_DIGITS:
                return None
    return None


# ---- Claims ----


def covers(condition: Any, at: dict) -> bool | None:
    """Whether a verdict's condition includes the place; None on its border."""
    if condition is None or condition == sp.true:
        return True
    if condition == sp.false:
        return False
    if isinstance(condition, (sp.And, sp.Or)):
        parts = [covers(arg, at) for arg in condition.args]
        decisive = isinstance(condition, sp.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(condition, sp.Not):
        inner = covers(condition.args[0], at)
        return None if inner is None else not inner
    if not isinstance(condition, Relational):
        raise TypeError(f"a condition of an unknown kind: {condition!r}")
    if all(symbol.is_integer for symbol in condition.free_symbols):
        return bool(condition.xreplace(at))
    return holds_at(condition, at)


def holds_at(condition: Relational, at: dict) -> bool | None:
    """Whether an equation or an inequality holds there, by its numbers; None on its border."""
    with mpmath.workdps(3 * SPARE):
        known = {letter: number_of(number, {}) for letter, number in at.items()}
        try:
            gap = number_of(condition.lhs, known) - number_of(condition.rhs, known)
        except (ZeroDivisionError, ValueError):
            return False
        size = max([1, *(abs(v) for v in known.values())])
        tiny = size * mpmath.mpf(10) ** -(2 * SPARE)
        if isinstance(condition, (sp.Eq, sp.Ne)):
            return (abs(gap) < tiny) == isinstance(condition, sp.Eq)
        if abs(mpmath.im(gap)) > tiny:
            return False  # an order of numbers that are not real holds nowhere
        if abs(gap) < tiny:
            return None
        return bool((mpmath.re(gap) > 0) == isinstance(condition, (sp.Ge, sp.Gt)))


def contradiction(case: Case, verdict: Verdict, truths: list[str | None]) -> Probe | None:
    """A place where the verdict is wrong, if there is one."""
    pairs = list(zip(case.probes, truths))
    if verdict.status == "proved":
        wrong = [p for p, t in pairs if t in ("other", "undefined")]
        return next((p for p in wrong if covers(verdict.valid_when, p.at)), None)
    if verdict.status in ("refuted", "undefined") and not case.partial:
        roots = [p for p, t in pairs if t == "root"]
        if roots:
            return roots[0]
        if verdict.status == "undefined" and set(truths) == {"other"}:
            return case.probes[0]
    return None


# ---- The run ----


class Overtime(BaseException):
    """No Exception, since a verifier may catch those."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Overtime after so many seconds of CPU."""

    def stop(signum, frame):
        raise Overtime

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def shortened(thing: object) -> str:
    text = str(thing)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... ({len(text)} characters)"


def described(name: str, index: int, case: Case, **more: Any) -> dict[str, Any]:
    """A case for the report; (name, seed, index) builds it again."""
    return {
        "attack": name, "index": index, "kind": case.claim,
        "equation": shortened(case.equation.text or case.equation),
        "candidate": shortened(case.candidate), **more,
    }  # fmt: skip


@dataclass
class Tally:
    """What one attack came to."""

    counts: Counter[str] = field(default_factory=Counter)
    false: list[dict] = field(default_factory=list)
    disagreements: list[dict] = field(default_factory=list)
    failures: list[dict] = field(default_factory=list)  # the verifier raised, or took too long
    seconds: float = 0.0  # of the verifier
    slowest: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        counts = {name: self.counts[name] for name in COUNTS}
        return {
            **counts, "false": len(self.false), "seconds": round(self.seconds, 1),
            "slowest": round(self.slowest, 2), "false_claims": self.false,
            "disagreements": self.disagreements, "failures": self.failures,
        }  # fmt: skip


COUNTS = (
    "cases", "true_roots", "proved", "too_strict", "unproven", "others", "refuted", "undefined",
    "open",
)  # fmt: skip


def attack(name: str, num_cases: int, seed: int, verifier: Callable, limit: float) -> Tally:
    """Ask the verifier about so many cases, and check each verdict."""
    tally = Tally()
    for index in range(num_cases):
        case = ATTACKS[name](random.Random(f"{seed} {name} {index}"))
        truths = truths_of(name, index, case, tally)
        start = time.process_time()
        try:
            with limited(limit):
                verdict = verifier(case.equation, case.candidate)
        except Overtime:
            verdict = Verdict("unproven", None, "out of time")
            tally.failures.append(described(name, index, case, error=f"more than {limit} s"))
        except Exception as error:
            verdict = Verdict("unproven", None, repr(error))
            tally.failures.append(described(name, index, case, error=shortened(repr(error))))
        spent = time.process_time() - start
        tally.seconds, tally.slowest = tally.seconds + spent, max(tally.slowest, spent)
        probe = contradiction(case, verdict, truths)
        if probe is not None:
            at = {str(letter): str(number) for letter, number in probe.at.items()}
            told = {"status": verdict.status, "valid_when": shortened(verdict.valid_when)}
            truth = truths[case.probes.index(probe)]
            tally.false.append(described(name, index, case, **told, at=at, truth=truth))
        count(case, verdict, truths, tally.counts, probe is not None)
    return tally


def truths_of(name: str, index: int, case: Case, tally: Tally) -> list[str | None]:
    """The truth at every probe, by construction or else by numbers; both are asked."""
    truths = []
    for probe in case.probes:
        seen = None if case.on_cut else witness(case, probe.at)
        if None not in (seen, probe.truth) and seen != probe.truth:
            at = {str(letter): str(number) for letter, number in probe.at.items()}
            told = {"constructed": probe.truth, "evaluated": seen, "at": at}
            tally.disagreements.append(described(name, index, case, **told))
        truths.append(probe.truth or seen)
    return truths


def count(
    case: Case, verdict: Verdict, truths: list[str | None], counts: Counter[str], false: bool
) -> None:
    """True roots are those somewhere in the letters; what is proved of them must reach one."""
    roots = [probe for probe, truth in zip(case.probes, truths) if truth == "root"]
    counts["cases"] += 1
    counts["true_roots" if roots else "others"] += 1
    if false:
        return
    if not roots:
        counts[verdict.status if verdict.status in ("refuted", "undefined") else "open"] += 1
        return
    covered = [covers(verdict.valid_when, probe.at) for probe in roots] if verdict else []
    counts["proved" if True in covered else "unproven"] += 1
    counts["too_strict"] += True in covered and False in covered


def audit(
    num_cases: int, seed: int = 0, verifier: Callable | None = None, limit: float = 10.0,
    attacks: Sequence[str] = tuple(ATTACKS), say: Callable[[str], None] = lambda text: None,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Every attack's tally; the cases are shared out evenly."""
    found = {}
    say(f"{'attack':12}" + "".join(f"{name:>11}" for name in (*COUNTS, "false", "seconds")))
    for place, name in enumerate(attacks):
        share = num_cases // len(attacks) + (place < num_cases % len(attacks))
        tally = found[name] = attack(name, share, seed, verifier or verify_root, limit).to_dict()
        say(f"{name:12}" + "".join(f"{tally[key]:>11}" for key in (*COUNTS, "false", "seconds")))
        for key in ("false_claims", "disagreements", "failures"):
            for entry in tally[key][:NUM_SHOWN]:
                say(f"  {key.replace('_', ' ')}: {entry}")
            if len(tally[key]) > NUM_SHOWN:
                say(f"  and {len(tally[key]) - NUM_SHOWN} more {key.replace('_', ' ')}")
    return found


def is_clean(found: dict[str, dict[str, Any]]) -> bool:
    """Whether no claim was false, and no case wrong itself."""
    return not any(tally["false"] or tally["disagreements"] for tally in found.values())


# ---- Roots that were proved before ----


def stored_roots(data: Any) -> Iterator[tuple[str, str]]:
    """(equation, root) of whatever results of `evaluate.py --json` say is proved."""
    if isinstance(data, list):
        for entry in data:
            yield from stored_roots(entry)
    if not isinstance(data, dict):
        return
    equation = data.get("equation")
    listed = data["roots"] if isinstance(data.get("roots"), list) else []
    for root in [data] * bool(data.get("solved")) + listed:
        if isinstance(equation, str) and isinstance(root, dict) and not root.get("integers"):
            if isinstance(root.get("root"), str) and root.get("status", "proved") == "proved":
                yield equation, root["root"]
    for entry in data.values():
        yield from stored_roots(entry)


def prove_again(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """How many of the roots are proved, the others, and the mean time of a verdict."""
    statuses: Counter[str] = Counter()
    lost: list[dict[str, str]] = []
    unread, seconds = 0, 0.0
    for equation, root in pairs:
        try:
            question = parse(equation), parse_expression(root)
        except ParseError:  # a root may be nested deeper than text is read
            unread += 1
            continue
        start = time.process_time()
        status = verify_root(*question).status
        seconds += time.process_time() - start
        statuses[status] += 1
        if status != "proved":
            lost.append({"equation": equation, "root": root, "status": status})
    asked = statuses.total()
    return {
        "roots": asked, "statuses": dict(statuses), "lost": lost, "not_read": unread,
        "mean_ms": round(1000 * seconds / max(1, asked), 3),
    }  # fmt: skip
