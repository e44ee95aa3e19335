"""The sheet holds every head's weights at its layer and number, and its measures in words."""

from types import SimpleNamespace

import numpy as np
import pytest

from attnlib.lessons.head_habits import HABITS, survey
from attnlib.views import style
from attnlib.views.real.habit_page import habit_page
from attnlib.views.real.head_sheet import head_sheet
from tests.views.reading import ATTRIBUTES, TAGS, Page
from tests.views.real_heads import LONG, cut_words, encoder_heads, reading

PREVIOUS = np.eye(7)[[0, *range(6)]]


def six_by_twelve():
    """Six layers of twelve heads; one reads the previous token alone, no other has a habit."""
    read = reading(("[CLS]", "the", "dog", "sees", "a", "cat", "[SEP]"), layers=6, heads=12)
    for layer in read.layers:
        layer.weights[:] = (layer.weights + 1 / 7) / 2
    read.layers[4].weights[7] = PREVIOUS
    return read


@pytest.fixture(scope="module")
def read():
    return six_by_twelve()


@pytest.fixture(scope="module")
def sheet(read):
    return head_sheet(read)


def by_place(items, place):
    """Items keyed by column, then row, in reading order."""
    return sorted(items, key=lambda item: (round(place(item)[1]), round(place(item)[0])))


def maps(picture):
    """The images, row by row."""
    images = picture.figure.axes[0].get_images()
    return by_place(images, lambda image: (image.get_extent()[0], image.get_extent()[3]))


class TestTheSheet:
    def test_every_head_has_a_map_of_its_weights_from_0_to_1(self, read, sheet):
        images = maps(sheet)
        heads = [weights for layer in read.layers for weights in layer.weights]
        assert len(images) == len(heads) == 72
        for image, weights in zip(images, heads, strict=True):
            assert image.get_array().tolist() == weights.tolist()
            assert image.get_clim() == (0, 1)
            assert image.get_cmap().name == style.PROBABILITY_MAP

    def test_below_each_map_stand_its_entropy_and_its_habit(self, read, sheet):
        texts = sheet.figure.axes[0].texts
        surveyed = [habits for layer in survey(read) for habits in layer]
        for image, habits in zip(maps(sheet), surveyed, strict=True):
            left, right, bottom, _ = image.get_extent()
            below = [
                text
                for text in texts
                if left <= text.get_position()[0] < right
                and bottom < text.get_position()[1] < bottom + 30
            ]
            words = [text.get_text() for text in by_place(below, lambda text: text.get_position())]
            habit = habits.habits[0] if habits.habits else "–"
            assert words == [f"{habits.entropy:.2f} nats", habit]

    def test_a_habit_is_told_by_a_word_and_a_heavy_frame(self, sheet):
        frames = [line for line in sheet.figure.axes[0].lines if len(line.get_xdata()) == 5]
        frames = by_place(frames, lambda line: (line.get_xdata()[0], line.get_ydata()[0]))
        heavy = [place for place, line in enumerate(frames) if line.get_linewidth() > 1.5]
        assert heavy == [4 * 12 + 7]
        bold = [t.get_text() for t in sheet.figure.axes[0].texts if t.get_weight() == "bold"]
        assert bold == ["Every head of every layer", "previous"]

    def test_layers_and_heads_are_named(self, sheet):
        words = {text.get_text() for text in sheet.figure.axes[0].texts}
        assert {f"layer {layer}" for layer in range(6)} <= words
        assert {f"head {head}" for head in range(12)} <= words

    def test_its_description_counts_the_habits(self, sheet):
        assert "6 layers, 72 heads in all" in sheet.description
        assert (
            "The previous token: 1 head; the most, 100.0 %, in layer 4, head 7."
            in sheet.description
        )

    @pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 3), (6, 12)])
    def test_no_words_are_cut_and_all_are_large_enough(self, layers, heads):
        figure = head_sheet(reading(("a", "b", "[SEP]"), layers, heads)).figure
        assert cut_words(figure) == []
        sizes = {text.get_fontsize() * 100 / 72 for text in figure.axes[0].texts}
        assert min(sizes) >= 11 - 1e-9

    def test_sixty_four_tokens_have_room_and_one_more_is_refused(self):
        assert len(maps(head_sheet(reading(LONG, 1, 2)))) == 2
        with pytest.raises(ValueError, match="room for 64 tokens, got 65: read a shorter"):
            head_sheet(reading((*LONG, "more"), 1, 2))

    def test_it_is_drawn_twice_the_same(self, read, sheet):
        assert head_sheet(read).png() == sheet.png()


class TestTheTable:
    def test_each_habit_has_its_count_and_its_three_strongest_heads(self, read):
        table = Page(habit_page(read).html).table("Habits of the heads")
        assert table.rows == list(HABITS.values())
        assert table.columns == ["where the weight goes", "heads", "the most", "second", "third"]
        for name, texts in zip(HABITS, table.texts, strict=True):
            shares = {
                (layer, head): habits.shares[name]
                for layer, row in enumerate(survey(read))
                for head, habits in enumerate(row)
            }
            assert texts[0] == str(sum(share > 0.5 for share in shares.values()))
            order = sorted(shares, key=shares.get, reverse=True)[:3]
            assert texts[1:] == [
                f"layer {layer}, head {head}: {shares[layer, head]:.3f}" for layer, head in order
            ]

    def test_where_there_is_no_such_key_a_dash_stands(self):
        tokens, heads = ("a", "b"), np.full((1, 2, 2), 0.5)
        read = SimpleNamespace(tokens=tokens, layers=[SimpleNamespace(weights=heads)])
        table = Page(habit_page(read).html).table("Habits of the heads")
        assert table.texts[2] == ["0", "–", "–", "–"]
        assert table.texts[0] == ["0", "layer 0, head 0: 0.500", "–", "–"]

    def test_it_is_made_of_what_untrusted_notebooks_keep(self, read):
        page = Page(habit_page(read).html)
        assert page.tags <= TAGS
        assert page.attributes <= ATTRIBUTES

    def test_a_layer_of_a_published_encoder_has_it_too(self):
        tokens, heads = encoder_heads()
        read = SimpleNamespace(tokens=tokens, layers=[SimpleNamespace(weights=heads)])
        most = Page(habit_page(read).html).table("Habits of the heads").texts[3][1]
        shares = heads[:, 1:, 0].mean(axis=1)
        assert most == f"layer 0, head {shares.argmax()}: {shares.max():.3f}"
