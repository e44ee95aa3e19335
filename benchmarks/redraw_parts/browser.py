"""What a hand and an eye meet in JupyterLab in Chromium: from a key press to changed pixels."""

import os
import re
import shutil
import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path

import nbformat

from redraw_parts import spread
from redraw_parts.server import TOKEN, lab

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    sync_playwright = None

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PLAIN = str.maketrans({" ": "-", ",": None})
HERE = Path(__file__).parent
ROUNDS, DRAGS, OPENINGS, STEPS = 4, 2, 20, 60

SETUP = """\
%matplotlib inline
import sys
sys.path.insert(0, {benchmarks!r})
import io, numpy as np, ipywidgets as widgets
from IPython.display import display
from PIL import Image
from attnlib.explorers import HeadExplorer
from redraw_parts import usual
file = io.BytesIO()
Image.effect_noise((640, 486), 20).convert("L").point(lambda x: x // 32 * 32).save(file, "png")
"""
ECHO = """\
slider = widgets.IntSlider(value=50, min=0, max=200)
shown = widgets.Label("50").add_class("bench-shown")
slider.observe(lambda change: setattr(shown, "value", str(change.new)), "value")
display(slider, shown)
"""
PANEL = """\
explorer = HeadExplorer()
explorer.controls["Q"][0][1].step = 0.05
explorer
"""
USUAL = """\
def follow(x):
    query = np.array([[[0, x / 10], [2, -1]]], dtype=float)
    key, value = np.array([[[3.0, 0], [-1, 2]]]), np.array([[[3.0, -3], [1, 3]]])
    usual.draw(query, key, value, np.eye(2)[None])
    usual.plt.show()
widgets.interact(follow, x=widgets.IntSlider(value=30, min=-60, max=60));
"""
SIMPLE = "widgets.VBox([widgets.IntSlider(), widgets.Image(value=file.getvalue())])"

HANDLE = ".jp-OutputArea .noUi-handle"
ENTRY = '.attnlib-query input[type="range"] >> nth=1'
SERVERS = {"prompt wire": True, "stock server": False}
PROMPT_ECHO, STOCK_ECHO, PANEL_HERE, INTERACT = (
    "echo into a label, prompt wire",
    "echo into a label, stock server",
    "HeadExplorer, prompt wire",
    "interact, stock server",
)
CASES = {
    PROMPT_ECHO: (ECHO, HANDLE),
    STOCK_ECHO: (ECHO, HANDLE),
    PANEL_HERE: (PANEL, ENTRY),
    "HeadExplorer, stock server": (PANEL, ENTRY),
    INTERACT: (USUAL, HANDLE),
}
"""What is shown, and on which server -> the cell, and the handle that takes the keys."""


def missing():
    """Say what is needed for this part and isn't there; an empty text where all is."""
    if sync_playwright is None:
        return "It needs Playwright: make install."
    if not _chromium():
        return "It needs Chromium, such as Debian's: apt-get install chromium."
    return ""


