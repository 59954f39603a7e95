"""The module graph, read from the sources: rooms as boxes, imports as arrows.

A room is a folder of `abel`, or a file that lies in it directly; the scripts are rooms of their
own. A room stands above all that comes along when it is imported, and an arrow is the wider the
more imports it is for, those on demand included.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

from abel.charts import PALETTE, tag

BOX, HEIGHT, GAP, LAYER = 118, 44, 14, 104  # pixels: a box, between boxes, between layers
MARGIN, TITLE = 24, 40
ALONE, TOGETHER = PALETTE[6], PALETTE[0]  # colors of single files and of folders


class Room(NamedTuple):
    """A box of the figure."""

    files: int
    lines: int
    is_folder: bool


class Graph(NamedTuple):
    """Rooms by name, and how many imports there are from one to another."""

    rooms: dict[str, Room]
    imports: Counter[tuple[str, str]]
    at_once: set[tuple[str, str]]  # those of them that are not on demand


def read_graph(root: Path) -> Graph:
    """Of the package `abel` in a folder, and of the scripts beside it."""
    paths = {*root.glob("abel/*.py"), *root.glob("abel/*/*.py"), *root.glob("*.py")}
    if not (root / "abel" / "__init__.py").is_file():
        raise ValueError(f"there is no package abel in '{root}'")
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(paths)}
    homes = {path: room_of(path, root) for path in sources}
    rooms = {
        name: Room(
            sum(home == name for home in homes.values()),
            sum(len(sources[path].splitlines()) for path, home in homes.items() if home == name),
            (root / "abel" / name).is_dir(),
        )
        for name in sorted(set(homes.values()))
    }
    imports: Counter[tuple[str, str]] = Counter()
    at_once: set[tuple[str, str]] = set()
    for path, text in sources.items():
        tree = ast.parse(text)
        imports.update((homes[path], target) for target in imported(tree, True))
        at_once |= {(homes[path], target) for target in imported(tree, False)}
    across = {(a, b) for a, b in imports if b in rooms and a != b}
    return Graph(rooms, Counter({pair: imports[pair] for pair in across}), at_once & across)


def room_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    name = parts[1] if parts[0] == "abel" and len(parts) > 1 else parts[0]
    return {"__init__": "abel", "__main__": "abel"}.get(name, name)


def imported(tree: ast.AST, on_demand: bool) -> list[str]:
    """The rooms that a file asks for, once per statement; those in its functions if wanted."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if on_demand or not isinstance(node, ast.FunctionDef):
            found += imported(node, on_demand)
        if isinstance(node, ast.Import):
            found += [alias.name.removeprefix("abel.").split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "abel":
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module.removeprefix("abel.").split(".")[0])
    return found


def layers_of(graph: Graph) -> list[list[str]]:
    """Rooms by the longest chain of imports below them; of a circle, what is met first is on top.

    Within a layer a room stands near the middle of what it imports, so that fewer arrows cross.
    """
    below = {name: sorted(b for a, b in graph.at_once if a == name) for name in graph.rooms}
    under_way: set[str] = set()

    @cache
    def depth(name: str) -> int:
        under_way.add(name)
        depths = [depth(other) for other in below[name] if other not in under_way]
        under_way.discard(name)
        return 1 + max(depths, default=-1)

    layers: list[list[str]] = [[] for _ in range(1 + max(map(depth, graph.rooms)))]
    for name in graph.rooms:
        layers[depth(name)].append(name)
    places: dict[str, float] = {}
    for layer in layers:
        known = {name: [places[b] for b in below[name] if b in places] for name in layer}
        layer.sort(key=lambda name: sum(known[name]) / len(known[name]) if known[name] else 0.5)
        places |= {name: (i + 0.5) / len(layer) for i, name in enumerate(layer)}
    return layers


def draw_modules(root: Path) -> str:
    """The figure, as SVG."""
    graph = read_graph(root)
    layers = layers_of(graph)
    width = 2 * MARGIN + max(map(len, layers)) * (BOX + GAP)
    height = TITLE + len(layers) * LAYER
    places = {}
    for level, layer in enumerate(layers):
        step = (width - 2 * MARGIN) / len(layer)
        for i, name in enumerate(layer):
            x = MARGIN + step * (i + 0.5)
            places[name] = x, height - LAYER * level - LAYER / 2
    arrows = [
        arrow(*places[above], *places[below], count)
        for (above, below), count in sorted(graph.imports.items())
    ]
    boxes = [part for name, room in graph.rooms.items() for part in box(name, room, *places[name])]
    files = sum(room.files for room in graph.rooms.values())
    lines = sum(room.lines for room in graph.rooms.values())
    title = (
        f"{files} files, {lines:,} lines, {len(graph.rooms)} boxes,"
        f" {len(graph.imports)} arrows for {graph.imports.total()} imports"
    )
    heading = tag("text", title, x=MARGIN, y=24, font_size=16, font_weight=600)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'role="img" aria-label="{title}" color="#808080" fill="currentColor" font-size="13" '
        'font-family="system-ui, sans-serif">\n' + "\n".join([heading, *arrows, *boxes])
        + "\n</svg>\n"
    )  # fmt: skip


def arrow(x1: float, y1: float, x2: float, y2: float, count: int) -> str:
    """A curve from the bottom of one box to the top of another, thin at the end it points to."""
    y1, y2 = y1 + HEIGHT / 2, y2 - HEIGHT / 2
    half, bend = 0.6 + 0.9 * math.log2(1 + count), 0.45 * (y2 - y1)
    path = (
        f"M{x1 - half:.1f},{y1:.1f}C{x1 - half:.1f},{y1 + bend:.1f} {x2:.1f},{y2 - bend:.1f}"
        f" {x2:.1f},{y2:.1f}C{x2:.1f},{y2 - bend:.1f} {x1 + half:.1f},{y1 + bend:.1f}"
        f" {x1 + half:.1f},{y1:.1f}z"
    )
    return tag("path", d=path, fill=PALETTE[3], fill_opacity=0.35)


def box(name: str, room: Room, x: float, y: float) -> list[str]:
    """A room with its size; a folder in another color than a file."""
    color = TOGETHER if room.is_folder else ALONE
    count = f"{room.files} files, " if room.files > 1 else ""
    frame = tag("rect", x=x - BOX / 2, y=y - HEIGHT / 2, width=BOX, height=HEIGHT, rx=6,
                fill="#ffffff", stroke=color, stroke_width=2 if room.is_folder else 1)  # fmt: skip
    return [
        frame,
        tag("text", name, x=x, y=y - 3, text_anchor="middle", font_weight=600, fill="#333333"),
        tag("text", f"{count}{room.lines:,} lines", x=x, y=y + 14, text_anchor="middle",
            font_size=11, fill="#555555"),
    ]  # fmt: skip
