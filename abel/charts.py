"""Charts without a plotting library: SVG as strings, and bars as pixels for TensorBoard.

python -m abel.charts curves RUN [RUN ...] --tag eval/val_greedy --out curves.svg
python -m abel.charts curves runs/results/open_small.json --out curves.svg
"""

from __future__ import annotations

import argparse
import html
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from abel.learner.records import RunError, write_atomically

T = TypeVar("T")
Point = tuple[float, float]
Band = Sequence[tuple[float, float, float]]  # (x, low, high)

# Okabe and Ito's colours, told apart by colour-blind readers; yellow is left out (faint on white).
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F")
DASHES = ("none", "6 3", "2 3")
CIRCLE, SQUARE = "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "M-4,-4h8v8h-8z"
SHAPES = (CIRCLE, SQUARE, "M0,-5L5,4H-5z", "M0,-5L5,0 0,5 -5,0z")
WIDTH, LEFT, RIGHT, PLOT = 720, 64, 24, 270  # pixels; PLOT is the height between the axes' ends


# ---- Elements and axes ----


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
    # Drawn in the colour of the text around it; alone, in a grey seen on white and on black.
    heading = tag("text", title, x=LEFT, y=22, font_size=16, font_weight=600)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(title)}" color="#808080" fill="currentColor" font-size="14" '
        'font-family="system-ui, sans-serif">\n' + "\n".join([heading, *body]) + "\n</svg>\n"
    )


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
    dashes = DASHES[index // len(PALETTE) % len(DASHES)]
    return PALETTE[index % len(PALETTE)], dashes, SHAPES[index % len(SHAPES)]


def legend(names: Sequence[str], lines: bool = False) -> tuple[list[str], float]:
    """Entries in rows under the title, and the y where the plot may begin."""
    marks, x, y = [], float(LEFT), 46.0
    for index, name in enumerate(names):
        colour, dashes, shape = style(index)
        wide = 40 + 7.5 * len(name)
        if x > LEFT and x + wide > WIDTH:
            x, y = float(LEFT), y + 20
        at = f"translate({x + 9:.1f},{y - 5:.1f})"
        if lines:
            marks.append(
                tag("path", d="M-9,0h18", transform=at, stroke=colour, stroke_width=3,
                    stroke_dasharray=dashes)
            )  # fmt: skip
        else:
            marks.append(tag("path", d=shape, transform=at, fill=colour))
        marks.append(tag("text", name, x=x + 24, y=y))
        x += wide
    return marks, y + 16 if names else 40.0


def frame(
    xs: Point, ys: Point, labels: tuple[str, str], top: float
) -> tuple[list[str], Callable[[Iterable[Point]], list[str]]]:
    """Grid, ticks and labels of a plot of two ranges, and the map from data to pixels."""
    (left, right), (low, high) = xs, ys
    bottom, marks = top + PLOT, []

    def place(line: Iterable[Point]) -> list[str]:
        kept = ((x, y) for x, y in line if math.isfinite(x) and math.isfinite(y))
        return [f"{to_x(x):.1f},{to_y(y):.1f}" for x, y in kept]

    def to_x(value: float) -> float:
        return LEFT + (value - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def to_y(value: float) -> float:
        return bottom - (value - low) / (high - low) * PLOT

    for value in ticks(low, high):
        grid = f"M{LEFT},{to_y(value):.1f}H{WIDTH - RIGHT}"
        marks.append(tag("path", d=grid, stroke="currentColor", stroke_opacity="0.25"))
        marks.append(tag("text", short(value), x=LEFT - 8, y=to_y(value) + 5, text_anchor="end"))
    for value in ticks(left, right):
        x = to_x(value)
        marks.append(tag("path", d=f"M{x:.1f},{bottom:.1f}v5", stroke="currentColor"))
        marks.append(tag("text", short(value), x=x, y=bottom + 21, text_anchor="middle"))
    marks.append(tag("path", d=f"M{LEFT},{bottom:.1f}H{WIDTH - RIGHT}", stroke="currentColor"))
    x, y, centre = (LEFT + WIDTH - RIGHT) / 2, (top + bottom) / 2, {"text_anchor": "middle"}
    marks.append(tag("text", labels[0], x=x, y=bottom + 43, **centre))
    marks.append(tag("text", labels[1], x=16, y=y, transform=f"rotate(-90 16 {y:.1f})", **centre))
    return marks, place


# ---- Charts ----


def line_chart(
    series: Mapping[str, Sequence[Point]],
    title: str,
    x_label: str = "",
    y_label: str = "",
    bands: Mapping[str, Band] | None = None,
    seeds: Mapping[str, Sequence[Sequence[Point]]] | None = None,
) -> str:
    """Draw a line for each name, its band, and its seeds as thin lines."""
    bands, seeds = bands or {}, seeds or {}
    lines = [*series.values(), *(line for name in series for line in seeds.get(name, ()))]
    points = [point for line in lines for point in line]
    points += [(x, y) for name in series for x, *ends in bands.get(name, ()) for y in ends]
    names, top = legend(list(series), lines=True)
    xs, ys = span((x for x, _ in points), unit=False), span(y for _, y in points)
    marks, place = frame(xs, ys, (x_label, y_label), top)
    for index, (name, line) in enumerate(series.items()):
        colour, dashes, _ = style(index)
        if band := bands.get(name):
            shape = " ".join(place(outline(band)))
            marks.append(tag("polygon", points=shape, fill=colour, fill_opacity="0.18"))
        drawn = {"fill": "none", "stroke": colour}
        for seed in seeds.get(name, ()):
            marks.append(tag("polyline", points=" ".join(place(seed)), opacity="0.55", **drawn))
        drawn |= {"stroke_width": "2.5", "stroke_dasharray": dashes}
        marks.append(tag("polyline", points=" ".join(place(line)), **drawn))
        if len(line) < 3:  # a line of one point would not be seen
            for at in place(line):
                marks.append(tag("path", d=CIRCLE, transform=f"translate({at})", fill=colour))
    return svg(top + PLOT + 54, title, names + marks)


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
    marks, place = frame(*ranges, (x_label, y_label), top)
    for point, label in zip(points, labels):
        colour, _, shape = style(kinds.index(label))
        dot = {"d": shape, "fill": colour, "fill_opacity": "0.7", "tip": label}
        marks += [tag("path", transform=f"translate({at})", **dot) for at in place([point])]
    return svg(top + PLOT + 54, title, names + marks)


# ---- Pixels ----


def bar_image(values: Mapping[str, float], title: str) -> np.ndarray:
    """Draw horizontal bars in 0..1 with their labels and numbers; uint8 [H, W, 3]."""
    from PIL import Image, ImageDraw, ImageFont  # only training draws these

    font = ImageFont.load_default(size=14)
    line, bar, gap = 24, 260, 8
    label = max([int(font.getlength(name)) for name in values], default=0)
    width = max(label + bar + 3 * gap + 50, int(font.getlength(title)) + 2 * gap)
    height = line * (len(values) + 1) + 2 * gap
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    draw.text((gap, gap), title, fill="black", font=font)
    for row, (name, value) in enumerate(values.items(), 1):
        top, left = gap + row * line, label + 2 * gap
        draw.text((gap, top), name, fill="black", font=font)
        draw.rectangle((left, top, left + bar, top + 16), outline="#BBBBBB")
        length = round(bar * min(max(value, 0.0), 1.0)) if np.isfinite(value) else 0
        if length:
            draw.rectangle((left, top, left + length, top + 16), fill=PALETTE[0])
        draw.text((left + bar + gap, top), f"{value:.2f}", fill="black", font=font)
    return np.asarray(image, dtype=np.uint8)


# ---- Learning curves of runs ----


def read_run(run: Path, name: str) -> tuple[str, list[Point]]:
    """The cohort of a run, "dataset, preset", and its values of a TensorBoard tag by step."""
    from abel.learner.events import read_scalars  # slow to import, and only this command needs it

    try:
        args = json.loads((run / "args.json").read_text())
        cohort = f"{args['dataset']}, {args['preset']}"
    except (OSError, ValueError, KeyError, TypeError):
        raise RunError(f"'{run}' is no run: it has no readable args.json") from None
    found = read_scalars(run, name).get("")
    return cohort, [] if found is None else list(zip(*(column.tolist() for column in found)))


def read_results(path: Path) -> dict[str, list[list[Point]]]:
    """The validation curves of a cohort's results file, a list of seeds for each cell."""
    try:
        cells = json.loads(path.read_text())["cells"]
        return {
            cell: [[tuple(point) for point in run["curve"]] for run in seeds if "curve" in run]
            for cell, seeds in ((name, entry["seeds"].values()) for name, entry in cells.items())
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise RunError(f"'{path}' is no results file of a cohort") from None


def mean_and_band(runs: Sequence[Sequence[Point]]) -> tuple[list[Point], Band]:
    """Mean and range of runs over the steps that all of them cover."""
    first, last = max(run[0][0] for run in runs), min(run[-1][0] for run in runs)
    steps = sorted({x for run in runs for x, _ in run if first <= x <= last})
    rows = np.array(  # [runs, steps]
        [np.interp(steps, [x for x, _ in run], [y for _, y in run]) for run in runs]
    )
    band = zip(steps, rows.min(0).tolist(), rows.max(0).tolist())
    return list(zip(steps, rows.mean(0).tolist())), list(band)


def curves(runs: Sequence[Path], name: str) -> str:
    """Draw learning curves: for each dataset and preset, or each cell of a results file, the mean,
    the range, and every seed.
    """
    cohorts: dict[str, list[list[Point]]] = {}
    for run in runs:
        if run.suffix == ".json":
            for cell, lines in read_results(run).items():
                cohorts.setdefault(cell, []).extend(lines)
            continue
        cohort, values = read_run(run, name)
        if values:
            cohorts.setdefault(cohort, []).append(values)
        else:
            print(f"abel.charts: '{run}' has no values of {name}; left out", file=sys.stderr)
    cohorts = {key: lines for key, lines in cohorts.items() if lines}
    if not cohorts:
        raise RunError(f"no run has values of {name}")
    seeds = {f"{key} ({len(lines)})": lines for key, lines in sorted(cohorts.items())}
    means, bands = {}, {}
    for key, lines in seeds.items():
        means[key], bands[key] = mean_and_band(lines)
    return line_chart(means, f"{name}: mean, range, single seeds", "steps", name, bands, seeds)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.charts", description="Learning curves of runs as an SVG file."
    )
    parser.add_argument("what", choices=["curves"])
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="run directories, or results files of cohorts",
    )
    parser.add_argument("--tag", default="eval/val_greedy", help="TensorBoard tag to draw")
    parser.add_argument("--out", type=Path, required=True, help="SVG file to write")
    args = parser.parse_args(argv)
    try:
        text = curves(args.runs, args.tag)
        write_atomically(args.out, lambda file: file.write(text.encode()))
    except (RunError, OSError) as error:
        print(f"abel.charts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
