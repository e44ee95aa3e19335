"""The saved notebooks with no kernel: as pages of their own, and as JupyterLab opens them."""

import os
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

from tests import chapters
from tests.browser.pages import Notebook, lab_address, wait_until

# Where Debian's libjs-mathjax puts it; the folder of another copy of version 2 can be named.
MATHJAX = Path(os.environ.get("ATTNLIB_MATHJAX", "/usr/share/javascript/mathjax")) / "MathJax.js"
# A picture is there and has more than one colour, as the browser has decoded it.
IS_SEEN = """async (image) => {
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  return image.clientWidth > 0 && new Set(new Uint32Array(data.buffer)).size > 1;
}"""
HAS_BORDERS = """(table) => [table, ...table.querySelectorAll("td, td *")].some((part) => {
  const { borderTopWidth, borderTopStyle } = getComputedStyle(part);
  return borderTopStyle !== "none" && parseFloat(borderTopWidth) > 0;
})"""
IS_TYPESET = "() => window.MathJax?.isReady && !MathJax.Hub.queue.pending"
# What is read, without MathJax's own copies for those who don't see it.
PROSE = """(part) => {
  const copy = part.cloneNode(true);
  const hidden = "script, code, mjx-assistive-mml, .MJX_Assistive_MathML, .MathJax_Preview";
  copy.querySelectorAll(hidden).forEach((each) => each.remove());
  return copy.textContent;
}"""


class Page:
    """A notebook as nbconvert writes it, opened as a file, with no web within reach.

    Parameters
    ----------
    browser : playwright.sync_api.Browser
        Where it is opened.
    notebook, folder : pathlib.Path
        What is shown, and where its page is written.
    mathjax : str
        The address of MathJax.
    """

    def __init__(self, browser, notebook, folder, mathjax):
        exporter = HTMLExporter(mathjax_url=mathjax)
        html, _ = exporter.from_notebook_node(nbformat.read(notebook, as_version=4))
        path = folder / f"{notebook.stem}.html"
        path.write_text(html, encoding="utf-8")
        self.page = browser.new_page(viewport={"width": 1100, "height": 900})
        self.page.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
        self.page.goto(path.as_uri(), wait_until="load")
        self.outputs = self.page.locator(".jp-OutputArea-output")
        self.prose = self.page.locator(".jp-MarkdownOutput")

    def all_are(self, locator, holds):
        """Ask every element a question in JavaScript; return those that say no."""
        return [part for part in locator.all() if not part.evaluate(holds)]


@pytest.fixture(scope="module", params=chapters.NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return request.param


@pytest.fixture(scope="module")
def saved(chromium, notebook, tmp_path_factory):
    """The notebook's page where MathJax is out of reach."""
    folder = tmp_path_factory.mktemp("pages")
    opened = Page(chromium, notebook, folder, "https://example.org/MathJax.js")
    yield opened
    opened.page.close()


class TestAsAPage:
    def test_nothing_is_blank(self, saved):
        assert saved.outputs.locator("img, table").count() > 0
        assert saved.all_are(saved.outputs.locator("img"), IS_SEEN) == []
        for output in saved.outputs.all():
            assert output.inner_text().strip() or output.locator("img").count()
            assert output.bounding_box()["height"] > 0
        assert all(len(words.strip()) > 20 for words in saved.prose.all_inner_texts())

    def test_tables_keep_their_borders(self, saved):
        assert saved.all_are(saved.outputs.locator("table"), HAS_BORDERS) == []

    def test_nothing_is_wider_than_the_page(self, saved):
        width = saved.page.evaluate("document.documentElement.scrollWidth")
        assert width <= saved.page.viewport_size["width"]

    @pytest.mark.skipif(
        not MATHJAX.is_file(), reason=f"no {MATHJAX}: apt-get install libjs-mathjax"
    )
    def test_no_equation_is_raw_tex_where_mathjax_is_at_hand(self, chromium, notebook, tmp_path):
        address = f"{MATHJAX.as_uri()}?config=TeX-AMS_CHTML-full,Safe"
        opened = Page(chromium, notebook, tmp_path, address)
        opened.page.wait_for_function(IS_TYPESET)
        assert raw_tex(opened.prose) == []
        assert opened.page.locator(".mjx-merror, .merror, .MathJax_Error").count() == 0
        opened.page.close()


def raw_tex(prose):
    """Return the texts that still show dollars or commands of TeX."""
    return [
        words for words in (part.evaluate(PROSE) for part in prose.all()) if set("$\\") & set(words)
    ]


class TestInJupyterLab:
    def test_every_equation_is_typeset_before_any_cell_is_run(self, visit, server, notebook):
        page = visit(lab_address(f"notebooks/{notebook.name}"))
        shown = Notebook(page)
        prose = shown.root.locator(".jp-RenderedMarkdown")
        copied = server.work / "notebooks" / notebook.name
        texts = [text for _, text in chapters.prose(chapters.load(copied))]
        wait_until(page, lambda: prose.count() == len(texts), "all texts are there")
        # A text is empty for a moment before it is filled, and then holds no raw TeX either.
        least = sum("$" in text for text in texts)
        typeset = prose.locator("mjx-container")
        wait_until(page, lambda: typeset.count() >= least, "equations are typeset")
        wait_until(page, lambda: raw_tex(prose) == [], "all equations are typeset")
        assert shown.root.locator("mjx-merror, [data-mjx-error]").count() == 0


PLANTED = """
<div class="jp-OutputArea-output"><table><tr><td>0.5</td></tr></table>
<img src="data:image/gif;base64,R0lGODdhAQABAIABAP///wAAACwAAAAAAQABAAACAkQBADs="></div>
<div class="jp-MarkdownOutput">Half: <code>$a</code> <span class="MathJax_Preview">$b$</span></div>
<div class="jp-MarkdownOutput">Half: $d_k$</div><div class="jp-MarkdownOutput">\\frac 12</div>
"""


class TestPlantedMistakes:
    @pytest.fixture
    def page(self, chromium):
        page = chromium.new_page()
        page.set_content(PLANTED)
        yield page
        page.close()

    def test_a_picture_of_one_colour_would_be_seen(self, page):
        assert page.locator("img").evaluate(IS_SEEN) is False

    def test_a_table_without_borders_would_be_seen(self, page):
        assert page.locator("table").evaluate(HAS_BORDERS) is False
        page.locator("td").evaluate("cell => cell.style.border = '2px dashed black'")
        assert page.locator("table").evaluate(HAS_BORDERS) is True

    def test_raw_tex_would_be_seen_but_for_code_and_hidden_copies(self, page):
        assert raw_tex(page.locator(".jp-MarkdownOutput")) == ["Half: $d_k$", "\\frac 12"]
