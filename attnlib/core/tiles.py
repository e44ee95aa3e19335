"""One head tile by tile: what `attnlib.core.streaming` computes, on accepted arrays.

A block is some queries of one batch item; it meets the keys tile by tile, in their order. Blocks
are shared among the cores. Where two of them add to the same keys they take turns, so that the sums
have the same bits for any number of threads.
"""

import math
import threading

import numpy as np

from attnlib.core import fused
from attnlib.core.products import STEP, product
from attnlib.core.sharing import Crew, share

QUERIES, KEYS = 256, 1024
"""The shape of a tile: two of them fit the cache of one core, and products still run at speed."""
ROWS = 16
"""How many queries are sent back at a time against all keys at once."""


def blocks(batch, tokens):
    """List the blocks: each the item and the slice of its queries."""
    return [(item, queries) for item in range(batch) for queries in _slices(tokens, QUERIES)]


def forward(query, key, value, scale):
    """Mix the values for every query.

    Parameters
    ----------
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    value : numpy.ndarray
        Shape [batch, tokens, d_v].
    scale : float
        The factor of every raw score.

    Returns
    -------
    output : numpy.ndarray
        Shape [batch, tokens, d_v].
    largest, total : numpy.ndarray
        Shape [batch, tokens]: each query's largest scaled score, and the sum of the exponentials
        of all, counted from it.
    favoured : numpy.ndarray
        Shape [batch, tokens]: the key of that score, the first of equal ones.

    Notes
    -----
    Milakov & Gimelshein 2018, algorithm 3, with the values mixed on the way (Dao et al. 2022,
    algorithm 1).
    """
    batch, tokens, _ = query.shape
    output = np.zeros_like(value)
    largest = np.full((batch, tokens), -np.inf, query.dtype)
    total = np.zeros((batch, tokens), query.dtype)
    favoured = np.zeros((batch, tokens), np.intp)
    space = _Space(1, tokens, query.dtype)

    def attend(block):
        item, queries = block
        mixed, top, sums, best = output[block], largest[block], total[block], favoured[block]
        added = np.empty_like(mixed)
        for keys in _slices(tokens, KEYS):
            (tile,) = space(queries, keys)
            _score(query[block], key[item, keys], scale, tile)
            found = tile.argmax(axis=1)
            highest = tile[np.arange(len(tile)), found]
            higher = highest > top
            best[higher] = keys.start + found[higher]
            shrink = np.exp(np.minimum(top - highest, 0))
            np.maximum(top, highest, out=top)
            tile -= top[:, None]
            np.exp(tile, out=tile)
            sums *= shrink
            sums += tile.sum(axis=1)
            mixed *= shrink[:, None]
            product(tile, value[item, keys], added)
            mixed += added
        mixed /= sums[:, None]

    share(blocks(batch, tokens), attend, tokens * key.size)
    return output, largest, total, favoured


def backward(head, grad_output):
    """Send a gradient from the output back to Q, K and V.

    Parameters
    ----------
    head : StreamingSelfAttention
        Of the forward pass.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].

    Returns
    -------
    tuple of numpy.ndarray
        The gradients of Q, K and V.

    Notes
    -----
    Dao et al. 2022, algorithm 4.
    """
    batch, tokens, _ = head.query.shape
    grad_query, grad_value = np.empty_like(head.query), np.zeros_like(head.value)
    grad_key, grad_near = np.zeros_like(head.key), np.zeros_like(head.key)
    space = _Space(2, tokens, head.query.dtype)
    crew = Crew()
    ranks = {queries.start: rank for rank, queries in enumerate(_slices(tokens, QUERIES))}

    def send_back(block):
        item, queries = block
        rank = ranks[queries.start]
        returning = _Returning(head, grad_output, block)
        for keys in _slices(tokens, KEYS):
            to_value, to_key = returning.through(keys, *space(queries, keys))
            with crew.turn((item, keys.start), rank):
                grad_value[item, keys] += to_value
                grad_key[item, keys] += to_key
        to_key = returning.near_rows()
        with crew.turn(item, rank):
            grad_near[item] += to_key
        grad_query[block] = returning.grad_query

    crew.share(blocks(batch, tokens), send_back, tokens * head.key.size)
    grad_key += grad_near
    return grad_query, grad_key, grad_value


