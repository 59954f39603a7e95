"""The environment: an equation, the legal steps from it, and a reward for getting to a proved
root.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

import numpy as np
from sympy import Expr

from abel.encode import Constants, Observation
from abel.equation import Equation
from abel.operations import OPERATIONS, Action, Generator, Operation, cov, propose
from abel.parse import parse, parse_expression
from abel.trace import Trace
from abel.transforms import Transform
from abel.transitions import Form, State, TransitionCache, advance, start_of
from abel.verify import Verdict

# Of the general substitutions those that are supplied, in place of those that are derived.
SUPPLIED: dict[str, Any] = {
    "ansatz": False, "squares": False, "shift": True, "vieta": True, "tan_half": True,
}  # fmt: skip
# What offers rows for equations from anywhere, and what the preset `world` sets.
WORLD_ROWS = ("powers", "products", "angles", "logs", "absolute")
WORLD: dict[str, Any] = dict.fromkeys(WORLD_ROWS, True)
MAX_DRAWS = 1000  # of equations, until one leaves something to do


@dataclass(frozen=True)
class EnvConfig:
    """Actions, encoding, episode end and reward of the environment."""

    cov: Literal["cas", "learned", "off"] = "cas"
    """who finds changes of variables: rules, the learned generator, or nobody: not offered"""
    cbrt: bool = True
    """offer the cube root"""
    relabel: bool = True
    """offer relabeling of constants"""
    tan: bool = False
    """offer tan and atan"""
    branches: bool = False
    """offer pi - asin(c) for sin(u) = c and 2*pi - acos(c) for cos(u) = c beside asin and acos"""
    terms: Literal["all", "blocks"] = "all"
    """which sub-expressions are terms: all, or maximal x-free blocks undivided"""
    constants: Constants = "blocks"
    """how the observation shows constants"""
    max_cov: int = 3
    """changes of variables allowed in an episode"""
    substitutions: Literal["detector", "general"] = "detector"
    """cov alone, or in its place the general ones below and gather"""
    let: bool = True
    """with general substitutions: offer naming a sub-expression"""
    ansatz: bool = True
    """with general substitutions: offer x := x^i + h*x^j, with h such that a term vanishes"""
    ansatz_bound: Literal[1, 2, 3] = 2
    """largest exponent in these forms, up or down"""
    squares: bool = True
    """with general substitutions: offer to write a quartic as a difference of squares"""
    shift: bool = False
    """with general substitutions: supply the removal of a polynomial's next-to-leading term"""
    vieta: bool = False
    """with general substitutions: supply x := x - p/(n*x)"""
    tan_half: bool = False
    """with general substitutions: supply x := 2*atan(x)"""
    lambert: bool = True
    """with general substitutions: offer the inverse of u*exp(u)"""
    resolvent: bool = False
    """with general substitutions: supply a cubic by a root of which a quartic splits"""
    powers: bool = False
    """offer to undo powers of any exponent, to name common roots and to equate exponents"""
    products: bool = False
    """offer to factor, and to set a factor of a product to 0"""
    angles: bool = False
    """offer to expand angles, and to write two sines or cosines as a product"""
    logs: bool = False
    """offer to split logarithms of products and powers, and to undo LambertW"""
    absolute: bool = False
    """offer to take what is inside an absolute value to be positive or negative"""
    max_changes: int = 6
    """general substitutions allowed in an episode"""
    max_goals: int = 3
    """sub-expressions named and not solved for yet, at the most"""
    max_steps: int = 20
    """steps after which an episode is truncated"""
    solved_reward: float = 1.0
    """reward of a proved root"""
    step_cost: float = 0.01
    """taken from the reward at every step"""
    complexity_coef: float = 0.01
    """reward for each node or edge that a step removes; 1 is the paper's, 0 is sparse"""
    conditional_penalty: float = 0.0
    """taken from the reward of a root that is proved under conditions on the letters only"""
    repeat_penalty: float = 0.0
    """the paper's action-diversity penalty alpha: taken when an action repeats the one before"""
    refuted_penalty: float = 0.0
    """taken when x = r is reached and r is not proved"""
    end_on_refuted: bool = False
    """end the episode at an x = r that is not proved, and take its complexity rewards back"""
    revisit_penalty: float = 0.0
    """taken when a step leads to a form that the episode has seen"""
    end_on_revisit: bool = False
    """end the episode when a step leads to a form that it has seen"""
    cache_size: int = 30_000
    """forms remembered with their successors, about 20 kB each"""

    def __post_init__(self) -> None:
        if isinstance(self.cov, bool):
            object.__setattr__(self, "cov", "cas" if self.cov else "off")
        for name, low in (
            ("max_cov", 0), ("max_changes", 0), ("max_goals", 0), ("max_steps", 1),
            ("cache_size", 2),
        ):  # fmt: skip
            if getattr(self, name) < low:
                raise ValueError(
                    f"EnvConfig.{name} must be at least {low}, got {getattr(self, name)}"
                )
        for name, hint in get_type_hints(EnvConfig).items():
            known, got = get_args(hint), getattr(self, name)
            if get_origin(hint) is Literal and got not in known:
                raise ValueError(f"EnvConfig.{name} must be one of {', '.join(known)}, got {got!r}")

    @property
    def cap(self) -> int:
        """Substitutions of any kind allowed in an episode."""
        return self.max_changes if self.general else self.max_cov

    @property
    def general(self) -> bool:
        """Whether the agent chooses its own substitutions."""
        return self.substitutions == "general"

    @property
    def ansatz_1(self) -> bool:
        """Whether forms with exponents up to 1 are offered."""
        return self.ansatz

    @property
    def ansatz_2(self) -> bool:
        return self.ansatz and self.ansatz_bound >= 2

    @property
    def ansatz_3(self) -> bool:
        return self.ansatz and self.ansatz_bound >= 3

    @property
    def detector(self) -> bool:
        """Whether `cov` finds them for it."""
        return self.substitutions == "detector"

    def offers(self, row: Operation) -> bool:
        """Whether the operation is among the actions at all, legal or not."""
        return all(getattr(self, flag) not in (False, "off") for flag in row.flags)

    def generator(self) -> Generator:
        """Who finds changes of variables."""
        if self.cov != "learned":
            return propose
        from abel.picov.network import load_generator  # torch comes with it, so only on demand

        return load_generator()

    def new_cache(self, generator: Generator | None = None) -> TransitionCache:
        rows = {name: row for name, row in OPERATIONS.items() if self.offers(row)}
        if "cov" in rows:
            rows["cov"] = cov(generator or self.generator())
        return TransitionCache(
            operations=rows,
            blocks=self.terms == "blocks",
            constants=self.constants,
            capacity=self.cache_size,
        )


