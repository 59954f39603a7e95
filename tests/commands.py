"""Every shell command of the README pages, run in a fresh clone and with an installed package.

    python -m tests.commands                                        # about an hour of one core
    python -m tests.commands --json runs/results/commands.json
    python -m tests.commands --homes DIR --home clone --only "report"   # again, where it was left

Commands are taken from the pages as they stand there and run from top to bottom, in two homes:

- `clone`: a fresh clone of what is committed. The front page's own lines set it up.
- `installed`: an empty folder with an environment that `pip install` filled without `-e`, from a
  clone that is gone afterwards. `as_installed` says how a command is written there.

A command is run word for word, with a run's folder for `runs/<run>`. The others are in `RUN_AS`: a
page leaves something open, as FILE, or the whole takes more than minutes. Exit 1 if one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from abel.learner.records import provenance, write_json

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md", *(f"{x}/README.md" for x in ("abel", "runs", "datasets", "tests")),
    "runs/REPRODUCTION.md",
)  # fmt: skip
BEGINS = r"(?:python3?|pip|pytest|tensorboard|alias|source|\.ci/run)\b"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)  # its language; none is the shell
OPEN = re.compile(r"<(?!\()|\[-|\b(?:NAME|SPLIT|[A-Z]*FILE|REF|RUN|DIR|CELL|FLAGS|[A-Z]\.json)\b")
HOMES = ("clone", "installed")
# Commands that serve a page until Ctrl-C: where it answers, and what is in the answer.
SERVERS = {
    "tensorboard --logdir runs": ("http://localhost:6006/data/runs", "open_small__"),
    "python -m abel.playground": ("http://127.0.0.1:8765/agents", "runs/reference"),
}
PATIENCE = 1800  # seconds

ONLY_NAMED = "only named here; how to call it stands elsewhere on the pages"
NOT_OURS = "reads a file that is not ours to bundle"
LONG = "shortened"
FILLED = "filled in"

# As it stands on a page -> as it is run, or None; why.
RUN_AS: dict[str, tuple[str | None, str]] = {
    # The front page and tests/README.md.
    'python3 -m venv .venv && . .venv/bin/activate && pip install -q -e ".[test]"'
    ' && pytest -q -n auto -m "slow or not slow"': (
        'python3 -m venv .venv && . .venv/bin/activate && pip install -q -e ".[test]"'
        ' && pytest -q -n auto -m "slow or not slow" tests/test_layout.py tests/test_trace.py',
        LONG,
    ),
    'pytest -q -n auto -m "slow or not slow"': (
        'pytest -q -n auto -m "slow or not slow" tests/test_stats.py',
        LONG,
    ),
    "pytest -q -n auto -m slow --times 10": (
        "pytest -q -n auto -m slow --times 2 tests/test_fuzz.py",
        LONG,
    ),
    "pytest -q -n auto --cov=abel": ("pytest -q -n auto --cov=abel tests/test_trace.py", LONG),
    "pip install .": (None, "fills the other home"),
    ".ci/run": (None, "the gates run all tests, as the command before it does"),
    "python -m tests.mutants": ('python -m tests.mutants --only "no epsilon ladder"', LONG),
    "python -m tests.branches --cases 2000": ("python -m tests.branches --cases 10", LONG),
    "python -m tests.commands": ("python -m tests.commands --help", LONG),
    "python -m abel.bench audit --cases 20000 --seed 1": (
        "python -m abel.bench audit --cases 200 --seed 1",
        LONG,
    ),
    "python -m abel.bench soak --soak-steps 1000000": (
        "python -m abel.bench soak --soak-steps 20000",
        LONG,
    ),
    # abel/README.md.
    "python -m abel.diagram modules --out FILE.svg": (
        "python -m abel.diagram modules --out modules.svg",
        FILLED,
    ),
    "python -m abel.certificate FILE.json --out FILE.v --check": (
        'python evaluate.py --equation "a*x + b = 0" --format json > trace.json'
        " && python -m abel.certificate trace.json --out root.v --check",
        FILLED,
    ),
    "python -m abel.playground --screenshots DIR": (
        "python -m abel.playground --port 0 --screenshots pictures",
        FILLED,
    ),
    "python -m abel.trace FILE.json": (
        'python evaluate.py --equation "a*x + b = 0" --format json > trace.json'
        " && python -m abel.trace trace.json",
        FILLED,
    ),
    # runs/README.md.
    "python train_ppo.py --dataset large+poesia+poesia_numeric+open_large+open_wild"
    "+open_wild_plain+open_wild_quartic+open_world --preset world --seed 1"
    " --total-timesteps 1600000": (
        "python train_ppo.py --dataset large+poesia+poesia_numeric+open_large+open_wild"
        "+open_wild_plain+open_wild_quartic+open_world --preset world --seed 1"
        " --total-timesteps 2048",
        LONG,
    ),
    "python evaluate.py --dataset NAME --split SPLIT --json"
    " runs/results/reference/NAME-SPLIT.json": (
        "python evaluate.py --dataset open_wild_quartic --split test --json open_wild-test.json",
        FILLED,
    ),
    "python evaluate.py --equations datasets/schoolbook.txt [--beam] --json FILE": (
        "python evaluate.py --equations datasets/schoolbook.txt --beam --json school.json",
        FILLED,
    ),
    "python -m abel.datasets --templates FILE --count 2000 --out conpole.txt": (None, NOT_OURS),
    "python evaluate.py --equations conpole.txt [--beam] --brief --json FILE": (None, NOT_OURS),
    "python -m abel.datasets --templates poesia --count 2400 --out poesia.txt": (
        "python -m abel.datasets --templates poesia --count 100 --out poesia.txt",
        LONG,
    ),
    "python evaluate.py --equations poesia.txt --brief --json FILE": (
        "python evaluate.py --equations poesia.txt --brief --json poesia.json",
        FILLED,
    ),
    "python evaluate.py --run runs/<run> --equations FILE --beam": (
        "python evaluate.py --run runs/<run> --equations poesia.txt --beam",
        FILLED,
    ),
    "python evaluate.py --equations FILE --decoder oracle --json sympy.json": (
        "python evaluate.py --equations datasets/schoolbook.txt --decoder oracle --json sympy.json",
        FILLED,
    ),
    "python -m abel.answers --failures greedy.json": (
        "python -m abel.answers --failures school.json",
        FILLED,
    ),
    "python -m abel.answers --times greedy.json sympy.json": (
        "python -m abel.answers --times school.json sympy.json",
        FILLED,
    ),
    "python evaluate.py --dataset NAME --all-roots --brief --json FILE": (
        "python evaluate.py --dataset abel_level2 --all-roots --brief --json roots.json",
        FILLED,
    ),
    "python evaluate.py --run RUN --report all --out DIR": (
        "python evaluate.py --run runs/<run> --report families --out reports",
        f"{FILLED}, {LONG}",
    ),
    "python -m abel.wild": (None, ONLY_NAMED),
    "python -m abel.wild --rates FILE.json": (
        "python -m abel.wild --rates runs/results/reference/open_wild-test.json",
        FILLED,
    ),
    "python -m abel.picov --seed 1": (
        "python -m abel.picov --seed 1 --pool-size 300 --steps 20 --heldout 20",
        LONG,
    ),
    "python -m abel.bench env": (
        "python -m abel.bench env --seeds 1 --steps 2000 --plain-steps 20",
        LONG,
    ),
    "python -m abel.bench train": (
        "python -m abel.bench train --seeds 1 --train-steps 2048 --turns 1",
        LONG,
    ),
    "python -m abel.bench train --against REF": (
        "python -m abel.bench train --against HEAD --seeds 1 --train-steps 2048 --turns 1",
        f"{FILLED}, {LONG}",
    ),
    "python -m abel.bench soak": ("python -m abel.bench soak --soak-steps 20000", LONG),
    "python -m abel.bench audit": ("python -m abel.bench audit --cases 200", LONG),
    "python -m abel.trace": (None, ONLY_NAMED),
    "python -m abel.cohort": (None, ONLY_NAMED),
    "python -m abel.stats": (None, ONLY_NAMED),
    "python -m abel.cohort FILE.toml": ("python -m abel.cohort small.toml", FILLED),
    "python -m abel.cohort runs/cohorts/NAME.toml": ("python -m abel.cohort small.toml", FILLED),
    "python -m abel.soundness --json FILE": (
        "python -m abel.soundness --json soundness.json",
        FILLED,
    ),
    "python -m abel.stats A.json B.json": ("python -m abel.stats out.json out.json", FILLED),
    "python -m abel.report DIR": ("python -m abel.report reports", FILLED),
    "python -m abel.analysis.controls RUN --seeds 1 2 3 --json FILE": (
        "python -m abel.analysis.controls runs/<run> --transitions 2000 --json controls.json",
        f"{FILLED}, {LONG}",
    ),
    "python -m abel.analysis.controls RUN --seeds 1 2 3": (
        "python -m abel.analysis.controls runs/<run> --transitions 2000",
        f"{FILLED}, {LONG}",
    ),
    "python -m abel.analysis.derivations": (None, ONLY_NAMED),
    "python -m abel.analysis.derivations RESULTS.json --cell CELL": (
        "python -m abel.analysis.derivations runs/results/small.json --cell default",
        FILLED,
    ),
    'python -m abel.paper.criterion --check published --flags "--dataset open_small --preset c7"'
    " --seeds 1 2 3 --json FILE": (
        'python -m abel.paper.criterion --check published --flags "--dataset abel_level2'
        ' --preset c7 --total-timesteps 2048" --json criterion.json',
        f"{FILLED}, {LONG}",
    ),
    'python -m abel.paper.criterion --check published --flags "FLAGS"': (
        'python -m abel.paper.criterion --check published --flags "--dataset abel_level2'
        ' --total-timesteps 2048"',
        FILLED,
    ),
    "python -m abel.charts curves RUN --out FILE.svg": (
        "python -m abel.charts curves runs/<run> --out curves.svg",
        FILLED,
    ),
    "python -m abel.diagram --out FILE.svg": ("python -m abel.diagram --out figure.svg", FILLED),
    # datasets/README.md.
    "python -m abel.datasets --templates FILE --count 200 --out OUT.txt": (
        "python -m abel.datasets --templates poesia_numeric --count 200 --out OUT.txt",
        FILLED,
    ),
    "python -m abel.datasets --decide --out FILE": (
        "python -m abel.datasets --name quadratic --decide --out decided.txt",
        f"{FILLED}, {LONG}",
    ),
    "python -m abel.datasets --stats --out FILE": (
        "python -m abel.datasets --stats --sample 2 1 --out stats.json",
        f"{FILLED}, {LONG}",
    ),
}

# What a reader of the pages brings along.
FILES = {
    "mine.txt": "".join(f"x + {a}*b = c\n" for a in range(2, 30)),
    "small.toml": 'about = "one small cell"\nseeds = [1]\nsplits = ["test"]\n'
    'decoders = ["greedy"]\nreports = ["derivations"]\n'
    'flags = "--dataset abel_level2 --total-timesteps 2048"\n'
    '[cells]\ndefault = ""\n',
}


def commands_of(page: str) -> Iterator[str]:
    """The commands of a page, from top to bottom: lines of blocks, and those within a sentence."""
    place = 0
    for block in BLOCK.finditer(page):
        yield from inline(page[place : block.start()])
        for line in block[2].splitlines() if not block[1] else ():
            if found := re.match(rf"(?:\$ )?({BEGINS}.*?)(?:\s{{2,}}#.*)?$", line):
                yield found[1]
        place = block.end()
    yield from inline(page[place:])


def inline(text: str) -> list[str]:
    text = re.sub(r"^```.*?^```\n", "", text, flags=re.S | re.M)
    return re.findall(rf"`({BEGINS}[^`\n]* [^`\n]*|\.ci/run)`", text)


def all_commands() -> list[tuple[str, str]]:
    """Page and command, each command where it stands first; before all, what sets a home up."""
    found: dict[str, str] = {}
    for name in PAGES:
        for command in commands_of((ROOT / name).read_text(encoding="utf-8")):
            found.setdefault(command, name)
    first = sorted(found, key=lambda command: not command.startswith(SETS_UP))
    return [(found[command], command) for command in first]


def is_open(command: str) -> bool:
    """Whether it leaves something to the reader, but for the run."""
    return OPEN.search(command.replace("runs/<run>", "")) is not None


def as_installed(command: str) -> str | None:
    """The command without a clone; None where it is about the clone itself."""
    of_the_clone = r"pip install|pytest|tests|\.ci|runs/results|bench verdicts|--against"
    if re.search(f"{of_the_clone}|--screenshots", command):
        return None
    command = re.sub(r"\bpython (train_ppo|evaluate)\.py", r"python -m \1", command)
    return re.sub(r"(?<![\w/])datasets/", "$VIRTUAL_ENV/share/abel/datasets/", command)


def run_in(home: Path, command: str) -> tuple[int, str]:
    """Run it as a person in this folder would; the exit code, and the end of what was said."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", command], cwd=home, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # may be ignored here
    )  # fmt: skip
    try:
        if command.endswith(INTERRUPTED):
            assert process.stdout is not None
            next(line for line in process.stdout if line.startswith("step "))
            os.killpg(process.pid, signal.SIGINT)
        for name, (address, wanted) in SERVERS.items():
            if command.endswith(name):
                return ask_server(process, address, wanted)
        said, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, said[-2000:]
    except (subprocess.TimeoutExpired, StopIteration) as error:
        return 124, repr(error)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def ask_server(process: subprocess.Popen[str], address: str, wanted: str) -> tuple[int, str]:
    """0 if it answers, and has found runs."""
    said = "no answer"
    for _ in range(120):
        time.sleep(1)
        if process.poll() is not None:
            return 1, process.communicate()[0][-2000:]
        try:
            answer = urllib.request.urlopen(address, timeout=10).read().decode()
        except OSError as error:
            said = repr(error)
            continue
        if wanted in answer:
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=60)
            return 0, ""
    return 1, said


