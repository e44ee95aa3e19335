"""The head on arrays alone: the composition of `head.compose`, with fewer passes over each grid.

Every function fills arrays that its caller has made, so that each stage is allocated once and a
part of a head, some batch items or some queries, goes through all stages while it is in the cache.
"""

import math

import numpy as np

from attnlib.core import sharing

ROWS = 128
"""How many queries of a long sequence go together: one grid's rows of them still fit a cache."""
ENTRIES = 2**16
"""How many entries of a grid the short sequences that go together have."""
ALONE = 2**15
"""A product of fewer steps is computed by one thread in every BLAS."""
WORTH = 2**22
"""From this many steps of a product on, a second thread does more than its start costs."""


def forward(query, key, value, scale):
    """Compute every stage of the forward pass.

    Parameters
    ----------
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    value : numpy.ndarray or None
        Shape [batch, tokens, d_v]; without it, the way ends at the scaled scores.
    scale : float
        The factor of every raw score, at most 1.

    Returns
    -------
    tuple of numpy.ndarray
        The raw and the scaled scores; with values, also the weights and the output.
    """
    grid = (*query.shape[:2], key.shape[1])
    scores = np.empty(grid, query.dtype), np.empty(grid, query.dtype)
    mixed = () if value is None else (np.empty(grid, query.dtype), np.empty_like(value))

    def fill(items, rows):
        fill_scores(query[items, rows], key[items], scale, *(x[items, rows] for x in scores))
        if mixed:
            made = (x[items, rows] for x in mixed)
            fill_mixture(scores[1][items, rows], value[items], *made)

    _each_part(grid, key.shape[2], fill)
    return *scores, *mixed


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
    shape, dtype = head.weights.shape, head.weights.dtype
    grids = tuple(np.empty(shape, dtype) for _ in range(3))
    grad_query, grad_key = np.empty_like(head.query), np.empty_like(head.key)
    grad_value = np.empty_like(head.value)

    def fill_rows(items, rows):
        kept = head.value[items], head.weights[items, rows], head.output[items, rows]
        made = tuple(x[items, rows] for x in grids)
        fill_score_gradients(grad_output[items, rows], kept, head.scale, *made)
        np.matmul(made[2], head.key[items], out=grad_query[items, rows])

    def fill_columns(items, columns):
        for grid, sent, returned in (
            (head.weights, grad_output, grad_value),
            (grids[2], head.query, grad_key),
        ):
            back = grid[items, :, columns].swapaxes(1, 2)
            np.matmul(back, sent[items], out=returned[items, columns])

    _each_part(shape, head.key.shape[2], fill_rows, fill_columns)
    return grad_value, *grids, grad_query, grad_key


def _each_part(grid, width, *steps):
    """Take every step for every part of a grid; no part's step before all its earlier ones."""
    parts = parts_of(*grid[:2])
    work = math.prod(grid) * width
    run = _one_by_one if work < ALONE else sharing.alone if work < WORTH else sharing.share
    # Overflow is told in words when all is computed.
    with np.errstate(all="ignore"):
        if _whole_items(grid[1]):
            run(parts, lambda part: _one_by_one(steps, lambda step: step(*part)))
        else:
            for step in steps:
                run(parts, lambda part, step=step: step(*part))


def _one_by_one(tasks, work):
    for task in tasks:
        work(task)


def _whole_items(tokens):
    """Whether a part holds all rows of its items."""
    return tokens < 2 * ROWS


def parts_of(batch, tokens):
    """Cut a grid into parts, always the same for the same shape.

    Returns
    -------
    list of tuple of slice
        The items and the rows of each part: some whole items, or some rows of one item.
    """
    if _whole_items(tokens):
        step = max(1, ENTRIES // tokens**2)
        return [(slice(i, i + step), slice(None)) for i in range(0, batch, step)]
    step = math.ceil(tokens / (tokens // ROWS))
    rows = [slice(i, min(i + step, tokens)) for i in range(0, tokens, step)]
    return [(slice(i, i + 1), each) for i in range(batch) for each in rows]


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
    np.matmul(query, key.swapaxes(1, 2), out=raw_scores)
    np.multiply(raw_scores, scale, out=scaled_scores)


def fill_mixture(scaled_scores, value, weights, output):
    """Turn scores into weights over the keys, and mix the values.

    Parameters
    ----------
    scaled_scores : numpy.ndarray
        Shape [items, queries, tokens].
    value : numpy.ndarray
        Shape [items, tokens, d_v].
    weights : numpy.ndarray
        Shape [items, queries, tokens]: filled.
    output : numpy.ndarray
        Shape [items, queries, d_v]: filled.
    """
    np.subtract(scaled_scores, scaled_scores.max(axis=2, keepdims=True), out=weights)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=2, keepdims=True)
    np.matmul(weights, value, out=output)


def fill_score_gradients(grad_output, head, scale, grad_weights, grad_scaled, grad_raw):
    """Send a gradient from the output back to the raw scores.

    Parameters
    ----------
    grad_output : numpy.ndarray
        Shape [items, queries, d_v].
    head : tuple of numpy.ndarray
        The values [items, tokens, d_v], the weights [items, queries, tokens] and the output
        [items, queries, d_v].
    scale : float
        The factor of every raw score.
    grad_weights, grad_scaled, grad_raw : numpy.ndarray
        Shape [items, queries, tokens]: filled with the gradients of the weights, of the scaled and
        of the raw scores.
    """
    value, weights, output = head
    np.matmul(grad_output, value.swapaxes(1, 2), out=grad_weights)
    # sum_keys(A * dA) is dO . O: the same sum, over d_v features instead of all keys.
    np.subtract(grad_weights, np.vecdot(grad_output, output)[..., None], out=grad_scaled)
    grad_scaled *= weights
    settle_choices(weights, grad_scaled)
    np.multiply(grad_scaled, scale, out=grad_raw)


def settle_choices(weights, grad_scaled):
    """Give each key that has more than half of a query's weight its score gradient anew.

    There ``dA - sum_keys(A * dA)`` loses its digits: both are nearly dA. The score gradients of a
    query sum to zero, so the favoured key's is what all others lack.

    Parameters
    ----------
    weights, grad_scaled : numpy.ndarray
        Shape [items, queries, tokens]; the second is changed in place.
    """
    flat = grad_scaled.reshape(-1)
    chosen = np.flatnonzero(weights > 0.5)
    if chosen.size:
        flat[chosen] = 0.0
        lacking = grad_scaled.sum(axis=2).reshape(-1)
        flat[chosen] = 0.0 - lacking[chosen // grad_scaled.shape[2]]
