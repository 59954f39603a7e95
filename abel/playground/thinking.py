"""What the page asks: where a path of actions leads, what the agent thinks there, all roots.

A question carries all that its answer depends on: the agent, the equation, and the actions so far.
So nobody's session is kept, going back is a shorter path, and clients cannot mix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from abel.datasets import Problem
from abel.encode import ROLES, TOKENS, Observation
from abel.env import Env, EnvConfig
from abel.equation import Equation
from abel.learner.records import RunError
from abel.operations import SUBSTITUTIONS
from abel.parse import ParseError
from abel.playground import shown
from abel.report.sets import SolutionSet
from abel.roots import all_roots, answer_of, as_told, check_roots, why_no_root
from abel.search import Oracle, Policy, Solution, beam
from abel.transitions import State, TransitionCache

MOST_STEPS = 64  # of a path: a person may go on longer than an episode of training
LEFT, TOP, COLUMN, ROW = 40, 24, 76, 58  # pixels of the tree: its edges, between nodes
CACHE = 3_000  # forms, about 20 kB each; how many are remembered changes no answer
WIDTHS = {"greedy": 1, "beam": 10}
UNTRAINED = ", untrained"  # of a name: the same network before its training


class Refused(ValueError):
    """A question that has no answer; the message is for the person who asked."""


@dataclass(frozen=True)
class Mind:
    """An agent, and the environment that it knows."""

    policy: Policy
    config: EnvConfig
    cache: TransitionCache
    max_steps: int  # of the episodes that it was trained on


@dataclass
class Place:
    """Where a path of actions has led."""

    env: Env
    path: tuple[tuple, ...]  # as a `Solution` has it

    @property
    def equation(self) -> Equation:
        return self.env.equation

    @property
    def observations(self) -> list[Observation]:
        return [observation for observation, *_ in self.path]

    def solution(self) -> Solution:
        env = self.env
        reached = (env.root, env.verdict) if env.solved else (None, None)
        return Solution(env.equation, env.solved, *reached, self.path, 0)


def new_mind(path: Path, trained: bool) -> Mind:
    """The agent of a run, or the network with which the training of that run began."""
    import torch  # this and the learner only where an agent thinks

    from train_ppo import Agent, as_policy, load_agent

    torch.set_num_threads(1)
    agent, args, _ = load_agent(path)
    if not trained:
        torch.manual_seed(args.seed)
        agent = Agent(args.net).eval()
    # A person may look at what training ends: a root that is refuted, an equation seen before.
    config = replace(
        args.env, end_on_refuted=False, end_on_revisit=False, max_steps=MOST_STEPS,
        cache_size=CACHE,
    )  # fmt: skip
    return Mind(as_policy(agent), config, config.new_cache(), args.env.max_steps)


class Thinker:
    """Answers questions about the agents of some runs."""

    def __init__(self, runs: Mapping[str, Path], limit: float) -> None:
        self.runs, self.limit = runs, limit  # the limit is SymPy's, in seconds
        self.minds: dict[str, Mind] = {}

    def mind(self, name: str) -> Mind:
        """The agent of this name, loaded when it is first asked for."""
        if name not in self.minds:
            run = name.removesuffix(UNTRAINED)
            if run not in self.runs:
                raise Refused(f"there is no agent {name!r} here")
            try:
                self.minds[name] = new_mind(self.runs[run], trained=run == name)
            except (RunError, OSError) as error:
                raise Refused(" ".join(str(error).split())) from None
        return self.minds[name]

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer as plain data; Refused if there is none."""
        mind = self.mind(question["run"])
        try:
            equation = shown.read(question["equation"], question.get("unknown"))
            place = walk(mind, equation, question["path"])
        except ParseError as error:
            raise Refused(str(error)) from None
        return ANSWERS[question["ask"]](self, mind, place, question)


def walk(mind: Mind, equation: Equation, path: list[int]) -> Place:
    """From the equation along the actions of a path."""
    env = Env([equation], mind.config, cache=mind.cache)
    env.reset(options={"index": 0})
    steps = []
    for number, index in enumerate(path, 1):
        before = env.observation
        if env.ended or not 0 <= index < len(before.actions):
            raise Refused(f"step {number}: there is no action {index} here")
        env.step(index)
        _, form, transform = env.path[-1]
        steps.append((before, index, form, transform))
    return Place(env, tuple(steps))


# ---- Answers ----


def look(thinker: Thinker, mind: Mind, place: Place, question: dict[str, Any]) -> dict[str, Any]:
    """The steps so far, and what the agent sees and thinks now."""
    env = place.env
    now = [] if env.ended else [env.observation]
    log_probs, values = consult(mind.policy, [*place.observations, *now])
    probabilities = [np.exp(row).tolist() for row in log_probs]
    actions = env.observation.actions if now else []
    told = shown.solution_data(env.trace(), actions)
    verdict = env.verdict if env.form.solved_form else None
    equation = env.equation
    return {
        "equation": question["equation"], "unknown": equation.unknown,
        "notes": list(equation.notes), "start": told["start"],
        "path": [index for _, index, *_ in place.path], "lines": told["lines"],
        "steps": steps_of(place, probabilities, values), "text": equation.told(str(env.form)),
        "goals": len(env.state.goals), "most_steps": mind.config.max_steps,
        "value": float(values[-1]) if now else None,
        "actions": actions_of(env, told["choices"], probabilities[-1]) if now else [],
        "tree": tree_of(env.observation),
        "solved": env.solved, "ended": env.ended,
        "verdict": (
            None if verdict is None else shown.verdict_data(equation, env.root, verdict)
        ),
    }  # fmt: skip


