"""What is installed finds its data, and a clone named abel does not stand in its way."""

import ast
import configparser
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from abel import home
from abel.__main__ import COMMANDS

ROOT = Path(__file__).parent.parent
LEFT_OUT = (".git", ".venv", "build", "*.egg-info", "__pycache__", "tests", "results", ".*_cache")
SITE = Path("lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")
BUILD = ("--no-deps", "--no-build-isolation", "--quiet")

needs_setuptools = pytest.mark.skipif(
    not (importlib.util.find_spec("setuptools") and importlib.util.find_spec("pip")),
    reason="building needs pip and setuptools",
)


def run(*words: object, cwd: Path, path: Path | None = None) -> str:
    """What a command prints; it sees the installed package before any other."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of the project in a folder that is named as the package is."""
    copy = tmp_path_factory.mktemp("parent") / "abel"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    return copy


@pytest.fixture(scope="module")
def wheel(clone, tmp_path_factory):
    """A wheel, made from the sdist as an index would have it."""
    out = tmp_path_factory.mktemp("wheel")
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(out)!r})"
    run("-c", build, cwd=clone)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(out, filter="data")
    run("-m", "pip", "wheel", *BUILD, "-w", out, sdist.with_suffix("").with_suffix(""), cwd=out)
    (wheel,) = out.glob("*.whl")
    return wheel


def test_a_clone_is_its_own_home():
    assert home.home() == home.clone() == ROOT.resolve()


def test_an_installed_package_looks_in_the_share_of_its_prefix(tmp_path, monkeypatch):
    share = tmp_path / "share" / "abel"
    share.mkdir(parents=True)
    for place in (tmp_path, tmp_path / SITE):
        monkeypatch.setattr(home, "CODE", place)
        assert home.clone() is None and home.home() == share


def test_an_installed_package_without_data_names_where_they_should_be(tmp_path, monkeypatch):
    monkeypatch.setattr(home, "CODE", tmp_path / SITE)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert home.home() == tmp_path / "share" / "abel"


# What the standard library lost in 3.12 and 3.13.
GONE = set(
    "aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp lib2to3 mailcap"
    " msilib nis nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib".split()
)
VERSIONS = ("3.11", "3.12", "3.13")
SOURCES = [*ROOT.glob("*.py"), *ROOT.glob("abel/**/*.py"), *ROOT.glob("tests/*.py")]


def test_the_versions_of_python_are_those_that_setup_cfg_names():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    named = setup["metadata"]["classifiers"].split("Programming Language :: Python :: ")
    assert [text.split()[0] for text in named[2:]] == list(VERSIONS)
    assert setup["options"]["python_requires"] == f">={VERSIONS[0]}"
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python {VERSIONS[0]} to {VERSIONS[-1]}" in page


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_is_read_by_the_oldest_python_and_imports_nothing_that_newer_ones_lack(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=tuple(map(int, VERSIONS[0].split("."))))
    nodes = list(ast.walk(tree))
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in found} & GONE


# What an installed package finds, asked in one process.
ASKED = """
import json
from importlib.resources import files
import abel
from abel.picov.network import load_generator
from abel.search.oracle import Oracle
load_generator()
print(json.dumps({
    "package": abel.__file__,
    "num_problems": len(abel.load_dataset("open_wild", "zeroshot")),
    "page": str(files("abel") / "playground/static/page.js"),
    "root": str(Oracle(9)("x + a = 0").root),
}))
"""


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Where a scheme of installation puts the package; each is used by several tests."""
    made = {}

    def install(scheme):
        if scheme not in made:
            env = tmp_path_factory.mktemp("env")
            run("-m", "pip", "install", *BUILD, scheme, env, wheel, cwd=env)
            made[scheme] = env / ("" if scheme == "--target" else SITE)
        return made[scheme]

    return install


@pytest.mark.slow
@needs_setuptools
@pytest.mark.parametrize("scheme", ["--prefix", "--target"])
def test_an_installed_package_solves_with_its_bundled_agent(scheme, installed, clone, tmp_path):
    path = installed(scheme)
    elsewhere = clone.parent  # where a folder named abel lies that is not the package
    found = json.loads(run("-c", ASKED, cwd=elsewhere, path=path))
    assert Path(found["package"]).parent == path / "abel"
    assert found["num_problems"] > 0 and found["root"] == "-a" and Path(found["page"]).is_file()
    trace = run("-m", "evaluate", "--equation", "x + a = b", "--format", "json",
                cwd=elsewhere, path=path)  # fmt: skip
    (tmp_path / "trace.json").write_text(trace, encoding="utf-8")
    shown = run("-m", "abel.trace", tmp_path / "trace.json", cwd=elsewhere, path=path)
    assert "b - a" in shown or "-a + b" in shown
    listed = run("-m", "abel", cwd=elsewhere, path=path)
    assert all(f"    {name} " in listed for name in COMMANDS)


@pytest.mark.slow
@needs_setuptools
def test_an_installed_package_trains_from_any_folder_and_solves_with_that_run(installed, tmp_path):
    path, elsewhere = installed("--prefix"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    small = ("--dataset", "abel_level1", "--total-timesteps", 512, "--num-envs", 8,
             "--num-steps", 16, "--minibatch-size", 64, "--eval-period", 512)  # fmt: skip
    run("-m", "train_ppo", *small, cwd=elsewhere, path=path)
    (trained,) = (elsewhere / "runs").glob("abel_level1__*")
    table = run("-m", "evaluate", "--run", trained.relative_to(elsewhere), "--dataset",
                "abel_level1", "--split", "train", "--decoder", "greedy",
                cwd=elsewhere, path=path)  # fmt: skip
    assert "16 equations" in table
    assert not [*path.parents[len(SITE.parts) - 1].rglob("runs/abel_level1__*")]


@pytest.mark.slow
@needs_setuptools
def test_a_clone_named_abel_does_not_shadow_its_own_package(clone, tmp_path):
    run("-m", "pip", "install", *BUILD, "--prefix", tmp_path, "-e", clone, cwd=tmp_path)
    # Without the running environment's own hooks, which may lead to another clone.
    look = f"""import sys, site; site.addsitedir({str(tmp_path / SITE)!r})
sys.path.append({sysconfig.get_path("purelib")!r})
import abel; print(abel.__file__)"""
    found = run("-S", "-c", look, cwd=clone.parent)
    assert Path(found.strip()) == clone / "abel" / "__init__.py"
