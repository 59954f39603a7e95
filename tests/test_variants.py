"""Equations with other constants keep their form."""

import random
import re

import numpy as np
import pytest

from abel import Env, EnvConfig, load_dataset
from abel.analysis.variants import (
    VARIANTS,
    compound,
    generalisation,
    renamed,
    rescaled,
    rewrite_letters,
)
from abel.datasets import textbook
from abel.datasets.load import Problem, anonymous

CUBIC = Problem("a*x**3 + 3*b*x**2 + b**2*x/(3*a) + exp(x)*E = 0", "cubic")


def test_letters_are_replaced_everywhere_and_only_letters():
    assert rewrite_letters(CUBIC.text, str.upper) == (
        "A*x**3 + 3*B*x**2 + B**2*x/(3*A) + exp(x)*E = 0"
    )


def test_a_renamed_equation_is_the_same_up_to_names():
    for problem in load_dataset("open_small", "test"):
        other = renamed(problem, random.Random(1))
        assert anonymous(other.text) == anonymous(problem.text)
        assert other.family == problem.family
        assert not set("abcdefg") & {s.name for s in other.equation.coefficients}


def test_a_letter_is_rescaled_alike_wherever_it_stands():
    other = rescaled(CUBIC, random.Random(2))
    scaled = re.findall(r"\((-?\d+)\*([a-z])\)", other.text)
    assert len(scaled) == 4 and len(set(scaled)) == 2  # a and b, twice each
    assert all(11 <= abs(int(scale)) <= 100 for scale, _ in scaled)
    assert re.sub(r"\(-?\d+\*([a-z])\)", r"\1", other.text) == CUBIC.text


def test_a_compound_stands_wherever_its_letter_stood():
    other = compound(CUBIC, random.Random(3))
    assert other.text == "(q/s)*x**3 + 3*exp(r)*x**2 + exp(r)**2*x/(3*(q/s)) + exp(x)*E = 0"


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("index", [0, 20, 30, 40])
def test_variants_can_still_be_solved(index, name):
    """Large constants may leave no room for a step unless they are relabeled first."""
    problem = VARIANTS[name](load_dataset("open_small", "test")[index], random.Random(0))
    env = Env([problem], EnvConfig(terms="blocks"))
    env.reset(options={"index": 0})
    assert textbook.solve(env, relabel=True)


def test_the_report_counts_each_variant():
    def policy(observations):
        """Subtracts the constant, then divides by the first factor."""
        log_probs = []
        for o in observations:
            ops = [action.op for action in o.actions]
            log_probs.append(-1.0 * np.array([{"div": 1, "sub": 2}.get(op, 3) for op in ops]))
        return log_probs, np.zeros(len(observations))

    problems = [Problem("a*x = 0", "one"), Problem("exp(x) = a", "two")]
    report = generalisation(policy, problems, EnvConfig(terms="blocks", max_steps=3))
    assert report["n"] == 2
    for name in ("original", *VARIANTS):
        assert report[name] == [1, 2]
        assert report["by_family"]["one"][name] == [1, 1]
        assert report["by_family"]["two"][name] == [0, 1]
