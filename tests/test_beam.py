"""What a beam keeps of its successors, and what a look ahead may not pass off as a solution."""

import numpy as np

from abel import Env, EnvConfig
from abel.search import Node, Solution, ahead, look_ahead
from abel.search.decode import best, children
from abel.search.decode import first_node as node_at
from abel.transitions import advance, start_of

ENV = Env(["a*x + b", "c*(a*x + b) + d"], EnvConfig(max_steps=4))
CONFIG, CACHE = ENV.config, ENV.cache


def even(observations):
    log_probs = [np.full(len(o.actions), -np.log(len(o.actions))) for o in observations]
    return log_probs, np.zeros(len(observations))


def falling(node: Node) -> np.ndarray:
    """Earlier actions are more probable."""
    return -0.1 * np.arange(len(node.observation.actions))


def first_node(index: int = 0) -> Node:
    return node_at(start_of(ENV.equations[index], CACHE), CONFIG, CACHE)


def successors(node: Node, loops: bool = False) -> list[Node]:
    return children([node], [falling(node)], CONFIG, CACHE, None, loops)[0]


def test_a_beam_keeps_as_many_as_its_width():
    nodes = successors(first_node())
    assert len(nodes) > 3
    for width in (1, 2, 3):
        assert best({0: nodes}, even, width, 0.0, 0.0) == {0: nodes[:width]}


def test_of_two_ways_to_a_state_the_more_probable_is_kept():
    node, reached = first_node(), {}
    for index, action in enumerate(node.observation.actions):
        state, _ = advance(node.state, action, CACHE)
        reached.setdefault(state.key, []).append(falling(node)[index])
    assert max(map(len, reached.values())) > 1
    for found in successors(node, loops=True):
        assert found.log_prob == max(reached[found.state.key])


def test_no_path_comes_back_to_where_it_was_unless_loops_are_allowed():
    came_back = []
    for loops in (False, True):
        ahead = [(n, after) for n in successors(first_node()) for after in successors(n, loops)]
        came_back.append(sum(after.state.key in n.seen for n, after in ahead))
    assert came_back[0] == 0 < came_back[1]


def test_a_look_ahead_finds_nothing_that_an_episode_could_not_play(monkeypatch):
    for length, solved in ((2, True), (4, False)):  # after at least one step of its own, of four

        def beam(policy, problems, *_, starts=None, length=length, **__):
            done = starts is not None
            return [Solution(p, done, None, None, (None,) * length * done, 1) for p in problems]

        monkeypatch.setattr(ahead, "beam", beam)
        rng = np.random.default_rng(0)
        (found,) = look_ahead(even, ENV.equations[:1], CONFIG, CACHE, rng, width=1)
        assert found.solved == solved
