"""Signs and ranges of what is real in a proof; at depth 0 only those that hold everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps

import sympy as sp
from sympy import Expr, Ge, I, Le, Pow, Symbol, exp, pi
from sympy.logic.boolalg import Boolean
from sympy.polys.rings import PolyElement

from abel.equation import ONE, ZERO
from abel.verify.balls import Point
from abel.verify.kernels import LOWER, Kernel, KernelRing, as_rational


def tentative(method: Callable) -> Callable:
    """Conditions and divisors that were noted on the way are forgotten if nothing came of it."""

    @wraps(method)
    def wrapper(self, *args):
        before = dict(self.conditions), dict(self.divisors)
        result = method(self, *args)
        if not result:
            self.conditions, self.divisors = before
        return result

    return wrapper


class SignedRing(KernelRing):
    """A ring whose elements have signs at a point; what a sign hangs on is noted in `conditions`.

    Nothing is assumed of letters at depth 0.
    """

    def __init__(self, symbols: list[Symbol], orders: dict, point: Point, depth: int) -> None:
        super().__init__(symbols, orders)
        self.point, self.depth = point, depth
        self.conditions: dict[Boolean, None] = {}

    def assume(self, expr: Expr, low: Expr | None, high: Expr | None) -> bool:
        """Whether a real expression is low <= expr <= high at the sample point; a condition from
        now on if it has symbols.
        """
        constant, expr = expr.as_coeff_Add()
        if expr.free_symbols and not self.depth:
            return False
        bounds = [(kind, b - constant) for kind, b in ((Ge, low), (Le, high)) if b is not None]
        for kind, bound in bounds:
            if self.point.sign(expr - bound) != (1 if kind is Ge else -1):
                return False
        if expr.free_symbols:
            self.conditions |= {kind(expr, bound, evaluate=False): None for kind, bound in bounds}
        return True

    @tentative
    def sign(self, f: PolyElement) -> int | None:
        """1 or -1, with its condition noted; None if f is not real or too close to 0."""
        if not f or not self.real(f):
            return None
        odd = [p for p, e in self.factors(f) if e % 2 and not self.positive(p)]
        core = math.prod(odd, start=self.one)
        single = self.kernels_in(core)[0] if len(core) == 1 and sum(core.LM) == 1 else None
        inner = single.arg if single and single.kind in (sp.asin, sp.atan, sp.log) else None
        if single and inner is not None:  # the sign of something simpler
            known = self.sign(inner - int(single.kind is sp.log))
        else:
            expr = self.expression(core)
            known = self.assume(expr, ZERO, None) or self.assume(expr, None, ZERO)
        return self.point.sign(self.expression(f)) if known else None

    @tentative
    def real(self, f: PolyElement) -> bool:
        """Whether every kernel in f is real, its conditions noted."""
        return all(self.real_kernel(kernel) for kernel in self.kernels_in(f))

    def real_kernel(self, kernel: Kernel) -> bool:
        kind, arg, _ = kernel
        if kind in (Pow, I, sp.log, sp.LambertW):
            return self.sign(arg) == 1
        if kind is LOWER:
            return self.real(arg) and self.within(arg, -exp(-ONE), ZERO)
        if kind is sp.asin:
            return self.real(arg) and self.within(arg, -ONE, ONE)
        return arg is None or self.real(arg)

    @tentative
    def within(self, f: PolyElement, low: Expr, high: Expr) -> bool:
        """Whether low <= f <= high, noted as a condition; multiples of pi move into the bounds."""
        shift = f.coeff(self.pi)
        f, shift = f - self.pi * shift, pi * as_rational(shift)
        low, high = low - shift, high - shift
        if f and f.LC < 0:
            f, low, high = -f, -high, -low
        return self.assume(self.expression(f), None if self.positive(f) and low <= 0 else low, high)

    def positive(self, f: PolyElement) -> bool:
        """Whether a real f is plainly a sum of positive terms."""
        sure = [kernel.kind in (Pow, exp, pi, sp.LambertW) for kernel in self.kernels]
        even = all(sure[i] or e % 2 == 0 for monom in f for i, e in enumerate(monom) if e)
        return even and all(c > 0 for c in f.values())
