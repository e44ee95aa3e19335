"""Moving a slider moves the head: controls in, records, pictures, tables and words out."""

import logging
import threading

import numpy as np
import pytest

from attnlib import SelfAttentionError, scaled_dot_product_self_attention
from attnlib.explorers import HeadExplorer
from attnlib.explorers.states import PRESETS
from attnlib.lessons import examples
from tests.authority import WORKED, seeded
from tests.views.reading import Page, printed

OPERANDS = {"Q": "query", "K": "key", "V": "value"}
STALE = "attnlib-stale"


@pytest.fixture
def explorer():
    return HeadExplorer()


def entries_of(explorer):
    """Every entry slider with its place."""
    return [
        (name, t, f, entry)
        for name in OPERANDS
        for t, row in enumerate(explorer.controls[name])
        for f, entry in enumerate(row)
    ]


def picture_of(explorer):
    return explorer.pictures["head"].value


def count_pictures(explorer):
    seen = []
    explorer.pictures["head"].observe(lambda change: seen.append(change.new), "value")
    return seen


class TestOpening:
    def test_it_shows_the_worked_example(self, explorer):
        for name, right in zip(OPERANDS.values(), WORKED[:3], strict=True):
            assert getattr(explorer.head, name).tolist() == right.tolist()
        assert np.round(explorer.head.weights[0, 0], 6).tolist() == [0.014166, 0.985834]
        assert "q₀ reads 98.6 % of v₁" in explorer.summary
        assert "−1.966576" in explorer.summary

    def test_its_plain_form_is_short_and_stable(self, explorer):
        assert repr(explorer) == "HeadExplorer(tokens=2, key_width=2, value_width=2)"

    def test_matrices_without_a_batch_axis_are_taken_as_one_item(self):
        query, key, value, grad_output = seeded(1, 3, 5, 4, seed=5)
        with_axis = HeadExplorer(query, key, value, grad_output)
        without = HeadExplorer(query[0], key[0], value[0], grad_output[0])
        assert picture_of(with_axis) == picture_of(without)

    def test_the_objective_is_the_diagonal_unless_another_is_given(self):
        query, key, value, _ = seeded(1, 3, 5, 4, seed=5)
        expected = scaled_dot_product_self_attention(query, key, value).backward(np.eye(3, 4)[None])
        assert np.array_equal(HeadExplorer(query, key, value).gradients.query, expected.query)

    @pytest.mark.parametrize("missing", ["query", "key", "value"])
    def test_two_inputs_without_the_third_are_refused(self, missing):
        given = {name: x for name, x in zip(OPERANDS.values(), WORKED, strict=False)}
        del given[missing]
        with pytest.raises(ValueError, match=f"no {missing}.*give all three"):
            HeadExplorer(**given)

    def test_more_than_one_item_is_refused_with_the_way_to_choose_one(self):
        with pytest.raises(ValueError, match=r"one batch item, got 2.*query\[0:1\]"):
            HeadExplorer(*seeded(2, 3, 2, 2, seed=1))

    def test_more_than_can_stand_side_by_side_is_refused(self):
        with pytest.raises(ValueError, match="up to 8 tokens and 8 features, got 9 tokens"):
            HeadExplorer(*seeded(1, 9, 2, 2, seed=1))

    def test_what_the_core_refuses_is_refused_in_its_words(self):
        with pytest.raises(SelfAttentionError, match="one feature width d_k"):
            HeadExplorer(np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 2)))


