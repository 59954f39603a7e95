"""Text to equations, never run as code: tokens, a parser, and what is refused unbuilt."""

from abel.parse.limits import MAX_PARSED_NODES
from abel.parse.parser import (
    CONSTANTS,
    FUNCTIONS,
    MAX_DEPTH,
    MAX_DIGITS,
    name_of_unknown,
    parse,
    parse_expression,
)
from abel.parse.tokens import ParseError

__all__ = [
    "CONSTANTS", "FUNCTIONS", "MAX_DEPTH", "MAX_DIGITS", "MAX_PARSED_NODES", "ParseError",
    "name_of_unknown", "parse", "parse_expression",
]  # fmt: skip
