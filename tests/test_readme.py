"""All pages tell the truth: files and links exist, commands run, tables are the results'."""

import argparse
import configparser
import importlib.util
import json
import pkgutil
import re
import runpy
import shlex
import sys
from dataclasses import fields
from itertools import takewhile
from pathlib import Path
from typing import get_args

import pytest
import tyro

import evaluate
import train_ppo
from abel import Env, EnvConfig, load_dataset
from abel.cohort import markdown, read_cohort
from abel.operations import OPERATIONS, Operation
from abel.wild.marks import rates, rates_table
from tests import commands

ROOT = Path(__file__).parent.parent
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in commands.PAGES}
README, ON_ABEL, ON_RUNS, ON_DATASETS, ON_TESTS, ON_THE_PAPER = PAGES.values()
EVERY_PAGE = "\n".join(PAGES.values())
PROSE = {**PAGES, "CHANGELOG.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")}
STATS = json.loads((ROOT / "runs/results/datasets.json").read_text(encoding="utf-8"))["sets"]
FENCE = re.compile(r"^```.*?^```\n", flags=re.S | re.M)

MOST_LINES = 250  # of the front page
WIDEST = 120


def marked(page: str, name: str) -> str:
    """What stands between a marker and the end."""
    return page.split(f"<!-- {name} -->\n")[1].split("<!-- end -->")[0]


def cells(table: str) -> list[list[str]]:
    """The rows of a table without its head."""
    lines = takewhile(lambda line: line.startswith("|"), table.lstrip("\n").splitlines())
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in [*lines][2:]]


def after(page: str, head: str) -> list[list[str]]:
    """The rows of the table that begins with this head."""
    return cells(head + page.split(head)[1])


def in_code(text: str) -> list[str]:
    """What stands between backticks, outside of code blocks."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", text))


def result(name: str) -> dict:
    return json.loads((ROOT / f"runs/results/{name}.json").read_text(encoding="utf-8"))


# ---- The pages themselves ----


def test_the_front_page_is_short():
    assert len(README.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", PROSE)
def test_lines_are_short_outside_of_tables_and_code(name):
    blanked = FENCE.sub(lambda match: "\n" * match[0].count("\n"), PROSE[name])
    lines = enumerate(blanked.splitlines(), 1)
    assert not [n for n, line in lines if len(line) > WIDEST and not line.startswith("|")]


def anchors(page: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", FENCE.sub("", page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", PROSE)
def test_links_lead_somewhere(name):
    links = re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", PROSE[name]))
    broken = []
    for link in links:
        path, _, anchor = link.partition("#")
        if link.startswith("https://"):
            continue
        target = (ROOT / name).parent / path if path else ROOT / name
        if not target.exists() or (
            anchor and anchor not in anchors(target.read_text(encoding="utf-8"))
        ):
            broken.append(link)
    assert not broken


def test_every_page_is_linked_from_the_front_page():
    assert not [name for name in PROSE if name != "README.md" and f"]({name})" not in README]


def named_paths(page: str) -> set[str]:
    """Files and folders in running text: with an ending or a slash at the end."""
    found = in_code(page)
    return {text for text in found if re.fullmatch(r"[.\w][\w.*/-]*/(?:[\w.*-]+\.[\w*]+)?", text)}


@pytest.mark.parametrize("name", PAGES)
def test_named_files_exist(name):
    """A path is one from the root; those of a folder's own page may also begin there."""
    homes = [ROOT, (ROOT / name).parent]
    named = named_paths(PAGES[name]) - {"projector/", "reports/", "share/abel/"}
    missing = [path for path in named if not any([*home.glob(path)] for home in homes)]
    assert named and not missing


def test_files_named_without_a_folder_exist():
    known = {path.name for path in ROOT.rglob("*.*")} | {"last.pt", "best.pt", "cubes.txt"}
    known |= {"mine.json", "mine.train.txt", "mine.heldout.txt"}
    ending = r"[\w-]+\.(?:py|md|json|txt|pt|toml|cfg|cff|svg)"
    found = {text for text in in_code(EVERY_PAGE) if re.fullmatch(ending, text)}
    assert len(found) > 5 and not found - known


def test_every_file_of_tests_has_its_theme():
    table = ON_TESTS.split("## What is tested")[1].split("\n\n")[1]
    assert set(re.findall(r"`(test_\w+)`", table)) == {x.stem for x in ROOT.glob("tests/test_*.py")}


