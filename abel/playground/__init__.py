"""A local page on which a person watches the agent think, and steers it."""

from abel.playground.child import Child, Limits, Pool, Stopped
from abel.playground.command import main
from abel.playground.thinking import Refused, Thinker

__all__ = ["Child", "Limits", "Pool", "Refused", "Stopped", "Thinker", "main"]
