"""How the numbers lie in memory, and how extreme they are, makes no difference to the head."""

import warnings

import numpy as np
import pytest

from attnlib import SelfAttentionError, scaled_dot_product_self_attention
from tests.authority import RECTANGULAR, assert_near, seeded

FORWARD = ("query", "key", "value", "raw_scores", "scaled_scores", "weights", "output")
BACKWARD = ("query", "key", "value", "weights", "scaled_scores", "raw_scores")


def every_other(array):
    spread = np.full(tuple(2 * length for length in array.shape), np.nan)
    spread[::2, 1::2, ::2] = array
    return spread[::2, 1::2, ::2]


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = memory[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


LAYOUTS = {
    "big-endian": lambda array: array.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "every other entry": every_other,
    "negative strides": lambda array: array[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "transposed view": lambda array: array.swapaxes(1, 2).copy().swapaxes(1, 2),
    "unaligned": unaligned,
    "read-only": lambda array: np.frombuffer(array.tobytes()).reshape(array.shape),
    "nested lists": np.ndarray.tolist,
    "matrix subclass": lambda array: array.view(type("Subclass", (np.ndarray,), {})),
}


def run(query, key, value, grad_output):
    """A head and its gradients under the strictest NumPy that a user may have set."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        head = scaled_dot_product_self_attention(query, key, value)
        return head, head.backward(grad_output)


# Matrix products of a few entries come out alike from any layout; of these widths they do not.
WIDE = seeded(batch=2, tokens=17, width=65, value_width=33, seed=29)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_memory_layout_gives_the_same_bits(layout):
    plain, plain_gradients = run(*WIDE)
    head, gradients = run(*(layout(array) for array in WIDE))
    for name in FORWARD:
        kept = getattr(head, name)
        assert type(kept) is np.ndarray
        assert kept.dtype == np.float64
        assert kept.dtype.isnative
        assert kept.tobytes() == getattr(plain, name).tobytes()
    for name in BACKWARD:
        assert getattr(gradients, name).tobytes() == getattr(plain_gradients, name).tobytes()


def test_vanishing_inputs_give_uniform_weights_without_a_warning():
    tiny = [np.full(array.shape, 5e-324) for array in RECTANGULAR]
    head, gradients = run(*tiny)
    np.testing.assert_allclose(head.weights, 1 / 3, rtol=1e-15)
    assert (gradients.query == 0).all()


def test_weights_that_vanish_do_so_without_a_warning():
    query, key, value, grad_output = RECTANGULAR
    head, _ = run(query * 1e4, key * 1e4, value, grad_output)
    assert (head.weights == 0).any()
    np.testing.assert_allclose(head.weights.sum(axis=2), 1, rtol=1e-12)


def test_values_near_the_largest_double_are_mixed():
    query, key, value, grad_output = RECTANGULAR
    head, _ = run(query, key, np.sign(value) * 1e308, grad_output / 100)
    ordinary, _ = run(query, key, np.sign(value), grad_output)
    assert_near(head.output / 1e308, ordinary.output, 1e-14)


@pytest.mark.parametrize("tokens", range(1, 12))
def test_the_largest_double_as_value_is_mixed_or_refused_but_never_infinite(tokens):
    largest = np.full((1, tokens, 1), np.finfo(float).max)
    scores = np.zeros((1, tokens, 1))
    try:
        head = scaled_dot_product_self_attention(scores, scores, largest)
    except SelfAttentionError as error:
        outcome = error.evidence["stage"]
    else:
        outcome = np.isfinite(head.output).all()
    assert outcome in (True, "weighted value mixture")


def test_a_gradient_too_small_for_single_precision_becomes_zero_without_a_warning():
    single = [array.astype(np.float32) for array in RECTANGULAR[:3]]
    _, gradients = run(*single, np.full((2, 3, 4), 1e-320))
    assert (gradients.value == 0).all()


@pytest.mark.parametrize("field", range(3))
def test_single_precision_that_underflows_does_so_without_a_warning(field):
    inputs = [array.astype(np.float32) for array in RECTANGULAR]
    inputs[field] = inputs[field] * np.float32(1e-38)
    head, _ = run(*inputs)
    assert head.output.dtype == np.float32
