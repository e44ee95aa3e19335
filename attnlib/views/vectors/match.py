"""Queries and keys as arrows from one origin: a long way in the same direction is a high score."""

import numpy as np

from attnlib.views import labels, numbers, style
from attnlib.views.frame import POINT, pixel_axes
from attnlib.views.layout import Layout
from attnlib.views.showing import Picture
from attnlib.views.vectors.arrows import barbs, strokes
from attnlib.views.vectors.match_scene import Scene, describe, written
from attnlib.views.vectors.plane import draw_beside, draw_plane

SIZE = Layout((), 0, None, 690, 350)
BESIDE, TOP, LINE, NOTE_LINE = 338, 54, 19, 17
ROWS = 12
"""Most scores that are written out beside the plane."""
KEY = ("solid arrow: a query", "dashed arrow: a key")
LINES = {"q": ("solid", style.TRAILS[0].colour), "k": ((0, (5, 2)), style.TRAILS[1].colour)}


class Painter:
    """Keeps the arrows of a picture of matches, and moves them to where a head has them.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.

    Attributes
    ----------
    arrows : dict of str to tuple
        By ``"q"`` and ``"k"``: the broken line of shafts and that of heads.
    artists : list of matplotlib.artist.Artist
        In the order in which they are drawn.
    """

    def __init__(self, axes):
        (self.leaders,) = axes.plot([], [], color=style.RULE, linewidth=1.2 * POINT)
        self.arrows = {}
        for letter, (line, colour) in LINES.items():
            look = {"color": colour, "linewidth": 2 * POINT}
            shafts, heads = axes.plot([], [], [], [], **look)
            shafts.set_linestyle(line)
            self.arrows[letter] = shafts, heads
        self.artists = [self.leaders, *(x for pair in self.arrows.values() for x in pair)]

    def show(self, scene):
        """Move every arrow to where a scene has it.

        Parameters
        ----------
        scene : Scene
            What to show.

        Returns
        -------
        list of Label
            The names of queries and keys, to be written by the caller.
        """
        plane, drawn = scene.plane, []
        origin = plane.at(np.zeros(2))
        for letter, (shafts, heads) in self.arrows.items():
            ends = plane.at(scene.tips[letter])
            arrows = np.stack([np.broadcast_to(origin, ends.shape), ends], axis=1)
            shafts.set_data(*strokes(arrows))
            heads.set_data(*strokes(barbs(arrows)))
            drawn.append(ends)
        ends = np.concatenate(drawn)
        words = [x for letter in LINES for x in numbers.labels(letter, len(scene.tips[letter]))]
        along = origin + np.array([0.5, 0.75])[:, None, None] * (ends - origin)
        names = labels.place(ends, words, plane.frame, avoid=along)
        self.leaders.set_data(*strokes(labels.leaders(names)))
        return names


def draw_background(axes, scene):
    """Draw all that stands in the picture whatever the numbers.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    scene : Scene
        Only its `frame` matters.

    Returns
    -------
    list of matplotlib.artist.Artist
        Lines and texts.
    """
    artists = draw_plane(axes, scene.plane, "Queries and keys")
    wider = (f"lengths and cosines: of all {scene.width} features",) * (scene.width > 2)
    title = "Score = length × length × cosine"
    return artists + draw_beside(axes, BESIDE, title, (*KEY, *wider), NOTE_LINE)


def accounts(scene):
    """Write each score as length times length times cosine, as far as there is room.

    Parameters
    ----------
    scene : Scene
        What is shown.

    Returns
    -------
    list of tuple
        Left edge and middle in pixels, and the words.
    """
    cells = list(np.ndindex(scene.parts.scores.shape))
    words = [written(scene.parts, *cell) for cell in cells[:ROWS]]
    if len(cells) > ROWS:
        words.append(f"and {len(cells) - ROWS} more")
    return [(BESIDE, TOP + position * LINE, line) for position, line in enumerate(words)]


def match_figure(head, item=0, features=None):
    """Draw queries and keys as arrows in the plane of two features, with the scores beside it.

    Parameters
    ----------
    head : SelfAttentionForward
        The head.
    item : int, default 0
        The batch item.
    features : sequence of int, optional
        The two features of the plane; by default the first two. Lengths and cosines are those of
        all features.

    Returns
    -------
    Picture
        The figure and its description.

    Raises
    ------
    ValueError
        If there are no such item or features.
    """
    scene = Scene.of(head, item, features)
    axes = pixel_axes(SIZE, scale=2)
    draw_background(axes, scene)
    labels.write(axes, Painter(axes).show(scene), accounts(scene))
    return Picture(axes.figure, describe(scene))
