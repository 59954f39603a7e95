"""The paper's check beside ours: what it accepts, what of that is a root, and who may use it."""

import json

import numpy as np
import pytest
from sympy import Add, Mul

import train_ppo
from abel import Env, EnvConfig, parse
from abel.datasets import Problem
from abel.paper import criterion
from abel.paper.check import Claim, PaperCache, as_it_stands, paper_cache
from abel.paper.criterion import Claims, PaperEnvs
from abel.transitions import TransitionCache
from tests.test_layout import FILES, imports

CONFIG = EnvConfig(relabel=True, cov="cas")
EXPLOIT = [("cov",), ("relabel",), ("mul -1",), ("mul", "x"), ("div", None), ("relabel",)]
HONEST = [("cov",), ("relabel",), ("sub", "a"), ("div", "b"), ("sqrt",)]


UNIVERSAL = [("mul", "x"), ("div", None), ("relabel",)]
QUADRATIC = "a*x^2 + 2*c*x + 5*d = 0"
CASES = [
    (EXPLOIT, QUADRATIC, "-c/a"),  # as the paper's traces have it: the vertex
    (UNIVERSAL, QUADRATIC, "0"), (UNIVERSAL, "a*x + b = 0", "0"),
    (UNIVERSAL, "exp(x) + a = 0", "0"), (UNIVERSAL, "sin(x)*a + x + c = 0", "0"),
]  # fmt: skip


def play(steps, cache, text=QUADRATIC):
    env = Env([text], CONFIG, cache=cache)
    env.reset()
    for op, *term in steps:
        if term == [None]:  # all that stands beside x
            rest = [factor for factor in env.form.lhs.args if factor != parse("x = 0").lhs]
            term = [str(Mul(*rest))]
        env.step(env.find(op, *term))
    return env


@pytest.mark.parametrize(("steps", "text", "root"), CASES)
def test_the_universal_exploit_is_accepted_by_the_papers_check_and_is_no_root(steps, text, root):
    env = play(steps, paper_cache(CONFIG, "published"), text)
    assert env.solved and env.ended and str(env.root) == root
    assert isinstance(env.verdict, Claim) and env.verdict.accepted
    assert not env.verdict.proved and env.verdict.status != "proved"


@pytest.mark.parametrize(("steps", "text", "root"), CASES)
def test_the_product_refuses_the_exploit_at_every_step_that_it_needs(steps, text, root):
    with pytest.raises(ValueError, match="'div .*' is not legal"):
        play(steps, CONFIG.new_cache(), text)
    unguarded = paper_cache(CONFIG, "published")
    unguarded.judge = lambda equation, state: TransitionCache.judge(unguarded, equation, state)
    env = play(steps, unguarded, text)  # even if the division were legal
    assert str(env.root) == root and not env.solved and env.verdict.status == "refuted"


@pytest.mark.parametrize("check", ["published", "ours"])
def test_an_honest_solution_is_a_claim_that_is_proved(check):
    env = play(HONEST, paper_cache(CONFIG, check))
    assert env.solved and env.verdict.accepted and env.verdict.proved
    assert env.verdict.status == {"published": "claimed", "ours": "proved"}[check]


def test_under_our_check_what_the_papers_accepts_is_only_noted():
    cache = paper_cache(CONFIG, "ours")
    env = play([("square",), ("relabel",)], cache, "sqrt(x) = -sqrt(b^2 + 1)")
    assert env.form.solved_form and not env.solved
    assert env.verdict.accepted and not env.verdict.proved and env.verdict.status == "refuted"


def test_a_relabeling_replaces_the_equation_that_a_root_is_checked_in():
    env = play(EXPLOIT[:2], paper_cache(CONFIG, "published"))
    stands = as_it_stands(env.equation, env.state.stack)
    assert stands == parse("a + b*x^2 = 0") or stands == parse("b + a*x^2 = 0")
    assert as_it_stands(env.equation, ()) is env.equation


