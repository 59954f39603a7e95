"""Around success replay, which is in train_ppo.py: steps, storing them, and searching for more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from abel.encode import Observation
from abel.env import Env
from abel.learner.batch import content
from abel.learner.curriculum import SolveCounts
from abel.search import Policy, look_ahead
from abel.verify import Verdict

Step = tuple[Observation, int, float]  # what was seen, done and earned
MAX_VIEWS = 4096  # observations of stored steps that are kept as one object where they look alike
SEARCH_WIDTH = 3  # of the beam that goes on from the most promising states


class Finished(NamedTuple):
    """An episode that has ended."""

    equation: int  # its index
    steps: list[Step]
    solved: bool
    verdict: Verdict | None
    last: Observation | None = None  # what was seen at its end


class Memory(NamedTuple):
    """A step of a solution, and the discounted return that followed it."""

    observation: Observation
    action: int
    outcome: float
    equation: int  # its index; with `before`, the actions up to here, it tells the observation
    before: tuple[int, ...]
    born: int  # the rollout that it comes from


def same(observation: Observation, after: Observation | None) -> bool:
    """Whether a step changed nothing: the same view, and the same actions on the same terms."""
    if observation is after or after is None:
        return after is not None
    # An evicted form that comes back is another object.
    return observation.actions == after.actions and content(observation) == content(after)


def as_memories(
    episode: Finished, gamma: float, rollout: int, views: dict[bytes, Observation]
) -> list[Memory]:
    """The steps of an episode with their returns; one that changed nothing teaches nothing and is
    left out. Observations that look like one of the `views` are replaced by it.
    """
    if len(views) > MAX_VIEWS:
        views.clear()
    steps = episode.steps
    outcomes = [0.0]
    for _, _, reward in reversed(steps):
        outcomes.append(reward + gamma * outcomes[-1])
    outcomes.reverse()
    before: tuple[int, ...] = ()
    memories = []
    following = [*(step[0] for step in steps[1:]), episode.last]
    for (observation, action, _), after, outcome in zip(steps, following, outcomes):
        if not same(observation, after):
            seen = views.setdefault(content(observation), observation)
            memories.append(Memory(seen, action, outcome, episode.equation, before, rollout))
            before += (action,)
    return memories


def to_plain(memories: Sequence[Memory]) -> list[list]:
    """Memories as plain data: a step is told by its equation and the actions before it."""
    return [[*memory[1:4], list(memory.before), memory.born] for memory in memories]


def from_plain(stored: Iterable[Sequence], env: Env) -> list[Memory]:
    """Undo `to_plain`, deriving the observations anew in `env`."""
    memories = []
    for action, outcome, index, before, born in stored:
        retrace(env, index, before)
        memories.append(Memory(env.observation, action, outcome, index, tuple(before), born))
    return memories


def retrace(env: Env, index: int, actions: Sequence[int]) -> list[Step]:
    """Bring `env` to where these actions lead from equation `index`, or to where the episode ends
    before; the steps on the way.
    """
    env.reset(options={"index": index})
    steps: list[Step] = []
    for action in actions:
        if env.ended:
            break
        before = env.observation
        _, reward, _, _, _ = env.step(action)
        steps.append((before, action, float(np.float32(reward))))  # as a rollout stores it
    return steps


def to_search(replay: Any, counts: SolveCounts, rollout: int, period: int) -> np.ndarray:
    """The equations to look ahead on, if it is time: every `period` rollouts those of classes never
    solved, and where there are none all unsolved ones, once nothing else was solved for as long.
    """
    solved = np.isin(counts.everything, list(replay.solved))
    unknown = ~np.isin(counts.class_of, counts.class_of[solved])
    if unknown.any():
        return np.flatnonzero(unknown & (rollout % period == 0))
    return np.flatnonzero(~solved & (rollout - replay.latest >= period))


def search_unsolved(
    replay: Any, policy: Policy, like: Env, counts: SolveCounts, count: int, period: int,
    gamma: float, rollout: int, rng: np.random.Generator,
) -> int:  # fmt: skip
    """Look ahead on `count` unsolved equations, if it is time; solutions go into the replay.

    Returns the environment transitions it took: they count as training steps.
    """
    unsolved = to_search(replay, counts, rollout, period)
    if not len(unsolved):
        return 0
    replay.latest = rollout
    some = rng.choice(unsolved, min(count, len(unsolved)), replace=False).tolist()
    problems = [like.equations[i] for i in some]
    found = look_ahead(policy, problems, like.config, like.cache, rng, width=SEARCH_WIDTH)
    scratch = Env(like.equations, like.config, cache=like.cache)  # `like` is in an episode
    for index, solution in zip(some, found):
        if solution.solved:
            steps = retrace(scratch, index, [action for _, action, _, _ in solution.path])
            # Decoders may pass an unproved x = r, where an episode ends.
            if scratch.solved and scratch.verdict:
                ended = Finished(index, steps, True, scratch.verdict, scratch.observation)
                replay.add(ended, gamma, rollout)
    return sum(solution.transitions for solution in found)


class StoredReplay:
    """A success replay as a checkpoint holds it; `env` derives its observations anew."""

    def __init__(self, replay: Any, env: Env) -> None:
        self.replay, self.env = replay, env

    def state_dict(self) -> dict[str, Any]:
        replay = self.replay
        return {
            "solved": sorted(replay.solved), "conditional": sorted(replay.conditional),
            "latest": replay.latest, "steps": to_plain(replay.memories()),
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        replay = self.replay
        replay.solved, replay.latest = set(state["solved"]), state["latest"]
        replay.conditional = set(state["conditional"])
        for memory in from_plain(state["steps"], self.env):
            solution = replay.solutions.setdefault(memory.equation, [])
            (solution if replay.kind == "shortest" else replay.steps).append(memory)
