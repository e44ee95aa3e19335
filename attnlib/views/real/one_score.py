"""One raw score of a real head: query and key feature by feature, their products, and the sum.

A bar that stands up is positive, one that hangs down negative; the colour says it once more.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from attnlib.views import numbers, style, token_words
from attnlib.views.frame import POINT, draw_label, pixel_axes
from attnlib.views.showing import Picture

MOST = 128
"""The most features: with more, a bar would be too thin to be seen."""
TOP, GAP, FOOT, EDGE = 62, 30, 34, 8
"""Heights above the panels, between and below them, and the air within, in pixels."""
LEFT, RIGHT, TALL = 66, 18, 84
"""Room for the numbers of the scales, at the right edge, and a panel's height, in pixels."""
NUMBERED = 15
"""The narrowest way from bar to bar that has room for each feature's number."""
LARGEST = 3
"""How many of the largest products are named."""


@dataclass(frozen=True)
class BarsLayout:
    """Where the panels stand, in pixels.

    Attributes
    ----------
    panels, bars : int
        How many panels, one below the other, and how many bars in each.
    width : int
        Of the whole picture.
    """

    panels: int
    bars: int
    width: int = 800

    @property
    def height(self):
        """Of the whole picture."""
        return TOP + self.panels * (TALL + GAP) - GAP + FOOT

    @property
    def step(self):
        """The way from one bar to the next."""
        return (self.width - LEFT - RIGHT) / self.bars

    def top(self, panel):
        """The upper edge of one panel."""
        return TOP + panel * (TALL + GAP)

    def middles(self):
        """Where the bars stand from left to right."""
        return LEFT + (np.arange(self.bars) + 0.5) * self.step

    def height_at(self, panel, entries, scale):
        """How far down the picture numbers of one panel stand; `scale` are those it has room for.

        The scale takes in 0 as well.
        """
        least, most = min(0.0, np.min(scale)), max(0.0, np.max(scale))
        share = (most - np.asarray(entries)) / ((most - least) or 1.0)
        return self.top(panel) + EDGE + share * (TALL - 2 * EDGE)


def score_figure(one):
    """Draw how query and key of one weight make its raw score.

    Parameters
    ----------
    one : OneWeight
        From `one_weight.follow`; at most 128 features.

    Returns
    -------
    Picture
        Four panels: query, key, products, and their running sum, which ends at the score.

    Raises
    ------
    ValueError
        If there are more features.
    """
    width = len(one.products)
    if width > MOST:
        raise ValueError(f"the picture of one score has room for {MOST} features, got {width}")
    layout = BarsLayout(4, width)
    axes = pixel_axes(layout, scale=2)
    query, key = (token_words.drawn(one.tokens[place], place) for place in (one.query, one.key))
    _write_title(axes, one, width)
    draw_bars(axes, layout, 0, one.features[0], "query", one.features, f"query of {query}")
    draw_bars(axes, layout, 1, one.features[1], "key", one.features, f"key of {key}")
    products = "query × key, feature by feature"
    draw_bars(axes, layout, 2, one.products, "score", one.products, products)
    draw_sum(axes, layout, 3, one.products)
    _number_features(axes, layout)
    return Picture(axes.figure, _description(one))


def draw_bars(axes, layout, panel, entries, role, scale, title):
    """Draw one panel of bars.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    layout : BarsLayout
        Where.
    panel : int
        Which panel, the uppermost first.
    entries : numpy.ndarray
        Shape [features].
    role : str
        One of `style.ROLES`; its border and its cue in words.
    scale : numpy.ndarray
        All entries that heights and colours are to be compared with, these among them.
    title : str
        Its title.

    Returns
    -------
    matplotlib.collections.PatchCollection
        The bars, whose array holds `entries`.
    """
    zero, limit = layout.height_at(panel, 0.0, scale), style.limit_of(scale)
    ends = layout.height_at(panel, entries, scale)
    wide = 0.78 * layout.step
    bars = PatchCollection(
        [
            Rectangle((x - wide / 2, min(zero, end)), wide, abs(zero - end))
            for x, end in zip(layout.middles(), ends, strict=True)
        ],
        cmap=style.SIGNED_MAP,
        edgecolor=style.INK,
        linestyle=style.ROLES[role].line,
        linewidth=1.3 * POINT,
        zorder=2,
    )
    bars.set_array(entries)
    bars.set_clim(-limit, limit)
    axes.add_collection(bars, autolim=False)
    _draw_scale(axes, layout, panel, scale, f"{title} ({style.ROLES[role].cue})")
    return bars


