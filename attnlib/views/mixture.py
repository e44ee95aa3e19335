"""Each output as a sum of arrows: the weighted values, head to tail, inside the values' hull."""

from dataclasses import dataclass

import numpy as np

from attnlib.views import labels, numbers, style
from attnlib.views.arrows import barbs, strokes
from attnlib.views.frame import POINT, draw_label, pixel_axes
from attnlib.views.mixture_scene import MOST_TERMS, Scene, describe, terms
from attnlib.views.plane import draw_plane
from attnlib.views.showing import Picture
from attnlib.views.stamps import INK, stamp

TITLE = "Values mixed into outputs"
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


@dataclass(frozen=True)
class Size:
    """The picture's width and height in pixels."""

    width: int = 640
    height: int = 350


SIZE = Size()


class MixturePainter:
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
            for size in (13, 7)
        ]
        self.trails = [_trail(axes, trail) for trail in style.TRAILS]
        lines = [artist for trail in self.trails for artist in trail]
        self.artists = [self.hull, self.spokes, self.leaders, *self.values, *lines]

    def show(self, scene, plane):
        """Move every artist to where a scene has it.

        Parameters
        ----------
        scene : Scene
            What to show.
        plane : Plane
            Where; it must be wide enough for the scene.

        Returns
        -------
        list of Label
            The names of values and outputs, to be written by the caller.
        """
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
        far = [((label.x, label.y), label.anchor) for label in names if not label.near]
        self.leaders.set_data(*strokes(np.array(far).reshape(-1, 2, 2)))
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
        output = scene.steps[position, -1, : len(scene.features)]
        name = numbers.label("o", query)
        point = ", ".join(numbers.short(entry) for entry in output)
        point = f"({point})" if len(output) > 1 else point
        if len(scene.values) <= MOST_TERMS:
            lines.append((BESIDE + SAMPLE + 8, y, f"{name} = {terms(scene.weights[position])}"))
            lines.append((BESIDE + SAMPLE + 8, y + LINE, numbers.signed(f"   = {point}")))
        else:
            lines.append((BESIDE + SAMPLE + 8, y, numbers.signed(f"{name} = {point}")))
    return lines


def draw_key(axes, scene):
    """Draw the title beside the plane, a sample of each query's line, and what the marks mean.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    scene : Scene
        Its queries and its plane matter, not its numbers.

    Returns
    -------
    list of matplotlib.artist.Artist
        Texts and lines.
    """
    bold = {"size": 13 * POINT, "weight": "bold", "color": style.INK}
    artists = [axes.text(BESIDE, 16, "Each output is a sum", **bold)]
    for position in range(len(scene.queries)):
        trail, y = style.TRAILS[position], _account_top(position)
        look = {"color": trail.colour, "linewidth": 1.8 * POINT, "linestyle": trail.line}
        artists += axes.plot([BESIDE, BESIDE + SAMPLE], [y, y], **look)
        artists += axes.plot(
            [BESIDE + SAMPLE], [y], trail.marker, color=trail.colour, markersize=7 * POINT
        )
    key = [words for words in KEY if words != SPOKES or not scene.plane.flat]
    for position, words in enumerate(reversed(key)):
        y = SIZE.height - 12 - position * LINE
        artists.append(draw_label(axes, BESIDE, y, words, "left", style.SOFT_INK))
    return artists


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
    draw_plane(axes, scene.plane, TITLE)
    draw_key(axes, scene)
    for label in MixturePainter(axes).show(scene, scene.plane):
        text = _write(axes, label.x, label.y, label.words, "center")
        text.set_bbox({"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.8})
    for x, y, words in accounts(scene):
        _write(axes, x, y, words, "left")
    return Picture(axes.figure, describe(scene, head.value_width))


def stamp_words(pixels, scale, scene, names):
    """Print onto pixels all that `mixture_figure` writes.

    Parameters
    ----------
    pixels : numpy.ndarray
        Shape [height, width, 3], bytes; changed in place.
    scale : float
        Device pixels for each pixel of the picture.
    scene : Scene
        What is shown.
    names : list of Label
        From `MixturePainter.show`.
    """
    size = round(labels.SIZE * scale)
    for label in names:
        box = tuple(round(edge * scale) for edge in label.box)
        stamp(pixels, box, label.words, size, INK, paper=True)
    for x, y, words in accounts(scene):
        wide = labels.ADVANCE * labels.SIZE * len(words) + 4
        box = (x - 2, y - LINE / 2, min(x - 2 + wide, SIZE.width), y + LINE / 2)
        stamp(pixels, tuple(round(edge * scale) for edge in box), words, size, INK)


def _account_top(position):
    return 50 + position * BLOCK


def _write(axes, x, y, words, side):
    text = draw_label(axes, x, y, words, side, size=labels.SIZE)
    text.set_family("monospace")
    return text


def _trail(axes, trail):
    """The shafts, the heads and the end of one query's arrows, nowhere yet."""
    look = {"color": trail.colour, "linewidth": 1.8 * POINT}
    (shaft,) = axes.plot([], [], linestyle=trail.line, **look)
    (heads,) = axes.plot([], [], **look)
    (end,) = axes.plot([], [], trail.marker, color=trail.colour, markersize=7 * POINT)
    return shaft, heads, end
