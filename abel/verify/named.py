"""Proofs on every branch of roots within roots, such as those of a quartic, in milliseconds.

Multiplied out, the sums in such a root have thousands of terms, which cancel only at the end. Here
a sum that is multiplied or raised to a power is a kernel of its own, its name, and is written out
as late as possible: the outermost first, when the powers of the roots around it are reduced.
"""

from __future__ import annotations

from sympy import Add, Expr, Mul, Pow
from sympy.polys.rings import PolyElement

from abel.equation import has_x
from abel.verify.kernels import INVERSE, NAME, GiveUp
from abel.verify.proof import NESTING, Tower


class NamedTower(Tower):
    """A tower in which the sums within the value of x have names."""

    num_kernels = 40
    naming = False

    def let_x(self, value: Expr) -> None:
        self.naming = True
        super().let_x(value)
        self.naming = False

    def vanishes(self, f: PolyElement, nesting: int = NESTING) -> bool:
        return not self.written_out(f)

    def argument(self, expr: Expr, arg: Expr) -> PolyElement:
        result = self.convert(arg)
        algebraic = isinstance(expr, Mul) or (isinstance(expr, Pow) and expr.exp.is_Rational)
        named = self.naming or not has_x(expr)
        if not (named and algebraic and isinstance(arg, Add) and len(result) > 1):
            return result
        return self.kernel(NAME, result)

    def meaning(self, kernel) -> Expr:
        return self.expression(kernel.arg) if kernel.kind is NAME else super().meaning(kernel)

    def written_out(self, f: PolyElement) -> PolyElement:
        """0 if f is, up to factors that are not 0: names become the sums that they stand for, and
        what is divided by is multiplied with.
        """
        for i in reversed(range(len(self.kernels))):
            f = self.reduced(f)
            kind, arg, _ = self.kernels[i]
            if kind not in (NAME, INVERSE) or not f:
                continue
            low = min(monom[i] for monom in f)
            parts: dict[int, dict] = {}
            for monom, c in f.items():
                parts.setdefault(monom[i] - low, {})[monom[:i] + (0,) + monom[i + 1 :]] = c
            if kind is INVERSE and len(parts) > 1:
                raise GiveUp
            f = self.zero
            for e, part in parts.items():
                f += self.times(self.ring.from_dict(part), self.power(arg, e))
        return self.reduced(f)