def look(state: State, config: EnvConfig, cache: TransitionCache) -> Observation:
    """What an agent sees in a state, with the actions that its substitutions so far leave legal."""
    changes_left = state.num_changes < config.cap
    seen = cache.observe(state.form, changes_left, len(state.goals) < config.max_goals)
    waiting = state.waiting
    return without_circles(seen, state.form, waiting, cache) if waiting else seen


def without_circles(
    seen: Observation, form: Form, waiting: set[tuple], cache: TransitionCache
) -> Observation:
    """The observation without the actions that open an equation which waits already."""

    def new(action: Action) -> bool:
        opens = cache.operations[action.op].opens
        return opens is None or opens(form.lhs, form.rhs, action.term) not in waiting

    return seen.only([new(action) for action in seen.actions])


class Env:
    """Solve an equation for x, one algebraic step at a time.

    State
        The current equation and a stack of transforms: relabelings, changes of variables, and
        goals. With a goal open, reaching `x = r` goes on with the goal's equation, r filled in. The
        original equation never changes: every root is carried back to it and checked against it.
    Actions
        The index of a legal action in `observation.actions`; `find` gives the index of a named one.
    Reward
        Computed in `step` alone, from the coefficients in `EnvConfig`.
    Episode end
        Terminated when a root is proved or no action is legal, and where the config says so at a
        refuted root or a revisited form; truncated after `max_steps`. An equation that reads x = r
        as it is given, with r proved, is over at `reset`.
    Seeding
        `reset(seed=...)` fixes which problems come in which order; all else is deterministic.
    """

    def __init__(
        self,
        problems: Sequence[Any],
        config: EnvConfig | None = None,
        *,
        cache: TransitionCache | None = None,
        generator: Generator | None = None,
    ) -> None:
        if isinstance(problems, str | Equation):
            raise TypeError("Env takes a list of equations; for a single one write Env([equation])")
        self.equations = [as_equation(problem) for problem in problems]
        if not self.equations:
            raise ValueError("Env needs at least one equation")
        self.config = EnvConfig() if config is None else config
        if not isinstance(self.config, EnvConfig):
            raise TypeError(f"config must be an EnvConfig, got {type(config).__name__}")
        self.cache = self.config.new_cache(generator) if cache is None else cache
        self.rng = random.Random(0)
        self.ended = True

    # ---- Episode ----

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; `options` may name the problem by `index` or give an `equation`."""
        options = dict(options or {})
        index, equation = options.pop("index", None), options.pop("equation", None)
        if options:
            raise ValueError(f"unknown reset options {sorted(options)}; known: index, equation")
        if equation is not None:
            equation = as_equation(equation)
        elif index is not None and not 0 <= index < len(self.equations):
            raise IndexError(f"no problem {index}: this environment has {len(self.equations)}")
        if seed is not None:
            self.rng = random.Random(seed)
        if equation is None:
            index = self.rng.randrange(len(self.equations)) if index is None else index
            equation = self.equations[index]
        self.equation: Equation = equation
        self.state = start_of(equation, self.cache)
        self.path: list[tuple[Action, Form, Transform | None]] = []
        self.verdict: Verdict | None = None
        self.root: Expr | None = None
        if self.form.solved_form:  # it was given as x = r
            self.root = self.form.rhs
            self.verdict = self.cache.verdict(equation, self.root)
        self.visited = {self.state.key}
        self.shaping = 0.0
        self.observation: Observation = look(self.state, self.config, self.cache)
        self.ended = self.solved or not self.observation.actions
        return self.observation, {"index": index, "solved": self.solved}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply the legal action with this index."""
        actions = self.observation.actions if not self.ended else ()
        if not 0 <= action < len(actions):
            self.explain(action)
        config, before, chosen = self.config, self.form, actions[action]
        before.stamp = self.cache.stamp
        self.state, transform = advance(self.state, chosen, self.cache)
        form, key = self.form, self.state.key

        shaping = config.complexity_coef * (before.complexity - form.complexity)
        reward = shaping - config.step_cost
        self.shaping += shaping
        if config.repeat_penalty and self.path and self.path[-1][0] == chosen:
            reward -= config.repeat_penalty
        self.path.append((chosen, form, transform))
        terminated = False
        info: dict[str, Any] = {}
        if form.solved_form:
            self.root, self.verdict = self.cache.judge(self.equation, self.state)
            info["verdict"] = self.verdict
            if self.verdict:
                reward += config.solved_reward
                if self.verdict.valid_when is not None:
                    reward -= config.conditional_penalty
                terminated = True
            else:
                reward -= config.refuted_penalty
                if config.end_on_refuted:
                    reward -= self.shaping
                    terminated = True
        if key in self.visited:
            reward -= config.revisit_penalty
            terminated = terminated or config.end_on_revisit
        else:
            self.visited.add(key)
        self.observation = observation = look(self.state, config, self.cache)
        if not observation.actions:
            terminated = True
        truncated = not terminated and len(self.path) >= config.max_steps
        if terminated or truncated:
            self.ended = True
            info["solved"] = self.solved
        return observation, reward, terminated, truncated, info

    def explain(self, action: int) -> NoReturn:
        """Say why an action cannot be taken."""
        if self.ended:
            raise RuntimeError("the episode is over (or never began): call reset() first")
        raise IndexError(
            f"action {action} is not legal: '{self.form}' has legal actions"
            f" 0 to {len(self.observation.actions) - 1}"
        )

    # ---- Looking at it ----

    @property
    def solved(self) -> bool:
        """Whether the current equation is `x = r` with r proved in the original equation."""
        return bool(self.verdict) and self.form.solved_form

    @property
    def form(self) -> Form:
        """The current equation."""
        return self.state.form

    @property
    def actions(self) -> tuple[Action, ...]:
        """The legal actions of the current state."""
        return self.observation.actions

    def find(self, op: str, term: Any = None) -> int:
        """The index of a legal action, by name and by its term (an expression or text)."""
        if op not in OPERATIONS:
            raise ValueError(f"unknown operation {op!r}; known: {', '.join(OPERATIONS)}")
        wanted = Action(op, parse_expression(term) if isinstance(term, str) else term)
        same = [(i, a) for i, a in enumerate(self.actions) if a.op == op or a.op == f"{op} {term}"]
        for index, action in same:
            if action == wanted:
                return index
        # ("mul", -1), and letters from a relabeling, which are no plain symbols.
        for index, action in same:
            if str(action) == str(wanted):
                return index
        raise ValueError(f"'{wanted}' is not legal in '{self.form}'")

    def trace(self) -> Trace:
        """The episode so far as a document that can be shown, stored and replayed."""
        return Trace.of(self.equation, self.path, self.root, self.verdict)


