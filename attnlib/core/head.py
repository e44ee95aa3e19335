"""One unmasked scaled dot-product self-attention head, forward and backward.

Every stage of the way is kept and can be read. There is no mask, no dropout, no projection and no
second head here: heads ride on the batch axis.
"""

import math
from dataclasses import dataclass

import numpy as np

from attnlib.core import fused, inputs, tape

MEMORY_LIMIT = 2**30


@dataclass(frozen=True, eq=False, repr=False)
class PreparedScores:
    """Accepted inputs and their scores before any normalization, as read-only arrays."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    scale: float
    raw_scores: np.ndarray
    scaled_scores: np.ndarray
    _reaches: tuple


@dataclass(frozen=True, eq=False, repr=False)
class SelfAttentionGradients:
    """The derivatives of the objective for every stage of one head, as read-only arrays.

    Attributes
    ----------
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    value : numpy.ndarray
        Shape [batch, tokens, d_v].
    weights, scaled_scores, raw_scores : numpy.ndarray
        Shape [batch, tokens, tokens]: a query is a row, a key is a column.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    weights: np.ndarray
    scaled_scores: np.ndarray
    raw_scores: np.ndarray

    def __repr__(self):
        batch, tokens, key_width = self.query.shape
        return (
            f"SelfAttentionGradients(batch={batch}, tokens={tokens}, key_width={key_width}, "
            f"value_width={self.value.shape[2]}, dtype={self.query.dtype})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SelfAttentionForward(PreparedScores):
    """Every stage of one head's forward pass, as read-only arrays.

    Attributes
    ----------
    query, key, value : numpy.ndarray
        What went in: shapes [batch, tokens, d_k] twice and [batch, tokens, d_v].
    scale : float
        1 / sqrt(d_k).
    raw_scores, scaled_scores, weights : numpy.ndarray
        Shape [batch, tokens, tokens]: a query is a row, a key is a column. Each query's weights
        over the keys sum to 1.
    output : numpy.ndarray
        Shape [batch, tokens, d_v].
    """

    weights: np.ndarray
    output: np.ndarray

    def __repr__(self):
        batch, tokens, _ = self.query.shape
        return (
            f"SelfAttentionForward(batch={batch}, tokens={tokens}, key_width={self.key_width}, "
            f"value_width={self.value_width}, dtype={self.query.dtype})"
        )

    @property
    def dot_products(self):
        """Another name of `raw_scores`: each entry is one query-key dot product."""
        return self.raw_scores

    @property
    def probabilities(self):
        """Another name of `weights`: each query's row is a distribution over the keys."""
        return self.weights

    @property
    def key_width(self):
        """The width d_k that queries and keys share."""
        return self.query.shape[2]

    @property
    def value_width(self):
        """The width d_v of values and outputs."""
        return self.value.shape[2]

    def backward(self, grad_output):
        """Send a gradient from the output back to every stage and input.

        Parameters
        ----------
        grad_output : array_like
            The derivative of the objective for each entry of `output`, in its shape.

        Returns
        -------
        SelfAttentionGradients
            In the type of this head's arrays.

        Raises
        ------
        SelfAttentionError
            ``input-dtype``, ``gradient-shape``, ``non-finite-input`` or ``non-finite-stage``.

        Notes
        -----
        The chain rule through Vaswani et al. 2017, eq. 1, last operation first; the derivative of
        a softmax row is ``dS = A * (dA - sum_keys(A * dA))``.
        """
        grad_output, reach = inputs.accept_gradient(
            grad_output, self.output.shape, self.output.dtype
        )
        stages = fused.gradients(self, grad_output, (*self._reaches, reach))
        return SelfAttentionGradients(**_kept(stages, GRADIENTS))


STAGES = {
    "raw query-key scores": "raw_scores",
    "scaled query-key scores": "scaled_scores",
    "attention probabilities": "weights",
    "weighted value mixture": "output",
}
GRADIENTS = {
    "value gradient": "value",
    "attention probability gradient": "weights",
    "scaled query-key score gradient": "scaled_scores",
    "raw query-key score gradient": "raw_scores",
    "query gradient": "query",
    "key gradient": "key",
}


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
    scores = prepare_scores(query, key, value, memory_limit)
    bound, reach = scores._reaches[0] * scores._reaches[1], scores._reaches[2]
    stages = _kept(fused.mixture(scores.scaled_scores, scores.value, bound, reach), STAGES)
    return SelfAttentionForward(**vars(scores), **stages)


def prepare_scores(query, key, value, memory_limit=MEMORY_LIMIT):
    """Check the inputs and score every query against every key, short of any softmax or mask.

    Parameters, shapes and refusals are those of `scaled_dot_product_self_attention`.

    Returns
    -------
    PreparedScores
        The inputs as kept, the scale, the raw and the scaled scores.
    """
    (query, key, value), reaches = inputs.accept(query, key, value, memory_limit)
    scale = 1.0 / math.sqrt(query.shape[2])
    stages = _kept(fused.scores(query, key, scale, reaches[0] * reaches[1]), STAGES)
    return PreparedScores(query, key, value, scale, _reaches=reaches, **stages)


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
    yield "key transpose", key_transposed
    raw_scores = tape.matmul(query, key_transposed)  # [B, T, T]
    yield "raw query-key scores", raw_scores
    scaled_scores = tape.multiply(raw_scores, scale)  # [B, T, T]
    yield "scaled query-key scores", scaled_scores
    return scaled_scores


def compose_mixture(scaled_scores, value):
    """Yield the stages from the scaled scores and V to the output."""
    log_weights = tape.log_softmax(scaled_scores)  # [B, T, T], over keys
    yield "row log-softmax", log_weights
    weights = tape.exp(log_weights)  # [B, T, T]
    yield "attention probabilities", weights
    output = tape.matmul(weights, value)  # [B, T, d_v]
    yield "weighted value mixture", output


def _kept(stages, names):
    """Run the stages, refuse the first that overflows, and keep those that have a name."""
    kept = {}
    # Overflow is refused below, in words; NumPy's warnings would only come before them.
    with np.errstate(all="ignore"):
        for stage, result, bound in stages:
            inputs.check_stage(stage, result, bound)
            if stage in names:
                kept[names[stage]] = inputs.read_only(result)
    return kept
