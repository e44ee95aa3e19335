"""A slider's message moves the slider, and runs none of IPython's hooks for cells."""

import IPython
import ipywidgets as widgets
import pytest

from attnlib.explorers import HeadExplorer
from attnlib.explorers.messages import keep_apart_from_cells


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
