"""What people type: any letter as the unknown, characters as they are pasted, and what is printed
for 120 inputs of a new user.
"""

import json
import random
import re

import pytest
from sympy import Symbol, latex

import evaluate
from abel import Env, ParseError, Trace, parse, verify_root
from abel.certificate.command import claim_of
from abel.datasets import Problem, load_dataset, read_list
from abel.datasets.textbook import solve
from abel.equation import X, renamed
from abel.parse import parse_expression
from abel.roots import why_no_root
from abel.trace import main as check_trace
from tests import typed
from tests.recheck import check


def refusal(text: str, unknown: str | None = None) -> str:
    with pytest.raises(ParseError) as caught:
        parse(text, unknown)
    assert "\n" not in str(caught.value)
    return caught.value.reason


def solved_trace(text: str, unknown: str | None = None) -> Trace:
    env = Env([Problem(text, unknown=unknown)])
    env.reset()
    assert solve(env, False)
    return env.trace()


# ---- The unknown ----


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("3y + 2 = 5", "y"),
        ("12 = 4n", "n"),
        ("X^2 = 4", "X"),
        ("theta/2 = pi/6", "theta"),
        ("x_1 + x_1^2 = 3", "x_1"),
        ("v0 = 3*v0 + 1", "v0"),
        ("e^t = 5", "t"),
        ("2e = 4", "e"),
        ("sin(q) + q = E", "q"),
        ("a*x = b", "x"),
        ("x + y = 1", "x"),
    ],
)
def test_the_only_letter_is_the_unknown_and_x_is_if_it_is_there(text, unknown):
    equation = parse(text)
    assert equation.unknown == unknown
    assert equation == parse(text, unknown)
    assert equation.shown(equation.text) == text


@pytest.mark.parametrize("text", ["a*b = c", "foo = 3", "ax = 4", "a + e = b", "3 = 4"])
def test_where_there_are_several_letters_or_a_word_the_unknown_must_be_named(text):
    assert "has no x" in refusal(text)


def test_a_refusal_names_the_letters_to_choose_from():
    assert refusal("F = m*a").endswith(
        "it has F, m and a: choose one to solve for, such as --unknown a"
    )
    assert "E is Euler's number" in refusal("E = m*c^2")
    assert "did you mean a*x?" in refusal("ax + b = 0")
    assert refusal("F = m*a", "t").startswith("the equation has no t")
    assert refusal("3y = 1", "x").startswith("the equation has no x")
    assert "t cancels out" in refusal("t - t = a", "t")


@pytest.mark.parametrize(
    "name", ["pi", "E", "I", "sin", "2", "2t", "t + 1", "", "oo", "True", "\\t"]
)
def test_what_is_no_letter_cannot_be_the_unknown(name):
    with pytest.raises(ParseError):
        parse("a*t = b", name)


def test_x_and_the_unknown_change_places_and_back():
    equation = parse("a*t^2 + x*t = x/t", "t")
    t = Symbol("t")
    assert equation == parse("a*x^2 + t*x = t/x", "x")
    assert equation.text == "a*x^2 + t*x = t/x" and equation.unknown == "t"
    assert equation.coefficients == (Symbol("a"), t)
    assert equation.nonzero == (X,)
    assert equation.shown(X / t) == "t/x"
    assert equation.to_latex() == parse("a*x^2 + t*x = t/x").to_latex().translate(
        str.maketrans("xt", "tx")
    )


def test_names_change_places_but_numbers_and_longer_names_stay():
    text = "2e3x + ex*e + exp(e) + x_e + 0.5e - 1e-3 + sin(x)"
    assert renamed(text, "e") == "2e3e + ex*x + exp(x) + x_e + 0.5x - 1e-3 + sin(e)"
    assert renamed(renamed(text, "e"), "e") == text
    assert renamed(text, "x") == text


def test_e_as_the_unknown_is_no_base_of_exponentials():
    equation = parse("e^e = 4")
    assert equation.lhs == X**X and not equation.notes
    assert "x must be another letter" in refusal("x^e = 2", "e")
    assert "with t is Euler's number" in parse("e^t = 5").notes[0]


LETTERS = ["t", "a", "n", "e", "N", "theta", "v_0", "u", "h"]
FORMS = [  # x stands for the unknown, k for another letter
    "3x + 2 = 5",
    "k*x + 1 = 2/k",
    "x^2 + 6k*x = 4",
    "exp(k*x) = 3",
    "sqrt(x) + k = 0",
]


