"""The shape of the code: who may import whom, how long a file may be, what it may be called.

All of it is read from the sources; nothing is imported.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from abel.__main__ import COMMANDS as COMMAND_LIST

ROOT = Path(__file__).parent.parent


def module_name(path: Path) -> str:
    """`verify.balls` for abel/verify/balls.py, `verify` for the room's own file."""
    parts = path.relative_to(ROOT / "abel").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((ROOT / "abel").rglob("*.py"))}
SCRIPTS = {name: ROOT / f"{name}.py" for name in ("train_ppo", "evaluate")}
FILES = MODULES | SCRIPTS

# Files and rooms, each building on those before it and never on those after it.
ENVIRONMENT = (
    "home", "equation", "rewrite", "numeric", "lost_roots", "parse", "transforms", "verify",
    "operations", "encode", "transitions", "derive", "render", "trace", "env",
)  # fmt: skip
ROOMS = (
    "search", "roots", "datasets", "gym", "learner", "picov", "paper", "wild", "audit", "charts",
    "stats", "analysis", "report", "answers",
)  # fmt: skip
COMMANDS = ("diagram", "playground", "soundness", "cohort", "certificate", "bench", "__main__")
# Rooms with one door: others import what `__init__` names, and no file behind it.
DOORS = (
    "rewrite", "parse", "verify", "render", "search", "roots", "datasets", "answers", "cohort",
    "diagram", "certificate", "charts", "playground",
)  # fmt: skip
# open_wild and open_world are drawn with the tools that the other datasets are drawn with.
REACH_PAST = {"wild.drafts", "wild.families", "wild.world"}
ORDER = ("", *ENVIRONMENT, *ROOMS, "train_ppo", "evaluate", *COMMANDS)

CEILING = 450
CEILINGS = {
    "evaluate": 400,
    # One file on purpose, to be read top to bottom: flags of two lines each, declaration and
    # documentation, then the network, the losses, success replay and the loop.
    "train_ppo": 650,
}
MOST_FILES = 12  # of a room, without what names them and what runs them
LONGEST_FUNCTION = 60
LONG_FUNCTIONS = {"train_ppo.main", "datasets.load.main"}
MOST_DECISIONS = 15  # cyclomatic complexity of a function, with those inside it
NOT_SIMPLE = {  # and why
    "a loop that is to be read in one piece": {
        "train_ppo.main", "env.step",
        "bench.training.bench_train",
    },
    "a branch for each kind of expression, and nothing else": {
        "datasets.construct.unwrap", "wild.script.radicals", "wild.script.rules",
         "numeric.sample", "search.oracle.explicit",
    },
    "one argument, whose tests follow from each other": {
        "operations.world.powers.matching", "roots.none.out_of_range",
        "certificate.statement.find_models", "certificate.statement.state",
        "lost_roots.fraction", "roots.families.is_within", "roots.follow.judge",
        "trace.follow", "verify.proof.inverse_trig", "verify.proof.split",
        "verify.verdict.by_residues",
    },
    "a plan of random draws, whose order is the data's": {
        "audit.attacks.periodic_case", "certificate.study.corrupted",
        "datasets.generate.poesia_draft", "picov.grammar.build", "wild.world.draw",
        "picov.grammar.draw_other", "wild.families.draw",
    },
    "sums, rows and marks of one table, chart or polynomial; most of it comprehensions": {
        "charts.plots.bar_chart", "roots.complete.numbers_of",
        "operations.world.angles.as_product", "operations.world.factoring.factored",
        "verify.kernels.irreducible_factors", "verify.samples.far_points",
    },
    "one option after the other": {"datasets.load.load_dataset", "datasets.load.main"},
}  # fmt: skip
VAGUE_NAMES = {"utils", "util", "common", "base", "helpers", "misc"}
HOMES = re.compile(r"(?<![\w.])/(?:tmp|work|home|root|Users|opt)\b|(?<!\w)~[/]")


