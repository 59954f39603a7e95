"""Results as one self-contained page: tables beside the paper's, figures, solutions.

python -m abel.report DIR    # reads DIR/*.json, writes DIR/index.html and DIR/report.md
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from abel.charts import bar_chart, escape, line_chart, scatter
from abel.learner.records import write_atomically
from abel.paper.published import NOTE, OPEN, PAPER, UNSOUND
from abel.report.page import (
    Block,
    Code,
    Part,
    Table,
    figure,
    folded,
    formula,
    html_page,
    markdown_page,
    plain,
    sentence,
)  # fmt: skip
from abel.stats import wilson

Counts = Mapping[str, Sequence[int]]  # family -> [solved, n]

SOLVED = (
    "Solved means: the equation reads x = r, and r, carried back through every relabeling and "
    "change of variables, is proved to be a root of the equation that was asked. Every rate stands "
    "with its counts and a 95 % Wilson interval."
)


class ReportError(ValueError):
    """A results file that cannot be shown: which, and why."""


# ---- Numbers ----


def rate(solved: int, n: int) -> str:
    """Counts, rate and Wilson's interval: "57/60 = 0.95 [0.86, 0.98]"."""
    if n == 0:
        return "0/0"
    low, high = wilson(solved, n)
    return f"{solved}/{n} = {solved / n:.2f} [{low:.2f}, {high:.2f}]"


def number(value: float | None) -> str:
    """Two digits after the point, fewer the larger it is; "-" for none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2}f}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def ordered(families: Iterable[str]) -> list[str]:
    """The open families first, in the paper's order, then the others by name."""
    names = set(families)
    return [name for name in OPEN if name in names] + sorted(names - set(OPEN))


def family_table(
    arms: Mapping[str, Counts], paper: Mapping | None = None, first: str = "family"
) -> Table:
    """One row a family; for each arm our rate, and beside it the paper's where it has any."""
    paper = paper or {}
    columns, rows = [first], ordered(family for arm in arms.values() for family in arm)
    cells = {family: [family] for family in rows}
    for name, arm in arms.items():
        columns += [name, f"{name}, paper"] if paper.get(name) else [name]
        for family in rows:
            cells[family].append(rate(*arm[family]) if family in arm else "-")
            if paper.get(name):
                cells[family].append(paper[name].get(family, "-"))
    return Table(columns, list(cells.values()))


def family_bars(arms: Mapping[str, Counts], title: str) -> Block:
    families = ordered(family for arm in arms.values() for family in arm)
    counts = {f: {k: arm[f] for k, arm in arms.items() if f in arm and arm[f][1]} for f in families}
    values = {f: {k: s / n for k, (s, n) in row.items()} for f, row in counts.items()}
    ends = {f: {k: wilson(s, n) for k, (s, n) in row.items()} for f, row in counts.items()}
    return figure(bar_chart(values, title, ends))


def cost_table(first: str, n: int, rows: Iterable[Sequence], paper: str = "paper") -> Table:
    """Rows of (name, solved, transitions, milliseconds, what the paper says)."""
    columns = [first, "solved", "transitions an equation", "ms an equation", paper]
    told = [[str(k), rate(s, n), number(t), number(ms), said] for k, s, t, ms, said in rows]
    return Table(columns, told)


# ---- Sections: each takes a report and gives the parts of its section ----


def families(report: dict, dataset: str) -> list[Part]:
    n, decoders, paper = report["n"], report["decoders"], PAPER["decoders"].get(dataset, {})
    overall = [[name, rate(d["solved"], n), paper.get(name, "-")] for name, d in decoders.items()]
    arms = {name: decoder["by_family"] for name, decoder in decoders.items()}
    beside = {"beam": PAPER["families"].get(dataset, {})}
    return [
        Table(["decoder", "solved", "paper"], overall),
        family_table(arms, beside),
        family_bars(arms, "Solved, by family (95 % intervals)"),
        *types_table(decoders),
    ]


def types_table(decoders: dict) -> list[Part]:
    arms = {name: decoder["by_type"] for name, decoder in decoders.items() if "by_type" in decoder}
    said = "By structural type: the hardest kind of expression that x is in."
    return [said, family_table(arms, first="type")] if arms else []


def widths(report: dict, dataset: str) -> list[Part]:
    n, paper = report["n"], PAPER["widths"]
    keys = ("widths", "solved", "transitions_per_equation", "ms_per_equation")
    rows = [(*row, paper.get(row[0], "-")) for row in zip(*(report[key] for key in keys))]
    line = [(width, solved / max(n, 1)) for width, solved, *_ in rows]
    band = [(width, *wilson(solved, n)) for width, solved, *_ in rows]
    chart = line_chart({"solved": line}, "Solved by beam width", "width", "rate", {"solved": band})
    return [
        "Width 1 is greedy decoding.",
        cost_table("width", n, rows, "paper, open_small"),
        figure(chart),
    ]