def measure(presses):
    """Measure every case in turn, round by round.

    Returns
    -------
    dict
        ``"key press"``, ``"before its frame"`` and ``"opening"``: name -> `spread.of`; ``"drag"``:
        name -> frames of each drag; ``"ratios"``: name -> number.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cells = {name: cell for name, (cell, _) in CASES.items()}
        _write(folder, {**cells, "opening": ("HeadExplorer()", SIMPLE)})
        servers = {
            name: stack.enter_context(lab(folder, prompt)) for name, prompt in SERVERS.items()
        }
        playwright = stack.enter_context(sync_playwright())
        # Chromium has no sandbox for root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=_chromium(), args=arguments)
        stack.callback(browser.close)
        # First, and alone: the pages of the other cases would take their share of two cores.
        page = _page(browser, servers["prompt wire"], "opening")
        opening = _opening(page)
        page.context.close()
        pages = {
            name: _open(browser, servers[name.split(", ", 1)[1]], name, handle)
            for name, (_, handle) in CASES.items()
        }
        times, effects = _press(pages, presses)
        frames = _drag(pages)
    return {
        "key press": {name: spread.of(series) for name, series in times.items()},
        "before its frame": {name: spread.of(series) for name, series in effects.items()},
        "drag": frames,
        "opening": {name: spread.of(series) for name, series in opening.items()},
        "first opening": {name: series[0] for name, series in opening.items()},
        "ratios": _ratios(times, opening),
    }


def _chromium():
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def _write(folder, notebooks):
    setup = SETUP.format(benchmarks=str(HERE.parent))
    for name, cells in notebooks.items():
        cells = (cells,) if isinstance(cells, str) else cells
        made = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in (setup, *cells)],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(made, folder / f"{name}.ipynb")


def _page(browser, address, name):
    """Open a notebook, and run its first cell with a key."""
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(path=HERE / "page.js")
    # A workspace of its own: the default one would open the other notebooks too.
    workspace = f"{address}/lab/workspaces/{name.translate(PLAIN)}"
    page.goto(f"{workspace}/tree/{name}.ipynb?token={TOKEN}")
    page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()
    page.wait_for_timeout(1000)
    page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    _wait_for_prompt(page, 0)
    return page


def _wait_for_prompt(page, cell):
    prompt = page.locator(".jp-Notebook .jp-Cell .jp-InputPrompt").nth(cell)
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=60_000)


def _open(browser, address, name, handle):
    page = _page(browser, address, name)
    page.keyboard.press("Shift+Enter")
    page.locator(handle).wait_for()
    page.wait_for_timeout(1000)
    return page


def _press(pages, presses):
    """Press arrow keys, each as soon as the last one's effect is seen, as under a held key.

    After a pause the server's system acknowledges small messages at once, and the stock server's
    wait shows on every third press only.
    """
    times, effects = ({name: [] for name in pages} for _ in range(2))
    each = max(1, presses // ROUNDS)
    for turn in range(ROUNDS):
        for name, page in pages.items():
            page.bring_to_front()
            page.locator(CASES[name][1]).focus()
            page.wait_for_timeout(400)
            page.evaluate("bench.clear()")
            for press in range(each):
                page.keyboard.press("ArrowRight" if (turn * each + press) % 4 < 2 else "ArrowLeft")
                page.evaluate(f"bench.wait({press + 1})")
            times[name] += page.evaluate("bench.times")
            effects[name] += page.evaluate("bench.effects")
    return times, effects


def _drag(pages):
    """Drag the handle by mouse for a second, 60 steps to and fro; count the frames that differ."""
    frames = {name: [] for name in pages}
    for _ in range(DRAGS):
        for name, page in pages.items():
            page.bring_to_front()
            box = page.locator(CASES[name][1]).bounding_box()
            frames[name].append(_one_drag(page, box))
    return frames


def _one_drag(page, box):
    if box["width"] > 30:  # A native range: its thumb stands somewhere inside.
        start, reach = box["x"] + box["width"] / 2, box["width"] / 2 - 10
    else:
        start, reach = box["x"] + box["width"] / 2, 40
    y = box["y"] + box["height"] / 2
    page.mouse.move(start, y)
    page.mouse.down()
    page.wait_for_timeout(600)
    before = page.evaluate("bench.frames")
    start_time = page.evaluate("performance.now()")
    for step in range(1, STEPS + 1):
        # There and back again: each step lies one pixel or more from the last.
        away = reach * (1 - abs(1 - 2 * step / STEPS))
        page.mouse.move(start + away, y)
        page.wait_for_timeout(
            max(0, start_time + step * 1000 / STEPS - page.evaluate("performance.now()"))
        )
    frames = page.evaluate("bench.frames") - before
    page.mouse.up()
    page.wait_for_timeout(800)
    return frames


def _opening(page):
    """Run the panel's cell and the simple one in turn, each where nothing stands below it yet."""
    names = ("HeadExplorer()", "one slider and one image")
    times = {name: [] for name in names}
    for _ in range(OPENINGS):
        for position, name in enumerate(names):
            page.evaluate("jupyterapp.commands.execute('notebook:clear-cell-output')")
            page.wait_for_timeout(400)
            page.evaluate("bench.clear()")
            page.keyboard.press("Control+Enter")
            page.evaluate("bench.wait(1)")
            times[name] += page.evaluate("bench.times.slice(0, 1)")
            page.wait_for_timeout(400)
            page.keyboard.press("Escape")
            page.keyboard.press("ArrowUp" if position else "ArrowDown")
    return times


def _ratios(times, opening):
    median = {name: statistics.median(series) for name, series in (times | opening).items()}
    ours = median[PANEL_HERE]
    panel, simple = (median[name] for name in opening)
    return {
        "panel / prompt echo (at most 3)": ours / median[PROMPT_ECHO],
        "panel / stock echo (below 1)": ours / median[STOCK_ECHO],
        "interact / panel (at least 10)": median[INTERACT] / ours,
        "opening / one slider and one image (below 1.5)": panel / simple,
    }
