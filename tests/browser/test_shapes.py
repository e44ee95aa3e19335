"""The shape playground keeps its size, rows and keyboard; pages are readable in both themes."""

import pytest
from playwright.sync_api import expect

from attnlib.lessons import axes
from tests.browser.test_accessible import TEXTS, THEMES, choose_theme, faint, violations

MAKE = "from attnlib.explorers.shapes import ShapeExplorer\nShapeExplorer()"
PAGES = """
import numpy as np
from IPython.display import display
from attnlib.lessons import examples
from attnlib.lessons.evidence import learner_evidence
from attnlib.views import axis_page, journey, shape_page, trace
example = examples.load("worked-example")
head = example.head()
back = head.backward(example.grad_output), example.grad_output
display(
    shape_page.shape_page(head),
    shape_page.refusal_page(),
    shape_page.cases_page(learner_evidence().shapes),
    axis_page.axis_page(head),
    journey.journey(head, *back, 0, 1),
    trace.head_trace(head, *back),
)
"""
# Every size that the panel has at any frame of the screen from here on.
RECORD = """(panel) => {
  const size = () => `${panel.offsetWidth} ${panel.offsetHeight}`;
  panel.sizes = [size()];
  const frame = () => {
    if (!panel.isConnected) return;
    if (!panel.sizes.includes(size())) panel.sizes.push(size());
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


@pytest.fixture
def playground(scratch):
    return made(scratch)


def made(scratch):
    """A fresh playground in the lowest cell."""
    cell = scratch.start(MAKE)
    panel = cell.locator(".attnlib-panel")
    panel.scroll_into_view_if_needed()
    expect(slider(panel, "key", "tokens")).to_have_value("2")
    return panel


def slider(panel, operand, axis):
    return panel.get_by_role("slider", name=f"Shapes, {operand}, {axis}", exact=True)


def chooser(panel):
    return panel.get_by_role("combobox", name="Start from")


def test_its_size_never_changes_while_shapes_come_and_go(playground):
    playground.evaluate(RECORD)
    for case in axes.SHAPES:
        chooser(playground).select_option(case)
        (_, tokens, _) = axes.SHAPES[case][1]
        expect(slider(playground, "key", "tokens")).to_have_value(str(tokens))
        expect(playground.locator("tbody").last.locator("tr")).to_have_count(6)
    for key in ("End", "Home", "PageUp"):
        slider(playground, "value", "tokens").press(key)
    expect(playground.locator(".attnlib-refusal")).to_contain_text("token-mismatch")
    assert len(playground.evaluate("panel => panel.sizes")) == 1


def test_the_longest_remarks_are_not_cut(playground):
    slider(playground, "key", "tokens").press("ArrowRight")
    slider(playground, "value", "tokens").press("ArrowLeft")
    expect(playground.get_by_role("cell", name="tokens: all differ")).to_have_count(3)
    inside, whole = playground.locator(".attnlib-body").evaluate(
        "(body) => [body.clientWidth, body.scrollWidth]"
    )
    assert whole <= inside


def test_a_change_of_size_would_be_seen(playground):
    playground.evaluate(RECORD)
    playground.evaluate("panel => { panel.style.paddingBottom = '40px'; }")
    playground.page.wait_for_function(
        "panel => panel.sizes.length === 2", arg=playground.element_handle()
    )


def test_a_shape_is_broken_and_mended_by_keyboard(playground):
    handle = slider(playground, "key", "width")
    handle.press("ArrowRight")
    refusal = playground.locator(".attnlib-refusal")
    expect(refusal).to_contain_text("query-key-width-mismatch")
    expect(playground.get_by_role("cell", name="width 3, not 2")).to_be_visible()
    expect(playground.get_by_role("cell", name="refused")).to_have_count(3)
    assert chooser(playground).input_value() == "your own shapes"
    handle.press("ArrowLeft")
    expect(refusal).to_be_hidden()
    expect(chooser(playground)).to_have_value("values wider than queries")


@pytest.mark.parametrize("theme", THEMES)
def test_it_and_the_pages_can_be_read_in_both_themes(scratch, theme):
    choose_theme(scratch, theme)
    try:
        panel = made(scratch)
        chooser(panel).select_option("one key too many")
        expect(panel.locator(".attnlib-refusal")).to_be_visible()
        assert violations(panel) == {}
        assert faint(panel.evaluate(TEXTS)) == []
        pages = scratch.start(PAGES).locator(".jp-RenderedHTMLCommon")
        expect(pages).to_have_count(6)
        texts = [text for page in pages.all() for text in page.evaluate(TEXTS)]
        assert len(texts) > 300
        assert faint(texts) == []
    finally:
        choose_theme(scratch, THEMES[0])
