"""The notebooks as a fresh kernel gives them, pictures included: `make notebooks` changes nothing.

nbval never compares pictures, and forgives outputs that are gone. Here one run of each notebook
is held to the file whole. Where matplotlib brings another FreeType, the edges of letters differ
by a shade; so two pictures are the same if no small square of them differs by more than edges do.
"""

import base64
import copy
import io
import json
from dataclasses import replace
from itertools import zip_longest

import matplotlib
import numpy as np
import pytest
from nbformat import v4
from PIL import Image

import notebooks as form
from attnlib.lessons import examples
from attnlib.views import figures
from tests import chapters

SQUARE = 16
SHADES = 28
"""Edges drawn by another rule of hinting differ by 26 of 255 at most, one digit by 30 or more."""


def differences(saved, fresh):
    """Return where a fresh run gives another notebook than the saved one."""
    found = []
    for one, other in zip_longest(saved["cells"], fresh["cells"]):
        if one is None or other is None:
            return [*found, "another number of cells"]
        pictures, others = (pop_pictures(cell) for cell in (one, other))
        if one != other:
            found.append(f"another text (cell {one['id']})")
        if len(pictures) != len(others) or not all(map(look_alike, pictures, others)):
            found.append(f"another picture (cell {one['id']})")
    return found


def pop_pictures(cell):
    """Take the pictures out of a cell's outputs, and return them."""
    data = [output.get("data", {}) for output in cell.get("outputs", [])]
    return [chapters.text_of(kinds.pop("image/png")) for kinds in data if "image/png" in kinds]


def look_alike(one, other):
    """Whether two pictures, as notebooks hold them, show the same."""
    first, second = (pixels(base64.b64decode(encoded)) for encoded in (one, other))
    if first.shape != second.shape:
        return False
    return float(np.max(np.abs(squares(first) - squares(second)))) <= SHADES


def pixels(png):
    """Return a picture's colours, [height, width, 3], on white where it is transparent."""
    picture = Image.open(io.BytesIO(png)).convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(white, picture).convert("RGB"), dtype=float)


def squares(picture):
    """Return the mean colour of each square of a picture, the edges filled up with white."""
    height, width, _ = picture.shape
    room = [(0, -height % SQUARE), (0, -width % SQUARE), (0, 0)]
    filled = np.pad(picture, room, constant_values=255)
    rows, columns = filled.shape[0] // SQUARE, filled.shape[1] // SQUARE
    return filled.reshape(rows, SQUARE, columns, SQUARE, 3).mean(axis=(1, 3))


@pytest.mark.parametrize("path", chapters.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_fresh_run_gives_the_notebook_as_it_is_saved(path):
    found = differences(chapters.load(path), json.loads(form.run(path)))
    assert not found, "\n".join(found)


def drawn(raised=0.0, **hinting):
    """Return the worked example's picture, the first number of Q raised."""
    example = examples.load("worked-example")
    query = example.query.copy()
    query[0, 0, 0] += raised
    with matplotlib.rc_context(hinting):
        png = figures.forward_figure(replace(example, query=query).head()).png()
    return base64.b64encode(png).decode()


def saved():
    """Return a notebook with one picture and one printed line."""
    picture = {"image/png": drawn(), "text/plain": "Scores."}
    outputs = [
        v4.new_output("execute_result", data=picture, metadata={"image/png": {"width": 512}}),
        v4.new_output("stream", text="0.125\n"),
    ]
    return v4.new_notebook(cells=[v4.new_code_cell("head", id="picture", outputs=outputs)])


MISTAKES = {
    "picture by one digit": lambda x: x.outputs[0].data.update({"image/png": drawn(0.01)}),
    "picture by its size": lambda x: x.outputs[0].data.update(
        {"image/png": base64.b64encode(figures.head_figure(*_head()).png()).decode()}
    ),
    "picture that is gone": lambda x: x.outputs[0].data.pop("image/png"),
    "text beside a picture": lambda x: x.outputs[0].data.update({"text/plain": "Weights."}),
    "text that is printed": lambda x: x.outputs[1].update(text="0.126\n"),
    "text by the picture's width": lambda x: x.outputs[0].metadata["image/png"].update(width=9),
    "text of the code": lambda x: x.update(source="tail"),
    "text that is gone": lambda x: x.outputs.pop(1),
}


def _head():
    example = examples.load("worked-example")
    head = example.head()
    return head, head.backward(example.grad_output), example.grad_output


class TestPlantedMistakes:
    def test_the_same_notebook_does_not_differ(self):
        assert differences(saved(), saved()) == []

    @pytest.mark.parametrize("fault", MISTAKES)
    def test_a_difference_is_named(self, fault):
        fresh = copy.deepcopy(saved())
        MISTAKES[fault](fresh.cells[0])
        (found,) = differences(saved(), fresh)
        assert found.startswith(f"another {fault.split()[0]}")

    def test_a_cell_more_is_named(self):
        fresh = saved()
        fresh.cells.append(v4.new_markdown_cell("More."))
        assert differences(saved(), fresh) == ["another number of cells"]

    @pytest.mark.parametrize("rule", ["none", "force_autohint"])
    def test_letters_drawn_with_other_edges_are_the_same_picture(self, rule):
        assert drawn(**{"text.hinting": rule}) != drawn()
        assert look_alike(drawn(**{"text.hinting": rule}), drawn())
