"""A prediction is committed by keyboard alone, and its verdict is seen and spoken."""

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.pages import Notebook, lab_address
from tests.browser.test_accessible import TEXTS, THEMES, choose_theme, faint

CELLS = (
    "from attnlib.explorers import predictions",
    'predictions.ask("raw-scores")',
    'predictions.ask("moved-key")',
    'predictions.ask("score-spread")',
)
GRID = {
    "query 0, key 0": "0",
    "query 0, key 1": "6",
    "query 1, key 0": "6",
    "query 1, key 1": "-4",
}


@pytest.fixture(scope="module")
def questions(chromium, server):
    """Three questions in JupyterLab."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, server.work / "questions.ipynb")
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{server.url}{lab_address('questions.ipynb')}?token={server.token}")
    opened = Notebook(page)
    opened.run_all()
    expect(opened.root.locator("form.attnlib-question")).to_have_count(3)
    yield opened
    context.close()


@pytest.fixture
def form(questions):
    """The form of a cell, run anew."""

    def fresh(cell):
        old = questions.cells.nth(cell).locator("form.attnlib-question")
        old.evaluate("form => form.classList.add('old')")
        questions.run_cell(cell)
        found = questions.cells.nth(cell).locator("form.attnlib-question:not(.old)")
        expect(found).to_have_count(1)
        return found

    return fresh


def verdict(form):
    return form.get_by_role("status")


def focused(form):
    """The name of what has the keyboard."""
    return form.page.evaluate("document.activeElement.getAttribute('aria-label')")


def test_a_grid_is_filled_and_committed_by_keyboard_alone(questions, form):
    grid, keyboard = form(1), questions.page.keyboard
    expect(verdict(grid)).to_have_text("Not answered yet.")
    grid.get_by_label("query 0, key 0").focus()
    active = questions.active()
    for name, digits in GRID.items():
        assert focused(grid) == name
        keyboard.type(digits.removeprefix("-"))
        if name != list(GRID)[-1]:
            keyboard.press("Tab")
    keyboard.press("Enter")
    expect(verdict(grid)).to_contain_text("Not yet (signs left out)")
    assert grid.get_attribute("data-verdict") == "false"
    keyboard.press("Home")
    keyboard.type("-")
    keyboard.press("Enter")
    expect(verdict(grid)).to_contain_text("Right. Entry (i, j) is the dot product")
    assert grid.get_attribute("data-verdict") == "true"
    assert questions.active() == active
    assert questions.errors() == []


def test_an_option_is_chosen_with_arrow_keys_and_the_reasoning_opened(questions, form):
    choice, keyboard = form(2), questions.page.keyboard
    choice.get_by_role("radio").first.focus()
    active = questions.active()
    keyboard.press("Enter")
    expect(verdict(choice)).to_contain_text("nothing is chosen")
    keyboard.press("Space")
    keyboard.press("Enter")
    expect(verdict(choice)).to_contain_text("Not yet (a key taken for a row)")
    reasoning = choice.locator(".attnlib-reasoning")
    expect(reasoning.locator("p")).to_be_hidden()
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(reasoning.locator("p")).to_contain_text("Every query meets key 0 once")
    choice.get_by_role("radio").first.focus()
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    expect(verdict(choice)).to_contain_text("Right. Every query meets key 0 once")
    expect(reasoning).to_be_hidden()
    assert questions.active() == active


def test_a_number_left_out_is_told(questions, form):
    number = form(3)
    number.get_by_label("Your answer").press("Enter")
    expect(verdict(number)).to_have_text("Not yet: 1 number is missing.")
    number.get_by_label("Your answer").fill("8")
    number.get_by_role("button", name="Commit").press("Space")
    expect(verdict(number)).to_contain_text("Right. ")


def test_two_forms_keep_their_answers_apart(form):
    choice, number = form(2), form(3)
    choice.get_by_role("radio").nth(2).check()
    number.get_by_label("Your answer").fill("64")
    number.get_by_label("Your answer").press("Enter")
    expect(verdict(number)).to_contain_text("variance instead of standard deviation")
    expect(verdict(choice)).to_have_text("Not answered yet.")
    expect(choice.get_by_role("radio").nth(2)).to_be_checked()


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_and_every_word_stands_out_in_both_themes(questions, form, theme):
    choose_theme(questions, theme)
    for cell in (1, 2, 3):
        asked = form(cell)
        for committed in (False, True):
            if committed:
                asked.get_by_role("button", name="Commit").press("Enter")
                expect(verdict(asked)).to_contain_text("Not yet")
            assert faint(asked.evaluate(TEXTS)) == []
    questions.page.evaluate("() => { document.body.style.height = '100vh'; }")
    found = Axe().run(questions.page, context=".attnlib-question:not(.old)")
    assert found.response["violations"] == []


@pytest.mark.parametrize("key", ["a", "b", "d", "x", "z", "Shift+M", "ArrowUp", "ArrowDown"])
def test_keys_pressed_in_a_form_do_nothing_to_the_notebook(questions, form, key):
    choice = form(2)
    for control in (choice.get_by_role("radio").first, choice.get_by_role("button")):
        control.focus()
        active = questions.active()
        control.press(key)
        control.press(key)
        assert questions.active() == active


def test_after_a_restart_of_the_kernel_a_form_says_what_to_do(questions, form):
    number = form(3)
    restart = "jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    questions.page.evaluate(f"async () => {{ await window.{restart}; }}")
    number.get_by_label("Your answer").press("Enter")
    expect(verdict(number)).to_contain_text("run this cell again", timeout=20_000)
    questions.run_all()
    expect(verdict(questions.cells.nth(3))).to_have_text("Not answered yet.")
