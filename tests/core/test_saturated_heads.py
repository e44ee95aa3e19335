"""Where a query has made its choice, its gradient is small, and right to twelve digits."""

import mpmath
import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention

DIGITS = 60
LARGEST_ERROR = 1e-12


def head_of(size, seed, tokens=6, width=4):
    """Q, K, V and the output's gradient; queries and keys have entries of this size."""
    rng = np.random.default_rng(seed)
    query, key = size * rng.standard_normal((2, tokens, width))
    value, grad_output = rng.standard_normal((2, tokens, width))
    return query, key, value, grad_output


def exact_gradients(query, key, value, grad_output):
    """dQ and dK by the textbook's formula, in sixty digits."""
    with mpmath.workdps(DIGITS):
        operands = (query, key, value, grad_output)
        q, k, v, g = (mpmath.matrix(array.tolist()) for array in operands)
        root = mpmath.sqrt(q.cols)
        scores, grad_weights = q * k.T / root, g * v.T
        grad_scores = mpmath.matrix(q.rows, q.rows)
        for i in range(q.rows):
            exps = [mpmath.exp(scores[i, j]) for j in range(q.rows)]
            weights = [each / mpmath.fsum(exps) for each in exps]
            mean = mpmath.fsum(w * grad_weights[i, j] for j, w in enumerate(weights))
            for j, weight in enumerate(weights):
                grad_scores[i, j] = weight * (grad_weights[i, j] - mean) / root
        return grad_scores * k, grad_scores.T * q


def error(computed, exact):
    """The largest difference, as a share of the exact gradient's largest entry."""
    with mpmath.workdps(DIGITS):
        differences = (
            abs(mpmath.mpf(float(x)) - y) for x, y in zip(computed.flat, exact, strict=True)
        )
        return float(max(differences) / max(abs(y) for y in exact))


def textbook(head, grad_output):
    """dQ by the formula as it is printed, in the precision of the head."""
    grad_weights = grad_output @ head.value.swapaxes(1, 2)
    mean = np.sum(head.weights * grad_weights, axis=2, keepdims=True)
    return head.scale * (head.weights * (grad_weights - mean)) @ head.key


@pytest.mark.parametrize("size", [1, 8, 20])
@pytest.mark.parametrize("seed", range(6))
def test_the_gradients_of_queries_and_keys_are_right_however_sure_the_head_is(size, seed):
    inputs = head_of(size, seed)
    query, key, value, grad_output = (array[None] for array in inputs)
    gradients = scaled_dot_product_self_attention(query, key, value).backward(grad_output)
    for computed, exact in zip(
        (gradients.query[0], gradients.key[0]), exact_gradients(*inputs), strict=True
    ):
        assert error(computed, exact) < LARGEST_ERROR


def test_the_formula_as_printed_would_be_seen_to_lose_its_digits():
    lost = []
    for seed in range(6):
        inputs = head_of(20, seed)
        query, key, value, grad_output = (array[None] for array in inputs)
        head = scaled_dot_product_self_attention(query, key, value)
        lost.append(error(textbook(head, grad_output)[0], exact_gradients(*inputs)[0]))
    assert max(lost) > LARGEST_ERROR
