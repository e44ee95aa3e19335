"""A slider's message moves the slider, and runs none of IPython's hooks for cells."""

import IPython
import ipywidgets as widgets
import pytest

from attnlib.explorers import HeadExplorer, predictions
from attnlib.explorers.differences import DifferenceExplorer
from attnlib.explorers.gallery import MistakeGallery
from attnlib.explorers.history import HistoryExplorer
from attnlib.explorers.messages import keep_apart_from_cells
from attnlib.explorers.shapes import ShapeExplorer


class Shell:
    """Stands for the running shell: notes the hooks that are run."""

    def __init__(self):
        self.events, self.ran = self, []

    def trigger(self, hook):
        self.ran.append(hook)


@pytest.fixture
def shell(monkeypatch):
    shell = Shell()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    return shell


@pytest.fixture(autouse=True)
def comms_of_a_kernel(monkeypatch):
    from comm.base_comm import BaseComm

    class Comm(BaseComm):
        def publish_msg(self, *arguments, **keywords):
            """There is no browser to send to."""

    monkeypatch.setattr("comm.create_comm", Comm)


def parts_of(widget):
    """A panel's parts that the browser may send anything to, whatever boxes they stand in."""
    for child in getattr(widget, "children", ()):
        yield from parts_of(child)
    if not hasattr(widget, "children") and not isinstance(widget, widgets.HTML | widgets.Image):
        yield widget


def move(widget, **state):
    content = {"data": {"method": "update", "state": state, "buffer_paths": []}}
    widget.comm.handle_msg({"content": content, "buffers": []})


def test_an_ordinary_widget_runs_the_hooks(shell):
    slider = widgets.IntSlider()
    move(slider, value=3)
    assert (slider.value, shell.ran) == (3, ["pre_execute", "post_execute"])


def test_a_widget_kept_apart_runs_none_and_is_moved_all_the_same(shell):
    sliders = widgets.IntSlider(), widgets.IntSlider()
    keep_apart_from_cells(*sliders)
    for value, slider in enumerate(sliders, start=3):
        move(slider, value=value)
    assert ([slider.value for slider in sliders], shell.ran) == ([3, 4], [])


def test_no_part_of_an_explorer_runs_any(shell):
    explorer = HeadExplorer()
    desk = explorer.children[0]

    def move_part(name, **state):
        message = {"name": name, "state": state}
        data = {"method": "custom", "content": {"sent": [message]}}
        desk.comm.handle_msg({"content": {"data": data}, "buffers": []})

    move_part("Q", values=[[0, 2.5], [2, -1]], focused=[0, 1])
    move_part("K", pixel_ratio=2.0)
    move_part("V", focused=[1, 1])
    move_part("toolbar", key_width=3, tables=True)
    move_part("reader", chosen=["weights", 0, 1])
    move(explorer.controls["d_k"], value=4)
    assert shell.ran == []
    assert explorer.head.query.tolist() == [[[0, 2.5, 0, 0], [2, -1, 0, 0]]]
    assert explorer.reading.startswith("Weight[q₀, k₁]")


@pytest.mark.parametrize(
    "make",
    [ShapeExplorer, HistoryExplorer, DifferenceExplorer, MistakeGallery],
    ids=lambda make: make.__name__,
)
def test_no_other_explorer_runs_any_either(shell, make):
    parts = list(parts_of(make()))
    assert parts
    for part in parts:
        part.comm.handle_msg({"content": {"data": {"method": "request_state"}}, "buffers": []})
    assert shell.ran == []


def test_neither_does_a_question(shell):
    form = predictions.ask("moved-key")
    form.comm.handle_msg({"content": {"data": {"method": "request_state"}}, "buffers": []})
    assert shell.ran == []