def statements(tree: ast.AST, at_import: bool) -> Iterator[ast.AST]:
    """All nodes, or those that run when the file is imported."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not (at_import and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            yield from statements(node, at_import)


@cache
def imports(path: Path, at_import: bool) -> frozenset[str]:
    """Dotted names of the modules that a file imports: at once only, or in functions as well."""
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8")), at_import):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            name = node.module or ""
            inside = f"{name}.".removeprefix("abel.")
            parts = {f"{name}.{a.name}" for a in node.names if f"{inside}{a.name}" in MODULES}
            found |= parts or {name}
    return frozenset(found)


def packages(path: Path, at_import: bool) -> set[str]:
    return {name.split(".")[0] for name in imports(path, at_import)}


@cache
def reaches(name: str) -> frozenset[str]:
    """All that comes along when a file is imported: modules of abel by name, packages."""
    mine = ours(name, True)
    found = mine | packages(FILES[name], True)
    return frozenset(found.union(*(reaches(other) for other in mine)))


def importers(package: str, at_import: bool) -> set[str]:
    return {name for name, path in FILES.items() if package in packages(path, at_import)}


# ---- Imports ----


def ours(name: str, at_import: bool) -> set[str]:
    """The files of the project that a file imports, by name."""
    found = {i.removeprefix("abel.") for i in imports(FILES[name], at_import)}
    return {i for i in found if i in FILES}


def place(name: str) -> int:
    """Where a file's room stands in the order."""
    return ORDER.index(name.split(".")[0])


def test_every_file_has_its_place():
    assert {name.split(".")[0] for name in FILES} == set(ORDER)


def test_no_module_imports_itself_in_a_circle():
    graph = {name: ours(name, True) for name in FILES}
    assert set(TopologicalSorter(graph).static_order()) >= set(ENVIRONMENT)


@pytest.mark.parametrize("name", [name for name in FILES if name])
def test_imports_point_down(name):
    above = {other for other in ours(name, True) if place(other) > place(name)}
    assert not above


def exported(room: str) -> set[str]:
    """The names that a room's `__init__` gives."""
    tree = ast.parse(MODULES[room].read_text(encoding="utf-8"))
    values = [n.value for n in tree.body if isinstance(n, ast.Assign) and "__all__" in ast.dump(n)]
    return {element for value in values for element in ast.literal_eval(value)}


@pytest.mark.parametrize("room", DOORS)
def test_nothing_outside_reaches_past_a_room_s_door(room):
    outside = [name for name in FILES if name.split(".")[0] != room and name not in REACH_PAST]
    past = {
        f"{name}: {other}"
        for name in outside
        for other in ours(name, False)
        if other.startswith(f"{room}.") and other.removeprefix(f"{room}.") not in exported(room)
    }
    assert len(exported(room)) > 2 and not past


def test_every_command_is_listed():
    guarded = {n for n, path in FILES.items() if 'if __name__ == "__main__"' in path.read_text()}
    rooms = {name for name in FILES if name.endswith(".__main__")}
    names = {name.removesuffix(".__main__") for name in guarded | rooms} - {"__main__"}
    found = {name if name in SCRIPTS else f"abel.{name}" for name in names}
    assert found == set(COMMAND_LIST)


def test_abel_does_not_import_the_scripts():
    assert not (importers("train_ppo", True) | importers("evaluate", True)) - {"evaluate"}
    # `python -m abel.bench train` measures the learner, the experiment on the paper's check trains
    # with it, and the playground's agents are its.
    users = {"bench.training", "paper.criterion", "playground.thinking"}
    assert importers("train_ppo", False) == {"evaluate", *users}
    assert importers("evaluate", False) == set()
    assert importers("tests", False) == set()


