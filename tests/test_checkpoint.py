"""Checkpoints and the table of operations: rows are matched by name, switches by having existed."""

import math
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch

import train_ppo
from abel.env import EnvConfig
from abel.learner import checkpoint
from abel.learner.checkpoint import agent_weights, match_rows
from abel.learner.config import config_from_dict, hparams
from abel.learner.records import RunError
from abel.operations import OPERATIONS
from train_ppo import PRESETS, Agent, Args, NetConfig, load_agent, parse_args

REFERENCE = Path(train_ppo.__file__).parent / "runs" / "reference" / "best.pt"


# ---- Rows of the pointer head ----


def test_rows_are_matched_by_name_whatever_their_order():
    rows = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
    assert match_rows(rows, ["add", "mul"], ["mul", "add"]).tolist() == [[2, 2], [1, 1]]


def test_a_new_row_gets_a_fresh_embedding_that_hangs_on_its_name_alone():
    rows = torch.ones(1, 64)
    first = match_rows(rows, ["add"], ["cube", "add", "gamma"])
    torch.rand(5)
    again = match_rows(rows, ["add"], ["gamma", "add", "cube"])
    assert torch.equal(first[0], again[2]) and torch.equal(first[2], again[0])
    assert torch.equal(first[1], rows[0]) and not torch.equal(first[0], first[2])
    assert first[0].mean().abs() < 0.5 and first[0].std() == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        (["add", "sorcery"], "no operation 'sorcery' any more"),
        (["add"], "2 embeddings are for 1 operations"),
        (["add", "add"], "2 embeddings are for 2 operations"),
    ],
)
def test_a_row_that_is_gone_or_miscounted_is_an_error_that_says_so(stored, words):
    with pytest.raises(RunError, match=words):
        match_rows(torch.ones(2, 3), stored, ["add", "mul"])


def test_a_new_row_changes_no_other_weight_of_a_seed(monkeypatch):
    def weights():
        torch.manual_seed(3)
        return Agent(NetConfig(hidden=8, embed=8)).state_dict()

    before = weights()
    more = {"cube": replace(OPERATIONS["square"], name="cube"), **OPERATIONS}
    monkeypatch.setattr(train_ppo, "OPERATIONS", more)
    after = weights()
    assert torch.equal(after["op.weight"][1:], before["op.weight"])
    assert all(torch.equal(after[name], before[name]) for name in before if name != "op.weight")
    torch.manual_seed(4)
    assert not torch.equal(Agent(NetConfig(hidden=8, embed=8)).op.weight, before["op.weight"])


def stored_without(*names: str, head: str = "pointer") -> tuple[dict, Agent]:
    """A checkpoint of a version that did not have these operations, and its agent."""
    agent = Agent(NetConfig(hidden=8, embed=8, head=head))
    weights, kept = agent.state_dict(), [name for name in OPERATIONS if name not in names]
    if head == "pointer":
        weights["op.weight"] = weights["op.weight"][[list(OPERATIONS).index(n) for n in kept]]
    return {"agent": weights, "operations": kept}, agent


@pytest.mark.parametrize("head", ["pointer", "index"])
def test_an_agent_trained_with_fewer_operations_loads_and_says_what_is_new(head, capsys):
    state, agent = stored_without("tan", "cbrt", head=head)
    weights = agent_weights(state, Path("best.pt"), EnvConfig())
    assert capsys.readouterr().err == "note: 'best.pt' was trained without cbrt\n"  # tan is off
    for name, weight in agent.state_dict().items():
        if name != "op.weight":
            assert torch.equal(weights[name], weight)
    if head == "pointer":
        same = [(weights["op.weight"][i] == row).all() for i, row in enumerate(agent.op.weight)]
        assert [name for name, equal in zip(OPERATIONS, same) if not equal] == ["cbrt", "tan"]


def test_the_bundled_agent_loads_beside_a_new_row(monkeypatch, capsys):
    agent, args, _ = load_agent(REFERENCE)
    assert capsys.readouterr().err == ""
    row = replace(OPERATIONS["square"], name="cube")
    more = {"cube": row, **OPERATIONS}
    for module in (train_ppo, checkpoint):
        monkeypatch.setattr(module, "OPERATIONS", more)
    wider, _, _ = load_agent(REFERENCE)
    assert torch.equal(wider.op.weight[1:], agent.op.weight) and len(wider.op.weight) == len(more)
    assert "was trained without cube" in capsys.readouterr().err


def test_a_run_does_not_go_on_with_another_table(tmp_path, monkeypatch, capsys):
    flags = "--dataset abel_level1 --num-envs 4 --num-steps 8 --hidden 8 --total-timesteps 32"
    run = train_ppo.main(train_ppo.parse_args([*flags.split(), "--out", str(tmp_path)]), [])
    state = torch.load(run / "last.pt", weights_only=True)
    state["operations"].reverse()
    state["agent"]["op.weight"] = state["agent"]["op.weight"].flip(0)
    torch.save(state, run / "last.pt")
    capsys.readouterr()
    assert train_ppo.run(["--resume", str(run)]) == 2
    assert "the table of operations is another one now" in capsys.readouterr().err


# ---- Arguments ----


def test_a_switch_that_a_checkpoint_does_not_name_is_off():
    data = asdict(Args())
    for name in ("cbrt", "let", "max_cov"):
        del data["env"][name]
    env = config_from_dict(Args, data).env
    assert EnvConfig().cbrt and EnvConfig().let
    assert not env.cbrt and not env.let and env.max_cov == EnvConfig().max_cov
    assert config_from_dict(Args, asdict(Args())) == Args()


def test_hparams_are_plain_values_by_name():
    flat = hparams(Args(preset="general"))
    assert flat["preset"] == "general" and flat["gamma"] == 0.99 and flat["anneal_lr"] is True
    assert flat["hidden"] == 64 and flat["constants"] == "blocks" and flat["eval_problems"] == 200
    assert flat["target_kl"] == "none" and not {"env", "net", "watch"} & flat.keys()
    assert all(isinstance(value, bool | int | float | str) for value in flat.values())


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_hparams_have_names_and_no_python(preset):
    flat = hparams(parse_args(["--preset", preset]))
    words = [value for value in flat.values() if isinstance(value, str)]
    assert preset in words and not [
        word for word in words if re.search(r"[<>()\[\]{}']|None", word)
    ]


def test_hparams_of_what_is_no_number_are_words():
    @dataclass(frozen=True)
    class Odd:
        widths: tuple = (1, 2.5, "wide")
        bonus: Any = math.sqrt
        limit: None = None

    assert hparams(Odd()) == {"widths": "1 2.5 wide", "bonus": "sqrt", "limit": "none"}
