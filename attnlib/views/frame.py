"""What stands in a picture of a head whatever its numbers: titles, labels and borders.

Drawn on axes whose unit is the pixel; each function takes the axes first and returns its artists.
"""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attnlib.views import numbers, style, token_names
from attnlib.views.place import SMALL
from attnlib.views.style import DPI

POINT = 72 / DPI
"""Points in a pixel: matplotlib sizes text and lines in points."""
WORDS, NAME, TWO_LINES, WORD = 10, 17, 25, 24
"""Size of a token's words, room for a name such as q₀ beside them, the least height of a row that
holds both, one below the other, and the narrowest column that has words above it."""


def pixel_axes(layout, scale=1):
    """Make a private figure whose axes span it whole, one unit a pixel, y downwards.

    Parameters
    ----------
    layout : Layout
        The picture's size.
    scale : float, default 1
        Device pixels for each pixel of the layout.

    Returns
    -------
    matplotlib.axes.Axes
        On a new figure with an Agg canvas, unknown to pyplot.
    """
    figure = Figure(figsize=(layout.width / DPI, layout.height / DPI), dpi=DPI * scale)
    FigureCanvasAgg(figure)
    figure.set_facecolor(style.PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, layout.width)
    axes.set_ylim(layout.height, 0)
    axes.set_autoscale_on(False)
    return axes


def draw_frame(axes, layout):
    """Draw titles, labels and borders of every grid and of the bars.

    Returns
    -------
    list of matplotlib.artist.Artist
        Texts, and one collection of border rectangles for each grid.
    """
    artists = [
        artist for place in layout.places for artist in _draw_place(axes, place, layout.labels)
    ]
    return artists + (_draw_bar_labels(axes, layout) if layout.bars else [])


def _draw_bar_labels(axes, layout):
    x, y, _, height = layout.bars
    step = height / layout.tokens
    artists = _title(axes, x, y - 26, "Each query's weights", "over the keys, k₀ first; sum to 1")
    side = layout.places[0].room.side
    for query, name in enumerate(numbers.labels("q", layout.tokens)):
        middle, words = y + (query + 0.5) * step, layout.labels[query] if layout.labels else ""
        artists += _draw_row_name(axes, x - 5, middle, name, words, (side - 6, step))
    note = "every second key is hatched"
    artists.append(draw_label(axes, x, y + height + 10, note, "left", style.SOFT_INK))
    return artists


def _draw_place(axes, place, labels):
    across, down = place.edges()
    role = style.ROLES[place.role]
    artists = _title(axes, place.x + 2, place.y, place.title, place.note)
    boxes = [
        (across[column], down[row], across[column + 1], down[row + 1])
        for row, column in np.ndindex(place.rows, place.columns)
    ]
    artists.append(_draw_borders(axes, boxes, role))
    row_words, column_words = (
        labels if labels and letter else ("",) * count
        for letter, count in ((place.row_letter, place.rows), (place.column_letter, place.columns))
    )
    room = (place.room.side - 6, np.diff(down).min())
    for row, words in enumerate(row_words):
        name = numbers.label(place.row_letter, row)
        y = (down[row] + down[row + 1]) / 2
        artists += _draw_row_name(axes, across[0] - 4, y, name, words, room)
    room = np.diff(across).min()
    for column, words in enumerate(column_words):
        name = numbers.label(place.column_letter, column)
        x = (across[column] + across[column + 1]) / 2
        artists.append(draw_label(axes, x, down[0] - 8, name, "center", size=min(11, 0.8 * room)))
        if room >= WORD:
            artists += _draw_words(axes, x, down[0] - 21, words, "center", room - 1)
    return artists


def _draw_row_name(axes, x, y, name, words, room):
    """A row's name, and the token's words below it, or beside it where rows are low."""
    width, height = room
    size = min(11, 0.95 * height)
    if words and height >= TWO_LINES:
        below = _draw_words(axes, x, y + 6, words, "right", width)
        return [draw_label(axes, x, y - 6 if below else y, name, "right", size=size), *below]
    beside = _draw_words(axes, x, y, words, "right", width - NAME)
    left = x - token_names.length(beside[0].get_text(), WORDS) - 3 if beside else x
    return [draw_label(axes, left, y, name, "right", size=size), *beside]


def _draw_words(axes, x, y, words, side, room):
    """As much of a token's own words as there is room for."""
    text = token_names.fitting(words, WORDS, room)
    if not text:
        return []
    label = draw_label(axes, x, y, text, side, style.SOFT_INK, WORDS)
    label.set(family=token_names.FONT, parse_math=False)
    return [label]


def _draw_borders(axes, boxes, role):
    """One rectangle a cell, or two where the role's border is double; one artist for them all."""
    plain = role is style.ROLES["plain"]
    insets, width = (0.5, 2.5) if role.double else (1.5,), 1 if role.double or plain else 1.8
    if min(min(right - left, bottom - top) for left, top, right, bottom in boxes) < SMALL:
        insets, width = insets[:1], min(width, 1)
    rectangles = [
        Rectangle((left + inset, top + inset), right - left - 2 * inset, bottom - top - 2 * inset)
        for left, top, right, bottom in boxes
        for inset in insets
    ]
    borders = PatchCollection(
        rectangles,
        facecolor="none",
        edgecolor=style.RULE if plain else style.INK,
        linestyle=role.line,
        linewidth=width * POINT,
    )
    return axes.add_collection(borders, autolim=False)


def _title(axes, x, y, title, note):
    words = axes.text(
        x, y + 10, title, size=13 * POINT, weight="bold", va="center_baseline", color=style.INK
    )
    beside = axes.annotate(
        note,
        xy=(1, 0),
        xycoords=words,
        xytext=(6 * POINT, 0),
        textcoords="offset points",
        size=11 * POINT,
        color=style.SOFT_INK,
        va="bottom",
    )
    return [words, beside]


def draw_label(axes, x, y, words, side="center", colour=style.INK, size=11):
    """Write words beside or inside what they name; `size` is in pixels."""
    return axes.text(x, y, words, size=size * POINT, ha=side, va="center_baseline", color=colour)
