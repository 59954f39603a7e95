"""What Coq says of scripts: `coqc` as a child with limits of CPU time and memory."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from abel.certificate.script import NAME, Script, whole_text

SECONDS, MEGABYTES = 120, 4096  # of CPU and of memory that one call of coqc may take
TAKEN = "The command has not failed"  # of a step that was to fail
WHERE = re.compile(r'File "[^"]*", line (\d+)')
Compiler = Callable[[str], "Answer"]


@dataclass(frozen=True)
class Answer:
    """Whether coqc accepted a script, and what it said."""

    accepted: bool
    said: str
    seconds: float  # of CPU


def find_coqc() -> str | None:
    return shutil.which("coqc")


def coqc(text: str, seconds: int = SECONDS) -> Answer:
    """Compile a script; FileNotFoundError where there is no coqc."""
    program = find_coqc()
    if program is None:
        raise FileNotFoundError("coqc is not installed")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20,) * 2)

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "certificate.v").write_text(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            run = subprocess.run(
                [program, "-q", "certificate.v"], cwd=folder, capture_output=True, text=True,
                preexec_fn=limit, timeout=20 * seconds,
            )  # fmt: skip
            code, said = run.returncode, f"{run.stdout}{run.stderr}"
        except subprocess.TimeoutExpired:  # a child that waits for something takes no CPU
            code, said = -1, "coqc does not end"
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if code < 0 and not said:
        said = f"coqc was stopped: more than {seconds} s of CPU or {MEGABYTES} MB of memory"
    return Answer(code == 0, said.strip(), spent)


def check(script: Script) -> Answer:
    return coqc(script.text)


def axioms(said: str) -> list[str]:
    """The axioms that `Print Assumptions` lists; none if the theorem is closed."""
    return re.findall(r"^([A-Za-z_.']+)\s*:", said.partition("Axioms:")[2], re.MULTILINE)


def check_many(
    scripts: Sequence[Script], seconds: int, compiler: Callable | None = None
) -> list[Answer]:
    """One answer per script, in few calls: starting coqc takes longer than most proofs.

    All are over a field, or all over the reals. A script that fails is taken out, and the rest is
    tried again, so that no failure hides another.
    """
    run = compiler or coqc
    answers: list[Answer | None] = [None] * len(scripts)
    left = list(range(len(scripts)))
    while left:
        text, starts = together([scripts[i] for i in left])
        answer = run(text, seconds)
        share = answer.seconds / len(left)
        if answer.accepted:
            for i in left:
                answers[i] = Answer(True, answer.said, share)
            break
        where = WHERE.search(answer.said)
        place = sum(start <= int(where[1]) for start in starts) - 1 if where else -1
        if place < 0 and len(left) > 1:  # out of time or memory: one by one
            for i in left:
                [answers[i]] = check_many([scripts[i]], seconds, compiler)
            break
        failed = left[max(place, 0)]
        answers[failed] = Answer(False, answer.said, answer.seconds)
        left.remove(failed)
    return [answer for answer in answers if answer is not None]


def refuses_all(scripts: Sequence[Script], seconds: int) -> list[bool]:
    """Whether the kernel refuses each proof: at its last step, or at a step before it."""
    text, _ = together([last_step_fails(script) for script in scripts], assumptions=False)
    answer = coqc(text, seconds)
    if answer.accepted or len(scripts) == 1:
        return [TAKEN not in answer.said] * len(scripts)
    return [refused for script in scripts for refused in refuses_all([script], seconds)]


def last_step_fails(script: Script) -> Script:
    """The same theorem, left unproved after a last step of which Coq must say that it fails."""
    head, last = script.theorem.removesuffix("\nQed.\n").rsplit("\n", 1)
    return replace(script, theorem=f"{head}\n  Fail ({last.strip().removesuffix('.')}).\nAbort.\n")


def together(scripts: Sequence[Script], assumptions: bool = True) -> tuple[str, list[int]]:
    """One text for several scripts, and the lines on which their theorems start."""
    laws = tuple(dict.fromkeys(law for script in scripts for law in script.laws))
    names = [f"{NAME}_{i}" for i in range(len(scripts))]
    theorems = [
        script.theorem.replace(f"Theorem {NAME} ", f"Theorem {name} ", 1)
        for script, name in zip(scripts, names)
    ]
    text = whole_text(scripts[0].statement.real, laws, theorems)
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines, 1) if line.startswith(f"Theorem {NAME}_")]
    if assumptions:
        text += "".join(f"Print Assumptions {name}.\n" for name in names)
    return text, starts
