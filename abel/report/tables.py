"""The reports' data as plain tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Row = Sequence[Any]


def layout(rows: Sequence[Row]) -> str:
    """Columns aligned: the first to the left, the others to the right."""
    texts = [[cell_text(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in texts) for i in range(len(texts[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))])
        for row in texts
    )


def cell_text(cell: Any) -> str:
    """A share as [solved, all], a number, or text."""
    if isinstance(cell, list):
        return f"{cell[0]}/{cell[1]}"
    if isinstance(cell, float):
        return f"{cell:.3f}" if abs(cell) < 10 else f"{cell:,.0f}"
    return "-" if cell is None else str(cell)


def families(decoders: dict[str, dict[str, Any]], count: int) -> list[Row]:
    """A row per family, a column per decoder; then the totals."""
    names = sorted({family for row in decoders.values() for family in row["by_family"]})
    rows: list[Row] = [["family", *decoders]]
    rows += [
        [name or "(none)", *(row["by_family"].get(name, [0, 0]) for row in decoders.values())]
        for name in names
    ]
    counts = [row.get("n", count) for row in decoders.values()]  # fewer after Ctrl-C
    rows.append(["all", *([row["solved"], n] for row, n in zip(decoders.values(), counts))])
    rows.append(["accuracy", *(row["solved"] / n for row, n in zip(decoders.values(), counts))])
    for key, title in (("transitions_per_equation", "transitions"), ("ms_per_equation", "ms")):
        rows.append([f"{title} an equation", *(row[key] for row in decoders.values())])
    return rows


def by_arm(arms: dict[str, dict[str, Any]], columns: Sequence[str]) -> list[Row]:
    names = sorted({family for row in arms.values() for family in row["by_family"]})
    return [
        ["", *columns, *names],
        *(
            [name, *(row[c] for c in columns), *(row["by_family"].get(f) for f in names)]
            for name, row in arms.items()
        ),
    ]


def trigger(data: dict[str, Any]) -> list[Row]:
    rows = by_arm(data["regimes"], ("overall", "open", "closed"))
    blank = [""] * (len(rows[0]) - 2)
    keys = ("precision", "recall", "f1", "tp", "fp", "fn", "tn", "false_positives_solved")
    return rows + [[f"trigger {key}", data["classifier"][key], *blank] for key in keys]


def decomposition(data: dict[str, Any]) -> list[Row]:
    return by_arm(data["arms"], ("label", "overall"))


def failures(data: dict[str, Any]) -> list[Row]:
    rows: list[Row] = [["failure", "count"], *data["counts"].items()]
    return [*rows, ["unsolved", [data["unsolved"], data["n"]]]]


def columns_of(*keys: str) -> Callable[[dict[str, Any]], list[Row]]:
    """A table of parallel lists."""
    return lambda data: [[key.replace("_", " ") for key in keys], *zip(*(data[k] for k in keys))]


def training(data: dict[str, Any]) -> list[Row]:
    """Shares of solve events at five points of training."""
    picks = sorted({round(i * (len(data["steps"]) - 1) / 4) for i in range(5)})
    picks = picks if data["steps"] else []
    rows: list[Row] = [["share of solves at step", *(f"{data['steps'][i]:,}" for i in picks)]]
    return rows + [[f, *(values[i] for i in picks)] for f, values in data["share"].items()]


def embeddings(data: dict[str, Any]) -> list[Row]:
    names = sorted(set(data["families"]))
    rows: list[Row] = [["family", "points"], *([n, data["families"].count(n)] for n in names)]
    return [*rows, *([f"variance of component {i}", s] for i, s in enumerate(data["explained"], 1))]


def generalisation(data: dict[str, Any]) -> list[Row]:
    keys = ("original", "renamed", "rescaled", "compound")
    rows: list[Row] = [["family", *keys]]
    rows += [[name, *(row[k] for k in keys)] for name, row in sorted(data["by_family"].items())]
    return [*rows, ["all", *(data[key] for key in keys)]]


def cost(data: dict[str, Any]) -> list[Row]:
    keys = ("decoder", "solved", "transitions_per_equation", "ms_per_equation")
    return [[k.replace("_", " ") for k in keys], *([row[k] for k in keys] for row in data["rows"])]


def search(data: dict[str, Any]) -> list[Row]:
    names = {"bfs": "bfs", "astar": "A*", "oracle": "SymPy solve"}
    rows = families({names[k]: data[k] for k in names}, data["n"])
    blank = [""] * (len(rows[0]) - 2)
    return [*rows, ["budget (states expanded)", data["budget"], *blank]]


def completeness(data: dict[str, Any]) -> list[Row]:
    """How many sets of roots are complete, a row a family."""
    keys = list(data["all"])
    rows = [*data["by_family"].items(), ("all", data["all"])]
    titles = [key.replace("_", " ") for key in keys]
    return [
        ["family", *titles],
        *([name or "(none)", *(row[k] for k in keys)] for name, row in rows),
    ]


def derivations(data: dict[str, Any]) -> list[Row]:
    """The most frequent way of each family."""
    rows: list[Row] = [["family", "solved", "first solved at step", "ways", "most frequent"]]
    for name, row in data["families"].items():
        way = ", ".join(row["ways"][0]["way"]) or "no substitution" if row["ways"] else None
        rows.append([name, row["solved"], row["first_solved"], len(row["ways"]), way])
    return rows


TABLES: dict[str, Callable[[dict[str, Any]], list[Row]]] = {
    "families": lambda data: families(data["decoders"], data["n"]),
    "widths": columns_of("widths", "solved", "transitions_per_equation", "ms_per_equation"),
    "search": search,
    "trigger": trigger,
    "decomposition": decomposition,
    "failures": failures,
    "cost": cost,
    "dormant": lambda data: [["layer", "dormant"], *data["layers"].items(),
                             ["overall", data["overall"]],
                             ["overall, against the maximum", data["overall_by_max"]]],
    "embeddings": embeddings,
    "training": training,
    "generalisation": generalisation,
    "derivations": derivations,
    "traces": lambda data: [["family", "steps", "root"], *(
        [t["family"], len(t["steps"]), t["root"]] for t in data["traces"])],
}  # fmt: skip
