"""The named examples load, are what their notes say, and are the caller's own."""

from pathlib import Path

import numpy as np
import pytest

from attnlib.core.gradcheck import gradient_check
from attnlib.lessons import examples

REAL = Path(__file__).parents[1] / "data" / "real_head.npz"
ARRAYS = ("query", "key", "value", "grad_output")


def arrays(example):
    return [getattr(example, name) for name in ARRAYS]


def test_the_worked_example_comes_first():
    assert examples.NAMES[0] == "worked-example"
    assert len(examples.NAMES) == len(set(examples.NAMES)) == 8


@pytest.mark.parametrize("name", examples.NAMES)
def test_an_example_is_complete_finite_and_named(name):
    example = examples.load(name)
    assert example.name == name
    assert example.title
    assert example.note
    assert all(array.dtype == np.float64 for array in arrays(example))
    assert all(np.isfinite(array).all() for array in arrays(example))
    head = example.head()
    assert head.output.shape == example.grad_output.shape
    assert np.isfinite(head.weights).all()
    assert len(example.tokens) == example.query.shape[1]
    assert all(isinstance(token, str) and token for token in example.tokens)


@pytest.mark.parametrize("name", examples.NAMES)
def test_an_example_comes_back_fresh_and_the_same(name):
    first, second = examples.load(name), examples.load(name)
    before = [array.copy() for array in arrays(first)]
    for mine, other in zip(arrays(first), arrays(second), strict=True):
        assert not np.shares_memory(mine, other)
        mine[...] = 99
    for after, array in zip(arrays(second), before, strict=True):
        assert after.tobytes() == array.tobytes()
    third = arrays(examples.load(name))
    assert all(np.array_equal(x, y) for x, y in zip(third, before, strict=True))


def test_an_unknown_name_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match="'worked'") as caught:
        examples.load("worked")
    assert all(name in str(caught.value) for name in examples.NAMES)


def test_the_shipped_encoder_is_the_stored_one_bit_by_bit():
    example = examples.load("real-head")
    with np.load(REAL, allow_pickle=False) as stored:
        for name in ("query", "key", "value"):
            assert getattr(example, name).tobytes() == stored[name].tobytes()
        assert list(example.tokens) == stored["tokens"].tolist()
    assert example.query.shape == (12, 16, 32)


def test_equal_keys_share_every_query_evenly():
    assert np.array_equal(examples.load("equal-keys").head().weights, np.full((1, 2, 2), 0.5))


def test_one_token_reads_itself_alone():
    head = examples.load("one-token").head()
    assert head.weights.tolist() == [[[1.0]]]
    assert head.output.tolist() == [[[5.0, -2.0]]]


def test_swapped_tokens_swap_every_array_of_the_worked_example():
    worked, swapped = examples.load("worked-example"), examples.load("swapped-tokens")
    for one, other in zip(arrays(worked), arrays(swapped), strict=True):
        assert np.array_equal(one[:, ::-1], other)


def test_large_scores_are_a_thousand_and_nothing():
    head = examples.load("large-scores").head()
    assert sorted(head.raw_scores[0, 0].tolist()) == [0, 1000]


def test_values_of_width_one_give_one_number_a_token():
    assert examples.load("value-width-one").head().output.shape == (1, 2, 1)


@pytest.mark.parametrize("name", [name for name in examples.NAMES if name != "real-head"])
def test_the_gradients_of_a_small_example_pass_their_check(name):
    check = gradient_check(*arrays(examples.load(name)))
    assert check.passed, str(check)
