"""Beyond the paper: substitutions learned from reward alone.

The generator proposes, the environment applies, and whether the episode ends with a proved root is
all it is told: expert iteration over the grammar from random weights. The rest of an episode is the
textbook solver's, which also says when to ask: where the CAS detector would find something.

How far it gets is in `runs/results/picov.json`: it finds x := c/x for quadratics without a constant
(not the paper's substitution, but it solves them), and no other. What stops it is the search: of
the 1,243 different substitutions of up to five productions over two coefficients, two depress a
monic quadratic, and sampling production by production meets one of them in 11,000 draws; general
equations need seven productions, exponentials such a one after log(x)/k.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from sympy import Expr, symbols

from abel.datasets import FAMILIES, load_dataset, textbook
from abel.env import Env, EnvConfig
from abel.equation import remember
from abel.operations import Action
from abel.picov.exactness import solved_by_script
from abel.picov.grammar import NUM, PRODUCTIONS, Example, Program, View, build, view_of
from abel.picov.network import LearnedGenerator, write_programs
from abel.picov.supervise import Args, Learner

CLONE_EVERY, CLONE_STEPS, CLONE_BATCH = 50, 10, 48
SAMPLES = 16  # programs drawn at once for a view, cautiously and boldly
PLACEHOLDERS = symbols("block:40")


class Proposer:
    """Samples substitutions for the environment, and keeps what came of them, by view."""

    def __init__(self, learner: Learner, rng: np.random.Generator, epsilon: float) -> None:
        self.learner, self.rng, self.epsilon = learner, rng, epsilon
        self.max_length = 3
        self.queues: dict[tuple, list[Program]] = {}
        self.failed: dict[tuple, set[Expr]] = {}  # with placeholders for the blocks
        self.proved: dict[tuple, Example] = {}  # the shortest program of each view
        self.asked: list[tuple[View, Program]] = []  # in this episode

    def __call__(self, lhs: Expr, rhs: Expr) -> Expr | None:
        view = view_of(lhs, rhs)
        if view is None:
            return None
        queue, failed = self.queues.setdefault(view.key, []), self.failed.get(view.key, ())
        for _ in range(4):
            while queue:
                program = queue.pop()
                if abstract(program) not in failed:
                    phi = build(program, view.blocks)
                    if phi is not None:
                        self.asked.append((view, program))
                        return phi
            for epsilon in (self.epsilon, 1.0):  # around what is known, and anywhere
                drawn = write_programs(
                    self.learner.net, view, count=SAMPLES, rng=self.rng, epsilon=epsilon,
                    max_length=self.max_length,
                )  # fmt: skip
                queue += dict.fromkeys(drawn)
            self.rng.shuffle(queue)
        return None

    def judge(self, solved: bool) -> None:
        """Only the last substitution of a failed episode is known to lead nowhere."""
        if self.asked and not solved:
            view, program = self.asked[-1]
            self.failed.setdefault(view.key, set()).add(abstract(program))
        for view, program in self.asked if solved else ():
            known = self.proved.get(view.key)
            if known is None or len(known.targets) > len(program):
                targets = tuple(equal_columns(view, column) for column in program)
                self.proved[view.key] = Example(view, targets)
        self.asked.clear()

    def clone(self) -> None:
        examples = list(self.proved.values())
        for _ in range(CLONE_STEPS if examples else 0):
            picks = self.rng.integers(len(examples), size=CLONE_BATCH)
            self.learner.step([examples[pick] for pick in picks])
        self.queues.clear()


@remember
def abstract(program: Program) -> Expr | None:
    """The substitution with names for blocks: the same for programs that come to the same."""
    return build(program, PLACEHOLDERS)


def equal_columns(view: View, column: int) -> tuple[int, ...]:
    """The column, and if it copies a block, after it those that copy an equal one."""
    if column < NUM:
        return (column,)
    block = view.blocks[column - NUM]
    equal = [NUM + j for j, other in enumerate(view.blocks) if other == block]
    return tuple(sorted(equal, key=lambda other: other != column))


def learn_from_reward(args: Args) -> dict:
    """Expert iteration: propose, let the environment prove a root or not, clone what was proved.

    Programs have at most 3 productions at first, then 5, then 7; one that failed on a view is not
    tried there again.
    """
    problems = {f: load_dataset(f, "train")[: args.equations] for f in FAMILIES}
    unsolved = {f: list(range(len(rows))) for f, rows in problems.items()}
    rng = np.random.default_rng(args.seed)
    proposer = Proposer(Learner(args), rng, args.epsilon)
    config = EnvConfig(cov="learned", terms="blocks", max_steps=9, end_on_revisit=True)
    cache = config.new_cache(proposer)
    envs = {f: Env(rows, config, cache=cache) for f, rows in problems.items()}
    found: dict[str, dict[str, int]] = {f: {} for f in FAMILIES}
    start = time.process_time()
    for episode in range(1, args.episodes + 1):
        open_families = [f for f in FAMILIES if unsolved[f]]
        if not open_families:
            break
        share = episode / args.episodes
        max_length = 3 if share < 0.05 else 5 if share < 0.6 else 7
        if max_length != proposer.max_length:  # what failed alone may do for a first of two
            proposer.max_length = max_length
            proposer.failed.clear()
        family = open_families[rng.integers(len(open_families))]
        index, env = unsolved[family][rng.integers(len(unsolved[family]))], envs[family]
        # A second substitution is of use only once the first can be trusted.
        env.config = replace(config, max_cov=1 if proposer.max_length < 7 else 2)
        env.reset(options={"index": index})
        solved = textbook.solve(env)
        for lhs, rhs, _ in env.visited:  # cov leads elsewhere when asked again
            env.cache.form(lhs, rhs).successors.pop(Action("cov"), None)
        if solved:
            unsolved[family].remove(index)
            columns = [column for _, program in proposer.asked for column in program]
            words = [PRODUCTIONS[c] if c < NUM else f"COPY{c - NUM}" for c in columns]
            found[family].setdefault(" ".join(words), episode)
        proposer.judge(solved)
        if episode % CLONE_EVERY == 0:
            proposer.clone()
        if episode % 1000 == 0:
            left = ", ".join(f"{f} {len(rows) - len(unsolved[f])}" for f, rows in problems.items())
            seconds = time.process_time() - start
            print(f"episode {episode:>6}  {seconds:5.0f} s  solved: {left}", flush=True)
    for _ in range(20):  # what was proved last has hardly been cloned
        proposer.clone()
    seconds = time.process_time() - start
    limit = 4 * args.equations
    test = [p for family in FAMILIES for p in load_dataset(family, "test")[:limit]]
    rows = solved_by_script(test, LearnedGenerator(proposer.learner.net.eval()))
    return {
        "episodes": episode,
        "cpu_seconds": round(seconds, 1),
        "train_solved": {
            f: [len(rows) - len(unsolved[f]), len(rows)] for f, rows in problems.items()
        },
        "test_solved": {family: [sum(row), len(row)] for family, row in rows.items()},
        "first_success_of_each_program": found,
    }
