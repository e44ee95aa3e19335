"""Tokens' own words in a real browser: text whatever they hold, and a taken head that moves."""

import pytest
from playwright.sync_api import expect

from attnlib.explorers import HeadExplorer
from attnlib.views.token_names import whole
from tests.browser.pages import Panel
from tests.browser.test_accessible import violations
from tests.explorers.test_from_head import ITEM, PATH, REAL

CHOSEN = [2, 10, 13]
MARKUP = "<img src=x onerror=document.title='run'>"
LABELS = (MARKUP, "</select><b>&amp;", "שלום")
ARRAYS = ("query", "key", "value")
MAKE = f"""
import numpy as np
arrays = np.load({str(PATH)!r})
qkv = [arrays[name] for name in {ARRAYS}]
explorer = HeadExplorer.from_head(qkv, {CHOSEN}, {LABELS!r}, {ITEM})
explorer
"""


def taken():
    """The same explorer in this process."""
    return HeadExplorer.from_head([REAL[name] for name in ARRAYS], CHOSEN, LABELS, ITEM)


def named(role, token, feature):
    return f"{role[0].upper()}, {role} {token} “{whole(LABELS[token])}”, feature {feature}"


@pytest.fixture
def panel(scratch):
    """A fresh panel on a few tokens of a real head, in the lowest cell."""
    found = Panel(scratch.start(MAKE).locator(".attnlib-panel"))
    found.slider(named("value", 0, 0)).wait_for()
    found.wait_for_picture(taken().pictures["head"].value)
    return found


def test_a_slider_of_a_taken_head_moves_it(panel):
    twin, name = taken(), named("query", 0, 1)
    panel.type(name, "-2.5")
    twin.controls["Q"][0][1].value = -2.5
    panel.wait_for_picture(twin.pictures["head"].value)
    expect(panel.summary).to_have_text(twin.summary)
    panel.root.get_by_role("button", name="Reset").click()
    panel.wait_for_picture(taken().pictures["head"].value)


def test_markup_in_a_label_stays_text_wherever_it_stands(scratch, panel):
    words = whole(MARKUP)
    panel.root.get_by_role("button", name="Tables").click()
    expect(panel.tables.get_by_role("rowheader", name=f"q₀ {words}").first).to_be_visible()
    chooser = panel.root.get_by_role("combobox", name="Row of K to edit")
    assert chooser.locator("option").all_text_contents() == [
        f"k{below} {whole(label)}" for below, label in zip("₀₁₂", LABELS, strict=True)
    ]
    expect(panel.root.locator(".attnlib-note")).to_contain_text(f"tokens 2 “{words}”")
    cell = f"Weights, query 0 “{words}”, key 2 “{whole(LABELS[2])}”"
    expect(panel.root.get_by_role("button", name=cell, exact=True)).to_have_count(1)
    assert panel.root.locator("img").count() == 1
    assert "run" not in scratch.page.title()
    assert violations(panel) == {}


def test_a_preset_takes_words_and_note_away_and_the_panel_keeps_its_height(panel):
    height = panel.root.evaluate("panel => panel.offsetHeight")
    panel.root.get_by_role("combobox", name="Start from").select_option("random")
    panel.slider("Q, query 0, feature 0").wait_for()
    expect(panel.root.locator(".attnlib-note")).to_have_text("")
    assert panel.root.evaluate("panel => panel.offsetHeight") == height
    panel.root.get_by_role("button", name="Undo").click()
    expect(panel.root.locator(".attnlib-note")).to_have_text(taken().note)
    panel.wait_for_picture(taken().pictures["head"].value)
