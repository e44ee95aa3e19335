"""One grid of a picture of a head: where its cells stand, in pixels, and what fits inside them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnlib.core.inputs import read_only

AREA_WIDTH = 101
"""Of the cells of a grid, together."""
BORDERS = ((44, 4), (24, 3), (0, 2))
"""Least side of a cell, and the pixels of its edge that belong to its border then."""
SMALL = 24
"""Cells below this side have one thin border line, whatever their role."""


@dataclass(frozen=True)
class Room:
    """What a grid's cells leave free around them.

    Attributes
    ----------
    side : int
        Left of them, for the names of rows.
    top : int
        Above them, for the title and the names of columns.
    height : int
        Of the cells, together, at most.
    """

    side: int
    top: int
    height: int


NUMBERED, LABELLED = Room(24, 40, 114), Room(46, 52, 102)
"""For names such as q₀, and for the tokens' own words beside them; both end at the same line."""


@dataclass(frozen=True)
class Place:
    """One grid of the picture.

    Attributes
    ----------
    name : str
        The quantity: ``"weights"``, ``"dQ"``, ...
    title, note : str
        The words above it.
    role : str
        One of `style.ROLES`.
    row_letter, column_letter : str
        Letters of the labels; features have no letter.
    rows, columns : int
        How many cells.
    x, y : int
        Left and upper corner of the place.
    room : Room
        Around the cells.
    """

    name: str
    title: str
    note: str
    role: str
    row_letter: str
    column_letter: str
    rows: int
    columns: int
    x: int
    y: int
    room: Room = NUMBERED

    def edges(self):
        """The cells' borders.

        Returns
        -------
        tuple of numpy.ndarray
            Pixel columns (columns + 1 of them) and pixel rows (rows + 1), as read-only integers.
        """
        return self._edges

    @cached_property
    def _edges(self):
        x, y = self.x + self.room.side, self.y + self.room.top
        # No cell is taller than wide by much: one token of one feature shouldn't fill the band.
        height = min(self.room.height, round(1.15 * AREA_WIDTH / self.columns * self.rows))
        across = np.linspace(x, x + AREA_WIDTH, self.columns + 1)
        down = np.linspace(y, y + height, self.rows + 1)
        return tuple(read_only(np.rint(edges).astype(int)) for edges in (across, down))

    def box(self, row, column):
        """The part of a cell inside its border.

        Returns
        -------
        tuple of int
            Left, upper, right and lower pixel edge.
        """
        across, down = self.edges()
        side = min(np.diff(across).min(), np.diff(down).min())
        inset = next(width for least, width in BORDERS if side >= least)
        return (
            int(across[column]) + inset,
            int(down[row]) + inset,
            int(across[column + 1]) - inset,
            int(down[row + 1]) - inset,
        )

    def digits(self):
        """How a cell's number is printed inside it.

        Returns
        -------
        tuple or None
            The digits' size in pixels and the most characters of a number; None where no useful
            number fits, as the tables beside the picture have them all.
        """
        left, top, right, bottom = self.box(0, 0)
        for characters, smallest in ((6, 10), (5, 8.5)):
            # A monospaced character is 0.602 as wide as the size of its font.
            size = min(12.0, (right - left) / (characters * 0.602), 0.8 * (bottom - top))
            if size >= smallest:
                return size, characters
        return None