class _Returning:
    """One block on its way back: what it sends to the keys, and what it gathers from them.

    Every weight is ``exps / total``; the division is done once, on the gradient of the output.
    """

    def __init__(self, head, grad_output, block):
        item, _ = block
        self._key, self._value, self._scale = head.key[item], head.value[item], head.scale
        self._query, self._largest = head.query[block], head._largest[block][:, None]
        self._whole = grad_output[block], head.output[block], head._favoured[block]
        mean = np.vecdot(*self._whole[:2])
        best = np.vecdot(grad_output[block], self._value[head._favoured[block]])
        (self._near,) = np.nonzero(fused.near(best, mean))
        total = head._total[block]
        self._grad_output = grad_output[block] / total[:, None]
        # The scale early, so that nothing is larger on the way than in the other head.
        self._scaled_grad = self._grad_output * self._scale
        self._mean = (mean / total * self._scale)[:, None]
        self.grad_query = np.zeros_like(self._query)

    def through(self, keys, exps, grad_scores):
        """Make one tile anew; return the gradients that it gives V and K."""
        key, value = self._key[keys], self._value[keys]
        _score(self._query, key, self._scale, exps)
        exps -= self._largest
        np.exp(exps, out=exps)
        product(self._scaled_grad, value.T, grad_scores)
        grad_scores -= self._mean
        grad_scores *= exps
        # Their digits would get lost; they are sent back with all their keys in view.
        grad_scores[self._near] = 0.0
        self.grad_query += _new_product(grad_scores, key)
        return _new_product(exps.T, self._grad_output), _new_product(grad_scores.T, self._query)

    def near_rows(self):
        """Send back the queries that `fused.near` tells of; return the gradient they give K."""
        gathered = 0.0
        for start in range(0, len(self._near), ROWS):
            rows = self._near[start : start + ROWS]
            query = self._query[rows]
            grad_output, output, favoured = (x[rows][None] for x in self._whole)
            scores, weights, grad_weights, grad_scores = np.empty(
                (4, 1, len(rows), len(self._key)), query.dtype
            )
            key, value = self._key[None], self._value[None]
            fused.fill_scores(query[None], key, self._scale, scores, scores)
            weights /= fused.fill_exps(scores, weights, favoured)
            kept = value, weights, output, favoured
            # The gradients of the raw scores come where the scores were.
            grids = grad_weights, grad_scores, scores
            fused.fill_score_gradients(grad_output, *kept, self._scale, *grids)
            self.grad_query[rows] = _new_product(scores[0], self._key)
            gathered += _new_product(scores[0].T, query)
        return gathered


class _Space:
    """Room for the tiles of each thread, made once a thread."""

    def __init__(self, tiles, tokens, dtype):
        self._shape = (tiles, min(QUERIES, tokens), min(KEYS, tokens))
        self._dtype = dtype
        self._own = threading.local()

    def __call__(self, queries, keys):
        """Give tiles of this size, with whatever stands in them."""
        if not hasattr(self._own, "tiles"):
            self._own.tiles = np.empty(self._shape, self._dtype)
        rows, columns = queries.stop - queries.start, keys.stop - keys.start
        return self._own.tiles[:, :rows, :columns]


def _score(query, key, scale, tile):
    product(query, key.T, tile)
    tile *= scale


def _new_product(left, right):
    out = np.empty((len(left), right.shape[1]), left.dtype)
    product(left, right, out)
    return out


def _slices(tokens, length):
    """Cut as few slices as there must be, of nearly the same length, in steps of BLAS's."""
    unit = STEP if length % STEP == 0 else 1
    step = math.ceil(tokens / math.ceil(tokens / length) / unit) * unit
    return [slice(i, min(i + step, tokens)) for i in range(0, tokens, step)]
