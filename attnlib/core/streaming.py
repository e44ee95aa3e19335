"""The same head without the grid: scores are made tile by tile, used and forgotten.

A tile is some queries against some keys. The forward pass keeps, for each query, the largest score
seen, the sum of the exponentials counted from it and the mixture so far; the backward pass makes
each tile's weights anew from the logarithm of that sum.
"""

import math
from dataclasses import dataclass

import numpy as np

from attnlib.core import fused, inputs, overflow, stages, tiles
from attnlib.core.records import SelfAttentionGradients


@dataclass(frozen=True, eq=False, repr=False)
class StreamingSelfAttention:
    """The result of one head's forward pass, as read-only arrays, with no [tokens, tokens] grid.

    Attributes
    ----------
    query, key, value : numpy.ndarray
        What went in: shapes [batch, tokens, d_k] twice and [batch, tokens, d_v].
    scale : float
        1 / sqrt(d_k).
    output : numpy.ndarray
        Shape [batch, tokens, d_v].
    log_sum_exp : numpy.ndarray
        Shape [batch, tokens]: for each query, the logarithm of the sum over keys of the
        exponentials of its scaled scores. A weight is ``exp(scaled score - log_sum_exp)``.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    scale: float
    output: np.ndarray
    log_sum_exp: np.ndarray
    _largest: np.ndarray
    _total: np.ndarray
    _favoured: np.ndarray
    _reaches: tuple

    def __repr__(self):
        batch, tokens, key_width = self.query.shape
        return (
            f"StreamingSelfAttention(batch={batch}, tokens={tokens}, key_width={key_width}, "
            f"value_width={self.value.shape[2]}, dtype={self.query.dtype})"
        )

    def backward(self, grad_output):
        """Send a gradient from the output back to Q, K and V.

        Parameters
        ----------
        grad_output : array_like
            The derivative of the objective for each entry of `output`, in its shape.

        Returns
        -------
        SelfAttentionGradients
            Of Q, K and V; the gradients of the weights and the scores are None.

        Raises
        ------
        SelfAttentionError
            As `SelfAttentionForward.backward`.

        Notes
        -----
        Dao et al. 2022, algorithm 4: the weights are computed anew, tile by tile, and
        ``sum_keys(A * dA)`` is ``dO . O``.
        """
        grad_output, reach = inputs.accept_gradient(
            grad_output, self.output.shape, self.output.dtype
        )
        with np.errstate(all="ignore"):
            grad_query, grad_key, grad_value = made = tiles.backward(self, grad_output)
        bounds = stages.backward_bounds(self._reaches, reach, self.query.shape[1])
        if overflow.may_overflow(bounds, grad_output.dtype):
            overflow.check_stage(stages.GRAD_VALUE, grad_value)
            _check_grid(stages.GRAD_WEIGHTS, self, grad_output)
            _check_grid(stages.GRAD_SCALED_SCORES, self, grad_output)
            overflow.check_stage(stages.GRAD_QUERY, grad_query)
            overflow.check_stage(stages.GRAD_KEY, grad_key)
        return SelfAttentionGradients(*map(inputs.read_only, made))


def streaming_self_attention(query, key, value):
    """Compute one unmasked scaled dot-product self-attention head without its grids.

    The same results as `scaled_dot_product_self_attention`, for any number of tokens: beside arrays
    in the shapes of the inputs, only a few tiles are in memory at a time.

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value : array_like
        Shape [batch, tokens, d_v].

    Returns
    -------
    StreamingSelfAttention
        float64, or float32 where the inputs fit it; an empty batch gives empty arrays.

    Raises
    ------
    SelfAttentionError
        As `scaled_dot_product_self_attention`, but never ``too-large``.

    Notes
    -----
    ``softmax(Q K^T / sqrt(d_k)) V``: Vaswani et al. 2017, eq. 1, by the online softmax of
    Milakov & Gimelshein 2018, as in Dao et al. 2022, algorithm 1.
    """
    operands, reaches = inputs.accept(query, key, value, math.inf)
    scale = 1.0 / math.sqrt(operands[0].shape[2])
    lowered, factor = overflow.lower(operands[2], reaches[2])
    with np.errstate(all="ignore"):
        output, *kept = tiles.forward(*operands[:2], lowered, scale)
        output *= factor
        largest, total, _ = kept
        made = output, largest + np.log(total), *kept
    head = StreamingSelfAttention(*operands, scale, *map(inputs.read_only, made), reaches)
    if overflow.may_overflow(stages.forward_bounds(reaches), output.dtype):
        _check_grid(stages.RAW_SCORES, head)
        _check_grid(stages.LOG_WEIGHTS, head)
        overflow.check_stage(stages.OUTPUT, output)
    return head


def _check_grid(stage, head, grad_output=None):
    """Refuse a grid's stage that overflowed: made anew, block by block."""
    check = overflow.check_spread if stage == stages.LOG_WEIGHTS else overflow.check_stage
    for item, queries in tiles.blocks(*head.query.shape[:2]):
        part = slice(item, item + 1), queries
        with np.errstate(all="ignore"):
            rows = _rows(stage, head, part, grad_output)
        check(stage, rows, at=(item, queries.start, 0))


def _rows(stage, head, part, grad_output):
    """Make the rows of some queries anew, as far as a stage; the scaled scores for the weights'."""
    key, value = head.key[part[0]], head.value[part[0]]
    shape = (1, len(head.query[0, part[1]]), head.key.shape[1])
    raw_scores, scores, weights, *gradients = np.empty((6, *shape), head.query.dtype)
    fused.fill_scores(head.query[part], key, head.scale, raw_scores, scores)
    if grad_output is None:
        return raw_scores if stage == stages.RAW_SCORES else scores
    favoured = head._favoured[part].copy()
    weights /= fused.fill_exps(scores, weights, favoured)
    kept = value, weights, head.output[part], favoured
    fused.fill_score_gradients(grad_output[part], *kept, head.scale, *gradients)
    return gradients[0] if stage == stages.GRAD_WEIGHTS else gradients[1]
