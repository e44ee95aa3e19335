"""A few tokens of a large head: the same weights in as few features as there are tokens."""

from pathlib import Path

import numpy as np
import pytest

from attnlib import SelfAttentionError, scaled_dot_product_self_attention
from attnlib.lessons import projection
from tests.authority import seeded

REAL = np.load(Path(__file__).parents[1] / "data" / "real_head.npz", allow_pickle=False)
CHOICES = ([2, 10, 13], [13, 2, 10], [5], [0, 15], [1, 3, 5, 7, 9, 11, 12, 14])


@pytest.fixture(scope="module")
def head():
    return scaled_dot_product_self_attention(REAL["query"], REAL["key"], REAL["value"])


def small(few):
    return scaled_dot_product_self_attention(few.query, few.key, few.value)


def close(ours, right):
    return np.abs(ours - right).max() <= 1e-12 * max(1.0, np.abs(right).max())


@pytest.mark.parametrize("tokens", CHOICES, ids=str)
@pytest.mark.parametrize("item", [0, 3, 11])
class TestARealHead:
    """Its scores and weights come from the file: another library computed them."""

    def test_scaled_scores_are_the_heads_own(self, head, tokens, item):
        query, key = REAL["query"][item][tokens], REAL["key"][item][tokens]
        right = query @ key.T / np.sqrt(32)
        assert close(small(projection.choose(head, tokens, item)).scaled_scores[0], right)

    def test_weights_are_the_heads_own_shared_out_over_the_chosen_keys(self, head, tokens, item):
        whole = REAL["weights"][item][np.ix_(tokens, tokens)]
        few = projection.choose(head, tokens, item)
        assert close(few.shares, whole.sum(axis=1))
        assert close(small(few).weights[0], whole / whole.sum(axis=1, keepdims=True))

    def test_outputs_keep_their_lengths_and_angles(self, head, tokens, item):
        few = projection.choose(head, tokens, item)
        whole = REAL["weights"][item][np.ix_(tokens, tokens)]
        right = whole / whole.sum(axis=1, keepdims=True) @ REAL["value"][item][tokens]
        ours = small(few).output[0]
        assert close(ours @ ours.T, right @ right.T)

    def test_keys_and_values_keep_their_lengths_and_angles(self, head, tokens, item):
        few = projection.choose(head, tokens, item)
        for ours, right in ((few.key[0], REAL["key"]), (few.value[0], REAL["value"])):
            right = right[item][tokens]
            assert close(ours @ ours.T, right @ right.T)

    def test_it_has_as_many_features_as_tokens(self, head, tokens, item):
        few = projection.choose(head, tokens, item)
        count = len(tokens)
        assert few.query.shape == few.key.shape == few.value.shape == (1, count, count)
        assert few.query_factor == np.sqrt(count / 32)

    def test_each_token_adds_one_direction_and_goes_along_it(self, head, tokens, item):
        few = projection.choose(head, tokens, item)
        for turned in (few.key[0], few.value[0]):
            assert np.abs(np.triu(turned, 1)).max(initial=0) < 1e-12
            assert (np.diag(turned) > 0).all()

    def test_a_move_of_a_key_does_the_same_to_the_objective(self, head, tokens, item):
        """The gradient of the keys is the head's own, as far as it lies along the keys."""
        few = projection.choose(head, tokens, item)
        parts = [x[item][tokens][None] for x in (head.query, head.key, head.value)]
        large = scaled_dot_product_self_attention(*parts)
        seed = small(few).output
        right = large.backward(large.output).key[0] @ parts[1][0].T
        assert close(small(few).backward(seed).key[0] @ few.key[0].T, right)


