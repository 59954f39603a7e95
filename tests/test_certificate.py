"""Certificates: what a script says, what is refused, and what the kernel of Coq makes of it."""

import json
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from sympy import sstr

from abel import Trace, parse, verify_root
from abel.certificate import Claim, Denied, NotCovered, check, export, find_coqc, main
from abel.certificate.kernel import Answer, axioms, check_many, refuses_all
from abel.certificate.numbers import ball, precise
from abel.certificate.reader import number, read_condition, read_equation, read_expression, tree
from abel.certificate.script import attempt
from abel.certificate.statement import X, defined
from abel.certificate.study import changed

ROOT = Path(__file__).parent.parent
coq = pytest.mark.skipif(find_coqc() is None, reason="coqc is not installed")

QUADRATIC = Claim("a*x^2 + b*x + c = 0", "(-b + sqrt(b**2 - 4*a*c))/(2*a)")
CARDANO = Claim(
    "x^3 + p*x + q = 0",
    "-p/(3*(-q/2 + sqrt(p**3/27 + q**2/4))**(1/3)) + (-q/2 + sqrt(p**3/27 + q**2/4))**(1/3)",
)
FIELD = [
    QUADRATIC,
    CARDANO,
    Claim("d/(x - b) = d", "b + 1"),
    Claim("1 = -5 + 7/x", "7/6"),
    Claim("x^3 = 1", "-1/2 + sqrt(3)*I/2"),
    Claim("a*exp(x) - b*exp(-x) = c", "log(c/(2*a) + sqrt(b/a + c**2/(4*a**2)))"),
    Claim("a*2^x = b", "log(b/a)/log(2)"),
    Claim("5^(x + 1) = 125", "-1 + log(125)/log(5)"),  # "125 <> 0" was read as one of integers
    Claim("exp(x/2) + exp(x) = a", "2*log(-1/2 + sqrt(1/4 + a))"),
    Claim("c - sin(sin(a - x)) = 0", "a + asin(pi - asin(c)) - pi"),
    Claim("a*cos(2*x) + b = 0", "acos(-b/a)/2"),
    Claim("a*sin(x) + b*cos(x) = 0", "-atan(b/a)"),
    Claim("tan(x) = a", "atan(a)"),
    Claim("x*exp(a*x) = b", "LambertW(a*b)/a"),
    Claim("x*exp(a*x) = b", "LambertW(a*b, -1)/a"),
    Claim("exp(x) = 5*x", "-LambertW(-1/5, -1)"),
    Claim("in*x = letter_in*_z", "letter_in*_z/in"),  # a word of Coq
]
REAL = [
    Claim("a + sqrt(x) = 0", "a**2", "a <= 0"),
    Claim("sqrt(x) + x - 10 = 0", "(-1/2 + sqrt(41)/2)**2"),
    Claim("a + b + x^(1/4) = 0", "(-a - b)**4", "a + b <= 0"),
    Claim("log(x) = c", "exp(c)"),
    Claim("-b + cos(log(a + x)) = 0", "-a + exp(acos(b))", "(b >= -1) & (b <= 1)"),
    Claim("x*log(x) = c", "exp(LambertW(c))", "c >= 0"),
    Claim("x*log(x) = c", "exp(LambertW(c, -1))", "(c >= -exp(-1)) & (c <= 0)"),
    Claim("x*log(x) = -1/4", "exp(LambertW(-1/4, -1))"),
]  # fmt: skip

THEOREM = """\
Theorem x_is_a_root : forall a b c x : F,
  x = (- b + sqrt (b ^ 2 - 4 * a * c)) / (2 * a) ->
  2 * a <> 0 ->
  a * x ^ 2 + b * x + c = 0.
"""


# ---- Reading and saying ----


def test_the_quadratic_formula_reads_as_in_a_book():
    script = export(QUADRATIC)
    assert script.theorem.startswith(THEOREM)
    assert not script.statement.real and not script.statement.restricted
    assert script.text.startswith("(* a*x^2 + b*x + c = 0\n   has the root x = (-b + sqrt(")
    assert script.text.rstrip().endswith("Print Assumptions x_is_a_root.")