class TestSliders:
    def test_there_is_one_for_every_entry_and_its_name_says_which(self, explorer):
        names = [entry.description for *_, entry in entries_of(explorer)]
        assert len(names) == len(set(names)) == 12
        assert names[1] == "Q, query 0, feature 1"
        assert names[-1] == "V, value 1, feature 1"

    @pytest.mark.parametrize("name", OPERANDS)
    @pytest.mark.parametrize("cell", [(0, 0), (0, 1), (1, 0), (1, 1)])
    def test_each_moves_its_own_entry_and_all_that_follows(self, explorer, name, cell):
        before = picture_of(explorer)
        inputs = {operand: x.copy() for operand, x in zip(OPERANDS.values(), WORKED, strict=False)}
        inputs[OPERANDS[name]][0][cell] = -0.75
        explorer.controls[name][cell[0]][cell[1]].value = -0.75
        head = scaled_dot_product_self_attention(**inputs)
        gradients = head.backward(WORKED[3])
        for stage in ("raw_scores", "scaled_scores", "weights", "output"):
            assert np.array_equal(getattr(explorer.head, stage), getattr(head, stage))
        for operand in OPERANDS.values():
            ours, right = getattr(explorer.gradients, operand), getattr(gradients, operand)
            assert np.array_equal(ours, right)
        assert picture_of(explorer) != before
        assert picture_of(explorer) == picture_of(HeadExplorer(**inputs))

    def test_a_move_redraws_once(self, explorer):
        seen = count_pictures(explorer)
        explorer.controls["K"][1][0].value = 2.5
        explorer.controls["K"][1][0].value = 2.5
        assert len(seen) == 1

    def test_a_move_in_the_browser_reaches_the_entry_and_its_observers(self, explorer):
        entry, heard = explorer.controls["Q"][0][1], []
        entry.observe(lambda change: heard.append(change.new), "value")
        explorer._matrices["Q"].set_state({"values": [[0, 4.5], [2, -1]]})
        assert heard == [4.5]
        assert explorer.head.query.tolist() == [[[0, 4.5], [2, -1]]]

    def test_a_value_beyond_the_slider_is_kept_and_moves_its_end(self, explorer):
        entry = explorer.controls["V"][1][1]
        entry.value = 12.345
        assert (entry.value, entry.min, entry.max) == (12.345, -6, 12.345)
        assert explorer._matrices["V"].maxima[1][1] == 12.345
        assert explorer.head.value[0, 1, 1] == 12.345

    def test_bounds_and_steps_can_be_set(self, explorer):
        entry = explorer.controls["Q"][0][0]
        entry.min, entry.max, entry.step = -1, 1, 0.01
        matrix = explorer._matrices["Q"]
        sent = matrix.minima[0][0], matrix.maxima[0][0], matrix.steps[0][0]
        assert sent == (-1, 1, 0.01)

    def test_tables_show_every_stage_of_the_state(self, explorer):
        explorer.controls["Q"][0][0].value = 1.5
        page = Page(explorer.numbers.value)
        for title, stage in (
            ("Scores", explorer.head.raw_scores),
            ("Scaled", explorer.head.scaled_scores),
            ("Weights", explorer.head.weights),
            ("Output", explorer.head.output),
            ("dQ", explorer.gradients.query),
            ("dK", explorer.gradients.key),
            ("dV", explorer.gradients.value),
            ("dScores", explorer.gradients.raw_scores),
            ("dScaled", explorer.gradients.scaled_scores),
            ("dWeights", explorer.gradients.weights),
        ):
            assert page.table(title).texts == printed(stage[0]), title

    def test_two_threads_leave_the_picture_of_the_last_state(self, explorer):
        def move(name, feature):
            for step in range(40):
                explorer.controls[name][0][feature].value = step / 8

        threads = [threading.Thread(target=move, args=pair) for pair in (("Q", 0), ("V", 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        head = explorer.head
        assert head.query[0, 0, 0] == head.value[0, 0, 1] == 39 / 8
        assert picture_of(explorer) == picture_of(HeadExplorer(head.query, head.key, head.value))


class TestKeyWidth:
    def test_new_features_of_zero_move_the_scale_and_no_score(self, explorer):
        scores = explorer.head.raw_scores.copy()
        explorer.controls["d_k"].value = 5
        assert explorer.head.key_width == 5
        assert np.array_equal(explorer.head.raw_scores, scores)
        assert explorer.head.scale == 1 / np.sqrt(5)
        assert len(explorer.controls["Q"][0]) == len(explorer.controls["K"][1]) == 5

    def test_new_features_at_random_are_the_same_each_time(self):
        def widened(*widths):
            explorer = HeadExplorer()
            explorer._toolbar.new_features = "random"
            for width in widths:
                explorer.controls["d_k"].value = width
            return explorer.head

        at_once, by_steps = widened(6), widened(3, 6)
        assert np.array_equal(at_once.query, by_steps.query)
        assert np.array_equal(at_once.key, by_steps.key)
        assert not np.array_equal(at_once.query[..., 2:], at_once.key[..., 2:])
        assert np.count_nonzero(at_once.query[..., 2:]) == 8

    def test_a_narrower_width_drops_the_last_features(self, explorer):
        explorer.controls["d_k"].value = 1
        assert explorer.head.query.tolist() == [[[0], [2]]]

    def test_an_entry_lives_as_long_as_its_place(self, explorer):
        entry = explorer.controls["Q"][0][0]
        explorer.controls["d_k"].value = 4
        assert explorer.controls["Q"][0][0] is entry
        entry.value = 2.25
        assert explorer.head.query[0, 0, 0] == 2.25

    def test_it_redraws_once(self, explorer):
        seen = count_pictures(explorer)
        explorer.controls["d_k"].value = 3
        assert len(seen) == 1


class TestRefusals:
    def test_an_overflow_shows_the_cores_words_and_keeps_the_last_good_picture(self, explorer):
        explorer.controls["Q"][0][0].value = 1e200
        good, head = picture_of(explorer), explorer.head
        explorer.controls["K"][0][0].value = 1e200
        assert picture_of(explorer) == good
        assert explorer.head is head
        assert STALE in explorer.pictures["head"]._dom_classes
        assert "raw query-key scores" in explorer._outlets.words.refusal
        assert "scale the inputs down" in explorer._outlets.words.refusal

    def test_the_next_good_setting_takes_the_mark_away(self, explorer):
        entry = explorer.controls["Q"][0][0]
        entry.value = float("nan")
        assert STALE in explorer.pictures["head"]._dom_classes
        entry.value = 1.0
        assert STALE not in explorer.pictures["head"]._dom_classes
        assert explorer._outlets.words.refusal == ""
        assert explorer.head.query[0, 0, 0] == 1

    def test_a_number_that_json_has_no_word_for_travels_as_text(self, explorer):
        explorer.controls["Q"][0][0].value = float("inf")
        assert explorer._matrices["Q"].get_state()["values"] == [["inf", 3], [2, -1]]

    def test_an_error_of_our_own_is_told_in_the_panel_and_in_the_log(
        self, explorer, monkeypatch, caplog
    ):
        def broken(shown):
            raise RuntimeError("out of <ink>")

        monkeypatch.setattr(explorer._canvas, "repaint", broken)
        with caplog.at_level(logging.ERROR, logger="attnlib"):
            explorer.controls["Q"][0][0].value = 1.0
        assert "out of <ink>" in explorer._outlets.words.refusal
        assert "out of <ink>" in caplog.text


class TestStates:
    def test_setting_one_input_keeps_the_others(self, explorer):
        explorer.set(value=[[1, 0, 2], [0, 1, 2]], grad_output=np.ones((2, 3)))
        assert explorer.head.query.tolist() == WORKED[0].tolist()
        assert explorer.head.value.tolist() == [[[1, 0, 2], [0, 1, 2]]]
        assert [len(row) for row in explorer.controls["V"]] == [3, 3]

    def test_setting_several_redraws_once(self, explorer):
        seen = count_pictures(explorer)
        query, key, value, grad_output = seeded(1, 4, 3, 2, seed=6)
        explorer.set(query, key, value, grad_output)
        assert len(seen) == 1
        assert explorer.controls["d_k"].value == 3

    def test_a_set_that_is_refused_changes_nothing(self, explorer):
        before, seen = explorer.code(), count_pictures(explorer)
        with pytest.raises(SelfAttentionError, match="number of tokens"):
            explorer.set(query=[[1, 2]])
        assert explorer.code() == before
        assert seen == []

    def test_code_rebuilds_this_very_state(self, explorer):
        explorer.controls["Q"][0][0].value = 1 / 3
        explorer.controls["d_k"].value = 4
        names = {}
        exec(explorer.code(), names)
        again = names["explorer"]
        assert picture_of(again) == picture_of(explorer)
        assert again.code() == explorer.code()

    def test_reset_goes_back_to_the_start(self, explorer):
        start = picture_of(explorer)
        explorer.controls["d_k"].value = 7
        explorer.controls["Q"][0][0].value = -4.0
        explorer.reset()
        assert picture_of(explorer) == start
        assert explorer.controls["d_k"].value == 2

    @pytest.mark.parametrize("name", PRESETS)
    def test_every_preset_shows_its_example(self, explorer, name):
        explorer._toolbar.preset = name
        example = examples.load(name)
        for operand in OPERANDS.values():
            assert np.array_equal(getattr(explorer.head, operand), getattr(example, operand))
        explorer.controls["Q"][0][0].value = 3.75
        explorer.reset()
        assert np.array_equal(explorer.head.query, example.query)