class TestOddHeads:
    def test_equal_keys_and_zero_keys_keep_every_score(self):
        query, key, value, _ = seeded(1, 5, 12, 12, seed=3)
        key[0, 2] = key[0, 0]
        key[0, 3] = 0
        value[0] = value[0, :1]
        few = projection.choose((query, key, value), [0, 2, 3, 4])
        rows = [0, 2, 3, 4]
        right = query[0][rows] @ key[0][rows].T / np.sqrt(12)
        assert close(small(few).scaled_scores[0], right)
        lengths = np.linalg.norm(value[0][rows], axis=1)
        assert close(np.linalg.norm(small(few).output[0], axis=1), lengths)

    def test_a_narrow_head_keeps_its_own_features(self):
        query, key, value, _ = seeded(2, 5, 8, 3, seed=4)
        few = projection.choose((query, key, value), [4, 1], item=1)
        assert np.array_equal(few.query, query[1:, [4, 1]])
        assert np.array_equal(few.key, key[1:, [4, 1]])
        assert np.array_equal(few.value, value[1:, [4, 1]])
        assert few.query_factor == 1

    def test_only_what_is_too_wide_is_turned(self):
        query, key, value, _ = seeded(1, 4, 3, 20, seed=5)
        few = projection.choose((query, key, value), [0, 3])
        assert np.array_equal(few.key[0], key[0, [0, 3]])
        assert few.value.shape == (1, 2, 2)

    def test_all_tokens_hold_all_of_the_weight(self):
        few = projection.choose(seeded(1, 4, 16, 16, seed=6)[:3], [3, 1, 0, 2])
        assert np.allclose(few.shares, 1, rtol=0, atol=1e-14)

    def test_a_weight_that_vanishes_in_the_whole_head_is_shared_out_all_the_same(self):
        key = np.zeros((1, 3, 9))
        key[0, :, 0] = 9000.0, 0.0, 3.0
        few = projection.choose((np.ones((1, 3, 9)), key, key), [1, 2])
        assert few.shares.tolist() == [0, 0]
        right = 1 / (1 + np.exp(1.0))
        assert np.abs(small(few).weights[0, :, 0] - right).max() < 1e-12

    def test_single_precision_becomes_double(self, head):
        arrays = [REAL[name].astype(np.float32) for name in ("query", "key", "value")]
        few = projection.choose(scaled_dot_product_self_attention(*arrays), [2, 5], 3)
        assert few.query.dtype == few.value.dtype == np.float64
        right = projection.choose(head, [2, 5], 3)
        assert np.abs(small(few).weights - small(right).weights).max() < 1e-6

    def test_matrices_are_taken_as_one_item(self):
        query, key, value, _ = seeded(1, 5, 12, 12, seed=3)
        flat = projection.choose((query[0], key[0], value[0]), [1, 4])
        assert np.array_equal(flat.query, projection.choose((query, key, value), [1, 4]).query)

    def test_the_head_is_left_as_it_was(self):
        arrays = [array.copy() for array in seeded(1, 5, 12, 12, seed=3)[:3]]
        few = projection.choose(arrays, [1, 4])
        few.query[...] = few.value[...] = 0
        for array, right in zip(arrays, seeded(1, 5, 12, 12, seed=3)[:3], strict=True):
            assert np.array_equal(array, right)


class TestRefusals:
    @pytest.mark.parametrize(
        ("tokens", "words"),
        [
            ([2, 16], "tokens 16 is out of range for 16 tokens: choose from 0 to 15"),
            ([-1], "tokens -1 is out of range"),
            ([2, 5, 2], r"each position once, got 2 more than once in \[2, 5, 2\]"),
            (range(9), "up to 8 tokens .* got 9: choose fewer"),
            ([], "one position at least, got none"),
            ([1.0], "whole numbers, got 1.0"),
            ([True], "whole numbers, got True"),
            ("12", "a list of positions, got '12'"),
            (3, "a list of positions, got 3"),
        ],
    )
    def test_a_choice_that_cannot_be(self, head, tokens, words):
        with pytest.raises(ValueError, match=words):
            projection.choose(head, tokens)

    @pytest.mark.parametrize(
        ("item", "words"),
        [
            (12, "item 12 is out of range for 12 batch items: choose from 0 to 11"),
            (-1, "item -1 is out of range"),
            (None, "item must be given by whole numbers, got None"),
        ],
    )
    def test_an_item_that_is_not_there(self, head, item, words):
        with pytest.raises(ValueError, match=words):
            projection.choose(head, [0], item)

    def test_an_empty_batch_has_nothing_to_choose(self):
        with pytest.raises(ValueError, match="0 batch items: there is none to choose"):
            projection.choose([np.zeros((0, 3, 2))] * 3, [0])

    @pytest.mark.parametrize("thing", [None, "head", np.zeros((3, 4, 5)), ([[1]], [[1]])])
    def test_what_is_no_head(self, thing):
        with pytest.raises(ValueError, match=r"head must be what .* got"):
            projection.choose(thing, [0])

    def test_ragged_rows_are_refused_in_the_cores_words(self):
        with pytest.raises(SelfAttentionError, match="query"):
            projection.choose(([[1, 2], [3]], [[1, 2]], [[1, 2]]), [0])

    def test_arrays_that_the_core_refuses(self):
        with pytest.raises(SelfAttentionError, match="one feature width d_k"):
            projection.choose((np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 2))), [0])
