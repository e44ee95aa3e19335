"""The chapter as people open it: saved, in JupyterLab, in Notebook 7, and as a Voilà page."""

import pytest
from playwright.sync_api import expect

from attnlib.explorers import HeadExplorer
from tests.browser.pages import Notebook, Panel, lab_address

CHAPTER = "notebooks/00_start_here.ipynb"
ENTRY = "K, key 1, feature 1"


def picture_at(value):
    explorer = HeadExplorer()
    explorer.controls["K"][1][1].value = value
    return explorer.pictures["head"].value


def moves(panel):
    """Whether a key on a slider brings the right picture."""
    panel.press(ENTRY, "ArrowRight")
    panel.wait_for_picture(picture_at(2.25))
    return panel.value(ENTRY) == 2.25


def test_a_saved_chapter_reads_whole_without_a_kernel(visit):
    page = visit(lab_address(CHAPTER), lambda page: page.route("**/api/sessions*", answer_nothing))
    notebook = Notebook(page)
    explorer = notebook.cells.filter(has_text="HeadExplorer()").last
    expect(explorer.locator(".jp-OutputArea-output")).to_contain_text("HeadExplorer(tokens=2")
    picture = notebook.root.locator(".jp-OutputArea-output img").first
    expect(picture).to_have_js_property("complete", True)
    assert picture.bounding_box()["y"] < explorer.bounding_box()["y"]
    assert picture.evaluate("(image) => image.naturalWidth") > 400
    assert notebook.errors() == []
    assert notebook.root.get_by_text("Error displaying widget").count() == 0


def answer_nothing(route):
    """No session, so no kernel."""
    if route.request.method == "GET":
        route.fulfill(json=[])
    else:
        route.abort()


@pytest.mark.parametrize(
    "address",
    [lab_address(CHAPTER), CHAPTER.replace("notebooks/", "notebooks/notebooks/")],
    ids=["JupyterLab", "Notebook 7"],
)
def test_a_chapter_is_run_by_its_menu_and_moved_by_a_key(visit, address):
    notebook = Notebook(visit(address))
    notebook.run_all()
    assert moves(notebook.panel())
    assert notebook.errors() == []


def test_a_chapter_is_moved_by_a_key_as_a_voila_page(visit):
    page = visit(f"voila/render/{CHAPTER}")
    panel = Panel(page.locator(".attnlib-panel"))
    panel.ready()
    assert moves(panel)


def test_in_a_narrow_window_the_picture_scrolls_and_every_button_stays_in_view(visit):
    page = visit(f"voila/render/{CHAPTER}")
    page.set_viewport_size({"width": 640, "height": 750})
    panel = Panel(page.locator(".attnlib-panel"))
    panel.ready()
    last = panel.root.get_by_label("Save the picture or the numbers")
    page.wait_for_function(
        "(boxes) => ((a, b) => a < b)(...boxes.map((box) => box.getBoundingClientRect().right))",
        arg=[last.element_handle(), panel.root.element_handle()],
    )
    panel.root.evaluate("(panel) => panel.scrollTo(400, 0)")
    assert last.bounding_box()["x"] > panel.root.bounding_box()["x"]
    assert moves(panel)
