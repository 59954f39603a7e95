"""The bundled sets: no leaks, right labels, solvable, and the same bytes every time."""

import os
import random
import re
import subprocess
import sys
from collections import Counter, deque
from pathlib import Path

import pytest
from sympy import Symbol, cos, exp, log, preorder_traversal, sin

from abel.datasets import (
    DatasetError,
    Problem,
    construct,
    decisions,
    generate,
    load_dataset,
    templates,
    textbook,
)
from abel.datasets import load as datasets
from abel.datasets.classes import canonical_key
from abel.datasets.construct import construct_root, proved_root
from abel.datasets.decisions import USUAL, Decisions, decisions_for
from abel.datasets.textbook import has_route
from abel.env import Env, EnvConfig
from abel.equation import Equation, X
from abel.operations.detector import exponential_rate
from abel.operations.let import occurrences
from abel.parse import ParseError, parse
from abel.rewrite import coefficients, difference, expand
from abel.transforms import unwind
from abel.verify import verify_root

ROOT = Path(__file__).parent.parent
SIZES = {  # train, held-out
    "abel_level1": (16, 1), "small": (1000, 100), "large": (10000, 1000),
    "poesia": (1000, 200), "poesia_numeric": (1000, 200),
    "quadratic": (2000, 200), "cubic": (2000, 200),
    "quartic": (2000, 200), "exponential": (2000, 200),
    "open_small": (916, 91), "open_large": (10000, 1000), "cov_large": (8000, 800),
    "open_wild": (1266, 551),
    "open_wild_more": (360, 189),
    "open_wild_plain": (800, 420),
    "open_wild_quartic": (120, 63),
}  # fmt: skip
QUICK = (
    "abel_level1",
    "abel_level2",
    "abel_level3",
    "small",
    "poesia",
    "poesia_numeric",
    "open_small",
)


def key_of(text):
    return canonical_key(parse(text))


def sample(problems, count, seed=0):
    return random.Random(seed).sample(problems, min(count, len(problems)))


def run(*args, **env):
    return subprocess.run(
        [sys.executable, "-m", "abel.datasets", *map(str, args)],
        cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True,
    )  # fmt: skip


# ---- Classes ----


def test_key_sees_neither_names_nor_factors_nor_sides():
    same = [
        "a*x + b = 0", "b*x + a = 0", "b*x = -a", "-3*a*x - 3*b = 0", "q*(u*x + t)/2 = 0",
        "g = -f*x", "a*x*c + b*c",
    ]  # fmt: skip
    assert len(set(map(key_of, same))) == 1


def test_key_tells_equations_apart():
    different = [
        "a*x + b", "a*x - b", "a*x + 2*b", "x + a", "x - a", "2*x + a", "x + 1", "x + 2", "a/x + b",
        "x**2 + a", "x**2 + a*x", "x**2 + a*x + b", "x**2 + a*x + a", "a*c*x + b**2",
        "sin(x) + a", "cos(x) + a", "sqrt(x) + a", "exp(x) + a", "log(x) + a", "sin(a*x) + b",
        "sin(a*x) + a", "sin(x + a) + b", "sin(x - a) + b", "(a*x + b)/(c*x + a) + b",
        "(a*x + b)/(c*x + a) + c", "(a*x + b)/(c*x + a) + a",
    ]  # fmt: skip
    assert len(set(map(key_of, different))) == len(different)


def test_key_is_invariant_under_random_renaming_scaling_and_expanding():
    rng = random.Random(7)
    for problem in sample(
        load_dataset("large", "heldout") + load_dataset("open_large", "heldout"), 150
    ):
        equation = problem.equation
        names = dict(zip(equation.coefficients, map(Symbol, rng.sample("abcdefghklmnpq", 7))))
        factor = rng.choice([-1, 3, Symbol("z"), -2 / Symbol("z")])
        side = difference(equation.lhs, equation.rhs).xreplace(names)
        assert canonical_key(Equation(factor * side)) == canonical_key(equation), problem
        assert canonical_key(Equation(expand(side))) == canonical_key(equation), problem


# ---- Splits ----


