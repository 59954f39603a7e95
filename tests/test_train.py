"""The training script end to end: it learns, resumes bit for bit, and explains bad input."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import train_ppo
from abel.learner.events import read_scalars, training
from train_ppo import PRESETS, Args, load_agent, parse_args

SCRIPT = str(Path(train_ppo.__file__))
SMALL = (
    "--dataset abel_level1 --num-envs 8 --num-steps 16 --minibatch-size 64"
    " --eval-period 512 --checkpoint-period 256"
).split()


def train(*flags: str, hash_seed: str = "0", **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, SCRIPT, *flags],
        capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": hash_seed}, **options,
    )  # fmt: skip


def run_in(directory: Path) -> Path:
    (run,) = directory.iterdir()
    return run


def weights(run: Path) -> dict[str, torch.Tensor]:
    return torch.load(run / "last.pt", weights_only=True)["agent"]


def same(first: Path, second: Path) -> bool:
    one, two = weights(first), weights(second)
    return one.keys() == two.keys() and all(torch.equal(one[k], two[k]) for k in one)


# ---- Arguments ----


def test_flags_override_presets_override_defaults():
    assert parse_args([]) == Args()
    paper = parse_args(["--preset", "ppo-tree-rc-buf", "--gamma", "0.5", "--max-steps", "7"])
    assert (paper.gamma, paper.env.max_steps, paper.replay) == (0.5, 7, "flat")
    assert paper.env.relabel and paper.env.cov == "off" and paper.net.head == "index"
    assert paper.batch_size == 2048 and paper.minibatch_size == 64


def test_shell_completion_knows_every_flag(capsys):
    with pytest.raises(SystemExit):
        parse_args(["--tyro-print-completion", "bash"])
    script = capsys.readouterr().out
    assert "--preset" in script and "--epsilon-ladder" in script and "--max-steps" in script


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_complete(preset):
    args = parse_args(["--preset", preset])
    assert args.preset == preset and args.batch_size <= args.total_timesteps


def test_the_ladder_of_the_paper():
    c1, c2, c4, c5, c6, c7 = (
        parse_args(["--preset", p]) for p in ("ppo-tree-rc-buf-cov", "c2", "c4", "c5", "c6", "c7")
    )
    assert (c1.env.repeat_penalty, c2.env.repeat_penalty, c6.env.repeat_penalty) == (0, 0.1, 0)
    assert not c1.env.cbrt and c4.env.cbrt and (c1.env.max_cov, c4.env.max_cov) == (1, 3)
    assert (c4.replay, c5.replay, c6.replay, c7.replay) == ("flat", "fresh", "flat", "fresh")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--dataset", "nowhere"], "nowhere"),
        (["--preset", "none"], "ppo-tree"),
        (["--total-timesteps", "-5"], "total-timesteps"),
        (["--search-period", "0"], "--search-period must be at least 1, got 0"),
        (["--eval-problems", "0"], "--eval-problems must be at least 1, got 0"),
        (["--replay-ramp", "-1"], "--replay-ramp must be at least 0, got -1"),
        (["--resume", "nowhere"], "no checkpoint"),
        (["--dataset", "abel_level1", "--out", "/dev/null/runs"], "/dev/null"),
        (["--max-steps", "0"], "max_steps"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_2(flags, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        code = train_ppo.run(flags)
    except SystemExit as stop:  # a flag that does not parse
        code = stop.code
    said = capsys.readouterr()
    assert code == 2 and words in said.err + said.out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_damaged_or_foreign_checkpoint_is_refused(content, tmp_path, capsys):
    if content is None:
        torch.save({"weights": torch.zeros(3)}, tmp_path / "last.pt")
    else:
        (tmp_path / "last.pt").write_bytes(content)
    assert train_ppo.run(["--resume", str(tmp_path)]) == 2
    assert "checkpoint" in capsys.readouterr().err


# ---- Runs ----


@pytest.mark.slow
def test_two_runs_of_one_seed_are_equal_whatever_the_hash_seed(tmp_path):
    for seed in "01":
        flags = [*SMALL, "--total-timesteps", "640", "--out", str(tmp_path / seed)]
        assert train(*flags, hash_seed=seed).returncode == 0
    runs = [run_in(tmp_path / seed) for seed in "01"]
    assert same(*runs)
    first, second = (read_scalars(run, "") for run in runs)
    assert first.keys() == second.keys() and "losses/policy_loss" in first
    for tag in first:
        if not tag.startswith("time/") and tag != "charts/SPS":
            assert np.array_equal(first[tag], second[tag]), tag


LONGER = [*SMALL, "--total-timesteps", "2048", "--out"]


@pytest.fixture(scope="session", name="whole")
def fixture_whole(tmp_path_factory):
    """A run that nothing interrupts, in a process of its own as those that are compared with it."""
    out = tmp_path_factory.mktemp("whole")
    assert train(*LONGER, str(out)).returncode == 0
    return run_in(out)


@pytest.mark.slow
def test_a_killed_run_resumes_bit_for_bit(whole, tmp_path):
    """So does one that stops between iterations, with other settings: test_loop."""
    child = subprocess.Popen(
        [sys.executable, SCRIPT, *LONGER, str(tmp_path / "killed")], stdout=subprocess.DEVNULL
    )
    while not list(tmp_path.glob("killed/*/last.pt")):
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(signal.SIGKILL)
    child.wait()
    run = run_in(tmp_path / "killed")
    assert torch.load(run / "last.pt", weights_only=True)["step"] < 2048
    assert train("--resume", str(run)).returncode == 0
    assert same(whole, run)


@pytest.mark.slow
def test_an_interrupted_run_saves_and_says_how_to_go_on(tmp_path):
    flags = [*SMALL, "--total-timesteps", "1000000", "--out", str(tmp_path)]
    child = subprocess.Popen([sys.executable, SCRIPT, *flags], stdout=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("*/best.pt")):
        time.sleep(0.05)
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0 and "--resume" in out
    assert (run_in(tmp_path) / "last.pt").exists()


LEARNING = "--dataset abel_level1 --num-envs 32 --minibatch-size 256 --total-timesteps"


def greedy_accuracy(shown: str) -> float:
    """What the closing lines say."""
    said, after = shown.strip().splitlines()[-2:]
    assert after.startswith("next: python evaluate.py --run ")
    return float(re.search(r"solves ([\d.]+)% of \d+ training equations", said).group(1)) / 100


@pytest.mark.slow
def test_it_learns_the_first_level_in_about_a_minute(tmp_path, capsys):
    assert train_ppo.run([*LEARNING.split(), "12000", "--out", str(tmp_path)]) == 0
    run, shown = run_in(tmp_path), capsys.readouterr().out
    assert greedy_accuracy(shown) >= 0.9, shown
    assert "val" not in shown.split()  # there is nothing to validate on, which is not 0.000
    for name in ("args.json", "provenance.json"):
        assert json.loads((run / name).read_text())
    agent, args, state = load_agent(run)
    assert args.dataset == "abel_level1" and state["step"] <= 13_000
    shares = training(run)["share"]
    assert sum(values[-1] for values in shares.values()) == pytest.approx(1, abs=1e-3)
    table = (Path(SCRIPT).parent / "runs" / "README.md").read_text()
    for tag in read_scalars(run, ""):
        group, name = tag.split("/", 1)
        assert group not in ("eval", "hparam")  # of an empty validation set, nothing
        assert f"`{group}/" in table and (f"{name}`" in table or f"`{group}/<family>`" in table)


@pytest.mark.slow
def test_without_a_learning_rate_nothing_is_learned(tmp_path, capsys):
    """The same criterion: coverage alone is reached by random actions.

    Fewer steps than above will do, for the agent stays as it was made.
    """
    flags = [*LEARNING.split(), "4000", "--learning-rate", "0"]
    assert train_ppo.run([*flags, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert greedy_accuracy(shown) < 0.5, shown


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["ppo-tree-rc-buf-cov", "c5"])
def test_the_papers_presets_run(preset, tmp_path):
    small = "--num-envs 4 --num-steps 64 --total-timesteps 512 --num-epochs 2 --eval-problems 5"
    flags = ["--preset", preset, "--dataset", "open_small", "--out", str(tmp_path), *small.split()]
    assert train_ppo.run(flags) == 0


@pytest.mark.slow
def test_a_training_that_searches_comes_to_its_end(tmp_path):
    flags = [*SMALL, "--total-timesteps", "1024", "--search-period", "1"]
    flags += ["--search-equations", "2", "--out", str(tmp_path)]
    assert train_ppo.run(flags) == 0