def letters_and_forms():
    """Every letter with every form; the fast tests have every letter, and every form, twice."""
    for i, letter in enumerate(LETTERS):
        for j, form in enumerate(FORMS):
            marks = [pytest.mark.slow] * ((i - j) % len(FORMS) > 1)
            yield pytest.param(form, letter, marks=marks)


@pytest.mark.parametrize("form, letter", [*letters_and_forms()])
def test_a_trace_is_told_in_the_letter_and_holds(form, letter, tmp_path, capsys):
    """With x for the other letter too, where it cannot be taken for the unknown."""
    for other in ("k", "x") if letter != "e" else ("k",):
        text = re.sub(r"\bx\b|(?<=\d)x\b|\bk\b|(?<=\d)k\b",
                      lambda match: letter if match[0] == "x" else other, form)  # fmt: skip
        trace = solved_trace(text, letter)
        plain = solved_trace(form.replace("k", letter) if other == "x" else form)
        assert trace.equation == text and trace.unknown == letter
        assert trace.conclusion().startswith(f"{letter} = ")
        assert trace.root == (renamed(plain.root, letter) if other == "x" else plain.root)
        if other == "x":
            assert trace.valid_when == (plain.valid_when and renamed(plain.valid_when, letter))
        again = Trace.from_json(trace.to_json())
        assert again == trace and again.replay()
        assert rf"& {latex(Symbol(letter))} = " in trace.to_latex()
        path = tmp_path / "trace.json"
        path.write_text(trace.to_json(), encoding="utf-8")
        assert check_trace([str(path)]) == 0
        assert f"\n{letter} = " in capsys.readouterr().out
        for field, value in (("root", f"{letter} + 1"), ("unknown", "x"), ("unknown", "q")):
            data = {**json.loads(trace.to_json()), field: value}
            path.write_text(json.dumps(data), encoding="utf-8")
            assert check_trace([str(path)]) > 0


def test_a_trace_that_does_not_hold_says_so_in_the_letter():
    data = json.loads(solved_trace("a*t + x = 0", "t").to_json())
    data["steps"][0]["equation"] = "a*t = x"
    found = Trace.from_json(json.dumps(data)).compare()
    assert found.differs == "step 1: equation"
    assert "'a*t = -x'" in found.reason and "'a*t = x'" in found.reason


def test_a_trace_without_the_field_is_about_x():
    data = json.loads(solved_trace("a*x + b = 0").to_json())
    assert data.pop("unknown") == "x"
    assert Trace.from_json(json.dumps(data)).replay()


