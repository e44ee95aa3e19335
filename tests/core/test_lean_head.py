"""A grid is searched for overflow only where there can be any, and then never missed."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from attnlib import SelfAttentionError, scaled_dot_product_self_attention
from attnlib.core import fused, inputs, overflow, sharing
from tests.authority import RECTANGULAR, SQUARE, WORKED, seeded

FORWARD = ("raw_scores", "scaled_scores", "weights", "output")
BACKWARD = ("query", "key", "value", "weights", "scaled_scores", "raw_scores")


@pytest.fixture
def searched(monkeypatch):
    """The shapes of all arrays that are searched for NaN and infinities."""
    shapes, search = [], overflow.first_non_finite

    def watched(array):
        shapes.append(array.shape)
        return search(array)

    for module in (inputs, overflow):
        monkeypatch.setattr(module, "first_non_finite", watched)
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


def peak_of(call):
    tracemalloc.start()
    try:
        kept = call()
        return kept, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", [(1, 768, 32, 32), (12, 128, 32, 32)])
def test_every_stage_is_allocated_once_and_nothing_else_grows_with_the_grid(shape):
    query, key, value, grad_output = seeded(*shape, seed=2)
    batch, tokens = shape[:2]
    grid = 8 * batch * tokens**2
    features = query.nbytes
    both_ways(query[:, :64], key[:, :64], value[:, :64], grad_output[:, :64])
    with threadpool_limits(1, user_api="blas"):
        head, forward = peak_of(lambda: scaled_dot_product_self_attention(query, key, value))
        _, backward = peak_of(lambda: head.backward(grad_output))
    # Raw scores, scaled scores, weights; Q, K, V, the output and a mask of a part.
    assert forward < 3 * grid + 6 * features
    assert backward < 3 * grid + 6 * features


def test_each_way_makes_as_many_large_products_as_the_equations_have(monkeypatch):
    made = []

    def counted(left, right, out, multiply=fused.product):
        made.append(out.shape[-2] * left.shape[-1] * out.shape[-1] * out.shape[0])
        multiply(left, right, out)

    monkeypatch.setattr(fused, "product", counted)
    query, key, value, grad_output = seeded(1, 640, 16, 16, seed=2)
    head = scaled_dot_product_self_attention(query, key, value)
    assert sum(made) == 2 * 640 * 640 * 16
    made.clear()
    head.backward(grad_output)
    assert sum(made) == 4 * 640 * 640 * 16


def test_a_small_head_starts_no_thread_and_asks_nothing_of_blas(monkeypatch):
    monkeypatch.setattr(sharing, "one_blas_thread", lambda: pytest.fail("BLAS was asked"))
    both_ways(*WORKED)


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
