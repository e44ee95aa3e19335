"""The names that a reader imports from attnlib."""

import attnlib
from attnlib.core import errors, gradcheck, head, records, tape


def test_the_public_names_are_those_of_the_core():
    assert attnlib.scaled_dot_product_self_attention is head.scaled_dot_product_self_attention
    assert attnlib.SelfAttentionForward is records.SelfAttentionForward
    assert attnlib.SelfAttentionGradients is records.SelfAttentionGradients
    assert attnlib.SelfAttentionError is errors.SelfAttentionError
    assert attnlib.gradient_check is gradcheck.gradient_check
    assert attnlib.GradientCheck is gradcheck.GradientCheck
    assert attnlib.Tensor is tape.Tensor


def test_a_refusal_is_a_value_error():
    assert issubclass(attnlib.SelfAttentionError, ValueError)
