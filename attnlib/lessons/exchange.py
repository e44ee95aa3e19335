"""Which head carried a change: one head's output taken from another sentence, and all else left.

A weight says what a head read. Whether something further up depends on it is a question of cause:
it takes a change, and a look at what moves (Vig et al. 2020, arXiv:2004.12265).
"""

import numpy as np

from attnlib.lessons.head_habits import position
from attnlib.lessons.real_encoder.layers import split


def exchanged_scores(encoder, reading, donor, layer, head, query, key):
    """Compute a raw score anew with one lower head's output exchanged, for each such head.

    Parameters
    ----------
    encoder : Encoder
        That read both sentences.
    reading, donor : Reading
        The sentence in which heads are exchanged, and the one that gives their outputs; as many
        tokens each.
    layer, head : int
        Where the score stands, from 0; the layer is 1 or more.
    query, key : int
        Positions of the token that reads and of the one that is read, from 0. The outputs
        exchanged are those for the token that reads.

    Returns
    -------
    numpy.ndarray
        Shape [layers below, heads]: the raw score with that head's output exchanged.

    Raises
    ------
    ValueError
        If there is no such layer, head or token, or the sentences differ in length.
    """
    _check(encoder, reading, donor, layer, head, query, key)
    scores = np.empty((layer, encoder.config.heads))
    for lower, one in np.ndindex(scores.shape):
        output = reading.layers[lower].output.copy()
        output[one, query] = donor.layers[lower].output[one, query]
        state = encoder.layers[lower].after(reading.states[lower], output)
        for between in encoder.layers[lower + 1 : layer]:
            _, state = between(state)
        scores[lower, one] = _score(encoder.layers[layer], state, head, query, key)
    return scores


def _score(layer, state, head, query, key):
    queries = split(layer.query(state), layer.heads)  # [heads, tokens, d_k]
    keys = split(layer.key(state), layer.heads)
    return queries[head, query] @ keys[head, key]


def _check(encoder, reading, donor, layer, head, query, key):
    position("layer", layer, encoder.config.layers)
    position("head", head, encoder.config.heads)
    for name, place in (("query", query), ("key", key)):
        position(name, place, len(reading.tokens))
    if len(donor.tokens) != len(reading.tokens):
        raise ValueError(
            f"both sentences must have as many tokens, got {len(reading.tokens)} and "
            f"{len(donor.tokens)}: exchange a word for one that is a single token too"
        )
