"""Queries and keys as arrows from one origin: a long way in the same direction is a high score."""

import numpy as np

from attnlib.lessons.matching import match
from attnlib.views import labels, numbers, sentences, style
from attnlib.views.arrows import barbs, strokes
from attnlib.views.frame import POINT, draw_label, pixel_axes
from attnlib.views.layout import Layout
from attnlib.views.plane import Plane, draw_plane, reach
from attnlib.views.showing import Picture

BESIDE, TOP, LINE = 338, 54, 19
ROWS = 13
"""Most scores that are written out beside the plane."""
SIZE = Layout((), 0, None, 690, 350)
KEY = ("solid arrow: a query", "dashed arrow: a key")
LINES = {"q": ("solid", style.TRAILS[0].colour), "k": ((0, (5, 2)), style.TRAILS[1].colour)}


def match_figure(head, item=0, features=(0, 1)):
    """Draw queries and keys as arrows in the plane of two features, with the scores beside it.

    Parameters
    ----------
    head : SelfAttentionForward
        The head.
    item : int, default 0
        The batch item.
    features : tuple of int, default (0, 1)
        The two features of the plane. Lengths and cosines are those of all features.

    Returns
    -------
    Picture
        The figure and its description.

    Raises
    ------
    ValueError
        If there are no such item or features.
    """
    _check(head, item, features)
    parts = match(head, item)
    tips = {"q": head.query[item], "k": head.key[item]}
    tips = {letter: matrix[:, list(features)] for letter, matrix in tips.items()}
    names = [f"feature {feature}" for feature in features]
    plane = Plane(reach(np.concatenate(list(tips.values()))), *names)
    axes = pixel_axes(SIZE, scale=2)
    draw_plane(axes, plane, "Queries and keys")
    draw_arrows(axes, plane, tips)
    draw_scores(axes, parts)
    return Picture(axes.figure, _describe(parts, tips, head.key_width, features))


def _check(head, item, features):
    batch, _, width = head.query.shape
    if item not in range(batch):
        raise ValueError(f"item must be one of the {batch} batch items, got {item}")
    if len(features) != 2 or not set(features) <= set(range(width)):
        raise ValueError(
            f"features must be two of the {width} features of a query, got {features}: choose two "
            "that there are, such as (0, 1)"
        )


def draw_arrows(axes, plane, tips):
    """Draw an arrow from the origin to each query and each key, with its name.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    plane : Plane
        Where.
    tips : dict of str to numpy.ndarray
        ``"q"`` and ``"k"``, each of shape [tokens, 2].

    Returns
    -------
    dict of str to tuple
        By the same letters: the broken line of shafts and that of heads.
    """
    origin, artists, drawn = plane.at(np.zeros(2)), {}, []
    for letter, points in tips.items():
        line, colour = LINES[letter]
        ends = plane.at(points)
        arrows = np.stack([np.broadcast_to(origin, ends.shape), ends], axis=1)
        look = {"color": colour, "linewidth": 2 * POINT}
        (shafts,) = axes.plot(*strokes(arrows), linestyle=line, **look)
        (heads,) = axes.plot(*strokes(barbs(arrows)), **look)
        artists[letter] = shafts, heads
        drawn.append(ends)
    words = [name for letter in tips for name in numbers.labels(letter, len(tips[letter]))]
    ends = np.concatenate(drawn)
    middles = origin + np.array([[0.5], [0.75]])[:, None] * (ends - origin)
    for label in labels.place(ends, words, plane.frame, avoid=middles):
        text = draw_label(axes, label.x, label.y, label.words, "center", size=labels.SIZE)
        text.set_bbox({"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.8})
        text.set_family("monospace")
        if not label.near:
            axes.plot(*zip(label.anchor, (label.x, label.y), strict=True), color=style.RULE)
    return artists


def draw_scores(axes, parts):
    """Write each score as length times length times cosine, beside the plane.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `frame.pixel_axes`.
    parts : Match
        What to write.

    Returns
    -------
    list of matplotlib.text.Text
        A title, a line for each score as far as there is room, and the key.
    """
    title = {"size": 13 * POINT, "weight": "bold", "color": style.INK}
    texts = [axes.text(BESIDE, 16, "Score = length × length × cosine", **title)]
    cells = list(np.ndindex(parts.scores.shape))
    for position, cell in enumerate(cells[:ROWS]):
        y = TOP + position * LINE
        texts.append(draw_label(axes, BESIDE, y, _score(parts, *cell), "left", size=labels.SIZE))
        texts[-1].set_family("monospace")
    if len(cells) > ROWS:
        y = TOP + ROWS * LINE
        texts.append(draw_label(axes, BESIDE, y, f"and {len(cells) - ROWS} more", "left"))
    for position, words in enumerate(reversed(KEY)):
        y = SIZE.height - 12 - position * 17
        texts.append(draw_label(axes, BESIDE, y, words, "left", style.SOFT_INK))
    return texts


def _score(parts, query, key, whole=False):
    """One score and its parts: ``q₀ · k₁ = 3.000 × 2.236 × 0.894 = 6.000``."""
    factors = (
        parts.query_lengths[query],
        parts.key_lengths[key],
        parts.cosines[query, key],
        parts.scores[query, key],
    )
    # Beside the plane there is room for six characters a number.
    write = numbers.fixed if whole else numbers.short
    first, second, cosine, score = (numbers.signed(write(x, 6)) for x in factors)
    cosine = f"({cosine})" if cosine.startswith(numbers.MINUS) else cosine
    names = f"{numbers.label('q', query)} · {numbers.label('k', key)}"
    return f"{names} = {first} × {second} × {cosine} = {score}"


def _describe(parts, tips, width, features):
    shown = "" if width == 2 else f", of the {width} features"
    sentence = f"Arrows in the plane of feature {features[0]} across, feature {features[1]} up"
    told = []
    for letter, points in tips.items():
        for name, point in list(zip(numbers.labels(letter, len(points)), points, strict=True))[
            : sentences.SPOKEN
        ]:
            told.append(f"{name} ({', '.join(numbers.signed(numbers.fixed(x)) for x in point)})")
    cells = list(np.ndindex(parts.scores.shape))
    scores = [_score(parts, *cell, whole=True) for cell in cells[: sentences.SPOKEN]]
    rest = f"; {len(cells) - len(scores)} more" if len(cells) > len(scores) else ""
    return (
        f"{sentence}{shown}: {', '.join(told)}. Scores as length × length × cosine: "
        f"{'; '.join(scores)}{rest}."
    )
