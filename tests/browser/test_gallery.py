"""The gallery of mistakes is walked by keyboard alone, in both themes."""

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from attnlib.lessons.mistakes import CATALOGUE
from tests.browser.pages import Notebook, lab_address
from tests.browser.test_accessible import TEXTS, THEMES, choose_theme, faint

CELLS = ("from attnlib.explorers.gallery import MistakeGallery", "MistakeGallery()")
FIRST = "softmax-over-queries"


@pytest.fixture(scope="module")
def opened(chromium, server):
    """A gallery in JupyterLab."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, server.work / "gallery.ipynb")
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{server.url}{lab_address('gallery.ipynb')}?token={server.token}")
    found = Notebook(page)
    found.run_all()
    expect(found.root.locator(".attnlib-panel select")).to_have_count(1)
    yield found
    context.close()


@pytest.fixture
def gallery(opened):
    """The gallery with its first choice."""
    found = opened.root.locator(".attnlib-panel")
    found.get_by_label("Mistake").select_option(FIRST)
    expect(found).to_contain_text(CATALOGUE[FIRST].signature)
    return found


def test_arrow_keys_walk_through_the_mistakes_and_leave_the_notebook_alone(opened, gallery):
    choice, names = gallery.get_by_label("Mistake"), list(CATALOGUE)
    choice.focus()
    active = opened.active()
    following = names[names.index(FIRST) + 1]
    choice.press("ArrowDown")
    expect(gallery).to_contain_text(CATALOGUE[following].signature)
    expect(choice).to_have_value(following)
    choice.press("ArrowUp")
    expect(gallery).to_contain_text(CATALOGUE[FIRST].signature)
    assert opened.active() == active
    assert opened.errors() == []


def test_every_title_can_be_read_whole(gallery):
    assert gallery.get_by_label("Mistake").evaluate("list => list.offsetWidth") > 300


def test_what_is_wrong_is_folded_until_it_is_asked_for(gallery):
    mend = gallery.locator("details div")
    expect(mend).to_be_hidden()
    gallery.locator("summary").press("Enter")
    expect(mend).to_contain_text("axis of the keys")


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_and_every_word_stands_out_in_both_themes(opened, gallery, theme):
    choose_theme(opened, theme)
    assert faint(gallery.evaluate(TEXTS)) == []
    opened.page.evaluate("() => { document.body.style.height = '100vh'; }")
    found = Axe().run(opened.page, context=".attnlib-panel")
    assert found.response["violations"] == []
