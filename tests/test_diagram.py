"""The figure of the network is drawn from a real observation, that of the modules from sources."""

import ast
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from abel.diagram import draw_network, read_graph
from abel.diagram.__main__ import main
from abel.diagram.modules import imported, layers_of
from abel.diagram.network import LETTER, in_row
from abel.playground.pictures import browser, missing


def test_the_figure_shows_nodes_and_actions(tmp_path):
    path = tmp_path / "figure.svg"
    assert main(["--equation", "a*x + b = 0", "--out", str(path)]) == 0
    texts = [element.text for element in ElementTree.parse(path).iter() if element.text]
    assert {"=", "Add", "Mul", "x", "<const>", "summand"} <= set(texts)
    assert any("sub b" in text for text in texts)


WORDS = re.compile(r"<text (.*?)>(.*?)</text>")
PLACE = re.compile(r'\b(x|y|font-size)="([\d.]+)"')
LINE = re.compile(r'<line x1="(.*?)" y1="(.*?)" x2="(.*?)" y2="(.*?)"')
WAY = re.compile(r'<path d="M(.*?),(.*?)H(.*?)V(.*?)"')


@pytest.mark.parametrize("equation", ["a*x + b = 0", "a*x^2 + b = 0", "sin(x)/x = exp(x)*log(x)"])
def test_no_arrow_covers_a_word(equation):
    drawn = draw_network(equation)
    boxes = []
    for attributes, word in WORDS.findall(drawn):
        at = {name: float(value) for name, value in PLACE.findall(attributes)}
        size = at.get("font-size", 14)
        letter = (0.6 if 'weight="600"' in attributes else 0.5) * size
        end = at["x"] + letter * len(unescape(word))
        boxes.append((word, at["x"], at["y"] - 0.7 * size, end, at["y"]))
    lines = [tuple(map(float, line)) for line in LINE.findall(drawn)]
    for x1, y1, x2, y2 in (tuple(map(float, way)) for way in WAY.findall(drawn)):
        lines += [(x1, y1, x2, y1), (x2, y1, x2, y2)]
    assert len(boxes) > 15 and len(lines) > 10
    for x1, y1, x2, y2 in lines:
        for t in np.linspace(0, 1, 200):
            x, y = x1 + t * (x2 - x1), y1 + t * (y2 - y1)
            assert not [w for w, a, b, c, d in boxes if a < x < c and b < y < d]


COVERED = """
const texts = [...document.querySelectorAll("text")];
const words = texts.map((each) => [each.textContent, each.getBBox()]);
const found = [];
for (const arrow of document.querySelectorAll("line, path[marker-end]")) {
  for (let t = 0; t <= 200; t++) {
    const { x, y } = arrow.getPointAtLength((arrow.getTotalLength() * t) / 200);
    for (const [word, box] of words)
      if (x > box.x && x < box.x + box.width && y > box.y + 3 && y < box.y + box.height - 3)
        found.push(word);
  }
}
return [words.length, found];
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")
def test_no_arrow_covers_a_word_as_a_browser_draws_them(tmp_path):
    pytest.importorskip("selenium", reason="the extra `test` is not installed")
    path = tmp_path / "figure.svg"
    with browser() as driver:
        for equation in ("a*x^2 + b = 0", "sin(x)/x = exp(x)*log(x)"):
            assert main(["--equation", equation, "--out", str(path)]) == 0
            driver.get(path.as_uri())
            num_words, covered = driver.execute_script(COVERED)
            assert num_words > 25 and covered == []


def test_actions_that_do_not_fit_are_counted():
    told = [f"add a_{k}" for k in range(9)]
    assert in_row(told, 1000).count("add") == 9
    short = in_row(told, 300)
    left = int(re.search(r"and (\d+) more$", short)[1])
    assert len(short) * LETTER <= 300 and short.count("add") + left == 9
    assert in_row(told, 10) == "9 actions"


@pytest.mark.parametrize(
    "equation, why", [("a*x + = 0", "a*x + = 0"), ("x^2*(x + a)*(x + b)*(x + c) = 1", "nodes")]
)
def test_what_cannot_be_drawn_is_refused(equation, why, tmp_path, capsys):
    assert main(["--equation", equation, "--out", str(tmp_path / "figure.svg")]) == 2
    assert why in capsys.readouterr().err and not list(tmp_path.iterdir())


# ---- Modules ----

SOURCES = {
    "abel/__init__.py": "", "abel/low.py": "import os\n",
    "abel/room/__init__.py": "from abel.room.inside import f\n",
    "abel/room/inside.py": "from abel.low import a\nfrom abel import low\n",
    "abel/top.py": "def later():\n    from abel.room import f\n",
    "script.py": "import abel.top\nfrom abel.low import a\n",
}  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_rooms_are_folders_and_files_with_their_imports(tree):
    graph = read_graph(tree)
    assert graph.rooms["room"] == (2, 3, True) and graph.rooms["low"] == (1, 1, False)
    assert set(graph.rooms) == {"abel", "low", "room", "top", "script"}
    assert graph.imports == {
        ("room", "low"): 2, ("top", "room"): 1, ("script", "top"): 1, ("script", "low"): 1,
    }  # fmt: skip


def test_a_room_stands_above_what_it_imports(tree):
    layers = layers_of(read_graph(tree))
    assert layers == [["abel", "low", "top"], ["room", "script"]]  # top imports room on demand


def test_a_circle_can_be_drawn(tree):
    (tree / "abel" / "low.py").write_text("from abel import room\n")
    assert sum(map(len, layers_of(read_graph(tree)))) == 5


def test_the_module_graph_of_the_project_is_drawn(tmp_path):
    assert main(["modules", "--out", str(tmp_path / "figure.svg")]) == 0
    texts = [each.text for each in ElementTree.parse(tmp_path / "figure.svg").iter() if each.text]
    assert {"verify", "search", "train_ppo"} <= set(texts)
    late = ast.parse("def f():\n    from abel.equation import X")
    assert imported(late, True) == ["equation"] and imported(late, False) == []


def test_a_folder_without_the_package_is_refused(tmp_path, capsys):
    assert main(["modules", "--root", str(tmp_path), "--out", str(tmp_path / "figure.svg")]) == 2
    assert "no package abel" in capsys.readouterr().err and not list(Path(tmp_path).iterdir())
