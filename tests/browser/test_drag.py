"""A drag shows every state on its way that there is time for, and ends on the last one."""

from itertools import pairwise

import numpy as np
from playwright.sync_api import expect

from attnlib.explorers import HeadExplorer

ENTRY = "Q, query 0, feature 1"
OBSERVE = """
heard = []
entry = explorer.controls["Q"][0][1]
entry.observe(lambda change: heard.append(change.new), "value")
"""


def picture_at(value):
    explorer = HeadExplorer()
    explorer.controls["Q"][0][1].value = value
    return explorer.pictures["head"].value


def drag(panel, positions):
    """Take the handle and lead it to positions along the slider, 0 to 1; yield after each."""
    box = panel.slider(ENTRY).bounding_box()
    mouse, middle = panel.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + positions[0] * box["width"], middle)
    mouse.down()
    for position in positions[1:]:
        mouse.move(box["x"] + position * box["width"], middle)
        yield
    mouse.up()


def settled(scratch, panel):
    """The value that a drag has left, once the kernel has answered all that came before."""
    value = panel.value(ENTRY)
    panel.wait_for_picture(picture_at(value))
    pictures = panel.seen().pictures
    for _ in range(3):
        assert scratch.ask("print(explorer.head.query[0, 0, 1])") == str(value)
    assert panel.seen().pictures == pictures, "a picture came after the last one"
    return value


def test_two_hundred_steps_to_and_fro_end_on_the_last_and_leave_nothing_behind(scratch, panel):
    panel.watch()
    positions = 0.5 + 0.4 * np.sin(np.linspace(0, 12, 201))
    for _ in drag(panel, positions):
        pass
    value = settled(scratch, panel)
    assert value == float(panel.slider(ENTRY).input_value())
    assert panel.seen().pictures > 10


def test_states_come_in_the_order_of_the_hand_and_none_comes_twice(scratch, panel):
    scratch.ask(OBSERVE)
    panel.watch()
    panel.slider(ENTRY).press("Home")
    for _ in drag(panel, np.linspace(0.05, 0.95, 61)):
        pass
    value = settled(scratch, panel)
    heard = [float(x) for x in scratch.ask("print(*heard)").split()]
    assert heard[-1] == value
    assert all(later > earlier for earlier, later in pairwise(heard[1:]))


def ink(frame):
    """The share of a picture that is not paper."""
    return (frame.min(axis=2) < 200).mean()


def test_no_frame_on_screen_is_blank_and_the_panel_keeps_its_height(scratch, panel):
    panel.watch()
    height = panel.root.bounding_box()["height"]
    least = ink(panel.pixels()) / 2
    with panel.filmed() as frames:
        for _ in drag(panel, np.linspace(0.05, 0.95, 81)):
            pass
        settled(scratch, panel)
    assert len(frames) > 10
    assert [number for number, frame in enumerate(frames) if ink(frame) < least] == []
    assert panel.seen().gone == 0
    assert panel.seen().heights == [height]


def test_a_blank_frame_and_another_height_would_be_seen(panel):
    panel.watch()
    least = ink(panel.pixels()) / 2
    with panel.filmed() as frames:
        panel.image.evaluate("(image) => { image.src = 'data:,'; }")
        expect(panel.image).to_have_js_property("naturalWidth", 0)
        panel.pixels()
        panel.root.evaluate("(panel) => { panel.style.paddingTop = '40px'; }")
        panel.pixels()
    assert min(map(ink, frames)) < least
    assert len(panel.seen().heights) == 2


def test_a_drag_is_one_step_to_undo(panel):
    undo = panel.root.get_by_role("button", name="Undo")
    for _ in drag(panel, np.linspace(0.75, 0.95, 21)):
        pass
    panel.wait_for_picture(picture_at(panel.value(ENTRY)))
    undo.click()
    panel.wait_for_picture(picture_at(3.0))
    expect(undo).to_be_disabled()
    assert panel.value(ENTRY) == 3
