"""A plane of two features in pixels: where a point stands, and the axes it is read by.

With one feature only, the plane is flat: points stand on one line, and arrows below it in lanes.
"""

from dataclasses import dataclass

import numpy as np

from attnlib.views import numbers, style
from attnlib.views.frame import POINT, draw_label
from attnlib.views.labels import ADVANCE

LEFT, TOP, SIDE = 44, 40, 270
"""The square's corner and side; the room around it is for the title and the numbers."""
MARGIN = 22
"""From the outermost number of the axes to the square's edge."""
BASE, LANE, STAIR = 52, 48, 36
"""A flat plane's line, the height of a lane below it, and the part of it that arrows take."""
PARTS = {1: 2, 2: 2, 3: 3, 4: 4, 5: 5, 6: 3, 8: 4, 10: 2}
"""How far a plane may reach, in powers of ten -> the ticks on each side of zero."""


def reach(points):
    """How far a plane must reach for these points: the next step, so that it seldom changes.

    Parameters
    ----------
    points : numpy.ndarray
        Shape [count, 2].

    Returns
    -------
    float
        1, 2, 3, 4, 5, 6, 8 or 10 times a power of ten; 1 where all points are zero.
    """
    largest = float(np.abs(points).max())
    if largest == 0:
        return 1.0
    power = 10.0 ** int(np.floor(np.log10(largest)))
    return next(power * step for step in PARTS if largest <= power * step * 1.000001)


@dataclass(frozen=True)
class Plane:
    """The square in which points are drawn.

    Attributes
    ----------
    limit : float
        The largest coordinate; the plane reaches as far to the negative side.
    across, up : str
        The names of the features; an empty `up` makes the plane flat.
    """

    limit: float
    across: str
    up: str

    @property
    def flat(self):
        """Whether there is one feature only."""
        return not self.up

    @property
    def note(self):
        """What the axes count, in words."""
        return f"{self.across} across, {self.up} up" if self.up else f"{self.across} across"

    @property
    def frame(self):
        """Left, upper, right and lower edge in pixels."""
        return LEFT, TOP, LEFT + SIDE, TOP + SIDE

    @property
    def ticks(self):
        """The numbers on the axes."""
        count = PARTS[round(self.limit / 10.0 ** np.floor(np.log10(self.limit)))]
        return np.linspace(-self.limit, self.limit, 2 * count + 1)

    def at(self, points):
        """Where points stand.

        Parameters
        ----------
        points : numpy.ndarray
            Shape [..., 2].

        Returns
        -------
        numpy.ndarray
            Shape [..., 2]: pixels to the right and down.
        """
        unit = (SIDE / 2 - MARGIN) / self.limit
        middle = np.array([LEFT + SIDE / 2, TOP + (BASE if self.flat else SIDE / 2)])
        return middle + points * np.array([unit, 0 if self.flat else -unit])

    def arrows(self, steps):
        """Where the arrows from each step to the next stand.

        Parameters
        ----------
        steps : numpy.ndarray
            Shape [trails, steps, 2].

        Returns
        -------
        numpy.ndarray
            Shape [trails, steps - 1, 2, 2]: start and end, in pixels.
        """
        pixels = self.at(steps)
        arrows = np.stack([pixels[:, :-1], pixels[:, 1:]], axis=2)
        if self.flat:
            trails, count = arrows.shape[:2]
            lanes = (np.arange(trails) + 0.75) * LANE
            stairs = np.arange(count) * min(12, STAIR / max(count, 1))
            arrows[..., 1] += (lanes[:, None] + stairs)[..., None]
        return arrows


def draw_plane(axes, plane, title):
    """Draw the square, its axes, their numbers and names.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    plane : Plane
        The square.
    title : str
        The words above it.

    Returns
    -------
    list of matplotlib.artist.Artist
        Lines and texts.
    """
    left, top, right, bottom = plane.frame
    where = plane.at(np.stack([plane.ticks] * 2, axis=-1))
    artists = [axes.text(left, top - 24, title, size=13 * POINT, weight="bold", color=style.INK)]
    border = [left, right, right, left, left], [top, top, bottom, bottom, top]
    artists += axes.plot(*border, color=style.RULE, linewidth=POINT)
    zero_across, zero_up = plane.at(np.zeros(2))
    for x, y in where:
        artists += _rule(axes, [x, x], [top, bottom], x == zero_across)
        if not plane.flat:
            artists += _rule(axes, [left, right], [y, y], y == zero_up)
    if plane.flat:
        artists += _rule(axes, [left, right], [zero_up, zero_up], True)
    return artists + _numbers(axes, plane, where) + _names(axes, plane)


def draw_beside(axes, x, title, notes, line):
    """Write the title of what stands beside a plane, and notes below it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    x : float
        The left edge, in pixels.
    title : str
        In bold, on the line of the plane's own.
    notes : sequence of str
        The last one stands at the bottom of the picture.
    line : float
        Height of a line.

    Returns
    -------
    list of matplotlib.artist.Artist
        The texts.
    """
    bold = {"size": 13 * POINT, "weight": "bold", "color": style.INK}
    artists = [axes.text(x, 16, title, **bold)]
    bottom = max(axes.get_ylim()) - 12
    for position, words in enumerate(reversed(notes)):
        y = bottom - position * line
        artists.append(draw_label(axes, x, y, words, "left", style.SOFT_INK))
    return artists


def _rule(axes, across, down, strong):
    colour, width = (style.SOFT_INK, 1) if strong else (style.GRID, 0.8)
    return axes.plot(across, down, color=colour, linewidth=width * POINT, zorder=0)


def _numbers(axes, plane, where):
    """The numbers on the axes: all of them where they fit side by side, else ends and zero."""
    left, _, _, bottom = plane.frame
    words = [_number(tick) for tick in plane.ticks]
    fit = max(map(len, words)) * ADVANCE * 11 <= where[1, 0] - where[0, 0] - 6
    texts = []
    for position, (name, (x, y)) in enumerate(zip(words, where, strict=True)):
        if fit or position in (0, len(words) // 2, len(words) - 1):
            texts.append(draw_label(axes, x, bottom + 10, name, "center", style.SOFT_INK))
            if not plane.flat:
                texts.append(draw_label(axes, left - 5, y, name, "right", style.SOFT_INK))
    return texts


def _number(tick):
    """Five characters at most: that is the room beside the square."""
    text = f"{tick:g}"
    return numbers.signed(text if len(text) <= 5 else numbers.short(tick, 5))


def _names(axes, plane):
    left, _, right, bottom = plane.frame
    return [draw_label(axes, (left + right) / 2, bottom + 27, plane.note, "center")]
