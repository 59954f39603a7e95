"""Rows for equations from anywhere: powers, products, angles, logarithms, absolute values."""

from abel.operations.world import absolute, angles, factoring, logarithms, powers

ROWS = (*powers.ROWS, *factoring.ROWS, *angles.ROWS, *logarithms.ROWS, *absolute.ROWS)
