"""The arrows follow the sliders: what the panel shows is what the still picture would show."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from attnlib.explorers import panels, states
from attnlib.explorers.mixture import MixtureCanvas
from attnlib.explorers.outlets import STALE
from attnlib.lessons import examples
from attnlib.views import labels, mixture, style
from attnlib.views.frame import pixel_axes
from attnlib.views.mixture_scene import Scene
from tests.authority import seeded
from tests.explorers.pixels import decoded

INPUTS = {
    "worked": (),
    "three tokens": seeded(1, 3, 4, 2, seed=9)[:3],
    "eight tokens": seeded(1, 8, 4, 3, seed=10)[:3],
    "one feature": seeded(1, 3, 2, 1, seed=11)[:3],
}


def without_words(pixels, head, scale):
    """The picture with every word painted over: glyphs come from two rasterizers."""
    scene = Scene.of(head)
    names = mixture.MixturePainter(pixel_axes(mixture.SIZE)).show(scene, scene.plane)
    boxes = [label.box for label in names]
    boxes += [(x, y - 9, x + 260, y + 9) for x, y, _ in mixture.accounts(scene)]
    pixels = pixels.copy()
    for left, top, right, bottom in boxes:
        across = slice(int((left - 4) * scale), int((right + 4) * scale))
        pixels[int((top - 4) * scale) : int((bottom + 4) * scale), across] = 0
    return pixels


def output_pixel(explorer, query):
    """The colour in the middle of the mark at one query's output."""
    scene = Scene.of(explorer.head)
    x, y = np.rint(scene.plane.at(scene.steps[query, -1])).astype(int)
    return decoded(explorer.pictures["mixture"].value)[y, x]


@pytest.mark.parametrize("inputs", INPUTS.values(), ids=INPUTS)
class TestTheLivePicture:
    def test_it_is_the_still_one_but_for_how_words_are_printed(self, inputs):
        explorer = panels.MixtureExplorer(*inputs)
        explorer.controls["V"][-1][0].value = -1.5
        explorer.controls["Q"][0][0].value = 0.5
        live = MixtureCanvas().repaint(explorer.head, 2)
        still = mixture.mixture_figure(explorer.head).png()
        shown, expected = (
            without_words(decoded(png), explorer.head, 2).astype(int) for png in (live, still)
        )
        assert np.abs(shown - expected).max() <= 1

    def test_moved_there_and_back_it_is_the_same_to_the_last_bit(self, inputs):
        explorer = panels.MixtureExplorer(*inputs)
        first = explorer.pictures["mixture"].value
        for name in ("Q", "V"):
            slider = explorer.controls[name][0][0]
            start = slider.value
            slider.value = 9.0
            assert explorer.pictures["mixture"].value != first
            slider.value = start
            assert explorer.pictures["mixture"].value == first


class TestTheWorkedExample:
    def test_each_output_bears_the_mark_of_its_query(self):
        explorer = panels.MixtureExplorer()
        explorer.set(query=[[0, 0.75], [0.5, -0.25]])
        for query in range(2):
            colour = np.rint(np.multiply(255, to_rgb(style.TRAILS[query].colour)))
            assert np.abs(output_pixel(explorer, query) - colour).max() <= 2

    def test_the_words_below_tell_the_outputs(self):
        explorer = panels.MixtureExplorer()
        assert "o₀ = (1.028332, 2.915004); o₁ = (2.998303, −2.994908)." in explorer.summary
        assert explorer.summary.endswith("Every output lies on the segment between the values.")

    def test_a_refused_setting_marks_the_arrows_as_those_of_another(self):
        explorer = panels.MixtureExplorer()
        image, entry = explorer.pictures["mixture"], explorer.controls["V"][0][0]
        before = image.value
        entry.value = float("nan")
        assert STALE in image._dom_classes
        assert image.value == before
        entry.value = 3.0
        assert STALE not in image._dom_classes

    def test_every_preset_can_be_shown(self):
        explorer = panels.MixtureExplorer()
        shown = set()
        for name in states.PRESETS:
            explorer._toolbar.preset = name
            assert np.array_equal(explorer.head.value, examples.load(name).value)
            shown.add(explorer.pictures["mixture"].value)
        assert len(shown) == len(states.PRESETS)

    def test_on_a_finer_screen_it_is_drawn_finer(self):
        explorer = panels.MixtureExplorer()
        explorer._matrices["Q"].pixel_ratio = 2.0
        height, width, _ = decoded(explorer.pictures["mixture"].value).shape
        assert (width, height) == (2 * mixture.SIZE.width, 2 * mixture.SIZE.height)

    def test_a_word_has_the_width_that_its_place_was_chosen_for(self):
        scene = Scene.of(panels.MixtureExplorer().head)
        pixels = np.full((mixture.SIZE.height, mixture.SIZE.width, 3), 255, dtype=np.uint8)
        mixture.stamp_words(pixels, 1, scene, [])
        for x, y, words in mixture.accounts(scene):
            line = pixels[int(y) - 8 : int(y) + 8, int(x) :].min(axis=(0, 2))
            inked = np.flatnonzero(line < 128)
            assert abs(inked[-1] + 1 - labels.ADVANCE * labels.SIZE * len(words)) <= 6