def as_equation(problem: Any) -> Equation:
    """The equation of a problem, of a text, or itself."""
    if isinstance(problem, str):
        return parse(problem)
    equation = getattr(problem, "equation", problem)
    if not isinstance(equation, Equation):
        raise TypeError(f"expected an Equation, a Problem or text, got {type(problem).__name__}")
    return equation


class SyncVectorEnv:
    """Environments stepped in turn in one process, sharing one transition cache.

    An environment whose episode ended starts the next one at once: its observation is the new
    episode's first, and the ended one's last is in `infos[i]["final_observation"]`. `choose` picks
    the next problem's index for an environment; by default each draws its own. Equations that are
    over before the first step are passed over; `solved_as_given` hears the indices of those that
    read x = r with a proved r.
    """

    def __init__(
        self,
        num_envs: int,
        problems: Sequence[Any],
        config: EnvConfig | None = None,
        *,
        generator: Generator | None = None,
        choose: Callable[[], int] | None = None,
        solved_as_given: Callable[[int], None] = lambda index: None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        first = Env(problems, config, generator=generator)
        rest = [Env(first.equations, first.config, cache=first.cache) for _ in range(num_envs - 1)]
        self.envs = [first, *rest]
        self.cache = first.cache
        self.choose, self.solved_as_given = choose, solved_as_given

    def begin(self, env: Env, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; equations that leave nothing to do are passed over."""
        for _ in range(MAX_DRAWS):
            options = {"index": self.choose()} if self.choose else None
            observation, info = env.reset(seed=seed, options=options)
            if not env.ended:
                return observation, info
            if env.solved:
                self.solved_as_given(info["index"])
            seed = None
        raise ValueError(
            f"none of {MAX_DRAWS} equations drawn leaves anything to do: '{env.equation}'"
        )

    def reset(self, *, seed: int | None = None) -> tuple[list[Observation], list[dict[str, Any]]]:
        """Begin an episode in every environment; environment i is seeded with seed + i."""
        seeds = [None if seed is None else seed + i for i in range(len(self.envs))]
        pairs = [self.begin(env, s) for env, s in zip(self.envs, seeds)]
        return [observation for observation, _ in pairs], [info for _, info in pairs]

    def step(self, actions: Sequence[int]):
        """Step every environment: observations, rewards, terminated, truncated, infos."""
        if len(actions) != len(self.envs):
            raise ValueError(
                f"{len(self.envs)} environments need as many actions, got {len(actions)}"
            )
        observations, infos = [], []
        rewards = np.zeros(len(self.envs), dtype=np.float32)
        ends = np.zeros((2, len(self.envs)), dtype=bool)
        for i, (env, action) in enumerate(zip(self.envs, actions)):
            observation, rewards[i], ends[0, i], ends[1, i], info = env.step(action)
            if env.ended:
                info["final_observation"] = observation
                observation, begun = self.begin(env)
                info["next_index"] = begun["index"]
            observations.append(observation)
            infos.append(info)
        return observations, rewards, ends[0], ends[1], infos
