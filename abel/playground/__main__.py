"""`python -m abel.playground`."""

import sys

from abel.playground.command import main

sys.exit(main(sys.argv[1:]))
