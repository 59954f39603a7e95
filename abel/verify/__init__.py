"""The solving criterion: is a candidate a root of the equation as it was given? Proved, or not."""

from abel.verify.balls import Point, enclosure, precision
from abel.verify.conditions import condition_text, integers_of, valid_when_text
from abel.verify.samples import degree_bound, points_for, sample_points
from abel.verify.verdict import Verdict, is_identity, verify_root

__all__ = [
    "Point", "Verdict", "condition_text", "degree_bound", "enclosure", "integers_of", "is_identity",
    "points_for", "precision", "sample_points", "valid_when_text", "verify_root",
]  # fmt: skip
