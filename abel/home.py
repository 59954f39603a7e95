"""Where the files lie that are not code: the datasets, and the agents that come with them.

In a clone they are its folders `datasets/` and `runs/`. `pip install .` puts what the package needs
of them under `share/abel/` of the environment (`setup.cfg` says which files).
"""

import sys
from pathlib import Path

CODE = Path(__file__).resolve().parent.parent  # holds the package and the two scripts


def clone() -> Path | None:
    """The root of the clone that the package is imported from; None where it is installed."""
    return CODE if (CODE / "setup.cfg").is_file() else None


def home() -> Path:
    """The folder that holds `datasets/` and `runs/`.

    Of an installed package it is the nearest `share/abel` above it. That finds a virtual
    environment, a user's own folder, `--prefix` and `--target` alike.
    """
    folders = (CODE, *CODE.parents, Path(sys.prefix))
    shares = [folder / "share" / "abel" for folder in folders]
    return clone() or next((share for share in shares if share.is_dir()), shares[-1])
