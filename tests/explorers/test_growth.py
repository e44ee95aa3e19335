"""The growth panel measures when asked, says how far it is, stops when told, hides no fault."""

import threading

import pytest

from attnlib.explorers import growth
from attnlib.explorers.growth import GrowthExplorer
from attnlib.lessons.growth import Measured, cases
from tests.explorers.pixels import decoded
from tests.views.reading import Page

SMALL = {"with grids": 512, "tile by tile": 512}


@pytest.fixture
def panel(monkeypatch):
    monkeypatch.setattr(growth, "PAUSE", 0)
    return GrowthExplorer(SMALL)


def test_before_it_is_asked_it_has_measured_nothing(panel):
    assert panel.measured == ()
    assert panel.numbers.value == ""
    assert panel.progress.value == 0
    assert not panel.controls["measure"].disabled
    assert panel.controls["stop"].disabled
    assert "easured" not in panel.summary


def test_a_press_measures_every_case_and_shows_it(panel):
    before = panel.pictures["growth"].value
    panel.controls["measure"].click()
    panel.wait()
    assert [(each.head, each.tokens) for each in panel.measured] == cases(SMALL)
    assert panel.progress.value == panel.progress.max == len(cases(SMALL))
    (table,) = Page(panel.numbers.value).tables
    assert table.rows == ["256", "512"]
    assert panel.pictures["growth"].value != before
    assert "Measured on this machine" in panel.summary
    assert not panel.controls["measure"].disabled


def waiting(monkeypatch, panel):
    """Hand the panel measurements that come when told."""
    go = threading.Semaphore(0)
    seen = []

    def measurements(biggest):
        for head, tokens in cases(biggest):
            go.acquire(timeout=20)
            seen.append(tokens)
            yield Measured(head, tokens, 0.001 * tokens, 1000 * tokens)

    monkeypatch.setattr(growth.growth, "measurements", measurements)
    return go, seen


def test_it_stops_when_told_and_keeps_what_it_has(panel, monkeypatch):
    go, seen = waiting(monkeypatch, panel)
    panel.start()
    panel.controls["stop"].click()
    go.release()
    panel.wait()
    assert len(panel.measured) == len(seen) == 1
    assert panel.progress.value == 1
    assert panel._state.value == "Stopped: 1 of 4 measured."
    assert not panel.controls["measure"].disabled


def test_a_second_press_while_it_measures_changes_nothing(panel, monkeypatch):
    go, seen = waiting(monkeypatch, panel)
    panel.start()
    first = panel._thread
    panel.start()
    assert panel._thread is first
    for _ in cases(SMALL):
        go.release()
    panel.wait()
    assert len(seen) == 4


def test_after_a_stop_it_can_begin_again(panel, monkeypatch):
    go, _ = waiting(monkeypatch, panel)
    panel.start()
    panel.controls["stop"].click()
    go.release()
    panel.wait()
    for _ in cases(SMALL):
        go.release()
    panel.start()
    panel.wait()
    assert panel._state.value == "Done: 4 of 4 measured."


def test_a_fault_is_told_in_the_panel(panel, monkeypatch, caplog):
    def broken(biggest):
        raise MemoryError
        yield

    monkeypatch.setattr(growth.growth, "measurements", broken)
    panel.start()
    panel.wait()
    assert panel._state.value == "Stopped: MemoryError."
    assert "could not measure" in caplog.text
    assert not panel.controls["measure"].disabled


def test_its_picture_has_the_size_that_it_is_shown_in(panel):
    pixels = decoded(panel.pictures["growth"].value)
    width, height = (
        int(x.rstrip("px"))
        for x in (panel.pictures["growth"].layout.width, panel.pictures["growth"].layout.height)
    )
    assert pixels.shape[1] / pixels.shape[0] == width / height


def test_its_name_is_the_call_that_makes_it(panel):
    assert repr(panel) == f"GrowthExplorer(biggest={SMALL!r})"
