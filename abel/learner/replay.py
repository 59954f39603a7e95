"""Solutions that the agent itself found, kept to be cloned: the paper's success-replay buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from abel.env import Env
from abel.search import Policy, look_ahead, values_of
from abel.transitions import Observation
from abel.verify import Verdict

ReplayName = Literal["none", "flat", "fresh", "shortest"]
Step = tuple[Observation, int, float]  # what was seen, done and earned


class Memory(NamedTuple):
    """A step of a solution, and the discounted return that followed it."""

    observation: Observation
    action: int
    outcome: float
    equation: int  # its index; with `before`, the actions up to here, it tells the observation
    before: tuple[int, ...]
    born: int  # the rollout that it comes from


class SuccessReplay:
    """`shortest` keeps one solution an equation, one whose root holds always before one whose root
    needs conditions; `flat` keeps the newest steps; `fresh` also drops its older half from time to
    time; `none` only counts what was solved.
    """

    def __init__(self, kind: ReplayName, size: int) -> None:
        self.kind, self.size = kind, size
        self.solutions: dict[int, list[Memory]] = {}
        self.conditional: set[int] = set()  # equations whose solution's root needs conditions
        self.steps: list[Memory] = []
        self.solved: set[int] = set()
        self.latest = 0  # the last rollout that solved another equation, or searched for one

    def add(
        self, index: int, episode: Sequence[Step], gamma: float, rollout: int, verdict: Verdict
    ) -> None:
        """Store an episode that solved equation `index`, with the verdict on its root."""
        if index not in self.solved:
            self.solved.add(index)
            self.latest = rollout
        if self.kind == "none":
            return
        outcomes = [0.0]
        for _, _, reward in reversed(episode):
            outcomes.append(reward + gamma * outcomes[-1])
        outcomes.reverse()
        before: tuple[int, ...] = ()
        memories = []
        following = [step[0] for step in episode[1:]] + [None]
        for (observation, action, _), after, outcome in zip(episode, following, outcomes):
            if observation is not after:  # a step that changed nothing teaches nothing
                memories.append(Memory(observation, action, outcome, index, before, rollout))
                before += (action,)
        if self.kind != "shortest":
            self.steps = (self.steps + memories)[-self.size :]
            return
        conditional = verdict.valid_when is not None
        if (kept := self.solutions.get(index)) is not None:
            if (index in self.conditional, len(kept)) <= (conditional, len(memories)):
                return
        self.solutions[index] = memories
        (self.conditional.add if conditional else self.conditional.discard)(index)

    def refresh(self) -> None:
        """Drop the older half."""
        self.steps = self.steps[len(self.steps) // 2 :]

    def memories(self) -> list[Memory]:
        if self.kind != "shortest":
            return self.steps
        return [memory for index in sorted(self.solutions) for memory in self.solutions[index]]

    def state_dict(self) -> dict[str, Any]:
        """Plain data: a step is told by its equation and the actions before it."""
        steps = [[*memory[1:4], list(memory.before), memory.born] for memory in self.memories()]
        return {
            "solved": sorted(self.solved), "conditional": sorted(self.conditional),
            "latest": self.latest, "steps": steps,
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any], env: Env) -> None:
        """Undo `state_dict`, deriving the observations anew in `env`."""
        self.solved, self.latest = set(state["solved"]), state["latest"]
        self.conditional = set(state["conditional"])
        for action, outcome, index, before, born in state["steps"]:
            retrace(env, index, before)
            memory = Memory(env.observation, action, outcome, index, tuple(before), born)
            kept = self.steps if self.kind != "shortest" else self.solutions.setdefault(index, [])
            kept.append(memory)


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


def imitation_weights(outcomes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """max(return - value, 0)^2: steps that turned out better than expected; even if none did."""
    weights = np.maximum(outcomes - values, 0.0) ** 2
    return weights if weights.sum() > 0 else np.ones_like(weights)


def replay_weights(memories: Sequence[Memory], policy: Policy | None) -> np.ndarray:
    """How likely each stored step is to be cloned, under the policy's values; without one, even."""
    if policy is None or not memories:
        return np.ones(len(memories))
    values = values_of(policy, [memory.observation for memory in memories])
    return imitation_weights(np.array([memory.outcome for memory in memories]), values)


def search_unsolved(
    replay: SuccessReplay, policy: Policy, like: Env, *, count: int, width: int, gamma: float,
    rollout: int, rng: np.random.Generator,
) -> int:  # fmt: skip
    """Look ahead on `count` equations not solved yet; solutions go into the buffer.

    Returns the environment transitions it took: they count as training steps.
    """
    replay.latest = rollout
    unsolved = [i for i in range(len(like.equations)) if i not in replay.solved]
    if not unsolved:
        return 0
    some = rng.choice(unsolved, min(count, len(unsolved)), replace=False).tolist()
    problems = [like.equations[i] for i in some]
    found = look_ahead(policy, problems, like.config, like.cache, rng, width=width)
    scratch = Env(like.equations, like.config, cache=like.cache)  # `like` is in an episode
    for index, solution in zip(some, found):
        if solution.solved:
            path = [action for _, action, _, _ in solution.path]
            steps = retrace(scratch, index, path)
            # Decoders may pass an unproved x = r, where an episode ends.
            if scratch.solved and scratch.verdict:
                replay.add(index, steps, gamma, rollout, scratch.verdict)
    return sum(solution.transitions for solution in found)
