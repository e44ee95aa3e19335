"""Every stage of a head, there and back, is right to the last digits that doubles have."""

import mpmath
import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention

DIGITS = 50
SHAPES = ((2, 2, 2), (5, 3, 4), (8, 8, 5), (12, 16, 8))
FORWARD = ("raw_scores", "scaled_scores", "weights", "output")
BACKWARD = ("value", "weights", "scaled_scores", "raw_scores", "query", "key")
ORDINARY = 1e-15
SATURATED = 1e-12


def head_of(shape, seed, size=1.0):
    """Q, K, V and the output's gradient; queries and keys have entries of this size."""
    tokens, width, value_width = shape
    rng = np.random.default_rng(seed)
    query, key = size * rng.standard_normal((2, tokens, width))
    value, grad_output = rng.standard_normal((2, tokens, value_width))
    return query, key, value, grad_output


def product(left, right):
    """Of mpmath matrices, each entry summed without rounding in between."""
    columns = [list(right[:, j]) for j in range(right.cols)]
    return mpmath.matrix(
        [[mpmath.fdot(left[i, :], column) for column in columns] for i in range(left.rows)]
    )


def exact_stages(query, key, value, grad_output):
    """Every stage in fifty digits, the derivative of softmax difference by difference."""
    q, k, v, g = (mpmath.matrix(array.tolist()) for array in (query, key, value, grad_output))
    tokens, root = range(q.rows), mpmath.sqrt(q.cols)
    raw, grad_weights = product(q, k.T), product(g, v.T)
    scaled = raw / root
    weights, grad_scaled = scaled.apply(mpmath.exp), mpmath.matrix(q.rows)
    for i in tokens:
        weights[i, :] = weights[i, :] / mpmath.fsum(weights[i, :])
        for j in tokens:
            pulls = ((weights[i, t], grad_weights[i, j] - grad_weights[i, t]) for t in tokens)
            grad_scaled[i, j] = weights[i, j] * mpmath.fdot(pulls)
    grad_raw = grad_scaled / root
    back = (product(weights.T, g), grad_weights, grad_scaled, grad_raw)
    return (raw, scaled, weights, product(weights, v)), (
        *back,
        product(grad_raw, k),
        product(grad_raw.T, q),
    )


def error(computed, exact):
    """The largest difference, as a share of the exact stage's largest entry."""
    with mpmath.workdps(DIGITS):
        pairs = zip(computed.ravel().tolist(), exact, strict=True)
        return max(abs(x - y) for x, y in pairs) / max(map(abs, exact))


def errors(inputs):
    """Of every stage, by its name; those of the way back begin with "grad"."""
    query, key, value, grad_output = (array[None] for array in inputs)
    head = scaled_dot_product_self_attention(query, key, value)
    gradients = head.backward(grad_output)
    with mpmath.workdps(DIGITS):
        forward, backward = exact_stages(*inputs)
    there = zip(FORWARD, forward, strict=True)
    back = zip(BACKWARD, backward, strict=True)
    return {name: error(getattr(head, name), exact) for name, exact in there} | {
        f"grad {name}": error(getattr(gradients, name), exact) for name, exact in back
    }


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_every_stage_of_an_ordinary_head_is_right_to_fifteen_digits(shape, seed):
    assert max(errors(head_of(shape, seed)).values()) < ORDINARY


@pytest.mark.parametrize("size", [8, 20])
@pytest.mark.parametrize("seed", range(3))
def test_a_head_that_has_made_its_choices_sends_back_twelve_digits(size, seed):
    found = errors(head_of((8, 8, 5), seed, size))
    assert max(found["grad query"], found["grad key"]) < SATURATED


@pytest.mark.parametrize("size", [1e-9, 1e-60])
def test_a_tiny_head_is_as_exact_as_an_ordinary_one(size):
    inputs = [size * array for array in head_of((8, 4, 3), 0)]
    assert max(errors(inputs).values()) < ORDINARY


def test_equal_keys_are_weighed_and_equal_queries_are_answered_bitwise_alike():
    query, key, value, _ = head_of((4, 3, 2), 0)
    twice = [0, 1, 2, 3, 3, 2, 1, 0]
    head = scaled_dot_product_self_attention(
        query[None, twice], key[None, twice], value[None, twice]
    )
    for stage in (head.raw_scores, head.weights, head.output):
        np.testing.assert_array_equal(stage[:, :4], stage[:, :3:-1])
    np.testing.assert_array_equal(head.weights[..., :4], head.weights[..., :3:-1])


def test_a_second_run_is_bitwise_the_same():
    query, key, value, grad_output = (array[None] for array in head_of((37, 33, 5), 0))

    def run():
        head = scaled_dot_product_self_attention(query, key, value)
        gradients = head.backward(grad_output)
        stages = [getattr(head, name) for name in FORWARD]
        return [each.tobytes() for each in stages + [getattr(gradients, n) for n in BACKWARD]]

    assert run() == run()


def test_a_last_digit_that_is_wrong_would_be_seen():
    inputs = head_of((8, 8, 5), 0)
    with mpmath.workdps(DIGITS):
        (raw, *_), _ = exact_stages(*inputs)
    computed = inputs[0] @ inputs[1].T
    assert error(computed, raw) < ORDINARY < error(computed * (1 + 2**-49), raw)
