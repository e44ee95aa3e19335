"""The head without grids gives what the head with them gives, in less room."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from attnlib import (
    SelfAttentionError,
    scaled_dot_product_self_attention,
    streaming_self_attention,
)
from attnlib.core import tiles
from tests.authority import FIXTURES, RECTANGULAR, seeded, slow_gradients, slow_head
from tests.core.drawn import heads, steady
from tests.core.refusing import facts, refusal_of

INPUTS = ("query", "key", "value")
TOKENS = (1, 2, 7, 8, 9, 63, 255, 256, 257, 511, 513, 1000, 1023, 1024, 1025, 2000)


def both_ways(head, query, key, value, grad_output):
    record = head(query, key, value)
    gradients = record.backward(grad_output)
    return record, {name: getattr(gradients, name) for name in INPUTS}


def assert_alike(inputs, error=1e-12):
    """Both heads' results, each difference as a share of the array's largest entry."""
    grid, from_grid = both_ways(scaled_dot_product_self_attention, *inputs)
    streamed, from_stream = both_ways(streaming_self_attention, *inputs)
    pairs = [(streamed.output, grid.output)]
    pairs += [(from_stream[name], from_grid[name]) for name in INPUTS]
    for here, there in pairs:
        assert here.shape == there.shape
        assert here.dtype == there.dtype
        largest = np.abs(there).max(initial=0.0)
        assert np.abs(here - there).max(initial=0.0) <= error * largest
    return grid, streamed


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles so small that a head of a few tokens has many, and some that are cut short."""
    monkeypatch.setattr(tiles, "QUERIES", 3)
    monkeypatch.setattr(tiles, "KEYS", 2)
    monkeypatch.setattr(tiles, "ROWS", 2)


@pytest.mark.parametrize("inputs", FIXTURES.values(), ids=FIXTURES)
def test_it_gives_what_plain_python_gives(inputs, small_tiles):
    record, gradients = both_ways(streaming_self_attention, *inputs)
    slow = slow_head(*inputs)
    np.testing.assert_allclose(record.output, slow.output, rtol=0, atol=1e-14)
    # A weight is the exponential of its score less the logarithm of the sum.
    scores = record.scale * record.query @ record.key.swapaxes(1, 2)
    np.testing.assert_allclose(
        np.exp(scores - record.log_sum_exp[..., None]), slow.weights, rtol=1e-13, atol=0
    )
    for (name, computed), expected in zip(gradients.items(), slow_gradients(*inputs), strict=True):
        np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("size", [1, 8, 20])
@pytest.mark.parametrize("tokens", TOKENS)
def test_both_heads_agree_for_any_number_of_tokens(tokens, size):
    query, key, value, grad_output = seeded(2 if tokens < 600 else 1, tokens, 5, 3, seed=tokens)
    assert_alike((size * query, size * key, value, grad_output))


@steady
@given(heads(tokens=st.integers(1, 12)))
def test_both_heads_agree_on_ties_and_repeated_tokens(inputs):
    before = tiles.QUERIES, tiles.KEYS, tiles.ROWS
    try:
        tiles.QUERIES, tiles.KEYS, tiles.ROWS = 3, 2, 2
        assert_alike(inputs, error=1e-11)
    finally:
        tiles.QUERIES, tiles.KEYS, tiles.ROWS = before


def test_twins_that_share_a_choice_lose_no_digits(small_tiles):
    query, key, value, _ = seeded(1, 6, 4, 4, seed=9)
    twice = [np.concatenate([array, array], axis=1) for array in (8 * query, 8 * key, value)]
    assert_alike((*twice, seeded(1, 12, 4, 4, seed=10)[3]), error=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64])
def test_it_keeps_the_types_that_the_other_head_keeps(kind):
    operands = [(4 * array).astype(kind) for array in RECTANGULAR]
    record, gradients = both_ways(streaming_self_attention, *operands)
    grid, _ = both_ways(scaled_dot_product_self_attention, *operands)
    assert record.output.dtype == grid.output.dtype == gradients["key"].dtype
    np.testing.assert_allclose(record.output, grid.output, rtol=0, atol=2e-6)


def test_an_empty_batch_gives_empty_arrays():
    empty = np.ones((0, 4, 2))
    record, gradients = both_ways(streaming_self_attention, empty, empty, empty, empty)
    assert record.output.shape == gradients["key"].shape == (0, 4, 2)
    assert record.log_sum_exp.shape == (0, 4)


def test_the_record_is_frozen_and_has_no_grid():
    query, key, value, grad_output = RECTANGULAR
    record = streaming_self_attention(query, key, value)
    gradients = record.backward(grad_output)
    for name in ("query", "key", "value", "output", "log_sum_exp"):
        assert not getattr(record, name).flags.writeable
    assert gradients.weights is gradients.scaled_scores is gradients.raw_scores is None
    assert not any(getattr(gradients, name).flags.writeable for name in INPUTS)
    assert "tokens=3" in repr(record)
    assert "StreamingSelfAttention(" in repr(record)
    with pytest.raises(AttributeError):
        record.output = value
    query[0, 0, 0], kept = 99.0, query[0, 0, 0]
    assert record.query[0, 0, 0] == kept
    query[0, 0, 0] = kept


