"""Where an attention map and its labels stand, in pixels; what has no room is refused."""

from dataclasses import dataclass

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from attnlib.lessons.head_habits import position
from attnlib.views import style, token_words
from attnlib.views.frame import POINT

MOST = 64
"""The most tokens: with more, a label would be smaller than can be read."""
LONGEST = 64
"""The most characters of one label."""
SMALLEST, LARGEST, SIDE = 13, 40, 640
"""Least and largest side of a cell in pixels, and that of the whole map where cells may shrink."""
STAMPED = 29
"""The least side of a cell that has room for its weight."""
LABEL, MARGIN, HEAD, FOOT = 11, 14, 56, 58
"""Size of labels, air, and the heights above the labels and below the map, in pixels."""
AIR = 8
"""Between a label and the map, whose frame needs a part of it."""
SCALE = 120
"""Width of the scale of colours."""
QUERY, KEY = "query (row) ↓", "key (column) →"


@dataclass(frozen=True)
class MapLayout:
    """Where the map stands, in pixels.

    Attributes
    ----------
    cell, tokens : int
        The side of a cell, and how many stand in a row.
    left, top : int
        The map's upper left corner.
    width : int
        Of the whole picture.
    """

    cell: int
    tokens: int
    left: int
    top: int
    width: int

    @property
    def right(self):
        """The map's right edge."""
        return self.left + self.cell * self.tokens

    @property
    def bottom(self):
        """The map's lower edge."""
        return self.top + self.cell * self.tokens

    @property
    def height(self):
        """Of the whole picture."""
        return self.bottom + FOOT

    def middles(self, start):
        """The cells' middles along an axis that starts at `start`."""
        return start + (np.arange(self.tokens) + 0.5) * self.cell


def chosen_positions(tokens, positions):
    """Choose which tokens an attention map shows.

    Parameters
    ----------
    tokens : sequence of str
        T tokens.
    positions : sequence of int or None
        Of the tokens to show; None for all of them.

    Returns
    -------
    list of int
        From 1 to 64 positions.

    Raises
    ------
    ValueError
        If there is no such token, or if there are too many or too long ones.
    """
    chosen = list(range(len(tokens)) if positions is None else positions)
    for place in chosen:
        position("a token's position", place, len(tokens))
    if not 0 < len(chosen) <= MOST:
        raise ValueError(
            f"an attention map has room for 1 to {MOST} tokens, got {len(chosen)}: show a part of "
            f"them with `positions=range({MOST})`, read a shorter sentence, or see what one token "
            "reads from with `token_reading`"
        )
    for place in chosen:
        length = len(token_words.shown(tokens[place]))
        if length > LONGEST:
            raise ValueError(
                f"a label of an attention map has room for {LONGEST} characters, got {length} for "
                f"token {place}: labels are never cut, so pass a shorter name for this token"
            )
    return chosen


def cell_side(tokens):
    """The side of a cell, in pixels, of a map of so many tokens."""
    return max(SMALLEST, min(LARGEST, SIDE // tokens))


def has_room_for_weights(cell):
    """Whether a cell of this side holds its weight as a number."""
    return cell >= STAMPED


def map_layout(labels, titles, notes):
    """Give every label and every line of words the room that it needs.

    Parameters
    ----------
    labels : sequence of str
        One for each token that is shown.
    titles, notes : sequence of str
        The lines above the map, the first in bold, and the lines below it, the second beside the
        scale.

    Returns
    -------
    MapLayout
        As large as it must be for nothing to be cut.
    """
    cell = cell_side(len(labels))
    wide = max(_width(text) for text in labels)
    left = MARGIN + round(max(wide, _width(QUERY))) + AIR
    top = HEAD + 16 + round(wide) + AIR
    lines = [_width(titles[0], 13, "bold"), *map(_width, (*titles[1:], notes[0]))]
    lines.append(SCALE + AIR + _width(notes[1]))
    width = max(left + max(cell * len(labels), round(_width(KEY))), MARGIN + round(max(lines)))
    return MapLayout(cell, len(labels), left, top, width + MARGIN)


def _width(words, size=LABEL, weight="normal"):
    """How many pixels wide a line of words is."""
    font = FontProperties(family=token_words.FONT, size=size * POINT, weight=weight)
    return RendererAgg(1, 1, style.DPI).get_text_width_height_descent(words, font, False)[0]
