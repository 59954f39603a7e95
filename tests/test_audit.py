"""What was once claimed falsely, line by line; and the standing attack that looks for more."""

import ast
import json
import random
from itertools import islice, product
from pathlib import Path

import mpmath
import pytest
import sympy as sp
from sympy import I, Integer, Mod, Ne, Rational, Symbol, pi, sqrt

import abel
from abel import bench
from abel.audit import judge as audit
from abel.audit.attacks import Case, Offset, Probe, half_plane, joins, keeps_power, offset
from abel.audit.judge import ATTACKS, attack, covers, is_clean, witness
from abel.equation import Equation, X
from abel.verify import Verdict, verify_root

a, b = sp.symbols("a b")
n = Symbol("n", integer=True)


def claims(text: str, candidate: sp.Expr | str, **at: Rational | int) -> bool:
    """Whether the candidate is said to be a root at a place in the letters."""
    verdict = verify_root(abel.parse(text), candidate)
    letters = {n if name == "n" else Symbol(name): Rational(v) for name, v in at.items()}
    return bool(verdict) and covers(verdict.valid_when, letters) is not False


# ---- Branch cuts are not decided by rounding ----


@pytest.mark.parametrize("size", [12, 30, 60, 120, 150])
@pytest.mark.parametrize("letter", ["", "a*"])
def test_the_other_side_of_a_cut_is_no_root_however_close(letter, size):
    tiny = f"I/10^{size // 2}/10^{size - size // 2}"
    wrong = f"-{letter}I*sqrt(-1 - {tiny})"
    assert not claims(f"x = {letter}sqrt(1 + {tiny})", wrong, a=2)
    assert not verify_root(abel.parse(f"x = {letter}sqrt(1 + {tiny})"), wrong)


def test_the_witness_does_not_take_the_sine_of_what_has_millions_of_bits():
    huge = sp.exp(sp.exp(Integer(16)))
    with mpmath.workdps(30), pytest.raises(OverflowError):
        audit.number_of(sp.sin(huge), {})


@pytest.mark.parametrize("size", [60, 490, 1000])
@pytest.mark.parametrize("letter", [Integer(1), a])
def test_an_offset_that_no_fixed_number_of_digits_sees_decides_the_branch(letter, size):
    p, q = 1, 1
    while len(str(2 * p)) < size or p * p < 2 * q * q:
        p, q = p + 2 * q, p + q
    tiny = p - q * sqrt(2)  # positive, of about that size
    for near in (Rational(1, 10**size), tiny):
        for sign, wrong in ((1, "proved"), (-1, "refuted")):
            equation = Equation(X, letter * sqrt(1 + sign * I * near))
            with audit.limited(5):
                verdict = verify_root(equation, -letter * I * sqrt(-1 - sign * I * near))
            assert verdict.status != wrong


# ---- "For all integers n" means all ----


@pytest.mark.parametrize("text, family, poles", [
    ("sin(4*x)/sin(x) = 0", pi * n / 4, (4, 0, -4, 8, 400)),
    ("sin(x)/(x - 4*pi) = 0", pi * n, (4,)),
    ("(exp(x) - 1)/(x - 8*pi*I) = 0", 2 * pi * I * n, (4,)),
    ("sin(x)/(x - 731*pi) = 0", pi * n, (731,)),
    ("sin(x)/((x - 9*pi)*(x + 50*pi)) = 0", pi * n, (9, -50)),
    ("sin(x)*log(x - 12*pi) = 0", pi * n, (12,)),
    ("sin(x)*(x - 5*pi)/(x - 5*pi) = 0", pi * n, (5,)),
    ("sin(x)*tan(x/2) = 0", pi * n, (1, 7, -5)),
])  # fmt: skip
def test_a_family_does_not_claim_a_pole(text, family, poles):
    for pole in poles:
        assert not claims(text, family, n=pole)


def test_a_divisor_that_vanishes_from_one_member_on_takes_those_out():
    text = "sin(x)/(sqrt((x - 40*pi)^2) - x + 40*pi) = 0"
    assert not claims(text, pi * n, n=40) and not claims(text, pi * n, n=900)


# ---- What the text divides by counts, cancelled or not ----


@pytest.mark.parametrize("text, root", [
    ("tan(atan(x)) = I", I),
    ("tan(atan(x)) = -I", -I),
    ("cos(x) + tan(x) - tan(x) = 0", pi / 2),
    ("x - 1 + log(x - 1) - log(x - 1) = 0", Integer(1)),
    ("x + 0/x = 0", Integer(0)),
    ("x + 0*log(x) = 0", Integer(0)),
    ("x*(1/x)^0 = 0", Integer(0)),
    ("1/(1/x) = 0", Integer(0)),
    ("x^2/x = 0", Integer(0)),
    ("exp(log(x - 2)) = 0", Integer(2)),
    ("(x - 3)*exp(1/(x - 3))*exp(-1/(x - 3)) = 0", Integer(3)),
])  # fmt: skip
def test_a_root_where_the_text_is_undefined_is_none(text, root):
    assert not claims(text, root)


