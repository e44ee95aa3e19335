"""The attention map of one head: a query a row, a key a column, each with its token, uncut.

The colour's range is 0 to 1 in every map. Beside the colour, each query's strongest key is marked,
and where the cells are large enough the weights stand in them.
"""

import numpy as np

from attnlib.lessons.head_habits import checked, measure, weights_of
from attnlib.views import style, token_words
from attnlib.views.frame import POINT, draw_label, pixel_axes
from attnlib.views.numbers import counted
from attnlib.views.real.attention_map_layout import (
    AIR,
    HEAD,
    KEY,
    LABEL,
    MARGIN,
    QUERY,
    SCALE,
    cell_side,
    chosen_positions,
    has_room_for_weights,
    map_layout,
)
from attnlib.views.real.head_words import entropy_words, habit_words, strongest_words
from attnlib.views.showing import Picture


def head_map(reading, layer, head, positions=None):
    """Draw the attention map of one head of an encoder that has read a sentence.

    Parameters
    ----------
    reading : object
        With `tokens`, T of them, and `layers`, each with `weights` [heads, T, T].
    layer, head : int
        From 0.
    positions : sequence of int, optional
        The tokens to show, 64 at most; all of them unless given.

    Returns
    -------
    Picture
        The map and its description.

    Raises
    ------
    ValueError
        If there is no such layer, head or token, or if there are too many tokens.
    """
    weights = weights_of(reading, layer, head)
    return attention_map(reading.tokens, weights, f"Layer {layer}, head {head}", positions)


def attention_map(tokens, weights, name="One head", positions=None):
    """Draw the attention map of one head.

    Parameters
    ----------
    tokens : sequence of str
        T tokens; any text.
    weights : array_like
        Shape [T (query), T (key)]; each query's weights sum to 1.
    name : str, default "One head"
        The title.
    positions : sequence of int, optional
        The tokens to show, 64 at most; all of them unless given.

    Returns
    -------
    Picture
        The map and its description.

    Raises
    ------
    ValueError
        If weights and tokens don't belong together, there is no such token, or too many tokens or
        too long a one.
    """
    weights = checked(tokens, weights)
    chosen = chosen_positions(tokens, positions)
    part = weights[np.ix_(chosen, chosen)]
    labels = [token_words.drawn(tokens[place], place) for place in chosen]
    habits = measure(tokens, weights)
    words = (token_words.in_font(name), f"{entropy_words(habits)}; {habit_words(habits)}")
    legend = _legend(len(chosen), whole=len(chosen) == len(tokens))
    layout = map_layout(labels, words, legend)
    axes = pixel_axes(layout, scale=2)
    _write_titles(axes, words)
    draw_map(axes, layout, part)
    draw_labels(axes, layout, labels)
    _draw_scale(axes, layout, legend)
    return Picture(axes.figure, _description(tokens, weights, words, chosen))


def draw_map(axes, layout, weights):
    """Draw the fills, the mark of each query's strongest key, and the weights that have room.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    layout : MapLayout
        Where.
    weights : numpy.ndarray
        Shape [queries, keys].

    Returns
    -------
    tuple
        The image, the collection of marks, and the list of texts.
    """
    edges = (layout.left, layout.right, layout.bottom, layout.top)
    image = axes.imshow(
        weights,
        cmap=style.PROBABILITY_MAP,
        vmin=0,
        vmax=1,
        extent=edges,
        interpolation="nearest",
        aspect="auto",
    )
    _draw_lines(axes, layout)
    return image, _mark_strongest(axes, layout, weights), _stamp(axes, layout, weights)


def draw_labels(axes, layout, labels):
    """Write the tokens beside the rows and above the columns.

    Returns
    -------
    list of matplotlib.text.Text
        The rows' labels, then the columns', then the names of the axes.
    """
    words = {"size": LABEL * POINT, "family": token_words.FONT, "color": style.INK}
    words["parse_math"] = False
    rows = [
        axes.text(layout.left - AIR, y, text, ha="right", va="center", **words)
        for y, text in zip(layout.middles(layout.top), labels, strict=True)
    ]
    columns = [
        axes.text(x, layout.top - AIR, text, ha="center", va="bottom", rotation=90, **words)
        for x, text in zip(layout.middles(layout.left), labels, strict=True)
    ]
    corner = axes.text(
        layout.left - AIR, layout.top - AIR - 2, QUERY, ha="right", va="bottom", **words
    )
    above = axes.text(layout.left, HEAD + 4, KEY, ha="left", va="center", **words)
    for text in (corner, above):
        text.set_color(style.SOFT_INK)
    return [*rows, *columns, corner, above]


