"""Shapes and refusals as tables: the same rows always, framed where they disagree, safe as text."""

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons import refusals
from attnlib.views import style, tables
from attnlib.views.shape_page import cases_page, refusal_page, shape_page, shapes_of
from tests.views.reading import ATTRIBUTES, TAGS, Page

ROWS = ["query", "key", "value", "raw scores", "weights", "output"]


def head(query, value):
    return scaled_dot_product_self_attention(np.zeros(query), np.zeros(query), np.zeros(value))


@pytest.mark.parametrize(("query", "value"), [((4, 7, 3), (4, 7, 5)), ((0, 2, 2), (0, 2, 3))])
def test_a_head_of_unequal_axes_has_each_length_in_its_cell(query, value):
    page = shape_page(head(query, value))
    table = Page(page.html).table("Shapes")
    batch, tokens, key_width = query
    lengths = [*[key_width] * 2, value[2], tokens, tokens, value[2]]
    assert table.rows == ROWS
    assert [row[1:4] for row in table.texts] == [
        [str(batch), str(tokens), str(last)] for last in lengths
    ]
    assert f"output {[batch, tokens, value[2]]}" in page.description


def test_each_array_has_its_axes_by_name():
    table = Page(shape_page(head((1, 2, 2), (1, 2, 3))).html).table("Shapes")
    assert table.columns == ["axes", "batch", "tokens", "last", "remark"]
    assert dict(zip(table.rows, (row[0] for row in table.texts), strict=True)) == {
        "query": "[B, T, d_k]",
        "key": "[B, T, d_k]",
        "value": "[B, T, d_v]",
        "raw scores": "[B, T, T]",
        "weights": "[B, T, T]",
        "output": "[B, T, d_v]",
    }


def test_a_missing_array_keeps_its_row_and_is_called_refused():
    shapes = shapes_of(head((1, 2, 2), (1, 2, 3)))
    for name in ("raw_scores", "weights", "output"):
        del shapes[name]
    table = Page(tables.shapes(shapes)).table("Shapes")
    assert table.rows == ROWS
    assert [row[1:] for row in table.texts[3:]] == [["–", "–", "–", "refused"]] * 3


def test_a_fault_is_a_frame_and_words_in_its_own_row():
    shapes = shapes_of(head((1, 2, 2), (1, 2, 3)))
    table = Page(tables.shapes(shapes, {("key", 1): "<b>tokens 5</b>"})).table("Shapes")
    framed = {
        (row, column)
        for row, styles in enumerate(table.styles)
        for column, css in enumerate(styles)
        if style.CHOSEN_MARK in css
    }
    assert framed == {(1, 2)}
    assert [row[4] for row in table.texts] == ["", "<b>tokens 5</b>", "", "", "", ""]


def test_every_kind_of_refusal_stands_with_its_evidence_and_its_words():
    page = refusal_page()
    table = Page(page.html).table("Refusals")
    assert tuple(table.rows) == refusals.KINDS
    for kind, (evidence, message) in zip(table.rows, table.texts, strict=True):
        refusal = refusals.provoke(kind)
        assert evidence == "".join(refusal.evidence_text.split("|"))
        assert message == str(refusal)
        assert f"{kind}: {refusal}." in page.description.splitlines()


@pytest.mark.parametrize("page", [shape_page(head((4, 7, 3), (4, 7, 5))), refusal_page()])
def test_pages_are_made_of_what_untrusted_notebooks_keep(page):
    read = Page(page.html)
    assert read.tags <= TAGS
    assert read.attributes <= ATTRIBUTES
    assert repr(page) == page.description


@pytest.mark.parametrize(
    "page",
    [
        shape_page(head((4, 7, 3), (4, 7, 5))),
        refusal_page(),
        cases_page([{"query": (1, 2, 3)}]),
    ],
)
def test_every_cell_brings_its_own_paper_and_ink(page):
    for table in Page(page.html).tables:
        for cell in (cell for row in table.styles for cell in row):
            assert f"background:{style.PAPER}" in cell
            assert "color:#" in cell.replace("background", "")


def test_cases_stand_a_row_each_under_the_names_of_their_arrays():
    cases = [{"query": (1, 2, 3), "output": (1, 2, 4)}, {"query": (0, 2, 3), "output": (0, 2, 4)}]
    page = cases_page(cases)
    table = Page(page.html).table("What goes in and what comes out")
    assert table.columns == ["case", "query", "output"]
    assert table.texts == [["[1, 2, 3]", "[1, 2, 4]"], ["[0, 2, 3]", "[0, 2, 4]"]]
    assert page.description.splitlines()[1] == "query [0, 2, 3], output [0, 2, 4]."
