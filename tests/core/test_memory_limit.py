"""A head too large to keep is refused from its shapes, before anything large is allocated."""

import tracemalloc

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention, streaming_self_attention
from tests.authority import RECTANGULAR
from tests.core.refusing import refused

KEPT = ("query", "key", "value", "raw_scores", "scaled_scores", "weights", "output")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8])
def test_the_limit_counts_exactly_the_arrays_that_the_record_keeps(dtype):
    inputs = [array.astype(dtype) for array in RECTANGULAR[:3]]
    needed = refused(*inputs, memory_limit=0).evidence["bytes"]
    head = scaled_dot_product_self_attention(*inputs, memory_limit=needed)
    assert needed == sum(getattr(head, name).nbytes for name in KEPT)
    assert refused(*inputs, memory_limit=needed - 1).evidence == {
        "bytes": needed,
        "limit": needed - 1,
    }


def test_an_empty_batch_fits_any_limit():
    empty = np.ones((0, 4, 2))
    assert scaled_dot_product_self_attention(empty, empty, empty, memory_limit=0).output.size == 0


def test_the_limit_is_one_gibibyte_unless_another_is_given():
    tokens = np.broadcast_to(1.0, (1, 6700, 1))
    error = refused(tokens, tokens, tokens)
    assert error.evidence["limit"] == 2**30
    assert error.evidence["bytes"] == 6700 * (4 + 3 * 6700) * 8


def test_what_is_too_large_for_grids_is_pointed_to_the_head_without_and_fits_there():
    tokens = np.linspace(0, 1, 7000).reshape(1, 7000, 1)
    assert "`streaming_self_attention`" in str(refused(tokens, tokens, tokens))
    output = streaming_self_attention(tokens, tokens, tokens).output
    # Larger keys weigh more for every query but the first, whose scores are all zero.
    assert output[0, 0, 0] == pytest.approx(0.5, rel=1e-12)
    assert (np.diff(output[0, :, 0]) > 0).all()


def peak_while_refusing(*inputs):
    tracemalloc.start()
    try:
        kind = refused(*inputs).kind
        return kind, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", [(1, 2**20, 4), (2**20, 2, 4), (4, 50_000, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_, ">f8"])
def test_a_huge_view_of_one_number_is_refused_without_spreading_it_out(shape, dtype):
    view = np.broadcast_to(np.ones((), dtype), shape)
    wide = np.broadcast_to(np.ones((), dtype), (*shape[:2], 200))
    kind, peak = peak_while_refusing(view, view, wide)
    assert kind == "too-large"
    assert peak < 2**20


def test_a_huge_view_of_nan_is_refused_without_a_mask_of_its_size():
    view = np.broadcast_to(np.nan, (2**10, 2**12, 4))
    kind, peak = peak_while_refusing(view, view, view)
    assert kind == "non-finite-input"
    assert peak < 2**20