def test_every_room_is_on_the_pages():
    rooms = {f"abel/{path.parent.name}/" for path in ROOT.glob("abel/*/__init__.py")}
    assert len(rooms) > 10
    for page in (README.split("## The rooms")[1].split("\n## ")[0], ON_ABEL):
        assert not rooms - set(in_code(page))


# ---- Commands and examples ----

SHOWN = re.findall(r"^```\n\$ python evaluate\.py ([^\n]*)\n(.*?)^```", EVERY_PAGE, re.S | re.M)


@pytest.mark.slow
@pytest.mark.parametrize("flags, shown", SHOWN, ids=[flags for flags, _ in SHOWN])
def test_what_is_shown_is_what_the_agent_prints(flags, shown, capsys):
    assert evaluate.run(shlex.split(flags)) == 0
    assert capsys.readouterr().out == shown


def test_the_traces_shown_are_five():
    assert len(SHOWN) == 5


def example(page: str, name: str) -> str:
    return marked(page, name).split("```python\n")[1].split("```")[0]


def test_the_example_in_python_prints_what_it_says(capsys):
    exec(compile(example(ON_ABEL, "python"), "README.md", "exec"), {})
    actions, solved, *steps, root, verdict = capsys.readouterr().out.splitlines()
    assert "sub b" in actions and solved == "True -b/a"
    assert len(steps) == 3 and root == "x = -b/a   (proved)"
    assert verdict == "proved a <= 0"


def test_the_new_operation_prints_what_it_says(capsys, monkeypatch):
    monkeypatch.setitem(OPERATIONS, "cube", OPERATIONS["square"])  # so that it is gone afterwards
    exec(compile(example(ON_ABEL, "cube"), "README.md", "exec"), {})
    shown = marked(ON_ABEL, "cube").split("It prints\n\n```\n")[1].split("```")[0]
    assert OPERATIONS["cube"].name == "cube" and capsys.readouterr().out == shown


@pytest.mark.slow
def test_the_gymnasium_example_runs(capsys):
    pytest.importorskip("sb3_contrib")
    exec(compile(example(ON_ABEL, "gymnasium"), "README.md", "exec"), {})
    assert re.match(r".*\n  1\. .*\n(not solved|x = .*)\n$", capsys.readouterr().out)


SAID = re.findall(r"python ((?:train_ppo\.py|evaluate\.py|-m (?:abel|tests))[^`#|\n]*)", EVERY_PAGE)
# An alias ends with a quotation mark that is not the command's, `<(...)` with a bracket.
COMMANDS = {re.sub(r'(?<=bash)\)$|(?<=\.py)"$', "", said.strip()) for said in SAID}


def test_every_command_of_the_pages_is_run():
    """`python -m tests.commands` has nothing left open, and nothing that no page says."""
    written = {command for _, command in commands.all_commands()}
    assert len(written) > 60 and set(commands.RUN_AS) <= written
    run = {command: commands.RUN_AS.get(command, (command, ""))[0] for command in written}
    left = {name for name, words in run.items() if words and commands.is_open(words)}
    assert not left, "say in RUN_AS what they are run as"


def test_commands_are_found_and_written_for_an_installed_package():
    page = "Say `python -m abel`, or\n```\n$ tool\npython evaluate.py --beam   # slow\nout\n```\n"
    assert [*commands.commands_of(page)] == ["python -m abel", "python evaluate.py --beam"]
    assert commands.as_installed("python train_ppo.py --seed 1") == "python -m train_ppo --seed 1"
    page = "```python\nimport abel\n```\nSay `python -m abel x` here.\n```\npytest -q\n```\n"
    assert [*commands.commands_of(page)] == ["python -m abel x", "pytest -q"]
    there = "python -m evaluate --equations $VIRTUAL_ENV/share/abel/datasets/schoolbook.txt"
    assert commands.as_installed("python evaluate.py --equations datasets/schoolbook.txt") == there
    assert commands.as_installed("pytest -q -n auto") is None
    assert commands.is_open("python -m abel.trace FILE.json")
    assert commands.is_open("python evaluate.py --equations a.txt [--beam]")
    assert not commands.is_open("python evaluate.py --run runs/<run>")


class Parsed(Exception):
    """The command line was understood; nothing is to be done."""


def stopping(parse):
    def parse_and_stop(*args, **rest):
        parse(*args, **rest)
        raise Parsed

    return parse_and_stop


