"""The saved notebooks, read as the tests read them: cells by section, outputs as text."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
ENTRANCE = "00_start_here"
COLLECTION = (
    ENTRANCE,
    "01_predict_what_each_query_retrieves",
    "02_scale_normalize_and_mix",
    "03_choose_the_scale",
    "04_keep_queries_and_keys_apart",
    "05_send_gradients_back",
    "06_from_one_context_to_every_pair",
    "07_trace_every_number",
    "08_build_your_own_head",
    "09_go_beyond_the_grid",
    "10_open_a_real_head",
)
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CHAPTERS = [path for path in NOTEBOOKS if path.stem != ENTRANCE]


def load(path):
    """Return a notebook as plain dicts, as they stand in the file."""
    return json.loads(path.read_text(encoding="utf-8"))


def text_of(lines):
    """Return a text that a notebook may keep as a list of lines."""
    return lines if isinstance(lines, str) else "".join(lines)


def source(cell):
    """Return what was typed into a cell."""
    return text_of(cell["source"])


def data(output, kind):
    """Return one form of an output as text; empty where it has none."""
    return text_of(output.get("data", {}).get(kind, ""))


def code_cells(notebook):
    """Return the code cells, in order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def prose(notebook):
    """Return the id and the text of each Markdown cell."""
    return [(x["id"], source(x)) for x in notebook["cells"] if x["cell_type"] == "markdown"]


def without_code(text):
    """Return Markdown without its code, fenced or in the line."""
    return re.sub(r"`[^`\n]*`", " ", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def headings(text):
    """Return the level and the words of each heading in a piece of Markdown."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    found = re.findall(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*$", text, flags=re.M)
    return [(len(marks), words) for marks, words in found]


def with_sections(notebook):
    """Return each cell with the `##` heading that it stands under."""
    placed, section = [], None
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            seconds = [words for level, words in headings(source(cell)) if level == 2]
            section = seconds[-1] if seconds else section
        placed.append((section, cell))
    return placed


class _Words(HTMLParser):
    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.words = []
        self.feed(html)
        self.close()

    def handle_data(self, data):
        self.words.append(data)


def words_of(html):
    """Return the text of a piece of HTML, what stood between two tags apart from the rest."""
    return " ".join(_Words(html).words)


def shown(output):
    """Return all that an output says in words: its text, its table, its picture's description."""
    if output["output_type"] == "stream":
        return text_of(output["text"])
    return "\n".join([data(output, "text/plain"), words_of(data(output, "text/html"))]).strip()
