"""The scripts at the top of the repository can be imported by the tests."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent.parent))
torch.set_num_threads(1)
