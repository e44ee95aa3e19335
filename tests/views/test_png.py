"""The PNG file that is written fast is the one that other readers understand."""

import io

import numpy as np
import pytest
from matplotlib import image as matplotlib_image
from PIL import Image

from attnlib.views import png

RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (486, 640), (3, 7)])
def test_pillow_and_matplotlib_read_back_every_pixel(shape):
    pixels = RANDOM.integers(0, 256, (*shape, 3), dtype=np.uint8)
    file = png.encode(pixels)
    opened = Image.open(io.BytesIO(file))
    opened.verify()
    assert np.array_equal(np.array(Image.open(io.BytesIO(file))), pixels)
    read = matplotlib_image.imread(io.BytesIO(file), format="png")
    assert np.array_equal(np.rint(read[..., :3] * 255).astype(np.uint8), pixels)


def test_a_view_with_gaps_is_written_as_it_looks():
    pixels = RANDOM.integers(0, 256, (20, 30, 4), dtype=np.uint8)[::2, ::3, :3]
    assert np.array_equal(np.array(Image.open(io.BytesIO(png.encode(pixels)))), pixels)


def test_a_damaged_file_would_be_noticed():
    file = bytearray(png.encode(np.zeros((4, 4, 3), dtype=np.uint8)))
    file[-20] ^= 1
    with pytest.raises((OSError, SyntaxError)):
        Image.open(io.BytesIO(bytes(file))).verify()


def test_a_flat_picture_stays_small():
    assert len(png.encode(np.full((486, 640, 3), 255, dtype=np.uint8))) < 10_000