@pytest.mark.parametrize("name", datasets.NAMES)
def test_sizes_and_splits(name):
    parts = {split: load_dataset(name, split) for split in datasets.SPLITS}
    if name in SIZES:
        assert (len(parts["train"]), len(parts["heldout"])) == SIZES[name]
    assert len(parts["val"]) == round(0.3 * len(parts["heldout"]))
    assert sorted(map(str, parts["val"] + parts["test"])) == sorted(map(str, parts["heldout"]))
    assert parts["all"] == parts["train"] + parts["heldout"]
    texts = [problem.text for problem in parts["all"]]
    assert len(set(texts)) == len(texts)


def test_validation_is_the_paper_split_with_seed_42():
    heldout = load_dataset("open_small", "heldout")
    order = list(range(91))
    random.Random(42).shuffle(order)
    assert load_dataset("open_small", "val") == [heldout[i] for i in sorted(order[:27])]
    assert len(load_dataset("open_small", "test")) == 64  # as in the paper


def test_composition_of_open_sets():
    small = Counter(problem.family for problem in load_dataset("open_small", "train"))
    levels = {"abel_level1": 16, "abel_level2": 100, "abel_level3": 200}
    assert small == {**dict.fromkeys(datasets.FAMILIES, 150), **levels}
    heldout = Counter(problem.family for problem in load_dataset("open_small", "heldout"))
    assert heldout == {
        **dict.fromkeys(datasets.FAMILIES, 15),
        **{"abel_level1": 1, "abel_level2": 10, "abel_level3": 20},
    }  # fmt: skip
    large = Counter(problem.family for problem in load_dataset("open_large", "heldout"))
    assert large == dict.fromkeys((*datasets.FAMILIES, "abel_level3"), 200)


