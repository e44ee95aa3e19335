"""What may be said of the published encoder's heads, held on several sentences."""

import numpy as np
import pytest

from attnlib.lessons import real_encoder
from attnlib.lessons.head_habits import strongest, survey

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = "The animal didn't cross the street because it was too wide."
SENTENCES = (
    TIRED,
    WIDE,
    "A dog chases a cat.",
    "She gave him the book that he had asked for, and he thanked her.",
    "In 1987, 42 scientists from 7 countries met in Geneva to discuss unhappiness.",
)


@pytest.fixture(scope="module")
def readings():
    encoder = real_encoder.load()
    return {sentence: encoder.read(sentence) for sentence in SENTENCES}


@pytest.fixture(scope="module")
def surveys(readings):
    return {sentence: survey(reading) for sentence, reading in readings.items()}


def having(surveyed, habit):
    """Layer and head of each head with a habit."""
    return {(layer, head) for layer, head, share in strongest(surveyed, habit) if share > 0.5}


@pytest.mark.parametrize("sentence", SENTENCES)
class TestOnEverySentence:
    def test_one_head_reads_the_previous_token_and_nothing_else(self, surveys, sentence):
        assert having(surveys[sentence], "previous") == {(0, 2)}
        assert strongest(surveys[sentence], "previous")[0][2] > 0.99
        assert surveys[sentence][0][2].entropy < 0.01

    def test_one_head_reads_the_next_token(self, surveys, sentence):
        assert having(surveys[sentence], "next") == {(1, 8)}

    def test_many_heads_read_the_first_token_and_none_of_them_in_layer_0(self, surveys, sentence):
        found = having(surveys[sentence], "first")
        assert len(found) > 20
        assert 0 not in {layer for layer, _ in found}

    def test_where_the_first_token_is_read_its_value_is_almost_nothing(
        self, readings, surveys, sentence
    ):
        for layer, head in having(surveys[sentence], "first"):
            lengths = np.linalg.norm(readings[sentence].layers[layer].value[head], axis=1)
            assert lengths[0] < 0.2 * lengths[1:].mean()

    def test_no_head_reads_the_separator_or_the_token_itself(self, surveys, sentence):
        assert having(surveys[sentence], "separator") == set()
        assert having(surveys[sentence], "itself") == set()


class TestWhatItReads:
    def share(self, reading, layer, head, key):
        tokens = reading.tokens
        return reading.layers[layer].weights[head][tokens.index("it"), tokens.index(key)]

    def test_of_all_heads_one_in_layer_3_has_it_read_the_animal_most(self, readings):
        reading = readings[TIRED]
        shares = {
            (layer, head): self.share(reading, layer, head, "animal")
            for layer in range(6)
            for head in range(12)
        }
        assert max(shares, key=shares.get) == (3, 1)

    def test_another_last_word_more_than_halves_that(self, readings):
        tired, wide = (self.share(readings[sentence], 3, 1, "animal") for sentence in (TIRED, WIDE))
        assert tired > 0.6
        assert wide < tired / 2

    def test_a_head_in_layer_5_reads_the_animal_whoever_asks(self, readings):
        tokens, weights = readings[TIRED].tokens, readings[TIRED].layers[5].weights[11]
        columns = weights.mean(axis=0)
        assert tokens[columns.argmax()] == "animal"
        assert columns.max() > 0.4
        # In the other sentence "it" is the street, and still reads the animal.
        assert self.share(readings[WIDE], 5, 11, "animal") > 0.5