# A run to be resumed: it is sent Ctrl-C after its first line.
INTERRUPTED = "--dataset abel_level2 --seed 7 --total-timesteps 20000"
SETS_UP = "python3 -m venv"
ACTIVATED = ". .venv/bin/activate && "


def newest(home: Path, pattern: str) -> str:
    """The run that the pages call runs/<run>."""
    runs = sorted(home.glob(f"runs/{pattern}"), key=lambda run: run.stat().st_mtime)
    return f"runs/{runs[-1].name}" if runs else "runs/<run>"


def run_one(home: Path, written: str, installed: bool) -> dict[str, object] | None:
    """A row of the table; None if the command has no meaning there."""
    command, why = RUN_AS.get(written, (written, ""))
    translated = as_installed(command) if installed and command else command
    if installed and translated is None:
        return None
    row: dict[str, object] = {"command": written, "why": why}
    if translated is None:
        return {**row, "ran": None, "code": None, "seconds": 0.0}
    if "--resume" in translated:
        first = "python -m train_ppo" if installed else "python train_ppo.py"
        run_in(home, f"{ACTIVATED}{first} {INTERRUPTED}")
    run = newest(home, "abel_level2__*" if "--resume" in translated else "open_small__*")
    translated = translated.replace("runs/<run>", run)
    started = time.perf_counter()
    prefix = "" if translated.startswith(SETS_UP) else ACTIVATED
    code, said = run_in(home, prefix + translated)
    row |= {"ran": translated, "code": code, "seconds": round(time.perf_counter() - started, 1)}
    return row if fine(row) else {**row, "said": said}


