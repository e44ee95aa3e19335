"""The notebooks' contract: one skeleton, text around each code cell, short and plain code."""

import ast
import copy
import re
import tokenize
from collections import Counter
from io import StringIO

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import v4

from tests import chapters
from tests.chapters import data, headings, source, without_code

SKELETON = ["Predict", "Explore", "Explain", "Check yourself", "Recap", "Next"]
OPENING = ["**You will**", "**You will learn**", "**You need**"]
LONGEST_CELL, USUAL_CELL = 12, 3
USUAL_SHARE = 0.9
QUESTIONS = 20
EXERCISE = "exercise"
PANELS = ("Explorer", "Gallery")
# What tells a reader who does not follow that the fault is theirs.
SLIGHTING = re.compile(
    r"\b(just|simply|clearly|plainly|obvious(?:ly)?|evident(?:ly)?|self-evident|trivial(?:ly)?|"
    r"of course|needless to say|as (?:you|we all) know|it is easy to see)\b",
    flags=re.IGNORECASE,
)
# A chapter looks as attnlib.views.style says, all through.
LOOKS = {"color", "colors", "colour", "c", "cmap", "figsize", "dpi", "fontsize", "style", "layout"}
DRAWING = {"matplotlib", "ipywidgets", "anywidget", "traitlets", "IPython", "PIL"}
LOGIC = ast.For | ast.While | ast.If | ast.Match | ast.Try | ast.With
SEEDED = {"default_rng", "Generator", "SeedSequence"}


# The skeleton: of the chapters, not of the entrance.


def frame_faults(notebook, name):
    """Return where a chapter leaves the skeleton."""
    found = []
    everything = "\n\n".join(text for _, text in chapters.prose(notebook))
    heads = headings(everything)
    if [words for level, words in heads if level == 2] != SKELETON:
        found.append(f"the ## headings are not {' · '.join(SKELETON)}")
    titles = [words for level, words in heads if level == 1]
    # A verb may come before: "06_from_one ..." is "Go from one ...".
    if len(titles) != 1 or not slug(titles[0]).endswith(name[3:]):
        found.append(f"not one title, or one that does not say the file's name: {titles}")
    opening = source(notebook["cells"][0])
    places = [opening.find(mark) for mark in OPENING]
    if -1 in places or places != sorted(places):
        found.append(f"the first cell does not say {', '.join(OPENING)} in this order")
    if "**You have**" not in section_text(notebook, "Recap"):
        found.append("the recap does not say **You have**")
    return found + question_faults(notebook) + next_faults(notebook, name)


def slug(title):
    """Return a title as it stands in a file's name."""
    return "_".join(re.findall(r"[a-z0-9]+", title.lower()))


def section_text(notebook, heading):
    """Return the prose under one `##` heading."""
    everything = "\n\n".join(text for _, text in chapters.prose(notebook))
    parts = re.split(r"^## +", everything, flags=re.M)[1:]
    return "\n".join(part for part in parts if part.startswith(heading + "\n"))


def question_faults(notebook):
    """Return a phrase if a chapter starts without a prediction."""
    asked = [section for section, cell in chapters.with_sections(notebook) if questions(cell)]
    return [] if "Predict" in asked else ["nothing is asked under Predict"]


def questions(cell):
    """Return the names of the predictions that a cell asks for."""
    if cell["cell_type"] != "code":
        return []
    return re.findall(r"predictions\.ask\(\s*[\"']([a-z-]+)[\"']", source(cell))


def next_faults(notebook, name):
    """Return which links are missing under Next."""
    place = chapters.COLLECTION.index(name) if name in chapters.COLLECTION else None
    following = chapters.COLLECTION[place + 1 :][:1] if place is not None else ()
    text = section_text(notebook, "Next")
    wanted = [*following, chapters.ENTRANCE]
    return [f"no link to {x} under Next" for x in wanted if f"]({x}.ipynb" not in text]


# The cells: of every notebook.


