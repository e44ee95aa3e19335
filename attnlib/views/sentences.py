"""A head told in sentences, for people who don't see the picture and for the words beside it."""

import numpy as np

from attnlib.lessons.evidence import objective
from attnlib.views import numbers, token_names

SPOKEN = 8
"""Queries that are told one by one; of a larger head the rest is counted."""
ROUNDING = 1e-9
"""Sizes that differ by a smaller share are told as equal."""


def head_sentence(head, grad_output, labels=()):
    """Say which value each query reads most, and the objective.

    Parameters
    ----------
    head : SelfAttentionForward
        The first batch item is told.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].
    labels : sequence of str, optional
        The tokens' own words.

    Returns
    -------
    str
        One or two sentences.
    """
    return f"{reading_sentence(head.weights[0], labels)} L = {_objective(head, grad_output)}."


def reading_sentence(weights, labels=()):
    """Say which value each query reads most.

    Parameters
    ----------
    weights : numpy.ndarray
        Shape [tokens (query), tokens (key)].
    labels : sequence of str, optional
        The tokens' own words.

    Returns
    -------
    str
        One sentence, such as ``"q₀ reads 98.6 % of v₁; q₁ reads 99.9 % of v₀."``
    """
    parts = []
    for query, row in enumerate(weights[:SPOKEN]):
        favoured = np.flatnonzero(row == row.max())
        values = " and ".join(_token("v", key, labels) for key in favoured[:3])
        each = " each" if len(favoured) > 1 else ""
        share = f"{100 * row.max():.1f} %{each} of {values}"
        if len(favoured) == len(row) > 1:
            share = f"{100 * row.max():.1f} % of every value"
        parts.append(f"{_token('q', query, labels)} reads {share}")
    rest = len(weights) - SPOKEN
    if rest > 0:
        parts.append(f"{rest} more queries follow")
    return "; ".join(parts) + "."


def favourite_sentence(scores, labels=()):
    """Say which key each query favours, before any softmax.

    Parameters
    ----------
    scores : numpy.ndarray
        Shape [tokens (query), tokens (key)].
    labels : sequence of str, optional
        The tokens' own words.

    Returns
    -------
    str
        One sentence, such as ``"q₀ favours k₁, with a score of 6.000000; ..."``.
    """
    parts = []
    for query, row in enumerate(scores[:SPOKEN]):
        names = [_token("k", key, labels) for key in np.flatnonzero(row == row.max())[:3]]
        favoured = " and ".join(names)
        size = f"a score of {_number(row.max())}{' each' if len(names) > 1 else ''}"
        parts.append(f"{_token('q', query, labels)} favours {favoured}, with {size}")
    rest = len(scores) - SPOKEN
    if rest > 0:
        parts.append(f"{rest} more queries follow")
    return "; ".join(parts) + "."


def _token(letter, position, labels):
    return token_names.spoken(numbers.label(letter, position), position, labels)


def grid_sentence(layout, shown):
    """Tell the numbers of a few grids, row by row.

    Parameters
    ----------
    layout : Layout
        The grids.
    shown : dict of str to numpy.ndarray
        Their numbers.

    Returns
    -------
    str
        Such as ``"Scores: q₀ [0.000000, 6.000000]; q₁ [6.000000, −4.000000]."``
    """
    return " ".join(_grid(place, shown[place.name]) for place in layout.places)


def _grid(place, entries):
    rows = [
        f"{numbers.label(place.row_letter, position)} [{', '.join(map(_number, row[:SPOKEN]))}]"
        for position, row in enumerate(entries[:SPOKEN])
    ]
    rest = " and more" if max(entries.shape) > SPOKEN else ""
    return f"{place.title}: {'; '.join(rows)}{rest}."


def _number(entry):
    return numbers.signed(numbers.fixed(entry))


def shape_sentence(shapes):
    """Say how many weights and outputs a head of these shapes has.

    Parameters
    ----------
    shapes : dict of str to tuple of int
        With ``"weights"`` and ``"output"``.

    Returns
    -------
    str
        One sentence.
    """
    batch, queries, keys = shapes["weights"]
    width = shapes["output"][2]
    return (
        f"{_count(batch, 'batch item')} of {_count(queries, 'query', 'queries')}: each has "
        f"{_count(keys, 'weight')} that sum to 1, one a key, and an output of "
        f"{_count(width, 'number')}, as wide as a value."
    )


def _count(number, one, many=None):
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def gradient_sentence(gradients):
    """Say where the objective would gain most, for each input.

    Parameters
    ----------
    gradients : dict of str to numpy.ndarray
        By names such as ``"dQ"``; each of shape [tokens, features].

    Returns
    -------
    str
        One sentence.
    """
    parts = []
    for name, gradient in gradients.items():
        sizes = np.abs(gradient)
        # Of sizes that differ by rounding alone, the first: which is larger would be chance.
        first = np.argmax(sizes >= sizes.max() * (1 - ROUNDING))
        row, column = np.unravel_index(first, gradient.shape)
        size = numbers.signed(numbers.fixed(gradient[row, column]))
        parts.append(f"{name} is largest at row {row}, feature {column}: {size}")
    return f"{'; '.join(parts)}."


def _objective(head, grad_output):
    return numbers.signed(numbers.fixed(objective(head, np.asarray(grad_output))))