def understands(module: str, words: list[str], monkeypatch, capsys) -> bool:
    """Whether `python -m module words` is a command that the module knows."""
    if not words:  # only named
        return importlib.util.find_spec(module) is not None
    monkeypatch.setattr(sys, "argv", [module, *words])
    monkeypatch.setattr(tyro, "cli", stopping(tyro.cli))
    parse_args = argparse.ArgumentParser.parse_args
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stopping(parse_args))
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except Parsed:
        return True
    except SystemExit as end:  # --help, or a module without flags that missed its files
        said = capsys.readouterr()
        return not end.code or (end.code == 2 and said.err.startswith(f"{module}: "))
    return False


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_commands_exist_and_know_their_flags(command, monkeypatch, capsys):
    said = re.sub(r"[\[\]]", "", command).replace("runs/<run>", "runs/reference")
    words = shlex.split(said)
    if words[0] == "-m":
        assert understands(words[1], words[2:], monkeypatch, capsys)
    elif words[0] == "evaluate.py":
        evaluate.check(tyro.cli(evaluate.Args, args=words[1:]))
    elif {"--help", "--tyro-print-completion"} & set(words):
        with pytest.raises(SystemExit):
            train_ppo.parse_args(words[1:])
    else:
        train_ppo.parse_args(words[1:])


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
def test_a_command_with_an_unknown_flag_is_noticed(monkeypatch, capsys):
    for words in (["--name", "all", "--chek"], ["--count", "many"]):
        assert not understands("abel.datasets", words, monkeypatch, capsys)
    assert not understands("abel.cohort", ["--engin", "ray"], monkeypatch, capsys)
    assert not understands("abel.stats", ["one.json"], monkeypatch, capsys)


def test_flags_in_running_text_are_flags():
    known = {f"--{name.replace('_', '-')}" for name in flags_of(train_ppo.Args)}
    known |= {f"--{name.replace('_', '-')}" for name in flags_of(evaluate.Args)}
    known |= {name.replace("--", "--no-") for name in known} | {"--help"}
    found = set()
    for text in in_code(EVERY_PAGE):
        if text.startswith("--"):
            found |= set(re.findall(r"--[a-z][\w-]*", text))
    of_others = {"--seed", "--seeds", "--check", "--again", "--engine", "--eval", "--keep"}
    of_others |= {"--port", "--workers", "--memory", "--report", "--figure", "--flags"}
    of_others |= {"--failures", "--times"}
    assert len(found) > 25 and not found - known - of_others


def flags_of(kind: type) -> set[str]:
    """Names of all flags; groups stand without their own name."""
    default, found = kind(), set()
    for field in fields(kind):
        value = getattr(default, field.name)
        inner = hasattr(value, "__dataclass_fields__")
        found |= flags_of(type(value)) if inner else {field.name}
    return found


def test_the_test_command_is_one_line_that_ci_can_read():
    lines = marked(README, "test command").splitlines()
    assert len(lines) == 3 and lines[0] == lines[2] == "```" and "pytest" in lines[1]
    gates = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "<!-- test command -->" in gates and "<!-- end -->" in gates


# ---- Tables of the code ----


def test_symbols_to_edit_exist():
    table = marked(README, "symbols")
    named = re.findall(r"`((?:abel[.\w]+|train_ppo|evaluate)(?::[\w.]+)?)`", table)
    assert len(named) > 25
    for name in named:
        pkgutil.resolve_name(name)  # fails if there is no such thing


def test_symbols_of_the_learner_are_in_its_file():
    details = ON_RUNS.split("## Details of the learner")[1].split("\n## ")[0]
    named = [text for text in in_code(details) if re.fullmatch(r"[a-zA-Z]+(_[a-z]+)*", text)]
    named = [text for text in named if text not in (*train_ppo.PRESETS, "n_steps")]
    assert len(named) > 5 and not [name for name in named if not hasattr(train_ppo, name)]


def test_the_presets_are_all_there():
    named = [name for row in after(README, "| `--preset` |") for name in in_code(row[0])]
    assert sorted(named) == sorted(train_ppo.PRESETS)


def test_the_table_of_operations_is_the_table():
    told = {
        name: (row[2], tuple(in_code(row[3])))
        for row in cells(marked(ON_ABEL, "operations"))
        for name in in_code(row[0])
    }
    table = {name: (row.kind, row.flags) for name, row in OPERATIONS.items()}
    derived = [name for name in table if OPERATIONS[name].opens]  # a line for each bound
    assert list(told) == [name for name in table if name not in derived or name in told]
    assert told == {name: table[name] for name in told}
    assert {told[name] for name in derived if name in told} == {table[name] for name in derived}


