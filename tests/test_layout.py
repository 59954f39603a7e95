"""The shape of the code: who may import whom, how long a file may be, what it may be called.

All of it is read from the sources; nothing is imported.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

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
    "equation", "rewrite", "numeric", "parse", "transforms", "verify", "operations", "encode",
    "transitions", "trace", "env",
)  # fmt: skip
ROOMS = (
    "search", "datasets", "gym", "learner", "picov", "paper", "wild", "audit", "charts", "stats",
    "report", "roots",
)  # fmt: skip
COMMANDS = ("diagram", "soundness", "cohort", "bench")
ORDER = ("", *ENVIRONMENT, *ROOMS, "train_ppo", "evaluate", *COMMANDS)

CEILING = 600
CEILINGS = {
    "evaluate.py": 400,
    # One file on purpose, to be read top to bottom: flags of two lines each, declaration and
    # documentation, then the network, the losses, success replay and the loop.
    "train_ppo.py": 650,
}
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


def test_abel_does_not_import_the_scripts():
    assert not (importers("train_ppo", True) | importers("evaluate", True)) - {"evaluate"}
    # `python -m abel.bench train` measures the learner, so that one command asks for it.
    assert importers("train_ppo", False) == {"evaluate", "bench"}
    assert importers("evaluate", False) == set()
    assert importers("tests", False) == {"bench"}


def test_torch_comes_with_networks_only():
    networks = {
        "learner.batch", "learner.checkpoint", "learner.forward", "learner.rollout",
        "learner.scalars", "paper.curiosity", "paper.encoders", "picov.network", "report.probes",
        "report.validation",
    }  # fmt: skip
    assert importers("torch", True) == {*networks, "train_ppo", "evaluate"}
    with_torch = {name for name in MODULES if "torch" in reaches(name)}
    assert with_torch == {*networks, "learner.replay", "picov.reward", "picov.__main__"}
    # Checkpoints, and the benchmark of the network: on demand.
    assert importers("torch", False) - importers("torch", True) == {"learner.records", "bench"}


def test_the_scripts_do_no_algebra():
    assert "sympy" not in packages(SCRIPTS["train_ppo"], False)
    assert "sympy" not in packages(SCRIPTS["evaluate"], False)


def test_optional_packages_have_one_place_each():
    assert importers("gymnasium", False) == {"gym"}
    assert importers("ray", False) == {"cohort"} and importers("ray", True) == set()
    assert importers("stable_baselines3", False) | importers("sb3_contrib", False) == set()
    assert not [name for name, path in FILES.items() if "abel.gym" in imports(path, False)]


# ---- Files ----


@pytest.mark.parametrize("path", FILES.values(), ids=lambda path: path.name)
def test_files_stay_short(path):
    ceiling = CEILINGS.get(path.name, CEILING)
    length = len(path.read_text(encoding="utf-8").splitlines())
    assert length <= ceiling, f"{path.name}: {length} lines; split it by concept"


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
