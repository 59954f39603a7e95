"""`python -m abel.wild`."""

import sys

from abel.wild.marks import main

sys.exit(main(sys.argv[1:]))
