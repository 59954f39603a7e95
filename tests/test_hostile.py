"""Files that mean harm, or are not what they should be: one line, exit code 2, nothing done."""

import gzip
import os
import pickle
from pathlib import Path

import pytest
import torch

import evaluate
import train_ppo
from abel.cohort import cells
from abel.cohort.__main__ import main as run_cohort
from abel.datasets import load as datasets
from abel.datasets import load_dataset
from abel.learner.records import hold, write_json
from abel.operations import OPERATIONS
from abel.picov import network as picov
from abel.picov.__main__ import run as run_picov

REFERENCE = Path(train_ppo.__file__).parent / "runs" / "reference" / "best.pt"


def refused(capsys, code: int, *words: str) -> str:
    """The one line that said why."""
    said = capsys.readouterr().err
    assert code == 2 and said.count("\n") == 1 and len(said) < 600, said
    for word in words:
        assert word in said, said
    return said


class Bomb:
    """Pickled as a call of os.mkdir."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


# ---- Checkpoints ----


@pytest.fixture
def good() -> dict:
    """A checkpoint that is in order."""
    return torch.load(REFERENCE, weights_only=True)


def try_checkpoint(folder: Path, capsys, *words: str) -> None:
    """Evaluate with it, and go on training from it; neither changes or makes a file."""
    before = sorted(folder.parent.rglob("*"))
    refused(capsys, evaluate.run(["--run", str(folder), "--equation", "x = 1"]), *words)
    refused(capsys, train_ppo.run(["--resume", str(folder)]), *words)
    assert sorted(folder.parent.rglob("*")) == before


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def put(folder: Path, content: bytes | object) -> None:
    for name in ("best.pt", "last.pt"):
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            torch.save(content, folder / name)


@pytest.mark.parametrize("legacy", [True, False])
def test_code_in_a_checkpoint_is_not_run(legacy, good, folder, tmp_path, capsys, recwarn):
    bomb = Bomb(tmp_path / "exploded")
    put(folder, pickle.dumps(bomb) if legacy else {**good, "agent": bomb})
    try_checkpoint(folder, capsys, "cannot read checkpoint")
    put(folder, pickle.dumps({"format": train_ppo.FORMAT, "step": bomb}))
    try_checkpoint(folder, capsys, "cannot read checkpoint")
    assert not recwarn.list


@pytest.mark.parametrize("size", [0, 1, 100, 5000, -1])
def test_a_truncated_checkpoint_is_refused(size, folder, capsys):
    put(folder, REFERENCE.read_bytes()[:size])
    try_checkpoint(folder, capsys, "cannot read checkpoint")


@pytest.mark.parametrize(
    "content", [[1, 2], {}, {"format": "abel-picov-1"}, {"format": {"a": 1}}, torch.zeros(3)]
)
def test_a_foreign_checkpoint_is_refused(content, folder, capsys):
    put(folder, content)
    try_checkpoint(folder, capsys, "is not a checkpoint of this program")


def test_a_checkpoint_that_is_a_directory_or_a_circle_of_links_is_refused(folder, capsys):
    (folder / "last.pt").mkdir()
    (folder / "best.pt").symlink_to(folder / "best.pt")
    try_checkpoint(folder, capsys, "no checkpoint at")


@pytest.mark.parametrize("entry", ["args", "operations", "agent", "step"])
def test_a_checkpoint_with_a_part_missing_is_refused(entry, good, folder, capsys):
    del good[entry]
    put(folder, good)
    try_checkpoint(folder, capsys, f"has no '{entry}'")


WEIGHT = "value.0.weight"


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (torch.zeros(3, 128), "value.0.weight is (torch.Size([3, 128])"),
        (torch.zeros(128, 128, dtype=torch.float64), "float64"),
        (torch.full((128, 128), torch.nan), "not finite"),
        (torch.full((128, 128), -torch.inf), "not finite"),
        ("weights", "do not fit"),
        (None, "do not fit"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weight, words, good, folder, capsys):
    put(folder, {**good, "agent": {**good["agent"], WEIGHT: weight}})
    try_checkpoint(folder, capsys, words)


@pytest.mark.parametrize("change", ["missing", "more", "list"])
def test_weights_of_other_names_are_refused(change, good, folder, capsys):
    weights = dict(good["agent"])
    if change == "missing":
        del weights[WEIGHT]
    else:
        weights["another"] = torch.zeros(1)
    put(folder, {**good, "agent": list(weights) if change == "list" else weights})
    try_checkpoint(folder, capsys, "do not fit")


@pytest.mark.parametrize(
    ("part", "change", "words"),
    [
        (None, {"speed": 1}, "speed"),
        (None, {"seed": "one"}, "seed must be int"),
        (None, {"gamma": [0.9]}, "gamma must be float"),
        (None, {"num_envs": "many"}, "arguments do not fit"),
        (None, {"preset": "none"}, "preset"),
        (None, {"curiosity": "cats"}, "curiosity must be"),
        (None, {"dataset": 3}, "dataset must be str"),
        (None, {"env": None}, "arguments do not fit"),
        (None, {"net": []}, "arguments do not fit"),
        ("net", {"hidden": 10**9}, "--hidden must be between"),
        ("net", {"rounds": 10**9}, "--rounds must be between"),
        ("net", {"hidden": 4096, "embed": 4096, "rounds": 100}, "the weights in"),
        ("net", {"hidden": "64"}, "arguments do not fit"),
        ("net", {"encoder": "other"}, "encoder must be"),
        ("env", {"cov": "always"}, "cov must be one of"),
        ("env", {"max_steps": 0}, "max_steps"),
        ("env", {"max_steps": 2.5}, "max_steps must be int"),
        ("env", {"let": "no"}, "let must be bool"),
    ],
)
def test_foreign_arguments_are_refused(part, change, words, good, folder, capsys):
    args = good["args"]
    args |= {part: {**args[part], **change}} if part else change
    put(folder, good)
    try_checkpoint(folder, capsys, words)


@pytest.mark.parametrize("args", [None, [], "all", 3])
def test_arguments_that_are_no_table_are_refused(args, good, folder, capsys):
    put(folder, {**good, "args": args})
    try_checkpoint(folder, capsys, "arguments do not fit")


def test_an_agent_alone_cannot_be_trained_on(good, folder, capsys):
    put(folder, good)
    agent, _, _ = train_ppo.load_agent(folder)  # for all of today's operations
    today = {"operations": list(OPERATIONS), "agent": agent.state_dict()}
    put(folder, {**good, **today, "args": {**good["args"], "dataset": "abel_level1"}})
    refused(capsys, train_ppo.run(["--resume", str(folder)]), "cannot go on from", "optimizer")
    assert sorted(path.name for path in folder.iterdir()) == ["best.pt", "last.pt", "lock"]


# ---- Generators of substitutions ----


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "abel-agent-1"}, "is not a checkpoint of this program"),
        ({"hidden": 10**9}, "is not a generator"),
        ({"rounds": "4"}, "is not a generator"),
        ({"hidden": 4096}, "do not fit"),
        ({"weights": {}}, "do not fit"),
        ({"weights": None}, "do not fit"),
    ],
)
def test_a_generator_that_is_none_is_refused(change, words, tmp_path, capsys):
    stored = torch.load(picov.BUNDLED / "weights.pt", weights_only=True)
    torch.save({**stored, **change}, tmp_path / "weights.pt")
    refused(capsys, run_picov(["--eval", "--out", str(tmp_path)]), words)


def test_a_generator_with_code_or_damage_is_refused(tmp_path, capsys):
    file = tmp_path / "weights.pt"
    whole = (picov.BUNDLED / "weights.pt").read_bytes()
    for content in (pickle.dumps(Bomb(tmp_path / "exploded")), b"", whole[:5000]):
        file.write_bytes(content)
        refused(capsys, run_picov(["--eval", "--out", str(tmp_path)]), "cannot read checkpoint")
    stored = torch.load(picov.BUNDLED / "weights.pt", weights_only=True)
    stored["weights"]["next.bias"].fill_(torch.nan)
    torch.save(stored, file)
    refused(capsys, run_picov(["--eval", "--out", str(tmp_path)]), "not finite")
    file.unlink()
    refused(capsys, run_picov(["--eval", "--out", str(tmp_path)]), "there is no generator")
    assert not list(tmp_path.iterdir())


# ---- Datasets ----


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bytes(range(256)) * 40, "is not text in UTF-8"),
        (gzip.compress(b"x = 1"), "is not text in UTF-8"),
        ("x = 1".encode("utf-16"), "is not text in UTF-8"),
        ("x = 1\nx = é".encode("latin-1"), "line 2 is not text in UTF-8"),
        ("x = 1\n".encode() + "x² = 1".encode("utf-8") + b"\nx = \xe9", "line 3 is not text"),
        (b"\x00" * 10_000, "line 1: cannot read"),
        (b"x = 1\n" + b"x + " * 5_000_000, "line 2: cannot read"),
        (b"x = 1\n" * 1_000_000, "more than 200,000 equations"),
        (b"".join(b"f%d\tx = 1\n" % n for n in range(1001)), "more than 1,000 families"),
        (b"\x1b[2Jcleared\tx = 1", "line 1: cannot read '?[2Jcleared'"),
        (b"f" * 61 + b"\tx = 1", "at most 60 printable characters"),
        (b"a\t\tb = 1\t\tx = 1", "line 1: cannot read"),
        (b"x = 1\na + b = 0", "has no x"),
        (b"#\n" * 100_000, "has no equations"),
        (b"x = __import__('os').mkdir('exploded')", "line 1: cannot read"),
    ],
    ids=range(15),
)  # fmt: skip
def test_a_dataset_that_is_none_is_refused(content, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.txt").write_bytes(content)
    if b"\n" not in content or words != "has no x" and "line 2: cannot" not in words:
        refused(capsys, evaluate.run(["--equations", "bad.txt"]), words)
    refused(capsys, train_ppo.run(["--dataset", "bad.txt", "--out", "runs"]), words)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


def test_tabs_besides_the_first_are_spaces(tmp_path):
    (tmp_path / "good.txt").write_bytes(b"\tx = 1\r\n\t\tx\t=\t2\rfamily\t\tx = 3\n")
    found = load_dataset(tmp_path / "good.txt", "all")
    assert [(p.family, p.text.replace("\t", "")) for p in found] == [
        ("", "x = 1"), ("", "x=2"), ("family", "x = 3")
    ]  # fmt: skip


def test_a_dataset_that_is_no_file_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets, "MAX_BYTES", 1 << 20)
    Path("circle.txt").symlink_to("circle.txt")
    Path("folder").mkdir()
    for name, words in (
        ("circle.txt", "circle.txt"), ("folder", "Is a directory"), ("/dev/zero", "more than"),
        ("x" * 300, "name too long"),
    ):  # fmt: skip
        refused(capsys, train_ppo.run(["--dataset", name, "--out", "runs"]), words)
        refused(capsys, evaluate.run(["--equations", name]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["circle.txt", "folder"]


# ---- Cohorts ----

CELL = "[cells]\na = ''"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[cells]\n'..' = ''", "must be a name that a folder can have"),
        ("[cells]\n'.' = ''", "must be a name that a folder can have"),
        ("[cells]\n'' = ''", "must be a name that a folder can have"),
        ("[cells]\n'../../etc' = ''", "must be a name that a folder can have"),
        ('[cells]\n"a\\u0000b" = ""', "must be a name that a folder can have"),
        ("[cells]\n'a b' = ''\n'a/b' = ''", "would share a folder"),
        ("[cells]\na = '--out /'", "--out of 'a' is for the cohort to give"),
        ("[cells]\na = '--resume=runs/mine'", "--resume of 'a'"),
        ('[cells]\na = "--dataset \'open"', "No closing quotation"),
        ("[cells]\na = ['--gamma', '1']", "must map names to flags"),
        ("[cells.a]\nb = ''", "must map names to flags"),
        (f"seeds = [1, 1]\n{CELL}", "seeds must be"),
        (f"seeds = [true]\n{CELL}", "seeds must be"),
        (f"seeds = [-1]\n{CELL}", "seeds must be"),
        (f"seeds = []\n{CELL}", "seeds must be"),
        (f"seeds = [{'9' * 5000}]\n{CELL}", "is not TOML"),
        (f"splits = ['../../test']\n{CELL}", "splits must be"),
        (f"decoders = [['greedy']]\n{CELL}", "decoders must be"),
        (f"decoders = 'greedy'\n{CELL}", "decoders must be"),
        (f"flags = 3\n{CELL}", "flags must be text"),
        (f"about = ['x']\n{CELL}", "about must be text"),
        (f"evaluate = ['--width']\n{CELL}", "evaluate must be text"),
        (f"evaluate = '--bundle ../elsewhere'\n{CELL}", "--bundle of 'evaluate' is for the cohort"),
        (f"reports = ['../families']\n{CELL}", "reports must be"),
        (f"seeds = {'[' * 5000}", "is not TOML"),
        ("\xff\xfe", "is not TOML"),
    ],
    ids=range(26),
)
def test_a_cohort_that_is_none_is_refused(text, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.toml").write_text(text, encoding="latin-1")
    refused(capsys, run_cohort(["bad.toml", "--out", "out", "--results", "results"]), words)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def test_two_cohorts_of_one_name_do_not_run_at_once(tmp_path, capsys):
    (tmp_path / "table.toml").write_text(CELL)
    (tmp_path / "out" / "table").mkdir(parents=True)
    lock = hold(tmp_path / "out" / "table")
    args = [str(tmp_path / "table.toml"), "--out", str(tmp_path / "out")]
    refused(capsys, run_cohort(args), "is in use by process", str(os.getpid()))
    lock.close()


@pytest.mark.parametrize("name", ["asked.json", "train/run/args.json", "test-greedy.json"])
def test_a_cell_whose_records_are_damaged_fails_alone(name, tmp_path, monkeypatch):
    (tmp_path / "train" / "run").mkdir(parents=True)
    (tmp_path / "train" / "run" / "last.pt").touch()
    write_json(tmp_path / "asked.json", {"flags": [], "evaluate": []})
    for file in ("train/run/args.json", "test-greedy.json"):
        write_json(tmp_path / file, {"total_timesteps": 1})
    (tmp_path / name).write_text("[" * 10_000)
    monkeypatch.setattr(cells, "call", lambda *words: pytest.fail(f"{words} was called"))
    monkeypatch.setattr(cells, "curve_of", lambda run: {"steps": 1})
    job = cells.Job("a", 1, [], ["test"], ["greedy"], [], [], str(tmp_path))
    assert f"{name}' is damaged" in cells.run_job(job)["error"]
