"""Pictures hold the head's own numbers, in the field's words, with nothing cut or overlapping."""

import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from attnlib import scaled_dot_product_self_attention
from attnlib.views import figures, frame, numbers, sentences, style
from attnlib.views.layout import FORWARD, head_layout, quantities, strip_layout
from tests.authority import WORKED, seeded

HEADS = {
    "worked": WORKED,
    "rectangular": seeded(1, 3, 5, 4, seed=1),
    "one token": seeded(1, 1, 2, 1, seed=2),
    "large": tuple(1e4 * x for x in seeded(1, 2, 3, 3, seed=4)),
    "eight tokens": seeded(1, 8, 8, 8, seed=3),
}


def computed(inputs):
    *operands, grad_output = inputs
    head = scaled_dot_product_self_attention(*operands)
    return head, head.backward(grad_output), grad_output


def three_pictures(inputs):
    head, gradients, grad_output = computed(inputs)
    return [
        figures.head_figure(head, gradients, grad_output),
        figures.forward_figure(head),
        figures.gradient_figure(head, gradients, grad_output),
    ]


def fills(picture):
    """The collections that hold numbers; the others are borders."""
    grids = picture.figure.axes[0].collections
    return [grid for grid in grids if grid.get_array() is not None]


def boxes_of_words(figure):
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = [text for text in figure.findobj(Text) if text.get_text()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts]


@pytest.mark.parametrize("inputs", HEADS.values(), ids=HEADS)
class TestEveryPicture:
    def test_the_fills_of_each_grid_hold_its_numbers(self, inputs):
        head, gradients, grad_output = computed(inputs)
        shown = quantities(head, gradients, grad_output)
        places = head_layout(*head.output.shape[1:2], head.key_width, head.value_width, True).places
        grids = fills(figures.head_figure(head, gradients, grad_output))
        assert len(grids) == len(places) == 14
        for place, grid in zip(places, grids, strict=True):
            assert grid.get_array().tolist() == shown[place.name].ravel().tolist(), place.name

    def test_probabilities_have_a_fixed_range_and_signed_ones_are_centred_on_zero(self, inputs):
        head, gradients, grad_output = computed(inputs)
        places = head_layout(*head.output.shape[1:2], head.key_width, head.value_width, True).places
        grids = fills(figures.head_figure(head, gradients, grad_output))
        for place, grid in zip(places, grids, strict=True):
            low, high = grid.get_clim()
            assert (low, high) == (0, 1) if place.name == "weights" else low == -high < 0
            assert np.abs(grid.get_array()).max() <= high * (1 + 1e-6)

    def test_no_words_are_cut_by_the_edge_or_overlap(self, inputs):
        for picture in three_pictures(inputs):
            boxes = boxes_of_words(picture.figure)
            whole = picture.figure.bbox
            for words, box in boxes:
                assert box.x0 >= whole.x0 - 0.5, words
                assert box.x1 <= whole.x1 + 0.5, words
                assert box.y0 >= whole.y0 - 1, words
                assert box.y1 <= whole.y1 + 1, words
            for (one, box), (other, second) in itertools.combinations(boxes, 2):
                wide = min(box.x1, second.x1) - max(box.x0, second.x0)
                high = min(box.y1, second.y1) - max(box.y0, second.y0)
                # Line boxes hold room for accents and tails, so they may touch where ink does not.
                assert wide <= 2 or high <= 0.35 * min(box.height, second.height), (one, other)

    def test_a_description_says_what_is_seen(self, inputs):
        for picture in three_pictures(inputs):
            assert repr(picture) == picture.description
            assert picture.description.endswith(".")

    def test_the_same_head_gives_the_same_bytes(self, inputs):
        head = computed(inputs)[0]
        assert figures.forward_figure(head).png() == figures.forward_figure(head).png()


class TestDigits:
    @pytest.mark.parametrize("name", ["worked", "rectangular", "large"])
    def test_every_printed_number_stays_inside_its_cell(self, name):
        head, gradients, grad_output = computed(HEADS[name])
        layout = head_layout(*head.output.shape[1:2], head.key_width, head.value_width)
        shown = quantities(head, gradients, grad_output)
        axes = frame.pixel_axes(layout)
        for place in layout.places:
            _, texts = figures.draw_cells(axes, place, shown[place.name], 1.0)
            renderer = axes.figure.canvas.get_renderer()
            cells = np.ndindex(place.rows, place.columns)
            for text, cell in zip(texts, cells, strict=bool(texts)):
                left, _, right, _ = place.box(*cell)
                box = text.get_window_extent(renderer)
                assert box.x0 >= left - 1, (place.name, text.get_text())
                assert box.x1 <= right + 1, (place.name, text.get_text())

    def test_a_printed_number_is_its_entry(self):
        head, *_ = computed(WORKED)
        layout = strip_layout(FORWARD, 2, 2, 2)
        axes = frame.pixel_axes(layout)
        _, texts = figures.draw_cells(axes, layout.places[1], head.scaled_scores[0], 5.0)
        words = [text.get_text() for text in texts]
        assert words == ["0.000", "4.243", "4.243", f"{numbers.MINUS}2.828"]


