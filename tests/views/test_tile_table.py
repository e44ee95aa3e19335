"""The tiles as a table: what it prints is what the steps hold, in what GitHub and Lab keep."""

import re

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons.online_softmax import trace
from attnlib.views.style import INK, PAPER
from attnlib.views.tile_table import tile_table
from tests.authority import WORKED, slow_head
from tests.views.reading import ATTRIBUTES, TAGS, Page, six

HEAD = scaled_dot_product_self_attention(*WORKED[:3])


def rows(page):
    (table,) = Page(page.html).tables
    return {
        name: dict(zip(table.columns[1:], cells, strict=True))
        for name, cells in zip(table.rows, table.texts, strict=True)
    }


@pytest.fixture
def table():
    return tile_table(trace(HEAD, 0), 0)


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


def test_the_last_answer_is_the_slow_heads_output(table):
    expected = ", ".join(six(entry) for entry in slow_head(*WORKED).output[0, 0])
    assert rows(table)["k₁"]["answer so faro ÷ ℓ"] == f"[{expected}]"
    assert repr(table).endswith(f"answer so far [{expected}].")


def test_the_rescale_factor_of_the_larger_score_is_shown(table):
    shown = rows(table)
    assert shown["k₀"]["rescaleexp(m before − m)"] == "0.000000"
    assert shown["k₁"]["rescaleexp(m before − m)"] == six(np.exp(-6 / np.sqrt(2)))


def test_tiles_of_several_keys_are_named_by_their_ends_and_long_ones_shortened():
    random = np.random.default_rng(3).standard_normal((3, 1, 7, 2))
    shown = rows(tile_table(trace(scaled_dot_product_self_attention(*random), 4, 5), 4))
    assert list(shown) == ["k₀ to k₄", "k₅ to k₆"]
    assert shown["k₀ to k₄"]["scoress"].endswith("…]")
    assert shown["k₅ to k₆"]["scoress"].count(",") == 1


def test_the_caption_says_which_query_reads(table):
    assert Page(table.html).text.startswith("q₀ reads its keys")
    assert repr(tile_table(trace(HEAD, 1), 1)).startswith("q₁ reads its keys.")
