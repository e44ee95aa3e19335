"""One weight of a real head, followed: every step is the head's own, and leads to the next."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons.one_weight import follow
from tests.views.real_heads import FILE

WAY = {"layer": 0, "head": 8, "query": 10, "key": 2}


@pytest.fixture(scope="module")
def stored():
    with np.load(FILE, allow_pickle=False) as file:
        return {name: file[name] for name in file}


@pytest.fixture(scope="module")
def reading(stored):
    record = scaled_dot_product_self_attention(stored["query"], stored["key"], stored["value"])
    return SimpleNamespace(tokens=tuple(stored["tokens"].tolist()), layers=(record,))


class TestSteps:
    def test_the_weight_is_the_one_that_another_library_computed(self, reading, stored):
        one = follow(reading, **WAY)
        assert one.weights == pytest.approx(stored["weights"][8, 10], abs=1e-10)

    def test_each_step_follows_from_the_one_before(self, reading, stored):
        one = follow(reading, **WAY)
        products = [a * b for a, b in zip(stored["query"][8, 10], stored["key"][8, 2], strict=True)]
        assert one.products.tolist() == products
        assert one.raw_scores[2] == pytest.approx(math.fsum(products))
        assert one.scaled_scores[2] == pytest.approx(one.raw_scores[2] / math.sqrt(32))
        powers = [math.exp(score) for score in one.scaled_scores]
        assert one.powers == pytest.approx(powers)
        assert one.weights[2] == pytest.approx(powers[2] / math.fsum(powers))
        assert one.total == pytest.approx(math.fsum(powers))

    @pytest.mark.parametrize("query", range(16))
    def test_any_query_and_any_key_can_be_followed(self, reading, query):
        for key in range(16):
            one = follow(reading, 0, 3, query, key)
            assert one.products.sum() == pytest.approx(one.raw_scores[key])
            assert one.powers[key] / one.total == pytest.approx(one.weights[key])

    def test_query_and_key_are_not_exchanged(self, reading):
        one, other = follow(reading, 0, 8, 10, 2), follow(reading, 0, 8, 2, 10)
        assert one.raw_scores[2] != pytest.approx(other.raw_scores[10], abs=0.1)

    def test_nothing_of_it_can_be_changed(self, reading):
        one = follow(reading, **WAY)
        for name in ("features", "products", "raw_scores", "scaled_scores", "powers", "weights"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, name)[0] = 1

    def test_single_precision_has_room_for_every_power(self):
        arrays = np.full((1, 2, 1), 12, dtype=np.float32)
        record = scaled_dot_product_self_attention(arrays, arrays, arrays)
        one = follow(SimpleNamespace(tokens=("a", "b"), layers=(record,)), 0, 0, 0, 1)
        assert one.powers == pytest.approx([math.exp(144)] * 2)


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "given", "words"),
        [
            ("layer", 1, "layer must be a whole number from 0 to 0, got 1"),
            ("head", 12, "head must be a whole number from 0 to 11, got 12"),
            ("query", 16, "query must be a whole number from 0 to 15, got 16"),
            ("key", -1, "key must be a whole number from 0 to 15, got -1"),
            ("key", "animal", "key must be a whole number from 0 to 15, got 'animal'"),
        ],
    )
    def test_what_is_not_there_is_named(self, reading, name, given, words):
        with pytest.raises(ValueError, match=words):
            follow(reading, **{**WAY, name: given})

    def test_a_power_that_no_float_can_hold_is_refused(self):
        arrays = np.full((1, 2, 1), 40.0)
        record = scaled_dot_product_self_attention(arrays, arrays, arrays)
        with pytest.raises(ValueError, match=r"must be 700 or less, .* got 1600"):
            follow(SimpleNamespace(tokens=("a", "b"), layers=(record,)), 0, 0, 0, 1)
