"""How far the dot products of random queries and keys spread, and what that rests on.

The argument for dividing scores by sqrt(d_k) is about numbers drawn in one particular way. Here it
is measured as assumed, and again with one assumption broken at a time. Nothing here is about heads
that have been trained.
"""

from dataclasses import dataclass

import numpy as np

WIDTH, PAIRS, SEED = 64, 20_000, 2017


@dataclass(frozen=True)
class DotProducts:
    """Many dot products of one kind of random query and key.

    Attributes
    ----------
    name : str
        What holds, in words.
    width, pairs : int
        d_k, and how many dot products were measured.
    mean, variance : float
        Measured.
    expected_mean, expected_variance : float
        What the arithmetic of expectations gives for this kind.
    """

    name: str
    width: int
    pairs: int
    mean: float
    variance: float
    expected_mean: float
    expected_variance: float


def measure(width=WIDTH, pairs=PAIRS, seed=SEED):
    """Measure dot products as the argument assumes them, and with one assumption broken at a time.

    Parameters
    ----------
    width : int, default 64
        d_k, 1 or more.
    pairs : int, default 20000
        How many pairs of a query and a key, 2 or more.
    seed : int, default 2017
        Of the draws; every kind starts from the same standard normal numbers.

    Returns
    -------
    tuple of DotProducts
        The kind that is assumed first.

    Raises
    ------
    ValueError
        For a width below 1 or fewer than two pairs.

    Notes
    -----
    Where all components are independent, and alike from feature to feature,

        Var(q . k) = d_k * (E[q_f^2] E[k_f^2] - (E[q_f] E[k_f])^2),

    which is ``d_k`` where every mean is 0 and every variance 1 (Vaswani et al. 2017, footnote 4).
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}: a dot product needs a feature")
    if pairs < 2:
        raise ValueError(f"pairs must be at least 2, got {pairs}: one number has no spread")
    random = np.random.default_rng(seed)
    query, key = random.standard_normal((2, pairs, width))
    return tuple(
        _measured(name, *vectors(query, key), *expected(width))
        for name, (vectors, expected) in KINDS.items()
    )


def _measured(name, query, key, expected_mean, expected_variance):
    dots = np.sum(query * key, axis=1)
    return DotProducts(
        name,
        query.shape[1],
        len(dots),
        float(np.mean(dots)),
        float(np.var(dots)),
        float(expected_mean),
        float(expected_variance),
    )


def _first_repeated(vectors):
    return np.repeat(vectors[:, :1], vectors.shape[1], axis=1)


KINDS = {
    "independent, mean 0, variance 1": (
        lambda query, key: (query, key),
        lambda width: (0, width),
    ),
    "mean 1 instead of 0": (
        lambda query, key: (query + 1, key + 1),
        lambda width: (width, 3 * width),
    ),
    "one number repeated in all components": (
        lambda query, key: (_first_repeated(query), _first_repeated(key)),
        lambda width: (0, width**2),
    ),
    "each key a copy of its query": (
        lambda query, key: (query, query),
        lambda width: (width, 2 * width),
    ),
}
"""name -> how its vectors come from standard normal ones, and its expected mean and variance."""
