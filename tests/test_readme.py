"""The README tells the truth: its files exist, its commands run, its tables are the results'."""

import importlib
import json
import pkgutil
import re
import shlex
from pathlib import Path

import pytest
import tyro

import evaluate
import train_ppo
from abel import load_dataset
from abel.cohort import markdown, read_cohort
from abel.wild.marks import rates, rates_table

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / folder / "README.md" for folder in (".", "runs", "datasets")]
README, ON_RUNS, ON_DATASETS = (page.read_text(encoding="utf-8") for page in PAGES)
EVERY_PAGE = README + ON_RUNS + ON_DATASETS
STATS = json.loads((ROOT / "runs/results/datasets.json").read_text(encoding="utf-8"))["sets"]


def rows() -> list[list[str]]:
    table = ON_DATASETS.split("| set | families |")[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def test_named_files_exist():
    named = set(re.findall(r"`((?:abel|tests|runs)/[\w/]+\.\w+)`", EVERY_PAGE)) | {"train_ppo.py"}
    missing = [name for name in sorted(named) if not (ROOT / name).exists()]
    assert len(named) > 15 and not missing


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_dataset_counts_are_those_of_the_files(row):
    names = re.findall(r"`(\w+)`", row[0])
    if row[0].startswith("`abel_level1`"):
        names = [f"abel_level{n}" for n in range(1, 5)]
    for column, split in ((2, "train"), (3, "heldout")):
        numbers = [int(n) for n in re.findall(r"\d+", row[column])]
        counts = [len(load_dataset(name, split)) for name in names]
        if "poesia" in row[0] and split == "heldout":
            counts.append(len(load_dataset(names[0], "templates")))
        assert numbers == (counts[:1] if "each" in row[column] else counts)


# ---- Commands and examples ----

SHOWN = re.findall(r"^```\n\$ python evaluate\.py ([^\n]*)\n(.*?)^```", README, flags=re.S | re.M)


@pytest.mark.parametrize("flags, shown", SHOWN, ids=[flags for flags, _ in SHOWN])
def test_what_is_shown_is_what_the_agent_prints(flags, shown, capsys):
    assert evaluate.run(shlex.split(flags)) == 0
    assert capsys.readouterr().out == shown


def test_the_traces_shown_are_five():
    assert len(SHOWN) == 5


def test_the_example_in_python_prints_what_it_says(capsys):
    example = README.split("## Use\n\n```python\n")[1].split("```")[0]
    exec(compile(example, "README.md", "exec"), {})
    actions, solved, *steps, root = capsys.readouterr().out.splitlines()
    assert "sub b" in actions and solved == "True -b/a"
    assert len(steps) == 3 and root == "x = -b/a   (proved)"


COMMANDS = re.findall(r"python ((?:train_ppo|evaluate|-m abel)[^`#|\n]*)", EVERY_PAGE)


@pytest.mark.parametrize("command", sorted(set(COMMANDS)))
def test_commands_exist_and_the_scripts_know_their_flags(command):
    said = re.sub(r"[\[\]]", "", command).replace("runs/<run>", "runs/reference")
    words = shlex.split(said.split('"; source')[0])
    if words[0] == "-m":
        importlib.import_module(words[1])
    elif words[1:] == ["--help"]:
        with pytest.raises(SystemExit):
            train_ppo.parse_args(words[1:])
    elif words[0] == "train_ppo.py":
        train_ppo.parse_args(words[1:])
    else:
        evaluate.check(tyro.cli(evaluate.Args, args=words[1:]))


@pytest.mark.slow
def test_the_gymnasium_example_runs(capsys):
    pytest.importorskip("sb3_contrib")
    example = README.split("<!-- gymnasium -->\n```python\n")[1].split("```")[0]
    exec(compile(example, "README.md", "exec"), {})
    assert re.match(r".*\n  1\. .*\n(not solved|x = .*)\n$", capsys.readouterr().out)


def ceiling(name: str, key: str) -> float:
    parts = [family["heldout"] for family in STATS[name].values() if "heldout" in family]
    return sum(part[key] * part["count"] for part in parts) / sum(part["count"] for part in parts)


@pytest.mark.parametrize("name", ["small", "large", "open_small", "open_large", "cov_large"])
def test_ceilings_are_those_of_the_results_file(name):
    row = next(row for row in rows() if row[0] == f"`{name}`")
    assert float(row[4]) == pytest.approx(ceiling(name, "by_script"), abs=0.005)
    assert float(row[5]) == pytest.approx(ceiling(name, "by_sympy_solve"), abs=0.005)


def test_symbols_to_edit_exist():
    table = README.split("<!-- symbols -->")[1].split("<!-- end -->")[0]
    named = re.findall(r"`((?:abel[.\w]+|train_ppo|evaluate)(?::[\w.]+)?)`", table)
    assert len(named) > 25
    for name in named:
        pkgutil.resolve_name(name)  # fails if there is no such thing


def test_results_are_those_of_the_results_files():
    embedded = re.findall(r"<!-- cohort (\w+) -->\n(.*?)\n<!-- end -->", EVERY_PAGE, flags=re.S)
    assert embedded
    for name, table in embedded:
        told = (ROOT / f"runs/results/{name}.md").read_text(encoding="utf-8")
        assert table in told, f"{name}: the README's table is not that of the results"
        data = json.loads((ROOT / f"runs/results/{name}.json").read_text(encoding="utf-8"))
        cohort = read_cohort(ROOT / f"runs/cohorts/{name}.toml")
        assert markdown(cohort, data) == told, f"{name}: the .md file is not that of the .json file"


def test_the_replayed_traces_are_those_of_the_results_file():
    table = README.split("<!-- soundness -->")[1].split("<!-- end -->")[0]
    found = json.loads((ROOT / "runs/results/soundness.json").read_text(encoding="utf-8"))
    for text, name, way in (
        ("published traces here: `open_small`", "open_small", "published"),
        ("published traces here: `open_large`", "open_large", "published"),
        ("an honest route here, letters undone one after the other: `open_small`", "open_small",
         "honest, one by one"),
        ("an honest route here: `open_small`", "open_small", "honest"),
    ):  # fmt: skip
        (n,), (counted, proved) = found[name]["n"], found[name][way]
        assert f"| {text} | {counted} of {n} | {proved} of {n} |" in table


def test_the_reference_agents_table_is_that_of_its_results_files():
    table = README.split("<!-- reference -->")[1].split("<!-- end -->")[0]
    rows = re.findall(r"\| `(\w+)`, (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", table)
    assert len(rows) == 14
    for dataset, split, *told in rows:
        path = ROOT / f"runs/results/reference/{dataset}-{split}.json"
        data = json.loads(path.read_text(encoding="utf-8"))
        by_greedy = [row for row in data["equations"] if "greedy" in row["solved_by"]]
        always = sum(row["valid_when"] is None for row in by_greedy)
        beam = data["decoders"]["beam"]["solved"]
        assert [int(n) for n in told] == [data["n"], len(by_greedy), always, beam], path.name


@pytest.mark.parametrize("name, greedy, beam", [("conpole", 2000, 2000), ("schoolbook", 96, 96)])
def test_what_is_told_of_other_equations_is_in_the_results_files(name, greedy, beam):
    for decoder, solved in (("greedy", greedy), ("beam", beam)):
        path = ROOT / f"runs/results/reference/{name}-{decoder}.json"
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data["decoders"][decoder]["solved"] == solved
        assert re.search(rf"\b{greedy} greedy, {beam} with the\s+beam", README)


@pytest.mark.parametrize(
    "name, solved, n", [("poesia", 2399, 2400), ("poesia_numeric", 2398, 2400)]
)
def test_what_is_told_of_draws_is_in_the_results_files(name, solved, n):
    data = json.loads((ROOT / f"runs/results/reference/{name}-draws.json").read_text("utf-8"))
    assert (data["decoders"]["greedy"]["solved"], data["n"]) == (solved, n)
    assert re.search(rf"`{name}`\s+{solved} of {n}\b", ON_RUNS)


def test_the_table_of_variants_is_that_of_the_results_file():
    table = ON_RUNS.split("<!-- variants -->\n")[1].split("<!-- end -->")[0]
    told = [row.split("|")[2:-1] for row in table.splitlines()]
    data = json.loads((ROOT / "runs/results/open_small.json").read_text(encoding="utf-8"))
    seeds = data["cells"]["default"]["seeds"].values()
    for row, name in zip(told[2:], ("original", "renamed", "rescaled", "compound"), strict=True):
        assert [*map(int, row)] == [s["reports"]["generalisation"][name][0] for s in seeds]


def test_the_rates_on_open_wild_are_those_of_the_results_files():
    told = ON_RUNS.split("<!-- rates -->\n")[1].split("\n<!-- end -->")[0]
    paths = [f"open_wild-{split}.json" for split in ("test", "zeroshot", "nested")]
    folder = ROOT / "runs/results/reference"
    results = [json.loads((folder / p).read_text(encoding="utf-8")) for p in paths]
    assert rates_table(rates(results)) == told


def test_the_rates_of_all_seeds_are_those_of_the_results_file():
    told = ON_RUNS.split("<!-- rates of seeds -->\n")[1].split("\n<!-- end -->")[0]
    data = json.loads((ROOT / "runs/results/open_wild_rates.json").read_text(encoding="utf-8"))
    assert rates_table(data["rows"]) == told


def test_the_complete_sets_are_those_of_the_results_files():
    told = ON_RUNS.split("<!-- complete -->\n")[1].split("<!-- end -->")[0].splitlines()[2:]
    for row, name in zip(told, ("open_small", "open_wild", "open_wild_quartic"), strict=True):
        path = ROOT / f"runs/results/reference/{name}-all-roots.json"
        found = json.loads(path.read_text(encoding="utf-8"))["all"]
        keys = ("n", "with_a_root", "complete", "complete_where", "fewer", "unknown")
        assert row == f"| `{name}`, test | {' | '.join(str(found[key]) for key in keys)} |"
