"""Charts: the marks stand where hand-worked numbers say, whatever the labels contain."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from torch.utils.tensorboard import SummaryWriter

from abel.charts import (
    PALETTE,
    bar_chart,
    bar_image,
    line_chart,
    main,
    mean_and_band,
    on_paper,
    scatter,
    short,
    span,
    strip_chart,
    ticks,
)  # fmt: skip
from abel.charts.marks import style

SVG = "{http://www.w3.org/2000/svg}"
BLUE = tuple(int(PALETTE[0][i : i + 2], 16) for i in (1, 3, 5))
ODD = "<b> & 'c' \"d\" \x00\ud800 é"


def marks(text, name):
    return ET.fromstring(text).findall(f"{SVG}{name}")


def texts(text):
    return [mark.text for mark in marks(text, "text")]


# ---- Axes ----


def test_ticks_are_round_and_inside():
    assert ticks(0, 1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(26624, 1_000_000) == [200_000, 400_000, 600_000, 800_000, 1_000_000]
    assert ticks(-3, 7) == [-2, 0, 2, 4, 6]
    assert [short(v) for v in (0.25, 2000, 25_000, 1_500_000, -30_000)] == [
        "0.25", "2000", "25k", "1.5M", "-30k"
    ]  # fmt: skip


def test_rates_are_drawn_from_0_to_1_and_no_range_is_empty():
    assert span([0.3, 0.4]) == (0.0, 1.0)
    assert span([0.3, 2.0]) == (0.3, 2.0)
    assert span([0.3, 0.4], unit=False) == (0.3, 0.4)
    assert span([5.0, 5.0, float("nan")]) == (2.5, 7.5)
    assert span([], unit=False) == (0.0, 1.0)


# ---- SVG ----


def test_a_line_runs_through_its_points():
    # The plot is 64..696 wide; with one row of legend it stands at 62..332.
    text = line_chart({"a": [(0, 0.0), (50, 0.5), (100, 1.0)]}, "t")
    (line,) = marks(text, "polyline")
    assert line.get("points") == "64.0,332.0 380.0,197.0 696.0,62.0"


def test_bands_and_seeds_are_drawn_beside_the_mean():
    seeds = [[(0, 0.0), (100, 0.5)], [(0, 0.0), (100, 1.0)]]
    mean, band = mean_and_band(seeds)
    assert mean == [(0, 0.0), (100, 0.75)] and band == [(0, 0.0, 0.0), (100, 0.5, 1.0)]
    text = line_chart({"a": mean}, "t", bands={"a": band}, seeds={"a": seeds})
    (shape,) = marks(text, "polygon")
    assert shape.get("points") == "64.0,332.0 696.0,197.0 696.0,62.0 64.0,332.0"
    thin = [line for line in marks(text, "polyline") if line.get("opacity")]
    assert len(thin) == 2 and len(marks(text, "polyline")) == 3


def test_the_mean_covers_only_steps_that_all_seeds_reached():
    mean, band = mean_and_band([[(0, 0.0), (10, 1.0), (20, 1.0)], [(5, 0.0), (15, 1.0)]])
    assert mean == [(5, 0.25), (10, 0.75), (15, 1.0)]  # the seeds' 0.5 and 0, 1 and 0.5, 1 and 1
    assert band[1] == (10, 0.5, 1.0)
    assert mean_and_band([[(0, 0.0), (1, 0.0)], [(5, 1.0), (6, 1.0)]]) == ([], [])


def test_values_that_are_not_finite_are_left_out():
    text = line_chart({"a": [(0, 0.0), (1, float("nan")), (2, 1.0)]}, "t")
    assert marks(text, "polyline")[0].get("points") == "64.0,332.0 696.0,62.0"
    assert len(marks(bar_chart({"a": float("nan"), "b": 0.5}, "t"), "rect")) == 2


def test_bars_are_as_wide_as_their_values():
    text = bar_chart({"ab": 0.5, "cd": 1.0}, "t", intervals={"ab": (0.25, 0.75)})
    # Labels of two characters end at 45; 603 pixels are left for a value of 1.
    assert [bar.get("width") for bar in marks(text, "rect")] == ["301.5", "603.0"]
    assert [bar.get("x") for bar in marks(text, "rect")] == ["45.0", "45.0"]
    assert "M195.8,45.0v8m0,-4H497.2m0,-4v8" in [path.get("d") for path in marks(text, "path")]


def test_groups_of_bars_share_colours_and_a_legend():
    text = bar_chart({"x": {"greedy": 0.1, "beam": 0.2}, "y": {"beam": 40.0}}, "t")
    assert [bar.get("fill") for bar in marks(text, "rect")] == [PALETTE[0], PALETTE[1], PALETTE[1]]
    assert {"greedy", "beam", "x", "y"} < set(texts(text))
    widths = [float(bar.get("width")) for bar in marks(text, "rect")]
    assert widths[2] == max(widths) == pytest.approx(200 * widths[1], rel=0.05)


def test_scattered_points_stand_a_little_inside_the_corners():
    text = scatter([(0, 0), (2, 4)], ["a", "b"], "t")
    dots = [mark for mark in marks(text, "path") if mark.find(f"{SVG}title") is not None]
    places = [dot.get("transform") for dot in dots]
    # A twentieth of the range is left free on each side: 632 / 22 across, 270 / 22 up.
    assert places == ["translate(92.7,319.7)", "translate(667.3,74.3)"]


def test_a_strip_has_a_mark_for_each_value_and_a_column_for_those_that_never_came():
    rows = {"cubic": {"ours": {"1": 0, "2": 100}, "random": {"1": None, "2": 50}}}
    drawn = strip_chart(rows, "t", "steps")
    dots = [m for m in marks(drawn, "path") if len(m)]
    left, right = 28 + 8.5 * 5, 720 - 24 - 116  # of the label, and of the column
    places = [m.get("transform").removeprefix("translate(").split(",") for m in dots]
    xs, ys = [float(x) for x, _ in places], [float(y[:-1]) for _, y in places]
    assert xs[:2] == pytest.approx([left, right], abs=0.1)
    assert xs[3] == pytest.approx((left + right) / 2, abs=0.1) and xs[2] > right
    assert [y - ys[0] for y in ys] == [0, 0, 16, 16]
    assert [m.get("fill") for m in dots] == [PALETTE[0], PALETTE[0], "none", PALETTE[1]]
    assert "never" in texts(drawn) and "cubic, random, 2: 50" in drawn
    assert "never" not in texts(strip_chart({"cubic": {"ours": {"1": 7}}}, "t"))
    assert "</svg>" in strip_chart({}, "t") and "</svg>" in strip_chart({ODD: {}}, ODD)


def test_labels_survive_whatever_they_contain():
    shown = "<b> & 'c' \"d\"    é"  # what XML cannot hold became spaces
    for text in (
        line_chart({ODD: [(0, 1)]}, ODD, ODD, ODD),
        bar_chart({ODD: {ODD: 0.5}}, ODD),
        scatter([(0, 0)], [ODD], ODD, ODD, ODD),
    ):
        text.encode()
        assert texts(text).count(shown) >= 3


@pytest.mark.parametrize("points", [[], [(3, 0.5)], [(3, 7.0), (3, 7.0)]])
def test_empty_and_single_points_are_drawn(points):
    names = ["a"] * len(points)
    ET.fromstring(line_chart({"a": points}, "t", bands={"a": [(x, y, y) for x, y in points]}))
    ET.fromstring(scatter(points, names, "t"))
    ET.fromstring(bar_chart({}, "t"))
    ET.fromstring(line_chart({}, "t"))


def test_more_names_than_colours_still_differ():
    looks = [style(index) for index in range(20)]
    assert len(set(looks)) == 20
    # In grey, too: neighbours differ in their dashes and in their shapes.
    assert all(a[1] != b[1] and a[2] != b[2] for a, b in zip(looks, looks[1:]))


def test_many_lines_get_a_small_plot_each_with_the_others_thin_behind_it():
    series = {f"cell {k}": [(0, 0.0), (100, k / 10)] for k in range(5)}
    bands = {"cell 1": [(0, 0.0, 0.5), (100, 0.0, 1.0)]}
    text = line_chart(series, "t", "steps", "share", bands, {"cell 1": [[(0, 0.5), (100, 1.0)]]})
    thick = [m.get("points") for m in marks(text, "polyline") if m.get("stroke-width")]
    # Three plots of 198.7 pixels in a row, 18 apart, from 64; 104 high, the first from 62.
    assert thick[0] == "64.0,166.0 262.7,166.0" and thick[1] == "280.7,166.0 479.3,155.6"
    assert len(thick) == 5 and thick[3].startswith("64.0,")
    behind = [m for m in marks(text, "polyline") if m.get("stroke") == "currentColor"]
    assert len(behind) == 5 * 4 and len(marks(text, "polygon")) == 1
    said = texts(text)
    assert said.count("steps") == said.count("share") == 1 and set(series) < set(said)
    # Each column has numbers under its lowest plot, each row beside its first.
    assert said.count("50") == 3 and said.count("0.5") == 2
    assert len(marks(line_chart(dict([*series.items()][:3]), "t"), "polyline")) == 3


def test_a_file_of_its_own_is_dark_on_white():
    drawn = line_chart({"a": [(0, 0.0), (1, 1.0)]}, "t")
    alone = ET.fromstring(on_paper(drawn))
    sheet = [alone[0].get(name) for name in ("fill", "width", "height")]
    assert sheet == ["#ffffff", "100%", "100%"] and alone.get("color") == "#222222"
    assert ET.fromstring(drawn).get("color") == "#808080" and not marks(drawn, "rect")


# ---- Pixels ----


def blue_pixels(image):
    """How many pixels of each row have the bars' colour."""
    return (image == BLUE).all(-1).sum(1)


