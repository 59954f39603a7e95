"""What a long command says on the way: one line rewritten on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TextIO

CLEAR = "\r\x1b[K"  # back to the margin, and wipe the line


class Progress:
    """`show` rewrites the line on a terminal and is silent elsewhere; `say` prints for good."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.live = self.stream.isatty()

    def show(self, text: str) -> None:
        if self.live:
            print(CLEAR + text, end="", file=self.stream, flush=True)

    def say(self, text: str) -> None:
        print(CLEAR * self.live + text, file=self.stream, flush=True)


def training_line(step: int, total: int, seconds: float, means: Mapping[str, float]) -> str:
    """Where a training stands, given the means of its last iteration."""
    rate = step / max(seconds, 1e-9)
    return (
        f"step {step:>9,}  {rate:6.0f}/s  solved {means.get('solve/rate', 0.0):.2f}"
        f"  coverage {means['solve/coverage']:.3f}  entropy {means['losses/entropy']:.2f}"
        f"  {max(total - step, 0) / rate / 60:5.1f} min left"
    )
