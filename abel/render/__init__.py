"""Solutions as a person writes them: one list of lines, written as text, LaTeX, MathML and JSON."""

from abel.render.lines import Formula, Line, Lines, lines_of
from abel.render.printers import as_mathml, as_text, characters
from abel.render.writers import condition_text, for_pages, to_data, to_latex, to_text

__all__ = [
    "Formula", "Line", "Lines", "as_mathml", "as_text", "characters", "condition_text",
    "for_pages", "lines_of", "to_data", "to_latex", "to_text",
]  # fmt: skip
