"""The figure of the network is drawn from a real observation."""

from xml.etree import ElementTree

import numpy as np
import pytest

from abel.diagram import main, positions


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
