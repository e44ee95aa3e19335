"""One head's output taken from another sentence: what moves, by another way through the encoder."""

import math

import numpy as np
import pytest

from attnlib.lessons import real_encoder
from attnlib.lessons.exchange import exchanged_scores
from attnlib.lessons.real_encoder.layers import split
from tests.lessons import small_encoder
from tests.lessons.test_real_habits import TIRED, WIDE

IT, ANIMAL, LAST = 10, 2, 13


@pytest.fixture(scope="module")
def encoder():
    return real_encoder.load()


@pytest.fixture(scope="module")
def readings(encoder):
    return encoder.read(TIRED), encoder.read(WIDE)


@pytest.fixture(scope="module")
def scores(encoder, readings):
    return exchanged_scores(encoder, *readings, layer=3, head=1, query=IT, key=ANIMAL)


class Exchanging:
    """A layer of which one head says for one token what it is told to say."""

    def __init__(self, layer, head, token, words):
        self.layer, self.place, self.words = layer, (head, token), words

    def __call__(self, x):
        record, _ = self.layer(x)
        output = record.output.copy()
        output[self.place] = self.words
        x = self.layer.attention_norm(x + self.layer.mix(np.concatenate(list(output), axis=1)))
        inner = self.layer.widen(x)
        below = np.vectorize(math.erf)(inner / math.sqrt(2))
        return record, self.layer.network_norm(x + self.layer.narrow(inner * (1 + below) / 2))


def read_with(encoder, sentence, number, layer):
    """Read a sentence with one layer in another's place."""
    layers = list(encoder.layers)
    layers[number] = layer
    state = encoder.read(sentence).states[0]
    records = []
    for each in layers:
        record, state = each(state)
        records.append(record)
    return records


class TestExchange:
    @pytest.mark.parametrize("lower", range(3))
    @pytest.mark.parametrize("head", [0, 3, 8, 11])
    def test_it_is_the_score_that_a_whole_run_gives(self, encoder, readings, scores, lower, head):
        words = readings[1].layers[lower].output[head, IT]
        planted = Exchanging(encoder.layers[lower], head, IT, words)
        records = read_with(encoder, TIRED, lower, planted)
        expected = records[3].raw_scores[1, IT, ANIMAL]
        assert scores[lower, head] == pytest.approx(expected, abs=1e-10)

    def test_a_sentence_exchanged_for_itself_leaves_every_score(self, encoder, readings):
        tired = readings[0]
        scores = exchanged_scores(encoder, tired, tired, 3, 1, IT, ANIMAL)
        assert scores == pytest.approx(
            np.full((3, 12), tired.layers[3].raw_scores[1, IT, ANIMAL]), abs=1e-10
        )

    def test_what_was_read_is_left_as_it_was(self, encoder, readings):
        before = readings[0].layers[1].output.copy()
        exchanged_scores(encoder, *readings, 2, 0, IT, ANIMAL)
        assert np.array_equal(readings[0].layers[1].output, before)

    def test_any_encoder_will_do(self, tmp_path):
        small = real_encoder.load(folder=small_encoder.write(tmp_path))
        one, two = small.read("one two"), small.read("one three")
        scores = exchanged_scores(small, one, two, 1, 1, 1, 2)
        assert scores.shape == (1, 2)
        for head in range(2):
            output = one.layers[0].output.copy()
            output[head, 1] = two.layers[0].output[head, 1]
            state = small.layers[0].after(one.states[0], output)
            layer = small.layers[1]
            query, key = (split(part(state), 2)[1] for part in (layer.query, layer.key))
            assert scores[0, head] == pytest.approx(query[1] @ key[2])


class TestWhatIsSaid:
    """The chapter's claims of the published encoder."""

    def test_two_heads_of_layer_2_carry_the_last_word(self, readings, scores):
        old, new = (each.layers[3].raw_scores[1, IT, ANIMAL] for each in readings)
        order = np.argsort(scores, axis=None)
        carriers = [divmod(int(place), 12) for place in order[:2]]
        assert carriers == [(2, 3), (2, 8)]
        assert (old - scores[2, [3, 8]] > 0.6 * (old - new)).all()

    def test_the_head_that_reads_it_most_does_not(self, readings, scores):
        old, new = (each.layers[3].raw_scores[1, IT, ANIMAL] for each in readings)
        assert readings[0].layers[2].weights[:, IT, LAST].argmax() == 1
        assert abs(scores[2, 1] - old) < 0.1 * (old - new)

    def test_none_of_the_other_heads_brings_the_score_down_by_much(self, readings, scores):
        old, new = (each.layers[3].raw_scores[1, IT, ANIMAL] for each in readings)
        others = np.delete(scores.ravel(), [2 * 12 + 3, 2 * 12 + 8])
        assert (old - others < 0.2 * (old - new)).all()


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "given", "words"),
        [
            ("layer", 6, "layer must be a whole number from 0 to 5, got 6"),
            ("head", 12, "head must be a whole number from 0 to 11, got 12"),
            ("query", 16, "query must be a whole number from 0 to 15, got 16"),
            ("key", "it", "key must be a whole number from 0 to 15, got 'it'"),
        ],
    )
    def test_what_is_not_there_is_named(self, encoder, readings, name, given, words):
        where = {"layer": 3, "head": 1, "query": IT, "key": ANIMAL, name: given}
        with pytest.raises(ValueError, match=words):
            exchanged_scores(encoder, *readings, **where)

    def test_sentences_of_other_lengths_are_refused(self, encoder, readings):
        other = encoder.read("A dog chases a cat.")
        with pytest.raises(ValueError, match="as many tokens, got 16 and 8: exchange a word"):
            exchanged_scores(encoder, readings[0], other, 3, 1, IT, ANIMAL)
