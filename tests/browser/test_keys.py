"""Keys on a slider move the head, and nothing but the head."""

import pytest
from playwright.sync_api import expect

from attnlib.explorers import HeadExplorer
from tests.authority import WORKED

ENTRY = "K, key 1, feature 1"


def moved(value):
    """An explorer whose key 1, feature 1 has been set to a value."""
    explorer = HeadExplorer()
    explorer.controls["K"][1][1].value = value
    return explorer


def picture_of(explorer):
    return explorer.pictures["head"].value


def test_each_step_of_an_arrow_key_changes_value_picture_words_and_tables(panel):
    panel.root.get_by_role("button", name="Tables").click()
    expect(panel.tables).to_be_visible()
    seen = [(panel.pixels().tobytes(), panel.summary.inner_text(), panel.tables.inner_text())]
    for value in (2.25, 2.5):
        panel.press(ENTRY, "ArrowRight")
        panel.wait_for_picture(picture_of(moved(value)))
        expect(panel.summary).to_have_text(moved(value).summary)
        assert panel.value(ENTRY) == value
        seen.append(
            (panel.pixels().tobytes(), panel.summary.inner_text(), panel.tables.inner_text())
        )
    for kind in zip(*seen, strict=True):
        assert len(set(kind)) == 3


def test_page_keys_take_ten_steps(panel):
    panel.press(ENTRY, "PageUp")
    assert panel.value(ENTRY) == 4.5
    panel.wait_for_picture(picture_of(moved(4.5)))
    panel.press(ENTRY, "PageDown")
    assert panel.value(ENTRY) == 2
    panel.press(ENTRY, "PageDown")
    assert panel.value(ENTRY) == -0.5
    panel.wait_for_picture(picture_of(moved(-0.5)))


def test_home_and_end_go_to_the_ends(panel):
    for key, value in (("Home", -6), ("End", 6)):
        panel.press(ENTRY, key)
        assert panel.value(ENTRY) == value
        panel.wait_for_picture(picture_of(moved(value)))


@pytest.mark.parametrize("value", [0.3, -12.5, 1234.5678])
def test_a_typed_value_counts_beyond_the_slider_and_between_its_steps_too(panel, value):
    panel.type(ENTRY, str(value))
    panel.wait_for_picture(picture_of(moved(value)))
    assert float(panel.typed(ENTRY).input_value()) == pytest.approx(value, rel=1e-6)


def test_a_typed_value_counts_when_the_field_is_left_without_enter(panel):
    panel.typed(ENTRY).fill("-3.5")
    panel.typed(ENTRY).press("Tab")
    panel.wait_for_picture(picture_of(moved(-3.5)))


def test_arrow_keys_go_on_from_a_typed_value(panel):
    panel.type(ENTRY, "0.3")
    panel.wait_for_picture(picture_of(moved(0.3)))
    panel.typed(ENTRY).press("ArrowUp")
    panel.wait_for_picture(picture_of(moved(0.55)))


def test_an_emptied_field_shows_its_value_again(panel):
    before = panel.source()
    panel.type(ENTRY, "")
    expect(panel.typed(ENTRY)).to_have_value("2")
    assert panel.source() == before


def test_every_entry_has_a_handle_and_a_field_that_name_it(panel):
    letters = {"Q": "query", "K": "key", "V": "value"}
    for (letter, word), matrix in zip(letters.items(), WORKED, strict=False):
        for t in range(2):
            for f in range(2):
                assert panel.value(f"{letter}, {word} {t}, feature {f}") == matrix[0][t][f]


KEYS = ("a", "b", "d", "d", "x", "m", "y", "z", "Shift+M", "ArrowDown", "ArrowUp")
CONTROLS = {
    "a slider": lambda panel: panel.slider(ENTRY),
    "a field": lambda panel: panel.typed(ENTRY),
    "a button": lambda panel: panel.root.get_by_role("button", name="Reset"),
    "a choice": lambda panel: panel.root.get_by_label("Start from"),
    "a cell to read": lambda panel: panel.root.get_by_role("button", name="Weights").first,
}


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS)
def test_keys_pressed_in_the_panel_do_nothing_to_the_notebook(scratch, panel, control):
    control(panel).focus()
    active = scratch.active()
    for key in KEYS:
        control(panel).press(key)
    expect(control(panel)).to_be_focused()
    assert scratch.active() == active


def test_the_same_keys_would_change_the_notebook_outside_of_the_panel(scratch):
    before = len(scratch.active())
    scratch.cells.last.locator(".jp-InputPrompt").click()
    scratch.page.keyboard.press("b")
    expect(scratch.cells).to_have_count(before + 1)
    scratch.page.keyboard.press("d")
    scratch.page.keyboard.press("d")
    expect(scratch.cells).to_have_count(before)
