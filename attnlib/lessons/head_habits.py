"""What a head of an encoder does on one sentence, by measure: how spread out it reads, and where.

Of BERT's heads many read the next token, the previous one, the separator or the first token
(Clark et al. 2019, arXiv:1906.04341). A habit is a statement about weights on this sentence: it
says where a query's weight goes, not why, and another sentence may show another habit.
"""

import math
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from attnlib.core.inputs import read_only

HABITS = {
    "next": "the next token",
    "previous": "the previous token",
    "separator": "the separator",
    "first": "the first token",
    "itself": "the token itself",
}
"""habit -> where the weight of a head with this habit goes."""

THRESHOLD = 0.5
"""A head has a habit if a larger share of its weight goes there: more than to all other keys."""

SEPARATOR = "[SEP]"
ROUNDING = 1e-3
"""The most by which a query's weights may miss the sum 1; half precision stays below it."""


@dataclass(frozen=True, eq=False)
class HeadHabits:
    """Measures of one head.

    Attributes
    ----------
    entropies : numpy.ndarray
        Shape [tokens (query)]: ``-sum_keys A ln A`` of each query, in nats.
    entropy : float
        Their mean.
    shares : dict of str to float
        By the names in `HABITS`: the share of a query's weight that goes there, averaged over the
        queries that have such a key; NaN where no query has one.
    """

    entropies: np.ndarray
    entropy: float
    shares: dict

    @property
    def largest_entropy(self):
        """The entropy ln T of equal weights over T keys; no weights over them have more."""
        return math.log(len(self.entropies))

    @property
    def habits(self):
        """Names of the habits that the head has, the largest share first."""
        found = [name for name, share in self.shares.items() if share > THRESHOLD]
        return tuple(sorted(found, key=lambda name: -self.shares[name]))


def measure(tokens, weights, separator=SEPARATOR):
    """Measure one head.

    Parameters
    ----------
    tokens : sequence of str
        T tokens.
    weights : array_like
        Shape [tokens (query), tokens (key)]; each query's weights sum to 1.
    separator : str, default "[SEP]"
        The token that ends a sentence.

    Returns
    -------
    HeadHabits
        Entropy and shares.

    Raises
    ------
    ValueError
        If there are not T × T weights, or they are no probabilities.

    Notes
    -----
    A token that is itself the first one, or a separator, is left out of the share that goes there:
    its own weight on itself is counted as ``"itself"`` alone.
    """
    weights = checked(tokens, weights)
    logarithms = np.log(np.where(weights > 0, weights, 1))
    # Adding 0 turns the -0.0 of a query that reads one key alone into 0.0.
    entropies = -np.sum(weights * logarithms, axis=-1) + 0.0
    shares = {name: _share(weights, goal) for name, goal in _goals(tokens, separator).items()}
    return HeadHabits(read_only(entropies), float(np.mean(entropies)), shares)


def survey(reading, separator=SEPARATOR):
    """Measure every head of an encoder that has read a sentence.

    Parameters
    ----------
    reading : object
        With `tokens`, T of them, and `layers`, each with `weights` [heads, T, T].
    separator : str, default "[SEP]"
        The token that ends a sentence.

    Returns
    -------
    tuple of tuple of HeadHabits
        ``survey[layer][head]``.
    """
    return tuple(
        tuple(measure(reading.tokens, weights, separator) for weights in layer.weights)
        for layer in reading.layers
    )


def strongest(surveyed, habit):
    """Order the heads by how much of their weight goes where a habit says.

    Parameters
    ----------
    surveyed : sequence of sequence of HeadHabits
        From `survey`.
    habit : str
        One of `HABITS`.

    Returns
    -------
    list of tuple
        Layer, head and share, the largest share first; empty where no query has such a key.

    Raises
    ------
    ValueError
        If there is no such habit.
    """
    if habit not in HABITS:
        raise ValueError(f"no habit is called {habit!r}: choose from {', '.join(HABITS)}")
    found = [
        (number, head, habits.shares[habit])
        for number, layer in enumerate(surveyed)
        for head, habits in enumerate(layer)
        if not math.isnan(habits.shares[habit])
    ]
    return sorted(found, key=lambda entry: -entry[2])


def weights_of(reading, layer, head):
    """Pick one head's weights.

    Parameters
    ----------
    reading : object
        With `layers`, each with `weights` [heads, tokens, tokens].
    layer, head : int
        From 0.

    Returns
    -------
    numpy.ndarray
        Shape [tokens (query), tokens (key)].

    Raises
    ------
    ValueError
        If there is no such layer or head.
    """
    position("layer", layer, len(reading.layers))
    weights = reading.layers[layer].weights
    position("head", head, len(weights))
    return weights[head]


def position(name, given, count):
    """Refuse a position that a counted thing doesn't have.

    Raises
    ------
    ValueError
        If `given` is no whole number from 0 to `count` - 1.
    """
    if not isinstance(given, Integral) or not 0 <= given < count:
        raise ValueError(
            f"{name} must be a whole number from 0 to {count - 1}, got {given!r}: "
            f"there are {count}, counted from 0"
        )


def checked(tokens, weights):
    """Refuse weights that don't belong to these tokens.

    Parameters
    ----------
    tokens : sequence of str
        T tokens, one or more.
    weights : array_like
        Shape [T, T].

    Returns
    -------
    numpy.ndarray
        The weights in double precision.

    Raises
    ------
    ValueError
        If the counts differ, or a row is no distribution over the keys.
    """
    weights = np.asarray(weights)
    expected = (len(tokens), len(tokens))
    if not len(tokens) or weights.shape != expected:
        raise ValueError(
            f"one head's weights must have the shape [queries, keys] of its {len(tokens)} tokens, "
            f"{list(expected)}, got {list(weights.shape)}: pick one head, as in "
            "`reading.layers[layer].weights[head]`, and pass the tokens of the same sentence"
        )
    weights = weights.astype(np.float64)
    wrong = ~(np.min(weights, axis=-1) >= 0) | ~(np.abs(weights.sum(axis=-1) - 1) <= ROUNDING)
    if wrong.any():
        query = int(np.argmax(wrong))
        raise ValueError(
            f"each query's weights must be 0 or more and sum to 1 over the keys, got "
            f"{weights[query].sum():.6g} for query {query}: pass the weights, not the scores, with "
            "queries on the first axis and keys on the second"
        )
    return weights


def _goals(tokens, separator):
    """For each habit, which key counts for which query: arrays of bool, [query, key]."""
    count = len(tokens)
    itself = np.eye(count, dtype=bool)
    separators = np.array([token == separator for token in tokens])
    first = np.arange(count) == 0
    return {
        "next": np.eye(count, k=1, dtype=bool),
        "previous": np.eye(count, k=-1, dtype=bool),
        "separator": ~separators[:, None] & separators,
        "first": ~first[:, None] & first,
        "itself": itself,
    }


def _share(weights, goal):
    asking = goal.any(axis=-1)
    reached = np.sum(weights * goal, axis=-1)[asking]
    return float(np.mean(reached)) if asking.any() else math.nan
