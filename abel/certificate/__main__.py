"""`python -m abel.certificate`."""

import sys

from abel.certificate.command import main

sys.exit(main(sys.argv[1:]))
