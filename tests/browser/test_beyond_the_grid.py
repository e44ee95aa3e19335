"""The panels beyond the grid measure at a press and follow the keyboard, in both themes."""

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.pages import Notebook, lab_address
from tests.browser.test_accessible import TEXTS, THEMES, choose_theme, faint

CELLS = (
    "from attnlib.explorers.growth import GrowthExplorer\n"
    "growth = GrowthExplorer({'with grids': 512, 'tile by tile': 512})\ngrowth",
    "from attnlib.explorers.tiles import TileExplorer\nTileExplorer()",
)
READS = "reads its keys"


@pytest.fixture(scope="module")
def opened(chromium, server):
    """Both panels in JupyterLab."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, server.work / "beyond.ipynb")
    context = chromium.new_context(viewport={"width": 1280, "height": 1500})
    page = context.new_page()
    page.goto(f"{server.url}{lab_address('beyond.ipynb')}?token={server.token}")
    found = Notebook(page)
    found.run_all()
    expect(found.root.locator(".attnlib-panel caption", has_text=READS)).to_have_count(1)
    yield found
    context.close()


@pytest.fixture
def growth(opened):
    return opened.root.locator(".attnlib-panel").first


@pytest.fixture
def tiles(opened):
    return opened.root.locator(".attnlib-panel").last


def test_a_press_measures_and_the_marks_and_the_table_come(opened, growth):
    picture = growth.locator("img")
    before = picture.get_attribute("src")
    button = growth.get_by_role("button", name="Measure on this machine")
    button.press("Enter")
    expect(growth).to_contain_text("Done: 4 of 4 measured.", timeout=60_000)
    expect(growth.locator("tbody tr")).to_have_count(2)
    assert picture.get_attribute("src") != before
    assert "the head with grids needs" in picture.get_attribute("alt")
    expect(button).to_be_enabled()
    assert opened.errors() == []


def test_another_query_and_another_tile_are_chosen_by_keyboard(opened, tiles):
    query = tiles.get_by_role("spinbutton", name="Query", exact=True)
    query.press("ArrowUp")
    query.press("Tab")
    expect(tiles).to_contain_text("q₁ reads its keys")
    tile = tiles.get_by_role("spinbutton", name="Keys in a tile")
    tile.press("ArrowUp")
    tile.press("Tab")
    rows = tiles.locator("table", has_text=READS).locator("tbody tr")
    expect(rows).to_have_count(1)
    assert opened.errors() == []


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_and_every_word_stands_out_in_both_themes(opened, growth, tiles, theme):
    choose_theme(opened, theme)
    for panel in (growth, tiles):
        assert faint(panel.evaluate(TEXTS)) == []
    opened.page.evaluate("() => { document.body.style.height = '100vh'; }")
    found = Axe().run(opened.page, context=".attnlib-panel").response["violations"]
    assert {each["id"]: [x["html"][:200] for x in each["nodes"]] for each in found} == {}
