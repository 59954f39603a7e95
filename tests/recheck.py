"""Roots that evaluate.py claims, checked again by numbers that share no code with the package.

python evaluate.py --equations FILE --json OUT; python -m tests.recheck OUT    # exit 1 if one fails

Equation, root and condition are read by Python's own parser and evaluated by mpmath with 60 digits,
at random real letters for which the condition holds. What has no numbers is counted apart.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

from mpmath import mp, mpc, mpf

mp.dps = 60
POINTS, TRIES = 3, 400
NEAR = mpf(10) ** -25  # of the sizes of what is added up


def modulus(z):
    return mpc(abs(z))


def log_to_base(u, base=None):
    return mp.log(u) if base is None else mp.log(u) / mp.log(base)


FUNCTIONS = {
    "sqrt": mp.sqrt, "cbrt": lambda u: mp.power(u, mpf(1) / 3), "exp": mp.exp, "ln": log_to_base,
    "log": log_to_base, "log2": lambda u: log_to_base(u, 2), "log10": lambda u: log_to_base(u, 10),
    "abs": modulus, "Abs": modulus, "LambertW": lambda u, k=0: mp.lambertw(u, int(mp.re(k))),
    **{name: getattr(mp, name) for name in (
        "sin cos tan cot sec csc asin acos atan acot asec acsc sinh cosh tanh coth sech csch asinh"
        " acosh atanh acoth asech acsch"
    ).split()},
}  # fmt: skip
CONSTANTS = {"pi": mp.pi, "E": mp.e, "I": mpc(0, 1), "oo": mp.inf}
PIECE = re.compile(r"\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[A-Za-z_]\w*|\*\*|[<>=!]=|\S")


class NoNumber(Exception):
    """A pole, a letter without a value, or something that mpmath cannot do."""


def as_python(text: str) -> str:
    """^ as **, and the * that a product leaves out."""
    pieces = PIECE.findall(text.replace("^", "**"))
    found: list[str] = []
    for piece in pieces:
        before = found[-1] if found else ""
        ends = re.fullmatch(r"[\w.]+(?:[eE][-+]?\d+)?|\)", before) and before not in FUNCTIONS
        if ends and (piece == "(" or re.match(r"[A-Za-z_]", piece)):
            found.append("*")
        found.append(re.sub(r"^0+(?=\d)", "", piece))
    return "".join(found)


def value(node: ast.AST, letters: dict):
    """A number, or a truth value of a condition."""
    if isinstance(node, ast.Expression):
        return value(node.body, letters)
    if isinstance(node, ast.Constant):
        return mpf(str(node.value))
    if isinstance(node, ast.Name):
        if node.id in letters:
            return letters[node.id]
        return {**CONSTANTS, "True": True, "False": False}[node.id]
    if isinstance(node, ast.UnaryOp):
        inner = value(node.operand, letters)
        if isinstance(node.op, ast.Invert):
            return not inner
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        left, right = value(node.left, letters), value(node.right, letters)
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            return (left and right) if isinstance(node.op, ast.BitAnd) else (left or right)
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Pow):
            return mp.power(left, right)
        return {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}[type(node.op)]
    if isinstance(node, ast.Call):
        args = [value(arg, letters) for arg in node.args]
        if node.func.id in ("Ne", "Eq"):
            return (abs(args[0] - args[1]) > NEAR) == (node.func.id == "Ne")
        return FUNCTIONS[node.func.id](*args)
    if isinstance(node, ast.Compare):
        left, right = value(node.left, letters), value(node.comparators[0], letters)
        left, right = mp.re(left), mp.re(right)
        return {ast.Lt: left < right, ast.LtE: left <= right, ast.Gt: left > right,
                ast.GtE: left >= right}[type(node.ops[0])]  # fmt: skip
    raise NoNumber


def number(text: str, letters: dict):
    try:
        return value(ast.parse(as_python(text), mode="eval"), letters)
    except (NoNumber, ArithmeticError, ValueError, KeyError, TypeError, SyntaxError) as error:
        raise NoNumber from error


def names(text: str, unknown: str) -> set[str]:
    words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", as_python(text)))
    return words - set(FUNCTIONS) - set(CONSTANTS) - {unknown, "Ne", "Eq", "True", "False"}


def sizes(node: ast.AST, letters: dict) -> mpf:
    """The largest of the numbers that are added up on the way to a value."""
    parts = [n for n in ast.walk(node) if isinstance(n, ast.BinOp | ast.Call | ast.Name)]
    found = [mpf(1)]
    for part in parts:
        try:
            found.append(abs(value(part, letters)))
        except (NoNumber, ArithmeticError, ValueError, KeyError, TypeError):
            continue
    return min(max(found), mpf(10) ** 20)


def check(equation: str, root: str, condition: str | None, unknown: str = "x") -> str:
    """ "root", "no root" or "no numbers" """
    lhs, _, rhs = equation.partition("=")
    rhs = rhs or "0"
    rng = random.Random(f"{equation} {root}")
    letters = sorted(set().union(*(names(t, unknown) for t in (lhs, rhs, root, condition or ""))))
    euler = "e" in letters and re.search(r"\be\s*(\^|\*\*)", equation)
    tested = 0
    for _ in range(TRIES if letters else 1):
        scale = rng.choice((mpf(1), mpf(1), mpf(10), mpf(1) / 10))
        at = {name: mpf(rng.uniform(-3, 3)) * scale for name in letters}
        if euler:
            at["e"] = mp.e
        try:
            if condition and not number(condition, at):
                continue
            at[unknown] = number(root, at)
            left, right = number(lhs, at), number(rhs, at)
        except NoNumber:
            continue
        tree = ast.parse(as_python(f"({lhs}) - ({rhs})"), mode="eval")
        if not abs(left - right) <= NEAR * sizes(tree, at):
            return "no root"
        tested += 1
        if tested == POINTS:
            break
    return "root" if tested else "no numbers"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.recheck", description=__doc__)
    parser.add_argument("file", type=Path, help="written by evaluate.py --json")
    rows = json.loads(parser.parse_args(argv).file.read_text(encoding="utf-8"))["equations"]
    counts: Counter[str] = Counter()
    for row in rows:
        if row["solved"]:
            unknown = row.get("unknown", "x")
            found = check(row["equation"], row["root"], row["valid_when"], unknown)
            counts[found] += 1
            if found != "root":
                root = f"{unknown} = {row['root']}   {row['valid_when'] or ''}"
                print(f"{found}: {row['equation']}   {root}")
    print(", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())) or "nothing is solved")
    return int(counts["no root"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
