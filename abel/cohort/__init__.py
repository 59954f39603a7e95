"""Tables of runs: a file names the cells, every cell is trained with every seed and evaluated."""

from abel.cohort.file import CohortError, read_cohort
from abel.cohort.table import markdown

__all__ = ["CohortError", "markdown", "read_cohort"]
