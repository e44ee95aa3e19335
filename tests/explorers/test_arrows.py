"""The arrows follow the sliders: what a panel shows is what the still picture would show."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from attnlib.explorers import panels, states
from attnlib.explorers.arrows import ArrowCanvas
from attnlib.explorers.outlets import STALE
from attnlib.lessons import examples
from attnlib.views import labels, style
from attnlib.views.frame import pixel_axes
from attnlib.views.vectors import match, mixture
from tests.authority import seeded
from tests.explorers.pixels import decoded

INPUTS = {
    "worked": (),
    "three tokens": seeded(1, 3, 4, 2, seed=9)[:3],
    "eight tokens": seeded(1, 8, 4, 3, seed=10)[:3],
    "one feature": seeded(1, 3, 1, 1, seed=11)[:3],
}
PANELS = {
    "match": (panels.ScoreExplorer, match, match.match_figure, "K"),
    "mixture": (panels.MixtureExplorer, mixture, mixture.mixture_figure, "V"),
}


def without_words(pixels, view, head, scale):
    """The picture with every word painted over: glyphs come from two rasterizers."""
    scene = view.Scene.of(head)
    names = view.Painter(pixel_axes(view.SIZE)).show(scene)
    pixels = pixels.copy()
    for box, _, _ in labels.boxes(names, view.accounts(scene), view.SIZE.width):
        left, top, right, bottom = (round(edge * scale) for edge in box)
        pixels[top - 8 : bottom + 8, left - 8 : right + 30] = 0
    return pixels


@pytest.mark.parametrize("name", PANELS)
@pytest.mark.parametrize("inputs", INPUTS.values(), ids=INPUTS)
class TestTheLivePicture:
    def test_it_is_the_still_one_but_for_how_words_are_printed(self, inputs, name):
        panel, view, figure, matrix = PANELS[name]
        explorer = panel(*inputs)
        explorer.controls[matrix][-1][0].value = -1.5
        explorer.controls["Q"][0][0].value = 0.5
        live = ArrowCanvas(view).repaint(explorer.head, 2)
        shown, expected = (
            without_words(decoded(png), view, explorer.head, 2).astype(int)
            for png in (live, figure(explorer.head).png())
        )
        assert np.abs(shown - expected).max() <= 1

    def test_moved_there_and_back_it_is_the_same_to_the_last_bit(self, inputs, name):
        panel, _, _, matrix = PANELS[name]
        explorer = panel(*inputs)
        first = explorer.pictures[name].value
        for moved in ("Q", matrix):
            slider = explorer.controls[moved][0][0]
            start = slider.value
            slider.value = 9.0
            assert explorer.pictures[name].value != first
            slider.value = start
            assert explorer.pictures[name].value == first


@pytest.mark.parametrize("name", PANELS)
class TestEveryPanelWithArrows:
    def test_a_refused_setting_marks_the_arrows_as_those_of_another(self, name):
        explorer = PANELS[name][0]()
        image, entry = explorer.pictures[name], explorer.controls["Q"][0][0]
        before = image.value
        entry.value = float("nan")
        assert STALE in image._dom_classes
        assert image.value == before
        entry.value = 0.0
        assert STALE not in image._dom_classes

    def test_every_preset_can_be_shown(self, name):
        explorer = PANELS[name][0]()
        for preset in states.PRESETS:
            explorer._toolbar.preset = preset
            assert np.array_equal(explorer.head.value, examples.load(preset).value)
            fresh = ArrowCanvas(PANELS[name][1]).repaint(explorer.head, 1)
            assert explorer.pictures[name].value == fresh

    def test_every_width_of_queries_and_keys_can_be_shown(self, name):
        explorer = PANELS[name][0]()
        for width in (1, 8, 2):
            explorer.controls["d_k"].value = width
            fresh = ArrowCanvas(PANELS[name][1]).repaint(explorer.head, 1)
            assert explorer.head.key_width == width
            assert explorer.pictures[name].value == fresh

    def test_on_a_finer_screen_it_is_drawn_finer(self, name):
        panel, view, _, _ = PANELS[name]
        explorer = panel()
        explorer._matrices["Q"].pixel_ratio = 2.0
        height, width, _ = decoded(explorer.pictures[name].value).shape
        assert (width, height) == (2 * view.SIZE.width, 2 * view.SIZE.height)

    def test_a_line_of_text_has_the_width_that_was_reckoned_for_it(self, name):
        view = PANELS[name][1]
        scene = view.Scene.of(examples.load("worked-example").head())
        pixels = np.full((view.SIZE.height, view.SIZE.width, 3), 255, dtype=np.uint8)
        labels.stamp_words(pixels, 1, [], view.accounts(scene), view.SIZE.width)
        for x, y, words in view.accounts(scene):
            line = pixels[int(y) - 8 : int(y) + 8, int(x) :].min(axis=(0, 2))
            inked = np.flatnonzero(line < 128)
            assert abs(inked[-1] + 1 - labels.ADVANCE * labels.SIZE * len(words)) <= 6


class TestTheMixture:
    def test_each_output_bears_the_mark_of_its_query(self):
        explorer = panels.MixtureExplorer()
        explorer.set(query=[[0, 0.75], [0.5, -0.25]])
        scene = mixture.Scene.of(explorer.head)
        pixels = decoded(explorer.pictures["mixture"].value)
        for query in range(2):
            x, y = np.rint(scene.plane.at(scene.steps[query, -1])).astype(int)
            colour = np.rint(np.multiply(255, to_rgb(style.TRAILS[query].colour)))
            assert np.abs(pixels[y, x] - colour).max() <= 2

    def test_the_words_below_tell_the_outputs(self):
        assert panels.MixtureExplorer().summary == (
            "o₀ = (1.028, 2.915); o₁ = (2.998, −2.995). "
            "Every output lies on the segment between the values."
        )
        wide = panels.MixtureExplorer(*seeded(1, 8, 4, 3, seed=10)[:3])
        assert len(wide.summary) < 140


class TestTheMatch:
    def test_the_words_below_tell_the_favourites_and_no_weights(self):
        explorer = panels.ScoreExplorer()
        words = "q₀ favours k₁, with a score of 6.000000; q₁ favours k₀, with a score of 6.000000."
        assert explorer.summary == words
        explorer.controls["K"][0][1].value = 2.0
        assert explorer.summary.startswith("q₀ favours k₀ and k₁, with a score of 6.000000 each;")
