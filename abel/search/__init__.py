"""From an equation to a proved root: with a policy, by search without one, and SymPy's answers."""

from abel.search.ahead import look_ahead, values_of
from abel.search.blind import search
from abel.search.decode import Node, Policy, Solution, Steer, beam, greedy
from abel.search.oracle import (
    DIGITS,
    NEAR,
    REACH,
    Oracle,
    SetAnswer,
    compared_points,
    is_near,
    window,
)

__all__ = [
    "DIGITS", "NEAR", "REACH", "Node", "Oracle", "Policy", "SetAnswer", "Solution", "Steer", "beam",
    "compared_points", "greedy", "is_near", "look_ahead", "search", "values_of", "window",
]  # fmt: skip
