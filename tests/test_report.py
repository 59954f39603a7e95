"""The results page: complete, self-contained, and safe whatever the data contain."""

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from abel.paper.published import OPEN, PAPER
from abel.report import reports
from abel.report.page import CSS, Code, Table, formula, plain, to_markdown
from abel.report.pages import SECTIONS, ReportError, main, number, rate, write_page

FAMILIES = {"quadratic": [14, 15], "exponential": [0, 15], "abel_level3": [20, 20]}
ARM = {"overall": [34, 50], "open": [14, 30], "closed": [20, 20], "by_family": FAMILIES}
SEARCH = {"solved": 30, "by_family": FAMILIES, "transitions_per_equation": 412.5,
          "ms_per_equation": 88.0}  # fmt: skip
STEP = {"operation": "square", "equation": "x = a**2", "mathml": "<mi>x</mi><mo>=</mo><mi>q</mi>"}
REPORTS = {
    "families": {"n": 50, "decoders": {
        "greedy": {"accuracy": 0.68, "solved": 34, "by_family": FAMILIES},
        "beam": {"accuracy": 0.68, "solved": 34, "by_family": FAMILIES}}},
    "widths": {"n": 50, "widths": [1, 5], "solved": [34, 40],
               "transitions_per_equation": [6.2, 30.1], "ms_per_equation": [9.0, None]},
    "search": {"n": 50, "budget": 1000, "bfs": SEARCH, "astar": SEARCH, "oracle": SEARCH | {
        "transitions_per_equation": None,
        "failures": [{"equation": "sin(x) = a", "family": "abel_level3", "reason": "why not"}]}},
    "trigger": {"n": 50, "regimes": {name: ARM for name in ("never", "rule", "learned")},
                "classifier": {"tp": 9, "fp": 1, "fn": 3, "tn": 7, "precision": 0.9,
                               "recall": 0.75, "f1": 0.818, "false_positives": [
                                   {"equation": "x = 1", "state": "x = 2", "family": "f"}]}},
    "decomposition": {"n": 50, "arms": {"A": ARM | {"label": "all learned"}}},
    "failures": {"n": 50, "counts": {"1-cycle": 3, "step limit": 1}, "examples": {
        "1-cycle": [{"equation": "log(x) = a", "family": "abel_level3", "steps": ["s1", "s2"]}]}},
    "cost": {"n": 50, "rows": [{"decoder": "greedy", "solved": 34,
                                "transitions_per_equation": 6.2, "ms_per_equation": 9.0}]},
    "dormant": {"threshold": 0.1, "layers": {"round 1": 0.25}, "overall": 0.125},
    "embeddings": {"families": ["cubic", "quartic", "quartic"], "explained": [0.5, 0.2],
                   "labels": ["x^3 = a", "x^4 = a", "x^4 = b"],
                   "pca": [[0, 0], [1, 1], [2, 0]], "tsne": [[0, 0], [1, 1], [2, 0]]},
    "training": {"steps": [0, 10], "share": {"cubic": [0.5, 1.0]}, "rate": {"cubic": [0.1, 0.9]}},
    "generalisation": {"n": 50, "original": [34, 50], "renamed": [33, 50], "rescaled": [30, 50],
                       "by_family": {"cubic": {"original": [5, 5], "renamed": [4, 5]}}},
    "derivations": {"n": 50, "families": {"cubic": {
        "solved": [5, 6], "first_solved": 2048, "ways": [
            {"way": ["put x + h without x^2"], "count": 5, "equation": "a*x^3 = b",
             "values": ["x := x - b/(3*a)"]}]}}},
    "traces": {"traces": [{"family": "abel_level2", "equation": "sqrt(x) + a = 0", "text": None,
                           "steps": [STEP], "root": "a**2", "valid_when": "a <= 0"}]},
}  # fmt: skip
ORIGIN = {"run": "runs/r1", "dataset": "open_small", "split": "test",
          "provenance": {"command": "evaluate.py --x", "commit": "0123456789abcdef"}}  # fmt: skip


