"""`python -m abel.charts`."""

import sys

from abel.charts.curves import main

sys.exit(main())
