"""Shapes can be broken on purpose: the panel shows the core's own refusal, or what comes out."""

import pytest

from attnlib.explorers.shapes import ShapeExplorer
from tests.views.reading import Page


@pytest.fixture
def explorer():
    return ShapeExplorer()


def shapes_shown(explorer):
    table = Page(explorer.numbers.value).table("Shapes")
    return {name: tuple(map(int, row)) for name, row in zip(table.rows, table.texts, strict=True)}


def test_it_starts_with_values_wider_than_queries(explorer):
    assert repr(explorer) == "ShapeExplorer([(1, 2, 2), (1, 2, 2), (1, 2, 3)])"
    assert shapes_shown(explorer)["raw scores"] == shapes_shown(explorer)["weights"] == (1, 2, 2)
    assert shapes_shown(explorer)["output"] == (1, 2, 3)
    assert explorer._words.summary.startswith("1 batch item of 2 queries: each has 2 weights")


@pytest.mark.parametrize(
    ("operand", "axis", "value", "kind"),
    [
        ("key", "batch", 3, "batch-mismatch"),
        ("value", "tokens", 5, "token-mismatch"),
        ("value", "width", 0, "empty-feature-width"),
        ("query", "width", 3, "query-key-width-mismatch"),
    ],
)
def test_an_axis_that_does_not_fit_shows_the_refusal(explorer, operand, axis, value, kind):
    explorer.controls[operand][axis].value = value
    assert explorer.refusal.kind == kind
    assert str(explorer.refusal) in explorer._words.refusal
    assert list(shapes_shown(explorer)) == ["query", "key", "value"]
    explorer.controls[operand][axis].value = (
        3
        if (operand, axis) == ("value", "width")
        else ({"batch": 1, "tokens": 2, "width": 2}[axis])
    )
    assert explorer.refusal is None
    assert explorer._words.refusal == ""


def test_an_empty_batch_is_accepted_and_no_token_is_not(explorer):
    for operand in ("query", "key", "value"):
        explorer.controls[operand]["batch"].value = 0
    assert explorer.refusal is None
    assert shapes_shown(explorer)["output"] == (0, 2, 3)
    for operand in ("query", "key", "value"):
        explorer.controls[operand]["tokens"].value = 0
    assert explorer.refusal.kind == "empty-token-axis"


def test_each_slider_has_the_name_of_its_axis_and_steps_by_one(explorer):
    entry = explorer.controls["value"]["width"]
    assert entry.description == "Shapes, value, width"
    assert (entry.min, entry.max, entry.step) == (0, 8, 1)


@pytest.mark.parametrize(("typed", "taken"), [(-3, 0), (2.4, 2), (1e12, 512), (float("nan"), 0)])
def test_anything_typed_becomes_a_length(explorer, typed, taken):
    explorer.controls["query"]["batch"].value = typed
    assert explorer.shapes[0] == (taken, 2, 2)
    assert explorer.refusal.kind == "batch-mismatch"
