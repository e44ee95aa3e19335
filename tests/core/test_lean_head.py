"""A grid is searched for overflow only where there can be any, and then never missed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlib import SelfAttentionError, scaled_dot_product_self_attention
from attnlib.core import inputs
from tests.authority import RECTANGULAR, SQUARE, WORKED, seeded

FORWARD = ("raw_scores", "scaled_scores", "weights", "output")
BACKWARD = ("query", "key", "value", "weights", "scaled_scores", "raw_scores")


@pytest.fixture
def searched(monkeypatch):
    """The shapes of all arrays that are searched for NaN and infinities."""
    shapes, search = [], inputs.first_non_finite

    def watched(array):
        shapes.append(array.shape)
        return search(array)

    monkeypatch.setattr(inputs, "first_non_finite", watched)
    return shapes


def both_ways(query, key, value, grad_output):
    head = scaled_dot_product_self_attention(query, key, value)
    return head, head.backward(grad_output)


def refused_or_computed(operands):
    try:
        return None, both_ways(*operands)
    except SelfAttentionError as refusal:
        return refusal, ()


@pytest.mark.parametrize("operands", [WORKED, RECTANGULAR, SQUARE], ids=["2", "B T d", "square"])
def test_an_ordinary_head_is_not_searched_at_all(searched, operands):
    both_ways(*operands)
    both_ways(*(np.asarray(array, dtype=np.float32) for array in operands))
    assert searched == []


def test_a_head_that_could_overflow_is_searched(searched):
    query, key, value, grad_output = RECTANGULAR
    both_ways(query * 1e153, key * 1e152, value, grad_output)
    assert searched


def test_a_view_that_is_not_in_order_is_searched_without_a_copy(searched):
    query, *others = RECTANGULAR
    both_ways(np.asfortranarray(query), *others)
    assert searched == [query.shape]


@given(
    seed=st.integers(0, 2**32 - 1),
    powers=st.tuples(*[st.floats(-320, 308)] * 4),
    single=st.booleans(),
)
def test_what_comes_out_is_finite_or_refused(seed, powers, single):
    kind = np.float32 if single else np.float64
    with np.errstate(all="ignore"):
        operands = [
            (array * 10.0 ** (power / 8 if single else power)).astype(kind)
            for array, power in zip(seeded(2, 3, 2, 4, seed=seed), powers, strict=True)
        ]
    refusal, records = refused_or_computed(operands)
    if refusal:
        assert refusal.kind in ("non-finite-input", "non-finite-stage")
    for record, names in zip(records, (FORWARD, BACKWARD), strict=False):
        for name in names:
            assert np.isfinite(getattr(record, name)).all(), name
