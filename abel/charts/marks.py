"""What every chart is made of: elements of SVG, ranges, legends and axes."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

Point = tuple[float, float]

# Okabe and Ito's colours, told apart by colour-blind readers; yellow is left out (faint on white).
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F")
DASHES = ("none", "8 3", "2 3", "9 3 2 3")  # so that lines differ in grey, too
CIRCLE, SQUARE = "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "M-4,-4h8v8h-8z"
SHAPES = (CIRCLE, SQUARE, "M0,-5L5,4H-5z", "M0,-5L5,0 0,5 -5,0z")
WIDTH, LEFT, RIGHT, PLOT = 720, 64, 24, 270  # pixels; PLOT is the height between the axes' ends


class Area(NamedTuple):
    """Where a plot stands, in pixels, with about how many numbers along its axes."""

    left: float
    top: float
    width: float
    height: float
    num_x: int = 6
    num_y: int = 6

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def right(self) -> float:
        return self.left + self.width


def escape(text: object) -> str:
    """Make text safe between tags and in attributes; what XML cannot hold becomes a space."""
    return html.escape("".join(c if c.isprintable() else " " for c in str(text)))


def tag(name: str, text: object = "", tip: str = "", **attributes: object) -> str:
    """An SVG element; coordinates are rounded to a tenth of a pixel."""
    pairs = ((k.replace("_", "-"), v) for k, v in attributes.items())
    words = (f'{k}="{f"{v:.1f}" if isinstance(v, float) else escape(v)}"' for k, v in pairs)
    inside = escape(text) + (f"<title>{escape(tip)}</title>" if tip else "")
    return f"<{name} {' '.join(words)}>{inside}</{name}>"


def svg(height: float, title: str, body: Iterable[str]) -> str:
    # Drawn in the colour of the text around it; `on_paper` is for a file of its own.
    heading = tag("text", title, x=LEFT, y=22, font_size=16, font_weight=600)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(title)}" color="#808080" fill="currentColor" font-size="14" '
        'font-family="system-ui, sans-serif">\n' + "\n".join([heading, *body]) + "\n</svg>\n"
    )


def on_paper(drawn: str) -> str:
    """The same for a file of its own: black on white, whatever page or paper it is put on."""
    head, mark, body = drawn.partition(">\n")
    sheet = tag("rect", x=0, y=0, width="100%", height="100%", fill="#ffffff")
    return head.replace('color="#808080"', 'color="#222222"') + mark + sheet + "\n" + body


def ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Round numbers in [low, high], about `count` of them: 1, 2 or 5 times a power of ten apart."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def short(value: float) -> str:
    """A tick's number: 0.25, 2000, 25k, 1.5M."""
    for least, size, suffix in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= least:
            return f"{value / size:.4g}{suffix}"
    return f"{value:.4g}"


def span(values: Iterable[float], unit: bool = True) -> Point:
    """The range to draw: 0..1 for rates, else what the data fill; never empty."""
    finite = [value for value in values if math.isfinite(value)]
    if unit and all(0 <= value <= 1 for value in finite):
        return 0.0, 1.0
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    margin = max(abs(high), 1.0) / 2
    return (low, high) if high - low > 1e-9 * margin else (low - margin, high + margin)


def style(index: int) -> tuple[str, str, str]:
    """Colour, dashes and shape: differing in more than colour, and for more names than colours."""
    dashes, shape = DASHES[index % len(DASHES)], SHAPES[index % len(SHAPES)]
    return PALETTE[index % len(PALETTE)], dashes, shape


def legend(names: Sequence[str], lines: bool = False) -> tuple[list[str], float]:
    """Entries in rows under the title, and the y where the plot may begin."""
    marks, x, y = [], float(LEFT), 46.0
    for index, name in enumerate(names):
        colour, dashes, shape = style(index)
        wide = 48 + 7.5 * len(name)
        if x > LEFT and x + wide > WIDTH:
            x, y = float(LEFT), y + 20
        at = f"translate({x + 9:.1f},{y - 5:.1f})"
        if lines:
            marks.append(
                tag("path", d="M-9,0h26", transform=at, stroke=colour, stroke_width=3,
                    stroke_dasharray=dashes)
            )  # fmt: skip
        else:
            marks.append(tag("path", d=shape, transform=at, fill=colour))
        marks.append(tag("text", name, x=x + (32 if lines else 24), y=y))
        x += wide
    return marks, y + 16 if names else 40.0


def frame(
    area: Area, xs: Point, ys: Point, numbered: tuple[bool, bool] = (True, True)
) -> tuple[list[str], Callable[[Iterable[Point]], list[str]]]:
    """Grid and numbers of a plot of two ranges, and the map from data to pixels; `numbered` says
    which axes have numbers.
    """
    (left, right), (low, high) = xs, ys
    marks: list[str] = []

    def place(line: Iterable[Point]) -> list[str]:
        kept = ((x, y) for x, y in line if math.isfinite(x) and math.isfinite(y))
        return [f"{to_x(x):.1f},{to_y(y):.1f}" for x, y in kept]

    def to_x(value: float) -> float:
        return area.left + (value - left) / (right - left) * area.width

    def to_y(value: float) -> float:
        return area.bottom - (value - low) / (high - low) * area.height

    for value in ticks(low, high, area.num_y):
        grid = f"M{area.left:g},{to_y(value):.1f}H{area.right:g}"
        marks.append(tag("path", d=grid, stroke="currentColor", stroke_opacity="0.25"))
        if numbered[1]:
            y = to_y(value) + 5
            marks.append(tag("text", short(value), x=area.left - 8, y=y, text_anchor="end"))
    for value in ticks(left, right, area.num_x):
        x = to_x(value)
        marks.append(tag("path", d=f"M{x:.1f},{area.bottom:.1f}v5", stroke="currentColor"))
        if numbered[0]:
            marks.append(tag("text", short(value), x=x, y=area.bottom + 21, text_anchor="middle"))
    axis = f"M{area.left:g},{area.bottom:.1f}H{area.right:g}"
    return [*marks, tag("path", d=axis, stroke="currentColor")], place


def axis_titles(area: Area, labels: tuple[str, str]) -> list[str]:
    """Under a plot, or all of several, and to the left of it."""
    x, y = (area.left + area.right) / 2, (area.top + area.bottom) / 2
    centre = {"text_anchor": "middle"}
    return [
        tag("text", labels[0], x=x, y=area.bottom + 43, **centre),
        tag("text", labels[1], x=16, y=y, transform=f"rotate(-90 16 {y:.1f})", **centre),
    ]


def one_area(top: float) -> Area:
    return Area(LEFT, top, WIDTH - LEFT - RIGHT, PLOT)
