"""The head agrees with a head written in Python loops, for every shape and value drawn."""

import pytest
from hypothesis import given

from attnlib import scaled_dot_product_self_attention
from tests.authority import FIXTURES, assert_near, slow_head
from tests.core.drawn import heads, steady


def assert_agrees(inputs, error):
    *arrays, grad_output = inputs
    head = scaled_dot_product_self_attention(*arrays)
    gradients = head.backward(grad_output)
    slow = slow_head(*inputs)
    for name in ("raw_scores", "scaled_scores", "weights", "output"):
        assert_near(getattr(head, name), getattr(slow, name), error)
    for name in ("query", "key", "value", "weights", "scaled_scores", "raw_scores"):
        assert_near(getattr(gradients, name), getattr(slow, f"grad_{name}"), error)


@pytest.mark.parametrize("name", FIXTURES)
def test_the_fixtures_agree_with_the_slow_head(name):
    assert_agrees(FIXTURES[name], 1e-13)


@steady
@given(heads())
def test_every_drawn_head_agrees_with_the_slow_head(inputs):
    assert_agrees(inputs, 1e-11)
