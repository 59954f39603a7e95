"""An equation as a token tree for the network: one node per occurrence, in preorder, root `=`
first.

Four ways to show constants: `blocks` makes every maximal x-free part one opaque leaf; `repeats`
does so too and marks those that occur more than once, up to a number; `raw` shows the whole tree
with constants renamed by order of appearance; `letters` is the paper's, every letter its own token.
In all but the last the x-free part of a sum or product is one node, so a term that names it has a
node to point at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
from sympy import Add, E, Expr, I, Mul, Pow, Rational, Symbol, pi

from abel.equation import (
    MINUS_ONE,
    ONE,
    ZERO,
    X,
    free_part,
    has_x,
    ordered_args,
    remember,
    subterms,
)  # fmt: skip
from abel.operations import Action

Constants = Literal["blocks", "repeats", "raw", "letters"]
Array = np.ndarray

NUM_RENAMED = 16
MASK = (1 << 64) - 1
LARGEST_INTEGER = 12
RATIONALS = ("1/2", "-1/2", "1/3", "-1/3", "2/3", "-2/3", "1/4", "-1/4", "3/2", "-3/2")
LETTERS = tuple("abcdefghijklmnopqrstuvwyzABCDFGHJKLMNOPQRSTUVWXYZ")  # no x; E and I are numbers

TOKENS = (
    "<pad>", "=", "Add", "Mul", "Pow",
    "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan",
    "x", "<const>", "pi", "E", "I",
    *map(str, range(-LARGEST_INTEGER, LARGEST_INTEGER + 1)), *RATIONALS,
    "<integer>", "<-integer>", "<rational>", "<-rational>",
    *(f"<constant {i}>" for i in range(NUM_RENAMED)), "<constant>",
    *LETTERS, "<name>",
)  # fmt: skip
VOCAB = {token: index for index, token in enumerate(TOKENS)}
ROLES = ("root", "lhs", "rhs", "summand", "factor", "base", "exponent", "argument")
NUM_ROLES = len(ROLES)
ROLE = {role: index for index, role in enumerate(ROLES)}
RENAMED = [VOCAB[f"<constant {i}>"] for i in range(NUM_RENAMED)] + [VOCAB["<constant>"]]
BLOCK, REPEATED = VOCAB["<const>"], VOCAB["<constant>"]
NUMBERS = {pi: VOCAB["pi"], E: VOCAB["E"], I: VOCAB["I"]}


class Observation(NamedTuple):
    """What the agent sees: the token tree, and the legal actions with the nodes they point at."""

    tokens: Array  # [N] int16
    roles: Array  # [N] int16
    parents: Array  # [N] int16, -1 for the root
    subtrees: Array  # [N] int64, equal where everything at and below the node is equal
    action_ops: Array  # [A] int16, index of the operation in the table
    action_nodes: Array  # [A] int16, node of the term; the root for an operation without one
    actions: tuple[Action, ...]

    def only(self, kept: Sequence[bool]) -> Observation:
        """The same tree with some of the actions; itself if that is all of them."""
        if all(kept):
            return self
        return self._replace(
            action_ops=self.action_ops[np.array(kept)],
            action_nodes=self.action_nodes[np.array(kept)],
            actions=tuple(compress(self.actions, kept)),
        )


def observe(
    lhs: Expr, rhs: Expr, actions: Sequence[Action], op_index: dict[str, int], constants: Constants
) -> Observation:
    """`lhs = rhs` and its legal actions as an agent sees them."""
    terms = {id(action.term): action.term for action in actions if action.term is not None}
    tree = encode(lhs, rhs, constants, terms.values())
    node_of = {key: tree.node_of[term] for key, term in terms.items()}
    nodes = [node_of.get(id(action.term), 0) for action in actions]
    ops = [op_index[action.op] for action in actions]
    action_ops, action_nodes = (np.array(column, dtype=np.int16) for column in (ops, nodes))
    return Observation(*tree[:4], action_ops, action_nodes, tuple(actions))


class Tree(NamedTuple):
    """Nodes in preorder: `parents[0]` is -1, and every other parent comes before its children."""

    tokens: Array  # [N] int16
    roles: Array  # [N] int16
    parents: Array  # [N] int16
    subtrees: Array  # [N] int64, equal where everything at and below the node is equal
    node_of: dict[Expr, int]  # of each term that was asked for the first node


def encode(lhs: Expr, rhs: Expr, constants: Constants, terms: Iterable[Expr] = ()) -> Tree:
    """The token tree of `lhs = rhs`, and where in it these terms are."""
    builder = TreeBuilder(constants, set(terms))
    builder.tokens, builder.roles, builder.parents = [VOCAB["="]], [ROLE["root"]], [-1]
    for side, role in ((lhs, ROLE["lhs"]), (rhs, ROLE["rhs"])):
        builder.visit(side, role, 0, shown(side, role, constants))
    if constants == "repeats":
        builder.mark_repeats()
    columns = builder.tokens, builder.roles, builder.parents
    subtrees = np.array(subtree_hashes(*columns), dtype=np.uint64).view(np.int64)
    tokens, roles, parents = (np.array(column, dtype=np.int16) for column in columns)
    return Tree(tokens, roles, parents, subtrees, builder.node_of)


def subtree_hashes(tokens: list[int], roles: list[int], parents: list[int]) -> list[int]:
    """A 64-bit name for each subtree, whatever the order of its children and the process.

    A network whose messages run from child to parent computes equal subtrees once.
    """
    below = [0] * len(tokens)
    hashes = [0] * len(tokens)
    for i in range(len(tokens) - 1, -1, -1):  # children come after their parents
        hashes[i] = mixed(below[i], tokens[i] * NUM_ROLES + roles[i])
        below[parents[i]] += hashes[i]  # the root's parent is -1: the last entry, already done with
    return hashes


@remember
def mixed(below: int, kind: int) -> int:
    """The name of a subtree from the sum of those below and what its own node is."""
    z = (below + (kind + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


NOTHING: frozenset[Expr] = frozenset()


class Shown(NamedTuple):
    """How an expression is shown: its token, its children with their roles, and terms that have no
    node of their own.
    """

    token: int  # -1 for a constant that is renamed by order of appearance
    children: tuple[tuple[Expr, int, Shown], ...] = ()  # with what they show: no need to look it up
    hidden: frozenset[Expr] = NOTHING  # they point at the first child
    inside: frozenset[Expr] = NOTHING  # they point at the node itself
    unit: Expr | None = None  # of a block whose repeats are marked, without its number


@remember
def shown(expr: Expr, role: int, constants: Constants) -> Shown:
    """How the tree goes on at `expr`; in an opaque block every term points at the block."""
    if constants in ("blocks", "repeats") and not has_x(expr):
        token = block_token(expr, role)
        unit = expr.as_coeff_Mul()[1] if token == BLOCK and constants == "repeats" else None
        return Shown(token, inside=inner_terms(expr), unit=expr if unit is ONE else unit)
    if not expr.args:
        renamed = isinstance(expr, Symbol) and expr != X and constants != "letters"
        return Shown(-1 if renamed else leaf_token(expr))
    if isinstance(expr, Add | Mul):
        return shown_sum_or_product(expr, constants)
    roles = ("base", "exponent") if isinstance(expr, Pow) else ("argument",) * len(expr.args)
    token = VOCAB.get(type(expr).__name__, VOCAB["<name>"])  # LambertW has none of its own
    return Shown(token, told(zip(expr.args, roles), constants))


def told(children: Iterable[tuple[Expr, str]], constants: Constants) -> tuple:
    """Children with their roles, each with what it shows."""
    found = [(arg, ROLE[role]) for arg, role in children]
    return tuple([(arg, role, shown(arg, role, constants)) for arg, role in found])


def shown_sum_or_product(expr: Add | Mul, constants: Constants) -> Shown:
    """The paper's tree has no node for the x-free part of a sum or product as a whole: terms in it
    point at the sum. In the others it is the first child, and may hide a term: SymPy distributes a
    number over a sum when the x-free factors of a product come together.
    """
    role, nothing = ("summand", ZERO) if isinstance(expr, Add) else ("factor", ONE)
    # Only renaming by order of appearance needs an order that does not hang on names.
    args = ordered_args(expr) if constants == "raw" else expr.args
    hidden = inside = NOTHING
    if has_x(expr):
        free = free_part(expr)
        if constants == "letters":
            inside = inner_terms(free)
        else:
            apart = [arg for arg in args if not has_x(arg)]
            if len(apart) > 1:
                hidden = NOTHING.union(*map(inner_terms, apart))
            args = [free] * (free is not nothing) + [arg for arg in args if has_x(arg)]
    token = VOCAB[type(expr).__name__]
    return Shown(token, told(((arg, role) for arg in args), constants), hidden, inside)


@remember
def inner_terms(free: Expr) -> frozenset[Expr]:
    """Every term in a part without x, itself among them."""
    return frozenset(subterms(free, False))


class TreeBuilder:
    """Walks a tree once; what it meets first has the lower node and the lower constant."""

    def __init__(self, constants: Constants, wanted: set[Expr]) -> None:
        self.constants, self.wanted = constants, wanted  # terms whose nodes are not known yet
        self.tokens: list[int] = []
        self.roles: list[int] = []
        self.parents: list[int] = []
        self.node_of: dict[Expr, int] = {}
        self.renamed: dict[Expr, int] = {}
        self.blocks: dict[Expr, list[int]] = {}  # nodes of the blocks that are equal up to a number

    def visit(self, expr: Expr, role: int, parent: int, told: Shown) -> None:
        index, wanted = len(self.tokens), self.wanted
        if wanted and expr in wanted:
            self.place(expr, index)
        token, children, hidden, inside, unit = told
        if token < 0:
            number = self.renamed.setdefault(expr, len(self.renamed))
            token = RENAMED[min(number, NUM_RENAMED)]
        elif unit is not None:
            self.blocks.setdefault(unit, []).append(index)
        self.tokens.append(token)
        self.roles.append(role)
        self.parents.append(parent)
        for child, child_role, child_told in children:
            self.visit(child, child_role, index, child_told)
        if wanted and (hidden or inside):
            for term in wanted & hidden:
                self.place(term, index + 1)
            for term in wanted & inside:
                self.place(term, index)

    def place(self, term: Expr, node: int) -> None:
        self.node_of[term] = node
        self.wanted.discard(term)

    def mark_repeats(self) -> None:
        """Tell blocks that occur more than once from the others: palindromes are made of them."""
        for nodes in self.blocks.values():
            for node in nodes if len(nodes) > 1 else ():
                self.tokens[node] = REPEATED


@remember
def block_token(expr: Expr, role: int) -> int:
    # 0, 1 and -1 call for actions of their own, and a numeric exponent names the root to take.
    telling = expr is ZERO or expr is ONE or expr is MINUS_ONE
    if telling or (role == ROLE["exponent"] and isinstance(expr, Rational)):
        return leaf_token(expr)
    return BLOCK


@remember
def leaf_token(expr: Expr) -> int:
    if isinstance(expr, Rational):
        kind = "integer" if expr.q == 1 else "rational"
        return VOCAB.get(str(expr), VOCAB[f"<{'-' * (expr.p < 0)}{kind}>"])
    if isinstance(expr, Symbol):
        return VOCAB[expr.name if expr.name in LETTERS or expr == X else "<name>"]
    return NUMBERS.get(expr, VOCAB["<name>"])  # nan stands for what was too large to compute