def cell_faults(notebook, name):
    """Return what is wrong with the cells, each phrase with the cell's id."""
    found = []
    for place, cell in enumerate(notebook["cells"]):
        faulty = [] if is_named(cell, name) else ["an id that does not say what the cell is for"]
        if cell["cell_type"] == "code":
            faulty += around_faults(notebook["cells"], place) + source_faults(cell)
            faulty += output_faults(cell)
        else:
            faulty += [f"the word {x!r}" for x in SLIGHTING.findall(without_code(source(cell)))]
        found += [f"{fault} (cell {cell.get('id')})" for fault in faulty]
    return found + explorer_faults(notebook)


def is_named(cell, name):
    """Whether an id is the chapter's number and words."""
    return re.fullmatch(rf"{name[:2]}(-[a-z0-9]+)+", cell.get("id", "")) is not None


def around_faults(cells, place):
    """Return a phrase where no sentence leads into a code cell, or none says what it showed."""
    found = []
    before = source(cells[place - 1]) if place else ""
    if not place or cells[place - 1]["cell_type"] != "markdown":
        found.append("no text cell before it")
    elif not re.search(r"[:.?!][*_)\"”]*$", last_line(before)) or is_block(last_line(before)):
        found.append("no sentence leads into it")
    after = cells[place + 1] if place + 1 < len(cells) else None
    if after is None or after["cell_type"] != "markdown":
        found.append("no text cell after it")
    elif source(after).lstrip().startswith("#"):
        found.append("a heading follows, and no word on what it showed")
    return found


def last_line(text):
    """Return the last line that says something."""
    return text.rstrip().splitlines()[-1].strip() if text.strip() else ""


def is_block(line):
    """Whether a line is a heading, a row of a table, or the end of a formula or of code."""
    return line.startswith(("#", "|", "```")) or line.endswith(("$$", "```"))


def source_faults(cell):
    """Return what is wrong with the code of one cell."""
    text = source(cell)
    if TransformerManager().transform_cell(text).strip() != text.strip():
        return ["a magic"]
    found = []
    if any(token.string == ";" for token in tokenize.generate_tokens(StringIO(text).readline)):
        found.append("a ;")
    if len(text.splitlines()) > LONGEST_CELL:
        found.append("more than twelve lines")
    return found + [
        fault
        for node in ast.walk(ast.parse(text))
        for fault in node_faults(node, cell["metadata"].get("tags", []))
    ]