def test_a_condition_makes_the_theorem_one_about_real_numbers():
    script = export(Claim("a + sqrt(x) = 0", "a**2", "a <= 0"))
    assert script.theorem.startswith(
        "Theorem x_is_a_root : forall a x : R,\n  x = a ^ 2 ->\n  a <= 0 ->\n  0 <= x ->\n"
        "  a + sqrt x = 0.\n"
    )


def test_what_is_typed_is_not_simplified():
    lhs, _ = read_equation("(x^2 - x)/(x - 1) + 0*log(x)/tan(a) = 0")
    said = [condition.args[0] for condition in defined(lhs, real=False)]
    x = tree("letter", value="x")
    a = tree("letter", value="a")
    assert said == [
        tree("-", x, number(1)), x, tree("cos", a), tree("tan", a),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["1/2x", "-x^2", "2^-x", "x^2^3", "a(x+1)x", "0.25x - .5", "--x", "x/2/3*a", "x^(3/2)",
     "cbrt(x)^2", "e^x", "e*x", "a^x - E", "ln(x)I", "-(a+x)^-2", "x**-1/a"],
)  # fmt: skip
def test_the_second_reader_agrees_with_the_first(text):
    """Values of its trees are those of what `abel.parse` reads."""
    tree_ = read_equation(f"{text} = 0")[0]
    mine = {tree("letter", value=name): value for name, value in (("a", 3), ("e", 5))}
    equation = parse(f"{text} = 0")
    symbols = {symbol.name: symbol for symbol in equation.lhs.free_symbols}
    values = {"a": 3, "e": 5, "x": Fraction(7, 4)}
    with precise():
        from flint import acb

        known = {letter: acb(value) for letter, value in mine.items()} | {X: acb(7) / 4}
        found = complex(ball(tree_, known))
    at = {symbol: parse_number(values[name]) for name, symbol in symbols.items()}
    assert abs(found - complex(equation.lhs.subs(at).evalf(20))) < 1e-9


def parse_number(value):
    from sympy import Rational

    return Rational(Fraction(value).numerator, Fraction(value).denominator)


def test_conditions_are_read_as_sympy_prints_them():
    found = read_condition("((a >= 0) & (2*a + pi > 0)) | Ne(b, 1)")
    assert found.op == "or" and [part.op for part in found.args] == ["and", "!="]
    assert found.args[0].args[0].args == (read_expression("a"), number(0))


def test_the_script_on_the_page_is_the_one_that_is_written():
    page = (ROOT / "abel" / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- certificate -->\n```\n(.*?)```", page, re.DOTALL)[1]
    claim = Claim("a*x^2 + b*x + c = 0", "sqrt(-(c - b**2/(4*a))/a) - b/(2*a)")
    assert export(claim).theorem.startswith(shown)


def test_what_the_page_says_of_the_studies_is_in_their_files():
    page = " ".join((ROOT / "abel" / "README.md").read_text(encoding="utf-8").split())
    found, changed_ = (
        json.loads((ROOT / "runs" / "results" / name).read_text(encoding="utf-8"))
        for name in ("certificates.json", "certificates_corrupted.json")
    )
    field, real = found["field"], found["real"]
    assert (
        f"Of {found['stored_roots']:,} stored roots of the reference agent, at most 60 from each"
        f" results file were taken: {found['statuses']['proved']} roots that `verify_root` proves."
        f" {found['covered']} of them are covered, {field['scripts']} over a field and"
        f" {real['scripts']} over the reals ({real['on_a_part_of_the_letters']} of these for a part"
        f" of the letters). Coq accepts {field['accepted'] + real['accepted']} of the"
        f" {found['covered']}."
    ) in page
    assert not found["denied_by_numbers"] and not field["axioms"]
    assert (
        f"Of {changed_['corrupted']:,} corrupted roots {changed_['counts']['denied by numbers']:,}"
        f" are denied by numbers. {changed_['counts'].get('exported', 0)} are exported, since they"
        f" are roots by luck, and Coq accepts {changed_['accepted']}, of which"
        f" {changed_['accepted_and_proved']} are proved by `verify_root` as well."
        f" {changed_['false_proofs_tried']} false proofs were written all the same, and Coq accepts"
        f" {len(changed_['false_proofs_accepted'])} of them"
    ) in page


# ---- Refusing ----


def test_a_false_root_is_denied_by_numbers():
    with pytest.raises(Denied, match="the sides differ at a = "):
        export(Claim("a*x + b = 0", "b/a"))


def test_without_its_condition_a_root_is_denied():
    with pytest.raises(Denied, match="the sides differ"):
        export(Claim("a + sqrt(x) = 0", "a**2"))


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (Claim("x/(x - a) = x/(x - a)", "a"), "no letters were found"),
        (Claim("sqrt(x) = a", "a**2", "(a >= 1) & (a <= -1)"), "no letters were found"),
        (Claim("x^2/x = 0", "0"), "division by 0|no letters were found"),
        (Claim("2*x = a", "a/2", "Eq(Mod(n, 3), 1)"), "cannot read on"),
        (Claim("2*x = a", "a/2", "c >= 0"), "a letter that the equation has not"),
        (Claim("x = a*(1 - 1)*log(0)", "0"), "division by 0|no letters were found"),
        (Claim("x^1000 = a", "a**(1/1000)"), "an exponent beyond 100"),
        (Claim("sin(x/2) = sin(asin(a)/2)", "asin(a)"), "a part of asin"),
    ],
)
def test_what_is_not_covered_is_refused_with_the_reason(claim, reason):
    with pytest.raises(NotCovered, match=reason):
        export(claim)


