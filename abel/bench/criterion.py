"""`audit` and `verdicts`: the solving criterion under attack, and stored roots proved again."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from abel.audit.judge import audit, is_clean, prove_again, stored_roots
from abel.learner.records import provenance, write_json


def bench_audit(args: argparse.Namespace) -> int:
    """Attack the solving criterion; 1 if a claim is false, or a case itself is wrong."""
    origin = provenance(sys.argv[1:], [])
    found = audit(args.cases, args.seed, limit=args.limit, say=lambda text: print(text, flush=True))
    if args.json:
        write_json(Path(args.json), {**origin, "seed": args.seed, "attacks": found})
    false = sum(tally["false"] for tally in found.values())
    print(f"{args.cases:,} cases, {false} false claims")
    return 0 if is_clean(found) else 1


def bench_verdicts(args: argparse.Namespace) -> int:
    """Prove again what was proved before; 1 if one of these roots is refuted or undefined."""
    files = sorted(Path(args.results).rglob("*.json"))
    pairs = [pair for path in files for pair in stored_roots(json.loads(path.read_text()))]
    found = prove_again(dict.fromkeys(pairs))
    print(f"{found['roots']:,} stored roots, {found['statuses'].get('proved', 0):,} proved again,"
          f" {found['mean_ms']:.2f} ms each; {found['not_read']} too large to read")  # fmt: skip
    for entry in found["lost"]:
        print(f"  {entry['status']}: {entry['root']} of {entry['equation']}")
    if args.json:
        write_json(Path(args.json), {**provenance(sys.argv[1:], []), **found})
    return 1 if {"refuted", "undefined"} & found["statuses"].keys() else 0
