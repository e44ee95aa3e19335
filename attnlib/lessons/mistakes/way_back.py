"""The right way back up to the place where a wrong one leaves it."""

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention


def swap(x):
    """Exchange the last two axes."""
    return np.swapaxes(x, -1, -2)


class WayBack:
    """The stages of a right backward pass, for wrong ones to start from.

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value, grad_output : array_like
        Shape [batch, tokens, d_v].

    Attributes
    ----------
    grad_weights, grad_scores : numpy.ndarray
        dW and dS, the gradients of the weights and of the scaled scores, [batch, tokens, tokens].
    products : numpy.ndarray
        W times dW, entry by entry.
    row_term : numpy.ndarray
        The sum of the products over the keys, one number a query, shape [batch, tokens, 1].
    """

    def __init__(self, query, key, value, grad_output):
        head = scaled_dot_product_self_attention(query, key, value)
        self.query, self.key, self.value = head.query, head.key, head.value
        self.scores, self.weights, self.scale = head.scaled_scores, head.weights, head.scale
        self.output = head.output
        self.grad_output = np.asarray(grad_output, dtype=head.output.dtype)
        self.grad_weights = self.grad_output @ swap(self.value)
        self.products = self.weights * self.grad_weights
        self.row_term = np.sum(self.products, axis=2, keepdims=True)
        self.grad_scores = self.through_softmax(self.grad_weights)
        self.grad_value = swap(self.weights) @ self.grad_output

    def through_softmax(self, grad_weights):
        """Return dS for a gradient of the weights."""
        row_term = np.sum(self.weights * grad_weights, axis=2, keepdims=True)
        return self.weights * (grad_weights - row_term)

    def gradients(self, grad_scores=None, scale=None):
        """Return dQ, dK and dV for a dS and a scale, the right ones unless given."""
        grad_scores = self.grad_scores if grad_scores is None else grad_scores
        grad_raw = grad_scores * (self.scale if scale is None else scale)
        return grad_raw @ self.key, swap(grad_raw) @ self.query, self.grad_value


def leaving(change):
    """Make a backward function of one that takes a `WayBack` and returns dQ, dK and dV."""

    def head(query, key, value, grad_output):
        return change(WayBack(query, key, value, grad_output))

    return head
