"""The history panel: words are typed, three pictures follow, and what can't be drawn is said."""

import logging
import threading

import matplotlib
import numpy as np
import pytest

from attnlib.explorers import history
from attnlib.explorers.history import HistoryExplorer
from attnlib.explorers.history_canvas import HEIGHT, SCALE, WIDTH, HistoryCanvas
from attnlib.explorers.outlets import STALE
from attnlib.lessons.history import model_history
from attnlib.views.history import alignments
from attnlib.views.history.alignment_layout import MOST, alignment_layout, word_slots
from attnlib.views.history.alignments import LIMIT, shown
from tests.explorers.pixels import decoded, wrong_cells
from tests.views.reading import Page

LIMITS = dict.fromkeys(("context", "alignment", "attention"), LIMIT)
IMG = "<img src=x onerror=alert(1)>"


@pytest.fixture
def explorer():
    return HistoryExplorer()


def type_words(explorer, text):
    explorer.controls["words"].value = text


def drawn(explorer):
    return explorer.pictures["alignments"].value


def layout_of(run):
    steps, tokens = run.bridge.weights.shape
    return alignment_layout(tokens, steps, whole=True)


def wrong(png, run, grids=None):
    """The cells whose colour isn't that of the run's number."""
    pixels = decoded(png)[::SCALE, ::SCALE]
    return wrong_cells(pixels, layout_of(run), grids or shown(run), LIMITS)


class TestThePicture:
    @pytest.mark.parametrize(
        ("words", "steps", "seed"),
        [("birds sing", 2, 0), ("one", 1, 3), ("a b c d e f g h", 8, 1), ("a b c d e", 2, 9)],
    )
    def test_every_cell_has_the_colour_of_its_number(self, explorer, words, steps, seed):
        explorer.set(words=words.split(), steps=steps, seed=seed)
        assert wrong(drawn(explorer), model_history(tuple(words.split()), steps, seed)) == []

    def test_a_wrong_number_would_be_noticed(self, explorer):
        grids = {name: array.copy() for name, array in shown(explorer.history).items()}
        grids["attention"][1, 0] = 1 - grids["attention"][1, 0]
        assert wrong(drawn(explorer), explorer.history, grids) == [("attention", 1, 0)]

    def test_it_has_one_size_whatever_it_shows(self, explorer):
        for words in ("one", "a b c d e f g h"):
            type_words(explorer, words)
            assert decoded(drawn(explorer)).shape == (SCALE * HEIGHT, SCALE * WIDTH, 3)
        layout = explorer.pictures["alignments"].layout
        assert (layout.width, layout.height) == (f"{WIDTH}px", f"{HEIGHT}px")

    def test_nothing_of_earlier_words_is_left_in_it(self, explorer):
        for words in ("extraordinarily incomprehensible", "a b c d e f g h", "字 é", "it is"):
            type_words(explorer, words)
        assert drawn(explorer) == HistoryCanvas().repaint(model_history(("it", "is")))

    def test_a_word_is_written_in_its_rooms_and_nowhere_else(self):
        canvas, run = HistoryCanvas(), model_history(("birds", "sing"))
        other = model_history(("Birds", "sing"))
        # Other letters, the same numbers: all that may differ is the word.
        object.__setattr__(run, "tokens", other.tokens)
        before = decoded(HistoryCanvas().repaint(model_history(("birds", "sing"))))
        after = decoded(canvas.repaint(run))
        differs = np.any(before != after, axis=2)
        for slot in word_slots(layout_of(run)):
            left, top, right, bottom = (SCALE * edge for edge in slot.box)
            assert differs[top:bottom, left:right].any() == (slot.token == 0)
            differs[top:bottom, left:right] = False
        assert not differs.any()

    def test_it_looks_like_the_still_picture(self):
        run = model_history(("a", "b"), steps=3)
        still = decoded(alignments.alignment_figure(run).png()).astype(int)
        live = decoded(HistoryCanvas().repaint(run)).astype(int)[: len(still)]
        # Glyphs are rasterized in two ways, so edges of letters differ; most pixels must not.
        assert np.mean(np.abs(still - live).max(axis=2) > 40) < 0.01