def leaks(names, most):
    """Held-out equations whose class is in training, of any of the sets, or twice in held-out.

    At most so many training equations of a set are looked at, evenly spread.
    """
    trained, found = {}, []
    for name in names:
        problems = load_dataset(name, "train")
        some = problems[:: 1 + len(problems) // most]
        trained.update((canonical_key(p.equation), p) for p in some)
    for name in names:
        seen = {}
        parts = ["heldout", *datasets.EXTRA_SPLITS.get(name, ())]
        for problem in (p for part in parts for p in load_dataset(name, part)):
            key = canonical_key(problem.equation)
            found += [(problem, other[key]) for other in (trained, seen) if key in other]
            seen[key] = problem
    return found


def test_no_heldout_equation_is_a_renaming_or_multiple_of_another():
    assert leaks(["abel_level1", "abel_level2", "open_small"], 1000) == []


@pytest.mark.slow
def test_no_leak_within_or_between_any_sets(times):
    assert leaks(datasets.NAMES, 500 * times) == []


def test_template_split_has_templates_of_its_own():
    assert len(templates.TEMPLATES) >= 80
    reserved = [
        t for n, group in enumerate(generate.template_groups()) if n % 8 == 7 for t in group
    ]
    assert 10 < len(reserved) < 20
    common = {shape(t) for t in templates.TEMPLATES if t not in reserved}
    for name in datasets.POESIA:
        drawn = load_dataset(name, "templates")
        assert len(drawn) == 50
        assert all(shape(problem.text) in set(map(shape, reserved)) - common for problem in drawn)
        assert not any(
            shape(p.text) in set(map(shape, reserved)) - common for p in load_dataset(name, "train")
        )


def shape(text):
    """The text with every coefficient written `?`, whatever its sign."""
    text = re.sub(r"-?[0-9]+|-?[A-Za-wyz]", "?", text.replace("- ", "+ "))
    return text.replace("(?)", "?").replace(" ", "")


# ---- What the equations are ----


def classify(equation):
    """The family, from the equation alone."""
    side = expand(difference(equation.lhs, equation.rhs))
    coeffs = coefficients(side)
    if exponential_rate(side) is not None:
        return "exponential"
    degree = 0 if coeffs is None else len(coeffs) - 1
    if degree in (2, 3, 4) and coeffs[-2] != 0 and sum(map(X.__eq__, preorder_traversal(side))) > 1:
        factored = sum(map(X.__eq__, preorder_traversal(equation.lhs))) == 1
        return "closed" if factored else ("quadratic", "cubic", "quartic")[degree - 2]
    return "closed"


@pytest.mark.parametrize("name", ["open_small", "cov_large"])
def test_open_family_labels_are_right(name):
    for problem in sample(load_dataset(name, "all"), 400):
        family = problem.family if problem.family in datasets.FAMILIES else "closed"
        assert classify(problem.equation) == family, problem


def built(steps):
    """What so many steps make of x, by writing it down and reading it."""
    texts = ["x"]
    for _ in range(steps):
        texts = [
            template.replace("u", f"({text})")
            for text in texts
            for template in [
                *[f"u {sign} {term}" for sign in "+-*/" for term in "abc"],
                *["u^2", "u^(1/2)", "exp(u)", "log(u)", "sin(u)", "cos(u)"],
            ]
        ]
    return {parse(text).lhs for text in texts if parse_or_none(text)}


def parse_or_none(text):
    try:
        return parse(text)
    except ParseError:
        return None


def test_levels_count_the_steps_from_x():
    one, two = built(1), built(2)
    assert {p.equation.lhs for p in load_dataset("abel_level1", "all")} == one - {exp(X)}
    assert {p.equation.lhs for p in load_dataset("abel_level2", "all")} < two - one
    assert set(generate.expressions(2)) == two - one - {X}


def test_levels_have_the_known_sizes():
    solvable = [expr for expr in generate.expressions(1) if construct_root(Equation(expr))]
    assert len(solvable) == 17 and exp(X) not in solvable  # exp(x) = 0 has no root
    assert {sin(X), cos(X), log(X), X**2, X + Symbol("a"), X / Symbol("c")} < set(solvable)
    assert len(generate.expressions(2)) == 286


def test_labels_of_closed_sets():
    for problem in sample(load_dataset("large", "all"), 300):
        fraction = problem.family == "rational"
        assert fraction == (occurrences(problem.equation.lhs, X) == 2), problem
        letters = {symbol.name for symbol in problem.equation.coefficients}
        assert letters <= set("abc")
    assert all(p.equation.coefficients for p in sample(load_dataset("poesia", "all"), 100))
    assert not any(
        p.equation.coefficients for p in sample(load_dataset("poesia_numeric", "all"), 100)
    )


def test_every_sampled_equation_has_a_proved_root():
    for name in QUICK:
        for problem in sample(load_dataset(name, "all"), 12):
            assert construct_root(problem.equation), problem


# The others are drawn with routes of their own scripts (test_wild, test_world).
NOT_WILD = [name for name in datasets.NAMES if not name.startswith(("open_wild", "open_world"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_WILD)
def test_many_equations_have_a_proved_root(name, times):
    for problem in sample(load_dataset(name, "all"), 50 * times, seed=1):
        assert construct_root(problem.equation), problem


def search_without_cov(equation, max_forms):
    """Breadth first over the closed actions: whether a root is proved within `max_forms` forms."""
    env = Env([equation], EnvConfig(cov="off"))
    env.reset(options={"index": 0})
    seen, queue = {env.form}, deque([(env.form, ())])
    while queue and len(seen) < max_forms:
        form, stack = queue.popleft()
        for action in env.cache.observe(form, False).actions:
            successor, transform = env.cache.successor(form, action)
            if successor in seen:
                continue
            seen.add(successor)
            longer = stack if transform is None else (*stack, transform)
            if successor.solved_form and env.cache.verdict(equation, unwind(longer, successor.rhs)):
                return True
            queue.append((successor, longer))
    return False


def check_openness(num_each, max_forms):
    for family in datasets.FAMILIES:
        for problem in sample(load_dataset(family, "all"), num_each):
            assert has_route(problem.equation), problem
            assert not has_route(problem.equation, "route without cov"), problem
            assert not search_without_cov(problem.equation, max_forms), problem


def test_open_equations_need_a_change_of_variables_and_then_have_a_route():
    assert search_without_cov(parse("a*x + b"), 300)
    check_openness(num_each=3, max_forms=200)


@pytest.mark.slow
def test_many_open_equations_need_a_change_of_variables():
    check_openness(num_each=6, max_forms=600)


@pytest.mark.parametrize("text", ["a*x^2 + b*x + c", "x^2 + 2*b*x", "x^3 + 3*b*x^2 + 3*b^2*x + c"])
def test_the_classifier_knows_open_equations(text):
    assert classify(parse(text)) == ("cubic" if "3" in text else "quadratic")


# ---- The same bytes every time ----


def test_small_sets_regenerate_byte_for_byte_under_another_hash_seed(tmp_path, capsys):
    done = run("--name", "abel_level2", "--check", PYTHONHASHSEED="1")
    assert (done.returncode, done.stdout) == (0, "abel_level2: identical\n"), done.stderr
    assert datasets.main(["--name", "abel_level1", "--out", str(tmp_path)]) == 0
    for part in ("train", "heldout"):
        file = f"abel_level1.{part}.txt"
        assert (tmp_path / file).read_bytes() == (datasets.FOLDER / file).read_bytes()
    (tmp_path / "abel_level1.train.txt").write_text("abel_level1\tx = 1\n")
    assert datasets.main(["--name", "abel_level1", "--check", "--out", str(tmp_path)]) == 1
    assert "abel_level1.train.txt differs from line 1 on" in capsys.readouterr().out


def test_drawing_is_deterministic():
    draw = generate.family_draft.__wrapped__
    first, second = (draw("quadratic", Decisions(3), 12, 4) for _ in range(2))
    assert first == second


def test_what_was_decided_when_the_sets_were_drawn_stays_decided():
    """More is proved by the day; the bundled sets, and their counts, do not move with it."""
    later = Equation(cos(cos(log(X))))
    assert construct_root(later) is not None
    frozen, found = decisions_for(0), Decisions(0)
    assert proved_root(later, frozen) == "none"
    assert proved_root(later, found) == "everywhere"
    assert not any("cos(cos(log(x))) = 0" in p.text for p in load_dataset("abel_level3", "all"))


def test_decisions_are_found_where_none_are_written_down(monkeypatch):
    def never(*args):
        raise AssertionError("proved anew")

    assert proved_root(parse("exp(x) = 0"), Decisions(1)) == "none"
    monkeypatch.setattr(construct, "construct_root", never)
    monkeypatch.setattr(textbook, "has_route", never)
    assert generate.generate("abel_level2", decisions_for(0))
    with pytest.raises(AssertionError, match="proved anew"):
        proved_root(parse("x = a"), Decisions(1))


def test_decisions_are_written_as_they_are_read(tmp_path):
    """Found anew, the answers of a small set are those in the file: only the unusual ones."""
    out = tmp_path / "decisions.txt"
    assert datasets.main(["--decide", "--name", "abel_level2", "--out", str(out)]) == 0
    frozen = (datasets.FOLDER / "decisions.seed0.txt").read_text(encoding="utf-8").splitlines()
    lines = out.read_text(encoding="utf-8").splitlines()
    assert set(lines) <= set(frozen) and lines[:7] == frozen[:7]
    assert "root\tnone\texp(x) = 0" in lines and "root\tconditional\ta + sqrt(x) = 0" in lines
    body = [line.split("\t") for line in frozen if not line.startswith("#")]
    assert all(question in USUAL and answer != USUAL[question] for question, answer, _ in body)


def test_decisions_of_another_generator_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(decisions, "FOLDER", tmp_path)
    (tmp_path / "decisions.seed77.txt").write_text("# abel decisions, generator version 0, seed 77")
    assert datasets.main(["--name", "abel_level1", "--seed", "77", "--out", str(tmp_path)]) == 2
    assert "write it anew" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["abel_level3", "poesia_numeric"])
def test_larger_sets_regenerate_byte_for_byte(name):
    """All sets: `python -m abel.datasets --name all --check`, about two minutes."""
    done = run("--name", name, "--check", PYTHONHASHSEED="2")
    assert done.returncode == 0, done.stdout + done.stderr


def test_bundled_files_say_what_they_are():
    for path in sorted(datasets.FOLDER.glob("*.txt")):
        if path.name.startswith(("schoolbook", "decisions")):  # by hand; no equations to solve
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        body = [line for line in lines if not line.startswith("#")]
        assert (
            lines[0] == f"# abel dataset {path.stem}, generator version {generate.VERSION}, seed 0"
        )
        assert lines[1].startswith(f"# {len(body)} equations: ")
        assert all(line.count("\t") == 1 for line in body)


# ---- Loading ----


def test_ten_thousand_equations_load_in_under_three_seconds():
    code = (
        "import sympy, time; start = time.perf_counter();"
        " from abel import load_dataset; n = len(load_dataset('open_large', 'train'));"
        " print(n, time.perf_counter() - start)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    count, seconds = done.stdout.split()
    assert int(count) == 10_000 and float(seconds) < 3


def test_problems_are_values():
    problem = load_dataset("abel_level1", "heldout")[0]
    assert problem == Problem(problem.text, "abel_level1") and problem.family == "abel_level1"
    with pytest.raises(AttributeError):
        problem.text = "x = 1"


def test_a_path_works_wherever_a_name_does(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("# mine\n\nlinear\ta*x + b = 0\nx^2 = 4\n")
    problems = load_dataset(path, "all")
    assert problems == [Problem("a*x + b = 0", "linear"), Problem("x^2 = 4")]
    assert problems[0].equation == parse("a*x + b")
    for split in datasets.SPLITS:  # too small to be split
        assert load_dataset(str(path), split) == problems


def test_a_file_of_some_size_is_split_without_leaks(tmp_path):
    path = tmp_path / "mine.txt"
    lines = [
        f"{n}*{letter}*x + {other} = 0" for n in range(2, 32) for letter, other in ("ab", "cd")
    ]
    path.write_text("\n".join(lines))
    train, val, test = (load_dataset(path, split) for split in ("train", "val", "test"))
    assert len(train) == 48 and len(val) + len(test) == 6 and val and test
    keys = [{canonical_key(p.equation) for p in part} for part in (train, val, test)]
    assert not (keys[0] & keys[1] or keys[0] & keys[2] or keys[1] & keys[2])
    assert train == load_dataset(path, "train")


def test_a_file_too_small_to_be_split_says_so_once(tmp_path, capsys):
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    small.write_text("x + a = 0\nx + b = 0\nx^2 = a\n")
    large.write_text("".join(f"x^{n} = a\n" for n in range(1, 11)))
    for name in (small, large):
        assert load_dataset(name, "train") and not capsys.readouterr().err
    for split in ("val", "test", "heldout"):
        assert load_dataset(small, split) == load_dataset(small, "train")
    assert capsys.readouterr().err == (
        f"note: '{small}' has fewer than 10 different equations and is not split: what is trained"
        " on is validated and tested on, too\n"
    )
    assert load_dataset(large, "heldout") and not capsys.readouterr().err


def test_two_files_are_two_splits(tmp_path):
    (tmp_path / "mine.train.txt").write_text("x = 1\nx = 2\n")
    (tmp_path / "mine.heldout.txt").write_text("".join(f"x + a = {n}\n" for n in range(10)))
    for name in ("mine", "mine.txt", "mine.train.txt", "mine.heldout.txt"):
        path = tmp_path / name if name != "mine.txt" else tmp_path / "mine"
        assert [len(load_dataset(path, split)) for split in datasets.SPLITS] == [2, 3, 7, 10, 12]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("x = 1\na*y + = 3\n", 2, "expected"),
        ("x = 1\n\n# a note\nlinear\ta + b = 0\n", 4, "no x"),
        ("linear\t\n", 1, "cannot read"),
        ("__import__('os').system('id')\n", 1, "unexpected character"),
        ("f\tx = 1\tx = 2\n", 1, ""),
    ],
)
def test_a_malformed_line_names_file_line_and_reason(tmp_path, content, line, reason):
    path = tmp_path / "bad.txt"
    path.write_text(content)
    with pytest.raises(DatasetError) as caught:
        load_dataset(path, "all")
    assert f"{path}, line {line}: " in str(caught.value) and reason in str(caught.value)


def test_bad_datasets_are_refused_clearly(tmp_path):
    with pytest.raises(DatasetError, match=r"known datasets: abel_level1, .*open_small"):
        load_dataset("no_such_set", "train")
    with pytest.raises(DatasetError, match=r"unknown split 'training'.*known: train, val"):
        load_dataset("small", "training")
    with pytest.raises(DatasetError, match="unknown split"):
        load_dataset("small", "templates")
    with pytest.raises(TypeError):
        load_dataset(3, "train")
    empty = tmp_path / "empty.txt"
    empty.write_text("# nothing\n\n")
    with pytest.raises(DatasetError, match="has no equations"):
        load_dataset(empty, "all")
    with pytest.raises(DatasetError, match="cannot read"):
        load_dataset(tmp_path, "all")
    empty.write_bytes(b"x = 1\n\xff\xfe\n")
    with pytest.raises(DatasetError, match="cannot read"):
        load_dataset(empty, "all")


# ---- Templates and the command line ----


def test_draws_keep_the_signs_readable():
    rng = random.Random(0)
    for template in templates.TEMPLATES:
        for letters in (False, True):
            text = templates.draw(template, rng, letters)
            assert "+ -" not in text and "- -" not in text and "*-" not in text
            assert letters != any(char.isdigit() for char in text)


def test_conpole_templates_are_drawn(tmp_path):
    source, out = tmp_path / "templates.txt", tmp_path / "drawn.txt"
    source.write_text("((-1) + 2x) = (3x + (-4))\n(1x - -2x) = 3\n! 5x = 15\n")
    assert datasets.main(["--templates", str(source), "--count", "60", "--out", str(out)]) == 0
    problems = load_dataset(out, "all")
    assert len(problems) == 60 and {p.family for p in problems} == {"conpole"}
    literal = [p for p in problems if p.text == "5x = 15"]
    assert 10 < len(literal) < 30
    numbers = {
        int(n) for p in problems if p not in literal for n in templates.NUMBER.findall(p.text)
    }
    assert numbers <= set(range(-10, 11)) - {0} and len(numbers) > 15
    again = tmp_path / "again.txt"
    assert datasets.main(["--templates", str(source), "--count", "60", "--out", str(again)]) == 0
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize(
    "args",
    [
        ["--name", "nothing"],
        [],
        ["--templates", "/no/such/file", "--out", "/no/such/out.txt"],
        ["--templates", __file__],
        ["--stats"],
        ["--templates", __file__, "--count", "0", "--out", "/no/such/out.txt"],
    ],
)
def test_bad_arguments_exit_with_2_and_one_line(args, capsys):
    assert datasets.main(args) == 2
    output = capsys.readouterr()
    assert output.out == "" and output.err.startswith("error: ") and output.err.count("\n") == 1


def test_templates_without_solutions_are_an_error(tmp_path, capsys):
    source = tmp_path / "none.txt"
    source.write_text("1 = 2\n")
    assert (
        datasets.main(["--templates", str(source), "--count", "2", "--out", str(tmp_path / "o")])
        == 2
    )
    assert "have a solution" in capsys.readouterr().err


def test_sets_joined_by_plus_are_loaded_together_and_equal_lines_once():
    both = load_dataset("abel_level1+abel_level2", "train")
    assert both == load_dataset("abel_level1", "train") + load_dataset("abel_level2", "train")
    assert load_dataset("poesia+poesia", "val") == load_dataset("poesia", "val")
    with pytest.raises(DatasetError, match="nowhere"):
        load_dataset("small+nowhere")


def test_the_schoolbook_knows_its_answers():
    problems = datasets.read(datasets.FOLDER / "schoolbook.txt")
    answers = (datasets.FOLDER / "schoolbook.answers.txt").read_text().splitlines()[1:]
    assert len(problems) == len(answers) == 100
    for problem, answer in zip(problems, answers):
        assert verify_root(problem.equation, answer), f"{problem.text}: {answer}"


@pytest.mark.parametrize("name", ["poesia", "poesia_numeric"])
def test_draws_of_our_own_templates_are_not_in_training_and_come_once(tmp_path, name):
    out = tmp_path / "drawn.txt"
    assert datasets.main(["--templates", name, "--count", "80", "--out", str(out)]) == 0
    texts = [problem.text for problem in load_dataset(out, "all")]
    assert len(set(texts)) == 80
    assert not set(texts) & {problem.text for problem in load_dataset(name, "train")}
