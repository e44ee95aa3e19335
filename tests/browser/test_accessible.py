"""The panel can be read and used by everyone: axe finds nothing, text stands out in both themes."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.test_panel import ENTRIES, fill_with_too_large_a_number

THEMES = ("JupyterLab Light", "JupyterLab Dark")
# Each piece of visible text with its colour and the colour behind it, as red, green, blue, alpha.
TEXTS = """(panel) => {
  const channels = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    return found.length === 3 ? [...found, 1] : found;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = channels(getComputedStyle(each).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  const seen = [];
  const add = (element, words) => {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!words.trim() || box.width * box.height === 0 || style.visibility === "hidden") return;
    if (element.disabled) return;
    seen.push({ words, ink: channels(style.color), ground: ground(element) });
  };
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) add(walker.currentNode.parentElement, walker.currentNode.data);
  for (const field of panel.querySelectorAll("input[type=number], select, textarea"))
    add(field, field.value);
  return seen;
}"""


def luminance(colour):
    """Of WCAG 2."""
    shares = (x / 255 for x in colour[:3])
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def faint(texts):
    """The words whose contrast to what is behind them is below 4.5."""
    found = []
    for text in texts:
        dark, light = sorted(map(luminance, (text["ink"], text["ground"])))
        if (light + 0.05) / (dark + 0.05) < 4.5:
            found.append(text["words"])
    return found


def violations(panel):
    """What axe finds inside the panel: its rule, and the elements."""
    # JupyterLab's body has no height, and axe takes text in such a one for hidden.
    panel.page.evaluate("() => { document.body.style.height = '100vh'; }")
    found = Axe().run(panel.page, context=".attnlib-panel:not(.old)").response["violations"]
    return {each["id"]: [node["html"][:200] for node in each["nodes"]] for each in found}


def open_tables(panel):
    panel.root.get_by_role("button", name="Tables").click()
    panel.tables.wait_for()


def read_a_cell(panel):
    panel.root.get_by_role("button", name="Weights").first.click()
    panel.root.locator(".attnlib-reading").wait_for()


def fold_the_sliders(panel):
    panel.press_width("End")


STATES = {
    "as opened": lambda panel: None,
    "with its tables": open_tables,
    "with a cell read": read_a_cell,
    "with folded sliders": fold_the_sliders,
    "with a refused setting": fill_with_too_large_a_number,
}


def choose_theme(notebook, name):
    notebook.menu("Settings", "Theme", name)
    light = str(name == THEMES[0]).lower()
    notebook.page.locator(f"body[data-jp-theme-light='{light}']").wait_for(state="attached")


@pytest.fixture(scope="module", params=THEMES)
def theme(request, scratch):
    if request.param != THEMES[0]:
        choose_theme(scratch, request.param)
    yield request.param
    if request.param != THEMES[0]:
        choose_theme(scratch, THEMES[0])


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
class TestEachState:
    def test_axe_finds_nothing(self, theme, panel, state):
        state(panel)
        assert violations(panel) == {}

    def test_text_stands_out(self, theme, panel, state, tmp_path):
        state(panel)
        texts = panel.root.evaluate(TEXTS)
        assert len(texts) > 30
        assert faint(texts) == []
        panel.root.screenshot(path=tmp_path / "panel.png")


def test_faint_text_and_a_control_without_a_name_would_be_seen(panel):
    panel.summary.evaluate("(words) => { words.style.color = '#aaaaaa'; }")
    panel.slider(ENTRIES[0]).evaluate("(handle) => handle.removeAttribute('aria-label')")
    assert faint(panel.root.evaluate(TEXTS)) == [panel.summary.inner_text()]
    assert violations(panel).keys() == {"color-contrast", "label"}


def test_the_picture_has_its_state_as_a_text_alternative(panel):
    parts = [panel.image.element_handle(), panel.summary.element_handle()]
    same = "([image, summary]) => image.alt !== '' && image.alt === summary.textContent"
    panel.page.wait_for_function(same, arg=parts)
    before = panel.image.get_attribute("alt")
    panel.press(ENTRIES[0], "ArrowRight")
    panel.page.wait_for_function(same, arg=parts)
    assert panel.image.get_attribute("alt") != before


def test_the_summary_is_announced_when_the_hand_rests_and_not_at_every_step(panel):
    spoken = panel.root.locator("[aria-live]")
    spoken.evaluate(
        "(live) => { live.said = []; new MutationObserver(() => live.said.push(live.textContent))"
        ".observe(live, { childList: true, characterData: true, subtree: true }); }"
    )
    for _ in range(8):
        panel.press(ENTRIES[0], "ArrowRight")
    panel.page.wait_for_function(
        "([live, summary]) => live.textContent.includes(summary.textContent)",
        arg=[spoken.element_handle(), panel.summary.element_handle()],
    )
    assert spoken.evaluate("(live) => live.said.length") < 8
