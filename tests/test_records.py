"""Nothing is lost: full disks, killed processes, and two that want the same directory."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
import torch

import train_ppo
from abel.learner import records
from abel.learner.records import (
    RunError,
    hold,
    load_checkpoint,
    new_run,
    save_checkpoint,
    write_json,
)
from tests.test_train import LONGER, SMALL, fixture_whole, run_in, same, train  # noqa: F401

PROJECT = Path(train_ppo.__file__).parent


def state(step: int) -> dict:
    return {"format": "test", "step": step, "weights": torch.full((1000,), float(step))}


def child(program: str, *words: str, **options) -> subprocess.Popen:
    """A process that runs `program` in this project."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


# ---- Full disks ----


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_last_good_checkpoint(step, tmp_path, monkeypatch):
    path = tmp_path / "last.pt"
    save_checkpoint(path, state(1))
    monkeypatch.setattr(records.os, step, full)
    with pytest.raises(RunError, match="cannot write .*last.pt': No space left on device"):
        save_checkpoint(path, state(2))
    assert load_checkpoint(path, "test")["step"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["last.pt"]


def test_a_full_disk_in_the_middle_of_a_write_leaves_the_last_good_file(tmp_path):
    path = tmp_path / "result.json"
    write_json(path, [1])

    def half(file):
        file.write(b"[2")
        full()

    with pytest.raises(RunError, match="No space left"):
        records.write_atomically(path, half)
    assert path.read_text() == "[1]\n" and len(list(tmp_path.iterdir())) == 1


def test_a_limit_of_the_system_is_one_clear_line(tmp_path):
    program = """if True:
        import resource, sys, torch
        from pathlib import Path
        from abel.learner.records import RunError, save_checkpoint
        path = Path(sys.argv[1])
        save_checkpoint(path, {"format": "test", "step": 1})
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        try:
            save_checkpoint(path, {"format": "test", "weights": torch.zeros(100_000)})
        except RunError as error:
            sys.exit(str(error))
    """
    _, said = child(program, str(tmp_path / "last.pt")).communicate()
    assert "cannot write" in said and "File too large" in said and said.count("\n") == 1
    assert load_checkpoint(tmp_path / "last.pt", "test")["step"] == 1
    assert len(list(tmp_path.iterdir())) == 1


# ---- Killed processes ----

STALL = """if True:
    import sys, time
    from pathlib import Path
    from abel.learner import records
    def stall(_):
        print("stalled", flush=True)
        time.sleep(600)
    records.os.fsync = stall
    directory = Path(sys.argv[1])
    lock = records.hold(directory)
    records.save_checkpoint(directory / "last.pt", {"format": "test", "step": 2})
"""


@pytest.fixture
def killed(tmp_path):
    """A directory with a good checkpoint, and with what a killed process left of the next one."""
    save_checkpoint(tmp_path / "last.pt", state(1))
    process = child(STALL, str(tmp_path))
    assert process.stdout.readline() == "stalled\n"
    process.kill()
    process.communicate()
    return tmp_path


def test_a_process_killed_in_the_middle_of_a_write_loses_nothing(killed):
    assert list(killed.glob("*.tmp"))
    assert load_checkpoint(killed / "last.pt", "test")["step"] == 1
    save_checkpoint(killed / "last.pt", state(3))
    assert load_checkpoint(killed / "last.pt", "test")["step"] == 3


def test_a_killed_process_leaves_no_lock_and_its_leftovers_are_swept_away(killed):
    (killed / "mine.tmp").touch()
    hold(killed).close()
    assert sorted(file.name for file in killed.iterdir()) == ["last.pt", "lock", "mine.tmp"]


# ---- Two at once ----


def test_a_directory_is_held_by_one_process_which_the_other_is_told(tmp_path):
    process = child(STALL, str(tmp_path))
    assert process.stdout.readline() == "stalled\n"
    with pytest.raises(RunError) as caught:
        hold(tmp_path)
    process.kill()
    process.communicate()
    assert f"'{tmp_path}' is in use by process {process.pid} on " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_lock_is_free_again_once_closed(tmp_path):
    first = hold(tmp_path)
    with pytest.raises(RunError, match=f"in use by process {os.getpid()}"):
        hold(tmp_path)
    first.close()
    hold(tmp_path).close()


def test_a_lock_file_of_nonsense_does_no_harm(tmp_path):
    (tmp_path / "lock").write_bytes(b"\xff\x00nonsense" * 1000)
    first = hold(tmp_path)
    with pytest.raises(RunError, match=f"process {os.getpid()} on"):
        hold(tmp_path)
    first.close()


def test_runs_that_begin_in_the_same_second_have_directories_of_their_own(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: new_run(str(tmp_path / "new"), "same__name"), range(48)))
    assert len(set(made)) == 48 and all(path.is_dir() for path in made)


