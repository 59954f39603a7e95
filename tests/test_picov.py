"""The learned generator: its grammar, what it sees, what it answers, and that it may be trusted."""

import random

import numpy as np
import pytest
import torch
from sympy import Integer, Symbol, exp, log, sin, symbols

from abel import Env, EnvConfig, parse
from abel.datasets.textbook import solve
from abel.numeric import is_zero
from abel.operations import propose
from abel.operations.relabel import relabel
from abel.parse import parse_expression
from abel.picov.__main__ import run
from abel.picov.exactness import heldout_equations, same
from abel.picov.grammar import (
    COLUMN,
    MAX_LENGTH,
    NUM,
    Example,
    build,
    draw_equations,
    legal_columns,
    teach,
    view_of,
)  # fmt: skip
from abel.picov.network import (
    LearnedGenerator,
    PiCov,
    cloning_loss,
    load_generator,
    write_program,
)  # fmt: skip

x, a, b, c, k = symbols("x a b c k")
ZERO = Integer(0)


def columns(text: str) -> tuple[int, ...]:
    """COPY2 is the third block."""
    words = text.split()
    return tuple(
        NUM + int(word.removeprefix("COPY")) if "COPY" in word else COLUMN[word] for word in words
    )


def names(mask: np.ndarray) -> set[str]:
    listed = [*COLUMN, *(f"COPY{j}" for j in range(len(mask) - NUM))]
    return {name for name, legal in zip(listed, mask) if legal}


def test_the_papers_example_is_written_in_prefix_order():
    assert build(columns("SUB X DIV COPY0 MUL INT2 COPY1"), (b, a)) == x - b / (2 * a)
    assert build(columns("DIV LOG X COPY0"), (k,)) == log(x) / k
    assert build(columns("NONE"), ()) is None


def test_what_is_no_substitution_is_none():
    assert build(columns("SUB X X"), ()) is None
    assert build(columns("DIV X SUB INT2 INT2"), ()) is None
    assert build(columns("MUL X INT1"), ()) is None
    assert build(columns("ADD X LOG SUB INT1 INT1"), ()) is None


def test_arities_end_a_program_and_masks_keep_it_valid():
    assert names(legal_columns((), 1)) == set(COLUMN) - {"X", "INT1", "INT2", "INT3", "INT4"}
    assert "NONE" not in names(legal_columns(columns("SUB"), 0))
    # x has not come yet, and this is the last slot.
    assert names(legal_columns(columns("DIV COPY0"), 1)) >= {"X", "LOG", "ADD"}
    assert not names(legal_columns(columns("DIV COPY0"), 1)) & {"COPY0", "INT2", "NONE"}
    assert not legal_columns(columns("LOG X"), 3).any()
    assert not legal_columns(columns("NONE"), 3).any()
    assert names(legal_columns(columns("LOG " * (MAX_LENGTH - 1)), 2)) == {"X"}


def test_every_program_that_the_masks_allow_ends_and_has_an_x():
    rng = np.random.default_rng(0)
    for text in ("a*x^2 + b*x + c", "exp(x) + exp(-x)", "x^5 = sin(x)"):
        view = view_of(*sides(text))
        for _ in range(100):
            program = ()
            while (mask := legal_columns(program, len(view.nodes))).any():
                program += (int(rng.choice(np.flatnonzero(mask))),)
            assert len(program) <= MAX_LENGTH
            assert not legal_columns(program, len(view.nodes)).any()
            assert program == columns("NONE") or COLUMN["X"] in program
        assert not legal_columns(write_program(untrained(), view), len(view.nodes)).any()


def untrained(seed: int = 0) -> PiCov:
    torch.manual_seed(seed)
    return PiCov(hidden=16, rounds=2)


def sides(text: str):
    equation = parse(text)
    return equation.lhs, equation.rhs


def test_letters_scales_and_shapes_of_coefficients_are_invisible():
    view = view_of(*sides("3*a*x^2 - 5*b*x = 2*c"))
    assert view.key == view_of(*sides("x*(b/d*x + sqrt(c)) + sin(g)^2")).key
    assert set(view.blocks) == {3 * a, -5 * b, -2 * c}
    assert view.key != view_of(*sides("x^2 - 5*b*x = 2*c")).key  # monic is seen
    assert view.key != view_of(*sides("3*a*x^3 - 5*b*x = 2*c")).key  # and so are powers


def test_opposite_rates_are_told_from_others():
    assert view_of(*sides("a*exp(k*x) + b*exp(-k*x)")).opposites
    assert not view_of(*sides("a*exp(k*x) + b*exp(-m*x)")).opposites


def test_the_teacher_writes_what_the_detector_proposes():
    for unseen in (False, True):
        for lhs, rhs in draw_equations(random.Random(5), 30, unseen):
            view = view_of(lhs, rhs)
            if view is None:
                assert propose(lhs, rhs) is None
                continue
            targets = teach(view)
            program = tuple(right[0] for right in targets)
            assert same(build(program, view.blocks), propose(lhs, rhs)), f"{lhs} = {rhs}"
            for step, right in enumerate(targets):
                mask = legal_columns(program[:step], len(view.nodes))
                assert all(mask[column] for column in right)


