"""The live picture shows the head's own numbers, and repaints only what moved."""

import sys

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.explorers.canvas import HeadCanvas
from attnlib.lessons import examples
from attnlib.views import figures
from attnlib.views.layout import quantities
from tests.authority import WORKED, seeded
from tests.explorers.pixels import decoded, wrong_cells

SHAPES = {
    "worked": WORKED,
    "rectangular": seeded(1, 3, 5, 4, seed=1),
    "one token": seeded(1, 1, 2, 1, seed=2),
    "eight tokens": seeded(1, 8, 8, 8, seed=3),
}


def shown_of(query, key, value, grad_output):
    head = scaled_dot_product_self_attention(query, key, value)
    return quantities(head, head.backward(grad_output), grad_output)


@pytest.mark.parametrize("inputs", SHAPES.values(), ids=SHAPES)
def test_every_cell_has_the_colour_of_its_entry(inputs):
    canvas, shown = HeadCanvas(), shown_of(*inputs)
    pixels = decoded(canvas.repaint(shown))
    assert wrong_cells(pixels, canvas.layout, shown, figures.limits(shown)) == []


def test_a_wrong_entry_would_be_seen():
    canvas, shown = HeadCanvas(), shown_of(*WORKED)
    pixels = decoded(canvas.repaint(shown))
    weights = shown["weights"] + [[0.1, 0], [0, 0]]
    wrong = {**shown, "weights": weights}
    assert wrong_cells(pixels, canvas.layout, wrong, figures.limits(shown)) == [("weights", 0, 0)]


def test_a_repainted_picture_is_the_one_a_fresh_canvas_paints():
    kept, example = HeadCanvas(), examples.load("worked-example")
    query = example.query.copy()
    for feature in np.linspace(-6, 6, 25):
        query[0, 0, 1] = feature
        last = kept.repaint(shown_of(query, example.key, example.value, example.grad_output))
    fresh = HeadCanvas().repaint(shown_of(query, example.key, example.value, example.grad_output))
    assert last == fresh


@pytest.mark.parametrize("scale", [1, 1.25, 1.5, 2])
@pytest.mark.parametrize("inputs", SHAPES.values(), ids=SHAPES)
def test_nothing_of_an_earlier_number_is_left_at_any_size_or_scale(inputs, scale):
    kept, (query, *others) = HeadCanvas(scale=scale), inputs
    for step in np.linspace(-3, 1, 9):
        last = kept.repaint(shown_of(query + step, *others))
    fresh = HeadCanvas(scale=scale).repaint(shown_of(query + step, *others))
    assert np.array_equal(decoded(last), decoded(fresh))


def test_a_head_of_another_shape_gets_a_frame_of_its_own():
    canvas = HeadCanvas()
    for inputs in (WORKED, SHAPES["rectangular"], WORKED):
        last = canvas.repaint(shown_of(*inputs))
    assert last == HeadCanvas().repaint(shown_of(*WORKED))


def test_the_size_never_changes():
    sizes = {decoded(HeadCanvas().repaint(shown_of(*inputs))).shape for inputs in SHAPES.values()}
    assert sizes == {(486, 640, 3)}


def test_a_finer_screen_gets_the_same_picture_with_more_pixels():
    fine, coarse = HeadCanvas(scale=2), HeadCanvas()
    assert decoded(fine.repaint(shown_of(*WORKED))).shape == (972, 1280, 3)
    coarse.repaint(shown_of(*WORKED))
    coarse.scale = 2
    assert coarse.repaint(shown_of(*WORKED)) == fine.repaint(shown_of(*WORKED))


def test_the_bars_are_as_long_as_the_weights():
    canvas, shown = HeadCanvas(), shown_of(*SHAPES["rectangular"])
    pixels = decoded(canvas.repaint(shown)).astype(int)
    for _, key, x, y, width, height in canvas.layout.segments(shown["weights"]):
        if width < 8:
            continue
        inside = pixels[int(y + 3), int(x + 3) : int(x + width - 3)]
        plain = (np.abs(inside - (0xF3, 0xD9, 0xA4)).max(axis=1) < 3).mean()
        assert (plain == 0) if key % 2 else (plain == 1), "odd keys are hatched, even ones plain"
        below = pixels[int(y + height + 2), int(x) : int(x + width)]
        assert (below == 255).all()


def test_digits_are_stamped_in_ink_that_reads_on_the_fill():
    canvas, shown = HeadCanvas(), shown_of(*WORKED)
    pixels = decoded(canvas.repaint(shown)).astype(float) / 255
    luminance = (pixels**2.2) @ [0.2126, 0.7152, 0.0722]
    for place in canvas.layout.places:
        for cell in np.ndindex(place.rows, place.columns):
            left, top, right, bottom = place.box(*cell)
            inside = luminance[top:bottom, left:right]
            ground = inside[1, 1]
            contrast = max(
                (inside.max() + 0.05) / (ground + 0.05), (ground + 0.05) / (inside.min() + 0.05)
            )
            assert contrast > 4.5, (place.name, cell)


def test_no_figure_is_known_to_pyplot():
    HeadCanvas().repaint(shown_of(*WORKED))
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []
