"""Equal rows and equal columns give equal numbers, to the last bit."""

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention, streaming_self_attention
from attnlib.core.products import product
from tests.authority import seeded

SHAPES = [
    (2, 2, 3),
    (4, 65, 4),
    (16, 128, 8),
    (24, 256, 13),
    (9, 300, 16),
    (5, 64, 7),
    (13, 64, 13),
    (31, 33, 6),
    (257, 5, 257),
    (130, 64, 9),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_it_is_the_product(shape, kind):
    rows, terms, columns = shape
    random = np.random.default_rng(rows)
    left = random.standard_normal((2, rows, terms)).astype(kind)
    right = random.standard_normal((2, terms, columns)).astype(kind)
    out = np.full((2, rows, columns), np.nan, kind)
    product(left, right, out)
    rounding = 4 * terms * np.finfo(kind).eps
    np.testing.assert_allclose(out, np.einsum("bij,bjk->bik", left, right), rtol=0, atol=rounding)


@pytest.mark.parametrize("tokens", [3, 5, 6, 7, 9, 13, 31, 33, 97, 129, 200, 257, 263, 301, 513])
@pytest.mark.parametrize("widths", [(64, 64), (33, 5), (5, 3)])
@pytest.mark.parametrize("head", [scaled_dot_product_self_attention, streaming_self_attention])
def test_tokens_that_are_equal_fare_equally(tokens, widths, head):
    operands = [array.copy() for array in seeded(1, tokens, *widths, seed=tokens)]
    # The first token stands in the middle and at the end once more.
    for array in operands:
        array[:, [tokens // 2, -1]] = array[:, :1]
    record = head(*operands[:3])
    gradients = record.backward(operands[3])
    arrays = [record.output, gradients.query, gradients.key, gradients.value]
    if head is scaled_dot_product_self_attention:
        arrays += [record.raw_scores, record.weights, gradients.scaled_scores]
        for grid in arrays[-3:]:
            assert equal(grid.swapaxes(1, 2))
    assert all(map(equal, arrays))


def equal(array):
    """Whether the rows of the three equal tokens have the same bits."""
    first, *others = array[0, [0, array.shape[1] // 2, -1]]
    return all(first.tobytes() == other.tobytes() for other in others)


@pytest.mark.parametrize("token", [6, 12])
def test_a_last_bit_would_be_seen_to_part_them(token):
    rows = np.repeat(seeded(1, 1, 5, 1, seed=1)[0], 13, axis=1)
    assert equal(rows)
    rows[0, token, 2] = np.nextafter(rows[0, token, 2], np.inf)
    assert not equal(rows)


def test_a_sum_of_many_terms_is_rounded_less_than_in_one_go():
    random = np.random.default_rng(3)
    left, right = random.standard_normal((1, 64, 256)), random.standard_normal((1, 256, 64))
    exact = np.matmul(left.astype(np.longdouble), right.astype(np.longdouble))
    if np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("a long double is a double on this machine")
    out = np.empty((1, 64, 64))
    product(left, right, out)
    rounding = np.abs(out - exact).mean()
    assert rounding < 0.9 * np.abs(np.einsum("bij,bjk->bik", left, right) - exact).mean()
