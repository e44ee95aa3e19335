"""Shapes can be broken on purpose: the panel shows the core's own refusal, or what comes out."""

import numpy as np
import pytest

from attnlib.core.errors import SelfAttentionError
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.explorers.shapes import OWN, ShapeExplorer
from attnlib.lessons import axes
from tests.views.reading import Page

ROWS = ["query", "key", "value", "raw scores", "weights", "output"]
BREAKS = [
    ("key", "batch", 3, "batch-mismatch"),
    ("value", "tokens", 5, "token-mismatch"),
    ("value", "width", 0, "empty-feature-width"),
    ("query", "width", 3, "query-key-width-mismatch"),
]


@pytest.fixture
def explorer():
    return ShapeExplorer()


def table(explorer):
    return Page(explorer.numbers.value).table("Shapes")


def shown(explorer):
    """Each array's three lengths as they stand in the table."""
    found = table(explorer)
    return {name: row[1:4] for name, row in zip(found.rows, found.texts, strict=True)}


def framed(explorer):
    """The cells with a line round them: array and axis."""
    found = table(explorer)
    return {
        (name, column - 1)
        for name, styles in zip(found.rows, found.styles, strict=True)
        for column, css in enumerate(styles)
        if "outline" in css
    }


def notes(explorer):
    found = table(explorer)
    return {name: row[4] for name, row in zip(found.rows, found.texts, strict=True)}


def test_it_starts_with_values_wider_than_queries(explorer):
    assert repr(explorer) == "ShapeExplorer([(1, 2, 2), (1, 2, 2), (1, 2, 3)])"
    assert shown(explorer)["raw scores"] == shown(explorer)["weights"] == ["1", "2", "2"]
    assert shown(explorer)["output"] == ["1", "2", "3"]
    assert framed(explorer) == set()
    assert explorer._words.summary.startswith("1 batch item of 2 queries: each has 2 weights")


@pytest.mark.parametrize(("operand", "axis", "value", "kind"), BREAKS)
def test_an_axis_that_does_not_fit_shows_the_refusal(explorer, operand, axis, value, kind):
    before = explorer.controls[operand][axis].value
    explorer.controls[operand][axis].value = value
    assert explorer.refusal.kind == kind
    assert str(explorer.refusal) in explorer._words.refusal
    assert explorer._words.summary == ""
    explorer.controls[operand][axis].value = before
    assert explorer.refusal is None
    assert explorer._words.refusal == ""
    assert framed(explorer) == set()


@pytest.mark.parametrize(("operand", "axis", "value", "kind"), BREAKS)
def test_the_axis_that_disagrees_is_framed_and_told_in_words(explorer, operand, axis, value, kind):
    explorer.controls[operand][axis].value = value
    column = ("batch", "tokens", "width").index(axis)
    assert (operand, column) in framed(explorer)
    assert framed(explorer) == set(axes.faults(explorer.refusal))
    assert str(value) in notes(explorer)[operand] or notes(explorer)[operand] == "no feature"


@pytest.mark.parametrize("case", axes.SHAPES)
def test_the_table_has_the_same_rows_whether_shapes_fit_or_not(explorer, case):
    explorer.cases.value = case
    assert explorer.shapes == axes.SHAPES[case]
    assert list(shown(explorer)) == ROWS
    accepted = explorer.refusal is None
    for name in ROWS[3:]:
        assert (notes(explorer)[name] == "refused") is not accepted
        assert (shown(explorer)[name] == ["–"] * 3) is not accepted
    # A row that could break its line would be higher.
    assert all("nowrap" in css for row in table(explorer).styles for css in row)


def test_every_state_is_what_the_core_says_to_these_shapes(explorer):
    for tokens in (0, 1, 8):
        for width in (0, 2, 3):
            explorer.controls["value"]["tokens"].value = tokens
            explorer.controls["key"]["width"].value = width
            assert (explorer.refusal and explorer.refusal.kind) == kind_of(explorer.shapes)


def kind_of(shapes):
    try:
        scaled_dot_product_self_attention(*map(np.zeros, shapes))
    except SelfAttentionError as refusal:
        return refusal.kind
    return None


def test_a_case_is_named_while_its_shapes_stand(explorer):
    explorer.cases.value = "one key too many"
    assert explorer.refusal.kind == "token-mismatch"
    explorer.controls["key"]["tokens"].value = 5
    assert explorer.cases.value == OWN
    explorer.controls["key"]["tokens"].value = 4
    assert explorer.cases.value == "one key too many"
    explorer.cases.value = OWN
    assert explorer.shapes == axes.SHAPES["one key too many"]


def test_an_empty_batch_is_accepted_and_no_token_is_not(explorer):
    for operand in ("query", "key", "value"):
        explorer.controls[operand]["batch"].value = 0
    assert explorer.refusal is None
    assert shown(explorer)["output"] == ["0", "2", "3"]
    for operand in ("query", "key", "value"):
        explorer.controls[operand]["tokens"].value = 0
    assert explorer.refusal.kind == "empty-token-axis"
    assert len(framed(explorer)) == 3


def test_each_slider_has_the_name_of_its_axis_and_steps_by_one(explorer):
    entry = explorer.controls["value"]["width"]
    assert entry.description == "Shapes, value, width"
    assert (entry.min, entry.max, entry.step) == (0, 8, 1)


@pytest.mark.parametrize(("typed", "taken"), [(-3, 0), (2.4, 2), (1e12, 64), (float("nan"), 0)])
def test_anything_typed_becomes_a_length_and_the_slider_says_which(explorer, typed, taken):
    entry = explorer.controls["query"]["batch"]
    entry.value = typed
    assert explorer.shapes[0] == (taken, 2, 2)
    assert (entry.value, entry.min, entry.max) == (taken, 0, max(8, taken))
    assert explorer.refusal.kind == "batch-mismatch"