@pytest.mark.parametrize("threshold", [20, -20, 1000, 10**6])
@pytest.mark.parametrize("text", [
    "x/(sqrt((a - {t})^2) - a + {t}) = 0",
    "x*(sqrt((a - {t})^2) - a + {t})/(sqrt((a - {t})^2) - a + {t}) = 0",
    "x + 1/(sqrt((a - {t})^2) - a + {t}) - 1/(sqrt((a - {t})^2) - a + {t}) = 0",
])  # fmt: skip
def test_a_domain_of_letters_is_a_condition(text, threshold):
    text = text.format(t=f"({threshold})")
    assert not claims(text, 0, a=threshold + 1) and not claims(text, 0, a=threshold + 10**6)


@pytest.mark.parametrize("threshold", [20, 1000, 10**6])
def test_what_holds_beyond_a_threshold_is_not_refuted(threshold):
    equation = abel.parse(f"sqrt(x) = a - {threshold}")
    verdict = verify_root(equation, (a - threshold) ** 2)
    assert verdict.status not in ("refuted", "undefined")
    assert not claims(f"sqrt(x) = a - {threshold}", (a - threshold) ** 2, a=threshold - 1)


@pytest.mark.parametrize("threshold", [5, 1000, 10**6])
@pytest.mark.parametrize("text, root, sign", [
    ("abs(x) = a - {t}", "a - {t}", 1), ("abs(x) = a - {t}", "{t} - a", 1),
    ("abs(x) = {t} - a", "a - {t}", -1), ("abs(b*x) = abs(b)*x", "a - {t}", 1),
])  # fmt: skip
def test_an_absolute_value_is_looked_at_on_both_sides_of_its_threshold(text, root, sign, threshold):
    """It was refuted where no sample point happened to lie beyond the threshold."""
    text, root = text.format(t=threshold), root.format(t=threshold)
    verdict = verify_root(abel.parse(text), root)
    assert verdict.status not in ("refuted", "undefined")
    assert not claims(text, root, a=threshold - sign, b=1)


# ---- The attack knows what is true ----


def angle(z):
    return mpmath.arg(mpmath.mpc(float(z[0]), float(z[1])))


def test_the_sum_of_two_arguments_leaves_the_principal_range_where_numbers_say_so():
    grid = [z for z in product((-2, -1, 0, 1, 2), repeat=2) if z != (0, 0)]
    exact = {z: (Rational(z[0]), Rational(z[1])) for z in grid}
    for u, v in product(grid, grid):
        total = angle(u) + angle(v)
        inside = -mpmath.pi + 1e-9 < total < mpmath.pi + 1e-9
        assert joins(exact[u], exact[v]) == inside, (u, v)
    for z, power in product(grid, (2, 3, 4, 6)):
        inside = -mpmath.pi + 1e-9 < power * angle(z) < mpmath.pi + 1e-9
        assert keeps_power(exact[z], power) == inside, (z, power)
    assert half_plane(exact[-1, 0]) == 1 and half_plane(exact[1, 0]) == 0


def test_offsets_are_as_small_as_they_say_and_on_the_side_they_say():
    sizes = set()
    for seed in range(120):
        found = offset(random.Random(seed))
        assert isinstance(found, Offset)
        with mpmath.workdps(2200):
            number = audit.number_of(found.expr, {})
            if not found.sign:
                assert abs(number) < mpmath.mpf(10) ** -2000
                continue
            assert mpmath.sign(number) == found.sign == mpmath.sign(found.exact.p)
            assert abs(found.size + mpmath.log10(abs(number))) < 12
        sizes.add(found.size)
    assert min(sizes) == 0 and max(sizes) > 900


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_constructed_truth_and_numbers_agree(name, times):
    unproven = attack(name, 80 * times, 7, lambda *_: Verdict("unproven"), 10)
    assert unproven.disagreements == [] and unproven.false == []
    assert 5 < unproven.counts["true_roots"] and unproven.counts["others"] > 0


def test_the_witness_tells_roots_others_and_poles():
    equation = Equation((X**2 - a**2) / (X - b))

    def seen(root, at, **more):
        return witness(Case(equation, root, (), **more), at)

    at = {a: Rational(3), b: Rational(2)}
    assert seen(a, at) == seen(-a, at) == "root" and seen(2 * a, at) == "other"
    assert seen(b, at) == "undefined" == seen(a, at, guards=(X - 3,))
    tiny = Rational(1, 10**500)
    assert seen(a + tiny, at, size=500) == "other" and seen(a + tiny, at) == "root"