def draw_sum(axes, layout, panel, products):
    """Draw the running sum of the products as a stair whose last step is the score.

    Returns
    -------
    matplotlib.lines.Line2D
        The stair.
    """
    sums = np.cumsum(products)
    heights = layout.height_at(panel, sums, sums)
    edges = LEFT + np.arange(layout.bars + 1) * layout.step
    (stair,) = axes.plot(
        np.repeat(edges, 2)[1:-1],
        np.repeat(heights, 2),
        color=style.INK,
        linewidth=1.8 * POINT,
        zorder=2,
    )
    end = f"running sum of the products; it ends at the raw score, {_printed(sums[-1])}"
    _draw_scale(axes, layout, panel, sums, end)
    axes.plot(
        edges[-1], heights[-1], marker="o", markersize=7 * POINT, color=style.MARK, clip_on=False
    )
    return stair


def _draw_scale(axes, layout, panel, scale, title):
    """The title of a panel, the line of 0, and the numbers that its scale reaches."""
    marks = {0.0, float(np.min(scale)), float(np.max(scale))}
    right, zero = layout.width - RIGHT, layout.height_at(panel, 0.0, scale)
    axes.hlines(zero, LEFT, right, colors=style.RULE, linewidth=POINT, zorder=1)
    for mark in marks:
        y = layout.height_at(panel, mark, scale)
        # The number of 0 gives way to one that would stand in it.
        if mark == 0 or abs(y - zero) > 11:
            words = numbers.signed(numbers.fixed(mark, 2)) if mark else "0"
            draw_label(axes, LEFT - 8, y, words, "right", style.SOFT_INK)
    _write(axes, LEFT, layout.top(panel) - 5, title, 11)


def _number_features(axes, layout):
    every = 1 if layout.step >= NUMBERED else 8
    y = layout.height - FOOT + 11
    for feature, x in list(enumerate(layout.middles()))[::every]:
        draw_label(axes, x, y, str(feature), colour=style.SOFT_INK, size=10)
    draw_label(axes, LEFT - 8, y, "feature", "right", style.SOFT_INK)


def _write_title(axes, one, width):
    title = (
        f"Layer {one.layer}, head {one.head}: one raw score, {_printed(one.raw_scores[one.key])}"
    )
    _write(axes, 14, 16, title, 13, weight="bold")
    note = f"a bar for each of the {width} features: up is positive, down is negative"
    _write(axes, 14, 35, note, 11, color=style.SOFT_INK)


def _write(axes, x, y, words, size, **look):
    """Write words that may hold any token."""
    look = {"color": style.INK, "family": token_words.FONT, **look}
    axes.text(x, y, words, size=size * POINT, va="center_baseline", parse_math=False, **look)


def _printed(number):
    return numbers.signed(numbers.fixed(number, 3))


def _description(one):
    query, key = (token_words.spoken(one.tokens[place], place) for place in (one.query, one.key))
    order = np.argsort(-np.abs(one.products), kind="stable")[:LARGEST]
    named = [
        f"{_printed(one.products[f])} in feature {f}, {_printed(one.features[0, f])} × "
        f"{_printed(one.features[1, f])}"
        for f in order
    ]
    positive = one.products[one.products > 0]
    return (
        f"Layer {one.layer}, head {one.head}: the query of {query} times the key of {key}, feature "
        f"by feature. The {len(one.products)} products sum to the raw score "
        f"{_printed(one.raw_scores[one.key])}: {len(positive)} above 0 bring "
        f"{_printed(positive.sum())}, the others {_printed(one.products.sum() - positive.sum())}. "
        f"The largest: {'; '.join(named)}."
    )
