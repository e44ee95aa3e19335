"""Picking an entry: the panel shows its two losses, and says in words what it can't show."""

import logging

import numpy as np
import pytest

from attnlib.explorers import differences as wiring
from attnlib.explorers.differences import DifferenceExplorer
from attnlib.lessons.differences import entry_difference
from attnlib.views import differences
from tests.authority import WORKED, slow_gradients, slow_head
from tests.explorers.pixels import decoded
from tests.views.reading import Page, six

RECTANGULAR = tuple(
    np.random.default_rng(5).standard_normal(shape) for shape in ((3, 5), (3, 5), (3, 4), (3, 4))
)


@pytest.fixture
def explorer():
    return DifferenceExplorer()


def shown(explorer):
    (table,) = Page(explorer.numbers.value).tables
    return dict(zip(table.rows, (row[0] for row in table.texts), strict=True))


def test_it_starts_with_a_step_wide_enough_to_see(explorer):
    assert repr(explorer) == "DifferenceExplorer(Q[q₀, 0], step=0.5, precision='float64')"
    assert explorer.summary.startswith("Q[q₀, 0] moved by h = 0.5 to each side")
    assert explorer.refusal == ""


def test_every_entry_can_be_chosen_and_its_losses_are_those_of_the_slow_head():
    explorer = DifferenceExplorer(*RECTANGULAR)
    inputs = [array[None] for array in RECTANGULAR]
    gradients = slow_gradients(*inputs)
    position = 0
    for which, operand in enumerate(("query", "key", "value")):
        for row, column in np.ndindex(RECTANGULAR[which].shape):
            explorer.controls.entry = position
            found = explorer.difference
            assert (found.operand, found.index) == (operand, (0, row, column))
            moved = [array.copy() for array in inputs]
            moved[which][0, row, column] += 0.5
            above = np.sum(slow_head(*moved).output * inputs[3])
            assert shown(explorer)["L(x + h)"] == six(above)
            assert shown(explorer)["closed form"] == six(gradients[which][0, row, column])
            position += 1
    assert position == len(explorer.controls.entries) == 42


def test_entries_are_named_under_their_matrices(explorer):
    entries = explorer.controls.entries
    assert entries[0] == ["queries", "Q[q₀, 0]"]
    assert entries[7] == ["keys", "K[k₁, 1]"]
    assert entries[11] == ["values", "V[v₁, 1]"]


def test_choosing_by_name_moves_the_control(explorer):
    explorer.choose("key", 1, 0)
    assert explorer.controls.entry == 6
    assert explorer.difference.index == (0, 1, 0)
    with pytest.raises(ValueError, match="there is no entry 'key' \\[2, 0\\]"):
        explorer.choose("key", 2, 0)
    assert explorer.controls.entry == 6


def test_step_and_precision_are_followed(explorer):
    explorer.controls.step = "1e-6"
    assert explorer.difference.step == 1e-6
    assert explorer.difference.error < 2e-9
    explorer.controls.precision = "float32"
    assert explorer.difference.error > 1e-3
    assert repr(explorer) == "DifferenceExplorer(Q[q₀, 0], step=1e-06, precision='float32')"


def test_the_picture_is_set_once_an_event_and_shows_the_difference(explorer):
    seen = []
    explorer.pictures["secant"].observe(lambda change: seen.append(change.new), "value")
    explorer.controls.step = "0.25"
    assert len(seen) == 1
    pixels = decoded(seen[0])
    assert pixels.shape == (2 * differences.HEIGHT, 2 * differences.WIDTH, 3)
    axes = differences.secant_axes(2)
    differences.draw_secant(axes, entry_difference(*WORKED, "query", (0, 0, 0), 0.25))
    axes.figure.canvas.draw()
    fresh = np.asarray(axes.figure.canvas.buffer_rgba())[..., :3]
    # A kept frame lies under the new lines, a fresh figure's spines over them: a few edge pixels.
    assert np.mean(np.any(pixels != fresh, axis=2)) < 0.01


def test_no_line_of_an_earlier_setting_stays(explorer):
    first = explorer.pictures["secant"].value
    explorer.choose("value", 1, 1)
    assert explorer.pictures["secant"].value != first
    explorer.choose("query", 0, 0)
    assert explorer.pictures["secant"].value == first


class TestWhatCannotBeShown:
    @pytest.mark.parametrize(
        "text", ["", "abc", "0", "-1", "nan", "inf", "1e400", "<b>1</b>", "1e-30", "1,5"]
    )
    def test_a_step_that_is_none_is_told_and_the_picture_marked(self, explorer, text):
        before = explorer.pictures["secant"].value
        explorer.controls.step = text
        assert "step must be a number" in explorer.refusal
        assert explorer.pictures["secant"].value == before
        assert wiring.STALE in explorer.pictures["secant"]._dom_classes
        assert explorer.difference.step == 0.5
        explorer.controls.step = "0.1"
        assert explorer.refusal == ""
        assert wiring.STALE not in explorer.pictures["secant"]._dom_classes

    def test_a_refusal_of_the_core_is_told(self):
        value = np.array([[1e308, 0], [0, 1e308]])
        explorer = DifferenceExplorer(WORKED[0], WORKED[1], value, WORKED[3])
        explorer.controls.precision = "float32"
        assert "must be finite" in explorer.refusal

    def test_inputs_whose_moves_overflow_from_the_start_are_told(self):
        value = np.full((2, 2), 1.7e308)
        explorer = DifferenceExplorer(WORKED[0], WORKED[1], value, WORKED[3])
        assert "must be finite" in explorer.refusal or "must stay finite" in explorer.refusal
        assert repr(explorer) == "DifferenceExplorer(nothing drawn)"

    def test_a_setting_that_no_control_offers_is_told(self, explorer):
        explorer.controls.entry = 99
        assert "there is no entry number 99" in explorer.refusal
        explorer.controls.entry = 0
        explorer.controls.precision = "float16"
        assert "there is no precision 'float16'" in explorer.refusal

    def test_a_fault_of_our_own_is_told_and_logged(self, explorer, monkeypatch, caplog):
        def broken(*_arguments):
            raise ZeroDivisionError("planted")

        monkeypatch.setattr(explorer._canvas, "repaint", broken)
        with caplog.at_level(logging.ERROR, logger="attnlib"):
            explorer.controls.step = "0.2"
        assert "planted" in explorer.refusal
        assert "could not show this difference" in caplog.text

    def test_inputs_that_do_not_go_together_are_refused_at_once(self):
        with pytest.raises(ValueError, match="query, key and value go together"):
            DifferenceExplorer(query=WORKED[0])
