"""The head agrees with another library on twelve heads of a published sentence encoder."""

from pathlib import Path

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from tests.authority import assert_near

FILE = Path(__file__).parents[1] / "data" / "real_head.npz"


@pytest.fixture(scope="module")
def encoder():
    with np.load(FILE, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def test_twelve_encoder_heads_come_out_as_another_library_computed_them(encoder):
    head = scaled_dot_product_self_attention(encoder["query"], encoder["key"], encoder["value"])
    assert head.weights.shape == (12, 16, 16)
    assert_near(head.weights, encoder["weights"], 1e-12)
    assert_near(head.output, encoder["output"], 1e-12)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda query, key, value: (query * np.sqrt(32), key, value),
        lambda query, key, value: (key, query, value),
        lambda query, key, value: (query, key, value[::-1]),
        lambda query, key, value: (query, key, value[:, ::-1]),
    ],
    ids=["without the scale", "query and key swapped", "another head", "another token order"],
)
def test_the_encoder_tells_a_wrong_head_from_the_right_one(encoder, mistake):
    wrong = mistake(encoder["query"], encoder["key"], encoder["value"])
    head = scaled_dot_product_self_attention(*wrong)
    with pytest.raises(AssertionError):
        assert_near(head.output, encoder["output"], 1e-3)


def test_single_precision_follows_the_encoder_to_single_precision(encoder):
    single = (encoder[name].astype(np.float32) for name in ("query", "key", "value"))
    head = scaled_dot_product_self_attention(*single)
    assert head.output.dtype == np.float32
    assert_near(head.output.astype(np.float64), encoder["output"], 1e-5)
