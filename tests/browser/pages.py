"""What a person does in a notebook and sees in a panel, as functions of a page in a browser."""

import base64
import io
import itertools
import re
from contextlib import contextmanager
from types import SimpleNamespace

import nbformat
import numpy as np
from PIL import Image

SCRATCH = (
    "from attnlib.explorers import HeadExplorer\nexplorers = []",
    "explorer = HeadExplorer()\nexplorers.append(explorer)\nexplorer",
    "# what a test wants to know from the kernel",
)
PANEL_CELL, ASKING_CELL = 1, 2
# Tracebacks and warnings; JupyterLab marks both alike.
ERROR = ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"
# Before that JupyterLab says "Idle" already, and forgets what it is told to run.
KERNEL_ANSWERS = """async () => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.connectionStatus === "connected" && Boolean(await kernel.info);
}"""
# Every picture that a panel shows from here on, and what stands there at each frame of the screen.
WATCH = """(panel) => {
  const image = panel.querySelector("img.attnlib-picture");
  const seen = { pictures: 0, frames: 0, gone: 0, heights: [panel.offsetHeight] };
  new MutationObserver(() => seen.pictures++).observe(image, { attributeFilter: ["src"] });
  const frame = () => {
    if (!panel.isConnected) return;
    seen.frames++;
    // Until a new picture is complete, the browser goes on painting the one before it.
    const broken = image.complete && !image.naturalWidth;
    if (!image.isConnected || broken || !image.clientHeight) seen.blanks++;
    if (!seen.heights.includes(panel.offsetHeight)) seen.heights.push(panel.offsetHeight);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  panel.seen = seen;
}"""
# The bytes behind the picture that is on screen.
READ_PICTURE = """async (image) => {
  // The next picture takes this one's address away.
  const answer = await fetch(image.src).catch(() => new Response());
  const bytes = new Uint8Array(await answer.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}"""


def scratch_notebook(path):
    """Write a notebook with one explorer, and a cell below it for questions."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in SCRATCH])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, path)


def lab_address(path):
    """Where JupyterLab shows a notebook and nothing that was open before."""
    return f"lab/workspaces/{re.sub('[^a-z0-9]', '-', path)}/tree/{path}"


def wait_until(page, holds, what):
    """Wait for what has to be asked for: to `wait_for_function` any promise is a yes."""
    for _ in range(600):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"waited in vain until {what}")


class Notebook:
    """A notebook that is open in JupyterLab or Notebook 7.

    Parameters
    ----------
    page : playwright.sync_api.Page
        Where it is open.
    """

    def __init__(self, page):
        self.page = page
        self._asked = itertools.count()
        # Several may be open in a tab each.
        self.root = page.locator(".jp-Notebook:visible")
        self.cells = self.root.locator(".jp-Cell")
        self.cells.first.wait_for()

    def menu(self, *names):
        """Choose from the menus."""
        for name in names:
            # Entries that open a menu of their own have no role.
            entry = self.page.locator(".lm-MenuBar-itemLabel:visible, .lm-Menu-itemLabel:visible")
            entry.filter(has_text=re.compile(f"^{re.escape(name)}$")).click()

    def run_all(self):
        """Run all cells by the menu, once there is a kernel to run them."""
        wait_until(self.page, lambda: self.page.evaluate(KERNEL_ANSWERS), "the kernel answers")
        self.menu("Run", "Run All Cells")

    def panel(self):
        """The panel, when it can be used."""
        panels = self.root.locator(".attnlib-panel")
        panels.or_(self.root.locator(ERROR)).last.wait_for()
        assert self.errors() == []
        found = Panel(panels.last)
        found.ready()
        return found

    def run_cell(self, index):
        """Run one cell where it stands."""
        self.cells.nth(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def fresh_panel(self):
        """Run the panel's cell once more, and return the new panel."""
        panels = self.root.locator(".attnlib-panel")
        panels.evaluate_all("all => all.forEach((panel) => panel.classList.add('old'))")
        self.run_cell(PANEL_CELL)
        self.root.locator(".attnlib-panel:not(.old)").wait_for()
        return self.panel()

    def start(self, code):
        """Have code run in the lowest cell; return the cell at once."""
        cell = self.cells.nth(ASKING_CELL)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Control+Enter")
        return cell

    def ask(self, code):
        """Run code in the lowest cell and return what it printed."""
        end = f"end of answer {next(self._asked)}"
        cell = self.start(f"{code}\nprint('{end}')")
        output, failed = cell.locator(".jp-OutputArea-output pre"), cell.locator(ERROR)
        output.filter(has_text=end).or_(failed).last.wait_for()
        assert failed.count() == 0, failed.all_inner_texts()
        printed = output.all_inner_texts()
        return "\n".join(printed).strip().removesuffix(end).strip()

    def active(self):
        """Which cell is active, and how many there are."""
        classes = self.cells.evaluate_all("all => all.map((cell) => cell.className)")
        return [each.split().count("jp-mod-active") for each in classes]

    def errors(self):
        """Tracebacks and warnings, anywhere in the notebook."""
        return self.root.locator(ERROR).all_inner_texts()


