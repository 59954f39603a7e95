"""The benchmarks: loading them, generating them anew, and solving them as a textbook would."""

from abel.datasets import textbook
from abel.datasets.load import (
    FAMILIES,
    FOLDER,
    WILD,
    DatasetError,
    Problem,
    Unreadable,
    load_dataset,
    read,
    read_list,
)

__all__ = [
    "FAMILIES", "FOLDER", "WILD", "DatasetError", "Problem", "Unreadable", "load_dataset", "read",
    "read_list", "textbook",
]  # fmt: skip
