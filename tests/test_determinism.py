"""The same seed gives the same run, whatever the hash seed."""

import os
import subprocess
import sys

PROGRAM = """
import hashlib, random
from abel import Env, EnvConfig
texts = ["a*x+b", "e+(a*x+b)/(c*x+d)", "a*x^2+2*c*x+5*d", "b*exp(x)+d-6*f*exp(-x)", "sin(a*x+b)+c",
         "sqrt(a*x+b)-c", "x^3+3*b*x^2+3*b^2*x+d", "c*x + d*x + a*b*x^2",
         "alpha*x + beta*gamma - delta"]
digest = hashlib.sha256()
for constants in ("blocks", "raw", "letters"):
    rng = random.Random(0)
    env = Env(texts, EnvConfig(max_steps=10, constants=constants))
    env.reset(seed=0)
    for step in range(80):
        observation, reward, terminated, truncated, info = env.step(rng.randrange(len(env.actions)))
        named = [str(action) for action in env.actions] if step % 20 == 0 else []
        digest.update(repr((str(env.form), reward, named)).encode())
        for array in observation[:6]:
            digest.update(array.tobytes())
        digest.update(repr((env.root, env.verdict)).encode())
        if terminated or truncated:
            env.reset()
print(digest.hexdigest())
"""


def test_trajectories_do_not_depend_on_the_hash_seed():
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in "01"
    ]
    digests = {run.communicate()[0] for run in runs}
    assert len(digests) == 1 and all(run.returncode == 0 for run in runs)
