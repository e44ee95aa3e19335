"""One weight of a real head, step by step: which layer, which head, whose query, whose key."""

from dataclasses import dataclass

import numpy as np

from attnlib.core.inputs import read_only
from attnlib.lessons.head_habits import position

LARGEST = 700
"""The largest scaled score of which float64 can hold exp, in whole hundreds."""


@dataclass(frozen=True, eq=False)
class OneWeight:
    """What one query's weight on one key is made of.

    Attributes
    ----------
    tokens : tuple of str
        T tokens.
    layer, head, query, key : int
        Which weight, from 0; the last two are positions of tokens.
    features : numpy.ndarray
        Shape [2, d_k]: the query's features, then the key's.
    products : numpy.ndarray
        Shape [d_k]: their products; the raw score is the sum.
    raw_scores, scaled_scores, powers, weights : numpy.ndarray
        Shape [T (key)]: the query's, over all keys; `powers` are exp of the scaled scores.
    """

    tokens: tuple
    layer: int
    head: int
    query: int
    key: int
    features: np.ndarray
    products: np.ndarray
    raw_scores: np.ndarray
    scaled_scores: np.ndarray
    powers: np.ndarray
    weights: np.ndarray

    @property
    def total(self):
        """The sum of the powers over all keys, by which each is divided."""
        return float(self.powers.sum())


def follow(reading, layer, head, query, key):
    """Follow one weight of an encoder that has read a sentence.

    Parameters
    ----------
    reading : Reading
        With `tokens`, T of them, and `layers`, each a head's record over its heads.
    layer, head : int
        From 0.
    query, key : int
        Positions of the token that reads and of the one that is read, from 0.

    Returns
    -------
    OneWeight
        The record's own numbers; products and powers are computed here.

    Raises
    ------
    ValueError
        If there is no such layer, head or token, or a score's power is too large for float64.

    Notes
    -----
    ``A[i, j] = exp(s_j) / sum_r exp(s_r)`` with ``s_j = q_i . k_j / sqrt(d_k)`` (Vaswani et al.
    2017, eq. 1). The core takes the largest score off all others first; the quotient is the same.
    """
    position("layer", layer, len(reading.layers))
    record = reading.layers[layer]
    position("head", head, len(record.query))
    for name, place in (("query", query), ("key", key)):
        position(name, place, len(reading.tokens))
    features = np.stack([record.query[head, query], record.key[head, key]])
    stages = (record.raw_scores, record.scaled_scores, record.weights)
    raw, scaled, weights = (stage[head, query] for stage in stages)
    if scaled.max() > LARGEST:
        raise ValueError(
            f"scaled scores must be {LARGEST} or less, for exp of them to be written out, got "
            f"{scaled.max():.6g}: choose another query or head"
        )
    computed = read_only(features), read_only(features[0] * features[1])
    powers = read_only(np.exp(scaled.astype(np.float64)))
    where = tuple(reading.tokens), layer, head, query, key
    return OneWeight(*where, *computed, raw, scaled, powers, weights)