class TestRefusals:
    @pytest.mark.parametrize(
        ("place", "other"),
        [
            (0, np.ones((2, 2))),
            (1, np.ones((3, 3, 5))),
            (1, np.ones((2, 4, 5))),
            (1, np.ones((2, 3, 4))),
            (2, np.ones((2, 3, 0))),
            (2, np.full((2, 3, 4), np.nan)),
            (0, np.ones((2, 3, 5), dtype=complex)),
        ],
    )
    def test_bad_input_is_refused_as_by_the_other_head(self, place, other):
        operands = list(RECTANGULAR[:3])
        operands[place] = other
        streamed = refusal_of(streaming_self_attention, *operands)
        grid = refusal_of(scaled_dot_product_self_attention, *operands)
        assert facts(streamed) == facts(grid)
        assert str(streamed) == str(grid)

    def test_a_gradient_of_another_shape_is_refused(self):
        record = streaming_self_attention(*RECTANGULAR[:3])
        assert refusal_of(record.backward, np.ones((2, 3, 5))).kind == "gradient-shape"

    @steady
    @given(
        seed=st.integers(0, 2**32 - 1),
        powers=st.tuples(*[st.floats(-300, 308)] * 4),
        single=st.booleans(),
    )
    def test_what_overflows_is_told_at_the_same_stage_and_place(self, seed, powers, single):
        kind = np.float32 if single else np.float64
        with np.errstate(all="ignore"):
            operands = [
                (array * 10.0 ** (power / 8 if single else power)).astype(kind)
                for array, power in zip(seeded(2, 9, 2, 4, seed=seed), powers, strict=True)
            ]
        told = []
        for head in (scaled_dot_product_self_attention, streaming_self_attention):
            try:
                both_ways(head, *operands)
            except SelfAttentionError as refusal:
                told.append(facts(refusal))
            else:
                told.append(None)
        assert told[0] == told[1]

    @pytest.mark.parametrize(
        ("operands", "stage", "index"),
        [
            ((1e200, 1e200, 1.0, 1.0), "raw query-key scores", (0, 0, 0)),
            ((1.0, 1.0, 1e200, 1e200), "attention probability gradient", (0, 0, 0)),
        ],
    )
    def test_the_stage_and_the_place_are_those_of_the_whole_grid(
        self, operands, stage, index, small_tiles
    ):
        arrays = [np.full((2, 7, 3), size) for size in operands]
        refusal = refusal_of(both_ways, streaming_self_attention, *arrays)
        assert refusal.evidence == {"stage": stage, "index": index}

    def test_an_overflow_in_a_late_tile_is_found_where_it_is(self, small_tiles):
        query, key, value = np.ones((3, 2, 7, 1))
        query[1, 5], key[1, 4] = 1e200, 1e200
        refusal = refusal_of(streaming_self_attention, query, key, value)
        assert refusal.evidence["index"] == (1, 5, 4)

    def test_scores_too_far_apart_are_told_in_the_logarithm(self, small_tiles):
        query, key = np.full((1, 5, 1), 1e154), np.full((1, 5, 1), 1e154)
        key[0, 3] = -1e154
        refusal = refusal_of(streaming_self_attention, query, key, key / 1e154)
        grid = refusal_of(scaled_dot_product_self_attention, query, key, key / 1e154)
        assert facts(refusal) == facts(grid)
        assert refusal.evidence == {"stage": "row log-softmax", "index": (0, 0, 3)}


class TestRoom:
    def test_no_array_grows_with_the_square_of_the_tokens(self):
        tokens, width = 4096, 8
        operands = seeded(1, tokens, width, width, seed=3)
        both_ways(streaming_self_attention, *(array[:, :300] for array in operands))
        tracemalloc.start()
        with threadpool_limits(2, user_api="blas"):
            both_ways(streaming_self_attention, *operands)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        tile = 8 * tiles.QUERIES * tiles.KEYS
        # Four inputs, an output, four gradients and what passes between them; two tiles a thread,
        # and what goes through all keys at once.
        room = 24 * 8 * tokens * width + 2 * 2 * tile + 2 * 5 * 8 * tiles.ROWS * tokens
        assert peak < room
        assert room < 8 * tokens**2

    def test_each_thread_makes_its_tiles_once(self, monkeypatch):
        made = []
        empty = np.empty

        def counted(shape, *rest, **options):
            made.append(shape)
            return empty(shape, *rest, **options)

        monkeypatch.setattr(tiles.np, "empty", counted)
        operands = seeded(1, 1600, 4, 4, seed=1)
        with threadpool_limits(1, user_api="blas"):
            streaming_self_attention(*operands[:3])
        assert made.count((1, tiles.QUERIES, tiles.KEYS)) == 1
