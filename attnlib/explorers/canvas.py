"""A picture that is kept: its background is drawn once, an event repaints what moved."""

from functools import lru_cache

import numpy as np

from attnlib.core.inputs import read_only
from attnlib.views import figures, frame, png
from attnlib.views.layout import head_layout, strip_layout
from attnlib.views.stamps import BarPainter, CellPainter


class HeadCanvas:
    """The live picture of one head.

    Its background is drawn on a private matplotlib figure, once for each layout and scale; all that
    an event changes is painted straight onto a copy of those pixels. It is not safe for two threads
    at once: whoever holds it holds a lock.

    Parameters
    ----------
    scale : float, default 1
        Device pixels for each pixel of the layout.
    names : sequence of str, optional
        The quantities to show in a row; the whole head by default.

    Attributes
    ----------
    scale : float
        May be set at any time; the next repaint follows it.
    labels : tuple of str
        The tokens' own words; may be set at any time, as `scale`.
    layout : Layout or None
        What stands where in the picture now.
    """

    def __init__(self, scale=1, names=None):
        self.scale = scale
        self._names = names
        self.labels = ()
        self.layout = None
        self._drawn = None
        self._pixels = None

    def repaint(self, shown):
        """Bring the picture up to date.

        Parameters
        ----------
        shown : dict of str to numpy.ndarray
            From `layout.quantities`.

        Returns
        -------
        bytes
            A PNG file.
        """
        shape = (*shown["dQ"].shape, shown["dV"].shape[1])
        if (shape, self.scale, self.labels) != self._drawn:
            self._draw_background(*shape)
            self._drawn = (shape, self.scale, self.labels)
        limits = figures.limits(shown)
        for painter in self._cells:
            name = painter.place.name
            painter.paint(self._pixels, shown[name], limits[name])
        if self._bars:
            self._bars.paint(self._pixels, shown["weights"])
        return png.encode(self._pixels)

    def place(self, tokens, key_width, value_width):
        """Say what stands where for a head of these sizes; labels make the picture wider."""
        sizes, labels = (tokens, key_width, value_width), self.labels
        if self._names:
            return strip_layout(self._names, *sizes, labels=labels)
        return head_layout(*sizes, labels=labels)

    def _draw_background(self, *sizes):
        self.layout = self.place(*sizes)
        self._pixels = _background(self.layout, self.scale).copy()
        self._cells = [CellPainter(place, self.scale) for place in self.layout.places]
        self._bars = BarPainter(self.layout, self.scale) if self.layout.bars else None


@lru_cache(maxsize=16)
def _background(layout, scale):
    """What stands in the picture whatever its numbers: the pixels, drawn by matplotlib once."""
    axes = frame.pixel_axes(layout, scale)
    frame.draw_frame(axes, layout)
    axes.figure.canvas.draw()
    return read_only(np.asarray(axes.figure.canvas.buffer_rgba())[..., :3].copy())
