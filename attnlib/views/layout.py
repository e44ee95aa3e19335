"""Where each quantity of one head stands in its picture, in pixels; the explorer stands beside it.

Three bands of equal height, one for each of Q, K and V, so that the sliders of a matrix and its
gradient share a line. The forward strip runs along the first band, each query's weights along the
second, and the way back along the third: every quantity stands above its own gradient.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from attnlib.views.place import AREA_WIDTH, LABELLED, NUMBERED, Place

BAND, GAP, MARGIN = 158, 6, 3
"""Height of a band, the space below it, and the space beside a grid."""


@dataclass(frozen=True)
class Layout:
    """The whole picture.

    Attributes
    ----------
    places : tuple of Place
        The grids.
    tokens : int
        How many bars show each query's weights.
    bars : tuple of int or None
        Left, upper, width and height of the area for the bars, below their title; None for none.
    width, height : int
        Size of the picture.
    labels : tuple of str
        Each token's own words, or none.
    """

    places: tuple
    tokens: int
    bars: tuple | None
    width: int
    height: int
    labels: tuple = ()

    def segments(self, weights):
        """Where each weight's segment of its query's bar stands.

        Parameters
        ----------
        weights : numpy.ndarray
            Shape [tokens (query), tokens (key)].

        Yields
        ------
        tuple
            query, key, then x, y, width and height in pixels.
        """
        left, top, full, height = self.bars
        step = height / self.tokens
        thick = min(0.72 * step, 30)
        ends = np.concatenate([np.zeros((self.tokens, 1)), np.cumsum(weights, axis=1)], axis=1)
        # Rounding in the sum must not move the end of a bar by a pixel.
        ends[:, -1] = 1
        for query, key in np.ndindex(self.tokens, self.tokens):
            start, end = ends[query, key] * full, ends[query, key + 1] * full
            y = top + query * step + (step - thick) / 2
            yield query, key, left + start, y, end - start, thick


@lru_cache(maxsize=64)
def head_layout(tokens, key_width, value_width, with_inputs=False, labels=()):
    """Place every quantity of one head.

    Parameters
    ----------
    tokens, key_width, value_width : int
        T, d_k and d_v.
    with_inputs : bool, default False
        Whether Q, K and V stand in the picture too, left of their gradients; beside an explorer's
        sliders they need not.
    labels : tuple of str, optional
        The tokens' own words.

    Returns
    -------
    Layout
        Its size depends on `with_inputs` alone, and on whether there are labels.
    """
    widths = {"Q": key_width, "K": key_width, "V": value_width}
    room = LABELLED if labels else NUMBERED
    column = _column(room)
    start = column if with_inputs else 0
    places = []
    for band, (name, letter, role) in enumerate(
        (("Q", "q", "query"), ("K", "k", "key"), ("V", "v", "value"))
    ):
        shape = (letter, "", tokens, widths[name])
        y = band * (BAND + GAP)
        if with_inputs:
            places.append(Place(name, name, "", role, *shape, 0, y, room))
        places.append(Place(f"d{name}", f"d{name}", "", "plain", *shape, start, y, room))
    strip = [
        ("raw_scores", "Scores", "QKᵀ", "score", ("q", "k", tokens, tokens)),
        ("scaled_scores", "Scaled", "÷ √d", "score", ("q", "k", tokens, tokens)),
        ("weights", "Weights", "softmax", "probability", ("q", "k", tokens, tokens)),
        ("output", "Output", "A·V", "plain", ("o", "", tokens, value_width)),
    ]
    for position, (name, title, note, role, shape) in enumerate(strip, start=1):
        x = start + position * column
        places.append(Place(name, title, note, role, *shape, x, 0, room))
        back = Place(f"d{name}", f"d{title}", "", "plain", *shape, x, 2 * (BAND + GAP), room)
        places.append(back)
    height = 3 * BAND + 2 * GAP
    bars = (start + column + room.side, BAND + GAP + 26, 3 * column + AREA_WIDTH, 100)
    return Layout(tuple(places), tokens, bars, start + 5 * column, height, labels)


def _column(room):
    """Width of a grid with its labels."""
    return room.side + AREA_WIDTH + MARGIN


FORWARD = ("raw_scores", "scaled_scores", "weights", "output")
"""From scores to output."""
BACKWARD = ("dweights", "dscaled_scores", "dQ", "dK", "dV")
"""From the weights' gradient to those of the inputs."""


@lru_cache(maxsize=64)
def strip_layout(names, tokens, key_width, value_width, labels=()):
    """Place a few quantities of one head in one row, without bars.

    Parameters
    ----------
    names : sequence of str
        Which, in order.
    tokens, key_width, value_width : int
        T, d_k and d_v.
    labels : tuple of str, optional
        The tokens' own words.

    Returns
    -------
    Layout
        As wide as the row.
    """
    head = head_layout(tokens, key_width, value_width, True, labels)
    whole, column = {place.name: place for place in head.places}, _column(head.places[0].room)
    places = tuple(replace(whole[name], x=i * column, y=0) for i, name in enumerate(names))
    return Layout(places, tokens, None, len(places) * column, BAND, labels)


def quantities(head, gradients, grad_output):
    """The first batch item of each quantity, by the names of the places.

    Parameters
    ----------
    head : SelfAttentionForward
        One item or more; the first is shown.
    gradients : SelfAttentionGradients
        Of the same head.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].

    Returns
    -------
    dict of str to numpy.ndarray
        Matrices: no batch axis.
    """
    shown = {
        "Q": head.query,
        "K": head.key,
        "V": head.value,
        "raw_scores": head.raw_scores,
        "scaled_scores": head.scaled_scores,
        "weights": head.weights,
        "output": head.output,
        "dQ": gradients.query,
        "dK": gradients.key,
        "dV": gradients.value,
        "draw_scores": gradients.raw_scores,
        "dscaled_scores": gradients.scaled_scores,
        "dweights": gradients.weights,
        "doutput": grad_output,
    }
    return {name: array[0] for name, array in shown.items()}
