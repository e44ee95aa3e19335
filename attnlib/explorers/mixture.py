"""The picture of mixtures, kept and repainted: its background drawn once, its artists moved."""

import ipywidgets as widgets
import numpy as np

from attnlib.explorers.outlets import STALE
from attnlib.views import mixture, png
from attnlib.views.frame import pixel_axes
from attnlib.views.mixture_scene import Scene
from attnlib.views.plane import draw_plane


class MixtureCanvas:
    """The live picture of mixtures.

    It owns one private matplotlib figure and is not safe for two threads at once: whoever holds it
    holds a lock.
    """

    def __init__(self):
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
        scene = Scene.of(head)
        if (scene.plane, scene.queries, scale) != self._drawn:
            self._draw_background(scene, scale)
            self._drawn = (scene.plane, scene.queries, scale)
        canvas = self._axes.figure.canvas
        names = self._painter.show(scene, scene.plane)
        canvas.restore_region(self._background)
        for artist in self._painter.artists:
            self._axes.draw_artist(artist)
        pixels = np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])
        mixture.stamp_words(pixels, scale, scene, names)
        return png.encode(pixels)

    def _draw_background(self, scene, scale):
        self._axes = pixel_axes(mixture.SIZE, scale)
        draw_plane(self._axes, scene.plane, mixture.TITLE)
        mixture.draw_key(self._axes, scene)
        canvas = self._axes.figure.canvas
        canvas.draw()
        self._background = canvas.copy_from_bbox(self._axes.figure.bbox)
        self._painter = mixture.MixturePainter(self._axes)


class MixturePicture:
    """A panel's picture of mixtures.

    Parameters
    ----------
    head : SelfAttentionForward
        The first to show.

    Attributes
    ----------
    image : ipywidgets.Image
        Where it is shown.
    """

    def __init__(self, head):
        self._canvas = MixtureCanvas()
        self._shown = (head, 1)
        size = {"width": f"{mixture.SIZE.width}px", "height": f"{mixture.SIZE.height}px"}
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
