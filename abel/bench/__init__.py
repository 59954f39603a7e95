"""Speed in one run against references, endurance, and the audit of the criterion."""

from abel.bench.command import main

__all__ = ["main"]