class TestTheControls:
    def test_each_is_named_in_words(self, explorer):
        descriptions = [control.description for control in explorer.controls.values()]
        assert descriptions == ["Sentence, 1 to 8 words", "Decoder steps", "Seed"]

    def test_its_plain_form_is_short_and_stable(self, explorer):
        plain = "HistoryExplorer(words=('birds', 'sing'), steps=2, seed=0)"
        assert repr(explorer) == repr(HistoryExplorer()) == plain

    @pytest.mark.parametrize(
        ("name", "value", "run"),
        [
            ("words", "  one\ttwo \n three ", (("one", "two", "three"), 2, 0)),
            ("steps", 5, (("birds", "sing"), 5, 0)),
            ("seed", 7, (("birds", "sing"), 2, 7)),
        ],
    )
    def test_each_moves_what_it_names(self, explorer, name, value, run):
        explorer.controls[name].value = value
        expected = model_history(*run)
        assert explorer.history.tokens == expected.tokens
        assert np.array_equal(explorer.history.bridge.weights, expected.bridge.weights)
        assert wrong(drawn(explorer), expected) == []

    def test_a_change_sends_one_picture(self, explorer):
        sent = []
        explorer.pictures["alignments"].observe(sent.append, "value")
        type_words(explorer, "birds sing now")
        assert len(sent) == 1
        explorer.set(words=("a", "b"), steps=3, seed=1)
        assert len(sent) == 2

    def test_the_summary_follows(self, explorer):
        type_words(explorer, "birds sing now")
        assert explorer.summary.startswith("3 words, 2 decoder steps. Pairs scored: 0, 6, 9;")
        assert explorer._words.summary == explorer.summary

    def test_two_threads_leave_the_picture_of_the_last_state(self, explorer):
        def hammer(name, values):
            for value in values:
                explorer.controls[name].value = value

        threads = [
            threading.Thread(target=hammer, args=("words", ["a b", "c", "d e f", "g h"] * 5)),
            threading.Thread(target=hammer, args=("seed", list(range(20)))),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert drawn(explorer) == HistoryCanvas().repaint(model_history(("g", "h"), 2, 19))

    def test_many_changes_leave_no_figure_behind_and_no_new_widget(self, explorer):
        figures = matplotlib._pylab_helpers.Gcf.get_num_fig_managers
        type(explorer.pictures["alignments"])  # the class is loaded before counting
        before, children = figures(), len(explorer.children)
        for count in range(1, MOST + 1):
            type_words(explorer, " ".join("abcdefgh"[:count]))
        assert (figures(), len(explorer.children)) == (before, children)


class TestTables:
    def test_they_are_empty_until_they_are_opened_and_then_follow(self, explorer):
        assert explorer.numbers.value == ""
        assert explorer.numbers.layout.display == "none"
        explorer._tables.value = True
        type_words(explorer, "extraordinarily long")
        rows = Page(explorer.numbers.value).table("Self-attention").rows
        assert rows == ["0 extraordinarily", "1 long"]
        assert not explorer.numbers.layout.display
        explorer._tables.value = False
        assert explorer.numbers.layout.display == "none"

    def test_markup_that_is_typed_stays_text(self, explorer):
        explorer._tables.value = True
        type_words(explorer, IMG)
        page = Page(explorer.numbers.value)
        assert page.table("Self-attention").rows == ["0 <img", "1 src=x", "2 onerror=alert(1)>"]
        assert "img" not in page.tags
        assert wrong(drawn(explorer), model_history(tuple(IMG.split()))) == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "no word yet. Type 1 to 8 words"),
            ("   ", "no word yet"),
            ("a b c d e f g h i", "9 words, but there is room for 8"),
        ],
    )
    def test_a_sentence_without_room_is_told_and_the_last_picture_marked(
        self, explorer, text, told
    ):
        before = drawn(explorer)
        type_words(explorer, text)
        assert told in explorer.refusal
        assert drawn(explorer) == before
        assert STALE in explorer.pictures["alignments"]._dom_classes
        assert explorer.history.tokens == ("birds", "sing")
        assert repr(explorer) == "HistoryExplorer(words=('birds', 'sing'), steps=2, seed=0)"
        type_words(explorer, "birds")
        assert explorer.refusal == ""
        assert STALE not in explorer.pictures["alignments"]._dom_classes

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"words": ()}, "no word yet"),
            ({"words": tuple("abcdefghi")}, "9 words"),
            ({"words": ("two words",)}, "no space in it"),
            ({"words": ("",)}, "no space in it"),
            ({"steps": 0}, "steps must be 1 to 8, got 0"),
            ({"steps": 9}, "steps must be 1 to 8, got 9"),
            ({"seed": -1}, "seed must be 0 to 9999, got -1"),
        ],
    )
    def test_what_code_asks_for_in_vain_is_refused_and_changes_nothing(self, explorer, given, told):
        before = drawn(explorer)
        with pytest.raises(ValueError, match=told):
            HistoryExplorer(**given)
        with pytest.raises(ValueError, match=told):
            explorer.set(**given)
        assert (drawn(explorer), explorer.refusal) == (before, "")
        assert explorer.controls["words"].value == "birds sing"

    def test_an_error_of_our_own_is_told_in_the_panel_and_in_the_log(
        self, explorer, monkeypatch, caplog
    ):
        def broken(*_):
            raise RuntimeError("no paper left")

        before = drawn(explorer)
        monkeypatch.setattr(history, "model_history", broken)
        with caplog.at_level(logging.ERROR, logger="attnlib"):
            type_words(explorer, "anything")
        assert "no paper left" in explorer.refusal
        assert "could not draw" in caplog.text
        assert drawn(explorer) == before
