"""Undo and redo go through the last fifty changes."""

from attnlib.explorers import changes
from attnlib.explorers.changes import MOST, Changes


def walked(history, way):
    return [getattr(history, way)() for _ in range(MOST + 5)]


def test_the_last_fifty_changes_can_be_undone_and_redone():
    history = Changes(0)
    for state in range(1, 81):
        history.record(state)
    back = walked(history, "undo")
    assert back[:MOST] == list(range(79, 29, -1))
    assert back[MOST:] == [30] * 5
    assert not history.can_undo
    assert walked(history, "redo")[:MOST] == list(range(31, 81))
    assert not history.can_redo


def test_a_new_change_forgets_what_was_undone():
    history = Changes("a")
    history.record("b")
    history.undo()
    history.record("c")
    assert not history.can_redo
    assert history.undo() == "a"


def test_a_drag_is_one_change():
    history = Changes(0)
    for state in range(1, 200):
        history.record(state, what=("Q", 0, 1))
    history.record(500, what=("Q", 0, 0))
    assert history.undo() == 199
    assert history.undo() == 0


def test_moves_of_one_slider_with_a_pause_between_are_two_changes(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(changes.time, "monotonic", lambda: now[0])
    history = Changes(0)
    history.record(1, what="Q")
    now[0] += 2 * changes.PAUSE
    history.record(2, what="Q")
    assert history.undo() == 1


def test_a_move_after_an_undo_is_a_change_of_its_own():
    history = Changes(0)
    history.record(1, what="Q")
    history.record(2, what="K")
    history.undo()
    history.record(3, what="Q")
    assert history.undo() == 1
