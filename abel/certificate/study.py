"""Studies: how many stored roots the kernel confirms, and that it confirms no corrupted one."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sympy import sstr

from abel.audit.judge import stored_roots
from abel.audit.mutants import mutant
from abel.certificate.kernel import Answer, axioms, check_many, refuses_all
from abel.certificate.reader import NotCovered
from abel.certificate.script import Script, attempt, export
from abel.certificate.statement import Claim, Denied
from abel.parse import ParseError, parse, parse_expression
from abel.verify import verify_root

MAX_FALSE_PROOFS = 2500  # each costs a quarter of a second
BATCH = 20  # theorems in one call of coqc
Say = Callable[[str], None]


def claims_in(files: Iterable[str], size: int | None, seed: int) -> tuple[int, dict[Claim, str]]:
    """How many different roots some results have, and a sample of so many from each file, with the
    file that each is from.
    """
    source: dict[Claim, str] = {}
    for path in files:
        for pair in stored_roots(json.loads(Path(path).read_text(encoding="utf-8"))):
            source.setdefault(Claim(*pair), Path(path).stem)
    chosen: dict[Claim, str] = {}
    for name in dict.fromkeys(source.values()):
        mine = [claim for claim in source if source[claim] == name]
        if size is not None and size < len(mine):
            mine = random.Random(f"{seed} {name}").sample(mine, size)
        chosen.update(dict.fromkeys(mine, name))
    return len(source), chosen


def judged(claim: Claim) -> tuple[str, Claim]:
    """The verifier's status, and the claim with its condition."""
    try:
        verdict = verify_root(parse(claim.equation), parse_expression(claim.root))
    except ParseError:  # a root may be nested deeper than text is read
        return "not read", claim
    condition = None if verdict.valid_when is None else sstr(verdict.valid_when)
    return verdict.status, Claim(claim.equation, claim.root, condition)


def short(claim: Claim) -> dict[str, Any]:
    return {"equation": claim.equation, "root": claim.root, "valid_when": claim.valid_when}


def study(claims: dict[Claim, str], seconds: int, say: Say) -> dict[str, Any]:
    """Every claim exported if it is covered, and asked of the kernel."""
    statuses: Counter[str] = Counter()
    tables: dict[str, Counter[str]] = {name: Counter() for name in claims.values()}
    refused: list[dict] = []
    denied: list[dict] = []
    scripts: list[tuple[Script, str]] = []
    start = time.process_time()
    for claim, source in claims.items():
        status, claim = judged(claim)
        statuses[status] += 1
        if status != "proved":
            continue
        tables[source]["proved"] += 1
        try:
            scripts.append((export(claim), source))
            tables[source]["covered"] += 1
        except Denied as reason:
            denied.append({**short(claim), "reason": str(reason)})
        except (NotCovered, RecursionError) as reason:
            refused.append({**short(claim), "reason": str(reason)})
    found: dict[str, Any] = {
        "roots": len(claims), "statuses": dict(statuses), "covered": len(scripts),
        "export_seconds": round(time.process_time() - start, 1), "denied_by_numbers": denied,
        "not_covered": dict(Counter(each["reason"] for each in refused).most_common()),
    }  # fmt: skip
    say(f"{statuses['proved']} proved roots, {len(scripts)} covered, {len(denied)} denied")
    for real in (False, True):
        chosen = [(s, source) for s, source in scripts if s.statement.real == real]
        found["real" if real else "field"] = asked(chosen, tables, seconds, say)
    return {**found, "by_file": tables, "refusals": refused}


def asked(
    sourced: list[tuple[Script, str]], tables: dict[str, Counter[str]], seconds: int, say: Say
) -> dict[str, Any]:
    """What the kernel says of scripts of one kind."""
    scripts = [script for script, _ in sourced]
    answers: list[Answer] = []
    for start in range(0, len(scripts), BATCH):
        answers += check_many(scripts[start : start + BATCH], seconds)
        say(f"  {len(answers)} of {len(scripts)}: {sum(a.accepted for a in answers)} accepted")
    for (_, source), answer in zip(sourced, answers):
        tables[source]["accepted"] += answer.accepted
    rejected = [
        {**short(script.statement.claim), "said": answer.said[-400:]}
        for script, answer in zip(scripts, answers)
        if not answer.accepted
    ]
    return {
        "scripts": len(scripts),
        "accepted": sum(answer.accepted for answer in answers),
        "on_a_part_of_the_letters": sum(s.statement.restricted for s in scripts),
        "coqc_seconds": round(sum(answer.seconds for answer in answers), 1),
        "axioms": sorted({name for answer in answers for name in axioms(answer.said)}),
        "rejected": rejected,
    }


# ---- Corrupted roots ----


def corrupted(claims: list[Claim], size: int, seed: int, seconds: int, say: Say) -> dict[str, Any]:
    """Roots with one thing changed. Those that numbers deny must not be accepted by anyone.

    Each is exported as any root is. And for those that are denied, the proof is written all the
    same where it can be, and the kernel must refuse its last step.
    """
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    accepted: list[dict] = []
    scripts: list[Script] = []
    attempts: list[Script] = []
    for index in range(size):
        claim = changed(rng, claims[index % len(claims)])
        if claim is None:
            counts["not made"] += 1
            continue
        try:
            scripts.append(export(claim))
            counts["exported"] += 1
        except Denied:
            counts["denied by numbers"] += 1
            try:
                if len(attempts) < MAX_FALSE_PROOFS:
                    attempts.append(attempt(claim))
            except NotCovered:
                counts["denied, and no proof could be written"] += 1
        except (NotCovered, RecursionError):
            counts["not covered"] += 1
    say(f"corrupted: {dict(counts)}")
    for real in (False, True):
        chosen = [script for script in scripts if script.statement.real == real]
        for start in range(0, len(chosen), BATCH):
            part = chosen[start : start + BATCH]
            for script, answer in zip(part, check_many(part, seconds)):
                if answer.accepted:
                    status = judged(script.statement.claim)[0]
                    accepted.append({**short(script.statement.claim), "verifier": status})
    false = forced(attempts, seconds, say)
    return {
        "corrupted": size, "counts": dict(counts), "accepted": len(accepted),
        "accepted_and_proved": sum(each["verifier"] == "proved" for each in accepted),
        "accepted_only_by_the_kernel": [a for a in accepted if a["verifier"] != "proved"],
        "false_proofs_tried": len(attempts), "false_proofs_accepted": false,
    }  # fmt: skip


def changed(rng: random.Random, claim: Claim) -> Claim | None:
    """The claim with a changed root, if there is text of it."""
    try:
        root = parse_expression(claim.root)
        text = sstr(mutant(rng, root))
        parse_expression(text)
    except (ParseError, ArithmeticError, ValueError, TypeError, RecursionError):
        return None
    return Claim(claim.equation, text, claim.valid_when)


def forced(attempts: list[Script], seconds: int, say: Say) -> list[dict]:
    """False theorems of which the kernel takes the proof; it must refuse every last step."""
    found = []
    for start in range(0, len(attempts), BATCH):
        part = attempts[start : start + BATCH]
        found += [
            short(s.statement.claim) for s, ok in zip(part, refuses_all(part, seconds)) if not ok
        ]
        say(f"  {start + len(part)} of {len(attempts)} false proofs: {len(found)} accepted")
    return found
