"""Pictures of one head: `draw_cells` and `draw_bars` show its numbers inside a drawn frame.

Each drawing function takes the axes first and returns its artists; it computes nothing.
"""

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from attnlib.views import numbers, sentences, style
from attnlib.views.frame import POINT, draw_frame, draw_label, pixel_axes
from attnlib.views.layout import BACKWARD, FORWARD, head_layout, quantities, strip_layout
from attnlib.views.showing import Picture

HATCH = "////"
NAMED = 64
"""The narrowest segment of a bar, in pixels, that has room for its key's name and weight."""


def draw_cells(axes, place, entries, limit):
    """Draw one grid's fills and digits.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `pixel_axes`.
    place : Place
        Where, and in which role.
    entries : numpy.ndarray
        Shape [place.rows, place.columns].
    limit : float
        The size of a signed entry that gets the strongest colour.

    Returns
    -------
    tuple
        The collection of fills, whose array holds `entries` row by row, and the list of texts.
    """
    boxes = [place.box(*cell) for cell in np.ndindex(place.rows, place.columns)]
    probability = place.role == "probability"
    fills = PatchCollection(
        [Rectangle((x, y), right - x, bottom - y) for x, y, right, bottom in boxes],
        cmap=style.PROBABILITY_MAP if probability else style.SIGNED_MAP,
        linewidth=0,
        zorder=0,
    )
    fills.set_array(np.ravel(entries))
    fills.set_clim((0, 1) if probability else (-limit, limit))
    axes.add_collection(fills, autolim=False)
    fit = place.digits()
    if fit is None:
        return fills, []
    size, characters = fit
    white = style.ink_on(style.fill(np.ravel(entries), place.role, limit))
    texts = [
        axes.text(
            (x + right) / 2,
            (y + bottom) / 2,
            numbers.signed(numbers.short(entry, characters)),
            size=size * POINT,
            family="monospace",
            ha="center",
            va="center_baseline",
            color=style.PAPER if light else style.DIGITS,
        )
        for (x, y, right, bottom), entry, light in zip(boxes, np.ravel(entries), white, strict=True)
    ]
    return fills, texts


def draw_bars(axes, layout, weights):
    """Draw each query's weights as one bar of segments, a key each.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `pixel_axes`.
    layout : Layout
        Where.
    weights : numpy.ndarray
        Shape [tokens (query), tokens (key)].

    Returns
    -------
    tuple of list
        Rectangles, query by query and key by key, each as wide as its weight; and the names of the
        keys whose segment has room for one.
    """
    bars, names = [], []
    for query, key, x, y, width, height in layout.segments(weights):
        bar = Rectangle(
            (x, y),
            width,
            height,
            facecolor=style.PAPER if key % 2 else style.BAR,
            edgecolor=style.INK,
            linewidth=0.8 * POINT,
            hatch=HATCH if key % 2 else None,
            hatch_linewidth=0.6 * POINT,
        )
        bars.append(axes.add_patch(bar))
        if width >= NAMED:
            text = draw_label(
                axes, x + width / 2, y + height / 2, segment_name(weights, query, key)
            )
            text.set_bbox({"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.5})
            names.append(text)
    return bars, names


def segment_name(weights, query, key):
    """The words inside one segment of a bar: its key and its weight."""
    return f"{numbers.label('k', key)} {numbers.short(weights[query, key])}"


def limits(shown):
    """The colour limit of every quantity; those that are compared share one.

    Parameters
    ----------
    shown : dict of str to numpy.ndarray
        From `layout.quantities`.

    Returns
    -------
    dict of str to float
        By the same names.
    """
    groups = (
        ("Q", "K"),
        ("V", "output"),
        ("raw_scores", "scaled_scores"),
        ("weights",),
        ("dQ", "dK"),
        ("dV", "doutput"),
        ("draw_scores", "dscaled_scores"),
        ("dweights",),
    )
    return {
        name: style.limit_of(*(shown[member] for member in group if member in shown))
        for group in groups
        for name in group
    }


def head_figure(head, gradients, grad_output, labels=()):
    """Draw one head whole: Q, K, V, every stage, and the gradient of each.

    Parameters
    ----------
    head : SelfAttentionForward
        The first batch item is shown.
    gradients : SelfAttentionGradients
        Of the same head.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].
    labels : sequence of str, optional
        The tokens' own words.

    Returns
    -------
    Picture
        The figure and its description.
    """
    layout = head_layout(*_sizes(head), with_inputs=True, labels=tuple(labels))
    shown = quantities(head, gradients, np.asarray(grad_output))
    return Picture(_draw_all(layout, shown), sentences.head_sentence(head, grad_output, labels))


def forward_figure(head):
    """Draw one head's way from scores to output.

    Parameters
    ----------
    head : SelfAttentionForward
        The first batch item is shown.

    Returns
    -------
    Picture
        Four grids in a row, and their description.
    """
    words = (
        f"Scores, scaled scores, weights and output. {sentences.reading_sentence(head.weights[0])}"
    )
    return Picture(stages_figure(head, FORWARD).figure, words)


def stages_figure(head, names):
    """Draw a few of one head's inputs and stages in a row.

    Parameters
    ----------
    head : SelfAttentionForward
        The first batch item is shown.
    names : sequence of str
        ``"Q"``, ``"K"``, ``"V"``, ``"raw_scores"``, ``"scaled_scores"``, ``"weights"``,
        ``"output"``, in the order in which they are to stand.

    Returns
    -------
    Picture
        The grids, and their numbers in words.

    Raises
    ------
    ValueError
        If there is no such quantity.
    """
    known = {"Q": head.query, "K": head.key, "V": head.value}
    known |= {name: getattr(head, name) for name in FORWARD}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise ValueError(f"no stage is called {wrong[0]!r}: choose from {', '.join(known)}")
    shown = {name: known[name][0] for name in names}
    layout = strip_layout(tuple(names), *_sizes(head))
    return Picture(_draw_all(layout, shown), sentences.grid_sentence(layout, shown))


def gradient_figure(head, gradients, grad_output):
    """Draw the gradients of one head, from the weights' back to those of Q, K and V.

    Parameters
    ----------
    head : SelfAttentionForward
        The first batch item is shown.
    gradients : SelfAttentionGradients
        Of the same head.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].

    Returns
    -------
    Picture
        Five grids in a row, and their description.
    """
    shown = quantities(head, gradients, np.asarray(grad_output))
    words = sentences.gradient_sentence({name: shown[name] for name in ("dQ", "dK", "dV")})
    return Picture(_draw_all(strip_layout(BACKWARD, *_sizes(head)), shown), words)


def _sizes(head):
    return head.query.shape[1], head.key_width, head.value_width


def _draw_all(layout, shown):
    axes = pixel_axes(layout, scale=2)
    draw_frame(axes, layout)
    sizes = limits(shown)
    for place in layout.places:
        draw_cells(axes, place, shown[place.name], sizes[place.name])
    if layout.bars:
        draw_bars(axes, layout, shown["weights"])
    return axes.figure
