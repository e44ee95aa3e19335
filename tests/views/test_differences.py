"""A central difference shown: lines are held by their data, numbers by their text."""

import numpy as np
import pytest

from attnlib.lessons.differences import entry_difference, step_errors
from attnlib.views import differences, step_curve
from tests.authority import RECTANGULAR, WORKED
from tests.views.reading import ATTRIBUTES, TAGS, Page, six


@pytest.fixture
def worked():
    return entry_difference(*WORKED, "query", (0, 0, 0), 0.5)


@pytest.fixture
def curves():
    return [step_errors(*WORKED, precision=p) for p in ("float64", "float32")]


def texts(picture):
    return [text for axes in picture.figure.axes for text in axes.texts]


def overlaps(picture):
    """Pairs of texts that cover each other, and texts that leave the figure."""
    picture.figure.canvas.draw()
    renderer = picture.figure.canvas.get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts(picture)]
    frame = picture.figure.bbox
    found = [words for words, box in boxes if not (frame.x0 <= box.x0 and box.x1 <= frame.x1)]
    for position, (words, box) in enumerate(boxes):
        found += [(words, other) for other, its in boxes[:position] if box.overlaps(its)]
    return found


class TestSecant:
    def test_the_line_is_the_loss_and_the_marks_are_its_three_values(self, worked):
        line, _, _, dots = differences.draw_secant(differences.secant_axes(), worked)
        x, y = line.get_data()
        at = np.interp([-1, 0, 1], x, y)
        np.testing.assert_allclose(at, dots.get_ydata(), atol=1e-12)
        rise, fall = worked.above - worked.objective, worked.below - worked.objective
        assert at[2] / at[0] == pytest.approx(rise / fall)
        assert at[1] == 0

    def test_secant_and_tangent_have_the_two_slopes(self, worked):
        _, chord, touch, dots = differences.draw_secant(differences.secant_axes(), worked)
        slopes = [np.diff(line.get_ydata())[0] for line in (chord, touch)]
        assert slopes[0] / slopes[1] == pytest.approx(worked.slope / worked.closed_form)
        across = np.interp([-1, 1], *chord.get_data())
        np.testing.assert_allclose(across, dots.get_ydata()[[0, 2]], atol=1e-12)
        assert np.interp(0, *touch.get_data()) == pytest.approx(0, abs=1e-12)

    @pytest.mark.parametrize("step", [1e3, 1.0, 1e-6, 1e-17])
    @pytest.mark.parametrize("operand", ["query", "key", "value"])
    def test_nothing_leaves_the_axes(self, operand, step):
        axes = differences.secant_axes()
        found = entry_difference(*RECTANGULAR, operand, (1, 2, 3), step)
        for artist in differences.draw_secant(axes, found):
            assert np.abs(artist.get_xdata()).max() <= 1.5 + 1e-9
            assert np.abs(artist.get_ydata()).max() <= 1 + 1e-9

    def test_a_flat_loss_is_drawn_flat(self):
        one_token = tuple(array[:, :1] for array in WORKED)
        flat = entry_difference(*one_token, "query", (0, 0, 0), 0.5)
        for artist in differences.draw_secant(differences.secant_axes(), flat):
            assert not np.any(artist.get_ydata())

    def test_lines_differ_by_more_than_colour(self):
        looks = list(differences.LOOKS.values())
        assert len({(look["linestyle"], look["linewidth"]) for look in looks}) == len(looks)

    @pytest.mark.parametrize("step", [2.0, 0.5, 1e-6])
    def test_the_figure_prints_each_loss_and_no_text_covers_another(self, step):
        found = entry_difference(*WORKED, "key", (0, 1, 1), step)
        picture = differences.secant_figure(found)
        printed = {text.get_text() for text in texts(picture)}
        assert overlaps(picture) == []
        if step == 0.5:
            assert {six(found.below), six(found.objective), six(found.above)} <= printed


