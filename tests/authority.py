"""An attention head in Python floats, one number at a time: slow, and written apart from attnlib.

The backward pass multiplies out the whole Jacobian of each softmax instead of using the short
formula, so that a slip in that formula cannot be repeated here.
"""

import math
from types import SimpleNamespace

import numpy as np

STAGES = (
    "key transpose",
    "raw query-key scores",
    "scaled query-key scores",
    "row log-softmax",
    "attention probabilities",
    "weighted value mixture",
)

WORKED = tuple(
    np.array([matrix], dtype=float)
    for matrix in (
        [[0, 3], [2, -1]],
        [[3, 0], [-1, 2]],
        [[3, -3], [1, 3]],
        [[1, 0], [0, 1]],
    )
)


def seeded(batch, tokens, width, value_width, seed):
    """Standard normal query, key, value and grad_output, all different."""
    random = np.random.default_rng(seed)
    widths = (width, width, value_width, value_width)
    return tuple(random.standard_normal((batch, tokens, features)) for features in widths)


RECTANGULAR = seeded(batch=2, tokens=3, width=5, value_width=4, seed=27)
SQUARE = seeded(batch=3, tokens=3, width=3, value_width=3, seed=28)
FIXTURES = {"rectangular": RECTANGULAR, "square": SQUARE, "worked": WORKED}


def dot(left, right):
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def columns(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def times(left, right):
    return [[dot(row, column) for column in columns(right)] for row in left]


def softmax(scores):
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def through_softmax(weights, grad_weights):
    jacobian = [
        [weight * ((i == j) - other) for j, other in enumerate(weights)]
        for i, weight in enumerate(weights)
    ]
    return [dot(column, grad_weights) for column in columns(jacobian)]


def slow_item(query, key, value, grad_output):
    """One item of the batch, every stage there and back."""
    root = math.sqrt(len(query[0]))
    raw = times(query, columns(key))
    scaled = [[score / root for score in row] for row in raw]
    weights = [softmax(row) for row in scaled]
    grad_weights = times(grad_output, columns(value))
    grad_scaled = [through_softmax(*rows) for rows in zip(weights, grad_weights, strict=True)]
    grad_raw = [[grad / root for grad in row] for row in grad_scaled]
    return {
        "raw_scores": raw,
        "scaled_scores": scaled,
        "weights": weights,
        "output": times(weights, value),
        "grad_weights": grad_weights,
        "grad_scaled_scores": grad_scaled,
        "grad_raw_scores": grad_raw,
        "grad_query": times(grad_raw, key),
        "grad_key": times(columns(grad_raw), query),
        "grad_value": times(columns(weights), grad_output),
    }


def slow_head(*inputs):
    """All stages of a batch of heads, for query, key, value and grad_output arrays."""
    items = [slow_item(*item) for item in zip(*(array.tolist() for array in inputs), strict=True)]
    return SimpleNamespace(**{name: np.array([item[name] for item in items]) for name in items[0]})


def slow_gradients(*inputs):
    """The gradients for query, key and value."""
    head = slow_head(*inputs)
    return head.grad_query, head.grad_key, head.grad_value


def central_differences(objective, array, step=1e-6):
    """The slope of a scalar objective along every entry of one array."""
    slopes = np.empty(array.shape)
    for index in np.ndindex(array.shape):
        ends = []
        for move in (step, -step):
            moved = array.copy()
            moved[index] += move
            ends.append(objective(moved))
        slopes[index] = (ends[0] - ends[1]) / (2 * step)
    return slopes


def assert_near(actual, expected, error):
    """Equal within `error`, relative to the largest expected entry."""
    scale = np.max(np.abs(expected), initial=0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=error * scale, strict=True)
