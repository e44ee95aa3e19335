"""Entropy and habits of a head: exact on planted heads; on real ones, as a slow loop has them."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from attnlib.lessons import head_habits
from attnlib.lessons.head_habits import HABITS, THRESHOLD, measure, strongest, survey, weights_of

FILE = Path(__file__).parents[1] / "data" / "real_head.npz"
TOKENS = ("[CLS]", "the", "dog", "sees", "the", "cat", "[SEP]")
T = len(TOKENS)


def onto(keys):
    """A head each of whose queries reads one key alone."""
    return np.eye(T)[list(keys)]


PLANTED = {
    "next": onto([*range(1, T), 2]),
    "previous": onto([3, *range(T - 1)]),
    "separator": onto([T - 1] * (T - 1) + [3]),
    "first": onto([2] + [0] * (T - 1)),
    "itself": np.eye(T),
}


def drawn(heads, tokens, seed):
    scores = 3 * np.random.default_rng(seed).standard_normal((heads, tokens, tokens))
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def encoder():
    with np.load(FILE, allow_pickle=False) as stored:
        return tuple(str(token) for token in stored["tokens"]), stored["weights"]


def slow(tokens, weights, separator):
    """The same measures, one weight at a time, in Python floats."""
    sums = {name: [] for name in HABITS}
    entropies = []
    for i, row in enumerate(weights.tolist()):
        entropies.append(math.fsum(-weight * math.log(weight) for weight in row if weight > 0))
        sums["itself"].append(row[i])
        if i > 0:
            sums["previous"].append(row[i - 1])
            sums["first"].append(row[0])
        if i + 1 < len(row):
            sums["next"].append(row[i + 1])
        if tokens[i] != separator and separator in tokens:
            ends = [row[j] for j, token in enumerate(tokens) if token == separator]
            sums["separator"].append(math.fsum(ends))
    shares = {
        name: math.fsum(found) / len(found) if found else math.nan for name, found in sums.items()
    }
    return entropies, shares


class TestPlantedHeads:
    @pytest.mark.parametrize("name", HABITS)
    def test_a_head_made_for_one_habit_has_that_one_alone_and_whole(self, name):
        found = measure(TOKENS, PLANTED[name])
        assert found.habits == (name,)
        assert found.shares[name] == 1

    @pytest.mark.parametrize("name", HABITS)
    def test_a_head_that_reads_one_key_a_query_has_no_entropy(self, name):
        found = measure(TOKENS, PLANTED[name])
        assert found.entropy == 0
        assert not np.signbit(found.entropies).any()

    def test_even_weights_have_the_most_entropy_and_no_habit(self):
        found = measure(TOKENS, np.full((T, T), 1 / T))
        assert found.entropies == pytest.approx(np.full(T, math.log(T)), abs=1e-12)
        assert found.largest_entropy == math.log(T)
        assert found.habits == ()
        assert found.shares == pytest.approx(dict.fromkeys(HABITS, 1 / T))

    def test_half_of_the_weight_is_not_yet_a_habit(self):
        exactly = 0.5 * PLANTED["next"] + 0.5 * PLANTED["itself"]
        assert THRESHOLD == 0.5
        assert measure(TOKENS, exactly).habits == ()
        more = 0.51 * PLANTED["next"] + 0.49 * PLANTED["itself"]
        assert measure(TOKENS, more).habits == ("next",)

    def test_of_two_habits_the_stronger_comes_first(self):
        found = measure(("a", "b"), [[0.1, 0.9], [0.8, 0.2]])
        assert found.habits == ("next", "previous", "first")
        found = measure(("a", "b"), [[0.3, 0.7], [0.9, 0.1]])
        assert found.habits == ("previous", "first", "next")

    def test_a_turned_head_would_be_seen(self):
        turned = 0.9 * PLANTED["next"].T + 0.1 * np.full((T, T), 1 / T)
        turned /= turned.sum(axis=-1, keepdims=True)
        assert measure(TOKENS, turned).habits == ("previous",)


class TestWhatIsMissing:
    def test_without_a_separator_its_share_is_unknown(self):
        found = measure(("a", "b", "c"), np.eye(3))
        assert math.isnan(found.shares["separator"])
        assert found.habits == ("itself",)

    def test_one_token_has_only_itself(self):
        found = measure(("a",), [[1.0]])
        missing = {name for name, share in found.shares.items() if math.isnan(share)}
        assert missing == {"next", "previous", "separator", "first"}
        assert (found.entropy, found.largest_entropy) == (0, 0)

    def test_another_model_may_have_another_separator_and_more_than_one(self):
        weights = [[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]
        assert measure(("a", "</s>", "</s>"), weights, "</s>").shares["separator"] == 1


class TestAgainstASlowLoop:
    @pytest.mark.parametrize("head", range(12))
    def test_the_heads_of_a_real_encoder(self, encoder, head):
        tokens, weights = encoder
        self.compare(tokens, weights[head], "[SEP]")

    @pytest.mark.parametrize("seed", range(5))
    def test_drawn_heads(self, seed):
        self.compare(("a", "[SEP]", "b", "c", "[SEP]"), drawn(1, 5, seed)[0], "[SEP]")

    def compare(self, tokens, weights, separator):
        found = measure(tokens, weights, separator)
        entropies, shares = slow(tokens, weights, separator)
        assert found.entropies == pytest.approx(entropies, rel=1e-12, abs=1e-14)
        assert found.entropy == pytest.approx(np.mean(entropies), rel=1e-12)
        assert found.shares == pytest.approx(shares, rel=1e-12, nan_ok=True)
        assert 0 <= found.entropy <= found.largest_entropy + 1e-12
        assert not found.entropies.flags.writeable

    def test_single_precision_is_measured_as_well(self, encoder):
        tokens, weights = encoder
        single = measure(tokens, weights[0].astype(np.float32))
        assert single.shares == pytest.approx(measure(tokens, weights[0]).shares, abs=1e-6)


class TestManyHeads:
    def test_the_survey_has_each_head_at_its_layer_and_number(self):
        layers = [drawn(3, T, seed) for seed in range(2)]
        layers[1][2] = PLANTED["previous"]
        reading = SimpleNamespace(
            tokens=TOKENS, layers=[SimpleNamespace(weights=weights) for weights in layers]
        )
        surveyed = survey(reading)
        assert [len(layer) for layer in surveyed] == [3, 3]
        assert surveyed[0][1].shares == measure(TOKENS, layers[0][1]).shares
        order = strongest(surveyed, "previous")
        assert order[0] == (1, 2, 1.0)
        assert len(order) == 6
        shares = [share for _, _, share in order]
        assert shares == sorted(shares, reverse=True)

    def test_where_no_query_has_such_a_key_no_head_is_named(self):
        assert strongest([[measure(("a",), [[1.0]])]], "next") == []

    def test_an_unknown_habit_is_refused_with_the_known_ones(self):
        with pytest.raises(ValueError, match=r"no habit is called 'nxt': choose from next, prev"):
            strongest([], "nxt")


class TestRefusals:
    reading = SimpleNamespace(tokens=TOKENS, layers=[SimpleNamespace(weights=drawn(3, T, 1))] * 2)

    @pytest.mark.parametrize(
        ("layer", "head", "words"),
        [
            (2, 0, "layer must be a whole number from 0 to 1, got 2"),
            (-1, 0, "layer must be a whole number from 0 to 1, got -1"),
            (0, 3, "head must be a whole number from 0 to 2, got 3"),
            (0, 1.0, r"head must be a whole number from 0 to 2, got 1\.0"),
            ("0", 0, "layer must be a whole number from 0 to 1, got '0'"),
        ],
    )
    def test_a_layer_or_head_that_is_not_there(self, layer, head, words):
        with pytest.raises(ValueError, match=words):
            weights_of(self.reading, layer, head)

    def test_a_head_that_is_there_comes_out_as_it_is(self):
        assert weights_of(self.reading, 1, np.int64(2)) is not None
        assert (weights_of(self.reading, 1, 2) == self.reading.layers[1].weights[2]).all()

    @pytest.mark.parametrize(
        ("tokens", "weights", "words"),
        [
            (TOKENS[1:], PLANTED["next"], r"its 6 tokens, \[6, 6\], got \[7, 7\]"),
            (TOKENS, PLANTED["next"][None], r"\[7, 7\], got \[1, 7, 7\]: pick one head"),
            ((), np.empty((0, 0)), "its 0 tokens"),
            (("a", "b"), [[1, 0], [3, -1]], "got 2 for query 1: pass the weights, not the scores"),
            (("a", "b"), [[2, -1], [0, 1]], "0 or more and sum to 1 over the keys, got 1 for"),
            (("a", "b"), [[1, 0], [np.nan, 1]], "got nan for query 1"),
        ],
    )
    def test_weights_that_do_not_belong_to_the_tokens(self, tokens, weights, words):
        with pytest.raises(ValueError, match=words):
            measure(tokens, weights)

    def test_keys_on_the_first_axis_are_noticed(self):
        with pytest.raises(ValueError, match="queries on the first axis and keys on the second"):
            head_habits.checked(TOKENS, drawn(1, T, 3)[0].T)
