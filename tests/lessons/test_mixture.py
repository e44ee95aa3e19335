"""Outputs are mixtures: their terms add up to them, and the hull of the values holds them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons import examples, mixture
from tests.authority import RECTANGULAR, seeded

EXACT = 1e-12


def heads():
    """Heads of a few tokens whose values have two features, some of them on top of each other."""
    entry = st.integers(-9, 9).map(float) | st.floats(-100, 100)

    def of_tokens(tokens):
        matrix = st.lists(st.tuples(entry, entry), min_size=tokens, max_size=tokens)
        return st.tuples(matrix, matrix, matrix)

    return st.integers(1, 6).flatmap(of_tokens)


def is_corner(points, candidate):
    """Whether no triangle or segment of the other points holds the candidate: slow and apart."""
    others = [p for p in points if p != candidate]
    for a, b in itertools.combinations(others, 2):
        if turn(a, b, candidate) == 0 and between(a, b, candidate):
            return False
    for a, b, c in itertools.combinations(others, 3):
        turns = [turn(a, b, candidate), turn(b, c, candidate), turn(c, a, candidate)]
        if turn(a, b, c) and (min(turns) >= 0 or max(turns) <= 0):
            return False
    return True


def turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def between(a, b, c):
    return all(min(x, y) <= z <= max(x, y) for x, y, z in zip(a, b, c, strict=True))


class TestSteps:
    def test_the_worked_example_by_hand(self):
        steps = mixture.steps(examples.load("worked-example").head())
        first = [[0, 0], [0.042498, -0.042498], [1.028332, 2.915004]]
        second = [[0, 0], [2.997454, -2.997454], [2.998303, -2.994908]]
        np.testing.assert_allclose(steps, [first, second], rtol=0, atol=6e-7)

    @pytest.mark.parametrize("item", [0, 1])
    def test_they_end_at_the_output_of_their_own_item(self, item):
        head = scaled_dot_product_self_attention(*RECTANGULAR[:3])
        steps = mixture.steps(head, item)
        assert steps.shape == (3, 4, 4)
        assert not steps[:, 0].any()
        np.testing.assert_allclose(steps[:, -1], head.output[item], rtol=0, atol=EXACT)
        for query, key in np.ndindex(3, 3):
            term = head.weights[item, query, key] * head.value[item, key]
            step = steps[query, key + 1] - steps[query, key]
            np.testing.assert_allclose(step, term, rtol=0, atol=EXACT)


class TestHull:
    @given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=9))
    def test_its_corners_are_the_points_that_no_others_hold(self, points):
        corners = {tuple(corner) for corner in mixture.hull(points)}
        assert corners == {point for point in set(points) if is_corner(set(points), point)}

    @given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=3, max_size=9))
    def test_it_goes_round_counter_clockwise(self, points):
        corners = mixture.hull(points).tolist()
        if len(corners) > 2:
            following = [*corners[1:], *corners[:2]]
            ways = zip(corners, following, following[1:], strict=False)
            assert all(turn(*way) > 0 for way in ways)

    def test_far_from_one_it_is_the_same_shape(self):
        points = np.array([[0, 0], [3, 0], [1, 1], [0, 3]], dtype=float)
        for power in (1e-200, 1e200):
            corners = mixture.hull(points * power)
            np.testing.assert_allclose(corners / power, [[0, 0], [3, 0], [0, 3]], rtol=1e-15)

    @pytest.mark.parametrize("points", [[], [[1, 2, 3]], [1, 2]])
    def test_what_has_not_two_coordinates_is_refused_with_the_mend(self, points):
        with pytest.raises(ValueError, match=r"shape \[count, 2\].*got.*value\[:, :2\]"):
            mixture.hull(points)


class TestBeyond:
    @pytest.mark.parametrize(
        ("corners", "point", "distance"),
        [
            ([[1, 1]], [4, 5], 5),
            ([[0, 0], [2, 0]], [1, 0], 0),
            ([[0, 0], [2, 0]], [5, 4], 5),
            ([[0, 0], [2, 0], [0, 2]], [0.5, 0.5], 0),
            ([[0, 0], [2, 0], [0, 2]], [1, 0], 0),
            ([[0, 0], [2, 0], [0, 2]], [1, -3], 3),
            ([[0, 0], [2, 0], [0, 2]], [2, 2], np.sqrt(2)),
        ],
    )
    def test_how_far_a_point_lies_outside(self, corners, point, distance):
        assert mixture.beyond(corners, [point]) == pytest.approx([distance], abs=EXACT)

    @given(heads())
    def test_every_output_lies_in_the_hull_of_the_values(self, inputs):
        query, key, value = (np.array([matrix]) for matrix in inputs)
        head = scaled_dot_product_self_attention(query, key, value)
        outside = mixture.beyond(mixture.hull(value[0]), head.output[0])
        assert outside.max() <= EXACT * max(1, np.abs(value).max())

    def test_weights_that_sum_to_more_than_one_would_be_seen(self):
        query, key, value, _ = seeded(1, 4, 3, 2, seed=5)
        head = scaled_dot_product_self_attention(query, key, value)
        farthest = np.argmax(np.abs(head.value[0]).sum(axis=1))
        planted = 1.1 * head.value[0, farthest]
        assert mixture.beyond(mixture.hull(value[0]), [planted]) > 0.01