def search(report: dict, dataset: str) -> list[Part]:
    found = {name: report[name] for name in ("bfs", "astar", "oracle") if name in report}
    paper = PAPER["decoders"].get(dataset, {})
    rows = [
        (k, arm["solved"], arm.get("transitions_per_equation"), arm.get("ms_per_equation"),
         paper.get(k, "-"))
        for k, arm in found.items()
    ]  # fmt: skip
    said = f"Searches without a policy, {report.get('budget', '?')} expansions an equation; the "
    parts: list[Part] = [
        said + "oracle is SymPy's solve.",
        cost_table("search", report["n"], rows),
        family_table({k: arm["by_family"] for k, arm in found.items() if "by_family" in arm}),
    ]
    if failed := found.get("oracle", {}).get("failures"):
        told = [[Code(f["equation"]), f.get("family", ""), f.get("reason", "")] for f in failed]
        table = Table(["equation", "family", "reason"], told)
        parts.append(folded(f"Where the oracle fails ({len(told)})", table))
    return parts


def trigger(report: dict, dataset: str) -> list[Part]:
    regimes, paper = report["regimes"], PAPER["trigger"].get(dataset, {})
    rows = [
        [name, *(rate(*regime[key]) for key in ("overall", "open", "closed")), paper.get(name, "-")]
        for name, regime in regimes.items()
    ]
    beside = PAPER["trigger_families"].get(dataset, {})
    arms = {name: regime["by_family"] for name, regime in regimes.items()}
    parts: list[Part] = [
        "Who decides when to change variables, the rest of the policy being the same. The paper's "
        "numbers are overall / open / closed of 91 / 60 / 31 on open_small, overall of 1000 on "
        "open_large.",
        Table(["trigger", "overall", "open", "closed", "paper"], rows),
        family_table(arms, beside),
        family_bars(arms, "Solved, by family and trigger (95 % intervals)"),
    ]
    if "classifier" in report:
        judged = report["classifier"]
        tp, fp, fn, tn = (judged[key] for key in ("tp", "fp", "fn", "tn"))
        ours = (rate(tp, tp + fp), rate(tp, tp + fn), number(judged["f1"]), rate(fp, fp + tn))
        measured = [
            [key, text, said] for (key, said), text in zip(PAPER["classifier"].items(), ours)
        ]
        parts += [
            'As a classifier of "needs a change of variables":',
            Table(["", "ours", "paper (91 equations, 5 seeds)"], measured),
        ]
        if judged.get("false_positives"):
            fired = [[Code(f["equation"]), Code(f.get("state", "")), f.get("family", "")]
                     for f in judged["false_positives"]]  # fmt: skip
            table = Table(["equation", "state where it fired", "family"], fired)
            parts.append(folded(f"Closed equations where it fired ({len(fired)})", table))
    return parts


def decomposition(report: dict, dataset: str) -> list[Part]:
    arms, paper = report["arms"], PAPER["decomposition"]
    rows = [
        [name, arm.get("label", ""), rate(*arm["overall"]), paper.get(name, "-")]
        for name, arm in arms.items()
    ]
    by_family = {name: arm["by_family"] for name, arm in arms.items() if "by_family" in arm}
    return [
        Table(["arm", "what changes", "solved", "paper, open_large"], rows),
        family_table(by_family),
    ]


def failures(report: dict, dataset: str) -> list[Part]:
    counts = report["counts"]
    total = sum(counts.values())
    rows = [[k, rate(count, total), PAPER["failures"].get(k, "-")] for k, count in counts.items()]
    parts: list[Part] = [
        f"{total} of {report['n']} equations are not solved. The paper's shares are of the "
        "unsolved abel_level3 equations of open_large.",
        Table(["how it ends", "share of failures", "paper"], rows),
    ]
    for kind, examples in report.get("examples", {}).items():
        told = [[Code(e["equation"]), e.get("family", ""), Code(" → ".join(e.get("steps", [])))]
                for e in examples]  # fmt: skip
        if told:
            parts.append(folded(f"Examples: {kind}", Table(["equation", "family", "steps"], told)))
    return parts


def cost(report: dict, dataset: str) -> list[Part]:
    keys = ("decoder", "solved", "transitions_per_equation", "ms_per_equation")
    rows = [[row.get(key) for key in keys] for row in report["rows"]]
    told = [(*row, PAPER["cost"].get(row[0], "-")) for row in rows]
    drawn = [row for row in rows if (row[2] or 0) > 0 and report["n"]]
    points = [(math.log10(steps), solved / report["n"]) for _, solved, steps, _ in drawn]
    labels = ("log10 of the transitions an equation takes", "solved")
    chart = scatter(points, [row[0] for row in drawn], "What a solution costs", *labels, unit=True)
    return [cost_table("decoder", report["n"], told, "paper: transitions"), figure(chart)]