def test_conditions_are_read_as_they_are_meant():
    five = {n: Integer(5), a: Rational(5, 7)}
    assert covers(None, five) and covers(sp.true, five) and not covers(sp.false, five)
    assert covers(Ne(n, 4), five) and not covers(Ne(n, 5), five)
    assert covers(Ne(Mod(n, 4), 0), five) and not covers(Ne(Mod(n, 5), 0), five)
    assert covers(sp.And(Ne(n, 4), a > 0), five) and not covers(sp.And(Ne(n, 5), a > 0), five)
    assert covers(sp.Or(a > 1, Ne(n, 4)), five) and not covers(sp.Or(a > 1, Ne(n, 5)), five)
    assert covers(sp.Ge(a, Rational(5, 7), evaluate=False), five) is None
    assert not covers(sp.Ge(sqrt(-a), 0, evaluate=False), five)


# ---- The attack can fail ----


@pytest.mark.parametrize("status", ["proved", "refuted", "undefined"])
@pytest.mark.parametrize("name", ATTACKS)
def test_a_verifier_that_always_says_the_same_is_caught(name, status):
    found = attack(name, 20, 3, lambda *_: Verdict(status), 10)
    assert len(found.false) > 2
    entry = found.false[0]
    assert entry["status"] == status and entry["truth"] != ("root" if status == "proved" else "")


def test_a_condition_that_keeps_to_the_roots_is_no_false_claim():
    n_probe = [Probe({n: Integer(k)}, "undefined" if k == 4 else "root") for k in range(9)]
    case = Case(Equation(sp.sin(X) / (X - 4 * pi)), pi * n, tuple(n_probe))
    truths = [probe.truth for probe in n_probe]
    wrong = audit.contradiction(case, Verdict("proved"), truths)
    assert wrong is not None and wrong.at == {n: 4}
    assert audit.contradiction(case, Verdict("proved", Ne(n, 4)), truths) is None
    assert audit.contradiction(case, Verdict("refuted"), truths) is n_probe[0]


def test_the_same_seed_gives_the_same_cases():
    for make in ATTACKS.values():
        first, second = (make(random.Random("9")) for _ in "12")
        assert (first.equation, first.candidate) == (second.equation, second.candidate)
        assert first.probes == second.probes


def test_a_verifier_that_fails_or_hangs_is_recorded():
    def raises(*_):
        raise ValueError("no")

    def hangs(*_):
        while True:
            try:
                sum(range(10**6))
            except Exception:  # what swallows everything must not swallow the time limit
                pass

    assert len(attack("domains", 3, 0, raises, 10).failures) == 3
    assert "0.2 s" in attack("domains", 1, 0, hangs, 0.2).failures[0]["error"]


def test_the_attack_shares_nothing_with_the_verifier():
    files = ("attacks", "functions", "judge", "mutants", "plants")
    allowed = {"equation", "parse", "verify", *(f"audit.{name}" for name in files)}
    for name in files:
        tree = ast.parse(Path(audit.__file__).with_name(f"{name}.py").read_text("utf-8"))
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        ours = {str(node.module) for node in nodes if str(node.module).startswith("abel")}
        assert ours <= {f"abel.{module}" for module in allowed}


def test_the_command_reports_false_claims_and_fails(tmp_path, monkeypatch, capsys):
    out = tmp_path / "audit.json"
    flags = ["audit", "--cases", "40", "--seed", "5", "--json", str(out)]
    monkeypatch.setattr(audit, "verify_root", lambda *_: Verdict("proved"))
    assert bench.main(flags) == 1 and "false claims" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert found["seed"] == 5 and "commit" in found and set(found["attacks"]) == set(ATTACKS)
    assert all(tally["false"] == len(tally["false_claims"]) for tally in found["attacks"].values())
    monkeypatch.setattr(audit, "verify_root", lambda *_: Verdict("unproven"))
    assert bench.main(flags) == 0


# ---- The verifier withstands it ----


@pytest.mark.parametrize("name", ATTACKS)
def test_no_claim_is_false(name):
    found = attack(name, 30, 11, verify_root, 10)
    assert [*islice(found.false, 3)] == [] == found.disagreements
    assert found.counts["proved"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_no_claim_is_false_among_many(name, times):
    """`python -m abel.bench audit` asks about as many as one likes."""
    found = audit.audit(200 * times, seed=2, attacks=(name,))
    assert is_clean(found), found[name]["false_claims"][:3]


# ---- Roots that were proved before ----


def test_stored_roots_are_found_wherever_they_stand_and_proved_again():
    data = {"equations": [
        {"equation": "a*x + b = 0", "solved": True, "root": "-b/a"},
        {"equation": "x^2 = a", "roots": [{"root": "sqrt(a)", "status": "proved"},
                                          {"root": "2*a", "status": "unproven"},
                                          {"root": "n", "status": "proved", "integers": ["n"]}]},
        {"equation": "x = 1", "solved": False, "root": "2"},
    ]}  # fmt: skip
    pairs = [*audit.stored_roots([data])]
    assert pairs == [("a*x + b = 0", "-b/a"), ("x^2 = a", "sqrt(a)")]
    found = audit.prove_again([*pairs, ("x = 1", "2"), ("x = 1", "9**9**9")])
    assert found["statuses"] == {"proved": 2, "refuted": 1} and found["not_read"] == 1
    assert found["lost"] == [{"equation": "x = 1", "root": "2", "status": "refuted"}]