class Page(HTMLParser):
    """Elements, attributes, text, and the cells of each table."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.attributes, self.tables = [], [], set(), []
        self.words, self.in_cell = "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}
        self.links += [value for name, value in attributes if name in ("href", "src")]
        if tag == "table":
            self.tables.append([])
        if tag in ("th", "td"):
            self.tables[-1].append("")
            self.in_cell = True

    def handle_data(self, data):
        self.words += data
        if self.in_cell:
            self.tables[-1][-1] += data

    def handle_endtag(self, tag):
        self.in_cell = self.in_cell and tag not in ("th", "td")


def make(tmp_path, reports):
    write_page(reports, tmp_path)
    text = (tmp_path / "index.html").read_text()
    return text, Page(text), (tmp_path / "report.md").read_text()


def everything():
    return {name: report | ORIGIN for name, report in REPORTS.items()}


# ---- Numbers ----


def test_rates_carry_counts_and_interval():
    assert rate(57, 60) == "57/60 = 0.95 [0.86, 0.98]"
    assert rate(0, 0) == "0/0"
    assert [number(v) for v in (None, float("nan"), 6.204, 30.14, 4210.4)] == [
        "-", "-", "6.20", "30.1", "4210"
    ]  # fmt: skip


def test_every_open_number_of_the_paper_is_marked_unsound():
    for table in PAPER["families"].values():
        assert all(("†" in text) == (family in OPEN) for family, text in table.items())
    for table in PAPER["trigger_families"]["open_small"].values():
        assert all("†" in text for text in table.values())
    assert all("†" in text for text in PAPER["trigger"]["open_small"].values())


# ---- The page ----


def test_every_section_stands_on_the_page_and_in_its_contents(tmp_path):
    text, page, markdown = make(tmp_path, everything())
    for name, (heading, _) in SECTIONS.items():
        assert f'<h2 id="{name}">' in text and f"#{name}" in page.links
        assert f"\n## {heading}\n" in markdown
    assert "missing" not in text
    assert set(REPORTS) == set(SECTIONS)


def test_the_page_needs_no_network_and_runs_nothing(tmp_path):
    text, page, _ = make(tmp_path, everything())
    assert all(link.startswith("#") for link in page.links)
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    assert "url(" not in text and "@import" not in text
    assert "default-src 'none'" in text and "prefers-color-scheme: dark" in text


def test_figures_are_well_formed(tmp_path):
    text, _, _ = make(tmp_path, everything())
    figures = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    assert len(figures) == 8  # families, widths, cost, trigger, training 2, embeddings 2
    for figure in figures:
        ET.fromstring(figure)


def test_ours_stands_beside_the_papers_with_its_denominator(tmp_path):
    _, page, markdown = make(tmp_path, everything())
    overall, by_family = page.tables[1], page.tables[2]
    assert overall[3:6] == [
        "greedy",
        "34/50 = 0.68 [0.54, 0.79]",
        "0.67 (seeds 0.40 to 0.80) of 64 †",
    ]
    assert by_family[:4] == ["family", "greedy", "beam", "beam, paper"]
    assert by_family[8:12] == [
        "exponential", "0/15 = 0.00 [0.00, 0.20]", "0/15 = 0.00 [0.00, 0.20]", "0.88 of 15 †"
    ]  # fmt: skip
    assert "| greedy | 34/50 = 0.68 [0.54, 0.79] | 0.67 (seeds 0.40 to 0.80) of 64 † |" in markdown
    assert "† counted by the paper's check" in page.words and "none of these" in page.words


def test_the_papers_numbers_stand_only_beside_their_own_dataset(tmp_path):
    reports = {"families": REPORTS["families"] | {"dataset": "abel_level3"}}
    _, page, _ = make(tmp_path, reports)
    assert page.tables[1][5] == "-" and page.tables[2][:4] == [
        "family", "greedy", "beam", "quadratic"
    ]  # fmt: skip
    assert "†" not in page.words


def test_markdown_has_the_same_tables(tmp_path):
    _, page, markdown = make(tmp_path, everything())
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    cells = [cell.strip().strip("`") for row in rows for cell in row.strip("|").split(" | ")]
    cells = [cell.replace("\\", "") for cell in cells if cell.strip("| ") != "---"]
    assert sorted(cells) == sorted(cell for table in page.tables for cell in table)


def test_sources_stand_at_the_top(tmp_path):
    reports = everything()
    _, page, _ = make(tmp_path, reports)
    told = ["runs/r1", "open_small", "test", "0123456789", "evaluate.py --x", "all"]
    assert page.tables[0][6:] == told
    reports["cost"] = reports["cost"] | {"run": "runs/r2", "provenance": None}
    _, page, _ = make(tmp_path, reports)
    assert page.tables[0][12:] == ["runs/r2", "open_small", "test", "-", "-", "cost"]


def test_missing_reports_are_named_and_unknown_ones_ignored(tmp_path):
    reports = {"dormant": REPORTS["dormant"], "weather": {"monsoon": 1}}
    text, page, _ = make(tmp_path, reports)
    assert "No results for: families, widths, search" in page.words
    assert "weather" not in text and "monsoon" not in text
    assert "25.0 %" in page.words and "12.5 %" in page.words


def poisoned(data, poison):
    if isinstance(data, dict):
        return {key: poisoned(value, poison) for key, value in data.items()}
    if isinstance(data, list):
        return [poisoned(value, poison) for value in data]
    return poison if isinstance(data, str) else data


def test_what_comes_from_data_is_escaped(tmp_path):
    poison = '</td><script>alert(1)</script><b onclick="x()">|&\'\x00\ud800'
    reports = {name: poisoned(report, poison) for name, report in everything().items()}
    reports["failures"]["counts"] = {poison: 1}
    reports["training"]["share"] = reports["training"]["rate"] = {poison: [0.1, 0.2]}
    text, page, markdown = make(tmp_path, reports)
    assert not {"script", "b"} & set(page.tags) and "onclick" not in page.attributes
    assert page.words.count("<script>alert(1)</script>") > 10
    outside = re.sub(r"`[^`\n]*`|^    .*$", "", markdown, flags=re.MULTILINE)  # code is shown as is
    assert not re.search(r"(?<!\\)<", outside)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_report_of_another_shape_is_named(tmp_path, name):
    with pytest.raises(ReportError, match=f"'{name}' does not look as expected"):
        write_page({name: ["no", "report"]}, tmp_path)
    assert not (tmp_path / "index.html").exists()


# ---- Formulas and Markdown ----


def test_mathml_is_shown_and_anything_else_becomes_text():
    shown = formula("<mi>x</mi><mo>=</mo><mn>2</mn>", "x = 2")
    assert shown.startswith("<math ") and shown.endswith("<mi>x</mi><mo>=</mo><mn>2</mn></math>")
    space = "http://www.w3.org/1998/Math/MathML"
    whole = f'<math xmlns="{space}" display="block"><mi mathvariant="normal">x</mi></math>'
    assert formula(whole, "x").count("<math") == 1
    assert '<mi mathvariant="normal">x</mi>' in formula(whole, "x")
    for bad in (
        None, 7, "", " ", "<mi>x", "</math><mi>x</mi><math>", "<script>alert(1)</script>",
        '<svg xmlns="http://www.w3.org/2000/svg"/>', "<!DOCTYPE m><mi>x</mi>", "<?php ?>",
        "<maction/>", '<mi xmlns="urn:other">x</mi>', "<mrow>" * 3000 + "</mrow>" * 3000,
    ):  # fmt: skip
        assert formula(bad, "x < 2") == "<code>x &lt; 2</code>"


def test_entities_that_xml_does_not_know_are_characters():
    """SymPy writes &InvisibleTimes; and the like, for which whole formulas were shown as text."""
    shown = formula("<mi>a</mi><mo>&InvisibleTimes;</mo><mi>&pi;</mi><mo>&lt;</mo>", "a*pi")
    assert shown.endswith("<mi>a</mi><mo>\u2062</mo><mi>π</mi><mo>&lt;</mo></math>")
    assert formula("<mi>&nonsense;</mi>", "a") == "<code>a</code>"


def test_formulas_have_no_scroll_bars_of_their_own():
    """What scrolls inside a line of text cuts fractions off."""
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", CSS)
    scrolling = {name.strip() for name, rule in rules if "overflow" in rule and "auto" in rule}
    assert scrolling == {".scroll", "figure"}


def test_steps_are_sentences_and_what_follows_from_them_has_no_number(tmp_path):
    formula_of_t = ["t", ["<math><mi>t</mi></math>"]]
    steps = [
        {**STEP, "step": 1, "parts": [["put ", []], formula_of_t, [" < 2", []]],
         "where": [["d = 1", ["<math><mi>d</mi></math>"]]]},
        {**STEP, "step": None, "parts": "no list", "where": []},
    ]  # fmt: skip
    answer = {"operation": "a > 0", "parts": [["a > 0", []]], "equation": "x = 1", "mathml": None}
    trace = {"family": "f", "equation": "x = 1", "text": None, "steps": steps, "answer": answer}
    page = section_of(tmp_path, {"traces": [trace]})
    assert "<span>put <math" in page and "</math> &lt; 2</span>" in page
    assert "<span>where <math" in page and '<li class="then"><span>square</span>' in page
    assert "<code>x = 1</code>, valid when a &gt; 0" in page


def section_of(folder, report):
    write_page({"traces": report}, folder)
    return (folder / "index.html").read_text(encoding="utf-8")


def test_mathml_loses_attributes_that_could_act():
    shown = formula('<mi href="javascript:x()" onclick="x()" style="color: red">x</mi>', "x")
    assert shown.endswith("<mi>x</mi></math>")


def test_markdown_cells_stay_in_their_cells():
    assert plain("a|b *c* <d> [e](f)\ng") == r"a\|b \*c\* \<d\> [e]\(f) g"
    assert plain(Code("a**2 | `b`")) == r"`a**2 \| 'b'`"
    assert plain(Code("")) == ""
    assert to_markdown(Table(["h"], [["1"]])) == "| h |\n| --- |\n| 1 |"


# ---- Command ----


def test_the_command_reads_a_folder_and_writes_both_files(tmp_path, capsys):
    for name, report in everything().items():
        (tmp_path / f"{name}.json").write_text(json.dumps(report))
    (tmp_path / "other.json").write_text("no JSON at all")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "index.html")
    assert (tmp_path / "report.md").read_text().startswith("# ")


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    assert main([str(tmp_path / "none")]) == 2
    assert "is not a directory" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    assert "no results in" in capsys.readouterr().err
    (tmp_path / "cost.json").write_text("{")
    assert main([str(tmp_path)]) == 2
    assert "cost.json" in capsys.readouterr().err
    assert main([]) == 2 and main(["--help"]) == 0


def test_an_equation_that_crashed_does_not_shift_the_families_of_the_others(monkeypatch, tmp_path):
    seen = {}
    monkeypatch.setattr(reports, "derivations", lambda pairs, events: seen.update(pairs) or {})
    monkeypatch.setattr(reports, "read_scalars", lambda run, prefix: {})
    study = SimpleNamespace(
        families=["one", "two"],
        decode=lambda name: [SimpleNamespace(solution=None), SimpleNamespace(solution="steps")],
    )
    data = reports.derivations_report(study, SimpleNamespace(folder=tmp_path))
    assert seen == {"steps": "two"} and data["coverage"] is None
