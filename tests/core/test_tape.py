"""The tape differentiates what it computes, and agrees with the closed form."""

import math

import numpy as np
import pytest

from attnlib import Tensor, scaled_dot_product_self_attention
from attnlib.core.head import compose
from attnlib.core.tape import exp, log_softmax, matmul, multiply, transpose
from tests.authority import FIXTURES, RECTANGULAR, STAGES, assert_near, central_differences


@pytest.fixture(params=FIXTURES)
def inputs(request):
    return FIXTURES[request.param]


def taped(query, key, value):
    """The leaves and the named stages of one head on the tape."""
    leaves = [Tensor(array) for array in (query, key, value)]
    return leaves, dict(compose(*leaves, 1 / math.sqrt(query.shape[-1])))


def test_the_stages_come_in_the_order_of_the_equation(inputs):
    query, key, value, _ = inputs
    assert tuple(name for name, _ in compose(query, key, value, 0.5)) == STAGES


def test_the_closed_form_and_the_tape_give_the_same_gradients(inputs):
    *arrays, grad_output = inputs
    leaves, stages = taped(*arrays)
    stages["weighted value mixture"].backward(grad_output)
    closed = scaled_dot_product_self_attention(*arrays).backward(grad_output)
    for leaf, name in zip(leaves, ("query", "key", "value"), strict=True):
        assert_near(getattr(closed, name), leaf.grad, 1e-13)
    assert_near(closed.weights, stages["attention probabilities"].grad, 1e-13)
    assert_near(closed.scaled_scores, stages["scaled query-key scores"].grad, 1e-13)
    assert_near(closed.raw_scores, stages["raw query-key scores"].grad, 1e-13)


def test_arrays_and_tensors_run_through_the_same_bits(inputs):
    arrays = inputs[:3]
    _, on_tape = taped(*arrays)
    plain = dict(compose(*arrays, 1 / math.sqrt(arrays[0].shape[-1])))
    for name in STAGES:
        assert isinstance(plain[name], np.ndarray)
        assert isinstance(on_tape[name], Tensor)
        assert plain[name].tobytes() == on_tape[name].data.tobytes()


def test_the_record_holds_the_stages_of_the_composition(inputs):
    arrays = inputs[:3]
    head = scaled_dot_product_self_attention(*arrays)
    stages = dict(compose(*arrays, head.scale))
    for name, kept in {
        "raw query-key scores": head.raw_scores,
        "scaled query-key scores": head.scaled_scores,
        "attention probabilities": head.weights,
        "weighted value mixture": head.output,
    }.items():
        # The record's weights come of one exponential, the composition's of a logarithm and two.
        np.testing.assert_allclose(kept, stages[name], rtol=4e-15, atol=1e-300)
    assert stages["scaled query-key scores"].tobytes() == head.scaled_scores.tobytes()


LEFT, RIGHT = RECTANGULAR[0], RECTANGULAR[1].swapaxes(1, 2)


@pytest.mark.parametrize(
    ("operation", "array"),
    [
        (transpose, LEFT),
        (lambda left: matmul(left, Tensor(RIGHT)), LEFT),
        (lambda right: matmul(Tensor(LEFT), right), RIGHT),
        (lambda factor: multiply(factor, -0.75), LEFT),
        (log_softmax, LEFT),
        (exp, LEFT),
        (lambda left: matmul(left, transpose(left)), LEFT),
        (lambda left: matmul(transpose(exp(left)), exp(left)), LEFT),
    ],
    ids=[
        "transpose",
        "left of matmul",
        "right of matmul",
        "multiply",
        "log_softmax",
        "exp",
        "one leaf used twice",
        "one leaf exponentiated twice",
    ],
)
def test_each_derivative_is_the_slope_of_its_operation(operation, array):
    leaf = Tensor(array)
    result = operation(leaf)
    grad = np.random.default_rng(3).standard_normal(result.data.shape)
    result.backward(grad)
    slopes = central_differences(lambda moved: np.sum(grad * operation(Tensor(moved)).data), array)
    assert leaf.grad.shape == array.shape
    np.testing.assert_allclose(leaf.grad, slopes, rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (transpose, LEFT.swapaxes(1, 2)),
        (lambda left: matmul(left, Tensor(RIGHT)), np.einsum("bij,bjk->bik", LEFT, RIGHT)),
        (lambda left: multiply(left, -0.75), LEFT * -0.75),
        (
            log_softmax,
            np.log(np.exp(LEFT) / np.exp(LEFT).sum(axis=2, keepdims=True)),
        ),
        (exp, math.e**LEFT),
    ],
    ids=["transpose", "matmul", "multiply", "log_softmax", "exp"],
)
def test_each_operation_computes_what_its_name_says(operation, expected):
    assert_near(operation(Tensor(LEFT)).data, expected, 1e-14)


def test_an_intermediate_used_twice_collects_both_gradients():
    leaf = Tensor(LEFT)
    middle = exp(leaf)
    result = matmul(middle, transpose(middle))
    grad = np.random.default_rng(4).standard_normal(result.data.shape)
    result.backward(grad)
    expected = (grad + grad.swapaxes(1, 2)) @ np.exp(LEFT)
    assert_near(middle.grad, expected, 1e-13)
    assert_near(leaf.grad, expected * np.exp(LEFT), 1e-13)


def test_one_tensor_as_query_key_and_value_gets_the_sum_of_three_gradients(inputs):
    tokens, grad_output = inputs[0], inputs[0][..., ::-1]
    shared = Tensor(tokens)
    *_, (_, output) = compose(shared, shared, shared, 1 / math.sqrt(tokens.shape[-1]))
    output.backward(grad_output)
    closed = scaled_dot_product_self_attention(tokens, tokens, tokens).backward(grad_output)
    assert_near(shared.grad, closed.query + closed.key + closed.value, 1e-13)


def test_a_tensor_has_no_gradient_until_something_is_sent_back():
    leaf = Tensor(LEFT)
    result = exp(leaf)
    assert leaf.grad is None
    assert result.grad is None
    result.backward(np.ones(LEFT.shape))
    assert leaf.grad is not None


def test_sending_a_gradient_back_leaves_the_sent_array_alone():
    sent = np.ones((2, 3, 3))
    leaf = Tensor(LEFT)
    matmul(leaf, transpose(leaf)).backward(sent)
    assert np.array_equal(sent, np.ones((2, 3, 3)))
