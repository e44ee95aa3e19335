"""One head tile by tile: what `attnlib.core.streaming` computes, on accepted arrays.

A block is some queries of one batch item; it meets the keys tile by tile, in their order. Blocks
are shared among the cores. Where two of them add to the same keys they take turns, so that the sums
have the same bits for any number of threads.
"""

import threading

import numpy as np

from attnlib.core.sharing import Crew, share

QUERIES, KEYS = 256, 1024
"""The shape of a tile: two of them fit the cache of one core, and products still run at speed."""


def blocks(batch, tokens):
    """List the blocks: each the item and the slice of its queries."""
    return [(item, each) for item in range(batch) for each in _slices(tokens, QUERIES)]


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

    Notes
    -----
    Milakov & Gimelshein 2018, algorithm 3, with the values mixed on the way (Dao et al. 2022,
    algorithm 1).
    """
    batch, tokens, _ = query.shape
    output = np.zeros_like(value)
    largest = np.full((batch, tokens), -np.inf, query.dtype)
    total = np.zeros((batch, tokens), query.dtype)
    space = _Space(1, tokens, query.dtype)

    def attend(block):
        item, queries = block
        mixed, top, sums = output[block], largest[block], total[block]
        for keys in _slices(tokens, KEYS):
            (tile,) = space(queries, keys)
            _score(query[block], key[item, keys], scale, tile)
            higher = np.maximum(top, tile.max(axis=1))
            tile -= higher[:, None]
            np.exp(tile, out=tile)
            shrink = np.exp(top - higher)
            sums *= shrink
            sums += tile.sum(axis=1)
            mixed *= shrink[:, None]
            mixed += tile @ value[item, keys]
            top[:] = higher
        mixed /= sums[:, None]

    share(blocks(batch, tokens), attend)
    return output, largest, total


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
    grad_key, grad_chosen = np.zeros_like(head.key), np.zeros_like(head.key)
    space = _Space(2, tokens, head.query.dtype)
    crew = Crew()

    def send_back(block):
        item, queries = block
        rank = queries.start // QUERIES
        returning = _Returning(head, grad_output, block)
        for keys in _slices(tokens, KEYS):
            to_value, to_key = returning.through(keys, *space(queries, keys))
            with crew.turn((item, keys.start), rank):
                grad_value[item, keys] += to_value
                grad_key[item, keys] += to_key
        with crew.turn(item, rank):
            returning.settle(grad_chosen[item])
        grad_query[block] = returning.grad_query

    crew.share(blocks(batch, tokens), send_back)
    grad_key += grad_chosen
    grad_query *= head.scale
    grad_key *= head.scale
    return grad_query, grad_key, grad_value


class _Returning:
    """One block on its way back: what it sends to the keys, and what it gathers from them.

    Every weight is ``exps / total``. The division is done once, on the gradient of the output.
    """

    def __init__(self, head, grad_output, block):
        total = head._total[block]
        self._head, self._item = head, block[0]
        self._query, self._largest = head.query[block], head._largest[block][:, None]
        self._grad_output = grad_output[block] / total[:, None]
        self._mean = np.vecdot(self._grad_output, head.output[block])[:, None]
        self._sure = total < 2
        self._any_sure = self._sure.any()
        self._chosen = np.full(len(total), -1)
        self._lacking = np.zeros_like(total)
        self.grad_query = np.zeros_like(self._query)

    def through(self, keys, exps, grad_scores):
        """Make one tile anew; return the gradients that it gives V and K (these without scale)."""
        key, value = self._head.key[self._item, keys], self._head.value[self._item, keys]
        _score(self._query, key, self._head.scale, exps)
        exps -= self._largest
        np.exp(exps, out=exps)
        np.matmul(self._grad_output, value.T, out=grad_scores)
        grad_scores -= self._mean
        grad_scores *= exps
        if self._any_sure:
            self._leave_out_chosen(keys, exps, grad_scores)
        self.grad_query += grad_scores @ key
        return exps.T @ self._grad_output, grad_scores.T @ self._query

    def _leave_out_chosen(self, keys, exps, grad_scores):
        """Take out each key with more than half of a query's weight, as `fused` does."""
        rows, columns = np.nonzero(exps == 1.0)
        sure = self._sure[rows]
        rows, columns = rows[sure], columns[sure]
        grad_scores[rows, columns] = 0.0
        self._chosen[rows] = keys.start + columns
        self._lacking += grad_scores.sum(axis=1)

    def settle(self, grad_chosen):
        """Give the keys that were left out what all others lack."""
        (rows,) = np.nonzero(self._chosen >= 0)
        chosen, lacking = self._chosen[rows], self._lacking[rows, None]
        self.grad_query[rows] -= lacking * self._head.key[self._item, chosen]
        np.subtract.at(grad_chosen, chosen, lacking * self._query[rows])


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
    np.matmul(query, key.T, out=tile)
    tile *= scale


def _slices(tokens, length):
    return [slice(i, min(i + length, tokens)) for i in range(0, tokens, length)]
