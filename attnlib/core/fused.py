"""The head on arrays alone: the composition of `head.compose`, with fewer passes over each grid.

Every stage is yielded with its name and with a bound that no entry of it exceeds, so that a grid is
searched for overflow only where the inputs' own size allows any.
"""

import math

import numpy as np


def scores(query, key, scale, bound):
    """Yield the raw and the scaled scores of arrays.

    Parameters
    ----------
    query, key : numpy.ndarray
        Shape [batch, tokens, d_k].
    scale : float
        The factor of every raw score, at most 1.
    bound : float
        The product of the reaches of both.
    """
    raw_scores = query @ key.swapaxes(1, 2)  # [B, T, T]
    yield "raw query-key scores", raw_scores, bound
    yield "scaled query-key scores", raw_scores * scale, bound


def mixture(scaled_scores, value, bound, reach):
    """Yield the weights and the output of arrays.

    Parameters
    ----------
    scaled_scores : numpy.ndarray
        Shape [batch, tokens, tokens].
    value : numpy.ndarray
        Shape [batch, tokens, d_v].
    bound : float
        Of the scores.
    reach : float
        Of the values.
    """
    weights = scaled_scores - scaled_scores.max(axis=2, keepdims=True)  # [B, T, T]
    yield "row log-softmax", weights, 2 * bound
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=2, keepdims=True)
    yield "attention probabilities", weights, 1.0
    yield "weighted value mixture", weights @ value, 2 * reach  # [B, T, d_v]


def gradients(head, grad_output, reaches):
    """Yield the gradient of each stage, from the output back to Q and K.

    Parameters
    ----------
    head : SelfAttentionForward
        Of the same arrays.
    grad_output : numpy.ndarray
        Shape [batch, tokens, d_v].
    reaches : tuple of float
        Of Q, K, V and grad_output.
    """
    query, key, value, gradient = reaches
    root = math.sqrt(grad_output.shape[1])
    grad_value = head.weights.swapaxes(1, 2) @ grad_output  # [B, T, d_v]
    yield "value gradient", grad_value, root * gradient
    grad_weights = grad_output @ head.value.swapaxes(1, 2)  # [B, T, T]
    yield "attention probability gradient", grad_weights, gradient * value
    # Softmax is blind to what all weights of a query gain alike. Counted from the favoured key's
    # gain, the difference below does not cancel where one weight is nearly 1.
    favoured = head.weights.argmax(axis=2)[..., None]  # [B, T, 1]
    gain = grad_weights - np.take_along_axis(grad_weights, favoured, axis=2)  # [B, T, T]
    gain -= np.vecdot(head.weights, gain)[..., None]
    gain *= head.weights
    grad_scores = 4 * gradient * value
    yield "scaled query-key score gradient", gain, grad_scores
    grad_raw_scores = gain * head.scale  # [B, T, T]
    yield "raw query-key score gradient", grad_raw_scores, grad_scores
    yield "query gradient", grad_raw_scores @ head.key, root * grad_scores * key  # [B, T, d_k]
    returned = grad_raw_scores.swapaxes(1, 2) @ head.query  # [B, T, d_k]
    yield "key gradient", returned, root * grad_scores * query
