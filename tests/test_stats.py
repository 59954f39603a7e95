"""Statistics against hand-worked numbers and published values."""

import json
from itertools import product

import numpy as np
import pytest

from abel.stats import bootstrap_iqm, escape_rate, fisher_exact, iqm, main, mcnemar, wilson


def test_wilson_interval_by_hand():
    # 8/10, z = 2: middle (0.8 + 0.2) / 1.4, half 2 * sqrt(0.016 + 0.01) / 1.4
    assert wilson(8, 10, z=2.0) == pytest.approx((0.7142857 - 0.2303504, 0.7142857 + 0.2303504))
    # statsmodels proportion_confint(8, 10, method="wilson"), whose z is 1.959964
    assert wilson(8, 10) == pytest.approx((0.49016, 0.94332), abs=1e-5)


def test_wilson_interval_at_the_ends():
    assert wilson(0, 60) == (0.0, pytest.approx(1.96**2 / (60 + 1.96**2)))  # z² / (n + z²)
    assert wilson(60, 60) == (pytest.approx(60 / (60 + 1.96**2)), 1.0)
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="5 successes of 4"):
        wilson(5, 4)


def test_fisher_by_hand():
    # Lady tasting tea: of the 70 tables 1, 16, 36, 16, 1; at most as probable as 16: 34.
    assert fisher_exact(3, 1, 1, 3) == pytest.approx(34 / 70)
    assert fisher_exact(4, 0, 0, 4) == pytest.approx(2 / 70)
    assert fisher_exact(2, 2, 2, 2) == pytest.approx(1.0)


def test_fisher_agrees_with_scipy():
    assert fisher_exact(8, 2, 1, 5) == pytest.approx(0.03496503496503495)
    # The paper's escape rates, 3/5 against 6/8: "p about 1.0" is right.
    assert fisher_exact(3, 2, 6, 2) == pytest.approx(1.0)


def test_fisher_knows_empty_margins_and_symmetry():
    assert fisher_exact(0, 0, 0, 0) == 1.0
    assert fisher_exact(0, 5, 0, 7) == pytest.approx(1.0)
    for a, b, c, d in product((0, 1, 4, 9), repeat=4):
        p = fisher_exact(a, b, c, d)
        assert 0 < p <= 1
        for same in ((b, a, d, c), (c, d, a, b), (a, c, b, d)):
            assert fisher_exact(*same) == pytest.approx(p)
    with pytest.raises(ValueError, match="negative"):
        fisher_exact(-1, 2, 3, 4)


def test_fisher_stands_large_counts():
    # By integer binomials; the paper reports 0.81 and 799/1000 for its two substitution sources.
    assert fisher_exact(810, 190, 799, 201) == pytest.approx(0.5729063621663539)
    assert fisher_exact(810, 190, 4, 996) < 1e-300


def test_mcnemar_counts_only_discordant_pairs():
    both, first, second = (True, True), (True, False), (False, True)
    pairs = [both] * 50 + [first] * 1 + [second] * 5
    # 6 coins, at most one head, both sides: 2 * (1 + 6) / 64
    assert mcnemar(*map(list, zip(*pairs))) == pytest.approx(14 / 64)
    assert mcnemar([True, False], [True, False]) == 1.0
    assert mcnemar([True, False], [False, True]) == 1.0  # one each way
    assert mcnemar([], []) == 1.0
    with pytest.raises(ValueError, match="2 and 1"):
        mcnemar([True, False], [True])


def test_iqm_is_the_mean_of_the_middle_half():
    assert iqm([8, 1, 2, 3, 4, 5, 6, 700]) == pytest.approx((3 + 4 + 5 + 6) / 4)
    # n = 5: quartiles at 1.25 and 3.75, so weights 0, 0.75, 1, 0.75, 0 of 2.5
    assert iqm([0.9, 0.0, 0.4, 0.8, 0.5]) == pytest.approx((0.75 * 0.4 + 0.5 + 0.75 * 0.8) / 2.5)
    assert iqm([3, 1, 2]) == pytest.approx((0.25 * 1 + 2 + 0.25 * 3) / 1.5)
    assert iqm([0.7]) == pytest.approx(0.7)
    with pytest.raises(ValueError, match="no values"):
        iqm([])


def test_bootstrap_interval_holds_the_mean_and_repeats():
    values = np.random.default_rng(0).random(12).tolist()
    low, high = bootstrap_iqm(values, seed=0)
    assert min(values) <= low < iqm(values) < high <= max(values)
    assert (low, high) == bootstrap_iqm(values, seed=0) != bootstrap_iqm(values, seed=1)
    assert bootstrap_iqm([0.5] * 4, seed=0) == pytest.approx((0.5, 0.5))


def test_escape_rate_counts_the_threshold_itself():
    assert escape_rate([0.02, 0.2, 0.91, 0.1]) == 0.5
    assert escape_rate([0.3, 0.6], threshold=0.5) == 0.5


def test_two_results_are_paired_by_equation(tmp_path, capsys):
    def results(name: str, solved: dict[str, bool]) -> str:
        rows = [{"equation": text, "solved": won} for text, won in solved.items()]
        (tmp_path / name).write_text(json.dumps({"equations": rows}))
        return str(tmp_path / name)

    one = results("one", {"a": True, "b": False, "c": True, "only here": True})
    two = results("two", {"c": True, "b": True, "a": True})
    assert main([one, two]) == 0
    said = capsys.readouterr().out
    assert "2 of 3 = 0.667" in said and "first only 0, by the second only 1" in said
    assert "McNemar p = 1" in said
    assert main([one, results("other", {"z": True})]) == 2
    assert main([one, str(tmp_path / "nowhere")]) == 2 and main([one]) == 2
