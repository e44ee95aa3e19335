"""One unmasked scaled dot-product self-attention head, forward and backward.

Every stage of the way is kept and can be read. There is no mask, no dropout, no projection and no
second head here: heads ride on the batch axis.
"""

import math

import numpy as np

from attnlib.core import fused, inputs, overflow, stages, tape
from attnlib.core.records import PreparedScores, SelfAttentionForward

MEMORY_LIMIT = 2**30


def scaled_dot_product_self_attention(query, key, value, *, memory_limit=MEMORY_LIMIT):
    """Compute one unmasked scaled dot-product self-attention head and keep every stage.

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value : array_like
        Shape [batch, tokens, d_v].
    memory_limit : int, default 2**30
        The most that the record may keep, in bytes.

    Returns
    -------
    SelfAttentionForward
        float64, or float32 where the inputs fit it; an empty batch gives empty arrays.

    Raises
    ------
    SelfAttentionError
        If an input is refused or a stage overflows; `.kind` says which.

    Notes
    -----
    ``softmax(Q K^T / sqrt(d_k)) V``: Vaswani et al. 2017, eq. 1. Softmax runs over keys.
    """
    operands, reaches = inputs.accept(query, key, value, memory_limit)
    scale = 1.0 / math.sqrt(operands[0].shape[2])
    lowered, factor = overflow.lower(operands[2], reaches[2])
    made = fused.forward(*operands[:2], lowered, scale)
    raw_scores, scaled_scores, weights, output, favoured = made
    if factor != 1:
        with np.errstate(over="ignore"):
            output *= factor
    if overflow.may_overflow(stages.forward_bounds(reaches), output.dtype):
        overflow.check_stage(stages.RAW_SCORES, raw_scores)
        overflow.check_spread(stages.LOG_WEIGHTS, scaled_scores)
        overflow.check_stage(stages.OUTPUT, output)
    for array in made:
        inputs.read_only(array)
    return SelfAttentionForward(
        *operands, scale, raw_scores, scaled_scores, reaches, weights, output, favoured
    )


def prepare_scores(query, key, value, memory_limit=MEMORY_LIMIT):
    """Check the inputs and score every query against every key, short of any softmax or mask.

    Parameters, shapes and refusals are those of `scaled_dot_product_self_attention`.

    Returns
    -------
    PreparedScores
        The inputs as kept, the scale, the raw and the scaled scores.
    """
    operands, reaches = inputs.accept(query, key, value, memory_limit)
    scale = 1.0 / math.sqrt(operands[0].shape[2])
    raw_scores, scaled_scores = fused.scores(*operands[:2], scale)
    if overflow.may_overflow(stages.forward_bounds(reaches), raw_scores.dtype):
        overflow.check_stage(stages.RAW_SCORES, raw_scores)
    kept = inputs.read_only(raw_scores), inputs.read_only(scaled_scores)
    return PreparedScores(*operands, scale, *kept, reaches)


def compose(query, key, value, scale):
    """Compute the whole head operation by operation, on arrays or on tape tensors alike.

    Parameters
    ----------
    query, key : numpy.ndarray or Tensor
        Shape [batch, tokens, d_k].
    value : numpy.ndarray or Tensor
        Shape [batch, tokens, d_v].
    scale : float
        The factor of every raw score.

    Yields
    ------
    stage : str
        The stage's name.
    result : numpy.ndarray or Tensor
        What the stage computed.

    Notes
    -----
    Vaswani et al. 2017, eq. 1, one operation at a time.
    """
    scaled_scores = yield from compose_scores(query, key, scale)
    yield from compose_mixture(scaled_scores, value)


def compose_scores(query, key, scale):
    """Yield the stages from Q and K to the scaled scores, and return the last."""
    key_transposed = tape.transpose(key)  # [B, d_k, T]
    yield stages.KEY_TRANSPOSED, key_transposed
    raw_scores = tape.matmul(query, key_transposed)  # [B, T, T]
    yield stages.RAW_SCORES, raw_scores
    scaled_scores = tape.multiply(raw_scores, scale)  # [B, T, T]
    yield stages.SCALED_SCORES, scaled_scores
    return scaled_scores


def compose_mixture(scaled_scores, value):
    """Yield the stages from the scaled scores and V to the output."""
    log_weights = tape.log_softmax(scaled_scores)  # [B, T, T], over keys
    yield stages.LOG_WEIGHTS, log_weights
    weights = tape.exp(log_weights)  # [B, T, T]
    yield stages.WEIGHTS, weights
    output = tape.matmul(weights, value)  # [B, T, d_v]
    yield stages.OUTPUT, output
