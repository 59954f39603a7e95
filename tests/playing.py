"""What the tests of the page share: questions, agents, and somebody to ask."""

from pathlib import Path

import pytest

from abel.playground import Thinker
from abel.playground.agents import REFERENCE

ROOT = Path(__file__).parent.parent
RUNS = {REFERENCE: ROOT / REFERENCE}
QUADRATIC, CUBIC = "a*x^2 + b*x + c = 0", "x^3 + p*x + q = 0"
HOSTILE = (
    "", "a*x + = 0", "x = " + "(" * 3000, "9**9**9**9*x = 1", "__import__('os')", "x = 1 = 2",
    "<img src=x onerror=alert(1)>", "x = \x00", "\ud800 = x", "x" * 100_000,
)  # fmt: skip


@pytest.fixture(scope="module", name="thinker")
def fixture_thinker():
    return Thinker(RUNS, limit=20)


@pytest.fixture(scope="module", name="ask")
def fixture_ask(thinker):
    def ask(what, equation=QUADRATIC, path=(), run=REFERENCE, decoder="greedy"):
        question = {"run": run, "equation": equation, "path": [*path], "decoder": decoder}
        return thinker.answer({"ask": what, **question})

    return ask