def test_the_loss_of_certain_right_answers_is_zero_and_of_uniform_ones_counts_the_legal():
    net = untrained()
    for layer in (net.next, net.query):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    view = view_of(*sides("x^5 + 1"))  # no blocks
    loss = cloning_loss(net, [Example(view, teach(view))])
    assert loss.item() == pytest.approx(np.log(legal_columns((), 0).sum()))
    net.next.bias.data[COLUMN["NONE"]] = 100.0
    assert cloning_loss(net, [Example(view, teach(view))]).item() == pytest.approx(0.0, abs=1e-6)


def test_packing_does_not_change_an_answer():
    net = untrained()
    views = [view_of(*sides(t)) for t in ("a*x^2 + b*x + c", "exp(k*x) = 3*exp(-k*x)", "x^3 = x^2")]
    examples = [Example(view, teach(view)) for view in views]
    steps = [len(example.targets) for example in examples]
    alone = [cloning_loss(net, [example]).item() for example in examples]
    together = cloning_loss(net, examples).item()
    assert together == pytest.approx(np.average(alone, weights=steps), rel=1e-5)


# ---- The bundled generator ----


@pytest.fixture(scope="module")
def generator():
    return load_generator()


@pytest.mark.parametrize(
    ("text", "phi"),
    [
        ("a*x^2 + 2*c*x + 5*d", "x - c/a"),
        ("7*h*x^2 - x = p", "x + 1/(14*h)"),
        ("x^3 + 3*b*x^2 + 3*b^2*x + c", "x - b"),
        ("-x^4 + 12*b*x^3 = c", "x + 3*b"),
        ("2*b*exp(x) + 2*d - 6*f*exp(-x)", "log(x)"),
        ("m*exp(5*x) + n*exp(-5*x) = sqrt(p)", "log(x)/5"),
        ("a*exp(k*x) + b*exp(-k*x) + c", "log(x)/k"),
        ("x*(2*b*x + 2*d - 6*f/x)", "x - d/(2*b)"),
    ],
)
def test_the_bundled_generator_knows_the_families(generator, text, phi):
    assert same(generator(*sides(text)), parse_expression(phi))


@pytest.mark.parametrize(
    "text",
    [
        "a*x + b", "a*x^2 + c", "sin(x) = a", "a*sin(x)^2 + b*sin(x) + c", "x^5 + a*x^4 + b",
        "2*b*x + 2*d - 6*f/x", "exp(2*x) + exp(x) = a", "sqrt(a*x + b) = c", "log(x)^2 = a*log(x)",
    ],
)  # fmt: skip
def test_where_nothing_helps_it_says_none(generator, text):
    assert generator(*sides(text)) is None


def test_it_agrees_with_the_detector_on_unseen_equations(generator):
    equations = heldout_equations("families", 80)
    assert all(same(generator(lhs, rhs), propose(lhs, rhs)) for lhs, rhs in equations)


def test_labels_are_copied_whole(generator):
    lhs, rhs, _ = relabel(3 * a * x**2 + 5 * b * x + c, ZERO)
    assert is_zero(generator(lhs, rhs) - propose(lhs, rhs))


def test_it_plays_in_the_environment_to_a_proved_root(generator):
    texts = ["3*a*x^2 - 5*b*x + 2*c", "2*b*exp(x) + 2*d - 6*f*exp(-x)"]
    env = Env(texts, EnvConfig(cov="learned", terms="blocks"), generator=generator)
    for index in range(len(texts)):
        env.reset(options={"index": index})
        assert solve(env)
        assert env.trace().replay()


def test_a_useless_substitution_cannot_prove_anything_wrong():
    config = EnvConfig(cov="learned", terms="blocks", max_cov=1, max_steps=5)
    for seed in range(5):
        generator = LearnedGenerator(untrained(seed))
        for text in ("a*x^2 + b*x", "a*x^3 = b", "exp(x) + exp(-x) = 3"):
            env = Env([text], config, generator=generator)
            env.reset()
            assert not solve(env) or env.trace().replay()


def test_answers_are_remembered_and_the_same_for_equal_views():
    generator = LearnedGenerator(untrained())
    generator(a * x**2 + b * x + c, ZERO)
    assert len(generator.programs) == len(generator.answers) == 1
    generator(Symbol("q") * x**2 + 7 * b * x + c, ZERO)
    assert len(generator.programs) == 1 and len(generator.answers) == 2


def test_constants_alone_and_oversized_equations_are_refused():
    assert view_of(a + exp(b), ZERO) is None
    assert view_of((a + b + sin(c) + x) ** 12, ZERO) is None


@pytest.mark.parametrize(
    "argv", [["--steps", "0"], ["--eval", "--out", "no/such/run"], ["--heldout", "-1"]]
)
def test_bad_input_is_one_line_and_exit_code_2(argv, capsys):
    assert run(argv) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_a_short_training_learns_and_is_written(tmp_path, capsys):
    out = tmp_path / "run"
    argv = ["--out", str(out), "--pool-size", "400", "--steps", "120", "--heldout", "50"]
    assert run([*argv, "--json", str(tmp_path / "r.json")]) == 0
    assert {p.name for p in out.iterdir()} == {"weights.pt", "args.json", "provenance.json"}
    assert load_generator(out)(sin(x) - a, ZERO) is None
