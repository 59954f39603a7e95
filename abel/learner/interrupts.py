"""Signals wait for the end of an iteration; so does the garbage collector."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def deferred() -> Iterator[list[int]]:
    """Inside, a signal to stop only lengthens the list, and garbage is collected on demand."""
    arrived: list[int] = []
    handlers = [signal.signal(number, lambda got, _: arrived.append(got)) for number in SIGNALS]
    gc.disable()  # its pauses cost more than the memory it would free between iterations
    try:
        yield arrived
    finally:
        gc.enable()
        for number, handler in zip(SIGNALS, handlers):
            signal.signal(number, handler)


def collect_garbage(iteration: int) -> None:
    """Among new objects every 20 iterations, among all every 500: what is older is rarely garbage,
    and slow to look at.
    """
    if iteration % 20 == 0:
        gc.collect(2 if iteration % 500 == 0 else 1)
