"""A token's own words: whole where there is room, shortened visibly where there is little."""

import pytest

from attnlib.views import token_names
from attnlib.views.frame import WORDS, pixel_axes
from attnlib.views.frame import draw_frame as drawn
from attnlib.views.layout import head_layout, strip_layout
from attnlib.views.token_names import ELLIPSIS, fitting, length

SIZES = (2, 2, 2)


class TestNames:
    def test_a_token_is_named_by_its_place_and_its_words(self):
        assert token_names.named("q", 1, ("the", "cat")) == "q₁ cat"
        assert token_names.named("q", 1) == "q₁"
        assert token_names.spoken("query 1", 1, ("the", "cat")) == "query 1 “cat”"

    def test_features_have_no_words(self):
        assert token_names.all_named("", 2, ("the", "cat")) == ["0", "1"]
        assert token_names.all_named("k", 2, ("the", "cat")) == ["k₀ the", "k₁ cat"]

    def test_a_word_from_right_to_left_turns_nothing_around_it(self):
        name = token_names.named("q", 0, ("שלום",))
        assert name == "q₀ \N{FIRST STRONG ISOLATE}שלום\N{POP DIRECTIONAL ISOLATE}"


class TestRoom:
    @pytest.mark.parametrize("words", ["animal", "i", "<b>&", "$x$", "שלום"])
    def test_what_fits_is_whole(self, words):
        assert fitting(words, 10, length(words, 10)) == words

    @pytest.mark.parametrize("room", [20, 22, 40, 80])
    def test_what_does_not_fit_ends_in_an_ellipsis_and_fits(self, room):
        words = "Donaudampfschifffahrtsgesellschaft"
        short = fitting(words, 10, room)
        assert short.endswith(ELLIPSIS)
        assert words.startswith(short.removesuffix(ELLIPSIS))
        assert length(short, 10) <= room
        longer = words[: len(short)] + ELLIPSIS
        assert length(longer, 10) > room

    @pytest.mark.parametrize("words", ["", "\U000e0001\U0001f9ff", "漢字"])
    def test_what_pictures_cannot_draw_is_left_to_the_tables(self, words):
        assert fitting(words, 10, 10_000) == ""

    def test_too_little_room_holds_nothing(self):
        assert fitting("animal", 10, 6) == ""

    def test_a_text_of_any_length_is_shortened_at_once(self):
        assert len(fitting("i" * 10**6, 10, 100)) < 64


class TestPicture:
    @pytest.mark.parametrize("tokens", range(1, 9))
    def test_no_words_leave_their_room(self, tokens):
        layout = head_layout(tokens, 3, 3, labels=("Donaudampfschifffahrt",) * tokens)
        axes = pixel_axes(layout)
        texts = [a for a in drawn(axes, layout) if ELLIPSIS in getattr(a, "get_text", str)()]
        axes.figure.canvas.draw()
        cells = [
            (across[0], down[0], across[-1], down[-1])
            for across, down in (place.edges() for place in layout.places)
        ]
        assert texts
        for text in texts:
            box = text.get_window_extent()
            left, right = box.x0, box.x1
            top, bottom = layout.height - box.y1, layout.height - box.y0
            assert left >= 0
            for x0, y0, x1, y1 in cells:
                assert right <= x0 or left >= x1 or bottom <= y0 + 1 or top >= y1 - 1

    def test_each_row_of_tokens_has_its_words(self):
        layout = strip_layout(("weights", "dQ"), *SIZES, labels=("the", "cat"))
        texts = [a.get_text() for a in drawn(pixel_axes(layout), layout) if hasattr(a, "get_text")]
        assert [texts.count(words) for words in ("the", "cat")] == [3, 3]

    def test_markup_of_formulas_is_drawn_as_it_is(self):
        layout = strip_layout(("dQ",), *SIZES, labels=("$a$", "$"))
        axes = pixel_axes(layout)
        words = [
            a for a in drawn(axes, layout) if getattr(a, "get_size", lambda: 0)() == WORDS * 0.72
        ]
        assert [text.get_text() for text in words] == ["$a$", "$"]
        assert not any(text.get_parse_math() for text in words)

    def test_without_labels_nothing_is_wider(self):
        assert head_layout(*SIZES) == head_layout(*SIZES, labels=())
        plain, labelled = head_layout(*SIZES), head_layout(*SIZES, labels=("the", "cat"))
        assert plain.height == labelled.height
        assert plain.width < labelled.width <= 750
