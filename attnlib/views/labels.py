"""Room for the names of points: beside each of them, on no other point and no other name."""

from dataclasses import dataclass

import numpy as np

from attnlib.views import style
from attnlib.views.frame import draw_label
from attnlib.views.stamps import INK, stamp

SIZE = 12
ADVANCE = 0.602
"""Width of a character of DejaVu Sans Mono, for a font size of 1."""
MARKER = 8
"""Half the side of the square that a point's own marker takes."""
CORNERS = np.array([-1, -1, 1, 1])
RADII = (2, 10, 20, 32, 46, 62, 80, 100)
WAYS = np.deg2rad(np.arange(0, 360, 30))


@dataclass(frozen=True)
class Label:
    """A name and where it stands.

    Attributes
    ----------
    words : str
        The name.
    x, y : float
        Its middle, in pixels, y downwards.
    anchor : tuple of float
        The point that it names.
    near : bool
        Whether it stands right beside the point, so that no line need lead to it.
    """

    words: str
    x: float
    y: float
    anchor: tuple
    near: bool

    @property
    def box(self):
        """Left, upper, right and lower edge."""
        width, height = _half(self.words)
        return self.x - width, self.y - height, self.x + width, self.y + height


def place(anchors, words, frame, avoid=()):
    """Find room beside each point for its name, the first ones first.

    Parameters
    ----------
    anchors : array_like
        Shape [count, 2], in pixels, y downwards.
    words : sequence of str
        One name for each point.
    frame : tuple of float
        Left, upper, right and lower edge of where names may stand.
    avoid : array_like, optional
        Shape [count, 2]: more pixels that no name may cover.

    Returns
    -------
    list of Label
        In the order of the points; a name for which there is no room is left out.
    """
    anchors = np.asarray(anchors, dtype=float).reshape(-1, 2)
    avoid = np.asarray(avoid, dtype=float).reshape(-1, 2)
    taken = np.concatenate([np.tile(anchors, 2) + MARKER * CORNERS, np.tile(avoid, 2)])
    middle = anchors.mean(axis=0) if len(anchors) else np.zeros(2)
    labels = []
    for anchor, name in zip(anchors, words, strict=True):
        outwards = np.arctan2(*(anchor - middle)[::-1])
        label = _first_free(anchor, name, outwards, frame, taken)
        if label:
            labels.append(label)
            taken = np.concatenate([taken, [label.box]])
    return labels


def leaders(names):
    """The lines from points to names that stand further off.

    Parameters
    ----------
    names : list of Label
        From `place`.

    Returns
    -------
    numpy.ndarray
        Shape [count, 2, 2], in pixels.
    """
    far = [((label.x, label.y), label.anchor) for label in names if not label.near]
    return np.array(far, dtype=float).reshape(-1, 2, 2)


def boxes(names, lines, right):
    """Where names and lines of text are printed onto pixels.

    Parameters
    ----------
    names : list of Label
        From `place`.
    lines : list of tuple
        Left edge, middle and words of each line of text.
    right : float
        The edge where a line ends at the latest.

    Yields
    ------
    tuple
        Left, upper, right and lower edge; the words; whether they get a plain ground.
    """
    for label in names:
        yield label.box, label.words, True
    for x, y, words in lines:
        wide = ADVANCE * SIZE * len(words) + 4
        yield (x - 2, y - SIZE * 0.7, min(x - 2 + wide, right), y + SIZE * 0.7), words, False


def write(axes, names, lines):
    """Write names, each on a plain ground, and lines of text.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    names : list of Label
        From `place`.
    lines : list of tuple
        Left edge, middle and words of each line of text.

    Returns
    -------
    list of matplotlib.text.Text
        Names first.
    """
    texts = [draw_label(axes, label.x, label.y, label.words, size=SIZE) for label in names]
    for text in texts:
        text.set_bbox({"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.8})
    texts += [draw_label(axes, x, y, words, "left", size=SIZE) for x, y, words in lines]
    for text in texts:
        text.set_family("monospace")
    return texts


def stamp_words(pixels, scale, names, lines, right):
    """Print onto pixels what `write` writes on axes.

    Parameters
    ----------
    pixels : numpy.ndarray
        Shape [height, width, 3], bytes; changed in place.
    scale : float
        Device pixels for each pixel of the picture.
    names : list of Label
        From `place`.
    lines : list of tuple
        Left edge and middle in pixels, and the words.
    right : float
        Where the picture ends.
    """
    size = round(SIZE * scale)
    for box, words, ground in boxes(names, lines, right):
        stamp(pixels, tuple(round(x * scale) for x in box), words, size, INK, paper=ground)


def _first_free(anchor, name, outwards, frame, taken):
    """The nearest free place, the outward ones first."""
    turns = np.abs((WAYS - outwards + np.pi) % (2 * np.pi) - np.pi)
    half = np.array(_half(name)) + MARKER
    for radius in RADII:
        for way in WAYS[np.argsort(turns, kind="stable")]:
            direction = np.array([np.cos(way), np.sin(way)])
            x, y = anchor + direction * (half + radius)
            label = Label(name, float(x), float(y), tuple(anchor.tolist()), radius == RADII[0])
            if _inside(label.box, frame) and not _meets(label.box, taken):
                return label
    return None


def _half(words):
    """Half the width and half the height of a name with a little air round it."""
    return len(words) * ADVANCE * SIZE / 2 + 2, SIZE * 0.65 + 1


def _inside(box, frame):
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _meets(box, taken):
    left, top, right, bottom = box
    beside = (taken[:, 2] <= left) | (taken[:, 0] >= right)
    apart = beside | (taken[:, 3] <= top) | (taken[:, 1] >= bottom)
    return not apart.all()
