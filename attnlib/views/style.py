"""Colours, borders and cues: the only place that knows how each role of an attention head looks.

No role and no sign is told by colour alone. Every role has a border of its own and a word; the
words stand beside it in every view.
"""

from dataclasses import dataclass

import matplotlib
import numpy as np


@dataclass(frozen=True)
class Role:
    """How one role of an array is drawn.

    Attributes
    ----------
    cue : str
        The border in words, for the caption.
    css : str
        The border of a table cell.
    line : str
        The matplotlib line style of the border.
    double : bool
        Whether pictures draw the border twice.
    """

    cue: str
    css: str
    line: str
    double: bool = False


DPI = 100
"""Layout pixels in an inch of a figure."""

INK = "#1a1a1a"
PAPER = "#ffffff"
DIGITS = "#000000"
"""Digits on a fill are pure black or white: one of the two then has a contrast of 4.58 or more."""
SOFT_INK = "#555555"
TINT = "#f6f2ec"
RULE = "#8c8c8c"
GRID = "#e3ded5"
BAR = "#f3d9a4"
SHADE = "#e2a13a"
"""The ground of a word that has all the weight; ink on it has a contrast of 7 or more."""
MARK = "#b0005a"
CHOSEN_MARK, SOURCE_MARK = f"3px solid {MARK}", f"3px dashed {MARK}"
"""Lines round a cell that is read, and round the cells that it comes from."""

ROLES = {
    "query": Role("solid border", f"2px solid {INK}", "solid"),
    "key": Role("dashed border", f"2px dashed {INK}", "dashed"),
    "value": Role("double border", f"4px double {INK}", "solid", double=True),
    "score": Role("dotted border", f"2px dotted {INK}", "dotted"),
    "probability": Role("double line below", f"1px solid {INK}", "solid", double=True),
    "plain": Role("thin border", f"1px solid {RULE}", "solid"),
}
"""role -> its borders; gradients and outputs are plain."""


@dataclass(frozen=True)
class Trail:
    """How the arrows of one query are drawn beside those of others.

    Attributes
    ----------
    cue : str
        Line and marker in words, for the description.
    line : str or tuple
        The matplotlib line style.
    marker : str
        The matplotlib marker where the arrows end.
    size : float
        The marker's side in pixels; smaller for a later query, so that none hides another.
    colour : str
        Of both; it repeats what line and marker say.
    """

    cue: str
    line: str | tuple
    marker: str
    size: float
    colour: str


TRAILS = (
    Trail("solid line, filled circle", "solid", "o", 9.5, "#0b5394"),
    Trail("dashed line, square", (0, (5, 2)), "s", 6.5, "#9c3d00"),
    Trail("dotted line, triangle", (0, (1, 1.4)), "^", 5.5, "#1f6b3a"),
    Trail("dash-dotted line, diamond", (0, (6, 2, 1, 2)), "D", 4, "#6a2c91"),
)
"""Four queries can be told apart in one picture."""

SIGNED_MAP = "PuOr_r"
PROBABILITY_MAP = "cividis"
_STEPS = 256
_TABLES = {
    name: matplotlib.colormaps[name].resampled(_STEPS)(np.arange(_STEPS), bytes=True)[:, :3]
    for name in (SIGNED_MAP, PROBABILITY_MAP)
}


def fill(entries, role, limit):
    """Colour the cells of one grid.

    Parameters
    ----------
    entries : numpy.ndarray
        Any shape.
    role : str
        ``"probability"`` uses the fixed range 0 to 1; any other role is signed around 0.
    limit : float
        The size of a signed entry that gets the strongest colour.

    Returns
    -------
    numpy.ndarray
        Shape [..., 3], bytes: red, green and blue.
    """
    if role == "probability":
        share, name = entries, PROBABILITY_MAP
    else:
        share, name = (entries / limit + 1) / 2, SIGNED_MAP
    steps = np.clip(share * (_STEPS - 1) + 0.5, 0, _STEPS - 1).astype(np.intp)
    return _TABLES[name][steps]


def tint(share):
    """The ground of a word that has a share of the weight: paper at 0, `SHADE` at 1.

    Parameters
    ----------
    share : float
        From 0 to 1.

    Returns
    -------
    str
        A colour as CSS writes it, light enough for `INK` whatever the share.
    """
    ends = ([int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (PAPER, SHADE))
    mixed = (round(none + share * (all_ - none)) for none, all_ in zip(*ends, strict=True))
    return "#" + "".join(f"{byte:02x}" for byte in mixed)


def ink_on(colours):
    """Whether white digits read better than black ones on these fills.

    Parameters
    ----------
    colours : numpy.ndarray
        Shape [..., 3], bytes.

    Returns
    -------
    numpy.ndarray of bool
        Shape [...]; true for white.

    Notes
    -----
    Relative luminance below 0.179 is where white has the higher contrast (WCAG 2, 1.4.3).
    """
    linear = (np.asarray(colours) / 255.0) ** 2.2
    return linear @ np.array([0.2126, 0.7152, 0.0722]) < 0.179


def limit_of(*arrays):
    """A common colour limit: the next of 1, 2, 5, 10, ... above every entry's size.

    Parameters
    ----------
    *arrays : numpy.ndarray
        The arrays that share the limit.

    Returns
    -------
    float
        Steps rather than the exact maximum, so that colours don't shift with every small move.
    """
    largest = max((float(np.max(np.abs(array), initial=0.0)) for array in arrays), default=0.0)
    if largest == 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(largest))
    return float(next(power * step for step in (1, 2, 5, 10) if largest <= power * step * 1.000001))