class TestBars:
    def test_each_segment_is_as_wide_as_its_weight_and_odd_keys_are_hatched(self):
        head, *_ = computed(HEADS["rectangular"])
        layout = head_layout(3, 5, 4)
        bars, names = figures.draw_bars(frame.pixel_axes(layout), layout, head.weights[0])
        widths = np.array([bar.get_width() for bar in bars]).reshape(3, 3) / layout.bars[2]
        np.testing.assert_allclose(widths, head.weights[0], rtol=0, atol=1e-12)
        assert [bool(bar.get_hatch()) for bar in bars] == [False, True, False] * 3
        room = [cell for cell in np.ndindex(3, 3) if widths[cell] * layout.bars[2] >= 64]
        expected = [f"k{'₀₁₂'[key]} {head.weights[0, query, key]:.3f}" for query, key in room]
        assert [text.get_text() for text in names] == expected


class TestShowing:
    def test_a_notebook_gets_the_picture_and_the_words(self):
        picture = figures.forward_figure(computed(WORKED)[0])
        data, metadata = picture._repr_mimebundle_()
        assert data["image/png"].startswith(b"\x89PNG")
        assert data["text/plain"] == metadata["image/png"]["alt"] == picture.description
        assert (metadata["image/png"]["width"], metadata["image/png"]["height"]) == (512, 158)

    def test_the_description_of_the_gradients_names_the_largest_of_each(self):
        picture = figures.gradient_figure(*computed(WORKED))
        assert "dQ is largest at row 0, feature 0: 0.079000" in picture.description
        # With two keys the rows of dK are opposite: of two equal sizes the first is named.
        assert "dK is largest at row 0, feature 1: 0.062847" in picture.description

    def test_of_sizes_that_differ_by_rounding_the_first_is_named(self):
        gradient = np.array([[0.0, 1.0], [1.0 + 1e-15, 0.5]])
        assert sentences.gradient_sentence({"dK": gradient}) == (
            "dK is largest at row 0, feature 1: 1.000000."
        )


class TestStyle:
    def test_every_role_has_a_border_and_a_word_of_its_own(self):
        roles = style.ROLES.values()
        assert len({role.css for role in roles}) >= len(style.ROLES) - 1
        assert len({role.cue for role in roles}) == len(style.ROLES)
        assert len({(role.line, role.double) for role in roles}) >= 4

    @pytest.mark.parametrize("role", ["score", "probability"])
    def test_digits_have_enough_contrast_on_every_fill(self, role):
        entries = np.linspace(0 if role == "probability" else -1, 1, 301)
        fills = style.fill(entries, role, 1.0)
        linear = fills / 255.0
        linear = np.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
        luminance = linear @ [0.2126, 0.7152, 0.0722]
        white = style.ink_on(fills)
        contrast = np.where(white, 1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05)
        assert contrast.min() >= 4.5

    def test_the_limit_is_a_round_number_just_above_every_entry(self):
        assert style.limit_of(np.array([0.0])) == 1
        assert style.limit_of(np.array([-6.0, 2.0]), np.array([4.0])) == 10
        assert style.limit_of(np.array([2.0])) == 2
        assert style.limit_of(np.array([0.0004])) == pytest.approx(0.0005)
        assert style.limit_of(np.array([])) == 1


class TestNumbers:
    @pytest.mark.parametrize(
        ("number", "text"),
        [
            (0.0, "0.000000"),
            (-0.0, "0.000000"),
            (-1e-9, "0.000000"),
            (2.5, "2.500000"),
            (-0.0144, "-0.014400"),
            (123456.789, "123457"),
            (1e200, "1e+200"),
            (float("nan"), "nan"),
            (float("-inf"), "-inf"),
        ],
    )
    def test_six_decimals_unless_far_from_one(self, number, text):
        assert numbers.fixed(number) == text

    @pytest.mark.parametrize("exponent", range(-320, 309, 7))
    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("width", [5, 6])
    def test_a_short_number_never_outgrows_its_cell(self, exponent, sign, width):
        text = numbers.short(sign * 1.2345 * 10.0**exponent, width)
        assert len(text) <= width + (abs(exponent) >= 100 and sign < 0 and width == 5)
        shown, true = float(text), sign * 1.2345 * 10.0**exponent
        assert abs(shown - true) <= max(0.5 * abs(true), 0.005)
