"""What a head gives: frozen records of read-only arrays, forward and backward."""

from dataclasses import dataclass

import numpy as np

from attnlib.core import fused, inputs, overflow, stages


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
    weights, scaled_scores, raw_scores : numpy.ndarray or None
        Shape [batch, tokens, tokens]: a query is a row, a key is a column. None where the head is
        a streaming one, which never has a grid.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    weights: np.ndarray | None = None
    scaled_scores: np.ndarray | None = None
    raw_scores: np.ndarray | None = None

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
    _favoured: np.ndarray

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
        gradients = fused.backward(self, grad_output)
        grad_value, grad_weights, grad_scaled, grad_raw, grad_query, grad_key = gradients
        bounds = stages.backward_bounds(self._reaches, reach, self.query.shape[1])
        if overflow.may_overflow(bounds, grad_output.dtype):
            overflow.check_stage(stages.GRAD_VALUE, grad_value)
            overflow.check_stage(stages.GRAD_WEIGHTS, grad_weights)
            overflow.check_stage(stages.GRAD_SCALED_SCORES, grad_scaled)
            overflow.check_stage(stages.GRAD_QUERY, grad_query)
            overflow.check_stage(stages.GRAD_KEY, grad_key)
        for array in gradients:
            inputs.read_only(array)
        return SelfAttentionGradients(
            grad_query, grad_key, grad_value, grad_weights, grad_scaled, grad_raw
        )