def test_no_flag_of_the_product_leads_to_the_papers_check():
    for preset in train_ppo.PRESETS:
        cache = train_ppo.parse_args(["--preset", preset]).env.new_cache()
        assert type(cache) is TransitionCache and not isinstance(cache, PaperCache)
    users = {name for name, path in FILES.items() if "abel.paper.check" in imports(path, False)}
    assert users == {"soundness", "paper.criterion"}
    assert not [name for name, path in FILES.items()
                if "abel.paper.criterion" in imports(path, False)]  # fmt: skip


def test_environments_tell_what_they_judge_with_the_equation_that_it_is_about():
    heard = []
    problems = [Problem("x + a = 0", "sum"), Problem("b*x = 0", "product")]
    envs = PaperEnvs("published", lambda *told: heard.append(told), 2, problems, CONFIG,
                     choose=iter([0, 1, 0, 1]).__next__)  # fmt: skip
    envs.reset(seed=1)
    acts = [env.find(*step) for env, step in zip(envs.envs, [("sub", "a"), ("div", "b")])]
    envs.step(acts)
    assert [(step, index, judged.proved) for step, index, judged in heard] == [
        (2, 0, True), (2, 1, True)
    ]  # fmt: skip


@pytest.mark.parametrize(("check", "claims"), [("published", 1), ("ours", 0)])
def test_decoding_takes_the_relabeling_that_ends_the_exploit(check, claims):
    script = iter([*EXPLOIT, *[("mul -1",)] * CONFIG.max_steps])

    def beside(action):  # the factor beside x
        return isinstance(action.term, Add)

    def policy(observations):
        (seen,), (op, *term) = observations, next(script)
        fits = [
            a.op == op and (not term or str(a.term) == term[0] or (term == [None] and beside(a)))
            for a in seen.actions
        ]
        return [np.where(fits, 0.0, -9.0)], np.zeros(1)

    problems = [Problem("a*x^2 + 2*c*x + 5*d = 0", "quadratic")]
    found = criterion.decode(policy, problems, CONFIG, check, width=1)
    data = criterion.claims_of(found, problems)
    assert (data["claims"], data["roots"]) == (claims, 0)


def test_claims_are_counted_by_family_and_over_steps():
    claims = Claims()
    for step, family, proved in ((1, "a", True), (60, "a", False), (100, "b", False)):
        claim = Claim("claimed", accepted=True, proved=proved, root=str(step))
        claims.add(step, Problem("x = a", family), claim)
    claims.add(50, Problem("x = a", "b"), Claim("rejected"))
    data = claims.to_data(100)
    assert (data["claims"], data["roots"]) == (3, 1)
    assert data["by_family"] == {"a": [2, 1], "b": [1, 0]}
    assert data["no_roots"]["a"] == {"equation": "x = a", "claimed": "60"}
    assert data["over_steps"][0] == [5, 1, 1] and data["over_steps"][11] == [60, 1, 0]
    assert data["over_steps"][19] == [100, 1, 0] and sum(row[1] for row in data["over_steps"]) == 3


def test_the_command_writes_what_a_training_claims(tmp_path, capsys):
    flags = "--dataset abel_level1 --total-timesteps 128 --num-envs 4 --num-steps 16 --relabel"
    told = ["--check", "published", "--flags", flags, "--json", str(tmp_path / "out.json")]
    assert criterion.main(told) == 0
    data = json.loads((tmp_path / "out.json").read_text())
    row = data["seeds"]["1"]
    assert row["steps"] == 128 and set(row["test"]) == {"greedy", "beam"} and data["commit"]
    assert row["training"]["claims"] >= row["training"]["roots"]
    assert "seed 1, training:" in capsys.readouterr().out


def test_an_agent_that_chooses_its_own_substitutions_is_refused(capsys):
    assert criterion.main(["--check", "ours", "--flags", "--preset general"]) == 2
    assert "this agent chooses" in capsys.readouterr().err
