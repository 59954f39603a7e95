"""A file of results that is a complete document at any time while results come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from abel.learner.records import write_json
from abel.report.study import Found

PART = 20  # a long list is written again when one in so many results is new


class Growing:
    """Rewrites its file as results come: in a long list not each time, which would be too often."""

    def __init__(self, path: Path, document: Callable[[Found], Any]) -> None:
        self.path, self.document, self.written = path, document, 0

    def __call__(self, found: Found) -> None:
        count = sum(map(len, found.values()))
        if count - self.written > self.written // PART:
            write_json(self.path, self.document(found))
            self.written = count
