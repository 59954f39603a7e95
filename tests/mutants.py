"""Mutants of the learner and of the decoders: small errors, each of which some fast test must find.

    python -m tests.mutants                                     # minutes; exit 1 under 95 % killed
    python -m tests.mutants --json runs/results/mutants.json
    python -m tests.mutants --only "entropy"                    # those whose name has the word

Each mutant replaces a text that occurs once in its file, in a copy of the project, and the fast
tests of that file run until the first failure.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from abel.learner.records import provenance, write_json

ROOT = Path(__file__).parent.parent
NEEDED = 0.95  # share of the mutants that must die
LIMIT = 300  # seconds after which a mutant counts as killed: it hangs


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str


LEARNER_TESTS = ("ppo_loss", "masking", "curriculum", "replay", "treemlp", "golden", "loop")
SEARCH_TESTS = ("beam", "search")


def in_file(file: str, *changes: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(name, file, old, new) for name, old, new in changes]


MUTANTS = [
    *in_file(
        "train_ppo.py",
        # Masking and the network.
        ("masked actions allowed", "logits.masked_fill(~mask, -torch.inf)", "logits.clone()"),
        ("entropy's own sign", "return -torch.zeros(num_graphs)", "return torch.zeros(num_graphs)"),
        ("normalization dropped", "neighbor_sums(norm(h), batch", "neighbor_sums(h, batch"),
        ("skip connection dropped", "h = h + update(", "h = update("),
        ("no state of the root", "[pooled, h[batch.root],", "[pooled, h[batch.left],"),
        ("no context in the pointer head", "self.context(graph)", "0 * self.context(graph)"),
        # Behavior.
        ("no epsilon ladder", "epsilon**ladder if spread else epsilon", "epsilon"),
        ("epsilon 0", "+ e / ways[out.which]", "+ 0 / ways[out.which]"),
        (
            "epsilons of solved and unsolved swapped",
            "np.where(solved, args.epsilon_solved, args.epsilon_unsolved)",
            "np.where(solved, args.epsilon_unsolved, args.epsilon_solved)",
        ),
        ("exploration uniform over actions", "kinds[state] * counts[kind]", "sizes[state]"),
        ("policy keeps all its weight", "* (1 - e) + e /", "+ e /"),
        (
            "behavior's probability is the policy's",
            "p[np.arange(len(p)), actions] / total[:, -1]",
            "policy[out.which, actions]",
        ),
        ("ladder from the start", "min(args.epsilon_start, len(counts.num_solved))", "0"),
        # Advantages.
        ("gae lambda ignored", "gamma * lam * ~ended[t] * trace", "gamma * ~ended[t] * trace"),
        ("trace runs through the end", "gamma * lam * ~ended[t] * trace", "gamma * lam * trace"),
        ("bootstrap through termination", "next_values[t] * ~terminated[t]", "next_values[t]"),
        (
            "gamma ignored in gae",
            "rewards[t] + gamma * next_values[t]",
            "rewards[t] + next_values[t]",
        ),
        ("truncated without its own last value", "if len(truncated):", "if False:"),
        (
            "truncated ones take the first's value",
            "rollout.successors[i] for i in",
            "rollout.successors[0] for i in",
        ),
        # Losses.
        (
            "ratio unclipped",
            "clipped = ratio.clamp(1 - clip_coef, 1 + clip_coef)",
            "clipped = ratio",
        ),
        ("optimistic clipping", "return torch.max(-advantages", "return torch.min(-advantages"),
        ("value loss sign", "return 0.5 * ((values", "return -0.5 * ((values"),
        ("value loss not halved", "return 0.5 * ((values", "return 1.0 * ((values"),
        ("cloning loss sign", "return -log_prob.mean()", "return log_prob.mean()"),
        ("advantages not divided by deviation", " / (advantage.std() + 1e-8)", " / 1.0"),
        ("advantages not centered", "(advantage - advantage.mean()) /", "advantage /"),
        (
            "returns without the value",
            "returns = advantage + rollout",
            "returns = advantage + 0 * rollout",
        ),
        (
            "kl of the behavior",
            "collecting = rollout.policy_log_probs",
            "collecting = rollout.log_probs",
        ),
        ("kl without its correction", "((ratio - 1) - log_ratio).mean()", "(ratio - 1).mean()"),
        # The loop.
        (
            "entropy bonus turned",
            'loss - ent_coef * losses["entropy"]',
            'loss + ent_coef * losses["entropy"]',
        ),
        ("value loss dropped", "args.vf_coef * losses", "0 * losses"),
        ("cloning loss times 0", "args.replay_coef * ramp * losses", "0 * losses"),
        ("no ramp of cloning", "min(len(replay.solved) / args.replay_ramp, 1.0) if", "1.0 if"),
        ("learning rate 0", '["lr"] = learning_rate', '["lr"] = 0.0'),
        ("learning rate not annealed", "(1 - 0.9 * done * args.anneal_lr)", "1"),
        ("entropy weight not annealed", "(args.ent_coef_final - args.ent_coef) * done", "0"),
        (
            "gradient clipping dropped",
            "agent.parameters(), args.max_grad_norm",
            "agent.parameters(), 1e9",
        ),
        ("gradients add up", "optimizer.zero_grad()", "pass"),
        ("no shuffling", "rng.permutation(args.batch_size)", "np.arange(args.batch_size)"),
        ("one epoch", "in range(args.num_epochs)", "in range(1)"),
        ("cloned steps are the rollout's", "args.batch_size + picked", "picked"),
        ("one cloned step per minibatch", "int(np.ceil(args.replay_share * len(chosen)))", "1"),
        ("no self-imitation", "policy if args.self_imitation else None", "None"),
        ("loss may be infinite", "if not torch.isfinite(loss + norm):", "if False:"),
        ("target kl ignored", "if args.target_kl is not None and", "if False and"),
        ("steps not counted", "at.step += args.batch_size", "at.step += 1 + args.batch_size"),
        ("search never starts", "if args.search_equations:", "if False:"),
        (
            "best checkpoint is the worst",
            "best, at.best_score = score >= ",
            "best, at.best_score = score < ",
        ),
        # Success replay.
        (
            "replay weights even",
            "np.maximum(outcomes - values, 0.0) ** 2",
            "np.ones_like(outcomes)",
        ),
        (
            "replay weights not squared",
            "np.maximum(outcomes - values, 0.0) ** 2",
            "np.maximum(outcomes - values, 0.0)",
        ),
        (
            "longest solution kept",
            "(conditional, len(memories)) < (",
            "(conditional, len(memories)) > (",
        ),
        (
            "conditions ignored",
            "conditional = episode.verdict.valid_when is not None",
            "conditional = False",
        ),
        ("flat replay unbounded", "(self.steps + memories)[-self.size :]", "self.steps + memories"),
        (
            "newer half dropped",
            "self.steps[len(self.steps) // 2 :]",
            "self.steps[: len(self.steps) // 2]",
        ),
        ("every kind is refreshed", 'if self.kind == "fresh" and rollout', "if rollout"),
        ("latest not noted", "self.latest = rollout", "self.latest = 0"),
        ("unsolved episodes stored", "            if episode.solved:", "            if True:"),
        # The curriculum.
        (
            "curriculum weights even",
            "weights = curricula.inverse_weights(counts.num_solved)",
            "weights = np.ones(len(counts.class_of)) / len(counts.class_of)",
        ),
        ("frontier is what was never solved", "counts.known[", "~counts.known["),
        ("draw ignores the total", "rng.random(count) * cumulative[-1]", "rng.random(count)"),
        (
            "solves not counted",
            "counts.record(episode.equation, episode.solved)",
            "counts.record(episode.equation, False)",
        ),
    ),
    *in_file(
        "abel/learner/replay.py",
        ("returns not discounted", "reward + gamma * outcomes[-1]", "reward + outcomes[-1]"),
        ("idle steps cloned", "if not same(observation, after):", "if True:"),
        ("idle by identity", "return observation.actions == after.actions and", "return False and"),
        ("search wakes the solved", "flatnonzero(~solved &", "flatnonzero(solved &"),
        ("unproved search results kept", "if scratch.solved and scratch.verdict:", "if True:"),
        ("before forgotten", "before += (action,)", "before += ()"),
    ),
    *in_file(
        "abel/learner/curriculum.py",
        ("no half for the frontier", "if 0 < share < 0.5:", "if False:"),
        (
            "failures count as solves",
            "self.num_solved[index] += solved",
            "self.num_solved[index] += 1",
        ),
        ("fast rate as slow as the slow one", "self.fast[c] += 0.05", "self.fast[c] += 0.005"),
        ("visits not counted", "self.visits[c] += 1", "self.visits[c] += 0"),
    ),
    *in_file(
        "abel/paper/curricula.py",
        ("ucb without exploration", "progress + beta * np.sqrt", "progress + 0 * np.sqrt"),
        ("lp without a floor", "floor / len(progress) + (1 - floor) * share", "share"),
        ("large classes drown small ones", " / np.bincount(counts.class_of)", ""),
        ("thompson takes the mastered", "np.argmax(rate * (1 - rate))", "np.argmax(rate)"),
    ),
    *in_file(
        "abel/learner/batch.py",
        ("merged by identity", "keys[id(o)] = content(o)", "keys[id(o)] = str(id(o)).encode()"),
        ("mean pool is a sum", "sums(h) / batch.num_nodes[:, None]", "sums(h)"),
        (
            "messages to oneself",
            "Bags(child, parent, len(first)",
            "Bags(parent, parent, len(first)",
        ),
    ),
    *in_file(
        "abel/learner/forward.py",
        ("nodes shared whatever their token", "scrambled(below + own)", "scrambled(below)"),
        ("tokens named like states", "tokens + (1 << 32)", "tokens + 1"),
        ("children of every copy", "first[after[parent]] == parent", "parent >= 0"),
        ("actions past the cap allowed", "net.cap + 1 if", "net.cap if"),
    ),
    *in_file(
        "abel/paper/encoders.py",
        ("relu lets every gradient through", "grad = below(grad, h, 0)", "grad = grad + 0"),
        ("rounds forget their bias", "bias_grad += grad.sum(0)", "pass"),
    ),
    *in_file(
        "abel/learner/rollout.py",
        (
            "successor is the next episode's",
            'info.get("final_observation", following[n])',
            "following[n]",
        ),
        (
            "episodes run on",
            "self.episodes[n], self.indices[n] = [], info",
            "self.indices[n] = info",
        ),
    ),
    *in_file(
        "abel/search/decode.py",
        ("beam's value term times 0", "value_coef * value", "0 * value"),
        (
            "beam likes the complex",
            "- complexity_coef * node.form.complexity",
            "+ complexity_coef * node.form.complexity",
        ),
        ("beam of one", "key=lambda n: -score[id(n)])[:width]", "key=lambda n: -score[id(n)])[:1]"),
        ("beam keeps the worst", "key=lambda n: -score[id(n)])", "key=lambda n: score[id(n)])"),
        ("least probable first", "np.argsort(-totals", "np.argsort(totals"),
        (
            "paths in circles",
            "if state.key in found or (state.key in node.seen and not loops):",
            "if state.key in found:",
        ),
        ("forms kept twice", "if state.key in found or (", "if ("),
    ),
    *in_file(
        "abel/search/ahead.py",
        (
            "look ahead likes the large",
            "config.complexity_coef * sizes - values",
            "-config.complexity_coef * sizes - values",
        ),
        (
            "look ahead past the episode",
            "if solution.solved and len(start.path + solution.path) <= config.max_steps",
            "if solution.solved",
        ),
    ),
    *in_file(
        "abel/search/blind.py",
        ("A* without its guess", "depth + weight * after.form.complexity", "depth"),
        ("search past the episode's length", "if depth < config.max_steps:", "if True:"),
        (
            "budget off by one",
            "while frontier and expansions < budget and",
            "while frontier and expansions <= budget and",
        ),
    ),
]


def copy_project(to: Path) -> None:
    """What the tests need: code as copies, data as links."""
    for name in ("abel", "tests"):
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.suffix in (".py", ".cfg", ".toml", ".md"):
            shutil.copy(path, to)
        elif path.is_dir() and not path.name.startswith(".") and path.name not in ("abel", "tests"):
            (to / path.name).symlink_to(path)


def survives(mutant: Mutant | None) -> bool:
    """Whether the fast tests pass with it; with None, whether they pass at all."""
    tests = SEARCH_TESTS if mutant and "search" in mutant.file else LEARNER_TESTS
    if mutant is None:
        tests = LEARNER_TESTS + SEARCH_TESTS
    with tempfile.TemporaryDirectory() as folder:
        copy_project(Path(folder))
        if mutant:
            path = Path(folder) / mutant.file
            text = path.read_text(encoding="utf-8")
            assert text.count(mutant.old) == 1, f"'{mutant.old}' is not once in {mutant.file}"
            path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        files = [f"tests/test_{name}.py" for name in tests]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *files]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": folder}
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, timeout=LIMIT
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--json", default="", help="file to write the score to")
    parser.add_argument("--only", default="", help="only mutants whose name has this in it")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried side by side")
    args = parser.parse_args(argv)
    chosen = [mutant for mutant in MUTANTS if args.only in mutant.name]
    if not survives(None):
        print("the tests fail without a mutant already")
        return 2
    with ThreadPoolExecutor(args.jobs) as pool:
        alive = []
        for mutant, lives in zip(chosen, pool.map(survives, chosen)):
            print(
                f"{'SURVIVED' if lives else 'killed  '}  {mutant.file}: {mutant.name}", flush=True
            )
            alive += [f"{mutant.file}: {mutant.name}"] * lives
    killed = len(chosen) - len(alive)
    print(f"{killed} of {len(chosen)} killed ({killed / max(len(chosen), 1):.1%})")
    if args.json:
        found = {"mutants": len(chosen), "killed": killed, "survived": alive}
        write_json(Path(args.json), {**found, "provenance": provenance(argv, [])})
    return 0 if killed >= NEEDED * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
