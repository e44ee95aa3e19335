"""A score taken apart: lengths and cosines multiply to the dot product."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons import examples
from attnlib.lessons.matching import match
from tests.authority import RECTANGULAR


class TestTheWorkedExample:
    parts = match(examples.load("worked-example").head())

    def test_lengths_by_hand(self):
        assert self.parts.query_lengths == pytest.approx([3, math.sqrt(5)], abs=1e-15)
        assert self.parts.key_lengths == pytest.approx([3, math.sqrt(5)], abs=1e-15)

    def test_cosines_by_hand(self):
        expected = [[0, 2 / math.sqrt(5)], [2 / math.sqrt(5), -4 / 5]]
        np.testing.assert_allclose(self.parts.cosines, expected, rtol=0, atol=1e-15)

    def test_scores_are_those_of_the_head(self):
        assert self.parts.scores.tolist() == [[0, 6], [6, -4]]


@pytest.mark.parametrize("item", [0, 1])
def test_the_parts_multiply_to_the_score_of_their_own_item(item):
    head = scaled_dot_product_self_attention(*RECTANGULAR[:3])
    parts = match(head, item)
    product = parts.query_lengths[:, None] * parts.key_lengths * parts.cosines
    np.testing.assert_allclose(product, head.raw_scores[item], rtol=0, atol=1e-13)
    for query, key in np.ndindex(3, 3):
        angle = math.acos(parts.cosines[query, key])
        apart = np.linalg.norm(
            head.query[item, query] / parts.query_lengths[query]
            - head.key[item, key] / parts.key_lengths[key]
        )
        # The chord between two points of the unit circle.
        assert apart == pytest.approx(2 * math.sin(angle / 2), abs=1e-12)


@given(st.lists(st.floats(-1e150, 1e150), min_size=4, max_size=4))
def test_no_vector_is_too_long_or_too_short_for_its_length(numbers):
    query = np.array(numbers).reshape(1, 2, 2)
    parts = match(scaled_dot_product_self_attention(query, query * 1e-150, query))
    expected = [math.hypot(*row) for row in query[0]]
    np.testing.assert_allclose(parts.query_lengths, expected, rtol=1e-12, atol=1e-300)
    assert np.all(np.abs(parts.cosines) <= 1)


def test_without_length_there_is_no_direction():
    zeros = np.zeros((1, 2, 3))
    parts = match(scaled_dot_product_self_attention(zeros, zeros + 1, zeros))
    assert parts.query_lengths.tolist() == [0, 0]
    assert not parts.cosines.any()
