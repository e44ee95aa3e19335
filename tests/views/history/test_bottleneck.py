"""The picture of the bottleneck and the table of costs hold what was measured and counted."""

import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from attnlib.lessons.bottleneck import costs, traces
from attnlib.lessons.history import context_sensitivity, model_history
from attnlib.views.frame import pixel_axes
from attnlib.views.history.bottleneck import cost_table, draw_fading, draw_moves, fading_figure
from attnlib.views.layout import Layout
from tests.views.reading import Page

SENTENCE = ("the", "small", "grey", "bird", "sang", "all", "day", "extraordinarily-loudly")
RUN, SHARES = model_history(SENTENCE), traces(12, seeds=9)


@pytest.fixture
def axes():
    return pixel_axes(Layout((), 0, None, 400, 300))


def test_each_bar_is_as_long_as_its_words_move(axes):
    _, moves = context_sensitivity(RUN.earlier)
    bars = draw_moves(axes, SENTENCE, moves)
    assert [bar.get_width() for bar in bars] == moves.tolist()
    heights = [bar.get_y() for bar in bars]
    assert heights == sorted(heights)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_the_line_is_the_median_over_the_words_that_follow(axes):
    line, _ = draw_fading(axes, SHARES)
    later, middle = line.get_data()
    assert later.tolist() == list(range(12))
    by_hand = [sorted(SHARES[:, 11 - distance])[4] for distance in later]
    np.testing.assert_allclose(middle, by_hand, rtol=1e-12)
    assert middle[0] == 1


def test_the_band_holds_the_middle_half_of_the_draws(axes):
    _, band = draw_fading(axes, SHARES)
    corners = band.get_paths()[0].vertices
    for distance in range(12):
        edges = corners[corners[:, 0] == distance, 1]
        inside = np.mean(
            (edges.min() <= SHARES[:, 11 - distance]) & (SHARES[:, 11 - distance] <= edges.max())
        )
        assert 0.5 <= inside <= 0.6 or distance == 0


def test_no_words_of_the_picture_are_cut_or_overlap():
    figure = fading_figure(RUN, SHARES).figure
    figure.canvas.draw()
    renderer, whole = figure.canvas.get_renderer(), figure.bbox
    texts = [text for text in figure.findobj(Text) if text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    for words, box in boxes:
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, words
        assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, words
    for (one, box), (other, second) in itertools.combinations(boxes, 2):
        wide = min(box.x1, second.x1) - max(box.x0, second.x0)
        high = min(box.y1, second.y1) - max(box.y0, second.y0)
        assert wide <= 2 or high <= 0.35 * min(box.height, second.height), (one, other)


def test_its_description_has_every_move():
    _, moves = context_sensitivity(RUN.earlier)
    described = fading_figure(RUN, SHARES).description
    for word, move in zip(SENTENCE, moves, strict=True):
        assert f"{word} by {move:.6f}" in described


def test_the_table_has_a_row_for_each_length_and_model():
    counted = costs((2, 5))
    page = cost_table(counted)
    table = Page(page.html).table("What each model does and keeps")
    assert table.columns == ["model", "words", "pairs scored", "steps in a row", "numbers kept"]
    told = [[name.replace("-", " "), *map(str, (tokens, *rest))] for tokens, name, *rest in counted]
    assert table.texts == told
    assert len({row[0] for row in told}) == 3
    assert "additive encoder decoder alignment, 5 words: 25 pairs scored" in page.description
