"""`python -m abel.picov`."""

import sys

from abel.picov.network import run

sys.exit(run(sys.argv[1:]))
