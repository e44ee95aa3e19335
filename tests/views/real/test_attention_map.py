"""An attention map holds the head's own weights, in order, with every token whole beside them."""

import itertools
import warnings

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.image import AxesImage

from attnlib.lessons.head_habits import measure
from attnlib.views import style, token_words
from attnlib.views.real.attention_map import attention_map, head_map
from attnlib.views.real.attention_map_layout import KEY, QUERY
from tests.views.real_heads import HOSTILE, LONG, cut_words, drawn, encoder_heads, reading

REAL, HEADS = encoder_heads()
CASES = {
    "a real head": (REAL, HEADS[8]),
    "one token": (("a",), np.ones((1, 1))),
    "two tokens": (("a", "b"), np.array([[0.5, 0.5], [0.1, 0.9]])),
    "hostile tokens": (HOSTILE, drawn(1, len(HOSTILE), 2)[0]),
    "64 long tokens": (LONG, drawn(1, 64, 3)[0]),
    "equal tokens": (("the",) * 5, drawn(1, 5, 4)[0]),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def case(request):
    tokens, weights = request.param
    return tokens, weights, attention_map(tokens, weights, "A head")


def the_map(picture):
    """The image of weights; the other one is the scale of colours."""
    images = [image for image in picture.figure.axes[0].get_images()]
    assert len(images) == 2
    return images[0]


def marks(picture):
    (found,) = (c for c in picture.figure.axes[0].collections if isinstance(c, PathCollection))
    return found


def words_of(picture):
    return {text.get_text(): text for text in picture.figure.axes[0].texts}


class TestEveryMap:
    def test_its_image_holds_the_weights_on_the_range_from_0_to_1(self, case):
        _, weights, picture = case
        image = the_map(picture)
        assert isinstance(image, AxesImage)
        assert image.get_array().tolist() == weights.tolist()
        assert image.get_clim() == (0, 1)
        assert image.get_cmap().name == style.PROBABILITY_MAP

    def test_rows_are_queries_and_columns_keys_and_both_are_named(self, case):
        tokens, _, picture = case
        left, right, bottom, top = the_map(picture).get_extent()
        side = (right - left) / len(tokens)
        texts = picture.figure.axes[0].texts
        for place, token in enumerate(tokens):
            name = token_words.drawn(token, place)
            row, column = (text for text in texts if text.get_text() == name)
            assert row.get_rotation() == 0
            assert row.get_position()[0] < left
            assert row.get_position()[1] == pytest.approx(top + (place + 0.5) * side)
            assert column.get_rotation() == 90
            assert column.get_position()[0] == pytest.approx(left + (place + 0.5) * side)
            assert column.get_position()[1] < top < bottom
        assert {QUERY, KEY} <= set(words_of(picture))

    def test_the_strongest_key_of_each_query_is_marked(self, case):
        tokens, weights, picture = case
        left, right, _, top = the_map(picture).get_extent()
        side = (right - left) / len(tokens)
        cells = np.rint((marks(picture).get_offsets() - [left, top]) / side - 0.5).astype(int)
        expected = np.argwhere(weights == weights.max(axis=-1, keepdims=True))
        assert cells[:, ::-1].tolist() == expected.tolist()

    def test_no_words_are_cut(self, case):
        assert cut_words(case[2].figure) == []

    def test_labels_do_not_overlap_their_neighbours(self, case):
        tokens, _, picture = case
        texts = picture.figure.axes[0].texts
        renderer = picture.figure.canvas.get_renderer()
        names = [token_words.drawn(token, place) for place, token in enumerate(tokens)]
        for rotation, low, high in ((0, "y0", "y1"), (90, "x0", "x1")):
            boxes = [
                text.get_window_extent(renderer)
                for name in names
                for text in texts
                if text.get_text() == name and text.get_rotation() == rotation
            ]
            ends = sorted((getattr(box, low), getattr(box, high)) for box in boxes)
            # Line boxes hold room for accents and tails, so they may touch where ink does not.
            for (_, end), (start, _) in itertools.pairwise(ends):
                assert end - start < 0.25 * (ends[0][1] - ends[0][0])

    def test_words_are_large_enough_and_none_is_taken_for_mathematics(self, case):
        for text in case[2].figure.axes[0].texts:
            number = text.get_text().replace(".", "").isdigit()
            assert text.get_fontsize() * 100 / 72 >= (10 if number else 11) - 1e-9
            assert number or "$" not in text.get_text() or not text.get_parse_math()

    def test_it_is_drawn_without_a_warning_and_twice_the_same(self, case):
        tokens, weights, picture = case
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert attention_map(tokens, weights, "A head").png() == picture.png()

    def test_its_description_names_the_strongest_keys_and_the_measures(self, case):
        tokens, weights, picture = case
        key = int(np.argmax(weights[0]))
        names = token_words.spoken(tokens[0], 0), token_words.spoken(tokens[key], key)
        assert picture.description.startswith(f"A head, {len(tokens)} token")
        assert (
            f"{names[0]} reads {100 * weights[0, key]:.1f} % of {names[1]}" in picture.description
        )
        assert f"Entropy {measure(tokens, weights).entropy:.3f} of at most" in picture.description


class TestNumbers:
    def test_weights_stand_in_the_cells_of_few_tokens_and_are_in_their_places(self):
        picture = attention_map(REAL, HEADS[8])
        left, right, _, top = the_map(picture).get_extent()
        side = (right - left) / len(REAL)
        stamped = {}
        for text in picture.figure.axes[0].texts:
            if text.get_text().replace(".", "").isdigit():
                x, y = text.get_position()
                stamped[int((y - top) // side), int((x - left) // side)] = text.get_text()
        assert stamped == {
            (query, key): f"{weight:.2f}"
            for (query, key), weight in np.ndenumerate(HEADS[8])
            if weight >= 0.005
        }

    def test_with_many_tokens_there_are_no_numbers_and_the_note_speaks_of_dots(self):
        picture = attention_map(LONG, drawn(1, 64, 3)[0])
        words = words_of(picture)
        assert not any(name.replace(".", "").isdigit() for name in words)
        assert "dot: the strongest key of each query" in words


class TestOneHeadOfAnEncoder:
    def test_it_is_the_one_that_was_asked_for(self):
        read = reading(("[CLS]", "a", "b", "[SEP]"), layers=3, heads=2)
        picture = head_map(read, 2, 1)
        assert the_map(picture).get_array().tolist() == read.layers[2].weights[1].tolist()
        assert "Layer 2, head 1" in words_of(picture)

    @pytest.mark.parametrize(("layer", "head", "name"), [(3, 0, "layer"), (0, 2, "head")])
    def test_one_that_is_not_there_is_refused(self, layer, head, name):
        read = reading(("a", "b"), layers=3, heads=2)
        with pytest.raises(ValueError, match=f"{name} must be a whole number from 0 to"):
            head_map(read, layer, head)


class TestAPartOfTheTokens:
    tokens = tuple(f"t{i}" for i in range(70))
    weights = drawn(1, 70, 5)[0]

    def test_its_cells_are_the_chosen_ones_and_keep_their_positions(self):
        picture = attention_map(self.tokens, self.weights, positions=[3, 69, 5])
        expected = self.weights[[3, 69, 5]][:, [3, 69, 5]]
        assert the_map(picture).get_array().tolist() == expected.tolist()
        assert {"t3 ·3", "t69 ·69", "t5 ·5"} <= set(words_of(picture))
        assert "70 tokens, of which 3 are shown" in picture.description
        assert any("a row sums to 1 at most" in words for words in words_of(picture))

    def test_sixty_four_of_them_have_room(self):
        assert cut_words(attention_map(self.tokens, self.weights, positions=range(64)).figure) == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("tokens", "positions", "words"),
        [
            (("a",) * 65, None, r"1 to 64 tokens, got 65: .* `positions=range\(64\)`"),
            (("a",) * 65, [], "1 to 64 tokens, got 0"),
            (("a",) * 3, [3], "a token's position must be a whole number from 0 to 2, got 3"),
            (("a",) * 3, [-1], "from 0 to 2, got -1"),
            (("a", "b" * 65), None, "64 characters, got 65 for token 1: labels are never cut"),
        ],
    )
    def test_what_has_no_room_or_is_not_there(self, tokens, positions, words):
        with pytest.raises(ValueError, match=words):
            attention_map(tokens, np.eye(len(tokens)), positions=positions)

    def test_labels_of_another_sentence(self):
        with pytest.raises(ValueError, match=r"its 15 tokens, \[15, 15\], got \[16, 16\]"):
            attention_map(REAL[1:], HEADS[0])

    def test_all_heads_at_once(self):
        with pytest.raises(ValueError, match="pick one head"):
            attention_map(REAL, HEADS)
