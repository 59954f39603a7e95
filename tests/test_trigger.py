"""Trigger regimes and the pipeline's arms, with a scripted policy in the network's place."""

import numpy as np
import pytest

from abel import EnvConfig
from abel.analysis.trigger import REGIMES, classifier, decomposition, steer_for, tally, trigger
from abel.datasets import Problem
from abel.datasets.textbook import proposals
from abel.operations import propose
from abel.search import greedy

PROBLEMS = [
    Problem("2*b*exp(x) + 2*d - 6*f*exp(-x) = 0", "exponential"),
    Problem("a*x^2 + b*x + c = 0", "quadratic"),
    Problem("a*x + b = 0", "abel_level2"),
]


def textbook(cache, skip: str = ""):
    """What a textbook would do next, but for one operation."""

    def policy(observations):
        log_probs = []
        for seen in observations:
            forms = cache.forms.values()
            form = next(f for f in forms if f.observation is seen or f.capped is seen)
            weights = np.full(len(seen.actions), 1e-6)
            for rank, action in enumerate(proposals(form.lhs, form.rhs)):
                if action in seen.actions and action.op != skip:
                    weights[seen.actions.index(action)] += 0.5**rank
            log_probs.append(np.log(weights / weights.sum()))
        return log_probs, np.zeros(len(observations))

    return policy


def eager(observations):
    """Wants to change variables wherever it may."""
    log_probs = [
        np.log([0.9 if action.op == "cov" else 1e-3 for action in o.actions]) for o in observations
    ]
    return log_probs, np.zeros(len(observations))


def play(regime: str, skip: str = "", problems=PROBLEMS):
    config = EnvConfig(terms="blocks", max_steps=10)
    cache = config.new_cache()
    return greedy(
        textbook(cache, skip), problems, config, cache, loops=True, steer=steer_for(regime, propose)
    )


def ops(solution) -> list[str]:
    return [observation.actions[action].op for observation, action, *_ in solution.path]


@pytest.mark.parametrize(
    "regime, solved",
    [
        ("never", [False, False, True]),
        ("always", [False, True, True]),  # the exponential needs a second change of variables
        ("rule", [True, True, True]),
        ("learned", [True, True, True]),
        ("rule+expand", [True, True, True]),
    ],
)
def test_who_solves_what_under_a_regime(regime, solved):
    assert [solution.solved for solution in play(regime)] == solved


def test_a_rule_fires_for_a_policy_that_never_would():
    shy = play("learned", skip="cov")
    ruled = play("rule", skip="cov")
    assert [s.solved for s in shy] == [False, False, True]
    assert [s.solved for s in ruled] == [True, True, True]
    assert ops(ruled[0]).count("cov") == 2


def test_never_masks_every_change_of_variables():
    assert not any("cov" in ops(solution) for solution in play("never"))


def test_always_fires_first_and_never_again():
    for solution in play("always"):
        assert ops(solution)[0] == "cov" and ops(solution).count("cov") == 1


def test_rule_fires_only_where_a_substitution_is_found():
    config = EnvConfig(terms="blocks", max_steps=4)
    cache = config.new_cache()
    (free,) = greedy(eager, PROBLEMS[2:], config, cache, loops=True)
    (ruled,) = greedy(
        eager, PROBLEMS[2:], config, cache, loops=True, steer=steer_for("rule", propose)
    )
    assert "cov" in ops(free) and "cov" not in ops(ruled)


def test_rule_and_expand_expands_before_it_fires():
    problems = [Problem("x*(x + 2) + b = 0", "quadratic")]
    assert ops(play("rule", problems=problems)[0])[:1] == ["cov"]
    assert ops(play("rule+expand", problems=problems)[0])[:2] == ["expand", "cov"]


def test_an_unknown_regime_is_refused():
    with pytest.raises(ValueError, match="unknown regime 'sometimes'; known: never, always"):
        steer_for("sometimes", propose)


def test_the_trigger_as_a_classifier_by_hand():
    """Fired on the two open equations and on one of the two closed: 2 right, 1 wrong, 0 missed."""
    problems = [*PROBLEMS, Problem("x + a = 0", "abel_level1")]
    config = EnvConfig(terms="blocks", max_steps=10)
    cache = config.new_cache()
    found = greedy(textbook(cache), problems[:2] + problems[3:], config, cache, loops=True)
    (idle,) = greedy(eager, problems[2:3], config, cache, loops=True)
    families = ["exponential", "quadratic", "abel_level1", "abel_level2"]
    report = classifier([*found, idle], families, [True, True, False, False])
    assert [report[key] for key in ("tp", "fp", "fn", "tn")] == [2, 1, 0, 1]
    assert report["precision"] == pytest.approx(2 / 3) and report["recall"] == 1.0
    assert report["f1"] == pytest.approx(0.8) and report["false_positives_solved"] == 0
    (wrong,) = report["false_positives"]
    assert wrong["equation"] == "a*x + b = 0" and wrong["state"] == "a*x + b = 0"
    assert wrong["family"] == "abel_level2" and wrong["idle"]


def test_the_report_has_every_regime_and_adds_up():
    config = EnvConfig(terms="blocks", max_steps=3)
    report = trigger(eager, PROBLEMS, config)
    assert list(report["regimes"]) == list(REGIMES)
    for row in report["regimes"].values():
        assert row["overall"][1] == row["open"][1] + row["closed"][1] == 3
        assert row["overall"][0] == sum(solved for solved, _ in row["by_family"].values())


def test_arms_of_the_pipeline():
    config = EnvConfig(terms="blocks", max_steps=5)
    flags = {"width": 2, "value_coef": 0.0, "complexity_coef": 0.0}

    def policy(observations):
        """Subtracts, takes the root or changes variables, whichever is legal first."""
        log_probs = []
        for o in observations:
            names = [str(action) for action in o.actions]
            order = ["sub b - 1", "sqrt", "cov"]
            ranked = [order.index(n) if n in order else 9 for n in names]
            log_probs.append(-2.0 * np.array(ranked))
        return log_probs, np.zeros(len(observations))

    problems = [Problem("x^2 + 2*x + b = 0", "quadratic")]
    report = decomposition(policy, problems, config, propose, lambda lhs, rhs: None, **flags)
    assert report["arms"]["A"]["overall"] == [1, 1] and report["arms"]["A"]["invoked_cov"] == 1
    assert report["arms"]["B"]["overall"] == [0, 1] and report["arms"]["B"]["invoked_cov"] == 0
    assert report["arms"]["C"]["overall"] == [0, 1]


def test_tally_counts_by_family():
    assert tally(["a", "b", "a"], [True, False, False]) == {
        "overall": [1, 3],
        "by_family": {"a": [1, 2], "b": [0, 1]},
    }
