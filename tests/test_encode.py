"""Token trees: hand-worked encodings, and a vocabulary without collisions."""

import pytest

from abel import Env, EnvConfig, parse
from abel.encode import ROLE, TOKENS, VOCAB, encode
from abel.equation import complexity
from abel.parse import parse_expression


def tokens(text: str, constants: str) -> list[str]:
    equation = parse(text)
    return [TOKENS[t] for t in encode(equation.lhs, equation.rhs, constants).tokens]


def test_complexity_is_the_papers():
    assert complexity(parse("a*x + b").lhs) == 9 == parse("a*x + b = 0").complexity
    assert complexity(parse("a*x^2 + b*x + c").lhs) == 19 == parse("a*x^2 + b*x + c").complexity


def test_no_two_tokens_share_an_id():
    assert len(set(TOKENS)) == len(TOKENS) == len(VOCAB)
    assert VOCAB["<pad>"] == 0


def test_blocks_hide_constants():
    assert tokens("2*a*b*x + c + d = 0", "blocks") == [
        "=",
        "Add",
        "<const>",
        "Mul",
        "<const>",
        "x",
        "0",
    ]
    assert tokens("-x^2 = a + b", "blocks") == ["=", "Mul", "-1", "Pow", "x", "2", "<const>"]
    assert tokens("sqrt(x) = 1", "blocks") == ["=", "Pow", "x", "1/2", "1"]


def test_repeats_mark_blocks_that_occur_again():
    again = "<constant>"
    assert tokens("a*x^2 + b*x + a = 0", "repeats").count(again) == 2
    assert tokens("a*x^2 + b*x + c = 0", "repeats") == tokens("a*x^2 + b*x + c = 0", "blocks")
    assert tokens("a*x^2 = -3*a", "repeats") == ["=", "Mul", again, "Pow", "x", "2", again]
    assert tokens("5*x^2 = 5", "repeats") == ["=", "Mul", again, "Pow", "x", "2", again]
    # Numbers count if they are equal; 0, 1, -1 and numeric exponents have tokens of their own.
    assert again not in tokens("5*x^2 + 7*x^2*log(x) = 10", "repeats")
    assert again not in tokens("x^2 + x^2*log(x) = 1", "repeats")


def test_raw_renames_constants_by_order_of_appearance():
    renamed = ["=", "Add", "<constant 0>", "Mul", "<constant 1>", "x", "0"]
    for text in ("a*x + b", "g*x + c", "alpha*x + beta_2"):
        assert tokens(text, "raw") == renamed


def test_letters_are_the_papers_ids():
    assert tokens("a*x + b", "letters") == ["=", "Add", "b", "Mul", "a", "x", "0"]
    assert tokens("alpha*x + E", "letters") == ["=", "Add", "E", "Mul", "<name>", "x", "0"]


@pytest.mark.parametrize("constants", ["blocks", "repeats", "raw", "letters"])
def test_every_occurrence_has_its_node_and_parents_come_first(constants):
    equation = parse("sin(a*x) + (a*x + b)/(a*x + c) = log(x)^2 - 7/3*pi")
    tree = encode(equation.lhs, equation.rhs, constants)
    assert tree.parents[0] == -1 and all(0 <= p < i for i, p in enumerate(tree.parents) if i)
    assert (tree.tokens == VOCAB["x"]).sum() == 4
    assert tree.roles[0] == ROLE["root"] and (tree.roles == ROLE["lhs"]).sum() == 1


def test_numbers_outside_the_table_keep_their_kind_and_sign():
    assert (
        tokens("x = 99", "raw")[-1] == "<integer>" and tokens("x = -99", "raw")[-1] == "<-integer>"
    )
    assert tokens("x = 22/7", "raw")[-1] == "<rational>" and tokens("x = -5", "raw")[-1] == "-5"


def test_equal_subtrees_have_equal_hashes_and_different_ones_different():
    equation = parse("sin(a*x + b) + log(c*x + d) = x*sin(a + x*b)")
    tree = encode(equation.lhs, equation.rhs, "blocks")
    by_hash = {}
    for i in range(len(tree.tokens)):
        by_hash.setdefault(int(tree.subtrees[i]), set()).add(written(tree, i))
    assert all(len(texts) == 1 for texts in by_hash.values())
    assert len({text for texts in by_hash.values() for text in texts}) == len(by_hash)
    assert len(by_hash) < len(tree.tokens)


def written(tree, i: int) -> str:
    below = sorted(written(tree, j) for j in range(len(tree.parents)) if tree.parents[j] == i)
    return f"{tree.tokens[i]}.{tree.roles[i]}({','.join(below)})"


def test_many_constants_share_the_last_token():
    names = "+".join(f"k{i}*sin({i + 2}*x)" for i in range(20))
    assert "<constant>" in tokens(names, "raw")


@pytest.mark.parametrize("constants", ["blocks", "raw", "letters"])
@pytest.mark.parametrize("terms", ["all", "blocks"])
def test_every_term_points_at_a_node(constants, terms):
    env = Env(
        ["(a + b)*x/2 + 3*(c*x + d)*(a*x+b)/(x + a*b)"], EnvConfig(constants=constants, terms=terms)
    )
    observation, _ = env.reset()
    for action, node in zip(observation.actions, observation.action_nodes):
        assert (node > 0) == (action.term is not None)
        assert node < len(observation.tokens)


def test_a_term_points_at_the_first_block_that_has_it():
    equation = parse("(a + b)*x + sin(a*x) = a")
    a, block = parse_expression("a"), parse_expression("a + b")
    tree = encode(equation.lhs, equation.rhs, "blocks", [a, block])
    assert tree.node_of[a] == tree.node_of[block] == 3  # =, Add, Mul, then the block
    raw = encode(equation.lhs, equation.rhs, "raw", [a, block])
    assert raw.node_of[a] > raw.node_of[block]  # taken apart, it has nodes of its own below