def test_bars_are_as_long_as_their_values():
    image = bar_image({"none": 0.0, "half": 0.5, "all": 1.0}, "solved")
    assert image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
    rows = blue_pixels(image)  # rows of bars begin at 8 + 24 * row and are 17 pixels high
    assert rows[40] == 0 and rows[64] == 131 and rows[88] == 261  # 0, half, all of 260, and an end
    assert (rows > 0).sum() == 2 * 17


def test_bars_outside_the_unit_interval_and_empty_images_are_drawn():
    rows = blue_pixels(bar_image({"too much": 7.0, "negative": -1.0, "none": float("nan")}, "x"))
    assert rows.max() == 261 and (rows > 0).sum() == 17
    assert bar_image({}, "a title that is long enough to decide the width of it").shape[2] == 3


# ---- Learning curves of runs ----


def make_run(path, dataset, preset, values):
    path.mkdir()
    (path / "args.json").write_text(json.dumps({"dataset": dataset, "preset": preset}))
    with SummaryWriter(str(path)) as writer:
        for step, value in values:
            writer.add_scalar("eval/val_greedy", value, step)
    return str(path)


def test_curves_group_runs_by_dataset_and_preset(tmp_path, capsys):
    runs = [
        make_run(tmp_path / "1", "small", "default", [(10, 0.0), (20, 0.5)]),
        make_run(tmp_path / "2", "small", "default", [(10, 0.5), (20, 1.0)]),
        make_run(tmp_path / "3", "small", "ppo", [(10, 0.0), (20, 0.25)]),
        make_run(tmp_path / "4", "large", "ppo", []),
    ]
    out = tmp_path / "curves.svg"
    assert main(["curves", *runs, "--out", str(out)]) == 0
    assert "4' has no values of eval/val_greedy; left out" in capsys.readouterr().err
    text = out.read_text()
    assert {"small, default (2)", "small, ppo (1)"} < set(texts(text))
    assert {"steps of the environment", "validation equations solved"} < set(texts(text))
    assert "#ffffff" in text  # it stands alone
    means = [m.get("points") for m in marks(text, "polyline") if not m.get("opacity")]
    assert means[0] == "64.0,264.5 696.0,129.5"  # 0.25 and 0.75 of 270 pixels above 332


