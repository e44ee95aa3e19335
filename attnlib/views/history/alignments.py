"""Three alignment pictures side by side: one context, one row after another, every pair at once.

A query is a row and a key a column in each. Numbered circles tell the order: steps with the same
number can run at the same time, a higher number waits for the lower ones.
"""

import numpy as np

from attnlib.views import figures, style
from attnlib.views.frame import POINT, draw_frame, draw_label, pixel_axes
from attnlib.views.history.alignment_layout import (
    AREA,
    BACK_LINE,
    FONT,
    LABELS,
    MOST,
    STEPS_LINE,
    WORD_SIZE,
    alignment_layout,
    fitted,
    word_slots,
)
from attnlib.views.history.alignment_words import alignment_sentence
from attnlib.views.numbers import counted
from attnlib.views.showing import Picture

RADIUS = 7.5
LIMIT = 1.0
"""A context's numbers come out of tanh, so that this is where their colours end."""


def shown(history):
    """The numbers of each grid, by its name.

    Parameters
    ----------
    history : ModelHistory
        One run of the three models.

    Returns
    -------
    dict of str to numpy.ndarray
        ``"context"`` [steps, numbers], ``"alignment"`` [steps, tokens], ``"attention"`` [tokens,
        tokens].

    Raises
    ------
    ValueError
        If there are more words or steps than the picture has room for.
    """
    grids = {
        "context": history.earlier.contexts,
        "alignment": history.bridge.weights,
        "attention": history.transformer.weights,
    }
    steps, tokens = grids["alignment"].shape
    if max(steps, tokens) > MOST:
        raise ValueError(
            f"the picture has room for 1 to {MOST} words and 1 to {MOST} decoder steps, got "
            f"{tokens} words and {steps} steps: take a shorter sentence, or fewer steps"
        )
    return grids


def alignment_figure(history):
    """Draw what each model's decoder step, or query, reads.

    Parameters
    ----------
    history : ModelHistory
        One run of the three models, of 8 words and 8 decoder steps at most.

    Returns
    -------
    Picture
        Three grids with their words, and what they show in words.
    """
    grids = shown(history)
    layout = alignment_layout(len(history.tokens), len(grids["alignment"]))
    axes = pixel_axes(layout, scale=2)
    draw_alignment_frame(axes, layout)
    draw_words(axes, layout, history.tokens)
    for place in layout.places:
        figures.draw_cells(axes, place, grids[place.name], LIMIT)
    return Picture(axes.figure, alignment_sentence(history))


def draw_alignment_frame(axes, layout):
    """Draw all that depends on the number of words and steps alone.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `pixel_axes`.
    layout : Layout
        From `alignment_layout`.

    Returns
    -------
    list of matplotlib.artist.Artist
        Titles, labels, borders, and the numbered circles.
    """
    artists = draw_frame(axes, layout)
    fixed, additive, attention = layout.places
    tokens, steps = layout.tokens, fixed.rows
    for place, (pairs, waiting, *sides) in zip(layout.places, _told(tokens, steps), strict=True):
        foot = place.edges()[1][-1]
        above = ((30, pairs, style.INK), (46, waiting, style.INK))
        below = ((foot + 13, sides[0], style.SOFT_INK), (foot + 27, sides[1], style.SOFT_INK))
        artists += [
            draw_label(axes, place.x + 2, y, line, "left", ink) for y, line, ink in above + below
        ]
    order = range(1, tokens + 1)
    for place in (fixed, additive):
        artists += _draw_chain(axes, place.word_columns(tokens), STEPS_LINE, order)
        artists += _draw_row_order(axes, place, range(tokens + 1, tokens + steps + 1))
    artists += _draw_chain(axes, additive.word_columns(tokens)[::-1], BACK_LINE, order, "<")
    artists += _draw_row_order(axes, attention, [1] * tokens)
    return artists + _draw_funnel(axes, fixed)


def _told(tokens, steps):
    """For each picture: its pairs, who waits, and what a row and a column are."""
    return (
        (
            "No pair: every step reads the same context.",
            f"{tokens + steps} steps, each waits for the one before.",
            "row: a decoder step; it asks nothing",
            "column: one number of the context c",
        ),
        (
            f"{counted(steps * tokens, 'pair')}: decoder state s, annotation h.",
            f"{tokens + steps} steps: both ways at once, then row by row.",
            "row: query side, a decoder state",
            "column: key side, an annotation",
        ),
        (
            f"{counted(tokens * tokens, 'pair')}: every word with every word.",
            "1 step for the whole grid: no row waits.",
            "row: query side, a word",
            "column: key side, a word of the same text",
        ),
    )


def draw_words(axes, layout, tokens):
    """Write the words above the grids, and beside the one whose rows are words.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `pixel_axes`.
    layout : Layout
        From `alignment_layout`.
    tokens : sequence of str
        The words; each is shortened to its room.

    Returns
    -------
    list of matplotlib.text.Text
        One for each slot.
    """
    return [
        axes.text(
            (slot.box[0] + slot.box[2]) / 2,
            (slot.box[1] + slot.box[3]) / 2,
            fitted(tokens[slot.token], slot.characters),
            size=WORD_SIZE * POINT,
            family=FONT,
            ha="center",
            va="center_baseline",
            color=style.INK,
            parse_math=False,
        )
        for slot in word_slots(layout)
    ]


def _draw_row_order(axes, place, order):
    """A circle left of each row; an arrow where the next row waits."""
    across, down = place.edges()
    left = across[0] - 34 if place.row_letter == "s" else place.x + RADIUS + 1
    middles = (down[:-1] + down[1:]) / 2
    return _draw_order(axes, np.full(len(middles), left), middles, order, "v")


def _draw_chain(axes, columns, y, order, head=">"):
    """A circle for each word; an arrow to the word that is read next."""
    return _draw_order(axes, columns, np.full(len(columns), y), order, head)


def _draw_order(axes, x, y, order, head):
    """Numbered circles, and an arrow from each to the next where that has a higher number."""
    look = {"color": style.INK, "markersize": 2 * RADIUS * POINT, "linewidth": 0.9 * POINT}
    waits = np.diff(order) > 0
    line = axes.plot(x, y, linestyle="-" if np.any(waits) else "none", zorder=1, **look)
    ends = np.array([x, y])
    steps = np.diff(ends)
    lengths = np.hypot(*steps)
    tips = (ends[:, 1:] - steps / lengths * (RADIUS + 4))[:, waits]
    tips = axes.plot(*tips, head, zorder=2, **look | {"markersize": 4.5 * POINT})
    ground = {"markerfacecolor": style.TINT, "markeredgewidth": 0.8 * POINT}
    circles = axes.plot(x, y, "o", zorder=2, **look, **ground)
    names = [
        draw_label(axes, *middle, str(number), size=9.5)
        for middle, number in zip(ends.T, order, strict=True)
    ]
    return [*line, *tips, *circles, *names]


def _draw_funnel(axes, place):
    """All words end in one context: two lines that draw in, and what goes through."""
    across, down = place.edges()
    upper, lower = BACK_LINE - 9, down[0] - 17
    ends = ((place.x + LABELS, across[0]), (place.x + LABELS + AREA, across[-1]))
    artists = [
        axes.plot((start, end), (upper, lower), color=style.INK, linewidth=1.2 * POINT)[0]
        for start, end in ends
    ]
    words = f"all words end in {place.columns} numbers"
    return [*artists, draw_label(axes, sum(across[[0, -1]]) / 2, BACK_LINE, words, size=10)]
