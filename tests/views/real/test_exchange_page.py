"""Exchanged heads as a table: every score in its place, the carriers framed and told."""

import numpy as np
import pytest

from attnlib.views import style
from attnlib.views.real.exchange_page import exchange_page
from tests.views.reading import Page

SCORES = np.array([[8.0, 7.9, 8.25], [3.5, 5.01, 4.99]])
TITLE = "The score with one head exchanged"


def framed(page):
    table = Page(page.html).table(TITLE)
    return [
        (row, column)
        for row, styles in enumerate(table.styles)
        for column, css in enumerate(styles)
        if style.CHOSEN_MARK in css
    ]


def test_every_score_stands_in_its_layer_and_under_its_head():
    table = Page(exchange_page(SCORES, 8, 2).html).table(TITLE)
    assert table.rows == ["layer 0", "layer 1"]
    assert table.columns == ["head 0", "head 1", "head 2"]
    assert table.texts == [["8.00", "7.90", "8.25"], ["3.50", "5.01", "4.99"]]
    assert "before: 8.00, in the other sentence: 2.00" in table.caption


@pytest.mark.parametrize(
    ("before", "after", "carriers"),
    [
        (8, 2, [(1, 0), (1, 2)]),
        (2, 8, [(0, 0), (0, 1), (0, 2), (1, 1)]),
        (8, 8, []),
        (8, 100, []),
    ],
    ids=["a fall", "a rise", "no change", "far off"],
)
def test_a_frame_marks_what_takes_it_more_than_half_of_the_way(before, after, carriers):
    assert framed(exchange_page(SCORES, before, after)) == carriers


def test_its_words_name_the_carriers_and_the_range_of_the_others():
    words = repr(exchange_page(SCORES, 8, 2))
    assert "2 heads: 3.50 with layer 1, head 0; 4.99 with layer 1, head 2." in words
    assert words.endswith("With any other it stays between 5.01 and 8.25.")
    assert "0 heads. With any it stays between 3.50 and 8.25." in repr(exchange_page(SCORES, 8, 8))


def test_where_every_head_carries_it_there_are_no_others():
    assert repr(exchange_page(np.array([[2.0]]), 8, 2)).endswith(
        "1 head: 2.00 with layer 0, head 0."
    )
