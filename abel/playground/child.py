"""The processes in which the agent thinks, each with a limit of time and memory.

A question is answered by one process, which answers nothing else meanwhile. Past a limit the
process is ended and the question has no answer, so that a limit never changes what an answer says.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from abel.home import CODE

POLL = 0.02  # seconds between looks at the memory
PATIENCE = 10  # times the limit by the clock: for a child that waits, or gets little of a core
START = 300  # seconds that a child may take to load an agent
PAGE = os.sysconf("SC_PAGE_SIZE")
SERVE = "from abel.playground.child import serve; serve()"


class Stopped(Exception):
    """A question that was given up; the message is for the person who asked."""


@dataclass(frozen=True)
class Limits:
    """What a question may take."""

    seconds: float  # of CPU
    megabytes: int  # beyond what the process had before


# ---- The asking side ----


def memory_of(pid: int) -> int:
    """Bytes that a process and those it started hold; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):  # it has ended, or this is no Linux
        return 0
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended just now, or this kernel does not tell
        below = []
    return pages * PAGE + sum(memory_of(int(each)) for each in below)


class Child:
    """A process that answers questions, a line of JSON each, and is replaced when one ends it."""

    def __init__(self, settings: dict[str, Any], limits: Limits, code: str = SERVE) -> None:
        self.settings, self.limits, self.code = settings, limits, code
        self.start()

    def start(self) -> None:
        # A session of its own: Ctrl-C is for who asks, and what the child starts ends with it.
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, cwd=CODE, start_new_session=True,
        )  # fmt: skip
        self.size = 0  # bytes when it was ready first; 0 until then
        self.send({**self.settings, "seconds": self.limits.seconds})

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer; Stopped past a limit."""
        if self.process.poll() is not None:
            self.replace()
        if not self.size:
            self.receive(time.monotonic() + START, None)  # that it is ready
            self.size = memory_of(self.process.pid) or 1
        before = memory_of(self.process.pid)
        most = before + (self.limits.megabytes << 20) if before else None
        self.send(question)
        found = self.receive(time.monotonic() + PATIENCE * self.limits.seconds, most)
        if most is not None and memory_of(self.process.pid) > self.size + most - before:
            self.replace()  # what it remembers has grown; a new one has all of the limit again
        return found

    def send(self, data: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            print(json.dumps(data), file=self.process.stdin, flush=True)
        except OSError:  # it has ended, which `receive` will find
            pass

    def receive(self, deadline: float, most: int | None) -> dict[str, Any]:
        """The next line; past the deadline or the memory the process is replaced."""
        answers = self.process.stdout
        assert answers is not None
        while not select.select([answers], [], [], POLL)[0]:
            if most is not None and memory_of(self.process.pid) > most:
                self.replace()
                raise Stopped(f"this takes more than {self.limits.megabytes} MB of memory")
            if time.monotonic() > deadline:
                self.replace()
                raise Stopped(self.too_long())
        line = answers.readline()
        if line.endswith("\n"):
            return json.loads(line)
        code = self.replace()
        if code == -signal.SIGPROF:
            raise Stopped(self.too_long())
        raise Stopped(f"the process that computed this ended (code {code})")

    def too_long(self) -> str:
        return f"this takes more than {self.limits.seconds:g} s"

    def replace(self) -> int:
        code = self.close()
        self.start()
        return code

    def close(self) -> int:
        """End the process and what it started; its exit code."""
        code = self.process.poll()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.communicate()
        return self.process.returncode if code is None else code


class Pool:
    """Children that answer side by side; who asks while all are busy waits."""

    def __init__(self, children: list[Child]) -> None:
        self.children = children
        self.idle: SimpleQueue[Child] = SimpleQueue()
        for child in children:
            self.idle.put(child)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        try:
            child = self.idle.get(timeout=START)
        except Empty:
            raise Stopped("too many questions are waiting; try again") from None
        try:
            return child.ask(question)
        finally:
            self.idle.put(child)

    def close(self) -> None:
        for child in self.children:
            child.close()


# ---- The answering side ----


def serve() -> None:
    """Think, in a child: the first line says what there is, the others are questions."""
    from abel.playground.thinking import Refused, Thinker

    settings = json.loads(sys.stdin.readline())
    runs = {name: Path(path) for name, path in settings["runs"].items()}
    thinker = Thinker(runs, settings["seconds"])

    def prepare(question: dict[str, Any]) -> None:
        thinker.mind(question["run"])  # loading an agent is not the question's time

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        return {"answer": thinker.answer(question)}

    def refusing(step: Callable) -> Callable:
        def run(question: dict[str, Any]) -> Any:
            try:
                return step(question)
            except Refused as reason:
                return {"refused": str(reason)}
            except Exception as error:  # SymPy raises anything; the next question is another one
                return {"failed": f"{type(error).__name__}: {error}"[:300]}

        return run

    first = refusing(prepare)
    if settings["runs"]:
        first({"run": next(iter(settings["runs"]))})
    answer_lines(first, refusing(answer), settings["seconds"])


def answer_lines(
    prepare: Callable[[dict[str, Any]], dict[str, Any] | None],
    answer: Callable[[dict[str, Any]], dict[str, Any]],
    seconds: float,
) -> None:
    """A line for each line, until the input ends. Past the seconds of CPU the process is ended,
    in the midst of whatever it computes; `prepare` has no limit, and may be all there is to say.
    """
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else is printed between them
    print(json.dumps({"ready": True}), file=replies, flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        found = prepare(question)
        if found is None:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            found = answer(question)
            signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(found), file=replies, flush=True)