class Panel:
    """One explorer's panel.

    Parameters
    ----------
    root : playwright.sync_api.Locator
        Its outermost element.
    """

    def __init__(self, root):
        self.root, self.page = root, root.page
        self.image = root.locator("img.attnlib-picture")
        self.summary = root.locator(".attnlib-summary")
        self.refusal = root.locator(".attnlib-refusal")
        self.tables = root.locator(".widget-html-content").filter(has_text="dWeights")

    def ready(self):
        """Wait until sliders and picture are there."""
        self.root.scroll_into_view_if_needed()
        self.slider("V, value 0, feature 0").wait_for()
        self.page.wait_for_function(
            "image => image.complete && image.naturalWidth > 0", arg=self.image.element_handle()
        )

    def slider(self, name):
        """The handle of one entry."""
        return self.root.get_by_role("slider", name=name, exact=True)

    def typed(self, name):
        """The field in which one entry can be typed."""
        return self.root.get_by_role("spinbutton", name=f"{name}, typed", exact=True)

    def value(self, name):
        """What handle and field say; they must agree."""
        handle, field = (float(x.input_value()) for x in (self.slider(name), self.typed(name)))
        assert handle == field
        return handle

    def watch(self):
        """Keep a record of what is on screen."""
        self.root.evaluate(WATCH)

    def seen(self):
        """The record: how many pictures, frames, frames without one, and heights of the panel."""
        return SimpleNamespace(**self.root.evaluate("panel => panel.seen"))

    @contextmanager
    def filmed(self):
        """Collect what the screen shows of the picture, frame by frame, while the block runs."""
        film = []
        shown = self.page.context.new_cdp_session(self.page)

        def keep(frame):
            film.append(base64.b64decode(frame["data"]))
            shown.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

        shown.on("Page.screencastFrame", keep)
        shown.send("Page.startScreencast", {"format": "jpeg", "quality": 60})
        box = self.image.bounding_box()
        edges = [round(box[side]) for side in ("x", "y")]
        edges += [edges[0] + round(box["width"]), edges[1] + round(box["height"])]
        frames = []
        yield frames
        shown.send("Page.stopScreencast")
        shown.detach()
        frames += [np.array(Image.open(io.BytesIO(x)).convert("RGB").crop(edges)) for x in film]

    def source(self):
        """What names the picture on screen; each new picture has a new name."""
        return self.image.get_attribute("src")

    def png(self):
        """The picture on screen, as it came from the kernel."""
        return base64.b64decode(self.image.evaluate(READ_PICTURE))

    def pixels(self):
        """The part of the screen where the picture is, [height, width, 3] bytes."""
        return np.array(Image.open(io.BytesIO(self.image.screenshot())).convert("RGB"))

    def wait_for_another_picture(self, source):
        """Wait until a picture other than the named one is loaded."""
        self.page.wait_for_function(
            "([image, source]) => image.src !== source && image.complete",
            arg=[self.image.element_handle(), source],
        )

    def wait_for_picture(self, png):
        """Wait until the picture on screen is this one, to the last bit."""
        wait_until(self.page, lambda: self.png() == png, "this picture is on screen")

    def press(self, name, key):
        """Press a key on a slider, and wait for the picture that it brings."""
        before = self.source()
        self.slider(name).press(key)
        self.wait_for_another_picture(before)

    def press_width(self, key):
        """Press a key on the slider of d_k, and wait for the picture that it brings."""
        before = self.source()
        self.root.get_by_role("slider", name="d_k").press(key)
        self.wait_for_another_picture(before)

    def type(self, name, text):
        """Type a value and press Enter."""
        self.typed(name).fill(text)
        self.typed(name).press("Enter")
