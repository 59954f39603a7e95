"""What a result says about its origin."""

import hashlib
import subprocess
import sys

import pytest

from abel.learner import records
from abel.learner.records import provenance


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("/somewhere/abel/bench.py", "python -m abel.bench env --steps 5"),
        ("/somewhere/train_ppo.py", "python train_ppo.py env --steps 5"),
        ("evaluate.py", "python evaluate.py env --steps 5"),
    ],
)
def test_the_command_can_be_repeated(script, command, monkeypatch):
    monkeypatch.setattr(sys, "argv", [script])
    assert provenance(["env", "--steps", "5"], [])["command"] == command
    assert provenance(["env", "--out", "/my/home", "--steps", "5"], [])["command"] == command
    assert provenance(["env", "--steps", "5", "--out=/my/home"], [])["command"] == command
    spaced = provenance(["--equation", "x + 1 = 2", "--out", "my home"], [])["command"]
    assert spaced.endswith("--equation 'x + 1 = 2'")


def test_the_data_is_named_by_its_hash():
    found = provenance([], ["x = 1", "x = 2"])
    assert found["dataset_sha256"] == hashlib.sha256(b"x = 1\nx = 2").hexdigest()
    assert found["packages"]["sympy"] and found["python"].startswith("3.")


def test_only_changed_code_is_dirty(tmp_path, monkeypatch):
    for name in ("abel/learner/records.py", "runs/results/table.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("1")
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(records, "clone", lambda: tmp_path)
    assert provenance([], [])["dirty"] is False
    (tmp_path / "runs/results/table.json").write_text("2")
    assert provenance([], [])["dirty"] is False
    (tmp_path / "abel/learner/records.py").write_text("2")
    assert provenance([], [])["dirty"] is True