def _write_titles(axes, words):
    look = {"family": token_words.FONT, "va": "center_baseline", "parse_math": False}
    title = {"size": 13 * POINT, "weight": "bold", "color": style.INK}
    note = {"size": LABEL * POINT, "color": style.SOFT_INK}
    axes.text(MARGIN, 16, words[0], **look, **title)
    axes.text(MARGIN, 35, words[1], **look, **note)


def _draw_lines(axes, layout):
    """Thin lines between cells, so that the eye keeps to a row, and the double frame round all."""
    inner = {"colors": style.PAPER, "linewidth": 0.5 * POINT}
    axes.vlines(
        layout.middles(layout.left)[1:] - layout.cell / 2, layout.top, layout.bottom, **inner
    )
    axes.hlines(
        layout.middles(layout.top)[1:] - layout.cell / 2, layout.left, layout.right, **inner
    )
    for air in (0.5, 3):
        corners = (layout.left - air, layout.right + air, layout.top - air, layout.bottom + air)
        left, right, top, bottom = corners
        outline = {"color": style.INK, "linewidth": POINT}
        axes.plot((left, right, right, left, left), (top, top, bottom, bottom, top), **outline)


def _mark_strongest(axes, layout, weights):
    queries, keys = np.nonzero(weights == weights.max(axis=-1, keepdims=True))
    x, y = layout.middles(layout.left)[keys], layout.middles(layout.top)[queries]
    white = style.ink_on(style.fill(weights[queries, keys], "probability", 1))
    inks = np.where(white, style.PAPER, style.DIGITS)
    framed = has_room_for_weights(layout.cell)
    side = (layout.cell - 6 if framed else 0.4 * layout.cell) * POINT
    return axes.scatter(
        x,
        y,
        s=side**2,
        marker="s" if framed else "o",
        facecolors="none" if framed else inks,
        edgecolors=inks,
        linewidths=1.5 * POINT if framed else 0,
        zorder=3,
    )


def _stamp(axes, layout, weights):
    if not has_room_for_weights(layout.cell):
        return []
    white = style.ink_on(style.fill(weights, "probability", 1))
    x, y = layout.middles(layout.left), layout.middles(layout.top)
    texts = []
    for query, key in np.argwhere(weights >= 0.005):
        ink = style.PAPER if white[query, key] else style.DIGITS
        words = f"{weights[query, key]:.2f}"
        texts.append(draw_label(axes, x[key], y[query], words, colour=ink, size=10))
    return texts


def _legend(count, whole):
    """The lines below the map: the scale's, the mark's, and what a row sums to."""
    framed = has_room_for_weights(cell_side(count))
    mark = "frame" if framed else "dot"
    blank = "; a weight below 0.005 has no number" if framed else ""
    total = "each row sums to 1" if whole else "a part of the tokens: a row sums to 1 at most"
    return (f"{mark}: the strongest key of each query{blank}", f"0 to 1: weight; {total}")


def _draw_scale(axes, layout, legend):
    upper = layout.bottom + 16
    draw_label(axes, MARGIN, upper, legend[0], "left")
    bar = (MARGIN, MARGIN + SCALE, upper + 28, upper + 14)
    shades = np.linspace(0, 1, 121)[None]
    axes.imshow(
        shades, cmap=style.PROBABILITY_MAP, vmin=0, vmax=1, extent=bar, aspect="auto", zorder=1
    )
    draw_label(axes, bar[1] + AIR, upper + 21, legend[1], "left")


def _description(tokens, weights, words, chosen):
    part = "" if len(chosen) == len(tokens) else f", of which {len(chosen)} are shown"
    return (
        f"{words[0]}, {counted(len(tokens), 'token')}{part}: a query is a row, a key a column. "
        f"{words[1][0].upper()}{words[1][1:]}. {strongest_words(tokens, weights, chosen)}"
    )
