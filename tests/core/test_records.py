"""A record cannot be changed, and says what went in and what came out."""

import math

import numpy as np
import pytest

from attnlib import (
    SelfAttentionForward,
    SelfAttentionGradients,
    scaled_dot_product_self_attention,
)
from tests.authority import RECTANGULAR

FORWARD = ("query", "key", "value", "raw_scores", "scaled_scores", "weights", "output")
BACKWARD = ("query", "key", "value", "weights", "scaled_scores", "raw_scores")


@pytest.fixture
def head():
    return scaled_dot_product_self_attention(*RECTANGULAR[:3])


@pytest.fixture
def gradients(head):
    return head.backward(RECTANGULAR[3])


def test_the_records_have_their_public_types(head, gradients):
    assert type(head) is SelfAttentionForward
    assert type(gradients) is SelfAttentionGradients


@pytest.mark.parametrize(
    "name", [*FORWARD, "dot_products", "probabilities", "scale", "key_width", "value_width"]
)
def test_no_field_of_the_forward_record_can_be_replaced(head, name):
    with pytest.raises(AttributeError):
        setattr(head, name, None)


@pytest.mark.parametrize("name", BACKWARD)
def test_no_field_of_the_gradients_can_be_replaced(gradients, name):
    with pytest.raises(AttributeError):
        setattr(gradients, name, None)


def test_no_entry_of_any_array_can_be_written(head, gradients):
    kept = [getattr(head, name) for name in FORWARD]
    for array in kept + [getattr(gradients, name) for name in BACKWARD]:
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0, 0] = 1


def test_the_two_second_names_are_the_same_arrays(head):
    assert head.dot_products is head.raw_scores
    assert head.probabilities is head.weights


def test_the_record_holds_what_went_in(head):
    for name, given in zip(("query", "key", "value"), RECTANGULAR, strict=False):
        assert np.array_equal(getattr(head, name), given)
        assert not np.shares_memory(getattr(head, name), given)


def test_no_two_fields_share_their_memory():
    """One array as query, key and value is copied for each."""
    tokens = np.ones((1, 2, 2))
    head = scaled_dot_product_self_attention(tokens, tokens, tokens)
    assert not np.shares_memory(head.raw_scores, head.scaled_scores)
    assert not np.shares_memory(head.query, tokens)


def test_scale_and_widths_are_plain_numbers(head):
    assert head.scale == pytest.approx(1 / math.sqrt(5), rel=1e-15)
    assert isinstance(head.scale, float)
    assert (head.key_width, head.value_width) == (5, 4)
    assert type(head.key_width) is int


def test_going_backward_twice_gives_the_same_and_changes_nothing(head):
    before = [getattr(head, name).tobytes() for name in FORWARD]
    first, second = (head.backward(RECTANGULAR[3]) for _ in range(2))
    for name in BACKWARD:
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert [getattr(head, name).tobytes() for name in FORWARD] == before


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("float64", "float64", "float64"), "float64"),
        (("float32", "float32", "float32"), "float32"),
        (("float16", "float16", "float16"), "float32"),
        (("int8", "int8", "int8"), "float64"),
        (("uint64", "int64", "bool"), "float64"),
        (("bool", "bool", "bool"), "float64"),
        (("float32", "float64", "float32"), "float64"),
        (("float32", "float32", "float16"), "float32"),
        (("float32", "int32", "float32"), "float64"),
        (("float16", "float16", "bool"), "float64"),
    ],
)
def test_every_array_of_the_record_has_the_type_of_the_rule(given, kept):
    inputs = [np.ones((1, 2, 3)).astype(dtype) for dtype in given]
    head = scaled_dot_product_self_attention(*inputs)
    gradients = head.backward(np.ones((1, 2, 3), dtype=kept))
    for name in FORWARD:
        assert getattr(head, name).dtype == kept
    for name in BACKWARD:
        assert getattr(gradients, name).dtype == kept


def test_lists_of_whole_numbers_are_taken_as_they_are():
    head = scaled_dot_product_self_attention([[[0, 3]]], [[[3, 0]]], [[[3, True]]])
    assert head.output.tolist() == [[[3.0, 1.0]]]


def test_an_empty_batch_gives_empty_arrays_of_the_right_shapes():
    head = scaled_dot_product_self_attention(*(np.ones((0, 2, wide)) for wide in (2, 2, 3)))
    gradients = head.backward(np.ones((0, 2, 3)))
    for grid in (head.raw_scores, head.scaled_scores, head.weights, gradients.weights):
        assert grid.shape == (0, 2, 2)
    assert head.output.shape == gradients.value.shape == (0, 2, 3)
    assert gradients.query.shape == gradients.key.shape == (0, 2, 2)
    assert (head.key_width, head.value_width) == (2, 3)
