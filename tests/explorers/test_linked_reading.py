"""A chosen cell shows its equation with the state's numbers, and marks what it comes from."""

import io
import json

import numpy as np
import pytest

from attnlib.explorers import HeadExplorer
from attnlib.views import figures
from tests.views.reading import Page


@pytest.fixture
def explorer():
    return HeadExplorer()


class TestReading:
    def test_nothing_is_read_until_a_cell_is_chosen(self, explorer):
        assert explorer.reading == ""
        assert explorer._outlets.reader.sources == []

    def test_a_cell_is_read_forward_and_back(self, explorer):
        explorer.choose("scaled_scores", 0, 1)
        forward, back = explorer.reading.split("\n")
        assert forward == "Scaled[q₀, k₁] = 6 ÷ √2 = 4.242641"
        assert back.startswith("dScaled[q₀, k₁] = 0.985834")
        assert back.endswith("= −0.027931")

    def test_its_sources_are_marked_in_the_picture_and_at_the_sliders(self, explorer):
        explorer.choose("raw_scores", 0, 1)
        assert explorer._outlets.reader.sources == [
            ["Q", 0, 0],
            ["Q", 0, 1],
            ["K", 1, 0],
            ["K", 1, 1],
        ]
        assert explorer._matrices["Q"].sources == [[0, 0], [0, 1]]
        assert explorer._matrices["K"].sources == [[1, 0], [1, 1]]
        assert explorer._matrices["V"].sources == []

    def test_they_are_marked_in_the_tables_by_lines_of_two_kinds(self, explorer):
        explorer.choose("weights", 0, 1)
        page = Page(explorer.numbers.value)
        marked = {
            (table.title, row, column): "solid" if "3px solid #b0005a" in styles else "dashed"
            for table in page.tables
            for row, line in enumerate(table.styles)
            for column, styles in enumerate(line)
            if "outline" in styles
        }
        assert marked == {
            ("Weights", 0, 1): "solid",
            ("Scaled", 0, 0): "dashed",
            ("Scaled", 0, 1): "dashed",
        }

    def test_the_reading_follows_a_slider(self, explorer):
        explorer.choose("raw_scores", 0, 1)
        explorer.controls["K"][1][1].value = 2.5
        plain = explorer.reading.replace("\N{NO-BREAK SPACE}", " ")
        assert "0 × (−1) + 3 × 2.5 = 7.500000" in plain

    def test_a_focused_slider_tells_what_a_step_would_do(self, explorer):
        explorer._matrices["Q"].set_state({"focused": [0, 1]})
        assert "Raising Q[q₀, 1] by 0.25 would lower L by about 0.009875." in explorer.reading

    def test_the_told_effect_is_close_to_what_a_step_does(self, explorer):
        entry = explorer.controls["K"][0][1]
        before = float(np.sum(explorer.head.output * np.eye(2)))
        entry.step = 1e-4
        explorer._matrices["K"].set_state({"focused": [0, 1]})
        told = explorer.gradients.key[0, 0, 1] * entry.step
        entry.value += entry.step
        after = float(np.sum(explorer.head.output * np.eye(2)))
        assert after - before == pytest.approx(told, rel=1e-3)

    def test_a_cell_that_goes_with_its_feature_is_let_go(self, explorer):
        explorer.choose("dQ", 0, 1)
        explorer.controls["d_k"].value = 1
        assert explorer.reading == ""
        assert explorer._outlets.reader.chosen == ["", 0, 0]

    @pytest.mark.parametrize("cell", [("colour", 0, 0), ("weights", 2, 0), ("weights", 0, -1)])
    def test_a_cell_that_is_not_there_is_refused(self, explorer, cell):
        with pytest.raises(ValueError, match=r"there is no cell.*choose one of Q, K, V"):
            explorer.choose(*cell)

    def test_a_browser_that_asks_for_a_cell_that_is_gone_gets_none(self, explorer):
        explorer._outlets.reader.set_state({"chosen": ["dQ", 0, 7]})
        assert explorer.reading == ""


