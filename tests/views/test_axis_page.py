"""The right axis and the wrong one stand side by side, with the sums that tell them apart."""

import math

from attnlib.lessons import examples
from attnlib.views.axis_page import axis_page
from tests.views.reading import ATTRIBUTES, TAGS, Page, six


def shown(name):
    head = examples.load(name).head()
    return axis_page(head), head


def test_each_query_of_the_right_weights_adds_up_to_one():
    page, head = shown("random")
    table = Page(page.html).table("Over the keys")
    assert [row[-1] for row in table.texts] == [six(1.0)] * 3
    assert [row[:3] for row in table.texts] == [list(map(six, row)) for row in head.weights[0]]


def test_the_mistaken_weights_add_up_over_the_queries_and_mix_the_values_wrongly():
    page, head = shown("random")
    table, output = (
        [[float(x.replace("\N{MINUS SIGN}", "-")) for x in row] for row in found.texts]
        for found in (Page(page.html).table("Over the queries, a mistake"), last_output(page))
    )
    for key in range(3):
        column = [math.exp(score) for score in head.scaled_scores[0, :, key]]
        for query in range(3):
            assert abs(table[query][key] - column[query] / math.fsum(column)) < 1e-6
    for query in range(3):
        for feature in range(2):
            mixed = math.fsum(table[query][key] * head.value[0, key, feature] for key in range(3))
            assert abs(output[query][feature] - mixed) < 1e-5


def last_output(page):
    return [table for table in Page(page.html).tables if table.title == "Output"][-1]


def test_a_query_is_a_row_and_a_key_is_a_column():
    table = Page(shown("random")[0].html).table("Over the queries, a mistake")
    assert table.rows == ["q₀", "q₁", "q₂"]
    assert table.columns == ["k₀", "k₁", "k₂", "sum over keys"]


def test_it_is_told_in_words_and_kept_by_untrusted_notebooks():
    page, _ = shown("equal-keys")
    assert page.description.splitlines()[0].startswith("Over the keys: q0 has [0.500000, 0.500000]")
    assert "a mistake: q0 has [0.014166, 0.014166], in sum 0.028332" in page.description
    assert page.description.endswith(".")
    read = Page(page.html)
    assert read.tags <= TAGS
    assert read.attributes <= ATTRIBUTES