def test_the_derived_quadratic_is_what_the_environment_prints():
    shown = marked(ON_ABEL, "derived").strip().strip("`").strip()
    config = EnvConfig(substitutions="general", terms="blocks", relabel=False)
    env = Env([shown.split("\n")[0]], config)
    env.reset()
    for step in (("put x + h", "b*x"), ("sub", "b"), ("div", "2*a"), ("sub", "d"), ("div", "a"),
                 ("sqrt",)):  # fmt: skip
        env.step(env.find(*step))
    assert env.trace().to_text() == shown


def test_every_field_of_a_row_is_explained():
    named = [text for row in after(ON_ABEL, "| field | meaning |") for text in in_code(row[0])]
    assert [text.split("(")[0] for text in named] == [field.name for field in fields(Operation)]


def test_decoders_and_reports_are_all_there():
    decoders = [name for row in after(ON_RUNS, "| `--decoder` |") for name in in_code(row[0])]
    assert decoders == [*get_args(evaluate.DecoderName), "all"]
    reports = [name for row in after(ON_RUNS, "| `--report` |") for name in in_code(row[0])]
    assert sorted(reports) == sorted(get_args(evaluate.ReportName)) == sorted(evaluate.REPORTS)


def test_every_dependency_has_a_reason():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    wanted = re.findall(r"^([\w-]+)[=>]", setup["options"]["install_requires"], flags=re.M)
    told = [row[0].lower().replace("pytorch", "torch") for row in after(README, "| package |")]
    assert sorted(told) == sorted(wanted)


