"""Arrows that follow the sliders: the background is drawn once, an event moves the artists."""

import ipywidgets as widgets
import numpy as np

from attnlib.explorers.outlets import STALE
from attnlib.views import labels, png
from attnlib.views.frame import pixel_axes


class ArrowCanvas:
    """A live picture of arrows.

    It owns one private matplotlib figure and is not safe for two threads at once: whoever holds it
    holds a lock.

    Parameters
    ----------
    view : module
        `views.vectors.mixture` or `views.vectors.match`.
    """

    def __init__(self, view):
        self._view = view
        self._drawn = None

    def repaint(self, head, scale):
        """Bring the picture up to date.

        Parameters
        ----------
        head : SelfAttentionForward
            Its first batch item is shown.
        scale : float
            Device pixels for each pixel of the picture.

        Returns
        -------
        bytes
            A PNG file.
        """
        scene = self._view.Scene.of(head)
        if (scene.frame, scale) != self._drawn:
            self._draw_background(scene, scale)
            self._drawn = (scene.frame, scale)
        canvas = self._axes.figure.canvas
        names = self._painter.show(scene)
        canvas.restore_region(self._background)
        for artist in self._painter.artists:
            self._axes.draw_artist(artist)
        pixels = np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])
        lines = self._view.accounts(scene)
        labels.stamp_words(pixels, scale, names, lines, self._view.SIZE.width)
        return png.encode(pixels)

    def _draw_background(self, scene, scale):
        self._axes = pixel_axes(self._view.SIZE, scale)
        self._view.draw_background(self._axes, scene)
        canvas = self._axes.figure.canvas
        canvas.draw()
        self._background = canvas.copy_from_bbox(self._axes.figure.bbox)
        self._painter = self._view.Painter(self._axes)


class ArrowPicture:
    """A panel's picture of arrows.

    Parameters
    ----------
    view : module
        `views.vectors.mixture` or `views.vectors.match`.
    head : SelfAttentionForward
        The first to show.

    Attributes
    ----------
    image : ipywidgets.Image
        Where it is shown.
    """

    def __init__(self, view, head):
        self._canvas = ArrowCanvas(view)
        self._shown = (head, 1)
        size = {"width": f"{view.SIZE.width}px", "height": f"{view.SIZE.height}px"}
        self.image = widgets.Image(
            value=self._canvas.repaint(head, 1), format="png", layout=widgets.Layout(**size)
        )

    def follow(self, head, scale, stale):
        """Show a head, or mark the last one as not belonging to what the sliders say.

        Parameters
        ----------
        head : SelfAttentionForward
            The last that the core accepted.
        scale : float
            Device pixels for each pixel of the picture.
        stale : bool
            Whether the sliders have moved on to what it refuses.
        """
        if stale:
            self.image.add_class(STALE)
            return
        self.image.remove_class(STALE)
        if (head, scale) != self._shown:
            self.image.value = self._canvas.repaint(head, scale)
            self._shown = (head, scale)
