"""The benchmarks of the paper: load them, or generate them anew (`abel.datasets.generate`).

python -m abel.datasets --name open_small --seed 0 --out datasets/
python -m abel.datasets --name all --check              # regenerates, compares byte for byte
python -m abel.datasets --templates FILE --count 200 --seed 0 --out drawn.txt    # ConPoLe's
python -m abel.datasets --stats --out stats.json        # who solves how much of what
python -m abel.datasets --decide --out decisions.seed0.txt    # what proofs decide today, 5 minutes
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from abel.equation import Equation
from abel.home import home
from abel.parse import CONSTANTS, FUNCTIONS, ParseError, name_of_unknown, parse

FOLDER = home() / "datasets"
SPLITS = ("train", "val", "test", "heldout", "all")
VALIDATION, SPLIT_SEED = 0.3, 42  # paper: 30/70 of the held-out equations, seed 42
SMALLEST_SPLIT = 10  # a user's file with fewer different equations is not split
MAX_BYTES, MAX_EQUATIONS = 1 << 26, 200_000  # of a file
MAX_FAMILIES, MAX_NAME, MAX_SHOWN = 1000, 60, 200

LEVELS = ("abel_level1", "abel_level2", "abel_level3", "abel_level4")
FAMILIES = ("quadratic", "cubic", "quartic", "exponential")
POESIA = ("poesia", "poesia_numeric")
MIXED = ("small", "large", "open_small", "open_large", "cov_large")
WILD = "open_wild"  # `abel.wild`: no set of the paper, nor are the three that go with it
WILD_EXTRAS = ("open_wild_more", "open_wild_plain", "open_wild_quartic")
WORLD = "open_world"  # `abel.wild.world`
NAMES = (*LEVELS, *FAMILIES, *POESIA, *MIXED, WILD, *WILD_EXTRAS, WORLD)
EXTRA_SPLITS = {
    **dict.fromkeys(POESIA, ("templates",)),
    WILD: ("zeroshot", "nested", "dev"),
    "open_wild_quartic": ("nested",),
    WORLD: ("zeroshot",),
}


class DatasetError(ValueError):
    """A dataset that does not exist or cannot be read, and why."""


@dataclass(frozen=True)
class Problem:
    """A line of a dataset; its text is parsed when `equation` is first asked for.

    The unknown is x, or the only letter, unless one is named.
    """

    text: str
    family: str = ""
    unknown: str | None = None
    line: int = field(default=0, compare=False)  # of a list to be evaluated

    @cached_property
    def equation(self) -> Equation:
        return parse(self.text, self.unknown)


# ---- Load ----


def load_dataset(name: str | Path, split: str = "train") -> list[Problem]:
    """The problems of a bundled set, or of a user's file, in file order.

    `split` is train, val, test, heldout (val and test) or all; poesia and poesia_numeric also have
    templates: held-out equations of templates that do not occur in train; open_wild has zeroshot,
    nested and dev, open_wild_quartic nested: families that do not occur in train. A user's file has
    an equation per line, or family<TAB>equation; blank lines and those that begin with # are
    skipped.
    `mine.train.txt` and `mine.heldout.txt` are loaded together, under the name of either or as
    `mine`. A file on its own is split 80/20, and of held-out equations that differ only in spacing
    and names of constants one is kept; a file of fewer than 10 different equations is not split:
    each split is all of it, and a note on stderr says so when a held-out one is asked for. Names
    joined by `+` are loaded together, equal lines once.
    """
    if not isinstance(name, str | Path):
        raise TypeError(f"a dataset is a name or a path, got {type(name).__name__}")
    if "+" in str(name) and not Path(name).exists():
        loaded = [load_dataset(part, split) for part in str(name).split("+")]
        return list(dict.fromkeys(problem for part in loaded for problem in part))
    extra = EXTRA_SPLITS.get(str(name), ())
    wanted = (*SPLITS, *extra)
    if split not in wanted:
        raise DatasetError(
            f"unknown split {split!r} of dataset '{name}'; known: {', '.join(wanted)}"
        )
    trusted = name in NAMES
    stem = FOLDER / name if trusted else Path(re.sub(r"\.(train|heldout)\.txt$", "", str(name)))
    parts = {part: stem.parent / f"{stem.name}.{part}.txt" for part in ("train", "heldout", *extra)}
    if split in extra:
        return read(parts[split], trusted)
    if trusted or (parts["train"].is_file() and parts["heldout"].is_file()):
        train = read(parts["train"], trusted) if split in ("train", "all") else []
        heldout = read(parts["heldout"], trusted) if split != "train" else []
    else:
        return load_file(name, split)
    return chosen(train, heldout, split)


def load_file(name: str | Path, split: str) -> list[Problem]:
    """A split of a user's file that stands alone."""
    if not Path(name).exists():
        raise DatasetError(f"no dataset or file '{name}'; known datasets: {', '.join(NAMES)}")
    problems = read(Path(name))
    if split == "all":
        return problems
    train, heldout = divide(problems)
    if heldout:
        return chosen(train, heldout, split)
    if split != "train":
        note_once(
            f"'{name}' has fewer than {SMALLEST_SPLIT} different equations and is not"
            " split: what is trained on is validated and tested on, too"
        )
    return problems


