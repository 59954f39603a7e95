"""`python -m abel.datasets`."""

import sys

from abel.datasets.load import main

sys.exit(main(sys.argv[1:]))
