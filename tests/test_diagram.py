"""The figure of the network is drawn from a real observation, that of the modules from sources."""

import ast
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from abel.diagram import positions
from abel.diagram.__main__ import main
from abel.diagram.modules import imported, layers_of, read_graph


def test_parents_stand_above_the_middle_of_their_children():
    places = positions(np.array([-1, 0, 1, 1, 0]))  # a root, its child with two leaves, a leaf
    x, y = places[:, 0], places[:, 1]
    assert x[2] < x[3] < x[4]  # leaves in reading order
    assert x[1] == (x[2] + x[3]) / 2 and x[0] == (x[1] + x[4]) / 2
    assert y[0] < y[1] == y[4] < y[2] == y[3]


def test_the_figure_shows_nodes_and_actions(tmp_path):
    path = tmp_path / "figure.svg"
    assert main(["--equation", "a*x + b = 0", "--out", str(path)]) == 0
    texts = [element.text for element in ElementTree.parse(path).iter() if element.text]
    assert {"=", "Add", "Mul", "x", "<const>", "summand"} <= set(texts)
    assert any(text.startswith("sub ") for text in texts)


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
