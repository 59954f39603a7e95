"""The list of mutants is in order; `python -m tests.mutants` says whether they die."""

import ast

import pytest

from tests.mutants import MUTANTS, ROOT

WANTED = (
    "entropy bonus turned", "cloning loss times 0", "advantages not divided by deviation",
    "truncated without its own last value", "no epsilon ladder", "beam's value term times 0",
)  # fmt: skip


@pytest.mark.slow
def test_every_mutant_changes_one_place_and_still_is_python():
    for mutant in MUTANTS:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, mutant
        ast.parse(text.replace(mutant.old, mutant.new))


@pytest.mark.slow
def test_there_are_enough_of_them_and_those_that_once_survived():
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names)) >= 40 and set(WANTED) <= set(names)