class TestTableAndWords:
    def test_the_table_has_losses_slope_and_closed_form(self, worked):
        page = Page(differences.difference_table(worked))
        assert page.tags <= TAGS
        assert page.attributes <= ATTRIBUTES
        (table,) = page.tables
        shown = dict(zip(table.rows, (row[0] for row in table.texts), strict=True))
        assert shown["L(x + h)"] == six(worked.above)
        assert shown["L(x)"] == six(worked.objective)
        assert shown["L(x − h)"] == six(worked.below)
        assert shown["slope"] == six(worked.slope)
        assert shown["closed form"] == six(worked.closed_form)
        assert float(shown["error"].replace("−", "-")) == pytest.approx(worked.error, rel=0.05)
        assert table.title == "Q[q₀, 0]"

    def test_two_losses_that_hardly_differ_are_printed_so_that_they_do(self):
        close = entry_difference(*WORKED, "query", (0, 0, 0), 1e-9)
        (table,) = Page(differences.difference_table(close)).tables
        shown = dict(zip(table.rows, (row[0] for row in table.texts), strict=True))
        assert len({shown[name] for name in ("L(x + h)", "L(x)", "L(x − h)")}) == 3

    @pytest.mark.parametrize(
        ("operand", "step", "precision", "cause"),
        [
            ("query", 0.5, "float64", "truncation"),
            ("query", 1e-9, "float64", "is rounding"),
            ("value", 0.5, "float64", "straight line"),
            ("value", 1e-8, "float32", "round to one number"),
        ],
    )
    def test_the_sentence_names_the_larger_error(self, operand, step, precision, cause):
        found = entry_difference(*WORKED, operand, (0, 0, 1), step, precision)
        sentence = differences.difference_sentence(found)
        assert cause in sentence
        assert f"slope {six(found.slope)}" in sentence
        assert f"the closed form says {six(found.closed_form)}" in sentence

    def test_a_batch_item_beyond_the_first_is_named(self):
        assert differences.entry_name("value", (1, 2, 3)) == "V[v₂, 3], batch item 1"


class TestStepCurve:
    def test_each_line_is_its_record(self, curves):
        picture = step_curve.step_curve_figure(*curves)
        (axes,) = picture.figure.axes
        for curve in curves:
            drawn = step_curve.draw_curve(axes, curve)
            expected = (curve.largest, curve.truncation, curve.rounding)
            for line, errors in zip(drawn[:3], expected, strict=True):
                assert np.array_equal(line.get_xdata(), curve.steps)
                assert np.array_equal(line.get_ydata(), errors)
            assert drawn[3].get_xdata()[0] == curve.best_step
            assert drawn[3].get_ydata()[0] == curve.largest.min()
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")

    def test_every_measured_error_has_room(self, curves):
        (axes,) = step_curve.step_curve_figure(*curves).figure.axes
        low, high = axes.get_ylim()
        for curve in curves:
            assert low < curve.largest.min()
            assert curve.largest.max() < high

    def test_precisions_differ_by_mark_and_line_and_are_named_beside_them(self, curves):
        looks = step_curve.LOOKS.values()
        for part in ("linestyle", "marker", "markerfacecolor"):
            assert len({look[part] for look in looks}) == 2
        words = " ".join(text.get_text() for text in texts(step_curve.step_curve_figure(*curves)))
        for expected in ("float64 (squares, solid)", "float32 (circles, dashed)", "h = 1e-05"):
            assert expected in words

    def test_no_text_covers_another(self, curves):
        assert overlaps(step_curve.step_curve_figure(*curves)) == []

    def test_the_description_tells_both_bottoms_and_which_precision_passes(self, curves):
        words = step_curve.step_curve_figure(*curves).description
        assert "in float64 it is smallest at h = 1e-05" in words
        assert "in float32 it is smallest at h = 0.01" in words
        assert "some steps pass in float64 and no step passes in float32" in words
        assert "4+4+4 entries" in words
