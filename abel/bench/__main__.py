"""`python -m abel.bench`."""

import sys

from abel.bench.command import main

sys.exit(main(sys.argv[1:]))