def chosen(train: list[Problem], heldout: list[Problem], split: str) -> list[Problem]:
    val, test = halves(heldout)
    splits = {"train": train, "val": val, "test": test, "heldout": heldout, "all": train + heldout}
    return splits[split]


@cache
def note_once(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def lines_of(path: Path, trusted: bool = False) -> dict[int, str]:
    """The lines of a file that are neither blank nor comments, by number."""
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)  # a device never ends
        if len(content) > MAX_BYTES:
            raise DatasetError(f"'{path}' has more than {MAX_BYTES:,} bytes")
        lines = re.split("\r\n|\r|\n", content.decode("utf-8-sig"))
    except FileNotFoundError:
        hint = (
            f"; generate it: python -m abel.datasets --name {path.name.split('.')[0]}"
            if trusted
            else ""
        )
        raise DatasetError(f"there is no file '{path}'{hint}") from None
    except OSError as error:
        raise DatasetError(f"cannot read '{path}': {error.strerror}") from None
    except UnicodeDecodeError as error:
        place = content.count(b"\n", 0, error.start) + 1
        raise DatasetError(f"cannot read '{path}': line {place} is not text in UTF-8") from None
    used = {n: line for n, line in enumerate(lines, 1) if line.strip() and line.lstrip()[0] != "#"}
    if not used:
        raise DatasetError(f"'{path}' has no equations")
    if len(used) > MAX_EQUATIONS:
        raise DatasetError(f"'{path}' has more than {MAX_EQUATIONS:,} equations")
    return used


def problem_of(
    line: str, trusted: bool = False, unknown: str | None = None, number: int = 0
) -> Problem:
    """`family<TAB>equation`, or the equation alone; parsed at once unless the file is trusted."""
    family, tab, text = line.partition("\t")
    text, family = (text.strip(), family.strip()) if tab else (line.strip(), "")
    problem = Problem(text, family, unknown, number)
    if len(problem.family) > MAX_NAME or not problem.family.isprintable():
        reason = f"a family is named by at most {MAX_NAME} printable characters"
        raise ParseError(problem.family, None, reason)
    _ = trusted or problem.equation
    return problem


@dataclass(frozen=True)
class Unreadable:
    """A line of a list that is no equation, and why."""

    number: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.reason}"


def read_list(path: Path, unknown: str | None = None) -> tuple[list[Problem], list[Unreadable]]:
    """The problems of a list to be evaluated, and the lines that cannot be read.

    A line is an equation, or `family<TAB>equation`; further columns are left out.
    """
    problems, refused = [], []
    _ = unknown is None or name_of_unknown(unknown)  # before every line is refused for it
    for number, line in lines_of(path).items():
        try:
            problems.append(problem_of("\t".join(line.split("\t")[:2]), False, unknown, number))
        except ParseError as error:
            refused.append(Unreadable(number, line.strip()[:MAX_SHOWN], str(error)))
    if not problems:
        raise DatasetError(f"{path}, {refused[0]}")
    check_families(path, problems)
    return problems, refused


def check_families(path: Path, problems: list[Problem]) -> None:
    if len({problem.family for problem in problems}) > MAX_FAMILIES:
        raise DatasetError(f"'{path}' has more than {MAX_FAMILIES:,} families")


def read(path: Path, trusted: bool = False) -> list[Problem]:
    """The problems of one file; only a trusted file's equations are not parsed at once."""
    problems = []
    for number, line in lines_of(path, trusted).items():
        try:
            problems.append(problem_of(line, trusted))
        except ParseError as error:
            raise DatasetError(f"{path}, line {number}: {error}") from None
    check_families(path, problems)
    return problems


def halves(heldout: list[Problem]) -> tuple[list[Problem], list[Problem]]:
    """Validation and test, each in file order."""
    order = list(range(len(heldout)))
    random.Random(SPLIT_SEED).shuffle(order)
    cut = round(VALIDATION * len(order))
    return [heldout[i] for i in sorted(order[:cut])], [heldout[i] for i in sorted(order[cut:])]