def test_a_certificate_is_about_x(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(solved_trace("a*t = x", "t").to_json(), encoding="utf-8")
    claim = claim_of(str(path))
    assert (claim.equation, claim.root) == ("a*x = t", "t/a")
    assert verify_root(parse(claim.equation), parse_expression(claim.root))


def test_reasons_are_told_in_the_letter():
    assert why_no_root(parse("sqrt(t) = -2")).endswith("sqrt(t) is never -2")
    assert why_no_root(parse("sin(t)^2 + cos(t)^2 = 1")).startswith("every t ")


def test_a_list_has_one_unknown_or_each_line_its_own(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("3y = 6\nlinear\ta*t = b\nx = 2\n", encoding="utf-8")
    problems, refused = read_list(path)
    assert [p.equation.unknown for p in problems] == ["y", "x"] and refused[0].number == 2
    problems, refused = read_list(path, "t")
    assert [p.text for p in problems] == ["a*t = b"] and [r.number for r in refused] == [1, 3]
    with pytest.raises(ParseError, match="the unknown is a letter"):
        read_list(path, "2t")


def test_equations_that_differ_in_the_unknown_s_name_are_one_when_a_file_is_split(tmp_path):
    forms = [f"{n}x^{m} + a = {n + m}" for n in range(2, 8) for m in range(2, 5)]
    lines = [line.replace("a", "7") for line in forms]
    path = tmp_path / "mine.txt"
    path.write_text("\n".join(lines + [line.replace("x", "y") for line in lines]), encoding="utf-8")
    train = {p.equation.text for p in load_dataset(path, "train")}
    heldout = {p.equation.text for p in load_dataset(path, "heldout")}
    assert heldout and not train & heldout


def answer(capsys, *words: str) -> tuple[int, str]:
    code = evaluate.run(list(words))
    return code, capsys.readouterr().out


def test_every_decoder_answers_in_the_letter(capsys, tmp_path):
    out = tmp_path / "out.json"
    text = "2t = x"
    words = ("--equation", text, "--unknown", "t", "--budget", "50", "--json", str(out))
    for decoder in ("greedy", "beam", "astar", "oracle"):
        code, said = answer(capsys, *words, "--decoder", decoder)
        assert code == 0 and "t = x/2   (proved)" in said
        (row,) = json.loads(out.read_text())["equations"]
        assert (row["equation"], row["unknown"], row["root"]) == (text, "t", "x/2")


@pytest.mark.slow
def test_all_roots_are_told_in_the_letter_and_their_integer_is_another(capsys):
    code, said = answer(capsys, "--equation", "sin(n) = x", "--unknown", "n", "--all-roots")
    assert code == 0 and "n = 2*pi*m + asin(x)   (proved for all integers m)" in said
    assert "    sin(n) = x: take asin" in said and "complete" in said
    code, said = answer(capsys, "--equation", "sin(n) = 1/2", "--all-roots")
    assert code == 0 and "n = 2*pi*m + pi/6   (proved for all integers m)" in said
    code, said = answer(capsys, "--equation", "sqrt(t^2) = x", "--unknown", "t", "--all-roots")
    assert "valid when x >= 0" in said
    code, said = answer(
        capsys, "--equation", "t^2 = x", "--unknown", "t", "--all-roots", "--format", "latex"
    )
    assert r"& t = \sqrt{x} \\" in said and r"& t = - \sqrt{x}" in said


def test_stored_roots_are_rechecked_in_the_letter():
    assert check("x*t = a", "a/x", None, "t") == "root"
    assert check("x*t = a", "x/a", None, "t") == "no root"
    assert check("x*t = a", "a/t", None) == "root"


def test_an_equation_may_begin_with_a_minus_sign(capsys):
    for text in ("-x = 4", "-2x + 1 = 9", "−x = 4"):
        code, said = answer(capsys, "--equation", text)
        assert code == 0 and "x = -4   (proved)" in said


# ---- Characters ----


@pytest.mark.parametrize(
    ("pasted", "typed_text"),
    [
        ("x² − 5x + 6 = 0", "x^2 - 5x + 6 = 0"),
        ("2·x×3⋅a ÷ 4 = b⁄c", "2*x*3*a / 4 = b/c"),
        ("x – 1 = 0", "x - 1 = 0"),
        ("x³ + x⁻² + x¹⁰ + aⁿ = 0", "x^3 + x^(-2) + x^10 + a^n = 0"),
        ("2ˣ + e⁻ˣ = x⁽ᵃ⁺¹⁾", "2^x + e^(-x) = x^((a+1))"),
        ("√x + √(x + 1) = √2 x", "sqrt(x) + sqrt(x + 1) = sqrt(2) x"),
        ("∛x = √√2", "cbrt(x) = sqrt(sqrt(2))"),
        ("√sin(x) + √|x| = 1", "sqrt(sin(x)) + sqrt(abs(x)) = 1"),
        ("½x + ¾ = ⅔", "(1/2)x + (3/4) = (2/3)"),
        ("x^½ = 2", "x^(1/2) = 2"),
        ("2πr² = x", "2pi r^2 = x"),
        ("αx + β(x + 1) = ΔT", "alpha x + beta*(x + 1) = Delta T"),
        ("ϕ + µ + λ = x", "phi + mu + lambda = x"),
        ("v₀ + x₁₂ = x", "v_0 + x_12 = x"),
        ("log₂(x) + log₁₀(x) = 3", "log2(x) + log10(x) = 3"),
        ("|x| = 3", "abs(x) = 3"),
        ("2|x|a - |x - |a|| = |−x|", "2 abs(x)a - abs(x - abs(a)) = abs(-x)"),
        ("|x||a| + (|x| + 1)^2 = 2", "abs(x)abs(a) + (abs(x) + 1)^2 = 2"),
        ("𝑥² + 𝑎𝑥 = ２", "x^2 + a x = 2"),
        ("x\u00a0+\u2009a\u200b =\u202f1", "x + a = 1"),
    ],
)
def test_pasted_characters_are_read_as_what_would_be_typed(pasted, typed_text):
    equation = parse(pasted)
    assert equation == parse(typed_text)
    assert equation.text.isascii() and parse(equation.text) == equation


def test_an_unknown_may_be_pasted():
    assert parse("θ/2 = π/6").unknown == "theta" == parse("a·θ = x", "θ").unknown


def test_a_text_in_ascii_is_kept_as_it_was_typed():
    for text in ("x^2-5x+6 = 0", "2 x   =4", "a**x=1"):
        assert parse(f" {text} ").text == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x ≠ 3", "'not equal' is not supported"),
        ("x != 3", "not equal"),
        ("x ≤ 3", "inequalities are not supported"),
        ("x => 3", "inequalities are not supported"),
        ("2 < x", "inequalities are not supported"),
        ("x == 3", "a single ="),
        ("x ≈ 3", "write ="),
        ("x+y=1, x-y=2", "systems of equations are not supported"),
        ("x+y=1; x-y=2", "systems of equations are not supported"),
        ("x+y=1\nx-y=2", "systems of equations are not supported"),
        ("x = 1 = y", "one '=' too many"),
        ("20% = x", "write 20/100 for 20%"),
        ("2,5x = 5", "write 2.5 for 2,5"),
        ("sin(2,5) = x", "write 2.5 for 2,5"),
        ("(x, 2) = 1", "systems of equations"),
        ("x! = 6", "factorials"),
        ("[x + 1] = 2", "round brackets"),
        ("{x} = 2", "round brackets"),
        ("sin(30°) = x", "radians"),
        ("x = ±2", "two equations"),
        ("x = ∞", "finite"),
        ("∫x = 1", "integrals"),
        (r"\sqrt{x} = 2", "LaTeX is not read"),
        ("x : 2 = 3", "write / for a ratio"),
        ("x' = x", "differential equations"),
        ("√2x = 4", "not clear where the root ends"),
        ("√x² = 4", "not clear where the root ends"),
        ("√-x = 4", "brackets"),
        ("√ = x", "brackets"),
        ("√(x = 4", "brackets"),
        ("2½ + x = 4", "write (2 + 1/2)"),
        ("2 ½ + x = 4", "write (2 + 1/2)"),
        ("x²^3 = 1", "needs brackets"),
        ("x² **3 = 1", "needs brackets"),
        ("² = x", "instead of ^"),
        ("|x = 3", "a second '|'"),
        ("|x = 3|", "a second '|'"),
        ("(|x) = 3|", "a second '|'"),
        ("|| = x", "a second '|'"),
        ("x½ 2 = 1", "a number right after a factor"),
        ("sin² x = 1", "write sin(x)^2"),
        ("sin⁻¹(x) = 1", "write asin(...) or 1/sin(...)"),
        ("x ＜ 3", "inequalities are not supported"),
        ("x ☃ 3", "unexpected character"),
    ],
)
def test_what_is_not_supported_is_told_in_one_line_with_what_would_be(text, reason):
    assert reason in refusal(text)
    if "=" in text or "x" in text:
        assert evaluate.run(["--equation", text]) == 2