def fine(row: dict[str, object]) -> bool:
    """Exit code 0, or 1 where that says: not all equations of the list are solved."""
    listed = "evaluate" in str(row["ran"]) and "--equations" in str(row["ran"])
    return row["ran"] is None or row["code"] == 0 or (row["code"] == 1 and listed)


def set_up(homes: Path, name: str) -> Path:
    """A folder to run commands in; one that is there already is used as it is."""
    home = homes / name
    if home.exists():
        return home
    source = homes / "source" if name == "installed" else home
    subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
    if name == "installed":
        home.mkdir()
        install = f"python3 -m venv .venv && {ACTIVATED}pip install -q '{source}[playground]'"
        code, said = run_in(home, install)
        assert code == 0, said
        shutil.rmtree(source)
    for file, text in FILES.items():
        (home / file).write_text(text, encoding="utf-8")
    return home


def store(path: Path, rows: list[dict[str, object]], origin: dict[str, object]) -> None:
    """Write the table. What other calls found of commands that still stand on a page stays."""
    found = {(row["home"], row["command"]): row for row in rows}
    former = json.loads(path.read_text(encoding="utf-8"))["commands"] if path.exists() else []
    kept = {(row["home"], row["command"]): row for row in former}
    order = [(home, command) for home in HOMES for _, command in all_commands()]
    merged = kept | found
    write_json(path, {**origin, "commands": [merged[key] for key in order if key in merged]})


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.commands", description=__doc__)
    parser.add_argument("--json", default="", help="file of the table; one there is added to")
    parser.add_argument("--only", default="", help="only commands with a match of this in them")
    parser.add_argument("--home", choices=HOMES, action="append", help="this one only")
    parser.add_argument("--homes", default="", help="folder of the two homes; kept, used again")
    args = parser.parse_args(argv)
    rows, commands = [], [found for found in all_commands() if re.search(args.only, found[1])]
    with tempfile.TemporaryDirectory() as folder:
        homes = Path(args.homes or folder).resolve()
        homes.mkdir(parents=True, exist_ok=True)
        for name in args.home or HOMES:
            home = set_up(homes, name)
            for page, command in commands:
                row = run_one(home, command, name == "installed")
                if row is None:
                    continue
                rows.append({"home": name, "page": page, **row})
                if args.json:
                    store(Path(args.json), rows, provenance(argv, []))
                code, mark = row["code"], "" if fine(row) else "   FAILED"
                print(f"{name:9}  {code}  {row['seconds']:6}  {row['ran']}{mark}", flush=True)
                print(str(row.get("said", "")), end="", flush=True)
    failed = [row for row in rows if not fine(row)]
    ran = [row for row in rows if row["ran"] is not None]
    print(f"{len(ran) - len(failed)} of {len(ran)} commands did what the pages say")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
