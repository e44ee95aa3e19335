"""The variance argument is measured as assumed, and with one assumption broken at a time."""

import itertools
import math

import numpy as np
import pytest

from attnlib.lessons import score_variance


def exact(query_vectors, key_vectors):
    """Mean and variance over every pair of two equally likely vectors, in exact integers."""
    dots = [
        sum(a * b for a, b in zip(query, key, strict=True))
        for query, key in itertools.product(query_vectors, key_vectors)
    ]
    mean = sum(dots) / len(dots)
    return mean, sum(dot * dot for dot in dots) / len(dots) - mean * mean


def signs(width):
    """All vectors of ±1: components of mean 0 and variance 1, independent of each other."""
    return list(itertools.product((-1, 1), repeat=width))


class TestTheExpectedNumbers:
    @pytest.mark.parametrize("width", [1, 2, 3, 4])
    def test_they_are_those_of_an_exact_count_over_vectors_of_signs(self, width):
        shifted = [tuple(part + 1 for part in vector) for vector in signs(width)]
        repeated = [(sign,) * width for sign in (-1, 1)]
        counted = [exact(vectors, vectors) for vectors in (signs(width), shifted, repeated)]
        kinds = score_variance.measure(width, pairs=2)[:3]
        assert [(kind.expected_mean, kind.expected_variance) for kind in kinds] == counted

    def test_a_key_that_copies_its_query_gives_a_chi_squared_number(self):
        kind = score_variance.measure(7, pairs=2)[3]
        # q . q has the chi-squared law of 7 degrees of freedom: mean 7, variance 14.
        assert (kind.expected_mean, kind.expected_variance) == (7, 14)


@pytest.mark.parametrize("width", [1, 8, 64])
class TestTheMeasuredNumbers:
    def test_they_lie_within_the_sampling_error(self, width):
        pairs = 20_000
        for kind in score_variance.measure(width, pairs):
            spread = math.sqrt(kind.expected_variance)
            assert abs(kind.mean - kind.expected_mean) < 4 * spread / math.sqrt(pairs)
            # Of all these kinds, the square of one normal has the largest kurtosis: 15.
            allowed = 4 * math.sqrt(15 / pairs) * kind.expected_variance
            assert abs(kind.variance - kind.expected_variance) < allowed

    def test_only_the_assumed_kind_has_the_variance_d_k(self, width):
        assumed, *broken = score_variance.measure(width)
        assert assumed.variance == pytest.approx(width, rel=0.1)
        if width > 1:
            assert all(kind.variance > 1.5 * width for kind in broken)


class TestMeasuring:
    def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(self):
        assert score_variance.measure(4, 100) == score_variance.measure(4, 100)
        assert score_variance.measure(4, 100) != score_variance.measure(4, 100, seed=1)

    def test_the_first_kind_is_that_of_standard_normals(self):
        query, key = np.random.default_rng(3).standard_normal((2, 50, 5))
        dots = [math.fsum(row) for row in (query * key).tolist()]
        kind = score_variance.measure(5, 50, seed=3)[0]
        assert kind.mean == pytest.approx(math.fsum(dots) / 50, rel=1e-12)

    @pytest.mark.parametrize(
        ("wrong", "words"), [({"width": 0}, "got 0"), ({"pairs": 1}, "got 1")], ids=str
    )
    def test_what_cannot_be_measured_is_refused(self, wrong, words):
        with pytest.raises(ValueError, match=words):
            score_variance.measure(**wrong)
