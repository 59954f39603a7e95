"""Exports a solved trace as a Coq script, and has the kernel of Coq check it.

python -m abel.certificate TRACE.json --out FILE.v            # `-` for the trace on stdin
python -m abel.certificate TRACE.json --out FILE.v --check    # and what coqc says of it
python -m abel.certificate --study RESULTS.json... --out FILE.json     # of many stored roots

Exit code 0: written (with --check: accepted). 1: the kernel refused it, or with --study a corrupted
root was accepted. 2: bad input. 3: not covered, with the reason. 4: --check without coqc.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from abel.certificate.kernel import SECONDS, axioms, check, find_coqc
from abel.certificate.reader import NotCovered
from abel.certificate.script import export
from abel.certificate.statement import Claim
from abel.certificate.study import claims_in, corrupted, study
from abel.learner.records import provenance, write_json
from abel.parse import parse
from abel.trace import MAX_BYTES, Trace, read

WRITTEN, REFUSED, BAD_INPUT, NOT_COVERED, NO_COQC = range(5)


def claim_of(path: str) -> Claim:
    """What a trace claims; OSError or ValueError if it claims no proved root."""
    given = Trace.from_json(sys.stdin.read(MAX_BYTES)) if path == "-" else read(path)
    trace = given.in_x()  # the theorem is about x
    if not trace.solved or trace.root is None:
        raise ValueError("the trace is not solved: there is no proved root in it")
    parse(given.equation, given.unknown)
    return Claim(trace.equation, trace.root, trace.valid_when)


def certify(args: argparse.Namespace) -> int:
    try:
        claim = claim_of(args.files[0])
    except (OSError, ValueError, RecursionError) as error:
        return failed(f"{args.files[0]}: {' '.join(str(error).split())}", BAD_INPUT)
    try:
        script = export(claim)
    except (NotCovered, RecursionError) as reason:
        return failed(f"not covered: {reason}", NOT_COVERED)
    try:
        Path(args.out).write_text(script.text, encoding="utf-8")
    except OSError as error:
        return failed(str(error), BAD_INPUT)
    kind = "real letters" if script.statement.real else "letters in any field of characteristic 0"
    print(f"{args.out}: for {kind}")
    if script.statement.restricted:
        print("only for letters at which every part of the root and the equation is real")
    if not args.check:
        return WRITTEN
    if find_coqc() is None:
        return failed("coqc is not installed (Debian: apt-get install coq)", NO_COQC)
    answer = check(script)
    if not answer.accepted:
        print(answer.said)
        print("the kernel refused it")
        return REFUSED
    names = axioms(answer.said)
    print(f"the kernel accepts it; axioms: {', '.join(names) if names else 'none'}")
    return WRITTEN


def failed(message: str, code: int) -> int:
    print(f"abel.certificate: {message}", file=sys.stderr)
    return code


def run_study(args: argparse.Namespace) -> int:
    if find_coqc() is None:
        return failed("coqc is not installed (Debian: apt-get install coq)", NO_COQC)
    origin = provenance(sys.argv[1:], [])
    try:
        total, claims = claims_in(args.files, args.sample, args.seed)
    except (OSError, ValueError) as error:
        return failed(str(error), BAD_INPUT)
    if not claims:
        return failed("no stored roots in these files", BAD_INPUT)

    def say(text: str) -> None:
        print(text, flush=True)

    found = {**origin, "stored_roots": total, "seed": args.seed}
    if not args.corrupt:
        found |= study(claims, args.seconds, say)
    else:
        found |= corrupted(list(claims), args.corrupt, args.seed, args.seconds, say)
    write_json(Path(args.out), found)
    wrong = found.get("accepted_only_by_the_kernel") or found.get("false_proofs_accepted")
    return REFUSED if wrong else WRITTEN


def main(argv: list[str]) -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        prog="python -m abel.certificate", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("files", nargs="+", metavar="FILE", help="a trace; with --study results")
    parser.add_argument("--out", required=True, help="the script; with --study the results")
    parser.add_argument("--check", action="store_true", help="ask coqc")
    parser.add_argument("--study", action="store_true", help="stored roots instead of a trace")
    parser.add_argument("--sample", type=int, help="so many of the roots of each file")
    parser.add_argument("--seed", type=int, default=1, help="of the sample and the corruption")
    parser.add_argument("--corrupt", type=int, default=0, metavar="N", help="N corrupted roots")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of CPU per call of coqc")
    args = parser.parse_args(argv)
    if args.seconds < 1 or args.corrupt < 0 or (args.sample is not None and args.sample < 1):
        parser.error("--sample, --seconds and --corrupt must be positive")
    if not args.study and (len(args.files) != 1 or args.corrupt or args.sample):
        parser.error("one trace, or --study for --sample and --corrupt")
    return run_study(args) if args.study else certify(args)
