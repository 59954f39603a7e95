"""The evaluation script, run in process on a barely trained agent and on scripted policies."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import evaluate
import train_ppo
from abel import Trace, load_dataset
from abel.audit.judge import stored_roots
from abel.report.study import DECODERS
from abel.report.tables import TABLES, layout
from abel.search import SetAnswer, greedy, search
from abel.trace import main as check_trace

FILE = "one\ta*x + b = 0\none\tb + a*x = 0\ntwo\tsqrt(x) + 1 = 0\n"


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """A run of 64 steps: it knows nothing, but everything is there."""
    out = tmp_path_factory.mktemp("runs")
    flags = ["--dataset", "abel_level1", "--total-timesteps", "64", "--num-envs", "4"]
    assert train_ppo.run([*flags, "--num-steps", "16", "--out", str(out)]) == 0
    return str(next(out.iterdir()))


@pytest.fixture
def linear(monkeypatch):
    """The network's policy replaced by one that solves a*x + b = 0 and nothing else."""

    def policy(observations):
        log_probs = []
        for o in observations:
            names = [str(action) for action in o.actions]
            wanted = "div a" if "add -b" in names else "sub b" if "sub b" in names else names[0]
            weights = np.array([1.0 if name == wanted else 0.01 for name in names])
            log_probs.append(np.log(weights / weights.sum()))
        return log_probs, np.zeros(len(observations))

    monkeypatch.setattr(evaluate, "as_policy", lambda agent: policy)


@pytest.fixture
def no_sympy(monkeypatch):
    """SymPy has no answer, at once."""

    class Silent:
        def __init__(self, limit):
            pass

        def __enter__(self):
            return self

        def solution_set(self, text):
            return SetAnswer(None, None, "not asked", 0.0)

        def __exit__(self, *exception):
            pass

    monkeypatch.setattr("abel.report.sets.Oracle", Silent)