def test_hypotheses_that_contradict_each_other_are_never_written():
    """They would prove anything: here that 1 is a root of x = 0 wherever 1/(a - a) is defined."""
    with pytest.raises(NotCovered, match="no letters were found"):
        export(Claim("x + 1/(a - a) = 1/(a - a)", "1"))


# ---- The command ----


def trace(claim):
    status = "proved"
    return Trace(claim.equation, (), claim.root, status, claim.valid_when).to_json()


def test_the_command_writes_a_script(tmp_path, capsys):
    (tmp_path / "trace.json").write_text(trace(QUADRATIC))
    out = tmp_path / "root.v"
    assert main([str(tmp_path / "trace.json"), "--out", str(out)]) == 0
    assert THEOREM in out.read_text()
    assert "letters in any field of characteristic 0" in capsys.readouterr().out


def test_the_command_refuses_in_one_line(tmp_path, capsys):
    path, out = tmp_path / "trace.json", tmp_path / "root.v"
    for text, code in (
        (trace(Claim("a*x + b = 0", "b/a")), 3),
        (Trace("a*x + b = 0", ()).to_json(), 2),
        (trace(Claim("a*x + = 0", "b")), 2),
        ("{", 2),
        (json.dumps({"format": "abel-trace-1"}), 2),
    ):
        path.write_text(text)
        assert main([str(path), "--out", str(out)]) == code
        assert capsys.readouterr().err.count("\n") == 1 and not out.exists()
    assert main([str(tmp_path / "missing.json"), "--out", str(out)]) == 2


def test_without_coqc_there_is_no_check(tmp_path, monkeypatch):
    monkeypatch.setattr("abel.certificate.command.find_coqc", lambda: None)
    (tmp_path / "trace.json").write_text(trace(QUADRATIC))
    assert main([str(tmp_path / "trace.json"), "--out", str(tmp_path / "root.v"), "--check"]) == 4


# ---- Many at once ----


def test_one_failure_hides_no_other():
    """A compiler that refuses every second theorem, by its line in the text."""
    scripts = [export(Claim(f"x - {n} = 0", str(n))) for n in range(5)]

    def compiler(text, seconds):
        for number_, line in enumerate(text.split("\n"), 1):
            if line.startswith("  x = ") and int(line.split()[2]) % 2:
                return Answer(False, f'File "certificate.v", line {number_}, characters 0-1:', 1.0)
        return Answer(True, "Closed under the global context", 1.0)

    answers = check_many(scripts, 10, compiler)
    assert [answer.accepted for answer in answers] == [True, False, True, False, True]


