"""The three alignment pictures hold the runs' own numbers, in order, with no word cut."""

import itertools

import matplotlib
import numpy as np
import pytest
from matplotlib.text import Text

from attnlib.lessons.history import context_sensitivity, model_history
from attnlib.views import numbers
from attnlib.views.frame import pixel_axes
from attnlib.views.history.alignment_layout import (
    ADVANCE,
    MISSING,
    MOST,
    WORD_SIZE,
    alignment_layout,
    fitted,
    word_slots,
)
from attnlib.views.history.alignment_words import alignment_tables, history_sentence
from attnlib.views.history.alignments import alignment_figure, draw_alignment_frame, shown
from tests.views.reading import Page

HOSTILE = ("<img", "src=x", "onerror=alert(1)>")
RUNS = {
    "two words": (("birds", "sing"), 2),
    "one word": (("one",), 1),
    "more steps than words": (("a", "b", "c"), 8),
    "more words than steps": (("the", "small", "grey", "bird", "sang"), 1),
    "the most": (tuple(f"extraordinarily{i}" for i in range(MOST)), MOST),
    "markup, mathematics and rare letters": ((*HOSTILE, "$x^2$", "字字字", "\u200b"), 3),
}


@pytest.fixture(params=RUNS.values(), ids=RUNS)
def run(request):
    return model_history(*request.param, seed=5)


def boxes_of_words(figure):
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = [text for text in figure.findobj(Text) if text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts]


def grids_drawn(picture):
    """The collections that hold numbers: those of the cells, not of the borders."""
    return [c for c in picture.figure.axes[0].collections if c.get_array() is not None]


def wrong_grids(picture, run):
    """The grids whose fills aren't the run's numbers."""
    arrays = (run.earlier.contexts, run.bridge.weights, run.transformer.weights)
    drawn = grids_drawn(picture)
    assert len(drawn) == 3
    return [
        position
        for position, (grid, array) in enumerate(zip(drawn, arrays, strict=True))
        if grid.get_array().tolist() != array.ravel().tolist()
    ]


class TestEveryPicture:
    def test_the_fills_hold_the_numbers_of_the_three_models(self, run):
        assert wrong_grids(alignment_figure(run), run) == []

    def test_a_wrong_number_would_be_noticed(self, run):
        picture = alignment_figure(run)
        grid = grids_drawn(picture)[1]
        planted = grid.get_array().copy()
        planted[0] += 1e-6
        grid.set_array(planted)
        assert wrong_grids(picture, run) == [1]

    def test_a_grid_that_is_turned_over_would_be_noticed(self):
        run = model_history(("birds", "sing"))
        picture = alignment_figure(run)
        grids_drawn(picture)[2].set_array(run.transformer.weights.T.ravel())
        assert wrong_grids(picture, run) == [2]

    def test_weights_have_a_fixed_range_from_0_to_1(self, run):
        fixed, additive, attention = grids_drawn(alignment_figure(run))
        assert additive.get_clim() == attention.get_clim() == (0, 1)
        assert fixed.get_clim() == (-1, 1)

    def test_no_words_are_cut_by_the_edge_or_overlap(self, run):
        figure = alignment_figure(run).figure
        boxes, whole = boxes_of_words(figure), figure.bbox
        for words, box in boxes:
            assert whole.x0 - 0.5 <= box.x0 <= box.x1 <= whole.x1 + 0.5, words
            assert whole.y0 - 1 <= box.y0 <= box.y1 <= whole.y1 + 1, words
        for (one, box), (other, second) in itertools.combinations(boxes, 2):
            wide = min(box.x1, second.x1) - max(box.x0, second.x0)
            high = min(box.y1, second.y1) - max(box.y0, second.y0)
            assert wide <= 2 or high <= 0.35 * min(box.height, second.height), (one, other)

    def test_its_description_counts_pairs_and_steps(self, run):
        steps, tokens = run.bridge.weights.shape
        picture = alignment_figure(run)
        assert repr(picture) == picture.description
        assert f"{steps * tokens} pair" in picture.description
        assert f"{tokens**2} pair" in picture.description
        assert f"after {tokens + steps} steps in a row" in picture.description

    def test_the_same_run_gives_the_same_bytes(self, run):
        assert alignment_figure(run).png() == alignment_figure(run).png()


class TestWhoWaitsForWhom:
    @pytest.fixture
    def circles(self):
        axes = pixel_axes(alignment_layout(3, 2))
        draw_alignment_frame(axes, alignment_layout(3, 2))
        return [text for text in axes.texts if text.get_text().isdigit()]

    def test_circles_number_the_words_forward_and_back_and_then_the_rows(self, circles):
        told = [int(text.get_text()) for text in circles]
        encoder, rows = [1, 2, 3], [4, 5]
        assert told == encoder + rows + encoder + rows + encoder + [1, 1, 1]

    def test_the_second_direction_starts_at_the_last_word(self, circles):
        x = [text.get_position()[0] for text in circles]
        forward, back = x[5:8], x[10:13]
        assert forward == sorted(forward)
        assert back == forward[::-1]

    def test_each_row_has_its_circle_at_its_own_height(self, circles):
        _, down = alignment_layout(3, 2).places[2].edges()
        heights = [text.get_position()[1] for text in circles[-3:]]
        assert heights == ((down[:-1] + down[1:]) / 2).tolist()


