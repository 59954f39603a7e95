"""A cohort file: its entries, and what is wrong with one that cannot be used."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

GIVEN_TO_TRAINING = {"--seed", "--out", "--resume"}  # not for the file to say
GIVEN_TO_EVALUATE = {
    "--run", "--split", "--decoder", "--json", "--report", "--out", "--bundle", "--equation",
    "--equations",
}  # fmt: skip


class CohortError(ValueError):
    """A cohort file that cannot be used: where, and why."""


class Cohort(NamedTuple):
    """The entries of a file, with what is taken for one that is left out."""

    about: str = ""
    seeds: list[int] = [1]
    flags: str = ""
    splits: list[str] = ["test"]
    decoders: list[str] = ["greedy"]
    evaluate: str = ""
    reports: list[str] = []
    cells: dict[str, str] = {}
    paper: dict[str, str] = {}


def read_cohort(path: Path) -> Cohort:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CohortError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # of TOML, UTF-8 or a number of 5000 digits
        raise CohortError(f"'{path}' is not TOML: {error}") from None
    if unknown := sorted(set(data) - set(Cohort._fields)):
        known = ", ".join(Cohort._fields)
        raise CohortError(f"'{path}' has unknown entries {', '.join(unknown)}; known: {known}")
    cohort = Cohort(**data)
    for flaw in flaws(cohort):
        raise CohortError(f"'{path}': {flaw}")
    return cohort


def flaws(cohort: Cohort) -> Iterator[str]:
    """What is wrong. What comes later takes for granted that nothing came before."""
    for name in ("seeds", "splits", "decoders", "reports"):
        fits, kind = (is_seed, "whole numbers") if name == "seeds" else (is_word, "names")
        values = getattr(cohort, name)
        if not is_list_of(values, fits) or not (values or name == "reports"):
            yield f"{name} must be a list of different {kind}, got {values!r:.100}"
    for name in ("about", "flags", "evaluate"):
        if type(getattr(cohort, name)) is not str:
            yield f"{name} must be text"
    if not maps_to_texts(cohort.cells) or not cohort.cells:
        yield "[cells] must map names to flags of train_ppo.py"
    if not maps_to_texts(cohort.paper):
        yield "[paper] must map cells to texts"
    if strangers := sorted(set(cohort.paper) - set(cohort.cells)):
        yield f"[paper] names no cell by {', '.join(strangers)}"
    yield from flag_flaws("evaluate", cohort.evaluate, GIVEN_TO_EVALUATE)
    yield from cell_flaws(cohort)


def cell_flaws(cohort: Cohort) -> Iterator[str]:
    """What is wrong with the names and the flags of the cells."""
    places: dict[str, str] = {}
    for cell, flags in cohort.cells.items():
        place = folder_name(cell)
        if not cell.isprintable() or len(cell) > 100 or place.startswith(".") or not place:
            yield f"cell {cell[:100]!r} must be a name that a folder can have"
        if other := places.get(place):
            yield f"cells {other!r} and {cell!r} would share a folder"
        places[place] = cell
        yield from flag_flaws(cell, f"{cohort.flags} {flags}", GIVEN_TO_TRAINING)


def flag_flaws(whose: str, flags: str, given: set[str]) -> Iterator[str]:
    """Flags that cannot be read, or that the cohort itself gives."""
    try:
        words = shlex.split(flags)
    except ValueError as error:
        yield f"the flags of {whose!r}: {error}"
        return
    names = {word.split("=")[0].replace("_", "-") for word in words}
    if taken := sorted(names & given):
        yield f"{', '.join(taken)} of {whose!r} is for the cohort to give"


def is_seed(value: Any) -> bool:
    return type(value) is int and value >= 0


def is_word(value: Any) -> bool:
    return type(value) is str and value.isalnum()


def is_list_of(values: Any, fits: Callable[[Any], bool]) -> bool:
    """Whether it is a list of different values that all fit."""
    return isinstance(values, list) and all(map(fits, values)) and len(set(values)) == len(values)


def maps_to_texts(table: Any) -> bool:
    return isinstance(table, dict) and all(type(text) is str for text in table.values())


def folder_name(cell: str) -> str:
    """The directory of a cell, in that of the cohort."""
    return re.sub(r"[/\\ ]", "-", cell)
