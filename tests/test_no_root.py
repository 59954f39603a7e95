"""Equations without a root are told from others by sizes that are certain; the fall-back."""

import numpy as np
import pytest

from abel import parse
from abel.env import EnvConfig
from abel.roots import other_branch, why_no_root
from abel.search import greedy


@pytest.mark.parametrize(
    "text",
    ["sqrt(x) = -2", "exp(x) = 0", "3^(x + 2) = 0", "csc(x) = 0", "tanh(x) = 1", "atan(x) = 2",
     "atan(x) = pi/2", "abs(x - 1) = -1", "abs(x) = I", "x^(3/5) + 1 = 0", "tan(x) = I",
     "log(x) = 4*I", "acos(x) = -1", "log(sqrt(x) + 2) = 0", "sqrt(sqrt(x) + 3) = 1",
     "1/(1 - x^3)^2 = 0", "x^(-1/2) = -1", "exp(x)*log(exp(x) + 1)/x = 0", "coth(x) = 1",
     "1/(x^2 - 4) + x = x", "sqrt(x) = -1 - I/10^60"],
)  # fmt: skip
def test_no_root_is_said_with_a_reason(text):
    assert why_no_root(parse(text)).startswith("there is no root: ")


@pytest.mark.parametrize(
    "text",
    ["sqrt(x) = 2", "sqrt(x) = I", "sqrt(x) = -I", "sqrt(x) = 1/10^60 - I", "exp(x) = 1", "x^2 = 4",
     "log(x) = I*pi", "log(x) = -3*I", "log(x) = 3 + 3*I", "acos(x) = 0", "acos(x) = pi",
     "asin(x) = -pi/2", "asin(x) = pi/2 - I", "x*exp(x) = 0", "abs(x) = 0", "abs(x - 1) = 3",
     "tan(x) = 2*I", "x^(2/3) = 4", "x^(3/2) + 4 = 0", "1/x = 3", "sqrt(x) = a", "abs(x) = -a",
     "atan(x) = pi/2 - 1/10^60", "atan(x) = 1 + 5*I", "x^(1/3) = 1 + I", "(x - 1)*exp(x) = 0",
     "sqrt(sqrt(x) + 3) = 2", "tanh(x) = 2", "a^x = b"],
)  # fmt: skip
def test_equations_with_a_root_are_never_said_to_have_none(text):
    assert why_no_root(parse(text)) == ""


def test_identities_are_said_to_be_such():
    for text in ("sin(x)^2 + cos(x)^2 = 1", "tan(x)*cot(x) = 1"):
        assert why_no_root(parse(text)) == "every x for which it is defined is a root"
    assert why_no_root(parse("sin(x)^2 + cos(x)^2 = x")) == ""


def test_where_the_first_root_is_none_another_branch_is_followed():
    """The root 2 that the principal square root leads to is a pole."""
    equation, order = parse("x^2/(x - 2) = 4/(x - 2)"), ("mul x - 2", "sqrt")

    def policy(observations):
        rows = [[-float((*order, str(a)).index(str(a))) for a in o.actions] for o in observations]
        return [np.array(row) for row in rows], np.zeros(len(rows))

    config = EnvConfig(max_steps=6)
    cache = config.new_cache()

    def decode(asked, state):
        return greedy(policy, [asked], config, cache, starts=[state])[0]

    solution = greedy(policy, [equation], config, cache)[0]
    assert not solution.solved
    found = other_branch(solution, decode, config, cache)
    assert found.root == -2 and found.verdict and "times -1" in found.how[0]
