"""The notebooks as they are saved: run, whole, and free of what varies."""

import json
from collections import Counter

import pytest
from nbformat import v4

import notebooks as form
from tests import chapters


def faults(notebook):
    """Return what is wrong with a saved notebook, one phrase each."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    found = notebook_faults(notebook)
    if [cell["execution_count"] for cell in code] != list(range(1, len(code) + 1)):
        found.append("not run from top to bottom in a fresh kernel")
    for cell in code:
        faulty = output_faults(cell["outputs"])
        faulty += [] if "".join(cell["source"]).strip() else ["an empty code cell"]
        found += [f"{fault} (cell {cell.get('id')})" for fault in faulty]
    return found


def notebook_faults(notebook):
    """Return what is wrong with a notebook's frame."""
    found = []
    if (notebook["nbformat"], notebook["nbformat_minor"]) != (4, 5):
        found.append("not in notebook format 4.5")
    if notebook["metadata"] != form.METADATA:
        found.append("notebook metadata other than the kernel python3")
    ids = Counter(cell.get("id") for cell in notebook["cells"])
    if None in ids or max(ids.values()) > 1:
        found.append("a cell without an id of its own")
    if any(
        cell["metadata"] != form.lasting_metadata(cell["metadata"]) for cell in notebook["cells"]
    ):
        found.append("cell metadata that an author does not set")
    return found


def output_faults(outputs):
    """Return what is wrong with the outputs of one code cell."""
    found = []
    if any(output["output_type"] == "error" for output in outputs):
        found.append("an error")
    if any(output.get("name") == "stderr" for output in outputs):
        found.append("a warning")
    if any(form.WIDGET_VIEW in output.get("data", {}) for output in outputs):
        found.append("a widget whose kernel is gone")
    return found


def test_the_collection_is_whole_and_in_order():
    assert tuple(path.stem for path in chapters.NOTEBOOKS) == chapters.COLLECTION


@pytest.mark.parametrize("path", chapters.NOTEBOOKS, ids=lambda path: path.stem)
class TestEveryChapter:
    def test_it_is_saved_as_it_runs(self, path):
        assert faults(json.loads(path.read_text(encoding="utf-8"))) == []

    def test_saving_it_again_would_change_no_byte(self, path):
        text = path.read_text(encoding="utf-8")
        assert form.canonical(form.read(path)) == text

    def test_it_begins_with_its_title(self, path):
        first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
        assert first["cell_type"] == "markdown"
        assert "".join(first["source"]).startswith("# ")


def sound():
    """Return a notebook without a fault: one text cell, two code cells that were run."""
    cells = [
        v4.new_markdown_cell("# Add two numbers"),
        v4.new_code_cell("1 + 1", execution_count=1),
        v4.new_code_cell("2 + 2", execution_count=2),
    ]
    return v4.new_notebook(cells=cells, metadata=form.METADATA)


def output(kind, **contents):
    """Return a mistake: an output of this kind in the last cell."""
    return lambda notebook: notebook.cells[-1].outputs.append(v4.new_output(kind, **contents))


MISTAKES = {
    "not run": lambda notebook: notebook.cells[1].update(execution_count=None),
    "not run from top": lambda notebook: notebook.cells[2].update(execution_count=7),
    "format 4.5": lambda notebook: notebook.update(nbformat_minor=4),
    "kernel python3": lambda notebook: notebook.metadata.kernelspec.update(name="conda-env"),
    "metadata other than": lambda notebook: notebook.metadata.update(widgets={"state": {}}),
    "an id of its own": lambda notebook: notebook.cells[1].update(id=notebook.cells[2].id),
    "author does not set": lambda notebook: notebook.cells[1].metadata.update(collapsed=False),
    "empty code cell": lambda notebook: notebook.cells[-1].update(source="\n"),
    "an error": output("error", ename="ValueError", evalue="no", traceback=[]),
    "a warning": output("stream", name="stderr", text="RuntimeWarning: overflow"),
    "kernel is gone": output("display_data", data={form.WIDGET_VIEW: {"model_id": "0"}}),
}


class TestPlantedMistakes:
    def test_a_sound_notebook_has_no_fault(self):
        assert faults(sound()) == []

    @pytest.mark.parametrize("fault", MISTAKES)
    def test_a_mistake_is_named(self, fault):
        notebook = sound()
        MISTAKES[fault](notebook)
        assert any(fault in found for found in faults(notebook)), faults(notebook)
