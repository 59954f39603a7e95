"""`python -m abel.report`."""

import sys

from abel.report.pages import main

sys.exit(main(sys.argv[1:]))
