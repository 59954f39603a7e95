"""An operation is one row: `cube` is added from outside, and everything works with it."""

import pytest
from sympy import Integer, Symbol

import evaluate
import train_ppo
from abel import Env, EnvConfig, Trace
from abel.operations import OPERATIONS, Operation, both
from abel.rewrite import power

CUBING = both(lambda side: power(side, Integer(3)))
CUBE = Operation(
    "cube", "cube both sides", r"(\cdot)^3", CUBING,
    lambda sides, _: sides.room >= 0 and sides.lead_on(CUBING), keeps=True,
)  # fmt: skip


@pytest.fixture
def cube(monkeypatch):
    monkeypatch.setitem(OPERATIONS, "cube", CUBE)


def test_a_row_from_outside_is_offered_applied_and_told(cube):
    env = Env(["cbrt(x) = a"])
    env.reset()
    env.step(env.find("cube"))
    assert env.solved and env.root == Symbol("a") ** 3
    trace = env.trace()
    assert "cube both sides" in trace.to_text() and r"(\cdot)^3" in trace.to_latex()
    assert Trace.from_json(trace.to_json()).compare()


def test_caps_take_kinds_of_rows_away_wherever_they_stand(cube):
    env = Env(["log(x)^2 + b*log(x) = a"], EnvConfig(substitutions="general", max_changes=0))
    env.reset()
    ops = [action.op for action in env.actions]
    assert "let" not in ops and "put h*x" not in ops and ops[-1] == "cube"
    ops = [action.op for action in env.cache.observe(env.form, True).actions]
    assert "let" in ops and "put h*x" in ops and ops[-1] == "cube"


def test_without_the_row_nothing_knows_it():
    assert "cube" not in OPERATIONS
    with pytest.raises(ValueError, match="unknown operation 'cube'"):
        Env(["cbrt(x) = a"]).find("cube")


@pytest.mark.slow
def test_an_agent_learns_the_new_row(cube, tmp_path, capsys):
    """Trained with it, the agent solves with it; its trace is replayed, and all roots are found."""
    equations = [f"cbrt(x) = {c}" for c in "abcd"] + [f"cbrt(x + {c}) = d" for c in "abcf"]
    data = tmp_path / "cubes.txt"
    data.write_text("\n".join(equations))
    flags = ["--dataset", str(data), "--total-timesteps", "7000", "--out", str(tmp_path)]
    assert train_ppo.run([*flags, "--num-envs", "16", "--num-steps", "16"]) == 0
    (run,) = tmp_path.glob("cubes__*")
    capsys.readouterr()

    def solve(*flags):
        code = evaluate.run(["--run", str(run), "--equation", "cbrt(x + m) = k", *flags])
        assert code == 0
        return capsys.readouterr().out

    trace = Trace.from_json(solve("--format", "json"))
    assert trace.compare() and "cube" in {step.op for step in trace.steps}
    said = solve("--all-roots")
    assert "cube both sides" in said and "1 root\nx = k^3 - m   (proved" in said


def test_the_bundled_agent_loads_beside_it(cube, capsys):
    assert evaluate.run(["--equation", "a*x^2 + b*x + c = 0"]) == 0
    assert "proved" in capsys.readouterr().out
