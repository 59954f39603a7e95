"""The network as a figure, drawn from what it really sees: a token tree and its legal actions.

Every node has a row of its own, so that an arrow to the left of a word or to the right of it covers
none.
"""

from __future__ import annotations

import numpy as np

from abel.charts import PALETTE, WIDTH, svg, tag
from abel.encode import ROLES, TOKENS, Observation
from abel.env import Env, EnvConfig

TOP, ROW, INDENT, MARGIN = 84, 29, 36, 28  # pixels: the first row, between rows, a level, the edge
BOLD, SMALL, LETTER = 10.5, 7.6, 7.0  # pixels that a letter takes: tokens, roles, actions
REACH = 56  # pixels of the shortest pointer
MOST_DRAWN = 12  # nodes that fit
MORE = "and {} more"
BETWEEN = " \u00b7 "
UP, POINT = PALETTE[0], PALETTE[3]  # colours of messages and of pointers


def arrow(x1: float, y1: float, x2: float, y2: float, color: str, dashes: str = "none") -> str:
    return tag(
        "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=color, stroke_dasharray=dashes,
        stroke_width=1.5, marker_end="url(#head)",
    )  # fmt: skip


def box(x: float, y: float, width: float, lines: list[str]) -> list[str]:
    """Lines of text in a frame, the first one in bold."""
    parts = [tag("rect", x=x, y=y, width=width, height=12 + 17 * len(lines), rx=6, fill="none",
                 stroke="currentColor")]  # fmt: skip
    for row, line in enumerate(lines):
        weight = 600 if row == 0 else 400
        parts.append(tag("text", line, x=x + 10, y=y + 20 + 17 * row, font_size=12,
                         font_weight=weight))  # fmt: skip
    return parts


HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto-start-reverse"><path d="M0,0L8,4L0,8z" '
    'fill="context-stroke"/></marker></defs>'
)


def draw_network(equation: str) -> str:
    """The figure of an equation, as SVG; ValueError if it cannot be drawn."""
    env = Env([equation], EnvConfig(terms="blocks"))
    observation, _ = env.reset(seed=0)
    return architecture(observation, equation)


def architecture(observation: Observation, equation: str) -> str:
    """The way from an equation's tree to the probabilities of its legal actions, as SVG."""
    num_nodes = len(observation.tokens)
    if num_nodes > MOST_DRAWN:
        raise ValueError(f"'{equation}' has {num_nodes} nodes; at most {MOST_DRAWN} can be drawn")
    low = TOP + ROW * num_nodes + 10
    body = [HEAD, *tree(observation), *actions(observation), *parts(low)]
    return svg(low + 160, f"{equation}: messages go up, actions point at nodes", body)


def place_of(observation: Observation, node: int) -> tuple[float, float, float]:
    """Where a node's words begin and end, and their base line."""
    depth, above = 0, int(observation.parents[node])
    while above >= 0:
        depth, above = depth + 1, int(observation.parents[above])
    left = float(MARGIN + INDENT * depth)
    token, role = words_of(observation, node)
    return left, left + BOLD * len(token) + 6 + SMALL * len(role), float(TOP + ROW * node)


def words_of(observation: Observation, node: int) -> tuple[str, str]:
    return TOKENS[observation.tokens[node]], ROLES[observation.roles[node]]


def tree(observation: Observation) -> list[str]:
    """Tokens with their roles, and arrows from children to parents."""
    body = [tag("text", "token tree", x=MARGIN, y=TOP - 28, font_weight=600)]
    for node, parent in enumerate(observation.parents):
        left, _, y = place_of(observation, node)
        token, role = words_of(observation, node)
        body.append(tag("text", token, x=left, y=y, font_weight=600))
        body.append(tag("text", role, x=left + BOLD * len(token) + 6, y=y, font_size=11))
        if parent >= 0:
            # Between a node and its children there are only nodes that stand further to the right.
            stem, _, above = place_of(observation, int(parent))
            way = f"M{left - 5:.1f},{y - 5:.1f}H{stem + 7:.1f}V{above + 7:.1f}"
            body.append(tag("path", d=way, fill="none", stroke=UP, stroke_width=1.5,
                            marker_end="url(#head)"))  # fmt: skip
    return body


def actions(observation: Observation) -> list[str]:
    """The legal actions beside the nodes of their terms; those without one are beside the root."""
    nodes = range(len(observation.tokens))
    right = max(place_of(observation, node)[1] for node in nodes) + REACH
    body = [tag("text", "legal actions, each at the node of its term", x=right, y=TOP - 28,
                font_weight=600)]  # fmt: skip
    for node in nodes:
        here = np.flatnonzero(observation.action_nodes == node)
        told = [str(observation.actions[i]) for i in here]
        if told:
            _, end, y = place_of(observation, node)
            body.append(tag("text", in_row(told, WIDTH - right), x=right, y=y, font_size=13))
            body.append(arrow(right - 8, y - 5, end + 6, y - 5, POINT, "3 4"))
    return body


def in_row(told: list[str], width: float) -> str:
    """As many actions as fit, and the number of the others."""
    for shown in range(len(told), 0, -1):
        left_out = len(told) - shown
        row = BETWEEN.join([*told[:shown], *[MORE.format(left_out)] * (left_out > 0)])
        if LETTER * len(row) <= width:
            return row
    return MORE.format(len(told)).removeprefix("and ").replace("more", "actions")


def parts(low: float) -> list[str]:
    """The parts of the network below the tree, and what flows between them."""
    body = box(16, low, 330, [
        "TreeMLP, K rounds", "h := h + MLP[token + role, sum of children's LN(h)]",
        "equal subtrees are computed once",
    ])  # fmt: skip
    body += box(372, low, 332, [
        "pointer head, one score an action",
        "w . relu(W h(term) + op + V graph)", "log-softmax over the legal ones alone",
    ])  # fmt: skip
    body += box(16, low + 92, 330, [
        "graph = relu(W [mean h, h(=), h(lhs)])", "value = MLP(graph)",
    ])  # fmt: skip
    body += box(372, low + 92, 332, [
        "PPO: clipped loss, GAE, entropy", "plus cloning of the agent's own shortest solutions",
    ])  # fmt: skip
    return [
        *body,
        arrow(180, low + 63, 180, low + 90, UP),
        arrow(346, low + 32, 370, low + 32, POINT),
        arrow(346, low + 104, 370, low + 60, UP),
        arrow(540, low + 63, 540, low + 90, POINT),
    ]
