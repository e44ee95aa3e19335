"""Wrong ways back: gradients that people send to Q, K and V."""

from attnlib.core.head import scaled_dot_product_self_attention

MISTAKES = ()


def gradient_scale_missing(query, key, value, grad_output):
    """Forget on the way back to Q and K that every score was divided by sqrt(d_k).

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value, grad_output : array_like
        Shape [batch, tokens, d_v].

    Returns
    -------
    tuple of numpy.ndarray
        dQ and dK, each too large by sqrt(d_k), and the right dV.
    """
    head = scaled_dot_product_self_attention(query, key, value)
    gradients = head.backward(grad_output)
    scores = gradients.scaled_scores
    return scores @ head.key, scores.swapaxes(1, 2) @ head.query, gradients.value
