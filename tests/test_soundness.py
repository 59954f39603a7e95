"""The paper's published traces, and what they come to when the answer is proved."""

import json

import pytest
from sympy import log, symbols

from abel import parse, soundness, verify_root
from abel.equation import Label
from abel.transforms import Relabel, unwind

a, b, c, d, f = symbols("a b c d f")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a*x^2 + 2*c*x + 5*d = 0", -c / a),
        ("2*b*exp(x) + 2*d - 6*f*exp(-x) = 0", log(-d / (2 * b))),
        ("x^3 + 3*b*x^2 + 3*b^2*x + 8*c = 0", -b),
    ],
)
def test_the_published_recipe_ends_at_a_vertex_that_it_counts_as_a_root(text, answer):
    lhs, rhs, stack = soundness.published(parse(text))
    assert soundness.counts_as_solved(lhs, rhs)
    assert unwind(stack, rhs) == answer
    assert verify_root(parse(text), answer).status == "refuted"


def test_letters_undone_one_after_the_other_get_mixed_up():
    swap = Relabel((Label("a", b), Label("b", a)))  # a stands for b, and b for a
    root = swap.labels[0] / swap.labels[1]
    assert unwind((swap,), root) == b / a
    assert soundness.one_by_one((swap,), root) == 1


def test_no_published_answer_is_a_root_and_every_honest_one_is(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(soundness, "SETS", ("open_small",))
    assert soundness.main(["--json", str(tmp_path / "out.json")]) == 0
    counts = json.loads((tmp_path / "out.json").read_text())["open_small"]
    assert counts["published"] == [60, 0] and counts["honest"] == [60, 60]
    counted, proved = counts["honest, one by one"]
    assert counted == 60 and proved < 30
    assert "open_small, published" in capsys.readouterr().out
