"""Greedy, beam, breadth-first and A* search; policies are scripted."""

import numpy as np
import pytest

from abel import Env, EnvConfig, Trace, parse
from abel.datasets.textbook import proposals
from abel.search import Node, beam, blind, greedy, look_ahead, search
from abel.search.decode import best
from abel.transitions import State

TEXTS = ["a*x + b", "c*(a*x + b) + d", "a*x^2 + b*x + c", "sqrt(x) + 1", "e + (a*x + b)/(c*x + d)"]


def even_policy(observations):
    """All actions alike, but for small differences that make the order of a beam definite."""
    log_probs = []
    for observation in observations:
        weights = np.array([1.0 + 0.01 * (i % 7) for i in range(len(observation.actions))])
        log_probs.append(np.log(weights / weights.sum()))
    return log_probs, np.zeros(len(observations))


def scripted(wanted: dict[str, str]):
    """A policy that wants an action where another one is legal, and is even elsewhere."""

    def policy(observations):
        log_probs = []
        for observation in observations:
            names = [str(action) for action in observation.actions]
            weights = np.ones(len(names))
            for where, name in wanted.items():
                if where in names and name in names:
                    weights[names.index(name)] = 50
                    break
            log_probs.append(np.log(weights / weights.sum()))
        return log_probs, np.linspace(0, 1, len(observations))

    return policy


def setup(texts=TEXTS, **config):
    env = Env(texts, EnvConfig(**config))
    return env.equations, env.config, env.cache


def test_greedy_follows_the_most_probable_action():
    equations, config, cache = setup(["a*x + b"])
    (solution,) = greedy(scripted({"add -b": "div a", "sub b": "sub b"}), equations, config, cache)
    assert solution.solved and str(solution.root) == "-b/a" and solution.transitions == 2
    trace = solution.trace()
    assert [step.op for step in trace.steps] == ["sub", "div"]
    assert Trace.from_json(trace.to_json()).replay()


def test_a_beam_of_one_is_greedy():
    equations, config, cache = setup(max_steps=6)
    policy = scripted({"add -b": "div a", "sub b": "sub b", "expand": "expand"})
    for one, two in zip(
        greedy(policy, equations, config, cache),
        beam(policy, equations, config, cache, width=1, value_coef=0, complexity_coef=0),
    ):
        assert (one.solved, one.root, one.path) == (two.solved, two.root, two.path)


def test_a_wide_beam_finds_what_greedy_misses():
    equations, config, cache = setup(["a*x + b"], max_steps=3)
    narrow = greedy(even_policy, equations, config, cache)[0]
    wide = beam(even_policy, equations, config, cache, width=400, value_coef=0, complexity_coef=0)[
        0
    ]
    assert not narrow.solved and wide.solved and wide.transitions > narrow.transitions


def test_unsolvable_equations_come_back_unsolved():
    equations, config, cache = setup(["sqrt(x) + 1"], max_steps=3)
    (solution,) = beam(
        even_policy, equations, config, cache, width=20, value_coef=0, complexity_coef=0
    )
    assert not solution.solved and solution.root is None and solution.verdict is None
    assert len(solution.path) == 3  # its most probable path, for those who ask why


def test_greedy_is_what_the_environment_does_with_the_most_probable_action():
    """Against episodes played in `Env`, not against the beam that greedy is made of."""
    equations, config, cache = setup(TEXTS[:3], max_steps=6)
    policy = scripted({"add -b": "div a", "sub b": "sub b", "expand": "expand"})
    env = Env(equations, config, cache=cache)
    for index, solution in enumerate(greedy(policy, equations, config, cache)):
        observation, _ = env.reset(options={"index": index})
        chosen = []
        while not env.ended:
            chosen.append(int(np.argmax(policy([observation])[0][0])))
            observation, *_ = env.step(chosen[-1])
        assert [step[1] for step in solution.path] == chosen
        assert solution.solved == env.solved and solution.transitions == len(chosen)


def test_coefficients_of_zero_are_the_plain_beam():
    """Against a plain beam written out: rank all steps by probability, drop forms seen, cut."""
    equations, config, cache = setup(["a*x + b"], max_steps=3)
    policy, width = scripted({"add -b": "div a", "sub b": "sub b"}), 3
    (solution,) = beam(
        policy, equations, config, cache, width=width, value_coef=0, complexity_coef=0
    )
    kept = [(0.0, cache.form(equations[0].lhs, equations[0].rhs), ())]
    for _ in range(2):
        steps = [
            (total + ahead[a], cache.successor(form, action)[0], (*path, a))
            for total, form, path in kept
            for observation in [cache.observe(form, True)]
            for ahead in policy([observation])[0]
            for a, action in enumerate(observation.actions)
        ]
        distinct = {}
        for step in sorted(steps, key=lambda step: -step[0]):
            distinct.setdefault(step[1], step)
        kept = list(distinct.values())[:width]
    expected = next(path for _, form, path in kept if form.solved_form)
    assert solution.solved and tuple(step[1] for step in solution.path) == expected


