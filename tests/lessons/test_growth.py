"""What is counted agrees with what NumPy allocates; what is measured is all that was promised."""

import tracemalloc

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons import growth


@pytest.fixture
def counted():
    return {each.tokens: each for each in growth.count()}


def test_a_grid_of_16384_tokens_has_the_bytes_of_the_array_that_it_would_be(counted):
    assert counted[16384].grid == np.empty((16384, 1)).nbytes * 16384 == 2_147_483_648


def test_twice_the_tokens_are_four_grids_and_four_times_the_products(counted):
    for tokens in (256, 1024, 16384):
        once, twice = counted[tokens], counted[2 * tokens]
        assert twice.grid == 4 * once.grid
        assert twice.products == 4 * once.products


def test_the_grids_are_those_that_the_records_hold():
    inputs = np.zeros((4, 1, 96, 64))
    head = scaled_dot_product_self_attention(*inputs[:3])
    grads = head.backward(inputs[3])
    arrays = [*vars(head).values(), *vars(grads).values(), inputs[3]]
    held = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    (counted,) = growth.count([96])
    # A head may also keep a number for each query.
    assert counted.with_grids == pytest.approx(held, rel=0.01)


def test_tile_by_tile_grows_with_the_tokens_and_not_with_their_square(counted):
    steps = counted[32768].tile_by_tile - counted[16384].tile_by_tile
    assert steps == 2 * (counted[16384].tile_by_tile - counted[8192].tile_by_tile)


def test_the_products_are_those_of_six_matrices():
    (counted,) = growth.count([5], width=3)
    assert counted.products == 6 * (5 * 5 * 3)


def test_float32_needs_half():
    whole, half = (growth.count([512], dtype=kind)[0] for kind in ("float64", "float32"))
    assert half.with_grids * 2 == whole.with_grids
    assert half.tile_by_tile * 2 == whole.tile_by_tile


@pytest.mark.parametrize("arguments", [{"tokens": [0]}, {"tokens": [8], "width": 0}])
def test_nothing_is_counted_for_no_tokens_or_no_width(arguments):
    with pytest.raises(ValueError, match="must be 1 or more"):
        growth.count(**arguments)


SMALL = {"with grids": 512, "tile by tile": 1024}


def test_every_case_is_measured_once_and_in_order():
    found = list(growth.measurements(SMALL, width=8, spend=0))
    assert [(each.head, each.tokens) for each in found] == growth.cases(SMALL)
    assert growth.cases(SMALL) == [
        *(("with grids", 256), ("tile by tile", 256), ("with grids", 512)),
        *(("tile by tile", 512), ("tile by tile", 1024)),
    ]
    assert all(each.seconds > 0 and each.peak > 0 for each in found)
    assert not tracemalloc.is_tracing()


def test_the_measured_memory_is_what_was_counted_and_little_more():
    for each in growth.measurements({"with grids": 1024, "tile by tile": 256}, spend=0):
        if each.head == "with grids":
            (counted,) = growth.count([each.tokens])
            assert 0.9 < each.peak / counted.with_grids < 1.5


def test_the_head_without_grids_never_holds_one():
    found = list(growth.measurements({"with grids": 0, "tile by tile": 4096}, width=4, spend=0))
    assert found[-1].tokens == 4096
    (counted,) = growth.count([4096])
    assert found[-1].peak < counted.grid / 3


def test_who_has_seen_enough_leaves():
    first = next(growth.measurements(SMALL, width=8, spend=0))
    assert first.tokens == 256
    assert not tracemalloc.is_tracing()


def test_somebody_elses_tracing_goes_on():
    tracemalloc.start()
    try:
        next(growth.measurements(SMALL, width=8, spend=0))
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