def test_torch_comes_with_networks_only():
    networks = {
        "learner.batch", "learner.checkpoint", "learner.forward", "learner.rollout",
        "learner.scalars", "paper.curiosity", "paper.encoders", "paper.padded", "picov.network",
        "picov.supervise", "analysis.probes", "report.reports", "report.validation",
    }  # fmt: skip
    assert importers("torch", True) == {*networks, "picov.__main__", "train_ppo", "evaluate"}
    with_torch = {name for name in MODULES if "torch" in reaches(name)}
    others = {"learner.replay", "picov.exactness", "picov.__main__"}
    assert with_torch == {*networks, *others}
    # Checkpoints, the benchmark of the network, and the page's agents: on demand.
    assert importers("torch", False) - importers("torch", True) == {
        "learner.records",
        "bench.training",
        "playground.thinking",
    }


def test_the_scripts_do_no_algebra():
    assert "sympy" not in packages(SCRIPTS["train_ppo"], False)
    assert "sympy" not in packages(SCRIPTS["evaluate"], False)


def test_optional_packages_have_one_place_each():
    assert importers("gymnasium", False) == {"gym"}
    assert importers("ray", False) == {"cohort.cells"} and importers("ray", True) == set()
    assert importers("bottle", False) == {"playground.server"}
    assert importers("selenium", False) == {"playground.pictures"}
    assert importers("selenium", True) == set()
    assert importers("stable_baselines3", False) | importers("sb3_contrib", False) == set()
    assert not [name for name, path in FILES.items() if "abel.gym" in imports(path, False)]


# ---- Files ----


@pytest.mark.parametrize("name", FILES)
def test_files_stay_short(name):
    length = len(FILES[name].read_text(encoding="utf-8").splitlines())
    assert length <= CEILINGS.get(name, CEILING), f"{length} lines; split it by concept"


def test_a_room_has_at_most_a_dozen_files():
    folders = Counter(path.parent for path in MODULES.values())
    rooms = {folder.name: n for folder, n in folders.items() if folder != ROOT / "abel"}
    unnamed = Counter(path.parent.name for path in MODULES.values() if path.stem[:2] == "__")
    rooms = {name: n - unnamed[name] for name, n in rooms.items()}
    assert len(rooms) > 8 and max(rooms.values()) <= MOST_FILES, rooms


def test_functions_stay_short():
    lengths = {
        f"{name}.{node.name}": node.end_lineno - node.lineno + 1
        for name, path in FILES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    long = {name for name, length in lengths.items() if length > LONGEST_FUNCTION}
    assert long == LONG_FUNCTIONS, {name: lengths[name] for name in long ^ LONG_FUNCTIONS}


def decisions(tree: ast.AST) -> int:
    """Branches, loops, ternaries, comprehensions, and each `and` and `or`."""
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.For | ast.While | ast.ExceptHandler | ast.IfExp):
            found += 1
        elif isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            found += 1 + len(node.ifs)
        elif isinstance(node, ast.match_case):
            found += 1
    return found


def test_decisions_are_counted():
    body = """
    if a and b or c:
        return [x for x in y if x]
    try:
        return 1 if d else 2
    except E:
        pass
"""
    assert decisions(ast.parse("def f():" + body)) == 1 + 2 + 2 + 1 + 1


def test_functions_stay_simple_or_say_why_not():
    found = {
        f"{name}.{node.name}"
        for name, path in FILES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and 1 + decisions(node) > MOST_DECISIONS
    }
    listed = {name for names in NOT_SIMPLE.values() for name in names}
    assert found == listed, f"simplify, or say why not: {sorted(found ^ listed)}"


def test_names_say_what_is_inside():
    paths = [path for folder in ("abel", "tests") for path in (ROOT / folder).rglob("*")]
    assert not [path for path in paths if path.stem in VAGUE_NAMES]


def test_no_path_of_one_machine_is_written_down():
    patterns = ("*.py", "*.md", "*.cfg", "*.toml", ".ci/run", "abel/**/*.py", "tests/*.py")
    paths = [path for pattern in (*patterns, "runs/*/*.toml") for path in ROOT.glob(pattern)]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if HOMES.search(line)
    ]
    assert len(paths) > 80 and not found
