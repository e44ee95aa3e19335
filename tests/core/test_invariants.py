"""What must hold for every head, whatever its shape and values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlib import scaled_dot_product_self_attention
from attnlib.core.tape import log_softmax
from tests.authority import RECTANGULAR
from tests.core.drawn import heads, steady

GRADIENTS = ("query", "key", "value", "weights", "scaled_scores", "raw_scores")


def run(query, key, value, grad_output):
    head = scaled_dot_product_self_attention(query, key, value)
    return head, head.backward(grad_output)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11, strict=True)


@steady
@given(heads())
def test_the_weights_of_each_query_sum_to_one(inputs):
    head, _ = run(*inputs)
    assert (head.weights >= 0).all()
    for weights in head.weights.reshape(-1, head.weights.shape[-1]).tolist():
        assert abs(math.fsum(weights) - 1) <= 1e-12


@steady
@given(heads())
def test_each_output_feature_lies_among_the_values_of_that_feature(inputs):
    head, _ = run(*inputs)
    value = inputs[2]
    assert (head.output >= value.min(axis=1, keepdims=True) - 1e-14).all()
    assert (head.output <= value.max(axis=1, keepdims=True) + 1e-14).all()


@steady
@given(heads(), st.data())
def test_permuting_the_tokens_permutes_the_output_and_the_gradients(inputs, data):
    order = data.draw(st.permutations(range(inputs[0].shape[1])))
    head, gradients = run(*inputs)
    permuted, permuted_gradients = run(*(array[:, order] for array in inputs))
    close(permuted.output, head.output[:, order])
    close(permuted.weights, head.weights[:, order][:, :, order])
    for name in ("query", "key", "value"):
        close(getattr(permuted_gradients, name), getattr(gradients, name)[:, order])


@steady
@given(heads(batches=st.integers(2, 4)), st.data())
def test_a_batch_item_gives_the_same_bits_whatever_its_neighbours_hold(inputs, data):
    item = data.draw(st.integers(0, len(inputs[0]) - 1))
    others = tuple(100 - 3 * array for array in inputs)
    for array, original in zip(others, inputs, strict=True):
        array[item] = original[item]
    (head, gradients), (changed, changed_gradients) = run(*inputs), run(*others)
    for name in ("raw_scores", "scaled_scores", "weights", "output"):
        assert getattr(head, name)[item].tobytes() == getattr(changed, name)[item].tobytes()
    for name in GRADIENTS:
        here, there = getattr(gradients, name)[item], getattr(changed_gradients, name)[item]
        assert here.tobytes() == there.tobytes()


@steady
@given(heads(batches=st.integers(2, 4)))
def test_a_batch_item_alone_gives_the_bits_it_gives_in_the_batch(inputs):
    head, gradients = run(*inputs)
    for item in range(len(inputs[0])):
        alone, alone_gradients = run(*(array[item : item + 1] for array in inputs))
        assert alone.output.tobytes() == head.output[item].tobytes()
        for name in GRADIENTS:
            together = getattr(gradients, name)[item]
            assert getattr(alone_gradients, name).tobytes() == together.tobytes()


@steady
@given(heads())
def test_equal_keys_share_the_attention_equally(inputs):
    query, key, value, grad_output = inputs
    key = np.repeat(key[:, :1], key.shape[1], axis=1)
    head, gradients = run(query, key, value, grad_output)
    close(head.weights, np.full(head.weights.shape, 1 / key.shape[1]))
    close(head.output, np.repeat(value.mean(axis=1, keepdims=True), key.shape[1], axis=1))
    close(gradients.query, np.zeros(query.shape))


@steady
@given(heads(tokens=st.just(1)))
def test_one_token_attends_to_itself_and_nothing_can_be_learned_from_its_scores(inputs):
    head, gradients = run(*inputs)
    assert (head.weights == 1).all()
    assert (head.output == inputs[2]).all()
    assert (gradients.query == 0).all()
    assert (gradients.key == 0).all()
    assert (gradients.value == inputs[3]).all()


@steady
@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=6),
    st.integers(-(10**6), 10**6),
)
def test_a_constant_added_to_the_scores_of_a_query_changes_no_bit(scores, constant):
    row = np.array([[scores]], dtype=float)
    assert log_softmax(row + constant).tobytes() == log_softmax(row).tobytes()


@steady
@given(heads(), st.data())
def test_moving_all_keys_together_changes_no_weight_and_no_gradient(inputs, data):
    """Each query's scores then all change by the same amount."""
    query, key, value, grad_output = inputs
    shift = data.draw(st.lists(st.integers(-8, 8), min_size=key.shape[2], max_size=key.shape[2]))
    head, gradients = run(query, key, value, grad_output)
    shifted, shifted_gradients = run(query, key + shift, value, grad_output)
    close(shifted.weights, head.weights)
    for name in ("query", "key", "value"):
        close(getattr(shifted_gradients, name), getattr(gradients, name))


@steady
@given(heads())
def test_the_gradients_of_each_querys_scores_sum_to_zero(inputs):
    _, gradients = run(*inputs)
    close(gradients.raw_scores.sum(axis=2), np.zeros(gradients.raw_scores.shape[:2]))


@steady
@given(heads())
def test_the_inputs_are_never_modified(inputs):
    before = [array.tobytes() for array in inputs]
    run(*inputs)
    assert [array.tobytes() for array in inputs] == before


@steady
@given(heads())
def test_later_changes_to_the_inputs_do_not_reach_the_record(inputs):
    query, key, value, grad_output = (array.copy() for array in inputs)
    head = scaled_dot_product_self_attention(query, key, value)
    gradients = head.backward(grad_output)
    for array in (query, key, value, grad_output):
        array[...] = 77
    untouched, untouched_gradients = run(*inputs)
    for name in ("query", "key", "value", "raw_scores", "weights", "output"):
        assert getattr(head, name).tobytes() == getattr(untouched, name).tobytes()
    for name in GRADIENTS:
        expected = getattr(untouched_gradients, name).tobytes()
        assert getattr(gradients, name).tobytes() == expected
        assert getattr(head.backward(inputs[3]), name).tobytes() == expected


@steady
@given(heads())
def test_every_shape_follows_from_batch_tokens_and_the_two_widths(inputs):
    query, _, value, _ = inputs
    batch, tokens, width = query.shape
    head, gradients = run(*inputs)
    for grid in (head.raw_scores, head.scaled_scores, head.weights):
        assert grid.shape == (batch, tokens, tokens)
    assert head.output.shape == value.shape
    assert (head.key_width, head.value_width) == (width, value.shape[2])
    assert gradients.query.shape == gradients.key.shape == query.shape
    assert gradients.value.shape == value.shape


@pytest.mark.parametrize("field", range(3), ids=["query", "key", "value"])
def test_the_fixture_tells_query_key_and_value_apart(field):
    """Were two of them alike, a head that mixed them up would pass."""
    changed = list(RECTANGULAR)
    changed[field] = changed[field] + np.arange(3).reshape(1, 3, 1)
    output = run(*RECTANGULAR)[0].output
    assert not np.allclose(run(*changed)[0].output, output)