def divide(problems: list[Problem]) -> tuple[list[Problem], list[Problem]]:
    """Training and held-out part of a user's file, or all and nothing if it is too small."""
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(anonymous(problem.equation.text), []).append(problem)
    if len(groups) < SMALLEST_SPLIT:
        return problems, []
    order = list(groups.values())
    random.Random(SPLIT_SEED).shuffle(order)
    cut = len(order) // 5
    # One of each group: val and test are cut from the held-out part, and must not share a group.
    heldout = {id(group[0]) for group in order[:cut]}
    dropped = {id(problem) for group in order[:cut] for problem in group[1:]}
    train = [p for p in problems if id(p) not in heldout and id(p) not in dropped]
    return train, [p for p in problems if id(p) in heldout]


def anonymous(text: str) -> str:
    """The text without spaces, constants named by order of appearance."""
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        name = match[0]
        known = name in CONSTANTS or name in FUNCTIONS
        return name if known else names.setdefault(name, f"c{len(names)}")

    return re.sub(r"[A-Za-z_]\w*", rename, text).replace(" ", "")


# ---- Command line ----


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m abel.datasets", description="Generate and check the datasets."
    )
    parser.add_argument("--name", help=f"a set, or all: {', '.join(NAMES)}")
    parser.add_argument("--seed", type=int, default=0, help="seed of the generator")
    parser.add_argument(
        "--out", type=Path, help="folder of the sets (default: datasets/), or file to write"
    )
    parser.add_argument(
        "--check", action="store_true", help="regenerate and compare with the files in --out"
    )
    parser.add_argument(
        "--templates",
        metavar="FILE",
        help="draw from a template file in ConPoLe's format; poesia or poesia_numeric: from ours",
    )
    parser.add_argument("--count", type=int, default=200, help="equations to draw from --templates")
    parser.add_argument(
        "--stats", action="store_true", help="write solved fractions to --out as JSON"
    )
    parser.add_argument(
        "--decide",
        action="store_true",
        help="draw with the proofs and scripts of today; write what they decide, no set, to --out",
    )
    parser.add_argument(
        "--sample",
        type=int,
        nargs=2,
        default=(200, 50),
        metavar=("N", "M"),
        help="with --stats: N equations a family and split for our solvers, M for SymPy's",
    )
    parser.add_argument(
        "--limit", type=float, default=5.0, help="with --stats: seconds for SymPy's solve"
    )
    args = parser.parse_args(argv)
    # Not above: both need `Problem`, and loading a set needs neither.
    from abel.datasets.ceilings import statistics
    from abel.datasets.draws import draw_file

    try:
        if args.name not in (None, "all", *NAMES):
            raise DatasetError(f"unknown dataset '{args.name}'; known: all, {', '.join(NAMES)}")
        if args.count < 1 or min(args.sample) < 1:
            raise DatasetError("--count and --sample take positive numbers")
        if (args.templates or args.stats or args.decide) and args.out is None:
            raise DatasetError("--out must name the file to write")
        names = NAMES if args.name in (None, "all") else (args.name,)
        if args.templates:
            args.out.write_text(draw_file(args.templates, args.count, args.seed), encoding="utf-8")
        elif args.stats:
            num_scripted, num_sympy = args.sample
            found = statistics(names, num_scripted, num_sympy, args.limit)
            args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        elif args.decide:
            args.out.write_text(decide(names, args.seed), encoding="utf-8")
        elif args.name is None and not args.check:
            raise DatasetError(
                "nothing to do: give --name, --check, --templates, --stats, --decide"
            )
        else:
            return write_or_check(names, args.seed, args.out or FOLDER, args.check)
    except (DatasetError, OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def decide(names: Iterable[str], seed: int) -> str:
    """The file of what proofs and scripts decide today when these sets are drawn."""
    from abel.datasets.decisions import Decisions
    from abel.datasets.generate import generate

    decisions = Decisions(seed)
    for name in names:
        generate(name, decisions)
        print(name, file=sys.stderr, flush=True)
    return decisions.render()


def write_or_check(names: Iterable[str], seed: int, folder: Path, check: bool) -> int:
    """Write the sets, or say what differs; the exit status."""
    from abel.datasets.decisions import decisions_for
    from abel.datasets.generate import compare, generate

    status = 0
    if not check:
        folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        files = generate(name, decisions_for(seed))
        if check:
            differences = compare(files, folder)
            status = status or int(bool(differences))
            print("\n".join(differences) or f"{name}: identical", flush=True)
            continue
        for file, content in files.items():
            (folder / file).write_bytes(content.encode())
        print(f"{name}: {', '.join(files)}", flush=True)
    return status
