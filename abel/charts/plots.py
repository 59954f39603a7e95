"""Charts as SVG: lines with their bands, in one plot or many; bars; points, also in rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from abel.charts.marks import (
    CIRCLE,
    LEFT,
    PALETTE,
    PLOT,
    RIGHT,
    WIDTH,
    Area,
    Point,
    axis_titles,
    frame,
    legend,
    one_area,
    span,
    style,
    svg,
    tag,
)

T = TypeVar("T")
Band = Sequence[tuple[float, float, float]]  # (x, low, high)

MOST_TOGETHER = 3  # lines with their bands in one plot; more of them get a small plot each
ACROSS, SMALL, APART = 3, 104, 18  # small plots in a row, their height, and pixels between them
ROW, NEVER = 16, 116  # pixels: a line of marks of a strip chart, and its column "never"


def line_chart(
    series: Mapping[str, Sequence[Point]],
    title: str,
    x_label: str = "",
    y_label: str = "",
    bands: Mapping[str, Band] | None = None,
    seeds: Mapping[str, Sequence[Sequence[Point]]] | None = None,
) -> str:
    """Draw a line for each name, its band, and its seeds as thin lines; of many names each in a
    small plot of its own, all of the same scale.
    """
    bands, seeds = bands or {}, seeds or {}
    lines = [*series.values(), *(line for name in series for line in seeds.get(name, ()))]
    points = [point for line in lines for point in line]
    points += [(x, y) for name in series for x, *ends in bands.get(name, ()) for y in ends]
    xs, ys = span((x for x, _ in points), unit=False), span(y for _, y in points)
    if len(series) > MOST_TOGETHER:
        return small_plots(series, title, (x_label, y_label), (xs, ys), bands, seeds)
    names, top = legend(list(series), lines=True)
    marks, place = frame(one_area(top), xs, ys)
    marks += axis_titles(one_area(top), (x_label, y_label))
    for index, (name, line) in enumerate(series.items()):
        colour, dashes, _ = style(index)
        marks += one_line(place, line, bands.get(name, ()), seeds.get(name, ()), colour, dashes)
    return svg(top + PLOT + 54, title, names + marks)


def one_line(
    place: Callable[[Iterable[Point]], list[str]], line: Sequence[Point], band: Band,
    seeds: Sequence[Sequence[Point]], colour: str, dashes: str,
) -> list[str]:  # fmt: skip
    """A line with its band and its seeds."""
    marks, drawn = [], {"fill": "none", "stroke": colour}
    if band:
        shape = " ".join(place(outline(band)))
        marks.append(tag("polygon", points=shape, fill=colour, fill_opacity="0.18"))
    for seed in seeds:
        marks.append(tag("polyline", points=" ".join(place(seed)), opacity="0.55", **drawn))
    drawn |= {"stroke_width": "2.5", "stroke_dasharray": dashes}
    marks.append(tag("polyline", points=" ".join(place(line)), **drawn))
    if len(line) < 3:  # a line of one point would not be seen
        dots = (f"translate({at})" for at in place(line))
        marks += [tag("path", d=CIRCLE, transform=dot, fill=colour) for dot in dots]
    return marks


def small_plots(
    series: Mapping[str, Sequence[Point]], title: str, labels: tuple[str, str],
    ranges: tuple[Point, Point], bands: Mapping[str, Band],
    seeds: Mapping[str, Sequence[Sequence[Point]]],
) -> str:  # fmt: skip
    """A plot for each name, the lines of the others thin behind it."""
    width, row = (WIDTH - LEFT - RIGHT - APART * (ACROSS - 1)) / ACROSS, SMALL + 2 * APART + 8
    rows, first, marks = -(-len(series) // ACROSS), 62.0, []
    for index, (name, line) in enumerate(series.items()):
        column, level = index % ACROSS, index // ACROSS
        area = Area(LEFT + column * (width + APART), first + level * row, width, SMALL, 3, 3)
        lowest = index + ACROSS >= len(series)
        plot, place = frame(area, *ranges, (lowest, column == 0))
        others = (place(other) for key, other in series.items() if key != name)
        behind = {"fill": "none", "stroke": "currentColor", "opacity": "0.3"}
        marks += [*plot, *(tag("polyline", points=" ".join(other), **behind) for other in others)]
        marks.append(tag("text", name, x=area.left, y=area.top - 7, font_size=13, font_weight=600))
        marks += one_line(place, line, bands.get(name, ()), seeds.get(name, ()), PALETTE[0], "none")
    whole = Area(LEFT, first, WIDTH - LEFT - RIGHT, row * (rows - 1) + SMALL)
    return svg(whole.bottom + 54, title, [*marks, *axis_titles(whole, labels)])


def outline(band: Band) -> list[Point]:
    """Along the lower edge, and back along the upper one."""
    return [(x, low) for x, low, _ in band] + [(x, high) for x, _, high in reversed(band)]


def in_groups(table: Mapping[str, T | Mapping[str, T]]) -> dict[str, Mapping[str, T]]:
    """A table whose labels all have groups; where there was none its name is empty."""
    return {k: v if isinstance(v, Mapping) else {"": v} for k, v in table.items()}


def bar_chart(
    values: Mapping[str, float | Mapping[str, float]],
    title: str,
    intervals: Mapping[str, Point | Mapping[str, Point]] | None = None,
    limit: float = 1.0,
) -> str:
    """Draw horizontal bars from 0, one for each label or for each of its groups, with `intervals`
    of the same keys; the axis ends at `limit` or at the largest value.
    """
    bars, ends = in_groups(values), in_groups(intervals or {})
    groups = list(dict.fromkeys(group for row in bars.values() for group in row))
    names, top = legend([] if groups == [""] else groups)
    left = min(28 + 8.5 * max([len(label) for label in bars], default=0), WIDTH / 2)
    shown = [value for row in bars.values() for value in row.values() if math.isfinite(value)]
    shown += [high for row in ends.values() for _, high in row.values() if math.isfinite(high)]
    scale, marks, y = (WIDTH - RIGHT - 48 - left) / max([limit, *shown]), [], top
    for label, row in bars.items():
        marks.append(tag("text", label, x=left - 8, y=y + 9 * len(row) + 5.0, text_anchor="end"))
        for group, value in row.items():
            low, high = ends.get(label, {}).get(group, (value, value))
            length = scale * max(value, 0.0) if math.isfinite(value) else 0.0
            colour, tip = style(groups.index(group))[0], f"{label} {group} {value:.3f}"
            place = {"x": left, "y": y + 2, "width": length, "height": 14}
            marks.append(tag("rect", tip=f"{tip} [{low:.3f}, {high:.3f}]", fill=colour, **place))
            if low < high:
                whisker = (
                    f"M{left + low * scale:.1f},{y + 5:.1f}v8m0,-4H{left + high * scale:.1f}m0,-4v8"
                )
                marks.append(tag("path", d=whisker, stroke="currentColor", stroke_width="1.5"))
                length = max(length, high * scale)
            marks.append(tag("text", f"{value:.2f}", x=left + length + 6, y=y + 14, font_size=13))
            y += 18
        y += 8
    marks.append(tag("path", d=f"M{left:.1f},{top:.1f}V{y:.1f}", stroke="currentColor"))
    return svg(y + 12, title, names + marks)


def scatter(
    points: Sequence[Point],
    labels: Sequence[str],
    title: str,
    x_label: str = "",
    y_label: str = "",
    unit: bool = False,
) -> str:
    """Draw points coloured and shaped by their labels; `unit` draws rates from 0 to 1."""
    kinds = list(dict.fromkeys(labels))
    names, top = legend(kinds)
    (left, right), (low, high) = (span((p[k] for p in points), unit and k == 1) for k in (0, 1))
    aside, above = (right - left) / 20, (high - low) / 20  # no mark is cut in half by the frame
    ranges = (left - aside, right + aside), (low - above, high + above)
    marks, place = frame(one_area(top), *ranges)
    marks += axis_titles(one_area(top), (x_label, y_label))
    for point, label in zip(points, labels):
        colour, _, shape = style(kinds.index(label))
        dot = {"d": shape, "fill": colour, "fill_opacity": "0.7", "tip": label}
        marks += [tag("path", transform=f"translate({at})", **dot) for at in place([point])]
    return svg(top + PLOT + 54, title, names + marks)


def strip_chart(
    rows: Mapping[str, Mapping[str, Mapping[str, float | None]]], title: str, x_label: str = ""
) -> str:
    """Draw a row for each label and in it a named mark for each value, coloured and shaped by its
    group; a value that is None is a hollow mark in the last column, "never".
    """
    groups = list(dict.fromkeys(group for row in rows.values() for group in row))
    names, top = legend(groups if len(groups) > 1 else [])
    values = [v for row in rows.values() for marked in row.values() for v in marked.values()]
    left, high = min(28 + 8.5 * max(map(len, rows), default=0), WIDTH / 2), ROW * len(groups)
    right = WIDTH - RIGHT - NEVER * (None in values)
    area = Area(left, top + 8, right - left, max(high * len(rows), ROW), num_y=1)
    last = span((value for value in values if value is not None), unit=False)[1]
    marks, place = frame(area, (0.0, last), (0.0, area.height), (True, False))
    for index, (label, row) in enumerate(rows.items()):
        base = area.top + index * high
        line = f"M{left:g},{base:.1f}H{WIDTH - RIGHT}"
        marks.append(tag("path", d=line, stroke="currentColor", stroke_opacity="0.25"))
        marks.append(tag("text", label, x=left - 8, y=base + high / 2 + 5, text_anchor="end"))
        for group, marked in row.items():
            number = groups.index(group)
            y = base + ROW * (number + 0.5)
            marks += strip(marked, f"{label}, {group}", style(number), area, y, place)
    if None in values:
        middle = (right + WIDTH - RIGHT) / 2
        marks.append(tag("text", "never", x=middle, y=area.bottom + 21, text_anchor="middle"))
    return svg(area.bottom + 54, title, [*names, *marks, *axis_titles(area, (x_label, ""))])


def strip(
    marked: Mapping[str, float | None], about: str, look: tuple[str, str, str], area: Area,
    y: float, place: Callable[[Iterable[Point]], list[str]],
) -> list[str]:  # fmt: skip
    """The marks of one group in a row of a strip chart, in the middle of its line."""
    colour, _, shape = look
    missing = [name for name, value in marked.items() if value is None]
    apart = min(10.0, (NEVER - 12) / max(len(missing), 1))
    marks = []
    for name, value in marked.items():
        if value is None:
            told, fill, x = "never", "none", area.right + 6 + apart * (missing.index(name) + 0.5)
        else:
            told, fill, x = f"{value:,.0f}", colour, float(place([(value, 0.0)])[0].split(",")[0])
        drawn = {"d": shape, "stroke": colour, "fill": fill, "fill_opacity": "0.5"}
        at = f"translate({x:.1f},{y:.1f})"
        marks.append(tag("path", tip=f"{about}, {name}: {told}", transform=at, **drawn))
    return marks