@pytest.fixture
def batch(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(FILE)
    return str(path)


def test_an_equation_is_solved_step_by_step(run_dir, linear, capsys):
    assert evaluate.run(["--run", run_dir, "--equation", "a*x + b = 0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a*x + b = 0" and lines[-1] == "x = -b/a   (proved)"
    assert lines[1].split() == "1. subtract b a*x = -b".split()


def test_an_unsolved_equation_says_what_went_wrong(run_dir, linear, capsys):
    assert evaluate.run(["--run", run_dir, "--equation", "sqrt(x) + 1 = 0"]) == 1
    said = ["sqrt(x) + 1 = 0", "no solution, because sqrt(x) is never -1"]
    assert capsys.readouterr().out.splitlines() == said
    assert evaluate.run(["--run", run_dir, "--verbose", "--equation", "sqrt(x) + 1 = 0"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == said[0] and lines[1].startswith("  1. ") and lines[-1].startswith(said[1])
    assert evaluate.run(["--run", run_dir, "--equation", "x^5 + a*x = b"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == ["not solved within 12 steps"]


def test_a_letter_read_as_eulers_number_is_told_in_one_line(run_dir, linear, tmp_path, capsys):
    evaluate.run(["--run", run_dir, "--equation", "e^x = 5 + e^(2*x)"])
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: ")]
    assert len(said) == 1 and "Euler's number" in said[0]
    (tmp_path / "two.txt").write_text("e^x = 5\ne*x = 5\ne^-x = 2\n")
    evaluate.run(["--run", run_dir, "--equations", str(tmp_path / "two.txt")])
    assert capsys.readouterr().err.count("note: ") == 1


def test_the_formats(run_dir, linear, capsys, tmp_path):
    flags = ["--run", run_dir, "--equation", "a*x + b = 0", "--format"]
    assert evaluate.run([*flags, "latex"]) == 0
    assert capsys.readouterr().out.startswith(r"\begin{align*}")
    assert evaluate.run([*flags, "json"]) == 0
    path = tmp_path / "trace.json"
    path.write_text(capsys.readouterr().out)
    assert check_trace([str(path)]) == 0


def test_a_batch_gives_a_line_each_and_its_exit_code(run_dir, linear, batch, capsys, tmp_path):
    out = tmp_path / "out.json"
    assert evaluate.run(["--run", run_dir, "--equations", batch, "--json", str(out)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a*x + b = 0   x = -b/a   (proved)" and lines[3].split()[0] == "family"
    assert [line.split() for line in lines[4:7]] == [["one", "2/2"], ["two", "0/1"], ["all", "2/3"]]
    found = json.loads(out.read_text())
    assert [row["solved"] for row in found["equations"]] == [True, True, False]
    assert found["decoders"]["greedy"]["by_family"] == {"one": [2, 2], "two": [0, 1]}


def test_an_equation_that_fails_fails_alone(run_dir, linear, batch, capsys, monkeypatch):
    decode = greedy

    def short_of_memory(policy, problems, *rest, **flags):
        if any(problem.text == "b + a*x = 0" for problem in problems):
            raise MemoryError
        return decode(policy, problems, *rest, **flags)

    monkeypatch.setattr("abel.report.study.greedy", short_of_memory)
    assert evaluate.run(["--run", run_dir, "--equations", batch]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a*x + b = 0   x = -b/a   (proved)" and lines[3].split()[0] == "family"
    assert lines[1] == "line 2: b + a*x = 0   not solved: MemoryError on the way"
    assert lines[-1] == "3 lines: 1 solved, 1 without a solution, 1 crashed"


def test_all_roots_of_an_equation(run_dir, linear, no_sympy, capsys):
    flags = ["--run", run_dir, "--all-roots", "--equation"]
    assert evaluate.run([*flags, "a*x + b = 0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3:6] == ["x = -b/a   (proved)", "", "1 root"]
    assert lines[-1].startswith("complete: the polynomial has 1 distinct root;")
    assert evaluate.run([*flags, "sqrt(x) + 1 = 0", "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["roots"] == [] and data["completeness"]["state"] == "unknown"


def test_all_roots_of_a_split_are_counted_by_family(
    run_dir, linear, no_sympy, batch, capsys, tmp_path
):
    out = tmp_path / "out.json"
    flags = ["--run", run_dir, "--dataset", batch, "--split", "all", "--json", str(out)]
    assert evaluate.run([*flags, "--all-roots", "--decoder", "beam"]) == 0
    found = json.loads(out.read_text())
    one, two = found["by_family"]["one"], found["by_family"]["two"]
    assert one["complete"] == one["with_a_root"] == one["n"] == 2 and two["unknown"] == 1
    assert found["equations"][0]["roots"][0]["root"] == "-b/a"
    assert "with a root" in capsys.readouterr().out
    assert evaluate.run([*flags, "--all-roots", "--brief"]) == 0
    brief = json.loads(out.read_text())
    assert [brief[key] for key in ("all", "by_family")] == [found["all"], found["by_family"]]
    assert "trace" not in brief["equations"][0]
    assert [*stored_roots(brief)] == [*stored_roots(found)] != []


def test_brief_results_have_what_other_commands_read(run_dir, linear, batch, tmp_path, capsys):
    out = tmp_path / "out.json"
    flags = ["--run", run_dir, "--equations", batch, "--json", str(out)]
    assert evaluate.run(flags) == 1
    found = json.loads(out.read_text())
    assert evaluate.run([*flags, "--brief"]) == 1
    brief = json.loads(out.read_text())
    assert brief["counts"] == found["counts"] and [*stored_roots(brief)] == [*stored_roots(found)]
    first, _, last = brief["equations"]
    assert set(first) == {
        "equation", "family", "solved", "root", "valid_when", "steps", "solved_by", "line"
    }  # fmt: skip
    assert last["solved"] is False and "never -1" in last["reason"]


def test_results_have_the_documented_form(run_dir, linear, batch, capsys, tmp_path):
    out = tmp_path / "out.json"
    flags = ["--run", run_dir, "--dataset", batch, "--split", "all", "--budget", "20"]
    assert evaluate.run([*flags, "--decoder", "bfs", "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found["run"] == run_dir and found["split"] == "all" and found["n"] == 3
    row = found["decoders"]["bfs"]
    assert row["solved"] == 2 and row["accuracy"] == pytest.approx(2 / 3)
    assert row["transitions_per_equation"] > 2 and row["seconds"] > 0
    first = found["equations"][0]
    assert first["root"] == "-b/a" and first["valid_when"] is None and first["steps"] == 2
    assert found["checkpoint_step"] == 64 and "commit" in found["provenance"]
    assert "all" in capsys.readouterr().out


def test_a_list_is_written_while_it_is_solved(run_dir, linear, capsys, tmp_path, monkeypatch):
    """What ends the command by force costs the equations under way, and none before them."""
    path, out = tmp_path / "long.txt", tmp_path / "out.json"
    path.write_text("# a comment\nx + = 2\n" + "a*x + b = 0\n" * 20)
    seen, decode = [], greedy

    def watched(*args, **flags):
        if out.exists():
            seen.append(len(json.loads(out.read_text())["equations"]))
        if len(seen) == 2:
            raise KeyboardInterrupt
        return decode(*args, **flags)

    monkeypatch.setattr("abel.report.study.greedy", watched)
    flags = ["--run", run_dir, "--equations", str(path), "--json", str(out)]
    assert evaluate.run(flags) == 130
    found, lines = json.loads(out.read_text()), capsys.readouterr().out.splitlines()
    assert seen == [8, 16] and [row["line"] for row in found["equations"]] == [*range(3, 19)]
    assert lines[:16] == ["a*x + b = 0   x = -b/a   (proved)"] * 16
    counts = {"lines": 21, "solved": 16, "unreadable": 1, "not_reached": 4}
    assert found["counts"].items() >= counts.items()
    assert all(row["cpu_ms"]["greedy"] > 0 for row in found["equations"])
    assert lines[-2] == "21 lines: 16 solved, 1 could not be read, 4 not reached"
    assert lines[-1].startswith("  line 2: cannot read 'x + = 2'")


def test_both_forms_of_a_root_are_stored(run_dir, capsys, tmp_path, monkeypatch):
    def policy(observations):
        wanted = ("log", "div 2")
        rows = [[-float(str(a) not in wanted) for a in o.actions] for o in observations]
        return [np.array(row) for row in rows], np.zeros(len(rows))

    monkeypatch.setattr(evaluate, "as_policy", lambda agent: policy)
    out = tmp_path / "out.json"
    evaluate.run(["--run", run_dir, "--equation", "exp(2*x) = 81", "--json", str(out)])
    (row,) = json.loads(out.read_text())["equations"]
    assert row["solved"] and row["root"] != row["shown"] == "log(9)"
    assert row["value"] == "about 2.197225"


def test_ctrl_c_keeps_what_is_finished(run_dir, linear, batch, capsys, tmp_path, monkeypatch):
    def stopped(problem, *args, **kwargs):
        if "sqrt" in problem.text:
            raise KeyboardInterrupt
        return search(problem, *args, **kwargs)

    monkeypatch.setattr("abel.report.study.search", stopped)
    out = tmp_path / "out.json"
    flags = ["--run", run_dir, "--dataset", batch, "--split", "all", "--json", str(out)]
    assert evaluate.run([*flags, "--decoder", "all", "--limit", "5"]) == 130
    found, shown = json.loads(out.read_text()), capsys.readouterr()
    assert found["interrupted"] and list(found["decoders"]) == ["greedy", "beam", "bfs"]
    done = {name: row["n"] for name, row in found["decoders"].items()}
    assert done["greedy"] == done["beam"] == found["n"] == len(found["equations"]) == 3
    assert 0 < done["bfs"] < 3 and found["decoders"]["bfs"]["accuracy"] == 1
    assert "bfs" in found["equations"][0]["solved_by"] and "accuracy" in shown.out
    assert shown.err.splitlines()[-1].startswith("evaluate.py: interrupted")


def test_a_search_interrupted_at_once_leaves_nothing_but_says_so(run_dir, batch, tmp_path, capsys):
    out = tmp_path / "out.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(DECODERS, "bfs", interrupt)
        flags = ["--run", run_dir, "--equations", batch, "--decoder", "bfs", "--json", str(out)]
        assert evaluate.run(flags) == 130
    found = json.loads(out.read_text())
    assert found["interrupted"] and found["decoders"] == {} and found["equations"] == []


def interrupt(*args):
    raise KeyboardInterrupt


def test_states_are_shared_by_the_equations_of_a_split(run_dir, batch):
    args = evaluate.Args(run=run_dir)
    run, problems = evaluate.load_run(args), evaluate.read_list(Path(batch))[0]
    assert evaluate.study_of(args, run, problems).budget == -(-evaluate.SHARED_BUDGET // 3)
    one = evaluate.Args(run=run_dir, budget=7)
    assert evaluate.study_of(one, run, problems).budget == 7


def test_the_default_is_greedy_and_beam_on_the_runs_own_test_split(run_dir, capsys):
    assert evaluate.run(["--run", run_dir]) == 0
    head, columns, *_ = capsys.readouterr().out.splitlines()
    assert "abel_level1 test, 1 equations" in head
    assert columns.split() == ["family", "greedy", "beam"]


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--run", "nowhere"], "no checkpoint at 'nowhere'"),
        (["--dataset", "nothing"], "no dataset or file 'nothing'"),
        (["--split", "half"], "unknown split 'half'"),
        (["--equation", "a*x + = 0"], "cannot read 'a*x + = 0'"),
        (["--equation", "a = b"], "no x; it has a and b"),
        (["--equation", "a*x = b", "--unknown", "t"], "no t"),
        (["--equation", "a*x = b", "--unknown", "2t"], "the unknown is a letter"),
        (["--equation", "a*x = b", "--unknown", "I"], "the imaginary unit"),
        (["--unknown", "t"], "--unknown goes with"),
        (["--equation", ""], "cannot read ''"),
        (["--equations", "nowhere.txt"], "there is no file 'nowhere.txt'"),
        (["--equation", "x", "--report", "cost"], "give one of"),
        (["--width", "0"], "must be positive"),
        (["--beam", "--decoder", "bfs"], "--beam contradicts --decoder bfs"),
        (["--json", "nowhere/out.json"], "no directory 'nowhere'"),
        (["--all-roots", "--decoder", "bfs"], "--all-roots goes with --decoder greedy or beam"),
        (["--all-roots", "--report", "cost"], "without --report"),
        (["--brief"], "--brief goes with --json"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run_dir, capsys, flags, message):
    assert evaluate.run([*([] if "--run" in flags else ["--run", run_dir]), *flags]) == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith("evaluate.py: ") and error.count("\n") == 1


def test_an_empty_file_and_foreign_checkpoints_are_refused(run_dir, tmp_path, capsys):
    empty, foreign = tmp_path / "empty.txt", tmp_path / "best.pt"
    empty.write_text("\n# nothing\n")
    torch.save({"weights": torch.ones(2)}, foreign)
    assert evaluate.run(["--run", run_dir, "--equations", str(empty)]) == 2
    assert evaluate.run(["--run", str(tmp_path)]) == 2
    foreign.write_bytes(b"not a checkpoint")
    assert evaluate.run(["--run", str(foreign)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and "no equations" in lines[0] and "not a checkpoint" in lines[1]


def test_a_checkpoint_with_code_in_it_is_not_run(tmp_path, capsys):
    class Evil:
        def __reduce__(self):
            return print, ("run",)

    torch.save({"format": "abel-agent-1", "agent": Evil()}, tmp_path / "best.pt")
    assert evaluate.run(["--run", str(tmp_path)]) == 2
    assert capsys.readouterr().out == ""


def test_a_bundle_is_the_same_agent_and_smaller(run_dir, tmp_path):
    out = tmp_path / "small"
    assert evaluate.run(["--run", run_dir, "--bundle", str(out)]) == 0
    whole, small = (train_ppo.load_agent(path) for path in (run_dir, out))
    assert replace(small[1], out="") == replace(whole[1], out="")
    assert small[2]["step"] == whole[2]["step"]
    for name, weights in whole[0].state_dict().items():
        assert torch.equal(weights, small[0].state_dict()[name])
    size, before = ((path / "best.pt").stat().st_size for path in (out, Path(run_dir)))
    origin = json.loads((out / "provenance.json").read_text())
    assert size < before and origin["checkpoint_step"] == whole[2]["step"]
    assert origin["cpu_seconds"] == whole[2]["cpu_seconds"] and origin["command"]


@pytest.mark.parametrize("damaged", ["args.json", "provenance.json"])
def test_a_damaged_run_is_not_bundled(damaged, run_dir, tmp_path, capsys):
    shutil.copytree(run_dir, tmp_path / "run")
    (tmp_path / "run" / damaged).write_text("[1")
    assert evaluate.run(["--run", str(tmp_path / "run"), "--bundle", str(tmp_path / "out")]) == 2
    assert "no readable args.json and provenance.json" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_every_report_has_a_table_and_a_choice():
    choices = set(evaluate.ReportName.__args__)
    assert choices == set(evaluate.REPORTS) == set(TABLES)
    assert set(evaluate.DecoderName.__args__) == set(DECODERS)


def test_tables_align():
    assert layout([["a", "long"], ["bb", [1, 2]], ["c", 0.5]]) == (
        "a    long\nbb    1/2\nc   0.500"
    )


def test_a_report_is_written_where_it_says(run_dir, linear, batch, tmp_path, capsys):
    out = tmp_path / "reports"
    flags = ["--run", run_dir, "--dataset", batch, "--split", "all", "--out", str(out)]
    assert evaluate.run([*flags, "--report", "failures"]) == 0
    data = json.loads((out / "failures.json").read_text())
    assert data["n"] == 3 and data["unsolved"] == 1 and data["checkpoint_step"] == 64
    assert "unsolved" in capsys.readouterr().out


def test_reports_on_cov_are_not_for_agents_that_choose_substitutions(tmp_path, capsys):
    flags = ["--dataset", "abel_level1", "--out", str(tmp_path)]
    for name in evaluate.ABOUT_COV:
        assert evaluate.run([*flags, "--report", name]) == 2
        assert f"--report {name} is about cov" in capsys.readouterr().err


def test_the_reference_agent_finds_cardanos_way(capsys):
    """The bundled agent, as a newcomer meets it; no row of the table solves a cubic."""
    assert evaluate.run(["--equation", "x^3 + p*x + q = 0"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-2].endswith("(proved)") and len(said) == 18
    assert [re.split(" {3,}", line.strip())[0] for line in said[1:-2]] == [
        "1. put x = t + h/t, with h such that the term in t vanishes", "2. subtract p",
        "3. divide by 3", "so put x = t - p/(3*t): the term in t vanishes", "4. let u = t^3",
        "5. put u = s + k, with k such that the term in s vanishes", "6. subtract q",
        "7. divide by 2", "so put u = s - q/2: the term in s vanishes", "8. subtract a",
        "9. undo the power s^2", "as u = s - q/2", "as u = t^3", "10. undo the power t^3",
        "as x = t - p/(3*t)",
    ]  # fmt: skip


@pytest.mark.slow
def test_all_reports_run_to_the_end(run_dir, linear, batch, tmp_path, capsys):
    out = tmp_path / "r"
    flags = ["--run", run_dir, "--dataset", batch, "--split", "all", "--out", str(out)]
    assert evaluate.run([*flags, "--report", "all", "--budget", "20", "--limit", "3"]) == 0
    reports = {name: json.loads((out / f"{name}.json").read_text()) for name in evaluate.REPORTS}
    page = (out / "index.html").read_text()
    assert run_dir in page and "<math" in page and (out / "report.md").exists()
    assert reports["families"]["decoders"]["greedy"]["by_family"] == {"one": [2, 2], "two": [0, 1]}
    assert reports["widths"]["solved"][0] == 2 and reports["search"]["oracle"]["solved"] == 2
    assert reports["search"]["oracle"]["failures"][0]["reason"] == "no roots"
    assert [row["decoder"] for row in reports["cost"]["rows"]][-1] == "SymPy solve"
    assert reports["traces"]["traces"][0]["steps"][0]["mathml"][0].startswith("<m")
    assert (out / "projector" / "projector_config.pbtxt").exists()
    assert "written to" in capsys.readouterr().out


def test_the_splits_are_the_papers():
    """30/70 of the held-out equations; `all` is the whole of the file."""
    parts = {split: load_dataset("open_small", split) for split in ("val", "test", "heldout")}
    assert [len(parts[s]) for s in ("val", "test", "heldout")] == [27, 64, 91]
    assert len(load_dataset("open_small", "all")) == 916 + 91


def test_a_trace_of_the_test_set_replays(run_dir, capsys):
    """Found by A*, without any policy, in the command's own output."""
    text = next(p.text for p in load_dataset("open_small", "test") if p.family == "abel_level2")
    flags = ["--run", run_dir, "--equation", text, "--decoder", "astar", "--budget", "300"]
    assert evaluate.run([*flags, "--format", "json"]) == 0
    assert Trace.from_json(capsys.readouterr().out).replay()


def test_a_split_without_equations_is_refused(capsys):
    assert evaluate.run(["--dataset", "abel_level1", "--split", "val"]) == 2
    assert "no equations" in capsys.readouterr().err


def test_solving_one_equation_needs_neither_tensorboard_nor_torch_s_compiler():
    """Either takes longer to import than the equation to solve."""
    code = (
        "import sys, evaluate; code = evaluate.run(['--equation', 'a*x + b = 0'])\n"
        "slow = {'torch._dynamo', 'torch.utils.tensorboard', 'tensorboard', 'PIL'}\n"
        "print(sorted(slow & sys.modules.keys()), code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    assert done.stdout.splitlines()[-1] == "[] 0", done.stderr
