"""A few tokens of a real head under the hand, by their own words."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.explorers import HeadExplorer
from attnlib.explorers.panels import GradientExplorer, MixtureExplorer, ScaleExplorer, ScoreExplorer
from attnlib.explorers.toolbar import OWN
from tests.authority import WORKED, seeded
from tests.views.reading import Page

PATH = Path(__file__).parents[1] / "data" / "real_head.npz"
REAL = np.load(PATH, allow_pickle=False)
CHOSEN, ITEM = [2, 10, 13], 8
WORDS = ("animal", "it", "tired")
MARKUP = "<img src=x onerror=alert(1)>&amp;"
HOSTILE = (
    "<",
    MARKUP,
    "$\\frac{1}{2}$",
    "שלום",
    "😀",
    "\u202eevil",
    " ",
    "",
    "\ud800",
    "the" * 400,
)


@pytest.fixture(scope="module")
def head():
    return scaled_dot_product_self_attention(REAL["query"], REAL["key"], REAL["value"])


@pytest.fixture
def taken(head):
    return HeadExplorer.from_head(head, CHOSEN, REAL["tokens"], ITEM)


def picture_of(explorer):
    return explorer.pictures["head"].value


class TestTaking:
    def test_it_shows_the_weights_of_the_published_head(self, taken):
        whole = REAL["weights"][ITEM][np.ix_(CHOSEN, CHOSEN)]
        right = whole / whole.sum(axis=1, keepdims=True)
        assert np.abs(taken.head.weights[0] - right).max() < 1e-12
        assert taken.labels == WORDS

    def test_its_note_says_what_was_taken_and_what_was_done(self, taken):
        note = taken.note
        whole = REAL["weights"][ITEM][np.ix_(CHOSEN, CHOSEN)].sum(axis=1)
        assert note.startswith(
            "Taken from batch item 8 of 12, tokens 2 “animal”, 10 “it” and 13 “tired” of 16"
        )
        first, second, third = (f"{100 * share:.1f} % for" for share in whole)
        assert f"they hold a part of the weight: {first} q₀, {second} q₁ and {third} q₂." in note
        assert "√(3/32) = 0.306" in note
        assert taken._outlets.words.note == note

    def test_the_three_arrays_do_as_well_as_the_head(self, taken):
        arrays = (REAL["query"], REAL["key"], REAL["value"])
        again = HeadExplorer.from_head(arrays, CHOSEN, WORDS, item=ITEM)
        assert picture_of(again) == picture_of(taken)
        assert again.note == taken.note

    def test_labels_may_be_the_heads_or_the_chosen_tokens(self, head):
        by_head = HeadExplorer.from_head(head, [13, 2], list(REAL["tokens"]))
        assert by_head.labels == HeadExplorer.from_head(head, [13, 2], ["tired", "animal"]).labels

    def test_where_all_tokens_are_chosen_the_labels_are_the_heads(self):
        explorer = HeadExplorer.from_head(WORKED[:3], [1, 0], ["first", "second"])
        assert explorer.labels == ("second", "first")

    def test_without_labels_there_are_none(self, head):
        explorer = HeadExplorer.from_head(head, CHOSEN, item=ITEM)
        assert explorer.labels == ()
        assert "tokens 2, 10 and 13 of 16" in explorer.note

    def test_a_small_head_is_taken_as_it_is_and_the_note_says_no_more(self):
        query, key, value, _ = seeded(1, 3, 4, 2, seed=8)
        explorer = HeadExplorer.from_head((query, key, value), [0, 1, 2])
        assert np.array_equal(explorer.head.query, query)
        assert explorer.note == "Taken from tokens 0, 1 and 2 of 3, counted from 0."

    def test_of_one_token_it_speaks_as_of_one(self, head):
        explorer = HeadExplorer.from_head(head, [10], REAL["tokens"], ITEM)
        assert explorer.head.weights.tolist() == [[[1]]]
        assert "shared out over the chosen key alone; in the whole head it holds" in explorer.note
        assert "turned into 1, the direction of this key" in explorer.note

    def test_a_vanishing_share_is_told_as_such(self):
        key = np.diag([900.0, 1.0, 2.0])[None]
        explorer = HeadExplorer.from_head((np.ones((1, 3, 3)), key, key), [1])
        assert "weight: less than 0.1 % for q₀." in explorer.note

    @pytest.mark.parametrize(
        "kind", [ScoreExplorer, ScaleExplorer, MixtureExplorer, GradientExplorer]
    )
    def test_every_chapters_panel_can_take_a_head(self, head, kind):
        explorer = kind.from_head(head, CHOSEN, REAL["tokens"], ITEM)
        assert type(explorer) is kind
        explorer.controls["Q"][0][0].value = 2.0
        assert explorer._outlets.words.refusal == ""

    @pytest.mark.parametrize("count", range(1, 9))
    def test_any_count_up_to_eight_can_be_taken(self, head, count):
        explorer = HeadExplorer.from_head(head, range(count), REAL["tokens"])
        assert explorer.head.weights.shape == (1, count, count)


class TestEditing:
    def test_a_slider_moves_the_taken_head(self, taken):
        before = picture_of(taken)
        taken.controls["Q"][1][2].value = -2.0
        expected = scaled_dot_product_self_attention(
            taken.head.query, taken.head.key, taken.head.value
        )
        assert taken.head.query[0, 1, 2] == -2
        assert np.array_equal(taken.head.weights, expected.weights)
        assert picture_of(taken) != before

    def test_reset_goes_back_to_the_taken_head(self, taken):
        start = picture_of(taken)
        taken.controls["V"][0][0].value = 5.5
        taken.controls["d_k"].value = 6
        taken.reset()
        assert picture_of(taken) == start

    def test_a_preset_has_neither_words_nor_note_and_undo_brings_both_back(self, taken):
        start, note = picture_of(taken), taken.note
        taken._toolbar.preset = "worked-example"
        assert (taken.labels, taken.note, taken._outlets.words.note) == ((), "", "")
        assert taken.controls["Q"][0][0].description == "Q, query 0, feature 0"
        assert picture_of(taken) == picture_of(HeadExplorer())
        assert taken.pictures["head"].width == HeadExplorer().pictures["head"].width
        taken.undo()
        assert (taken.labels, taken.note, picture_of(taken)) == (WORDS, note, start)
        assert taken.controls["Q"][0][0].description == "Q, query 0 “animal”, feature 0"

    def test_the_own_numbers_can_be_chosen_again(self, taken):
        start = picture_of(taken)
        taken._toolbar.preset = "equal-keys"
        taken._toolbar.preset = OWN
        assert (picture_of(taken), taken.labels) == (start, WORDS)

    def test_words_on_the_worked_example_can_be_chosen_again(self):
        explorer = HeadExplorer(labels=["the", "cat"])
        explorer._toolbar.preset = "equal-keys"
        assert explorer.labels == ()
        explorer._toolbar.preset = OWN
        assert explorer.labels == ("the", "cat")

    def test_one_new_input_keeps_the_words(self, taken):
        taken.set(value=np.eye(3))
        assert taken.labels == WORDS
        assert taken.note

    def test_a_whole_new_head_has_its_own_words_or_none(self, taken):
        taken.set(*WORKED, labels=["a", "b"])
        assert (taken.labels, taken.note) == (("a", "b"), "")
        taken.set(*WORKED)
        assert taken.labels == ()

    def test_words_alone_can_be_set(self):
        explorer = HeadExplorer()
        explorer.set(labels=["the", "cat"])
        assert "q₀ “the” reads 98.6 % of v₁ “cat”" in explorer.summary

    def test_code_rebuilds_words_and_note(self, taken):
        taken.controls["K"][0][1].value = 1 / 3
        names = {}
        exec(taken.code(), names)
        again = names["explorer"]
        assert picture_of(again) == picture_of(taken)
        assert (again.labels, again.note, again.code()) == (WORDS, taken.note, taken.code())

    def test_code_without_labels_speaks_of_none(self):
        assert "labels" not in HeadExplorer().code()
        assert "note" not in HeadExplorer().code()

    def test_saved_numbers_carry_the_words(self, taken, tmp_path):
        taken.save(tmp_path / "head.json")
        saved = json.loads((tmp_path / "head.json").read_text())
        assert (tuple(saved["labels"]), saved["note"]) == (WORDS, taken.note)
        arrays = np.load(io.BytesIO(taken._file("npz")), allow_pickle=False)
        assert arrays["labels"].tolist() == list(WORDS)
        assert np.array_equal(arrays["query"], taken.head.query)
        assert "labels" not in np.load(io.BytesIO(HeadExplorer()._file("npz")))


class TestWords:
    def test_sliders_tables_cells_and_summary_use_them(self, taken):
        assert taken.controls["K"][2][0].description == "K, key 2 “tired”, feature 0"
        assert taken._matrices["V"].row_words == list(WORDS)
        weights = Page(taken.numbers.value).table("Weights")
        assert weights.columns == ["k₀ animal", "k₁ it", "k₂ tired"]
        assert weights.rows == ["q₀ animal", "q₁ it", "q₂ tired"]
        assert Page(taken.numbers.value).table("dQ").columns == ["0", "1", "2"]
        grid = next(g for g in taken._outlets.reader.grids if g["name"] == "weights")
        assert grid["row_names"][1] == "query 1 “it”"
        assert grid["column_names"][2] == "key 2 “tired”"
        assert "q₁ “it” reads 96.7 % of v₂ “tired”" in taken.summary

    def test_equal_words_are_kept_apart_by_place(self, head):
        explorer = HeadExplorer.from_head(head, [1, 7], REAL["tokens"])
        assert explorer.labels == ("the", "the")
        names = [row[0].description for row in explorer.controls["Q"]]
        assert names == ["Q, query 0 “the”, feature 0", "Q, query 1 “the”, feature 0"]
        assert "tokens 1 “the” and 7 “the”" in explorer.note

    @pytest.mark.parametrize("label", HOSTILE)
    def test_any_text_is_text(self, label):
        explorer = HeadExplorer(labels=[label, "cat"])
        page = Page(explorer.numbers.value)
        assert page.table("Weights").rows[1] == "q₁ cat"
        assert "<img" not in explorer.numbers.value
        explorer.controls["Q"][0][0].value = 1.5
        assert explorer._outlets.words.refusal == ""
        # What is sent to the browser, and what is copied, can be written as UTF-8.
        for part in (*explorer._matrices.values(), explorer._outlets.words):
            json.dumps(part.get_state(), ensure_ascii=False).encode()
        names = {}
        exec(explorer.code(), names)
        assert names["explorer"].labels == (label, "cat")
        assert explorer._file("svg").startswith(b"<?xml")

    def test_nothing_of_a_long_label_is_lost_beside_the_picture(self):
        label = "Donaudampfschifffahrt" * 20
        explorer = HeadExplorer(labels=[label, "cat"])
        assert explorer._matrices["Q"].row_words[0] == label
        assert f"q₀ {label}" in Page(explorer.numbers.value).table("Weights").rows
        assert label in explorer.summary

    def test_words_are_drawn_with_the_background_and_not_with_a_move(self, taken, monkeypatch):
        monkeypatch.setattr("attnlib.views.token_names.fitting", None)
        taken.controls["Q"][0][0].value = 3.25
        assert taken._outlets.words.refusal == ""

    def test_without_labels_everything_stays_as_it_was(self):
        explorer, empty = HeadExplorer(), HeadExplorer(labels=None)
        assert picture_of(explorer) == picture_of(empty)
        assert explorer._matrices["Q"].row_words == []
        assert explorer.controls["Q"][0][0].description == "Q, query 0, feature 0"


class TestRefusals:
    @pytest.mark.parametrize(
        ("labels", "words"),
        [
            (["one"], "one for each of the 2 tokens, got 1: give as many"),
            (["one", "two", "three"], "one for each of the 2 tokens, got 3"),
            ("ab", "a list of texts, one a token, got 'ab'"),
            (7, "a list of texts, one a token, got 7"),
            (["one", 2], "labels must be texts, got 2: write it as a text"),
        ],
    )
    def test_labels_that_are_not_one_for_each_token(self, labels, words):
        with pytest.raises(ValueError, match=words):
            HeadExplorer(labels=labels)

    def test_a_taken_heads_labels_of_another_count(self, head):
        with pytest.raises(ValueError, match=r"head's 16 tokens, or .* 3 chosen ones, got 4"):
            HeadExplorer.from_head(head, CHOSEN, list("abcd"))

    @pytest.mark.parametrize(
        ("choice", "words"),
        [
            ({"tokens": range(9)}, "up to 8 tokens .* got 9"),
            ({"tokens": [3, 16]}, "tokens 16 is out of range for 16 tokens"),
            ({"tokens": [3, 3]}, "each position once, got 3 more than once"),
            ({"tokens": [3], "item": 12}, "item 12 is out of range for 12 batch items"),
        ],
    )
    def test_a_choice_that_cannot_be(self, head, choice, words):
        with pytest.raises(ValueError, match=words):
            HeadExplorer.from_head(head, **choice)

    def test_what_is_no_head(self):
        with pytest.raises(ValueError, match=r"head must be what .* got str"):
            HeadExplorer.from_head("head", [0])

    def test_refused_words_change_nothing(self, taken):
        before = taken.code()
        with pytest.raises(ValueError, match="got 1"):
            taken.set(labels=["one"])
        assert taken.code() == before
