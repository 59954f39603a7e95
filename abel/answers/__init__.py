"""What people are told of the equations that they give.

printed    solutions, answers and failures, one by one or a line each
growing    a file of results that is complete at any time
failures   what fails, and why; how long what is solved took
rationals  how the rational roots of stored results are printed, counted
"""

from abel.answers.growing import Growing
from abel.answers.printed import Telling, counts
from abel.answers.rationals import Counted, counted

__all__ = ["Counted", "Growing", "Telling", "counted", "counts"]