class TestDigits:
    @pytest.mark.parametrize("tokens", range(1, MOST + 1))
    @pytest.mark.parametrize("steps", [1, MOST])
    def test_every_cell_has_room_for_two_decimals_at_least(self, tokens, steps):
        for place in alignment_layout(tokens, steps).places:
            size, characters = place.digits()
            left, top, right, bottom = place.box(0, 0)
            assert size >= 8.5, place.name
            assert characters * ADVANCE * size <= right - left
            assert size <= bottom - top
            assert characters >= (5 if place.name == "context" else 4)

    def test_a_printed_number_is_its_entry(self):
        run = model_history(("birds", "sing"))
        texts = [text.get_text() for text in alignment_figure(run).figure.axes[0].texts]
        for array in (run.earlier.contexts, run.bridge.weights, run.transformer.weights):
            for entry in array.ravel():
                assert numbers.signed(f"{entry:.3f}") in texts


class TestWords:
    @pytest.mark.parametrize("tokens", range(1, MOST + 1))
    def test_the_rooms_of_words_lie_inside_their_picture_and_apart(self, tokens):
        layout = alignment_layout(tokens, 2)
        slots = word_slots(layout)
        assert [slot.token for slot in slots] == list(range(tokens)) * 4
        for slot in slots:
            left, top, right, bottom = slot.box
            assert 0 <= left < right <= layout.width
            assert 0 <= top < bottom <= layout.height
            assert slot.characters >= 7
            assert slot.characters * ADVANCE * WORD_SIZE <= right - left
        for one, other in itertools.combinations(slots, 2):
            wide = min(one.box[2], other.box[2]) - max(one.box[0], other.box[0])
            high = min(one.box[3], other.box[3]) - max(one.box[1], other.box[1])
            assert wide <= 0 or high <= 0

    @pytest.mark.parametrize(
        ("word", "characters", "seen"),
        [
            ("birds", 5, "birds"),
            ("birds", 4, "bir…"),
            ("$x^2$", 9, "$x^2$"),
            ("<b>bold</b>", 12, "<b>bold</b>"),
            ("字a", 4, f"{MISSING}a"),
            ("e\u0301te\u0301", 3, "été"),
            ("a\nb", 4, f"a{MISSING}b"),
            ("", 4, ""),
        ],
    )
    def test_a_word_is_shortened_and_never_drawn_with_what_the_font_lacks(
        self, word, characters, seen
    ):
        assert fitted(word, characters) == seen

    def test_a_word_is_text_and_never_mathematics_or_markup(self):
        run = model_history(("$x^2$", "<b>x</b>"), steps=1)
        texts = {t.get_text(): t for t in alignment_figure(run).figure.axes[0].texts}
        assert not texts["$x^2$"].get_parse_math()
        assert "<b>x</b>" in texts

    def test_it_draws_without_pyplot(self):
        before = matplotlib._pylab_helpers.Gcf.get_num_fig_managers()
        alignment_figure(model_history())
        assert matplotlib._pylab_helpers.Gcf.get_num_fig_managers() == before


class TestTooMuch:
    @pytest.mark.parametrize(("tokens", "steps"), [(9, 2), (2, 9)])
    def test_what_has_no_room_is_refused_with_what_came_and_what_fits(self, tokens, steps):
        run = model_history(tuple("abcdefghi"[:tokens]), steps=steps)
        with pytest.raises(ValueError, match=f"1 to 8 .* got {tokens} words and {steps} steps"):
            shown(run)
        with pytest.raises(ValueError, match="take a shorter sentence"):
            alignment_figure(run)


class TestTables:
    def test_they_show_every_number_and_every_word_whole(self, run):
        page = Page(alignment_tables(run).html)
        words = [f"{position} {token}" for position, token in enumerate(run.tokens)]
        for title, array in (
            ("Fixed context", run.earlier.contexts),
            ("Additive alignment", run.bridge.weights),
            ("Self-attention", run.transformer.weights),
            ("Moves the context by", context_sensitivity(run.earlier)[1][:, None]),
        ):
            texts = [[numbers.signed(numbers.fixed(x)) for x in row] for row in array]
            assert page.table(title).texts == texts
        assert page.table("Additive alignment").columns == words
        assert page.table("Self-attention").rows == words
        assert page.table("Self-attention").columns == words

    def test_a_word_of_markup_stays_text(self):
        page = Page(alignment_tables(model_history(("<img/src=x/onerror=alert(1)>",))).html)
        assert "img" not in page.tags
        assert page.table("Self-attention").rows == ["0 <img/src=x/onerror=alert(1)>"]


def test_the_sentence_names_counts_and_the_two_moves():
    run = model_history(("birds", "sing", "now"), steps=2)
    _, moves = context_sensitivity(run.earlier)
    sentence = history_sentence(run)
    assert sentence.startswith("3 words, 2 decoder steps. Pairs scored: 0, 6, 9;")
    assert "steps in a row: 5, 5, 1" in sentence
    assert f"by {moves[0]:.6f} at most for the first word, by {moves[-1]:.6f}" in sentence
    np.testing.assert_array_less(0, moves)
