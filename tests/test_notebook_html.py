"""The notebooks as pages: whole without a kernel, converted by nbconvert."""

import base64
import functools
import io
import re

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter
from nbformat import v4
from PIL import Image

from tests import chapters
from tests.test_notebook_links import leads_somewhere

MATH = re.compile(r"\$\$.+?\$\$|(?<![\\$])\$(?![\s$]).+?(?<!\\)\$", flags=re.DOTALL)
BORDER = re.compile(
    r"border(?:-(?:top|right|bottom|left))?:\s*[1-9]\d*px (?:solid|dashed|double|dotted)"
)
CELLS = "main .jp-Cell"


def page_of(notebook, template="lab"):
    """Return a notebook as a page."""
    html, _ = HTMLExporter(template_name=template).from_notebook_node(notebook)
    return BeautifulSoup(html, features="html.parser")


@functools.cache
def pages(path):
    """Return a notebook, and its page in the look of JupyterLab and in the classic one."""
    notebook = nbformat.read(path, as_version=4)
    return notebook, page_of(notebook), page_of(notebook, "classic")


def image_faults(notebook, classic):
    """Return the pictures that are blank or have no description of their own.

    The classic page, since the other template of nbconvert forgets the alternative text.
    """
    found = []
    described = {
        chapters.data(output, "text/plain").strip()
        for cell in chapters.code_cells(notebook)
        for output in cell["outputs"]
    } - {""}
    for image in classic.select("img"):
        if image.get("alt", "").strip() not in described:
            found.append(f"a picture described as {image.get('alt')!r}")
        if is_blank(image["src"]):
            found.append("a picture with nothing in it")
    return found


def is_blank(source):
    """Whether an image's address holds no picture, or one of a single colour."""
    head, _, encoded = source.partition(";base64,")
    if head != "data:image/png" or not encoded:
        return True
    try:
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGB"))
    except OSError:
        return True
    return bool(np.all(pixels == pixels[0, 0]))


def output_faults(page):
    """Return what is wrong with the outputs of a page."""
    found = []
    for output in page.select(".jp-OutputArea-output"):
        if not output.get_text(strip=True) and output.select_one("img") is None:
            found.append("an output with nothing in it")
        if "Traceback (most recent call last)" in output.get_text():
            found.append("a traceback")
        for table in output.select("table"):
            if not any(
                BORDER.search(tag.get("style", "")) for tag in [table, *table.select("[style]")]
            ):
                found.append(f"a table without borders: {table.get_text(' ', strip=True)[:40]}")
    return found


def style_faults(notebook, page):
    """Return a phrase if tables lose the looks that they were saved with."""
    saved = [
        tag.get("style")
        for cell in chapters.code_cells(notebook)
        for output in cell["outputs"]
        for tag in BeautifulSoup(chapters.data(output, "text/html"), "html.parser").select("td, th")
    ]
    kept = [
        tag.get("style")
        for tag in page.select(".jp-OutputArea-output td, .jp-OutputArea-output th")
    ]
    return [] if saved == kept else ["tables that look other than they were saved"]


def explorer_faults(page):
    """Return the explorers with no picture or table between them and the heading above."""
    found, above = [], False
    for cell in page.select(CELLS):
        if cell.select_one("h2") is not None:
            above = False
        code = cell.select_one(".jp-CodeMirrorEditor, .jp-Editor")
        if code is not None and re.search(r"\w*(?:Explorer|Gallery)\(", code.get_text()):
            if not above:
                found.append(f"nothing above {code.get_text(strip=True)[-40:]}")
            above = False
        elif cell.select_one(".jp-OutputArea-output img, .jp-OutputArea-output table") is not None:
            above = True
    return found


def equation_faults(notebook, page):
    """Return the equations that don't reach MathJax as they were written."""
    # A table's cells and a paragraph's lines may be set in other white space.
    text = squeezed("".join(x.get_text() for x in page.select(".jp-MarkdownOutput")))
    found, rest = [], text
    for _, words in chapters.prose(notebook):
        for equation in MATH.findall(chapters.without_code(words)):
            if squeezed(equation) not in text:
                found.append(f"changed: {equation}")
            rest = rest.replace(squeezed(equation), "")
    for code in page.select(".jp-MarkdownOutput code"):
        rest = rest.replace(squeezed(code.get_text()), "")
    return found + [f"not between $: {x}" for x in re.findall(r"\\[A-Za-z]+|\$", rest)]


def squeezed(text):
    """Return a text without white space."""
    return re.sub(r"\s+", "", text)


def link_faults(page, path):
    """Return the links that lead nowhere."""
    ids = {tag["id"] for tag in page.select("[id]")}
    return [
        link["href"]
        for link in page.select("main a[href]")
        if link["href"].removeprefix("#") not in ids and not leads_somewhere(link["href"], path)
    ]


