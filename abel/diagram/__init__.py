"""Figures of the project itself: its network, and who imports whom."""

from abel.diagram.modules import draw_modules, read_graph
from abel.diagram.network import draw_network

__all__ = ["draw_modules", "draw_network", "read_graph"]
