"""The network as a figure, drawn from what it really sees: a token tree and its legal actions."""

from __future__ import annotations

import numpy as np

from abel.charts import PALETTE, svg, tag
from abel.encode import ROLES, TOKENS, Observation
from abel.env import Env, EnvConfig

ROW, COLUMN, TOP = 58, 64, 74  # pixels between the levels and the leaves of the tree; its root
MOST_DRAWN, MAX_ACTIONS = 12, 9  # what fits
UP, POINT = PALETTE[0], PALETTE[3]  # colours of messages and of pointers


def positions(parents: np.ndarray) -> np.ndarray:
    """Coordinates [N, 2] of a tree's nodes: leaves side by side, parents above their middle."""
    places = np.zeros((len(parents), 2))
    depths = np.zeros(len(parents), dtype=int)
    for node in range(1, len(parents)):
        depths[node] = depths[parents[node]] + 1
    leaves = 0
    for node in reversed(range(len(parents))):  # preorder: children come after their parent
        children = np.flatnonzero(parents == node)
        if len(children):
            places[node, 0] = places[children, 0].mean()
        else:
            places[node, 0] = leaves
            leaves += 1
    places[:, 0] = leaves - 1 - places[:, 0]
    return np.stack([40 + COLUMN * places[:, 0], TOP + ROW * depths], 1)


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
    if len(observation.tokens) > MOST_DRAWN:
        raise ValueError(
            f"'{equation}' has {len(observation.tokens)} nodes; at most {MOST_DRAWN} can be drawn"
        )
    places = positions(observation.parents)
    num_shown = min(len(observation.actions), MAX_ACTIONS)
    low = max(places[:, 1].max() + 40, TOP + 21 * (num_shown + 2))
    body = [HEAD, *tree(observation, places), *actions(observation, places), *parts(low)]
    return svg(low + 160, f"{equation}: messages go up, actions point at nodes", body)


def tree(observation: Observation, places: np.ndarray) -> list[str]:
    """Tokens with their roles, and arrows from children to parents."""
    body = []
    for node, parent in enumerate(observation.parents):
        x, y = places[node]
        if parent >= 0:
            px, py = places[parent]
            length = np.hypot(px - x, py - y)
            dx, dy = (px - x) / length, (py - y) / length
            body.append(arrow(x + 17 * dx, y + 13 * dy, px - 22 * dx, py - 17 * dy, UP))
        body.append(tag("text", TOKENS[observation.tokens[node]], x=x, y=y + 5,
                        text_anchor="middle", font_weight=600))  # fmt: skip
        role = ROLES[observation.roles[node]]
        body.append(tag("text", role, x=x, y=y + 18, text_anchor="middle", font_size=10))
    return body


def actions(observation: Observation, places: np.ndarray) -> list[str]:
    """Some of the legal actions, each pointing at the node of its term."""
    right = max(places[:, 0].max() + 60, 320)
    num_actions = len(observation.actions)
    spread = np.linspace(0, num_actions - 1, min(num_actions, MAX_ACTIONS))
    shown = spread.astype(int).tolist()
    left_out = num_actions - len(shown)
    body = [tag("text", "legal actions", x=right + 60, y=TOP - 18, font_weight=600)]
    for row, index in enumerate(shown):
        y = TOP + 6 + 21 * row
        body.append(tag("text", str(observation.actions[index]), x=right + 60, y=y, font_size=13))
        node = observation.action_nodes[index]
        if node:
            x, ny = places[node]
            body.append(arrow(right + 54, y - 4, x + 22, ny, POINT, "3 4"))
    if left_out:
        y = TOP + 6 + 21 * len(shown)
        body.append(tag("text", f"and {left_out} more", x=right + 60, y=y, font_size=13))
    return body


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