def test_the_score_is_the_papers():
    """-1 + 2*0.5 - 0.1*9 = -0.9 is beaten by -1.5 + 2*1 - 0.1*6 = -0.1."""
    _, config, cache = setup(["a*x + b"])
    nodes = []
    for text, log_prob in (("a*x + b", -1.0), ("a*x = b", -1.5)):
        equation = Env([text]).equations[0]
        form = cache.form(equation.lhs, equation.rhs)
        state = State(form)
        nodes.append(Node(state, cache.observe(form, True), log_prob, (), frozenset()))
    assert [node.form.complexity for node in nodes] == [9, 6]

    def policy(observations):
        return [], np.array([0.5, 1.0])

    assert best({0: nodes}, policy, 1, 0.0, 0.0)[0] == [nodes[0]]
    assert best({0: nodes}, policy, 1, 2.0, 0.1)[0] == [nodes[1]]
    assert best({0: nodes}, policy, 1, 0.9, 0.0)[0] == [nodes[0]]  # -0.55 against -0.6
    assert best({0: nodes}, policy, 1, 1.1, 0.0)[0] == [nodes[1]]  # -0.45 against -0.4


def test_an_equation_that_reads_x_equals_r_needs_no_step():
    equations, config, cache = setup(["x = a + 1", "(-8 + 8)/3 = x"])
    policy = scripted({"sub x": "sub x"})
    found = [
        *greedy(policy, equations, config, cache),
        *(search(each, config, cache, budget=5, weight=1.0) for each in equations),
    ]
    assert [(s.solved, str(s.root), s.path) for s in found] == [
        (True, "a + 1", ()), (True, "0", ()),
    ] * 2  # fmt: skip
    assert found[0].trace().to_text() == "x = a + 1\nx = a + 1   (proved)"


def test_a_steer_takes_an_action_away():
    equations, config, cache = setup(["a*x + b"], max_steps=3)
    policy = scripted({"add -b": "div a", "sub b": "sub b"})

    def never_divide(node, log_probs):
        ops = [action.op for action in node.observation.actions]
        return np.where(np.array(ops) == "div", -np.inf, log_probs)

    (free,) = greedy(policy, equations, config, cache)
    (steered,) = greedy(policy, equations, config, cache, steer=never_divide)
    assert free.solved and not steered.solved
    assert all(o.actions[a].op != "div" for o, a, *_ in steered.path)


def familiar(wanted: dict[str, str], places: dict[str, float]):
    """A scripted policy that values places by a legal action there."""
    follow = scripted(wanted)

    def policy(observations):
        names = [{str(action) for action in observation.actions} for observation in observations]
        values = [sum(v for where, v in places.items() if where in there) for there in names]
        return follow(observations)[0], np.array(values)

    return policy


def test_looking_ahead_finds_a_beginning_that_the_policy_lacks():
    """The policy knows exp(x) = a*b when it sees it, and before that it turns signs."""
    equations, config, cache = setup(["exp(x)/a = b"], max_steps=3, terms="blocks")
    wanted = {"sub a*b": "log", "sub b": "mul -1"}
    (alone,) = greedy(scripted(wanted), equations, config, cache)
    assert not alone.solved
    rng = np.random.default_rng(0)
    policy = familiar(wanted, {"sub a*b": 1.0})
    (found,) = look_ahead(policy, equations, config, cache, rng, width=1)
    assert found.solved and found.root == parse("x = log(a*b)").rhs
    assert found.transitions > alone.transitions


@pytest.mark.slow
def test_looking_ahead_goes_on_from_what_is_valued_and_small(monkeypatch):
    """Of places valued alike, the smaller one comes first: its reward has been earned already."""
    equations, config, cache = setup(["a*x + b"], max_steps=3, terms="blocks")
    monkeypatch.setattr("abel.search.ahead.MOST_PROMISING", 1)
    followed = []

    def watching(*args, starts=None, **kwargs):
        followed.extend(str(state.form) for state in starts or ())
        return beam(*args, starts=starts, **kwargs)

    monkeypatch.setattr("abel.search.ahead.beam", watching)
    rng = np.random.default_rng(0)
    look_ahead(familiar({}, {}), equations, config, cache, rng, width=1)
    look_ahead(familiar({}, {"div a": 1.0}), equations, config, cache, rng, width=1)
    assert followed[1] == "a*x = -b" and len(followed[0]) <= len("a*x + b = 0")


@pytest.mark.slow
def test_a_swept_cache_does_not_stop_a_look_ahead():
    equations, config, _ = setup(["a*x + b", "c*x + d"], max_steps=4, cache_size=2)
    cache = config.new_cache()
    policy = scripted({"add -b": "div a", "sub b": "mul a"})
    rng = np.random.default_rng(0)
    assert all(s.transitions for s in look_ahead(policy, equations, config, cache, rng, width=1))