def node_faults(node, tags):
    """Return what is wrong with one node of a cell's syntax."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return [] if EXERCISE in tags else ["a def, class or lambda outside an exercise"]
    if isinstance(node, LOGIC):
        return [] if EXERCISE in tags else ["a loop, branch or try outside an exercise"]
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [getattr(node, "module", None) or alias.name for alias in node.names]
        libraries = {name.split(".")[0] for name in names}
        drawn = libraries & DRAWING
        return ["an import of what draws"] * bool(drawn) + ["an unseeded random"] * (
            "random" in libraries
        )
    if isinstance(node, ast.Attribute):
        dotted = ast.unparse(node)
        if dotted in ("sys.path", "os.chdir"):
            return ["an edit of the paths"]
        if re.search(r"\brandom\.\w+$", dotted) and node.attr not in SEEDED:
            return ["an unseeded random"]
    if isinstance(node, ast.Call):
        if ast.unparse(node.func).endswith("default_rng") and not node.args + node.keywords:
            return ["an unseeded random"]
        if ast.unparse(node.func) == "get_ipython":
            return ["a magic"]
        return ["a colour or a layout"] * any(x.arg in LOOKS for x in node.keywords)
    return []


def output_faults(cell):
    """Return what is wrong with what a cell shows."""
    outputs = cell["outputs"]
    said = [chapters.shown(output) for output in outputs]
    if EXERCISE in cell["metadata"].get("tags", []) and not outputs:
        return []
    visual = [x for x in outputs if data(x, "image/png") or data(x, "text/html")]
    if not outputs or not all(x in visual or text for x, text in zip(outputs, said, strict=True)):
        return ["it shows nothing"]
    if any(re.search(r"<[\w. ]+ object( at 0x\w+)?>|\bat 0x[0-9a-f]{6,}", text) for text in said):
        return ["an object's address in place of what it is"]
    if not all(is_sentence(data(output, "text/plain")) for output in visual):
        return ["a picture or a page that no sentence describes"]
    return []


def is_sentence(text):
    """Whether a text has words enough to say what a picture shows, and an end."""
    return len(re.findall(r"\w+", text)) >= 5 and text.rstrip().endswith((".", "!", "?"))


def explorer_faults(notebook):
    """Return the explorers that have no picture or table of their own above them."""
    found, above = [], []
    for section, cell in chapters.with_sections(notebook):
        if cell["cell_type"] != "code":
            continue
        if makes_explorer(cell):
            if section not in above:
                found.append(f"no picture or table above the explorer (cell {cell['id']})")
            above = []
        elif any(is_still(output) for output in cell["outputs"]):
            above = [section]
    return found


def tree(cell):
    """Return the syntax of a cell, magics turned into the calls that they stand for."""
    return ast.parse(TransformerManager().transform_cell(source(cell)))


def makes_explorer(cell):
    """Whether a cell constructs an explorer."""
    calls = [x.func for x in ast.walk(tree(cell)) if isinstance(x, ast.Call)]
    return any(ast.unparse(function).endswith(PANELS) for function in calls)


def is_still(output):
    """Whether an output shows a picture or a table without a kernel."""
    return bool(data(output, "image/png")) or "<table" in data(output, "text/html")


# The collection.


def usual_share(notebooks):
    """Return the share of code cells that have at most three lines besides their imports."""
    cells = [cell for notebook in notebooks for cell in chapters.code_cells(notebook)]
    short = [lines_to_follow(cell) <= USUAL_CELL for cell in cells]
    return sum(short) / max(len(short), 1)


def lines_to_follow(cell):
    """Return how many lines of a cell do something, so that a reader must follow them."""
    lines = source(cell).splitlines()
    imports = [x for x in tree(cell).body if isinstance(x, ast.Import | ast.ImportFrom)]
    return len([line for line in lines if line.strip()]) - sum(
        node.end_lineno - node.lineno + 1 for node in imports
    )


@pytest.mark.parametrize("path", chapters.NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_keeps_the_rules(path):
    found = cell_faults(chapters.load(path), path.stem)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", chapters.CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_has_the_skeleton(path):
    found = frame_faults(chapters.load(path), path.stem)
    assert not found, "\n".join(found)


class TestTheCollection:
    notebooks = tuple(map(chapters.load, chapters.NOTEBOOKS))

    def test_nine_code_cells_in_ten_have_three_lines_at_most_besides_imports(self):
        assert usual_share(self.notebooks) >= USUAL_SHARE

    def test_twenty_questions_or_more_are_asked(self):
        cells = [cell for notebook in self.notebooks for cell in notebook["cells"]]
        assert len({name for cell in cells for name in questions(cell)}) >= QUESTIONS

    def test_no_cell_of_one_notebook_has_the_id_of_another(self):
        ids = Counter(cell["id"] for notebook in self.notebooks for cell in notebook["cells"])
        assert [name for name, times in ids.items() if times > 1] == []


def sound():
    """Return a chapter without a fault."""
    ask = "from attnlib.explorers import predictions\npredictions.ask('raw-scores')"
    opening = "**You will** look.\n\n**You will learn** it.\n\n**You need** time."
    following = "[Next](04_keep_queries_and_keys_apart.ipynb), [map](00_start_here.ipynb)."
    cells = [
        text("title", f"# Choose the scale\n\n{opening}"),
        text("predict", "## Predict\n\nWhat will come out?"),
        code("ask", ask, said("Not answered yet.")),
        text("ask-read", "Now look.\n\n## Explore\n\nA picture:"),
        code("still", "figures.forward_figure(head)", picture("Each query reads one key.")),
        text("still-read", "Each row sums to 1. The same, live:"),
        code("live", "ScaleExplorer(key_width=4)", said("ScaleExplorer(tokens=2)")),
        text("live-read", "It moves.\n\n## Explain\n\n$$S=R/d$$\n\nIn code:"),
        code("scale", "head.scale", said("0.5")),
        text("rest", "Half.\n\n## Check yourself\n\nDo.\n\n## Recap\n\n**You have** looked."),
        text("next", f"## Next\n\n{following}"),
    ]
    return v4.new_notebook(cells=cells)


def text(name, words):
    return v4.new_markdown_cell(words, id=f"03-{name}")


def code(name, typed, output, tags=()):
    return v4.new_code_cell(typed, id=f"03-{name}", outputs=[output], metadata={"tags": [*tags]})


def said(words):
    return v4.new_output("execute_result", data={"text/plain": words})


def picture(words):
    return v4.new_output("execute_result", data={"image/png": "iVBORw0K", "text/plain": words})


def cell_of(notebook, name):
    """Return the cell of this name, and its place."""
    (found,) = (x for x in enumerate(notebook.cells) if x[1].id == f"03-{name}")
    return found


def rewrite(name, old, new):
    """Return a mistake: other words in one cell."""

    def plant(notebook):
        cell = cell_of(notebook, name)[1]
        assert old in cell.source
        cell.source = cell.source.replace(old, new)

    return plant


def typed(words):
    """Return a mistake: other code in one cell."""
    return lambda notebook: cell_of(notebook, "scale")[1].update(source=words)


def put(output, name="scale"):
    """Return a mistake: another output of one cell."""
    return lambda notebook: cell_of(notebook, name)[1].update(outputs=[output] if output else [])


def drop(name):
    """Return a mistake: one cell is gone."""
    return lambda notebook: notebook.cells.pop(cell_of(notebook, name)[0])


def insert(name, cell):
    """Return a mistake: one more cell, before another."""
    return lambda notebook: notebook.cells.insert(cell_of(notebook, name)[0], cell)


FRAME_MISTAKES = [
    ("headings", rewrite("predict", "## Predict", "## Guess")),
    ("headings", rewrite("rest", "## Recap", "### Recap")),
    ("headings", rewrite("rest", "## Check yourself", "## Aside\n\n## Check yourself")),
    ("headings", lambda notebook: notebook.cells.insert(0, notebook.cells.pop(-1))),
    ("title", rewrite("title", "# Choose the scale", "# The scale")),
    ("title", rewrite("next", "## Next", "## Next\n\n# Choose the scale")),
    ("You need", rewrite("title", "**You need**", "**You want**")),
    (
        "in this order",
        rewrite("title", "**You will learn** it", "**You need** v. **You will learn** it"),
    ),
    ("in this order", lambda notebook: notebook.cells.insert(0, notebook.cells[1])),
    ("You have", rewrite("rest", "**You have**", "**You will have**")),
    ("nothing is asked", rewrite("ask", "predictions.ask", "print")),
    ("no link to 04", rewrite("next", "04_keep", "05_keep")),
    ("no link to 00", rewrite("next", "00_start", "01_start")),
]
CELL_MISTAKES = [
    ("no text cell before", drop("still-read")),
    ("no text cell before", insert("title", code("first", "1", said("1")))),
    ("no sentence leads", rewrite("live-read", "In code:", "")),
    ("no sentence leads", rewrite("live-read", "In code:", "### In code.")),
    ("no sentence leads", rewrite("live-read", "In code:", "In code")),
    ("no text cell after", drop("live-read")),
    ("no text cell after", lambda notebook: notebook.cells.append(code("z", "1", said("1")))),
    ("a heading follows", rewrite("rest", "Half.\n\n", "")),
    ("the word 'just'", rewrite("still-read", "sums", "just sums")),
    ("the word 'Of course'", rewrite("still-read", "Each", "Of course each")),
    ("the word 'Obviously'", rewrite("still-read", "Each", "Obviously, each")),
    ("a magic", typed("%matplotlib inline\nhead.scale")),
    ("a magic", typed("!ls")),
    ("a magic", typed("head?")),
    ("a magic", typed("get_ipython().run_line_magic('time', '')")),
    ("a ;", typed("head.scale;")),
    ("a ;", typed("1; head.scale")),
    ("twelve lines", typed("x = 1\n" * 12 + "x")),
    ("a def", typed("def scale(width):\n    return width\nscale(2)")),
    ("a def", typed("class Scale:\n    pass\nScale")),
    ("a def", typed("list(map(lambda x: x, [1]))")),
    ("a loop", typed("for key in head.key:\n    print(key)")),
    ("a loop", typed("try:\n    head()\nexcept TypeError as error:\n    print(error)")),
    ("draws", typed("import matplotlib.pyplot as plt")),
    ("draws", typed("from ipywidgets import interact")),
    ("random", typed("import random\nrandom.random()")),
    ("random", typed("np.random.normal(size=3)")),
    ("random", typed("np.random.default_rng().normal()")),
    ("paths", typed("import sys\nsys.path.append('..')")),
    ("a colour", typed("figures.forward_figure(head, figsize=(3, 4))")),
    ("shows nothing", put(None)),
    ("shows nothing", put(said(""))),
    ("address", put(said("<Head object at 0x7f3a1c2b4d90>"))),
    ("address", put(said("<IPython.core.display.HTML object>"))),
    ("no sentence describes", put(picture("<Figure size 640x480>"), "still")),
    ("no sentence describes", put(picture(""), "still")),
    ("no picture or table", put(said("the weights of each query, in words."), "still")),
    ("no picture or table", rewrite("still-read", "The same", "\n\n## Explain\n\nThe same")),
    ("no picture or table", typed("attnlib.explorers.HeadExplorer()")),
    ("an id", lambda notebook: notebook.cells[1].update(id="04-predict")),
    ("an id", lambda notebook: notebook.cells[1].update(id="a1b2c3d4")),
]
NAME = "03_choose_the_scale"


def names(mistakes):
    return [f"{place}: {fault}" for place, (fault, _) in enumerate(mistakes)]


class TestPlantedMistakes:
    def test_a_sound_chapter_has_no_fault(self):
        assert frame_faults(sound(), NAME) + cell_faults(sound(), NAME) == []

    @pytest.mark.parametrize(("fault", "plant"), FRAME_MISTAKES, ids=names(FRAME_MISTAKES))
    def test_a_mistake_in_the_skeleton_is_named(self, fault, plant):
        notebook = copy.deepcopy(sound())
        plant(notebook)
        found = frame_faults(notebook, NAME)
        assert any(fault in phrase for phrase in found), found

    @pytest.mark.parametrize(("fault", "plant"), CELL_MISTAKES, ids=names(CELL_MISTAKES))
    def test_a_mistake_in_a_cell_is_named(self, fault, plant):
        notebook = sound()
        plant(notebook)
        found = cell_faults(notebook, NAME)
        assert any(fault in phrase for phrase in found), found

    @pytest.mark.parametrize(
        "cell",
        [
            code("own", "def scale(width):\n    return width", said("a"), tags=[EXERCISE]),
            code("rng", "np.random.default_rng(0).normal(size=3)", said("a")),
            code("semicolon", "'a;b'  # one; two", said("a;b")),
        ],
        ids=["a def in an exercise", "a seeded random", "a ; in a text"],
    )
    def test_what_is_allowed_has_no_fault(self, cell):
        assert source_faults(cell) == []

    def test_words_in_code_are_not_read(self):
        notebook = sound()
        rewrite("still-read", "sums", "`just` sums")(notebook)
        assert cell_faults(notebook, NAME) == []

    def test_long_cells_would_be_counted(self):
        long = v4.new_notebook(cells=[code("long", "x = 1\n" * 4, said("1"))])
        assert usual_share([long]) == 0
        assert usual_share([sound()]) == 1

    def test_imports_are_not_among_the_lines_to_follow(self):
        typed = "import numpy as np\nfrom a import (\n    b,\n)\n\nx = np.array(b)\nx.sum()"
        assert lines_to_follow(code("sum", typed, said("1"))) == 2
