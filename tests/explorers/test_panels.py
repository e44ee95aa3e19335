"""A chapter's panel shows its own part of the head, and is moved like the whole one."""

import numpy as np
import pytest

from attnlib.explorers import panels
from attnlib.views import figures
from attnlib.views.layout import quantities
from tests.authority import seeded
from tests.explorers.pixels import decoded, wrong_cells

PANELS = [
    panels.ScoreExplorer,
    panels.ScaleExplorer,
    panels.MixtureExplorer,
    panels.GradientExplorer,
]


@pytest.mark.parametrize("panel", PANELS)
class TestEveryPanel:
    def test_its_picture_shows_its_quantities_and_no_others(self, panel):
        explorer = panel(*seeded(1, 3, 4, 2, seed=9))
        layout = explorer._canvas.layout
        assert tuple(place.name for place in layout.places) == panel.GRIDS
        grad_output = explorer._editing.inputs().grad_output
        shown = quantities(explorer.head, explorer.gradients, grad_output)
        pixels = decoded(explorer.pictures["head"].value)
        assert pixels.shape[:2] == (layout.height, layout.width)
        assert wrong_cells(pixels, layout, shown, figures.limits(shown)) == []

    def test_each_of_its_sliders_moves_the_head(self, panel):
        explorer = panel()
        assert set(explorer.controls) == {*panel.SLIDERS, "d_k"}
        for name in panel.SLIDERS:
            before = explorer.head
            explorer.controls[name][1][0].value = -5.5
            operand = {"Q": "query", "K": "key", "V": "value"}[name]
            assert getattr(explorer.head, operand)[0, 1, 0] == -5.5
            assert explorer.head is not before

    def test_its_plain_form_names_it(self, panel):
        assert repr(panel()) == f"{panel.__name__}(tokens=2, key_width=2, value_width=2)"

    def test_every_cell_in_it_can_be_read(self, panel):
        explorer = panel()
        for grid in explorer._outlets.reader.grids:
            explorer.choose(grid["name"], 1, 1)
            assert explorer.reading


def test_the_scale_panel_moves_the_scale_and_keeps_the_scores():
    explorer = panels.ScaleExplorer()
    scores = explorer.head.raw_scores
    explorer.controls["d_k"].value = 8
    assert np.array_equal(explorer.head.raw_scores, scores)
    assert explorer.head.scaled_scores[0, 0, 1] == pytest.approx(6 / np.sqrt(8))


@pytest.mark.parametrize("panel", [panels.ScoreExplorer, panels.ScaleExplorer])
def test_a_panel_without_a_way_back_reads_no_gradient(panel):
    explorer = panel()
    for name in ("Q", "K", "raw_scores"):
        explorer.choose(name, 0, 1)
        assert explorer.reading
        assert "\n" not in explorer.reading
        assert "L " not in explorer.reading


def test_a_panel_with_a_way_back_reads_it_too():
    explorer = panels.GradientExplorer()
    explorer.choose("Q", 0, 1)
    assert "L " in explorer.reading
    assert "\ndQ[q₀, 1]" in explorer.reading
