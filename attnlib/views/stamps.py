"""Cells, bars and digits painted straight onto pixels, for pictures that must follow a slider.

They look as `figures.draw_cells` and `figures.draw_bars` look, from the same places, colours and
words; but a number costs microseconds here, since each character is rasterized once.
"""

from functools import lru_cache

import numpy as np
from matplotlib import font_manager
from PIL import ImageFont

from attnlib.core.inputs import read_only
from attnlib.views import figures, numbers, style

INK, PAPER, BAR, DIGITS = (
    np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=np.uint8)
    for colour in (style.INK, style.PAPER, style.BAR, style.DIGITS)
)


class CellPainter:
    """Paints the cells of one grid, and only those that changed since the last time.

    Parameters
    ----------
    place : Place
        The grid.
    scale : float
        Device pixels for each pixel of the layout.
    """

    def __init__(self, place, scale):
        self.place = place
        cells = np.ndindex(place.rows, place.columns)
        boxes = [place.box(*cell) for cell in cells]
        self._boxes = [tuple(round(edge * scale) for edge in box) for box in boxes]
        fit = place.digits()
        self._size, self._characters = (round(fit[0] * scale), fit[1]) if fit else (None, 0)
        self._last = [None] * len(boxes)

    def paint(self, pixels, entries, limit):
        """Bring the grid's cells up to date.

        Parameters
        ----------
        pixels : numpy.ndarray
            Shape [height, width, 3], bytes; changed in place.
        entries : numpy.ndarray
            Shape [rows, columns].
        limit : float
            The size of a signed entry that gets the strongest colour.
        """
        entries = np.ravel(entries)
        colours = style.fill(entries, self.place.role, limit)
        white = style.ink_on(colours)
        for cell, box in enumerate(self._boxes):
            words = self._words(entries[cell])
            shown = (colours[cell].tobytes(), words)
            if shown == self._last[cell]:
                continue
            self._last[cell] = shown
            left, top, right, bottom = box
            pixels[top:bottom, left:right] = colours[cell]
            if words:
                stamp(pixels, box, words, self._size, PAPER if white[cell] else DIGITS)

    def _words(self, entry):
        if self._size is None:
            return ""
        return numbers.signed(numbers.short(entry, self._characters))


class BarPainter:
    """Paints each query's weights as a bar of segments, a key each; only bars that changed.

    Parameters
    ----------
    layout : Layout
        Where.
    scale : float
        Device pixels for each pixel of the layout.
    """

    def __init__(self, layout, scale):
        self._layout, self._scale = layout, scale
        self._hatched = _hatched(round(layout.height * scale), round(layout.width * scale), scale)
        self._last = [None] * layout.tokens

    def paint(self, pixels, weights):
        """Bring the bars up to date.

        Parameters
        ----------
        pixels : numpy.ndarray
            Shape [height, width, 3], bytes; changed in place.
        weights : numpy.ndarray
            Shape [tokens (query), tokens (key)].
        """
        bars = [[] for _ in weights]
        for query, key, x, y, width, height in self._layout.segments(weights):
            edges = (x, y, x + width, y + height)
            words = figures.segment_name(weights, query, key) if width >= figures.NAMED else ""
            bars[query].append((tuple(round(edge * self._scale) for edge in edges), words))
        for query, bar in enumerate(bars):
            if bar == self._last[query]:
                continue
            self._last[query] = bar
            for key, (box, words) in enumerate(bar):
                self._segment(pixels, box, hatched=key % 2)
                if words:
                    stamp(pixels, box, words, round(11 * self._scale), INK, paper=True)

    def _segment(self, pixels, box, hatched):
        left, top, right, bottom = box
        line = max(1, round(0.8 * self._scale))
        pixels[top:bottom, left : right + line] = INK
        inside = (slice(top + line, bottom - line), slice(left + line, right))
        pixels[inside] = self._hatched[inside] if hatched else BAR


@lru_cache(maxsize=16)
def _hatched(height, width, scale):
    """A page of slanted lines, to be cut to any segment of a bar."""
    rows, columns = np.arange(height)[:, None], np.arange(width)[None, :]
    lines = (rows + columns) % round(7 * scale) < max(1, round(0.8 * scale))
    return read_only(np.where(lines[..., None], INK, PAPER))


def stamp(pixels, box, words, size, ink, paper=False):
    """Print words in the middle of a box.

    Parameters
    ----------
    pixels : numpy.ndarray
        Shape [height, width, 3], bytes; changed in place.
    box : tuple of int
        Left, upper, right and lower edge.
    words : str
        What to print; it is cut at the box.
    size : int
        Size of the font in pixels.
    ink : numpy.ndarray
        Shape [3], bytes.
    paper : bool, default False
        Whether a plain ground is put under the words first.
    """
    cover = _word(words, size)
    left, top, right, bottom = box
    # What stood outside its box would be left behind by the next number: the word is cut there.
    skip = (max(0, cover.shape[0] - (bottom - top)), max(0, cover.shape[1] - (right - left)))
    cover = cover[skip[0] // 2 :, skip[1] // 2 :][: bottom - top, : right - left, None]
    height, width, _ = cover.shape
    left, top = (left + right - width) // 2, (top + bottom - height) // 2
    target = pixels[top : top + height, left : left + width]
    ground = PAPER if paper else target
    target[...] = ground + (cover * (ink.astype(np.float32) - ground) + 0.5).astype(np.int16)


@lru_cache(maxsize=2048)
def _word(words, size):
    """How much each pixel of a printed word is covered, from 0 to 1."""
    return np.concatenate([_glyph(character, size) for character in words], axis=1)


@lru_cache(maxsize=512)
def _glyph(character, size):
    """One character of the monospaced font, in a cell as tall as every other's."""
    font = _font(size)
    width = round(font.getlength("0"))
    ascent, descent = font.getmetrics()
    cell = np.zeros((ascent + descent, width), dtype=np.float32)
    mask, (x, y) = font.getmask2(character, mode="L")
    columns, rows = mask.size
    cover = np.array(mask, dtype=np.float32).reshape(rows, columns) / 255
    x, y = max(0, x), max(0, y)
    target = cell[y : y + rows, x : x + columns]
    target[...] = cover[: target.shape[0], : target.shape[1]]
    return cell


@lru_cache(maxsize=16)
def _font(size):
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans Mono"), size)
