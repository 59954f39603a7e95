"""Charts without a plotting library: SVG as text, and bars as pixels for TensorBoard."""

from abel.charts.curves import main, mean_and_band
from abel.charts.marks import PALETTE, WIDTH, escape, on_paper, short, span, svg, tag, ticks
from abel.charts.pixels import bar_image
from abel.charts.plots import bar_chart, line_chart, scatter, strip_chart

__all__ = [
    "PALETTE", "WIDTH", "bar_chart", "bar_image", "escape", "line_chart", "main", "mean_and_band",
    "on_paper", "scatter", "short", "span", "strip_chart", "svg", "tag", "ticks",
]  # fmt: skip
