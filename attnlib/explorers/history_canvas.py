"""The live alignment pictures: a kept background, and words and cells painted onto it."""

import zlib

import numpy as np

from attnlib.views import png
from attnlib.views.frame import pixel_axes
from attnlib.views.history.alignment_layout import WORD_SIZE, alignment_layout, fitted, word_slots
from attnlib.views.history.alignments import LIMIT, draw_alignment_frame, shown
from attnlib.views.stamps import INK, PAPER, CellPainter, stamp

SCALE = 2
"""Device pixels for each pixel of the layout: digits stay crisp where a page is enlarged."""
WIDTH, HEIGHT = (getattr(alignment_layout(1, 1, whole=True), side) for side in ("width", "height"))
"""Of the picture in layout pixels, whatever it shows."""


class HistoryCanvas:
    """The live picture: what depends on the count of words and steps alone is drawn once and kept.

    It draws on private matplotlib figures, and touches nothing global. It is not safe for two
    threads at once: whoever holds it holds a lock.
    """

    def __init__(self):
        self._backgrounds = {}
        self._drawn = None

    def repaint(self, history):
        """Bring the picture up to date.

        Parameters
        ----------
        history : ModelHistory
            One run of the three models.

        Returns
        -------
        bytes
            A PNG file.

        Raises
        ------
        ValueError
            If there are more words or steps than the picture has room for.
        """
        grids = shown(history)
        shape = grids["alignment"].shape
        if shape != self._drawn:
            self._take_background(*shape)
            self._drawn = shape
        for slot in self._slots:
            left, top, right, bottom = box = tuple(SCALE * edge for edge in slot.box)
            self._pixels[top:bottom, left:right] = PAPER
            word = fitted(history.tokens[slot.token], slot.characters)
            if word:
                stamp(self._pixels, box, word, SCALE * WORD_SIZE, INK)
        for painter in self._cells:
            painter.paint(self._pixels, grids[painter.place.name], LIMIT)
        return png.encode(self._pixels)

    def _take_background(self, steps, tokens):
        layout = alignment_layout(tokens, steps, whole=True)
        if (steps, tokens) not in self._backgrounds:
            # Compressed, all 64 of them take less room than one that isn't.
            self._backgrounds[steps, tokens] = zlib.compress(_background(layout), 1)
        pixels = bytearray(zlib.decompress(self._backgrounds[steps, tokens]))
        shape = (SCALE * layout.height, SCALE * layout.width, 3)
        self._pixels = np.frombuffer(pixels, dtype=np.uint8).reshape(shape)
        self._slots = word_slots(layout)
        self._cells = [CellPainter(place, SCALE) for place in layout.places]


def _background(layout):
    axes = pixel_axes(layout, SCALE)
    draw_alignment_frame(axes, layout)
    axes.figure.canvas.draw()
    return np.asarray(axes.figure.canvas.buffer_rgba())[..., :3].tobytes()
