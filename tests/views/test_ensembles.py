"""Curves and tables hold the ensemble's own numbers; nothing is cut, nothing told by colour."""

import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from attnlib.lessons.ensembles import DIVISORS, measure
from attnlib.views import ensembles as view
from tests.views import reading

ENSEMBLES = {
    "the chapter's": {},
    "one width": {"widths": (1,), "tokens": 3, "heads": 4},
    "two widths": {"widths": (3, 5), "tokens": 2, "heads": 2},
    "many tokens": {"widths": (1, 1024), "tokens": 64, "heads": 2},
}
MEASURES = ("score_spread", "entropy", "grad_query", "grad_query_middle")


@pytest.fixture(scope="module", params=ENSEMBLES.values(), ids=ENSEMBLES)
def ensemble(request):
    return measure(**request.param)


@pytest.fixture(scope="module")
def picture(ensemble):
    return view.ensemble_figure(ensemble)


def curves(axes):
    return [line for line in axes.lines if line.get_label() in DIVISORS]


class TestTheFigure:
    def test_its_lines_hold_the_measures_over_d_k(self, ensemble, picture):
        assert len(picture.figure.axes) == 4
        for axes, name in zip(picture.figure.axes, MEASURES, strict=True):
            lines = curves(axes)
            assert [line.get_label() for line in lines] == list(DIVISORS)
            for line, row in zip(lines, getattr(ensemble, name), strict=True):
                assert line.get_xdata().tolist() == list(ensemble.widths)
                assert line.get_ydata().tolist() == row.tolist()

    def test_every_point_lies_inside_its_panel(self, picture):
        for axes in picture.figure.axes:
            (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
            for line in curves(axes):
                assert left < min(line.get_xdata()) <= max(line.get_xdata()) < right
                assert low <= min(line.get_ydata()) <= max(line.get_ydata()) < high

    def test_d_k_is_on_a_logarithmic_axis_that_names_each_width(self, ensemble, picture):
        for axes in picture.figure.axes:
            assert axes.get_xscale() == "log"
            assert [text.get_text() for text in axes.get_xticklabels()] == [
                str(width) for width in ensemble.widths
            ]
            assert axes.get_xlabel() == "dₖ, width of queries and keys"

    def test_every_panel_has_ticks_that_say_what_they_are(self, picture):
        for axes in picture.figure.axes:
            labels = [float(text.get_text()) for text in axes.get_yticklabels()]
            assert labels
            assert labels == pytest.approx(list(axes.get_yticks()))

    def test_lines_differ_in_marker_and_in_style_and_are_named_at_their_ends(self, picture):
        for axes in picture.figure.axes:
            lines = curves(axes)
            assert len({line.get_marker() for line in lines}) == 3
            assert len({line.get_linestyle() for line in lines}) == 3
            assert len({line.get_color() for line in lines}) == 1
            names = {text.get_text() for text in axes.texts}
            assert names >= {f"÷ {name}" for name in DIVISORS}

    def test_names_stand_in_the_order_of_the_line_ends(self, picture):
        for axes in picture.figure.axes:
            ends = {line.get_label(): line.get_ydata()[-1] for line in curves(axes)}
            levels = {
                text.get_text()[2:]: text.get_window_extent().y0
                for text in axes.texts
                if text.get_text().startswith("÷")
            }
            assert sorted(levels, key=levels.get) == sorted(ends, key=ends.get)

    def test_the_largest_possible_entropy_is_drawn_and_named(self, ensemble, picture):
        axes = picture.figure.axes[1]
        (bound,) = (line for line in axes.lines if line not in curves(axes))
        assert set(bound.get_ydata()) == {np.log(ensemble.tokens)}
        words = f"equal weights: ln {ensemble.tokens} = {np.log(ensemble.tokens):.4f}"
        assert words in {text.get_text() for text in axes.texts}

    def test_no_words_are_cut_by_the_edge_or_overlap(self, picture):
        figure = picture.figure
        figure.canvas.draw()
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
        for words, box in boxes:
            assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1, words
            assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1, words
        for (one, box), (other, second) in itertools.combinations(boxes, 2):
            wide = min(box.x1, second.x1) - max(box.x0, second.x0)
            high = min(box.y1, second.y1) - max(box.y0, second.y0)
            # Line boxes hold room for accents and tails, so they may touch where ink does not.
            assert wide <= 2 or high <= 0.35 * min(box.height, second.height), (one, other)

    def test_words_are_large_enough_at_full_size(self, picture):
        texts = [text for text in picture.figure.findobj(Text) if text.get_text()]
        assert min(text.get_fontsize() for text in texts) * 100 / 72 >= 11 - 1e-9

    def test_its_description_tells_the_values_at_the_largest_width(self, ensemble, picture):
        assert picture.description.startswith(f"At dₖ = {ensemble.widths[-1]}")
        assert picture.description.endswith(".")
        for name in MEASURES:
            for divisor, end in zip(DIVISORS, getattr(ensemble, name)[:, -1], strict=True):
                assert f"{end:.4f} (÷ {divisor})" in picture.description

    def test_the_same_ensemble_gives_the_same_bytes(self, ensemble, picture):
        assert view.ensemble_figure(ensemble).png() == picture.png()


class TestTheTables:
    def test_each_holds_its_measure_with_d_k_as_rows_and_divisors_as_columns(self, ensemble):
        page = view.ensemble_page(ensemble)
        read = reading.Page(page.html)
        assert len(read.tables) == 7
        for name, title, note in view.FORWARD + view.BACKWARD:
            table = read.table(title)
            assert note in table.caption
            assert table.columns == ["÷ 1", "÷ √dₖ", "÷ dₖ"]
            assert table.rows == [f"dₖ = {width}" for width in ensemble.widths]
            assert table.texts == [
                [f"{number:.4f}" for number in row] for row in getattr(ensemble, name).T
            ]
            assert all("border:1px solid" in style for row in table.styles for style in row)

    def test_a_part_of_them_can_be_shown_and_is_told_in_words(self, ensemble):
        page = view.ensemble_page(ensemble, view.FORWARD)
        read = reading.Page(page.html)
        assert [table.title for table in read.tables] == [title for _, title, _ in view.FORWARD]
        assert f"{ensemble.largest_weight[1, -1]:.4f} (÷ √dₖ)" in page.description

    def test_it_uses_only_what_an_untrusted_notebook_keeps(self, ensemble):
        read = reading.Page(view.ensemble_page(ensemble).html)
        assert read.tags <= reading.TAGS
        assert read.attributes <= reading.ATTRIBUTES

    def test_its_captions_stand_on_paper_on_a_dark_page_too(self, ensemble):
        html = view.ensemble_page(ensemble).html
        assert html.startswith('<div style="display:inline-block;background:#ffffff;color:#1a1a1a')
        assert html.endswith("</table></div>")
