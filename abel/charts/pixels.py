"""Bars as pixels, for TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from abel.charts.marks import PALETTE


def bar_image(values: Mapping[str, float], title: str) -> np.ndarray:
    """Draw horizontal bars in 0..1 with their labels and numbers; uint8 [H, W, 3]."""
    from PIL import Image, ImageDraw, ImageFont  # only training draws these

    font = ImageFont.load_default(size=14)
    line, bar, gap = 24, 260, 8
    label = max([int(font.getlength(name)) for name in values], default=0)
    width = max(label + bar + 3 * gap + 50, int(font.getlength(title)) + 2 * gap)
    height = line * (len(values) + 1) + 2 * gap
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    draw.text((gap, gap), title, fill="black", font=font)
    for row, (name, value) in enumerate(values.items(), 1):
        top, left = gap + row * line, label + 2 * gap
        draw.text((gap, top), name, fill="black", font=font)
        draw.rectangle((left, top, left + bar, top + 16), outline="#BBBBBB")
        length = round(bar * min(max(value, 0.0), 1.0)) if np.isfinite(value) else 0
        if length:
            draw.rectangle((left, top, left + length, top + 16), fill=PALETTE[0])
        draw.text((left + bar + gap, top), f"{value:.2f}", fill="black", font=font)
    return np.asarray(image, dtype=np.uint8)