def consult(policy: Policy, seen: list[Observation]) -> tuple[list[np.ndarray], np.ndarray]:
    """What the policy says of observations; of a state without a legal action nothing."""
    asked = [observation for observation in seen if observation.actions]
    if not asked:
        return [], np.zeros(0)
    return policy(asked)


def steps_of(
    place: Place, probabilities: list[list[float]], values: np.ndarray
) -> list[dict[str, Any]]:
    """What the agent had thought of each step."""
    return [
        {"probability": probabilities[k][index], "value": float(values[k])}
        for k, (_, index, *_) in enumerate(place.path)
    ]


def actions_of(env: Env, words: Sequence[str], probabilities: list[float]) -> list[dict[str, Any]]:
    """The legal actions in words, the most probable one first."""
    seen, rows = env.observation, env.cache.operations
    order = np.argsort(-np.array(probabilities), kind="stable").tolist()
    return [
        {
            "index": i, "words": words[i], "op": seen.actions[i].op,
            "substitutes": rows[seen.actions[i].op].kind in SUBSTITUTIONS,
            "probability": probabilities[i], "node": int(seen.action_nodes[i]),
        }
        for i in order
    ]  # fmt: skip


def tree_of(seen: Observation) -> dict[str, Any]:
    """The token tree as the network sees it, with places to draw it at."""
    places = positions(seen.parents)
    return {
        "tokens": [TOKENS[token] for token in seen.tokens],
        "roles": [ROLES[role] for role in seen.roles],
        "parents": seen.parents.tolist(), "x": places[:, 0].tolist(), "y": places[:, 1].tolist(),
    }  # fmt: skip


def positions(parents: np.ndarray) -> np.ndarray:
    """Pixels [N, 2] of a tree's nodes: leaves side by side, parents above their middle."""
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
    return np.stack([LEFT + COLUMN * places[:, 0], TOP + ROW * depths], 1)


def finish(thinker: Thinker, mind: Mind, place: Place, question: dict[str, Any]) -> dict[str, Any]:
    """Let the agent go on to the end."""
    there = finished(mind, place, question["decoder"])
    return {**look(thinker, mind, there, question), "gave_up": not there.env.ended}


def finished(mind: Mind, place: Place, decoder: str) -> Place:
    """Where a decoder gets to from here."""
    left = min(mind.max_steps, MOST_STEPS - len(place.path))
    if place.env.ended or left <= 0:
        return place
    solution = go_on(mind, place.equation, place.env.state, decoder, left)
    steps = [index for _, index, *_ in (*place.path, *solution.path)]
    return walk(mind, place.equation, steps)


def go_on(mind: Mind, equation: Equation, state: State, decoder: str, max_steps: int) -> Solution:
    config = replace(mind.config, max_steps=max_steps)
    (solution,) = beam(
        mind.policy, [equation], config, mind.cache, width=WIDTHS[decoder], value_coef=0,
        complexity_coef=0, starts=[state],
    )  # fmt: skip
    return solution


def roots(thinker: Thinker, mind: Mind, place: Place, question: dict[str, Any]) -> dict[str, Any]:
    """Every root: from the steps shown if they end in one, else from the agent's own."""
    equation = place.equation
    if not place.env.solved:
        place = finished(mind, walk(mind, equation, []), "beam")

    def decode(equation: Equation, state: State) -> Solution:
        return go_on(mind, equation, state, "greedy", mind.max_steps)

    solution = place.solution()
    problem = Problem(question["equation"], unknown=question.get("unknown"))
    config = replace(mind.config, max_steps=mind.max_steps)
    found_roots = all_roots(solution, decode, config, mind.cache)
    with Oracle(thinker.limit) as oracle:
        check = check_roots(found_roots, oracle.solution_set(equation.text))
    told = tuple(as_told(equation, root) for root in found_roots.found)
    found_roots = replace(found_roots, found=told)
    return {
        "count": found_roots.count(), "check": check.to_text(),
        "why": "" if found_roots.found else why_no_root(equation),
        "roots": [
            shown.root_data(equation, root)
            for root in (*found_roots.found, *found_roots.unproven)
        ],
        **shown.set_documents(SolutionSet(problem, solution, found_roots, check, 0.0)),
    }  # fmt: skip


def export(thinker: Thinker, mind: Mind, place: Place, question: dict[str, Any]) -> dict[str, Any]:
    """The steps as text, LaTeX and JSON."""
    env = place.env
    answer = answer_of(env.equation, env.root) if env.solved else None
    return shown.documents(env.trace(), answer)


ANSWERS: dict[str, Callable[[Thinker, Mind, Place, dict[str, Any]], dict[str, Any]]] = {
    "look": look, "finish": finish, "roots": roots, "export": export,
}  # fmt: skip