def test_without_a_line_each_is_tried_by_itself():
    scripts = [export(Claim(f"x - {n} = 0", str(n))) for n in range(3)]

    def compiler(text, seconds):
        return Answer("x = 1 ->" not in text, "coqc was stopped", 1.0)

    answers = check_many(scripts, 10, compiler)
    assert [answer.accepted for answer in answers] == [True, False, True]


def test_axioms_are_read_from_what_coq_prints():
    assert axioms("Closed under the global context") == []
    said = "Axioms:\nA.sig : forall P : Prop, {~ ~ P} + {~ P}\nfun_ext\n  : forall A B, x"
    assert axioms(said) == ["A.sig", "fun_ext"]


# ---- The kernel ----


@coq
@pytest.mark.slow
def test_the_kernel_accepts_roots_over_a_field_without_axioms():
    for claim, answer in zip(FIELD, check_many([export(claim) for claim in FIELD], 120)):
        assert answer.accepted, (claim, answer.said)
        assert axioms(answer.said) == []


@coq
@pytest.mark.slow
def test_the_kernel_accepts_roots_over_the_reals():
    scripts = [export(claim) for claim in REAL]
    assert all(script.statement.real for script in scripts)
    for claim, answer in zip(REAL, check_many(scripts, 120)):
        assert answer.accepted, (claim, answer.said)
        assert "ClassicalDedekindReals.sig_not_dec" in axioms(answer.said)


@coq
@pytest.mark.slow
def test_the_kernel_refuses_corrupted_roots():
    """Proofs of false theorems, written without asking whether they are true."""
    rng, scripts = random.Random(0), []
    while len(scripts) < 30:
        claim = changed(rng, rng.choice(FIELD))
        try:
            if claim is not None and not verify_root(parse(claim.equation), claim.root):
                scripts.append(attempt(claim))
        except (NotCovered, ValueError):
            continue
    assert all(refuses_all(scripts, 120))


@coq
@pytest.mark.slow
def test_a_true_root_among_false_ones_would_be_noticed():
    wrong = attempt(Claim("a*x + b = 0", "b/a"))
    assert refuses_all([wrong, attempt(QUADRATIC), wrong], 120) == [True, False, True]


@coq
@pytest.mark.slow
def test_the_command_asks_the_kernel(tmp_path, capsys):
    (tmp_path / "trace.json").write_text(trace(CARDANO))
    files = [str(tmp_path / "trace.json"), "--out", str(tmp_path / "root.v")]
    assert main([*files, "--check"]) == 0
    assert "the kernel accepts it; axioms: none" in capsys.readouterr().out
    text = (tmp_path / "root.v").read_text()
    wrong = export(CARDANO)
    broken = text.replace("x ^ 3 + p * x + q = 0", "x ^ 3 + p * x = q")
    assert broken != text
    from abel.certificate.kernel import coqc

    assert check(wrong).accepted and not coqc(broken).accepted


def test_the_other_branch_of_lamberts_function_has_laws_where_it_has_values():
    script = export(Claim("x*exp(x) = b", "LambertW(b, -1)"))
    assert "forall u : F, u <> 0 -> lower_lambert u * exp" in script.text
    assert "  x = lower_lambert b ->\n  b <> 0 ->\n" in script.theorem
    real = export(Claim("x*log(x) = c", "exp(LambertW(c, -1))", "(c >= -exp(-1)) & (c <= 0)"))
    assert "  - exp (- 1) <= c ->\n  c < 0 ->\n" in real.theorem
    with pytest.raises(NotCovered, match="branch"):
        export(Claim("x*exp(x) = b", "LambertW(b, 1)"))
    for equation, root in (
        ("x*exp(x) = b", "LambertW(a, -1)"), ("x*log(x) = 2", "exp(LambertW(2, -1))"),
        ("LambertW(x) = -2", "-2*exp(-2)"),
    ):  # fmt: skip
        with pytest.raises(Denied):
            export(Claim(equation, root))


def test_verdicts_and_claims_have_the_same_condition():
    verdict = verify_root(parse("a + sqrt(x) = 0"), "a^2")
    assert sstr(verdict.valid_when) == "a <= 0"