def test_complexity_steers_the_beam():
    """With a heavy complexity term only the simplest successors stay."""
    equations, config, cache = setup(["c*(a*x + b) + d"], max_steps=2)

    def second_beam(complexity_coef: float) -> list[int]:
        sizes: list[list[int]] = []

        def watching(observations):
            sizes.append([len(o.tokens) for o in observations])
            return even_policy(observations)

        beam(watching, equations, config, cache, width=3, value_coef=0,
             complexity_coef=complexity_coef)  # fmt: skip
        return sizes[1]

    assert sum(second_beam(10.0)) < sum(second_beam(-10.0))


def test_forms_are_not_kept_twice():
    equations, config, cache = setup(["a*x + b"], max_steps=2)
    distinct = []

    def watching(observations):
        distinct.append(len({id(o) for o in observations}) == len(observations))
        return even_policy(observations)

    beam(watching, equations, config, cache, width=50, value_coef=0, complexity_coef=0)
    assert all(distinct) and len(distinct) == 2


def test_values_count_only_for_the_last_state():
    """score = sum of log-probabilities + lambda * V(s_T): a state's value is not carried along."""
    equations, config, cache = setup(["a*x + b"], max_steps=3)
    depths: list[list[str]] = []

    def policy(observations):
        depths.append([str(o.actions[0]) for o in observations])
        probs = [np.log(np.full(len(o.actions), 1 / len(o.actions))) for o in observations]
        values = np.array([5.0 if len(o.actions) % 2 else 0.0 for o in observations])
        return probs, values

    def scores(value_coef: float) -> list[list[str]]:
        depths.clear()
        beam(policy, equations, config, cache, width=3, value_coef=value_coef, complexity_coef=0)
        return list(depths)

    plain, guided = scores(0.0), scores(1.0)
    assert plain[0] == guided[0] and plain != guided


@pytest.mark.parametrize("text", TEXTS[:3])
def test_proposals_of_the_textbook_are_a_policy(text):
    equations, config, cache = setup([text])

    def policy(observations):
        log_probs = []
        for observation in observations:
            form = next(f for f in cache.forms.values() if f.observation is observation)
            weights = np.full(len(observation.actions), 1e-3)
            for rank, action in enumerate(proposals(form.lhs, form.rhs)):
                if action in observation.actions:
                    weights[observation.actions.index(action)] = 1 / (1 + rank)
                    break
            log_probs.append(np.log(weights / weights.sum()))
        return log_probs, np.zeros(len(observations))

    assert greedy(policy, equations, config, cache)[0].solved


# ---- Without a policy ----


def test_breadth_first_finds_a_shortest_solution():
    equations, config, cache = setup(["a*x + b"])
    solution = search(equations[0], config, cache, budget=1000, weight=0)
    assert solution.solved and str(solution.root) == "-b/a" and len(solution.path) == 2
    assert Trace.from_json(solution.trace().to_json()).replay()


def test_a_star_needs_fewer_transitions_than_breadth_first():
    equations, config, cache = setup(["a*x + b"])
    wide, guided = (
        search(equations[0], config, cache, budget=60, weight=weight) for weight in (0, 1)
    )
    assert wide.solved and guided.solved and guided.transitions < wide.transitions


def test_a_search_through_changes_of_variables_is_unwound_and_proved():
    equations, config, cache = setup(["x^2 + 2*x + b"], terms="blocks")
    solution = search(equations[0], config, cache, budget=60, weight=1)
    assert solution.solved
    assert "cov" in [observation.actions[a].op for observation, a, *_ in solution.path]
    assert Trace.from_json(solution.trace().to_json()).replay()


def test_the_budget_counts_expanded_states():
    equations, config, cache = setup(["sqrt(x) + 1"])
    ticks = []
    solution = search(equations[0], config, cache, budget=7, weight=0, tick=ticks.append)
    assert not solution.solved and solution.path == () and ticks == [1, 2, 3, 4, 5, 6, 7]


def test_depth_is_limited_as_an_episode_is():
    equations, config, cache = setup(["a*x + b"], max_steps=1)
    assert not search(equations[0], config, cache, budget=1000, weight=0).solved


def test_a_full_frontier_keeps_the_best(monkeypatch):
    monkeypatch.setattr(blind, "MAX_FRONTIER", 8)
    equations, config, cache = setup(["(x + a)/b + 2"], terms="blocks")
    assert search(equations[0], config, cache, budget=60, weight=1).solved


def test_a_tiny_cache_changes_nothing():
    equations, config, _ = setup(["(x + a)/b + 2"], terms="blocks")
    small = EnvConfig(terms="blocks", cache_size=20)
    one, two = (
        search(equations[0], c, c.new_cache(), budget=60, weight=1) for c in (config, small)
    )
    assert (one.root, one.transitions) == (two.root, two.transitions)