@pytest.mark.slow
def test_every_tag_is_explained(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    flags = ["--dataset", "abel_level2", "--total-timesteps", "4096", "--curiosity", "rnd"]
    assert train_ppo.run([*flags, "--out", str(tmp_path)]) == 0
    (run,) = tmp_path.glob("abel_level2__*")
    tags = EventAccumulator(str(run)).Reload().Tags()
    logged = {tag for kind in ("scalars", "images", "tensors") for tag in tags[kind]}
    logged = {tag.removesuffix("/text_summary") for tag in logged if not tag[0] == "_"}
    families = {problem.family for problem in load_dataset("abel_level2", "train")}
    logged = {re.sub(rf"/({'|'.join(families)})$", "/<family>", tag) for tag in logged}
    told = {tag for row in after(ON_RUNS, "| tag | meaning |") for tag in in_code(row[0])}
    assert {tag for tag in logged if "hparam" not in tag} == told


# ---- Tables of datasets ----


def sets() -> list[list[str]]:
    return after(ON_DATASETS, "| set | families |")


@pytest.mark.parametrize("row", sets(), ids=lambda row: row[0])
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


def ceiling(name: str, key: str) -> float:
    parts = [family["heldout"] for family in STATS[name].values() if "heldout" in family]
    return sum(part[key] * part["count"] for part in parts) / sum(part["count"] for part in parts)


@pytest.mark.parametrize("name", ["small", "large", "open_small", "open_large", "cov_large"])
def test_ceilings_are_those_of_the_results_file(name):
    row = next(row for row in sets() if row[0] == f"`{name}`")
    assert float(row[4]) == pytest.approx(ceiling(name, "by_script"), abs=0.005)
    assert float(row[5]) == pytest.approx(ceiling(name, "by_sympy_solve"), abs=0.005)


# ---- Tables of results ----


def test_results_are_those_of_the_results_files():
    embedded = re.findall(r"<!-- cohort (\w+) -->\n(.*?)\n<!-- end -->", EVERY_PAGE, flags=re.S)
    assert len(embedded) > 15
    for name, table in embedded:
        told = (ROOT / f"runs/results/{name}.md").read_text(encoding="utf-8")
        assert table in told, f"{name}: the README's table is not that of the results"
        cohort = read_cohort(ROOT / f"runs/cohorts/{name}.toml")
        assert markdown(cohort, result(name)) == told, f"{name}: .md and .json differ"


def test_every_cohort_has_a_table_or_is_said_to_be_planned():
    embedded = set(re.findall(r"<!-- cohort (\w+) -->", ON_RUNS))
    planned = {row[0].strip("`") for row in after(ON_RUNS, "| planned |")}
    assert embedded | planned == {path.stem for path in ROOT.glob("runs/cohorts/*.toml")}
    for name in planned & embedded:  # some of its seeds have been trained
        cohort = read_cohort(ROOT / f"runs/cohorts/{name}.toml")
        rows = [len(cell["seeds"]) for cell in result(name)["cells"].values()]
        assert sum(rows) < len(cohort.seeds) * len(cohort.cells)
    assert not [n for n in planned - embedded if (ROOT / f"runs/results/{n}.json").exists()]


def test_the_front_page_s_results_are_those_of_the_results_files():
    table = cells(marked(README, "results"))
    agents = [row[1] for row in table]
    assert agents.count("`default`") == 2 and agents.count("reference") == 8
    for equations, agent, *told, _ in table:
        dataset, split = re.match(r"`(\w+)`, (\w+)", equations).groups()
        if agent == "reference":
            data = result(f"reference/{dataset}-{split}")
            counts = [data["decoders"][name]["solved"] for name in ("greedy", "beam")]
            assert told == [f"{count} of {data['n']}" for count in counts], equations
            assert data["width"] == 10
        else:
            cell = result(dataset)["cells"][agent.strip("`")]
            assert len(cell["seeds"]) == 10
            found = [cell["summary"][f"{split} {name}"] for name in ("greedy", "beam")]
            means = [f"{s['mean']:.3f} ({s['min']:.3f} to {s['max']:.3f})" for s in found]
            assert told == means, equations


def test_minutes_on_the_front_page_are_those_of_the_results_files():
    seeds = result("open_small")["cells"]["default"]["seeds"].values()
    minutes = [round(seed["cpu_seconds"] / 60) for seed in seeds]
    assert re.search(rf"took {min(minutes)} to {max(minutes)} minutes of one\s+core", README)
    path = ROOT / "runs/reference/provenance.json"
    spent = json.loads(path.read_text(encoding="utf-8"))["cpu_seconds"]
    assert f"training took {spent / 60:.0f} minutes of one core" in " ".join(README.split())


def test_the_replayed_traces_are_those_of_the_results_file():
    table, found = marked(ON_RUNS, "soundness"), result("soundness")
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
    pattern = r"\| `(\w+)`, (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|"
    rows = re.findall(pattern, marked(ON_RUNS, "reference"))
    assert len(rows) == 16
    for dataset, split, *told in rows:
        data = result(f"reference/{dataset}-{split}")
        by_greedy = [row for row in data["equations"] if "greedy" in row["solved_by"]]
        always = sum(row["valid_when"] is None for row in by_greedy)
        beam = data["decoders"]["beam"]["solved"]
        assert [int(n) for n in told] == [data["n"], len(by_greedy), always, beam], dataset


@pytest.mark.parametrize("name, greedy, beam", [("conpole", 2000, 2000), ("schoolbook", 98, 99)])
def test_what_is_told_of_other_equations_is_in_the_results_files(name, greedy, beam):
    for decoder, solved in (("greedy", greedy), ("beam", beam)):
        assert result(f"reference/{name}-{decoder}")["decoders"][decoder]["solved"] == solved
    assert re.search(rf"\b{greedy} greedy, {beam} with the\s+beam", ON_RUNS)


@pytest.mark.parametrize(
    "name, solved, n", [("poesia", 2374, 2400), ("poesia_numeric", 2397, 2400)]
)
def test_what_is_told_of_draws_is_in_the_results_files(name, solved, n):
    data = result(f"reference/{name}-draws")
    assert (data["decoders"]["greedy"]["solved"], data["n"]) == (solved, n)
    assert re.search(rf"`{name}`\s+{solved} of {n}\b", ON_RUNS)


def test_what_is_told_of_public_suites_is_in_the_results_file():
    data = result("external")
    rows = [[name, *row.values()] for name, row in data["suites"].items()]
    rows.append(["all", *data["total"].values()])
    assert [[row[0], *map(int, row[1:])] for row in cells(marked(ON_RUNS, "external"))] == rows
    assert [sum(column) for column in zip(*(row[1:] for row in rows[:-1]))] == rows[-1][1:]
    unsolved = data["unsolved"]["beam"]
    assert sum(unsolved.values()) == data["total"]["n"] - data["total"]["beam"]
    told = " ".join(ON_RUNS.split())
    assert f"solves {data['total']['greedy']} greedily and {data['total']['beam']} with" in told
    assert f"in {unsolved['28 steps are not enough']} equations 28 steps are not enough" in told


def test_the_table_of_variants_is_that_of_the_results_file():
    told = cells(marked(ON_RUNS, "variants"))
    seeds = result("open_small")["cells"]["default"]["seeds"].values()
    for row, name in zip(told, ("original", "renamed", "rescaled", "compound"), strict=True):
        counts = [seed["reports"]["generalisation"][name][0] for seed in seeds]
        assert [*map(int, row[1:])] == counts


def test_the_rates_on_open_wild_are_those_of_the_results_files():
    splits = ("test", "zeroshot", "nested")
    results = [result(f"reference/open_wild-{split}") for split in splits]
    assert rates_table(rates(results)) + "\n" == marked(ON_RUNS, "rates")


def test_the_rates_of_all_seeds_are_those_of_the_results_file():
    assert rates_table(result("open_wild_rates")["rows"]) + "\n" == marked(
        ON_RUNS, "rates of seeds"
    )


def test_the_complete_sets_are_those_of_the_results_files():
    told = cells(marked(ON_RUNS, "complete"))
    for row, name in zip(told, ("open_small", "open_wild", "open_wild_quartic"), strict=True):
        found = result(f"reference/{name}-all-roots")["all"]
        keys = ("n", "with_a_root", "complete", "complete_where", "fewer", "unknown")
        assert row == [f"`{name}`, test", *(str(found[key]) for key in keys)]


# ---- What of the paper is confirmed ----

MEASURED = re.compile(r"`([^`]+)` (test|heldout) (greedy|beam) (\d\.\d{3})")


def verdicts() -> list[list[str]]:
    """The rows of all tables of claims."""
    parts = ON_THE_PAPER.split("| the paper |")[1:]
    return [row for part in parts for row in cells(f"| the paper |{part}")]


def told(row: list[str]) -> list[tuple[str, str, str]]:
    """Cells, decoders and numbers of a row of verdicts, wherever they stand in it."""
    return [(cell, f"{split} {by}", said) for cell, split, by, said in MEASURED.findall(row[1])]


def test_every_number_of_a_verdict_is_in_the_results_file_that_its_row_names():
    rows, found = verdicts(), 0
    assert len(rows) > 20 and {len(row) for row in rows} == {3}
    for claim, measured, file in rows:
        data = json.loads((ROOT / "runs" / file.strip("`")).read_text(encoding="utf-8"))
        for cell, column, said in told([claim, measured, file]):
            found += 1
            mean = data["cells"][cell]["summary"][column]["mean"]
            assert f"{mean:.3f}" == said, f"{cell}, {column} of {file} is {mean:.3f}"
        loose = re.findall(r"\d\.\d{3}", MEASURED.sub("", measured))
        assert not loose, f"say of which cell, split and decoder {loose} are"
    assert found > 30


def test_counts_of_verdicts_are_those_of_the_results_files():
    page, reports = ON_THE_PAPER, "open_small_reference"
    for name in ("open_small", "open_large"):
        (n,), (counted, proved) = (result("soundness")[name][key] for key in ("n", "published"))
        assert re.search(rf"`{name}`:? {counted} of {n}\b.* {proved} of {n}\b", page)
    trigger, search = result(f"{reports}/trigger"), result(f"{reports}/search")
    judged, regimes = trigger["classifier"], trigger["regimes"]
    assert f"precision {judged['precision']}, recall {judged['recall']}, and" in page
    solved, n = regimes["learned"]["overall"]
    assert f"{solved} of {n} solved with its own timing" in page
    solved, n = regimes["rule"]["by_family"]["exponential"]
    assert f"the rule solves {solved} of {n} of that family" in page
    rules, masked, learned = (result(f"{reports}/decomposition")["arms"][arm] for arm in "ABC")
    for arm, name in ((rules, "with rules"), (learned, "with the learned generator"),
                      (masked, "without the action")):  # fmt: skip
        solved, n = arm["overall"]
        assert f"{solved} of {n} {name}" in page
    families = ("quadratic", "cubic", "quartic", "exponential")
    assert not any(masked["by_family"][family][0] for family in families)
    astar, bfs = (search[name]["solved"] for name in ("astar", "bfs"))
    assert f"solves {astar} of {search['n']}, BFS {bfs} of {search['n']}" in page
    assert f"A* with {search['budget']} states" in page
    seeds = result("open_large")["cells"]["frontier"]["seeds"].values()
    rates = [seed["scores"]["test"]["greedy"]["accuracy"] for seed in seeds]
    assert len(rates) == 8 and min(rates) > 0.99


def test_a_number_that_no_results_file_has_is_noticed():
    row = ["a claim", "`C2` test beam 0.698, `C4` test greedy 0.661", "`results/ladder.json`"]
    assert told(row) == [("C2", "test beam", "0.698"), ("C4", "test greedy", "0.661")]
