"""`python -m abel.wild`."""

import sys

from abel.wild.families import main

sys.exit(main(sys.argv[1:]))
