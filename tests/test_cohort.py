"""Cohorts: what is run, skipped, resumed, reported and collected; training itself is replaced."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from torch.utils.tensorboard import SummaryWriter

from abel.cohort import cells, read_cohort
from abel.cohort.__main__ import main
from abel.datasets import load_dataset
from abel.home import home
from abel.report.study import DECODERS
from evaluate import REPORTS
from train_ppo import parse_args

FILE = """
about = "replay or not"
seeds = [1, 2]
flags = "--dataset small"
[cells]
with = ""
"without it" = "--replay none"
"""


class Scripts:
    """Stands in for the two scripts; `solved` of 4 equations by seed, or a failure."""

    def __init__(self, solved: dict[str, int]) -> None:
        self.solved, self.calls, self.steps = solved, [], 30_000

    def __call__(self, place: Path, script: str, *words: str) -> None:
        self.calls.append([script, *words])
        given = dict(zip(words[::2], words[1::2]))
        if script == "train_ppo.py":
            seed = given.get("--seed") or Path(given["--resume"]).name
            if self.solved[seed] < 0:
                (place / "log.txt").write_text("before\nit broke\n")
                raise subprocess.CalledProcessError(1, script)
            run = Path(given.get("--resume") or Path(given["--out"]) / seed)
            run.mkdir(parents=True, exist_ok=True)
            (run / "last.pt").touch()
            told = {"command": "train", "commit": "abc", "dirty": False}
            (run / "provenance.json").write_text(json.dumps(told))
            (run / "args.json").write_text(json.dumps({"total_timesteps": self.steps}))
            with SummaryWriter(str(run)) as writer:
                for step, score in ((10_000, 0.5), (20_000, 0.8), (30_000, 1.0)):
                    writer.add_scalar("time/cpu", 0.06 * step, step)
                    writer.add_scalar("eval/val_greedy", score, step)
        elif "--report" in given:
            Path(given["--out"]).mkdir()
            report = {"run": "a path", "provenance": {}, "score": 7}
            (Path(given["--out"]) / f"{given['--report']}.json").write_text(json.dumps(report))
        else:
            solved = self.solved[Path(given["--run"]).name]
            by_family = {"easy": [min(solved, 1), 1], "hard": [max(solved - 1, 0), 3]}
            score = {"solved": solved, "always": solved - 1, "accuracy": solved / 4}
            score["by_family"] = by_family
            decoders = {given["--decoder"]: score}
            Path(given["--json"]).write_text(json.dumps({"n": 4, "decoders": decoders}))


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "table.toml").write_text(FILE)

    def start(solved: dict[str, int], *flags: str) -> tuple[int, Scripts, dict]:
        scripts = Scripts(solved)
        monkeypatch.setattr(cells, "call", scripts)
        out = ["--out", str(tmp_path / "out"), "--results", str(tmp_path / "results")]
        code = main([str(tmp_path / "table.toml"), *out, "--jobs", "1", *flags])
        return code, scripts, json.loads((tmp_path / "results" / "table.json").read_text())

    return start


def test_every_cell_and_seed_is_trained_evaluated_and_collected(run, tmp_path):
    code, scripts, table = run({"1": 4, "2": 2})
    assert code == 0
    trained = [call[1:-2] for call in scripts.calls if call[0] == "train_ppo.py"]
    assert trained[1] == ["--dataset", "small", "--replay", "none", "--seed", "1"]
    assert [words[-1] for words in trained] == ["1", "1", "2", "2"]
    cell = table["cells"]["without it"]
    assert cell["summary"]["test greedy"]["mean"] == 0.75
    assert cell["seeds"]["2"]["scores"]["test"]["greedy"]["accuracy"] == 0.5
    assert cell["seeds"]["1"]["steps_and_minutes_to"] == {
        "0.67": [20_000, 20.0], "0.79": [20_000, 20.0],
        "0.95": [30_000, 30.0], "0.99": [30_000, 30.0],
    }  # fmt: skip
    text = (tmp_path / "results" / "table.md").read_text()
    assert "| without it | test greedy | 1.000, 0.500 | 0.750 |" in text
    assert "| with | 20 (20.0), 20 (20.0) | 20 (20.0), 20 (20.0) | 30 (30.0), 30 (30.0) |" in text
    assert "| with | test greedy | 3, 1 of 4 |" in text
    assert "| hard | 3, 1 of 3 | 3, 1 of 3 |" in text


def test_the_papers_numbers_stand_beside_ours(run, tmp_path):
    (tmp_path / "table.toml").write_text(FILE + '[paper]\nwith = "0.67 of 64"\n')
    run({"1": 4, "2": 2})
    rows = (tmp_path / "results" / "table.md").read_text().splitlines()
    assert rows[2].endswith("| CPU minutes | paper |") and rows[4].endswith(" | 0.67 of 64 |")
    assert rows[5].startswith("| without it |") and rows[5].endswith(" |  |")
    assert len({row.count("|") for row in rows[2:6]}) == 1


def test_what_is_finished_is_skipped(run):
    run({"1": 4, "2": 2})
    code, scripts, table = run({"1": 0, "2": 0})
    assert code == 0 and not scripts.calls
    assert table["cells"]["with"]["summary"]["test greedy"]["mean"] == 0.75


def test_seeds_of_the_table_are_kept_where_they_were_made_alike(run, tmp_path):
    run({"1": 4, "2": 2})
    former = tmp_path / "results" / "table.json"
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "table.toml").write_text(FILE.replace("[1, 2]", "[1, 2, 3]"))
    code, scripts, table = run({"3": 1}, "--keep")
    assert code == 0 and {call[-3] for call in scripts.calls if "--out" in call} == {"3"}
    assert list(table["cells"]["with"]["seeds"]) == ["1", "2", "3"]
    assert table["cells"]["with"]["summary"]["test greedy"]["mean"] == pytest.approx(7 / 12)
    assert "| with | test greedy | 1.000, 0.500, 0.250 |" in former.with_suffix(".md").read_text()
    # Not where the flags are other ones, a split is missing, or a seed had failed.
    (tmp_path / "table.toml").write_text(FILE.replace("small", "large"))
    code, scripts, _ = run({"1": 4, "2": -1}, "--keep")
    assert code == 1 and len([call for call in scripts.calls if "--out" in call]) == 4
    code, scripts, _ = run({"1": 4, "2": 2}, "--keep")
    assert code == 0 and {call[-3] for call in scripts.calls if "--out" in call} == {"2"}
    more = 'splits = ["test", "heldout"]\n[cells]'
    (tmp_path / "table.toml").write_text(FILE.replace("small", "large").replace("[cells]", more))
    code, scripts, _ = run({"1": 4, "2": 2}, "--keep")
    assert code == 0 and [call[0] for call in scripts.calls] == ["evaluate.py"] * 4


def test_what_was_interrupted_goes_on(run, tmp_path):
    place = tmp_path / "out/table/with/2"
    run({"1": 4, "2": 2})
    (place / "test-greedy.json").unlink()
    (place / "train/2/args.json").write_text('{"total_timesteps": 40000}')
    code, scripts, table = run({"1": 4, "2": 2})
    assert [call[:2] for call in scripts.calls] == [
        ["train_ppo.py", "--resume"], ["evaluate.py", "--run"]
    ]  # fmt: skip
    assert code == 0 and len(table["cells"]["with"]["seeds"]) == 2
    assert scripts.calls[0][2:] == [str(place / "train/2")]  # beside --resume, no other flag


def test_a_run_that_stops_early_is_not_evaluated(run, monkeypatch):
    monkeypatch.setattr(cells, "num_missing", lambda run: 1000)
    code, scripts, table = run({"1": 4, "2": 2})
    assert code == 1 and {call[0] for call in scripts.calls} == {"train_ppo.py"}
    assert "1,000 steps before its end" in table["cells"]["with"]["seeds"]["1"]["error"]


def test_more_evaluations_do_not_train_again(run, tmp_path):
    run({"1": 4, "2": 2})
    more = 'splits = ["test", "heldout"]\nreports = ["failures"]\n[cells]'
    (tmp_path / "table.toml").write_text(FILE.replace("[cells]", more))
    _, scripts, table = run({"1": 3, "2": 3})
    assert len(scripts.calls) == 8 and {call[0] for call in scripts.calls} == {"evaluate.py"}
    seed = table["cells"]["with"]["seeds"]["1"]
    assert seed["scores"]["test"]["greedy"]["solved"] == 4  # from before
    assert seed["scores"]["heldout"]["greedy"]["solved"] == 3
    assert seed["reports"] == {"failures": {"score": 7}}


def test_evaluation_gets_its_own_flags(run, tmp_path):
    other = 'evaluate = "--dataset large"\n[cells]'
    (tmp_path / "table.toml").write_text(FILE.replace("[cells]", other))
    _, scripts, _ = run({"1": 4, "2": 2})
    told = [call for call in scripts.calls if call[0] == "evaluate.py"]
    assert told and all("--dataset" in call and "large" in call for call in told)


def test_a_changed_cell_is_run_anew(run, tmp_path):
    run({"1": 4, "2": 2})
    (tmp_path / "table.toml").write_text(FILE.replace('with = ""', 'with = "--gamma 0.9"'))
    _, scripts, _ = run({"1": 3, "2": 3})
    assert len([call for call in scripts.calls if "--gamma" in call]) == 2
    assert not [call for call in scripts.calls if "--resume" in call]


def test_a_seed_that_fails_is_reported_and_not_fatal(run, capsys):
    code, _, table = run({"1": -1, "2": 3})
    assert code == 1 and "it broke" in capsys.readouterr().out
    cell = table["cells"]["with"]
    assert cell["seeds"]["1"] == {"error": "it broke"}
    assert cell["summary"]["test greedy"]["mean"] == 0.75


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("= 3", "not TOML"),
        ("[cells]", "cells"),
        ("seeds = 'one'\n[cells]\na = ''", "seeds"),
        ("speed = 1\n[cells]\na = ''", "speed"),
        ("[cells]\na = 3", "cells"),
        ("[cells]\na = ''\n[paper]\nb = '1'", "[paper] names no cell by b"),
        ("[cells]\na = ''\n[paper]\na = 1", "paper"),
        (None, "cannot read"),
    ],
)
def test_a_bad_file_is_one_clear_line_and_exit_2(text, words, tmp_path, capsys):
    path = tmp_path / "bad.toml"
    if text is not None:
        path.write_text(text)
    assert main([str(path)]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.slow
def test_a_ray_cluster_trains_and_a_broken_cell_does_not_stop_it(tmp_path):
    import ray

    small = "--num-envs 4 --num-steps 16 --minibatch-size 32 --total-timesteps 128"
    (tmp_path / "ray.toml").write_text(
        f'flags = "--dataset abel_level1 {small}"\n[cells]\ngood = ""\nbad = "--hidden none"\n'
    )
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    out = ["--out", str(tmp_path / "out"), "--results", str(tmp_path / "results")]
    code = main([str(tmp_path / "ray.toml"), *out, "--engine", "ray"])
    cells = json.loads((tmp_path / "results" / "ray.json").read_text())["cells"]
    assert code == 1 and "error" in cells["bad"]["seeds"]["1"]
    assert 0 <= cells["good"]["summary"]["test greedy"]["mean"] <= 1


FILES = sorted((home() / "runs" / "cohorts").glob("*.toml"))


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_cohort_of_the_project_can_be_run(path, tmp_path):
    table = read_cohort(path)
    for job in cells.jobs_of(table._replace(seeds=table.seeds[:1]), tmp_path):
        args = parse_args(job.flags)
        assert load_dataset(args.dataset, "val"), job.cell
        assert set(job.decoders) <= set(DECODERS) and set(job.reports) <= set(REPORTS)


def test_a_run_without_validation_equations_has_an_empty_curve(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("time/cpu", 3.0, 128)
    found = cells.curve_of(tmp_path)
    assert found["curve"] == [] and found["steps"] == 128 and found["cpu_seconds"] == 3
    assert set(found["steps_and_minutes_to"].values()) == {None}