def dormant(report: dict, dataset: str) -> list[Part]:
    rows = [[name, percent(share), "-"] for name, share in report["layers"].items()]
    rows.append(["all layers", percent(report["overall"]), PAPER["dormant"]])
    said = f"Neurons below {number(report['threshold'])} of their layer's activity (ReDo)."
    return [said, Table(["layer", "dormant", "paper"], rows)]


def embeddings(report: dict, dataset: str) -> list[Part]:
    parts: list[Part] = ["The paper finds a cluster for each family, abel_level3 more diffuse."]
    axes = [f"{percent(share)} of the variance" for share in report.get("explained", [])[:2]]
    order = ordered(report["families"])  # one for each point
    for key, title in (("pca", "Principal components"), ("tsne", "t-SNE")):
        points = zip(report[key], report["families"], strict=True)
        pairs = sorted(points, key=lambda pair: order.index(pair[1]))
        if pairs:
            sites, kinds = zip(*pairs)
            x_label, y_label = [*axes, "", ""][:2] if key == "pca" else ("", "")
            title = f"{title} of the embeddings"
            parts.append(figure(scatter(sites, kinds, title, x_label, y_label)))
    return parts


def training(report: dict, dataset: str) -> list[Part]:
    steps, parts = report["steps"], []
    for key, title in (("share", "Share of the solved episodes"), ("rate", "Rate of success")):
        lines = {name: list(zip(steps, report[key][name])) for name in ordered(report[key])}
        parts.append(figure(line_chart(lines, f"{title}, by family", "steps", key)))
    ends = [[f, *(number(report[k][f][-1]) if report[k].get(f) else "-" for k in ("share", "rate"))]
            for f in ordered(report["share"])]  # fmt: skip
    said = (
        "In the paper, seeds that escape have 20 to 25 % of their solved episodes in each open "
        "family and 10 % in abel_level3; seeds that stall have 85 % or more in abel_level3."
    )
    return [said, *parts, Table(["family", "share at the end", "rate at the end"], ends)]


def generalisation(report: dict, dataset: str) -> list[Part]:
    arms = [arm for arm in ("original", "renamed", "rescaled", "compound") if arm in report]
    families = report.get("by_family", {})
    table = {arm: {f: row[arm] for f, row in families.items() if arm in row} for arm in arms}
    rows = [[arm, rate(*report[arm])] for arm in arms]
    said = (
        "The same equations with other letters, with factors from 11 to 100, and with sums,"
        " products and functions of letters in their place. The paper has no such test."
    )
    return [
        said,
        Table(["constants", "solved"], rows),
        *([family_table(table)] if families else []),
    ]


def traces(report: dict, dataset: str) -> list[Part]:
    parts: list[Part] = []
    for trace in report["traces"]:
        steps = "".join(map(list_item, trace["steps"]))
        lines = [
            f"{k}. {s['operation']}:  {s['equation']}" for k, s in enumerate(trace["steps"], 1)
        ]
        root = f"x = {trace['root']}" if trace.get("root") else "not solved"
        if trace.get("valid_when"):
            root += f", valid when {trace['valid_when']}"
        question = formula(trace.get("mathml"), trace["equation"])
        head = f"<h3>{escape(trace['family'])}</h3><p>{question}</p>"
        page = f'{head}<ol class="trace">{steps}</ol><p>{answer(trace.get("answer"), root)}</p>'
        written = trace.get("text") or "\n".join([trace["equation"], *lines, root])
        fenced = "\n".join("    " + line for line in written.splitlines())
        parts.append(Block(page, f"### {plain(trace['family'])}\n\n{fenced}"))
    return parts


def list_item(step: dict) -> str:
    """What was done, the equation after it, and what its new letters stand for; what only follows
    from a step has no number.
    """
    where = ", ".join(sentence([part], "") for part in step.get("where", ()))
    then = ' class="then"' if step.get("step", 0) is None else ""
    note = f"<span>where {where}</span>" if where else ""
    return (
        f"<li{then}><span>{sentence(step.get('parts'), step['operation'])}</span>"
        f"<div>{formula(step.get('mathml'), step['equation'])}</div>{note}</li>"
    )


def answer(found: dict | None, text: str) -> str:
    if not found:
        return f"<code>{escape(text)}</code>"
    when = sentence(found.get("parts"), found["operation"])
    condition = f", valid when {when}" if when else ""
    return formula(found.get("mathml"), found["equation"]) + condition


