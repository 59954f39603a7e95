"""All roots of an equation: other branches followed, none listed twice, and what is complete."""
