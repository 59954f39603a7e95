"""The benchmarks: loading them, and generating them anew."""

from abel.datasets.load import FAMILIES, DatasetError, Problem, load_dataset

__all__ = ["FAMILIES", "DatasetError", "Problem", "load_dataset"]
