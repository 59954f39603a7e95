"""The scripts at the top can be imported by the tests; coverage leaves the slow ones alone.

Random tests play a sample. `--times 10` has them play ten times as much of it.
"""

import gc
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent.parent))
torch.set_num_threads(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--times", type=int, default=1, help="random tests play so many times as many cases"
    )


@pytest.fixture(scope="session")
def times(request: pytest.FixtureRequest) -> int:
    return request.config.getoption("--times")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Tracing lines makes symbolic code twice as slow.
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker("no_cover")


def pytest_collection_finish() -> None:
    # Full collections would go through millions of remembered expressions again and again.
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)
