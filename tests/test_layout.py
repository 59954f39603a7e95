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
MODULES = {path.stem: path for path in sorted((ROOT / "abel").glob("*.py"))}
SCRIPTS = {name: ROOT / f"{name}.py" for name in ("train_ppo", "evaluate")}
FILES = MODULES | SCRIPTS

# Each builds on those before it and never on those after it.
LAYERS = ("equation", "cov", "actions", "env", "search")
BELOW_ACTIONS = (
    "parse",
    "numeric",
    "rewrite",
    "encode",
    "verify",
    "balls",
    "samples",
    "kernels",
    "proof",
    "domain",
)

CEILING = 600
CEILINGS = {
    "evaluate.py": 400,
    # One file on purpose, to be read top to bottom: 64 flags of two lines each, declaration and
    # documentation, then all presets, the network, the losses and the loop.
    "train_ppo.py": 870,
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
            parts = {f"abel.{a.name}" for a in node.names if name == "abel" and a.name in MODULES}
            found |= parts or {name}
    return frozenset(found)


def packages(path: Path, at_import: bool) -> set[str]:
    return {name.split(".")[0] for name in imports(path, at_import)}


@cache
def reaches(name: str) -> frozenset[str]:
    """All that comes along when a file is imported: modules of abel by name, packages."""
    ours = {i.removeprefix("abel.") for i in imports(FILES[name], True) if i.startswith("abel.")}
    found = ours | packages(FILES[name], True)
    return frozenset(found.union(*(reaches(other) for other in ours)))


def importers(package: str, at_import: bool) -> set[str]:
    return {name for name, path in FILES.items() if package in packages(path, at_import)}


# ---- Imports ----


def test_no_module_imports_itself_in_a_circle():
    graph = {
        name: {i.removeprefix("abel.") for i in imports(path, True) if i.startswith("abel.")}
        for name, path in FILES.items()
    }
    assert set(TopologicalSorter(graph).static_order()) >= set(LAYERS)


@pytest.mark.parametrize("place", range(len(LAYERS) - 1))
def test_imports_point_down(place):
    assert reaches(LAYERS[place]).isdisjoint(LAYERS[place + 1 :])
    assert LAYERS[place] in reaches(LAYERS[place + 1])


@pytest.mark.parametrize("name", BELOW_ACTIONS)
def test_algebra_knows_nothing_of_actions(name):
    assert reaches(name).isdisjoint(LAYERS[2:])


def test_abel_does_not_import_the_scripts():
    assert not (importers("train_ppo", True) | importers("evaluate", True)) - {"evaluate"}
    # `python -m abel.bench train` measures the learner, so that one command asks for it.
    assert importers("train_ppo", False) == {"evaluate", "bench"}
    assert importers("evaluate", False) == set()
    assert importers("tests", False) == {"bench"}


def test_torch_comes_with_networks_only():
    assert importers("torch", True) == {"baselines", "picov", "probes", "train_ppo", "evaluate"}
    with_torch = {name for name in MODULES if "torch" in reaches(name)}
    assert with_torch == {"baselines", "picov", "probes", "covreward"}
    # Checkpoints, and the benchmark of the network: on demand.
    assert importers("torch", False) - importers("torch", True) == {"records", "bench"}


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
    patterns = ("*.py", "*.md", "*.cfg", "*.toml", ".ci/run", "abel/*.py", "tests/*.py")
    paths = [path for pattern in (*patterns, "runs/*/*.toml") for path in ROOT.glob(pattern)]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if HOMES.search(line)
    ]
    assert len(paths) > 80 and not found