class TestCells:
    def test_every_cell_of_the_picture_can_be_chosen_and_has_a_name(self, explorer):
        grids = explorer._outlets.reader.grids
        assert [grid["name"] for grid in grids][:3] == ["dQ", "dK", "dV"]
        assert sum((len(g["across"]) - 1) * (len(g["down"]) - 1) for g in grids) == 44
        weights = next(grid for grid in grids if grid["name"] == "weights")
        assert weights["row_names"] == ["query 0", "query 1"]
        assert weights["column_names"] == ["key 0", "key 1"]

    def test_they_follow_the_shape_and_stay_put_while_numbers_move(self, explorer):
        before = explorer._outlets.reader.grids
        explorer.controls["Q"][0][0].value = 1.0
        assert explorer._outlets.reader.grids is before
        explorer.controls["d_k"].value = 3
        assert len(explorer._outlets.reader.grids[0]["across"]) == 4

    def test_the_summary_that_is_also_the_text_alternative_follows(self, explorer):
        explorer.controls["Q"][0][1].value = 1.0
        assert explorer._outlets.words.summary == explorer.summary
        assert "q₀ reads" in explorer.summary


class TestUndo:
    def test_it_takes_the_picture_back_and_forth(self, explorer):
        start = explorer.pictures["head"].value
        explorer.controls["Q"][0][0].value = 2.0
        explorer.controls["d_k"].value = 4
        moved = explorer.pictures["head"].value
        explorer.undo()
        assert explorer.head.query.tolist() == [[[2, 3], [2, -1]]]
        explorer.undo()
        assert explorer.pictures["head"].value == start
        assert not explorer._toolbar.can_undo
        explorer.redo()
        explorer.redo()
        assert explorer.pictures["head"].value == moved
        assert not explorer._toolbar.can_redo

    def test_a_refused_setting_can_be_undone(self, explorer):
        explorer.controls["Q"][0][0].value = float("nan")
        explorer._toolbar._handle_custom_msg({"do": "undo"}, [])
        assert explorer._outlets.words.refusal == ""
        assert explorer.head.query[0, 0, 0] == 0

    def test_a_preset_and_a_reset_are_one_change_each(self, explorer):
        explorer._toolbar.preset = "random"
        explorer.reset()
        explorer.undo()
        explorer.undo()
        assert repr(explorer) == "HeadExplorer(tokens=2, key_width=2, value_width=2)"
        assert not explorer._toolbar.can_undo


class TestFiles:
    def test_numbers_come_back_to_the_last_bit(self, explorer, tmp_path):
        explorer.controls["V"][0][0].value = 1 / 3
        for ending in ("json", "npz"):
            explorer.save(tmp_path / f"head.{ending}")
        from_json = json.loads((tmp_path / "head.json").read_text())
        with np.load(tmp_path / "head.npz", allow_pickle=False) as from_npz:
            for name in ("query", "key", "value"):
                assert from_npz[name].tobytes() == getattr(explorer.head, name).tobytes()
                assert from_json[name] == getattr(explorer.head, name).tolist()
            assert from_npz["grad_output"].tolist() == from_json["grad_output"]

    def test_the_picture_is_the_whole_head_drawn(self, explorer, tmp_path):
        explorer.save(tmp_path / "head.png")
        expected = figures.head_figure(explorer.head, explorer.gradients, [[[1, 0], [0, 1]]])
        assert (tmp_path / "head.png").read_bytes() == expected.png()
        explorer.save(tmp_path / "head.svg")
        assert "<svg" in (tmp_path / "head.svg").read_text()

    def test_an_unknown_ending_writes_nothing(self, explorer, tmp_path):
        with pytest.raises(ValueError, match="no kind of file 'gif': choose one of png, svg"):
            explorer.save(tmp_path / "head.gif")
        assert list(tmp_path.iterdir()) == []

    def test_a_button_sends_the_file_to_the_browser(self, explorer, monkeypatch):
        sent = []
        monkeypatch.setattr(
            explorer._toolbar, "send", lambda content, buffers=None: sent.append((content, buffers))
        )
        explorer._toolbar._handle_custom_msg({"do": "npz"}, [])
        explorer._toolbar._handle_custom_msg({"do": "copy"}, [])
        content, buffers = sent[0]
        assert content["name"] == "attention_head.npz"
        assert np.load(io.BytesIO(buffers[0]))["query"].tolist() == explorer.head.query.tolist()
        assert sent[1][0] == {"kind": "copy", "text": explorer.code()}
