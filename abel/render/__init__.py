"""Solutions as a person writes them: one list of lines, written as text, LaTeX, MathML and JSON."""

from abel.render.lines import (
    Formula,
    Line,
    Lines,
    condition,
    lines_and_choices,
    lines_of,
    root_formula,
)
from abel.render.printers import as_mathml, as_text, characters
from abel.render.writers import (
    condition_text,
    for_pages,
    in_words,
    pair,
    to_data,
    to_latex,
    to_text,
)

__all__ = [
    "Formula", "Line", "Lines", "as_mathml", "as_text", "characters", "condition",
    "condition_text", "for_pages", "in_words", "lines_and_choices", "lines_of", "pair",
    "root_formula", "to_data", "to_latex", "to_text",
]  # fmt: skip
