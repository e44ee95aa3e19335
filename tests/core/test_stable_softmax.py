"""The softmax survives the scores that tell a stable one from three well-known unstable ones."""

from decimal import Decimal

import numpy as np
import pytest

from attnlib import Tensor, scaled_dot_product_self_attention
from attnlib.core.tape import exp, log_softmax

ORDINARY = [[1.0, 2.0], [0.5, -0.25]]
GRIDS = {
    "a large score": [[1000.0, 0.0], [0.0, 1000.0]],
    "a row far below another": [[1.0, 2.0], [-1000.0, -2000.0]],
    "scores near -60000": [[-60000.0, -60001.0], [60000.0, 60001.0]],
    "scores near -2e9": [[-2e9, -2e9 - 1], [2e9, 2e9 + 1]],
}


def exact_softmax(scores):
    """Decimals subtract these scores exactly and have exponents to spare."""
    powers = [(Decimal(score) - Decimal(scores[0])).exp() for score in scores]
    return [float(power / sum(powers)) for power in powers]


def exact_grid(rows):
    return np.array([[exact_softmax(row) for row in rows]])


def is_right(softmax, rows):
    with np.errstate(all="ignore"):
        weights = softmax(np.array([rows]))
    return np.allclose(weights, exact_grid(rows), rtol=1e-14, atol=1e-300)


@pytest.fixture(params=GRIDS)
def rows(request):
    return GRIDS[request.param]


def test_the_softmax_is_right_far_from_zero(rows):
    assert is_right(lambda scores: exp(log_softmax(scores)), rows)
    assert is_right(lambda scores: exp(log_softmax(Tensor(scores))).data, rows)


@pytest.mark.parametrize(
    ("query", "key", "rows"),
    [
        ([1000, 0], [1, 0], [[1000, 0], [0, 0]]),
        ([1, -1000], [1, 2], GRIDS["a row far below another"]),
        ([-1, 1], [60000, 60001], GRIDS["scores near -60000"]),
        ([-1, 1], [2e9, 2e9 + 1], GRIDS["scores near -2e9"]),
    ],
    ids=GRIDS,
)
def test_the_weights_of_a_head_are_right_far_from_zero(query, key, rows):
    column = np.array([[[1.0], [3.0]]])
    head = scaled_dot_product_self_attention(
        np.reshape(query, (1, 2, 1)), np.reshape(key, (1, 2, 1)), column
    )
    assert head.scaled_scores.tolist() == [rows]
    assert is_right(lambda scores: head.weights, rows)
    gradients = head.backward(np.ones((1, 2, 1)))
    assert np.isfinite(gradients.query).all()
    assert np.isfinite(gradients.key).all()


def test_the_log_weight_survives_where_the_weight_itself_vanishes():
    scores = np.array([[[1000.0, 0.0]]])
    assert log_softmax(scores).tolist() == [[[0.0, -1000.0]]]
    assert exp(log_softmax(scores)).tolist() == [[[1.0, 0.0]]]


def without_maximum(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def one_maximum_for_the_grid(scores):
    return without_maximum(scores - scores.max())


def maximum_from(sentinel):
    """A running maximum that starts at a finite stand-in for minus infinity."""

    def softmax(scores):
        return without_maximum(scores - scores.max(axis=-1, keepdims=True, initial=sentinel))

    return softmax


@pytest.mark.parametrize(
    ("mistake", "revealed_by"),
    [
        (without_maximum, "a large score"),
        (without_maximum, "scores near -60000"),
        (one_maximum_for_the_grid, "a row far below another"),
        (maximum_from(-1e4), "scores near -60000"),
        (maximum_from(-1e9), "scores near -2e9"),
    ],
)
def test_an_unstable_softmax_passes_ordinary_scores_and_fails_these(mistake, revealed_by):
    assert is_right(mistake, ORDINARY)
    assert not is_right(mistake, GRIDS[revealed_by])
