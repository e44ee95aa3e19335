"""What a score is made of: how long a query and a key are, and how far they point the same way."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Match:
    """The parts of every score of one batch item.

    Attributes
    ----------
    query_lengths, key_lengths : numpy.ndarray
        Shape [tokens].
    cosines : numpy.ndarray
        Shape [tokens (query), tokens (key)], from -1 to 1: of the angle between a query and a key;
        0 where one of them has no length and so no direction.
    scores : numpy.ndarray
        The same shape: the dot products.
    """

    query_lengths: np.ndarray
    key_lengths: np.ndarray
    cosines: np.ndarray
    scores: np.ndarray


def match(head, item=0):
    """Take the scores of a head apart.

    Parameters
    ----------
    head : SelfAttentionForward
        The head.
    item : int, default 0
        The batch item.

    Returns
    -------
    Match
        Lengths and cosines.

    Notes
    -----
    q . k = |q| |k| cos(q, k): the geometric form of the dot product.
    """
    query, query_lengths = _direction(head.query[item])
    key, key_lengths = _direction(head.key[item])
    cosines = np.clip(query @ key.T, -1, 1)
    return Match(query_lengths, key_lengths, cosines, head.raw_scores[item])


def _direction(vectors):
    """Vectors brought to length 1, and their lengths."""
    # Squares of very large or small entries would leave the range of a float.
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    near_one = vectors / np.where(largest > 0, largest, 1)
    lengths = np.sqrt(np.sum(near_one**2, axis=1, keepdims=True))
    directions = near_one / np.where(lengths > 0, lengths, 1)
    return directions, (lengths * largest)[:, 0]
