"""Memory and time in pictures and tables: lines where they were counted, marks where measured."""

import numpy as np
import pytest

from attnlib.lessons import growth
from attnlib.lessons.growth import Measured
from attnlib.views.growth import (
    draw_memory,
    draw_time,
    duration,
    growth_figure,
    growth_page,
    measured_page,
    size,
)
from tests.views.reading import ATTRIBUTES, TAGS, Page

COUNTED = growth.count()
MEASURED = (
    Measured("with grids", 256, 0.002, 5_000_000),
    Measured("tile by tile", 256, 0.004, 3_000_000),
    Measured("with grids", 512, 0.009, 16_000_000),
    Measured("tile by tile", 1024, 0.016, 9_000_000),
)


def axes_of(picture):
    return picture.figure.axes


def test_a_grid_of_16384_tokens_reads_2_15_gb():
    assert size(8 * 16384**2) == "2.15 GB"
    assert (size(999), size(524_288), size(2_097_152)) == ("999 bytes", "524 kB", "2.1 MB")
    assert (duration(0.0142), duration(0.3), duration(2.5)) == ("14.2 ms", "300 ms", "2.5 s")


def test_the_lines_of_memory_are_what_was_counted():
    axes, _ = axes_of(growth_figure(COUNTED))
    with_grids, by_tile, grid = draw_memory(axes, COUNTED)
    np.testing.assert_array_equal(with_grids.get_ydata(), [x.with_grids for x in COUNTED])
    np.testing.assert_array_equal(by_tile.get_ydata(), [x.tile_by_tile for x in COUNTED])
    np.testing.assert_array_equal(grid.get_ydata(), [x.grid for x in COUNTED])
    assert len({line.get_linestyle() for line in (with_grids, by_tile, grid)}) == 3
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_the_expected_time_rises_fourfold_with_twice_the_tokens():
    _, axes = axes_of(growth_figure(COUNTED))
    (expected,) = draw_time(axes, COUNTED)
    np.testing.assert_array_equal(expected.get_ydata(), 4.0 ** np.arange(len(COUNTED)))


def test_what_was_measured_is_marked_in_shapes_of_its_own():
    memory, time = axes_of(growth_figure(COUNTED))
    *_, squares, circles = draw_memory(memory, COUNTED, MEASURED)
    assert list(squares.get_ydata()) == [5_000_000, 16_000_000]
    assert list(circles.get_xdata()) == [256, 1024]
    assert squares.get_marker() != circles.get_marker()
    assert squares.get_linestyle() == "None"
    *_, squares, circles = draw_time(time, COUNTED, MEASURED)
    np.testing.assert_allclose(squares.get_ydata(), [1, 4.5])
    np.testing.assert_allclose(circles.get_ydata(), [1, 4])


def test_nothing_is_cut_and_all_that_is_drawn_lies_within_the_axes():
    picture = growth_figure(COUNTED, MEASURED)
    picture.figure.canvas.draw()
    for axes in axes_of(picture):
        for line in axes.lines:
            assert np.all((line.get_ydata() >= axes.get_ylim()[0]) | (line.get_xdata() <= 256))
            assert np.all(line.get_ydata() <= axes.get_ylim()[1])
        for text in axes.texts:
            box, frame = text.get_window_extent(), axes.get_window_extent()
            assert frame.x0 <= box.x0
            assert box.x1 <= frame.x1


def test_the_description_says_sizes_and_what_was_measured():
    words = repr(growth_figure(COUNTED, MEASURED))
    assert "with grids needs 4.19 MB to 51.7 GB" in words
    assert "The products of matrices grow by 16,384 in both." in words
    assert "T = 512, with grids: 9 ms, 16 MB" in words
    assert "easured" not in repr(growth_figure(COUNTED))


@pytest.mark.parametrize("page", [growth_page(COUNTED), measured_page(MEASURED)])
def test_the_tables_are_made_of_what_untrusted_notebooks_keep(page):
    read = Page(page.html)
    assert read.tags <= TAGS
    assert read.attributes <= ATTRIBUTES
    assert set(read.scopes) == {"row", "col"}


def test_the_counted_table_has_a_row_for_each_number_of_tokens():
    (table,) = Page(growth_page(COUNTED).html).tables
    assert table.rows == [f"{each.tokens:,}" for each in COUNTED]
    assert dict(zip(table.rows, table.texts, strict=True))["16,384"] == [
        *("2.15 GB", "13 GB", "71.7 MB"),
    ]


def test_a_dash_stands_where_a_head_was_not_measured():
    (table,) = Page(measured_page(MEASURED).html).tables
    assert dict(zip(table.rows, table.texts, strict=True)) == {
        "256": ["2 ms", "4 ms", "5 MB", "3 MB"],
        "512": ["9 ms", "–", "16 MB", "–"],
        "1,024": ["–", "16 ms", "–", "9 MB"],
    }