@pytest.mark.parametrize("text", ["x + E = 2", "U*x = I"])
def test_letters_that_are_numbers_are_noted(text):
    assert "write another letter for a constant" in parse(text).notes[0]
    assert not parse("E^x + 1 = 2").notes


PIECES = [*"xxxyt23", "²", "³", "⁻", "ˣ", "₀", "√", "∛", "|", "|", "½", "π", "α", "·", "−", "÷",
          " ", "(", ")", "=", "+", "\u00a0", "𝑥", "sin(", "≤", "＋", "é"]  # fmt: skip


def test_random_pastes_are_read_as_their_own_ascii_or_refused():
    rng, num_read = random.Random(5), 0
    for _ in range(4000):
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 14))) + " = x"
        try:
            equation = parse(text)
        except ParseError as error:
            assert error.position is None or 0 <= error.position <= len(text)
            continue
        num_read += 1
        again = parse(equation.text, "x")
        assert again == equation and again.nonzero == equation.nonzero, text
        assert equation.text.isascii()
    assert num_read > 200


@pytest.mark.parametrize("letter", "αβγδεζηθικλμνξορστυφχψωΓΔΘΛΞΠΣΦΨΩϑϕϵµ")
def test_a_greek_letter_before_a_bracket_is_a_factor(letter):
    (symbol,) = (equation := parse(f"{letter}(x + 1) = 0")).coefficients
    assert equation == parse(f"{symbol}*(x + 1) = 0") and symbol.name.isalpha()


# ---- What a new user types ----


def test_there_are_120_inputs_and_no_two_are_alike():
    lines = typed.inputs()
    assert len(lines) == len(set(lines)) == 120
    shown = re.findall(r"^\$ (.*)$", typed.GOLDEN.read_text(encoding="utf-8"), re.M)
    assert shown == lines


@pytest.mark.slow
def test_what_is_printed_is_the_golden_file(capsys):
    """After a change that is meant: python -m tests.typed --write, and read the difference."""
    assert typed.main([]) == 0, capsys.readouterr().out
