"""The algebra that SymPy does too slowly, or not the way a solver needs it."""

from abel.rewrite.nodes import (
    TooLarge,
    base_exponent,
    call,
    difference,
    lower_lambert,
    negate,
    power,
    power_bits,
    product,
    rebuild,
    replace,
    small_factors,
    surd_bits,
    total,
)
from abel.rewrite.sides import (
    has_exponential,
    has_logarithm,
    has_root,
    logarithm,
    never_zero,
    root,
    undo,
)
from abel.rewrite.sums import (
    coefficients,
    collect,
    collectable,
    expand,
    expand_within,
    expandable,
    expanded_size,
    grows_past,
    polynomial,
    shift,
)

__all__ = [
    "TooLarge", "base_exponent", "call", "coefficients", "collect", "collectable", "difference",
    "expand", "expand_within", "expandable", "expanded_size", "grows_past", "has_exponential",
    "has_logarithm", "has_root", "logarithm", "lower_lambert", "negate", "never_zero",
    "polynomial", "power", "power_bits", "product", "rebuild", "replace", "root", "shift",
    "small_factors", "surd_bits", "total", "undo",
]  # fmt: skip
