"""The scripts at the top can be imported by the tests; coverage leaves the slow ones alone."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent.parent))
torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Tracing lines makes symbolic code twice as slow.
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker("no_cover")