@pytest.mark.parametrize("path", chapters.NOTEBOOKS, ids=lambda path: path.stem)
class TestEveryPage:
    def test_no_picture_is_blank_and_each_is_described(self, path):
        notebook, _, classic = pages(path)
        assert image_faults(notebook, classic) == []

    def test_every_output_says_something_and_no_table_lost_its_borders(self, path):
        notebook, page, _ = pages(path)
        assert output_faults(page) + style_faults(notebook, page) == []

    def test_a_picture_or_a_table_stands_above_each_explorer(self, path):
        assert explorer_faults(pages(path)[1]) == []

    def test_its_equations_reach_mathjax_as_they_were_written(self, path):
        notebook, page, _ = pages(path)
        assert equation_faults(notebook, page) == []

    def test_its_links_lead_somewhere(self, path):
        assert link_faults(pages(path)[1], path) == []


def notebook(text="A line.", typed="head", **output):
    """Return a notebook of one text and one code cell."""
    outputs = [v4.new_output("execute_result", data=output)] if output else []
    cells = [v4.new_markdown_cell(text), v4.new_code_cell(typed, outputs=outputs)]
    return v4.new_notebook(cells=cells)


def png(*colours):
    """Return a picture of these grey columns, as a notebook holds it."""
    file = io.BytesIO()
    Image.fromarray(np.array([colours], dtype=np.uint8)).save(file, format="png")
    return base64.b64encode(file.getvalue()).decode()


def pictured(encoded, words="Two columns, one dark."):
    """Return a notebook with a picture, described by its metadata as the views do it."""
    made = notebook(**{"image/png": encoded, "text/plain": "Two columns, one dark."})
    made.cells[1].outputs[0].metadata = {"image/png": {"alt": words} if words else {}}
    return made


class TestPlantedMistakes:
    def test_a_described_picture_has_no_fault(self):
        sound = pictured(png(0, 255))
        assert image_faults(sound, page_of(sound, "classic")) == []

    @pytest.mark.parametrize(
        ("planted", "fault"),
        [
            (pictured(png(7, 7)), "nothing in it"),
            (pictured("iVBORw0K"), "nothing in it"),
            (pictured(png(0, 255), "Another picture."), "Another picture."),
            (pictured(png(0, 255), ""), "No description"),
        ],
    )
    def test_a_blank_picture_or_one_without_words_is_named(self, planted, fault):
        (found,) = image_faults(planted, page_of(planted, "classic"))
        assert fault in found

    @pytest.mark.parametrize(
        ("html", "fault"),
        [
            ("<div></div>", "nothing in it"),
            ("<p>Traceback (most recent call last): no</p>", "traceback"),
            ("<table><tr><td>0.5</td></tr></table>", "without borders"),
            ("<table style='border-spacing:3px'><tr><td>0.5</td></tr></table>", "without borders"),
        ],
    )
    def test_a_faulty_output_is_named(self, html, fault):
        (found,) = output_faults(page_of(notebook(**{"text/html": html})))
        assert fault in found

    def test_a_table_with_borders_has_no_fault_until_it_loses_them(self):
        table = "<table><tr><td style='border:2px dashed #1a1a1a'>0.5</td></tr></table>"
        sound = notebook(**{"text/html": table})
        page = page_of(sound)
        assert output_faults(page) + style_faults(sound, page) == []
        del page.select_one("td")["style"]
        assert len(output_faults(page)) == len(style_faults(sound, page)) == 1

    def test_an_explorer_without_a_picture_above_it_is_named(self):
        below = pictured(png(0, 255))
        below.cells.append(v4.new_code_cell("HeadExplorer(tokens=3)"))
        assert explorer_faults(page_of(below)) == []
        below.cells.insert(2, v4.new_markdown_cell("## Explore"))
        assert len(explorer_faults(page_of(below))) == 1
        assert len(explorer_faults(page_of(notebook(typed="ScaleExplorer()")))) == 1

    @pytest.mark.parametrize(
        "equation",
        [
            r"$$A=\begin{bmatrix}0&1\\2&3\end{bmatrix}$$",
            r"As $q_0k_0 < d_k$ and $q_1 * k_1 * 2$, so $\bar{O}_{if}$.",
            "$$\n\\sum_jA_{ij}=1\n$$",
            "| $a_b$ | $c_d$ |\n|---|---|\n| $e_f$ | `$ {g}` |",
        ],
    )
    def test_a_sound_equation_has_no_fault(self, equation):
        sound = notebook(equation)
        assert equation_faults(sound, page_of(sound)) == []

    @pytest.mark.parametrize(
        "equation", [r"\begin{bmatrix}1\end{bmatrix}", r"a \sqrt{d} b", "$ a", r"\\(\alpha\\)"]
    )
    def test_an_equation_outside_dollars_is_named(self, equation):
        raw = notebook(equation)
        assert equation_faults(raw, page_of(raw)) != []

    def test_an_equation_that_is_changed_on_the_way_is_named(self):
        sound = notebook(r"$$\begin{bmatrix}0\\1\end{bmatrix}$$")
        page = page_of(notebook(r"$$\begin{bmatrix}0\1\end{bmatrix}$$"))
        assert len(equation_faults(sound, page)) >= 1

    def test_a_link_that_leads_nowhere_is_named(self):
        page = page_of(notebook("# A\n\n[a](#A) [b](00_start_here.ipynb) [c](#B) [d](e.ipynb)"))
        assert link_faults(page, chapters.NOTEBOOKS[0]) == ["#B", "e.ipynb"]
