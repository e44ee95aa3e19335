"""Where the three alignment pictures stand, and how much of each word has room, in pixels."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

from attnlib.lessons.history import STATE_WIDTH as CONTEXT
from attnlib.views.layout import Layout, Place

WIDTH, PANEL, GUTTER = 960, 316, 6
"""The whole picture, one of the three in it, and the space between two."""
LABELS, AREA, TOP, BOTTOM = 86, 216, 142, 36
"""Inside a panel: room for the rows' labels, the grid's width, what stands above and below it."""
ROW, ROWS = 80, 216
"""Most height of one row, and of all rows together."""
NARROW = 156
"""Width of the one context: less than that of the words, as it has fewer numbers."""
STEPS_LINE, WORD_LINES, BACK_LINE = 66, (82, 96), 115
"""Below a panel's upper edge: the first line of circles, two lines of words, the second line."""
MOST = 8
"""Most words and decoder steps that the picture has room for."""
SMALLEST = 9.5
"""Size in pixels below which fewer digits are better."""
FONT, WORD_SIZE, ADVANCE = "DejaVu Sans Mono", 10, 0.602
"""The words' font, its size in pixels, and a character's width as a share of that."""
HEADS = (
    ("context", "1 · One fixed context", "Cho et al. 2014", "plain", "s", "c"),
    ("alignment", "2 · Additive alignment", "Bahdanau et al. 2015", "probability", "s", "h"),
    ("attention", "3 · Self-attention", "Vaswani et al. 2017", "probability", "q", "k"),
)
"""Name, title, paper, role, and the letters of rows and columns."""
MISSING, CUT = "\N{WHITE VERTICAL RECTANGLE}", "\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True)
class Grid(Place):
    """One of the three grids: a `Place` with words above and beside it."""

    def edges(self):
        """The cells' borders, as for a `Place`; the one context is narrower than the words."""
        width = NARROW if self.name == "context" else AREA
        x, y = self.x + LABELS + (AREA - width) // 2, self.y + TOP
        across = np.linspace(x, x + width, self.columns + 1)
        down = np.linspace(y, y + min(ROW * self.rows, ROWS), self.rows + 1)
        return np.rint(across).astype(int), np.rint(down).astype(int)

    def digits(self):
        """Size and most characters of a cell's number, as for a `Place`; there is always room."""
        left, top, right, bottom = self.box(0, 0)
        for characters, margin in ((6, 2), (5, 2), (4, 0)):
            room = right - left - margin
            size = min(12.0, room / (characters * ADVANCE), 0.8 * (bottom - top))
            if size >= SMALLEST or margin == 0:
                return size, characters

    def word_columns(self, tokens):
        """The middle of each word's column, whether the grid has such a column or not."""
        edges = np.linspace(self.x + LABELS, self.x + LABELS + AREA, tokens + 1)
        return (edges[:-1] + edges[1:]) / 2


@dataclass(frozen=True)
class Slot:
    """Room for one word.

    Attributes
    ----------
    token : int
        Which word.
    box : tuple of int
        Left, upper, right and lower edge.
    characters : int
        How many have room.
    """

    token: int
    box: tuple
    characters: int


def alignment_layout(tokens, steps, whole=False):
    """Place the three grids.

    Parameters
    ----------
    tokens, steps : int
        Words, and decoder steps.
    whole : bool, default False
        Whether the picture is as high as for the most rows, whatever their number.

    Returns
    -------
    Layout
        Its places are named ``"context"``, ``"alignment"`` and ``"attention"``.
    """
    shapes = ((steps, CONTEXT), (steps, tokens), (tokens, tokens))
    places = tuple(
        Grid(*head, *shape, position * (PANEL + GUTTER), 0)
        for position, (head, shape) in enumerate(zip(HEADS, shapes, strict=True))
    )
    rows = ROWS if whole else min(ROW * max(tokens, steps), ROWS)
    return Layout(places, tokens, None, WIDTH, TOP + rows + BOTTOM)


def word_slots(layout):
    """Find the room for every word: above each grid, and beside the one whose rows are words.

    Parameters
    ----------
    layout : Layout
        From `alignment_layout`.

    Returns
    -------
    list of Slot
        No two of them overlap.
    """
    slots, tokens = [], layout.tokens
    staggered = tokens > 4
    column = AREA / tokens
    # On two lines in turn, a word may be as wide as two columns, unless that is beyond the edge.
    width = min((2 if staggered else 1) * column - 4, 2 * (PANEL - LABELS - AREA) + column)
    for place in layout.places:
        for token, x in enumerate(place.word_columns(tokens)):
            y = WORD_LINES[token % 2] if staggered else sum(WORD_LINES) / 2
            slots.append(_slot(token, place.y + y, x - width / 2, width))
    attention = layout.places[-1]
    _, down = attention.edges()
    for token, y in enumerate((down[:-1] + down[1:]) / 2):
        slots.append(_slot(token, y, attention.x + 19, LABELS - 41))
    return slots


def _slot(token, y, left, width):
    box = (round(left), round(y) - 7, round(left + width), round(y) + 7)
    return Slot(token, box, int((box[2] - box[0]) / (ADVANCE * WORD_SIZE)))


def fitted(word, characters):
    """Shorten a word to the room there is, so that it is never cut in the middle of a letter.

    Parameters
    ----------
    word : str
        Any text.
    characters : int
        The most characters.

    Returns
    -------
    str
        A character that the font lacks is an empty rectangle; what follows is an ellipsis.
    """
    shown = unicodedata.normalize("NFC", word)
    shown = "".join(letter if ord(letter) in _drawable() else MISSING for letter in shown)
    return shown if len(shown) <= characters else shown[: characters - 1] + CUT


@lru_cache(maxsize=1)
def _drawable():
    return frozenset(FT2Font(font_manager.findfont(FONT)).get_charmap())