# ---- What a file says of a network and of a dataclass ----


@pytest.mark.parametrize("encoder", ["tree", "paper", "mlp", "gcn", "sage"])
def test_weights_are_the_same_after_storing_and_loading(encoder, tmp_path):
    net = train_ppo.NetConfig(hidden=8, embed=8, encoder=encoder, head="index")
    agent = train_ppo.Agent(net)
    save_checkpoint(tmp_path / "last.pt", {"format": "test", "agent": agent.state_dict()})
    stored = load_checkpoint(tmp_path / "last.pt", "test", "agent")["agent"]
    loaded = records.load_weights(lambda: train_ppo.Agent(net), stored, tmp_path)
    for name, weight in loaded.state_dict().items():
        assert torch.equal(weight, agent.state_dict()[name])


@dataclass
class Config:
    count: int = 1
    rate: float = 0.5
    kind: Literal["one", "other"] = "one"
    limit: float | None = None
    name: str = ""


def test_fields_are_of_their_types():
    records.check_fields(Config())
    records.check_fields(Config(count=3, rate=1, kind="other", limit=2, name="a"))
    for wrong in ({"count": True}, {"count": "1"}, {"rate": "fast"}, {"kind": "third"},
                  {"kind": ["one"]}, {"limit": "none"}, {"name": None}):  # fmt: skip
        with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be"):
            records.check_fields(Config(**wrong))


# ---- The training script ----


@pytest.mark.slow
def test_two_trainings_of_one_name_do_not_share_a_directory(tmp_path):
    flags = [*SMALL, "--total-timesteps", "256", "--out", str(tmp_path)]
    script = [sys.executable, train_ppo.__file__, *flags]
    both = [subprocess.Popen(script, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    first, second = tmp_path.iterdir()
    assert same(first, second)


@pytest.mark.slow
def test_a_run_is_resumed_by_one_process_at_a_time_and_survives_a_full_disk(
    whole, tmp_path, capsys
):
    script = [sys.executable, train_ppo.__file__, *LONGER, str(tmp_path / "run")]
    first = subprocess.Popen(script, stdout=subprocess.DEVNULL)
    while not list(tmp_path.glob("run/*/last.pt")):
        time.sleep(0.02)
    first.send_signal(signal.SIGSTOP)
    run = run_in(tmp_path / "run")
    kept = (run / "last.pt").read_bytes()

    assert train_ppo.run(["--resume", str(run)]) == 2
    said = capsys.readouterr().err
    assert f"is in use by process {first.pid} on" in said and said.count("\n") == 1
    assert (run / "last.pt").read_bytes() == kept
    first.kill()
    first.wait()

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(kept) // 2, len(kept) // 2))

    third = train("--resume", str(run), preexec_fn=small_disk)
    assert third.returncode == 2 and third.stderr.count("\n") == 1, third.stderr
    assert "File too large" in third.stderr and ".pt" in third.stderr
    assert (run / "last.pt").read_bytes() == kept and not list(run.glob("*.tmp"))

    assert train("--resume", str(run)).returncode == 0
    assert same(whole, run)


def test_a_list_of_objects_has_a_line_for_each_and_nothing_is_lost(tmp_path):
    rows = [{"equation": "x = 1", "root": "1" * 200}, {"equation": "x = 2", "by": ["a"] * 3}]
    data = {"n": 2, "equations": rows, "curve": [[k, k / 7] for k in range(30)], "none": {}, "é": 1}
    write_json(tmp_path / "out.json", data)
    text = (tmp_path / "out.json").read_text()
    assert json.loads(text) == data
    lines = text.splitlines()
    assert lines[0] == "{" and lines[1] == '  "n": 2,' and lines[2] == '  "equations": ['
    assert [json.loads(line.strip().rstrip(",")) for line in lines[3:5]] == rows
    assert lines[-1] == "}" and len(lines) == 10
    write_json(tmp_path / "short.json", {"a": [1, (2, None)]})
    assert (tmp_path / "short.json").read_text() == '{"a": [1, [2, null]]}\n'
