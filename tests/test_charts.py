"""Charts: the marks stand where hand-worked numbers say, whatever the labels contain."""

import numpy as np

from abel.charts import PALETTE, bar_image

BLUE = tuple(int(PALETTE[0][i : i + 2], 16) for i in (1, 3, 5))


def blue_pixels(image):
    """How many pixels of each row have the bars' colour."""
    return (image == BLUE).all(-1).sum(1)


def test_bars_are_as_long_as_their_values():
    image = bar_image({"none": 0.0, "half": 0.5, "all": 1.0}, "solved")
    assert image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
    rows = blue_pixels(image)  # rows of bars begin at 8 + 24 * row and are 17 pixels high
    assert rows[40] == 0 and rows[64] == 131 and rows[88] == 261  # 0, half, all of 260, and an end
    assert (rows > 0).sum() == 2 * 17


def test_bars_outside_the_unit_interval_and_empty_images_are_drawn():
    rows = blue_pixels(bar_image({"too much": 7.0, "negative": -1.0, "none": float("nan")}, "x"))
    assert rows.max() == 261 and (rows > 0).sum() == 17
    assert bar_image({}, "a title that is long enough to decide the width of it").shape[2] == 3
