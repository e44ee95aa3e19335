"""The head on arrays alone: the composition of `head.compose`, with fewer passes over each grid.

Every stage is allocated once and filled in place, part by part.
"""

import numpy as np

from attnlib.core import parts
from attnlib.core.products import product


def scores(query, key, scale):
    """Score every query against every key.

    Parameters
    ----------
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    scale : float
        The factor of every raw score, at most 1.

    Returns
    -------
    tuple of numpy.ndarray
        The raw and the scaled scores.
    """
    raw_scores, scaled_scores = _grids(2, query)

    def fill(query, raw_scores, scaled_scores, key):
        fill_scores(query, key, scale, raw_scores, scaled_scores)

    _take(query, (fill, (query, raw_scores, scaled_scores), (key,)))
    return raw_scores, scaled_scores


def forward(query, key, value, scale):
    """Compute every stage of the forward pass.

    Parameters
    ----------
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    value : numpy.ndarray
        Shape [batch, tokens, d_v].
    scale : float
        The factor of every raw score, at most 1.

    Returns
    -------
    tuple of numpy.ndarray
        The raw scores, the scaled scores, the weights, the output, and the favoured key of each
        query, in the shape [batch, tokens].
    """
    made = *_grids(3, query), np.empty_like(value), np.empty(query.shape[:2], np.intp)

    def fill(query, raw_scores, scaled_scores, weights, output, favoured, key, value):
        fill_scores(query, key, scale, raw_scores, scaled_scores)
        total = fill_exps(scaled_scores, weights, favoured)
        # Divided after the sum, the mixture has one rounding less in each of its terms.
        product(weights, value, output)
        output /= total
        weights /= total

    _take(query, (fill, (query, *made), (key, value)))
    return made


def backward(head, grad_output):
    """Compute the gradient of every stage.

    Parameters
    ----------
    head : SelfAttentionForward
        Of the forward pass.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].

    Returns
    -------
    tuple of numpy.ndarray
        The gradients of V, the weights, the scaled scores, the raw scores, Q and K.
    """
    query, key, value, weights = head.query, head.key, head.value, head.weights
    grids = _grids(3, query)
    grad_query, grad_key, grad_value = map(np.empty_like, (query, key, value))

    def fill(grad_output, weights, output, favoured, *made):
        *grids, grad_query, key, value = made
        kept = value, weights, output, favoured
        fill_score_gradients(grad_output, *kept, head.scale, *grids)
        product(grids[2], key, grad_query)

    def fill_columns(weights, grad_raw, grad_value, grad_key, grad_output, query):
        product(weights, grad_output, grad_value)
        product(grad_raw, query, grad_key)

    by_rows = grad_output, weights, head.output, head._favoured, *grids, grad_query
    by_columns = weights.swapaxes(1, 2), grids[2].swapaxes(1, 2), grad_value, grad_key
    _take(query, (fill, by_rows, (key, value)), (fill_columns, by_columns, (grad_output, query)))
    return grad_value, *grids, grad_query, grad_key


def fill_scores(query, key, scale, raw_scores, scaled_scores):
    """Score queries against keys.

    Parameters
    ----------
    query : numpy.ndarray
        Shape [items, queries, d_k].
    key : numpy.ndarray
        Shape [items, tokens, d_k].
    scale : float
        The factor of every raw score, at most 1.
    raw_scores, scaled_scores : numpy.ndarray
        Shape [items, queries, tokens]: filled.
    """
    product(query, key.swapaxes(1, 2), raw_scores)
    np.multiply(raw_scores, scale, out=scaled_scores)


def fill_exps(scaled_scores, exps, favoured):
    """Turn scores into exponentials, counted from each query's largest score.

    Parameters
    ----------
    scaled_scores : numpy.ndarray
        Shape [items, queries, tokens].
    exps : numpy.ndarray
        Shape [items, queries, tokens]: filled.
    favoured : numpy.ndarray
        Shape [items, queries]: filled with each query's key of the largest score, the first of
        equal ones.

    Returns
    -------
    numpy.ndarray
        Shape [items, queries, 1]: the sums over keys, by which the weights come from `exps`.
    """
    # On rows of a few hundred, this is several times faster than to look for the maximum itself.
    scaled_scores.argmax(axis=2, out=favoured)
    np.subtract(scaled_scores, _entries(scaled_scores, favoured)[..., None], out=exps)
    np.exp(exps, out=exps)
    return exps.sum(axis=2, keepdims=True)


def fill_score_gradients(
    grad_output, value, weights, output, favoured, scale, grad_weights, grad_scaled, grad_raw
):
    """Send a gradient from the output back to the raw scores.

    Parameters
    ----------
    grad_output, output : numpy.ndarray
        Shape [items, queries, d_v].
    value : numpy.ndarray
        Shape [items, tokens, d_v].
    weights : numpy.ndarray
        Shape [items, queries, tokens].
    favoured : numpy.ndarray
        Shape [items, queries]: each query's key of the largest score.
    scale : float
        The factor of every raw score.
    grad_weights, grad_scaled, grad_raw : numpy.ndarray
        Shape [items, queries, tokens]: filled with the gradients of the weights, of the scaled and
        of the raw scores.
    """
    product(grad_output, value.swapaxes(1, 2), grad_weights)
    # sum_keys(A * dA) is dO . O: the same sum, over d_v features instead of all keys.
    mean = np.vecdot(grad_output, output)  # [items, queries]
    np.subtract(grad_weights, _common(mean, favoured, grad_weights)[..., None], out=grad_scaled)
    grad_scaled -= np.vecdot(weights, grad_scaled)[..., None]
    grad_scaled *= weights
    np.multiply(grad_scaled, scale, out=grad_raw)


def _common(mean, favoured, grad_weights):
    """Give for each query what is taken from all its dA first, for softmax is blind to it.

    Where a query has made its choice, the mean is nearly the favoured key's dA, and the difference
    of both would lose its digits. Counted from the favoured key's own dA, it is exact.
    """
    best = _entries(grad_weights, favoured)
    return np.where(near(best, mean), best, mean)


def near(best, mean):
    """Whether the favoured key's dA and the mean of a query are so near that digits get lost."""
    return 8 * np.abs(best - mean) <= np.abs(mean)


def _entries(grid, keys):
    """Give the entry of each row at its key."""
    rows = np.arange(0, grid.size, grid.shape[2]).reshape(keys.shape)
    return grid.reshape(-1).take(keys + rows)


def _grids(count, query):
    batch, tokens, _ = query.shape
    return [np.empty((batch, tokens, tokens), query.dtype) for _ in range(count)]


def _take(query, *steps):
    batch, tokens, width = query.shape
    # Overflow is told in words when all is computed.
    with np.errstate(all="ignore"):
        parts.take(steps, (batch, tokens, tokens), width)
