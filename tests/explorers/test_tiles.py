"""The tile panel's table follows the sliders, the query that reads and the width of a tile."""

import pytest

from attnlib.explorers.tiles import TileExplorer
from tests.authority import seeded, slow_head
from tests.views.reading import Page, six

ANSWER = "answer so faro ÷ ℓ"


def table(explorer):
    (found,) = Page(explorer.page.value).tables
    return found


def answers(explorer):
    found = table(explorer)
    column = found.columns[1:].index(ANSWER)
    return [row[column] for row in found.texts]


def bracketed(entries):
    return f"[{', '.join(six(entry) for entry in entries)}]"


@pytest.fixture
def explorer():
    return TileExplorer(*seeded(1, 3, 4, 2, seed=9))


def slow_output(explorer):
    inputs = explorer._editing.inputs()
    return slow_head(inputs.query, inputs.key, inputs.value, inputs.grad_output).output[0]


def test_the_last_answer_is_the_output_of_the_query_that_reads(explorer):
    for query in range(3):
        explorer.reader.value = query
        assert answers(explorer)[-1] == bracketed(slow_output(explorer)[query])
        assert table(explorer).caption.startswith(f"q{'₀₁₂'[query]} reads its keys")


def test_the_table_follows_a_slider(explorer):
    before = answers(explorer)
    explorer.controls["K"][2][0].value = 5.0
    assert answers(explorer) != before
    assert answers(explorer)[-1] == bracketed(slow_output(explorer)[0])


def test_a_tile_may_have_more_keys_and_even_all(explorer):
    assert table(explorer).rows == ["k₀", "k₁", "k₂"]
    explorer.tile.value = 2
    assert table(explorer).rows == ["k₀ to k₁", "k₂"]
    explorer.tile.value = 8
    assert table(explorer).rows == ["k₀ to k₂"]
    assert answers(explorer) == [bracketed(slow_output(explorer)[0])]


def test_another_count_of_tokens_has_its_own_queries():
    explorer = TileExplorer()
    explorer.reader.value = 1
    explorer._toolbar.preset = "one-token"
    assert (explorer.reader.value, explorer.reader.max) == (0, 0)
    assert table(explorer).rows == ["k₀"]
    explorer._toolbar.preset = "random"
    assert explorer.reader.max == explorer.head.query.shape[1] - 1


def test_a_setting_that_is_refused_keeps_the_last_table(explorer):
    explorer.controls["Q"][0][0].value = 1e200
    before = explorer.page.value
    explorer.controls["K"][0][0].value = 1e200
    assert explorer.page.value == before
    assert explorer._outlets.words.refusal


def test_its_plain_form_names_it():
    assert repr(TileExplorer()) == "TileExplorer(tokens=2, key_width=2, value_width=2)"
