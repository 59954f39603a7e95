"""The solving criterion: is a candidate a root of the equation as it was given? Proved, or not."""

from abel.verify.verdict import Verdict, is_identity, verify_root

__all__ = ["Verdict", "is_identity", "verify_root"]
