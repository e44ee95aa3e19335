"""The tape as a table: what it prints is what the tape holds, in what GitHub and Lab keep."""

import re

import numpy as np
import pytest

from attnlib.core import tape
from attnlib.lessons.tape_walk import tape_walk
from attnlib.views.style import INK, PAPER
from attnlib.views.tape_table import tape_table
from tests.authority import RECTANGULAR, WORKED, slow_head
from tests.views.reading import ATTRIBUTES, TAGS, Page, six


def rows(page):
    (table,) = Page(page.html).tables
    return {
        name: dict(zip(table.columns[1:], cells, strict=True))
        for name, cells in zip(table.rows, table.texts, strict=True)
    }


def bracketed(matrix):
    return "".join(f"[{', '.join(six(entry) for entry in row)}]" for row in matrix)


@pytest.fixture
def table():
    return tape_table(tape_walk(*WORKED))


def test_it_is_made_of_what_untrusted_notebooks_keep(table):
    page = Page(table.html)
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert set(page.scopes) == {"row", "col"}


def test_caption_headers_and_cells_bring_their_own_paper_for_dark_pages(table):
    for tag in ("table", "caption", "th", "td"):
        styles = re.findall(f'<{tag}[^>]*style="([^"]*)"', table.html)
        assert styles
        assert all(f"background:{PAPER}" in css for css in styles)
        assert tag == "th" or all(f"color:{INK}" in css for css in styles)


def test_values_and_both_gradients_are_those_of_the_slow_head(table):
    slow, shown = slow_head(*WORKED), rows(table)
    for name, value, gradient in (
        ("R", slow.raw_scores, slow.grad_raw_scores),
        ("S", slow.scaled_scores, slow.grad_scaled_scores),
        ("A", slow.weights, slow.grad_weights),
        ("O", slow.output, WORKED[3]),
        ("Q", WORKED[0], slow.grad_query),
        ("K", WORKED[1], slow.grad_key),
        ("V", WORKED[2], slow.grad_value),
    ):
        assert shown[name]["value"] == bracketed(value[0])
        assert shown[name]["gradient on the tape"] == bracketed(gradient[0])
        assert shown[name]["closed form"] == bracketed(gradient[0])


def test_shapes_of_arguments_and_result_stand_beside_each_operation():
    shown = rows(tape_table(tape_walk(*RECTANGULAR)))
    assert shown["R"]["made by"] == "Q KᵀQ [2, 3, 5]Kᵀ [2, 5, 3]to [2, 3, 3]"
    assert shown["O"]["made by"] == "A VA [2, 3, 3]V [2, 3, 4]to [2, 3, 4]"
    assert shown["Q"]["made by"] == "input[2, 3, 5]"


def test_the_text_tells_every_gradient_and_the_verdict(table):
    lines = repr(table).splitlines()
    assert len(lines) == 10
    assert "dQ = [0.079000, −0.039500] [−0.014389, 0.007195]" in lines[0]
    assert lines[-1] == "Tape and closed form: no difference above 1e-12."


def test_a_difference_is_told(monkeypatch):
    monkeypatch.setitem(tape.DERIVATIVES, tape.transpose, (lambda grad, out, x: -grad,))
    table = tape_table(tape_walk(*WORKED))
    largest = 2 * np.abs(slow_head(*WORKED).grad_key).max()
    assert repr(table).endswith(f"Tape and closed form differ by up to {largest:.2g}.")
    assert f"differ by up to {largest:.2g}" in table.html


def test_a_large_head_shows_its_first_rows_and_an_empty_batch_says_so():
    large = tuple(np.tile(array, (1, 4, 3)) for array in WORKED)
    shown = rows(tape_table(tape_walk(*large)))
    assert shown["A"]["value"].count("…") == 5
    empty = rows(tape_table(tape_walk(*(array[:0] for array in WORKED))))
    assert empty["A"]["value"] == "no batch item"