def derivations(report: dict, dataset: str) -> list[Part]:
    rows = [
        [name, rate(*row["solved"]), number(row["first_solved"]),
         Code(", ".join(way["way"]) or "-"), str(way["count"]), Code(way["equation"]),
         Code("; ".join(way["values"]) or "-")]
        for name, row in report["families"].items() for way in row["ways"][:2]
    ]  # fmt: skip
    said = "The substitutions in greedy solutions, without their letters: two ways of each family."
    columns = ["family", "solved", "first solved at step", "substitutions", "times", "for example",
               "put for x"]  # fmt: skip
    return [said, Table(columns, rows)]


SECTIONS: dict[str, tuple[str, Callable[[dict, str], list[Part]]]] = {
    "families": ("Solved, by family", families),
    "widths": ("Beam width", widths),
    "search": ("Search without a policy", search),
    "cost": ("What a solution costs", cost),
    "trigger": ("When to change variables", trigger),
    "decomposition": ("Which part does the work", decomposition),
    "generalisation": ("Other letters, other factors", generalisation),
    "derivations": ("What was derived", derivations),
    "failures": ("How episodes fail", failures),
    "training": ("What training solves", training),
    "dormant": ("Dormant neurons", dormant),
    "embeddings": ("What the network sees", embeddings),
    "traces": ("Solutions", traces),
}


# ---- The page ----


def sources(reports: dict[str, dict]) -> Table:
    """Run, data, commit and command, as far as the reports say; those that agree share a row."""
    rows: dict[tuple, list[str]] = {}
    for name in SECTIONS:
        if name in reports:
            origin = reports[name].get("provenance")
            origin = origin if isinstance(origin, dict) else {}
            commit = str(origin.get("commit") or "-")[:10] + ", changed" * bool(origin.get("dirty"))
            told = (str(reports[name].get(key) or "-") for key in ("run", "dataset", "split"))
            row = (*told, commit, Code(origin.get("command") or "-"))
            rows.setdefault(row, []).append(name)
    columns = ["run", "dataset", "split", "commit", "command", "reports"]
    cells = [[*row, ", ".join(names)] for row, names in rows.items()]
    return Table(columns, cells if len(cells) > 1 else [[*row[:-1], "all"] for row in cells])


def with_notes(parts: list[Part]) -> list[Part]:
    """The parts, and after each table the meaning of the marks in it."""
    noted: list[Part] = []
    for part in parts:
        noted.append(part)
        if isinstance(part, Table):
            text = " ".join(cell for row in part.rows for cell in row)
            notes = "; ".join(f"{mark} {said}" for mark, said in NOTE.items() if mark in text)
            if notes:
                noted.append(Block(f'<p class="note">{escape(notes)}</p>', plain(notes)))
    return noted


def write_page(reports: dict[str, dict], out: Path) -> None:
    """Write `out/index.html` and `out/report.md` from the reports that are there."""
    sections: dict[str, tuple[str, list[Part]]] = {}
    for name, (heading, build) in SECTIONS.items():
        if name in reports:
            try:
                parts = build(reports[name], str(reports[name].get("dataset", "")))
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                reason = f"{type(error).__name__}: {error}"
                raise ReportError(f"'{name}' does not look as expected ({reason})") from None
            sections[name] = heading, with_notes(parts)
    missing = [name for name in SECTIONS if name not in reports]
    if missing:
        sections["missing"] = "Not on this page", ["No results for: " + ", ".join(missing) + "."]
    intro: list[Part] = [SOLVED, UNSOUND, sources(reports)]
    out.mkdir(parents=True, exist_ok=True)
    for file, render in (("index.html", html_page), ("report.md", markdown_page)):
        text = render("Solving equations step by step: results", intro, sections)
        content = text.encode(errors="replace")
        write_atomically(out / file, lambda stream: stream.write(content))


def read_reports(folder: Path) -> dict[str, dict]:
    """The results files of a folder by their names; those that no section shows are ignored."""
    if not folder.is_dir():
        raise ReportError(f"'{folder}' is not a directory")
    reports = {}
    for path in sorted(folder.glob("*.json")):
        if path.stem in SECTIONS:
            try:
                reports[path.stem] = json.loads(path.read_text())
            except (OSError, ValueError) as error:
                raise ReportError(f"cannot read '{path}': {error}") from None
    if not reports:
        raise ReportError(f"no results in '{folder}': expected {', '.join(SECTIONS)} (.json)")
    return reports


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if argv in (["-h"], ["--help"]) else 2
    try:
        write_page(read_reports(Path(argv[0])), Path(argv[0]))
    except (ReportError, OSError) as error:
        print(f"abel.report: {error}", file=sys.stderr)
        return 2
    print(Path(argv[0]) / "index.html")
    return 0
