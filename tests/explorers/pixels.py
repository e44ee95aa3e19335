"""Read a picture as a person would: decode the PNG and look at the middle of a cell's fill."""

import io

import matplotlib
import numpy as np
from PIL import Image

MAPS = {"probability": ("cividis", 0.0, 1.0)}


def decoded(png):
    """The picture's pixels, [height, width, 3] bytes."""
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))


def fill_at(pixels, place, row, column):
    """The colour of a cell just inside its border, clear of the digits in the middle."""
    left, top, right, _ = place.box(row, column)
    return pixels[top + 2, (left + right) // 2]


def colour_of(entry, role, limit):
    """The colour that matplotlib itself gives the entry, within the roundings of one step."""
    name, low, high = MAPS.get(role, ("PuOr_r", -limit, limit))
    share = (entry - low) / (high - low)
    return np.array(matplotlib.colormaps[name](share, bytes=True)[:3], dtype=int)


def wrong_cells(pixels, layout, shown, limits):
    """The cells whose colour is not the one that their entry must have."""
    return [
        (place.name, row, column)
        for place in layout.places
        for row, column in np.ndindex(place.rows, place.columns)
        if np.abs(
            fill_at(pixels, place, row, column).astype(int)
            - colour_of(shown[place.name][row, column], place.role, limits[place.name])
        ).max()
        > 6
    ]