def test_runs_that_cannot_be_drawn_are_named(tmp_path, capsys):
    assert main(["curves", str(tmp_path), "--out", str(tmp_path / "x.svg")]) == 2
    assert "is no run" in capsys.readouterr().err
    run = make_run(tmp_path / "1", "small", "default", [])
    assert main(["curves", run, "--tag", "no/such", "--out", str(tmp_path / "x.svg")]) == 2
    assert "no run has values of no/such" in capsys.readouterr().err
    assert not (tmp_path / "x.svg").exists()


def test_curves_of_a_results_file_are_its_cells(tmp_path, capsys):
    seeds = {"1": {"curve": [[0, 0.0], [10, 1.0]]}, "2": {"error": "it broke"}}
    data = {"cells": {"ours": {"seeds": seeds}, "theirs": {"seeds": {"1": {"error": "too"}}}}}
    (tmp_path / "table.json").write_text(json.dumps(data))
    out = tmp_path / "curves.svg"
    assert main(["curves", str(tmp_path / "table.json"), "--out", str(out)]) == 0
    assert "ours (1)" in out.read_text() and "theirs" not in out.read_text()
    (tmp_path / "other.json").write_text("[1]")
    assert main(["curves", str(tmp_path / "other.json"), "--out", str(out)]) == 2
    assert "no results file" in capsys.readouterr().err
