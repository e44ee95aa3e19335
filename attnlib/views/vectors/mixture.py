"""Each output as a sum of arrows: the weighted values, head to tail, inside the values' hull."""

import numpy as np

from attnlib.views import labels, numbers, style
from attnlib.views.frame import POINT, pixel_axes
from attnlib.views.layout import Layout
from attnlib.views.showing import Picture
from attnlib.views.vectors.arrows import barbs, strokes
from attnlib.views.vectors.mixture_scene import MOST_TERMS, Scene, describe, point, terms
from attnlib.views.vectors.plane import draw_beside, draw_plane

SIZE = Layout((), 0, None, 640, 350)
SPOKES = "grey line: a value as an arrow"
KEY = (
    "double ring: a value",
    "black outline: where mixtures can lie",
    SPOKES,
    "arrows: weighted values added",
)
LONG = 16
"""Pixels of an arrow whose middle no name may cover."""
MOST_NAMES = 16
"""Most values that are named in the plane."""
BESIDE, LINE, BLOCK, SAMPLE = 338, 17, 48, 30
"""Left edge of the accounts, height of a line and of an account, and length of a line's sample."""


class Painter:
    """Keeps the artists of a picture of mixtures, and moves them to where a head has them.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.

    Attributes
    ----------
    artists : list of matplotlib.artist.Artist
        In the order in which they are drawn.
    """

    def __init__(self, axes):
        soft = {"color": style.RULE, "linewidth": 1.2 * POINT}
        (self.hull,) = axes.fill([], [], facecolor=style.TINT, edgecolor=style.INK)
        self.hull.set_linewidth(2.2 * POINT)
        (self.spokes,) = axes.plot([], [], **soft)
        (self.leaders,) = axes.plot([], [], **soft)
        rings = {"linestyle": "", "marker": "o", "color": style.INK, "markerfacecolor": style.PAPER}
        self.values = [
            axes.plot([], [], markersize=size * POINT, markeredgewidth=1.3 * POINT, **rings)[0]
            for size in (15, 8)
        ]
        self.trails = [_trail(axes, trail) for trail in style.TRAILS]
        lines = [artist for trail in self.trails for artist in trail]
        self.artists = [self.hull, self.spokes, self.leaders, *self.values, *lines]

    def show(self, scene):
        """Move every artist to where a scene has it.

        Parameters
        ----------
        scene : Scene
            What to show.

        Returns
        -------
        list of Label
            The names of values and outputs, to be written by the caller.
        """
        plane = scene.plane
        values, arrows = plane.at(scene.values), plane.arrows(scene.steps)
        self.hull.set_xy(plane.at(scene.corners))
        origin = np.broadcast_to(plane.at(np.zeros(2)), values.shape)
        spokes = np.stack([origin, values], axis=1)
        self.spokes.set_data(*strokes(spokes[: 0 if plane.flat else None]))
        for ring in self.values:
            ring.set_data(*values.T)
        for position, (shaft, heads, end) in enumerate(self.trails):
            drawn = arrows[position] if position < len(arrows) else np.empty((0, 2, 2))
            shaft.set_data(*strokes(drawn))
            heads.set_data(*strokes(barbs(drawn)))
            end.set_data(*drawn[-1:, 1].T)
        names = _name_points(scene, plane, values, arrows)
        self.leaders.set_data(*strokes(labels.leaders(names)))
        return names


def _name_points(scene, plane, values, arrows):
    """Find room for the names of values and outputs, off the middle of any arrow."""
    named = values[:MOST_NAMES]
    words = numbers.labels("v", len(named)) + [numbers.label("o", i) for i in scene.queries]
    shafts = arrows.reshape(-1, 2, 2)
    long = shafts[np.hypot(*(shafts[:, 1] - shafts[:, 0]).T) > LONG]
    along = np.array([0.25, 0.5, 0.75])[:, None, None]
    covered = long[:, 0] + along * (long[:, 1] - long[:, 0])
    points = np.concatenate([named, arrows[:, -1, 1]])
    return labels.place(points, words, plane.frame, avoid=covered)


def accounts(scene):
    """Write each drawn query's output as a sum.

    Parameters
    ----------
    scene : Scene
        What is shown.

    Returns
    -------
    list of tuple
        Left edge and middle in pixels, and the words: the weights where they are few, the output.
    """
    lines = []
    for position, query in enumerate(scene.queries):
        y = _account_top(position)
        name, x = numbers.label("o", query), BESIDE + SAMPLE + 8
        if len(scene.values) <= MOST_TERMS:
            lines.append((x, y, f"{name} = {terms(scene.weights[position])}"))
            lines.append((x, y + LINE, f"   = {point(scene, position)}"))
        else:
            lines.append((x, y, f"{name} = {point(scene, position)}"))
    return lines


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
        Texts and lines.
    """
    artists = draw_plane(axes, scene.plane, "Values mixed into outputs")
    for position in range(len(scene.queries)):
        trail, y = style.TRAILS[position], _account_top(position)
        look = {"color": trail.colour, "linewidth": 1.8 * POINT, "linestyle": trail.line}
        artists += axes.plot([BESIDE, BESIDE + SAMPLE], [y, y], **look)
        artists += axes.plot(
            [BESIDE + SAMPLE], [y], trail.marker, color=trail.colour, markersize=trail.size * POINT
        )
    key = [words for words in KEY if words != SPOKES or not scene.plane.flat]
    return artists + draw_beside(axes, BESIDE, "Each output is a sum", key, LINE)


def mixture_figure(head, item=0, features=None, queries=None):
    """Draw outputs as sums of weighted values, in the plane of two features.

    Parameters
    ----------
    head : SelfAttentionForward
        The head.
    item : int, default 0
        The batch item.
    features : sequence of int, optional
        One or two features of the values; by default the first two.
    queries : sequence of int, optional
        One to four queries; by default the first four.

    Returns
    -------
    Picture
        The figure and its description.

    Raises
    ------
    ValueError
        If there are no such item, features or queries, or too many of them for one picture.
    """
    scene = Scene.of(head, item, features, queries)
    axes = pixel_axes(SIZE, scale=2)
    draw_background(axes, scene)
    labels.write(axes, Painter(axes).show(scene), accounts(scene))
    return Picture(axes.figure, describe(scene, head.value_width))


def _account_top(position):
    return 50 + position * BLOCK


def _trail(axes, trail):
    """The shafts, the heads and the end of one query's arrows, nowhere yet."""
    look = {"color": trail.colour, "linewidth": 1.8 * POINT}
    (shaft,) = axes.plot([], [], linestyle=trail.line, **look)
    (heads,) = axes.plot([], [], **look)
    (end,) = axes.plot([], [], trail.marker, color=trail.colour, markersize=trail.size * POINT)
    return shaft, heads, end
