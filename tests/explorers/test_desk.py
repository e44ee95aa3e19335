"""Many parts, one widget: what a part says reaches the browser, and what is done there the part."""

import pytest
import traitlets

from attnlib.explorers import HeadExplorer, desk
from attnlib.explorers.part import Part


class Counter(Part):
    """A part with a number, and a wish to be told things."""

    KIND = "matrix"
    _esm = traitlets.Unicode("").tag(sync=True)
    number = traitlets.Int(0, max=9).tag(sync=True)
    private = traitlets.Int(0)


@pytest.fixture
def counters():
    return {name: Counter(number=start, comm=desk.Place()) for name, start in (("a", 1), ("b", 2))}


@pytest.fixture
def heard(counters, monkeypatch):
    """What the browser hears of a desk with two counters."""
    messages = []
    monkeypatch.setattr(
        desk.Desk, "send", lambda _desk, message, buffers=None: messages.append((message, buffers))
    )
    counters["desk"] = desk.Desk({name: counters[name] for name in ("a", "b")})
    return messages


def hear(counters, *messages):
    counters["desk"]._handle_custom_msg({"sent": list(messages)}, [])


RECEIVED = ({"received": True}, None)


class TestOutwards:
    def test_the_browser_begins_with_every_parts_own_state_as_it_is_then(self, counters, heard):
        counters["a"].number = 5
        assert counters["desk"].get_state("kinds")["kinds"] == {
            "a": {"kind": "matrix", "state": {"number": 5}},
            "b": {"kind": "matrix", "state": {"number": 2}},
        }

    def test_a_change_is_told_with_the_parts_name(self, counters, heard):
        counters["b"].number = 7
        counters["b"].private = 7
        assert heard == [({"name": "b", "state": {"number": 7}, "echo": False}, [])]

    def test_a_message_of_a_parts_own_takes_its_bytes_along(self, counters, heard):
        counters["a"].send({"kind": "file"}, buffers=[b"abc"])
        assert heard == [({"name": "a", "content": {"kind": "file"}}, [b"abc"])]

    def test_a_part_that_has_no_desk_speaks_to_nobody(self):
        alone = Counter(comm=desk.Place())
        alone.number = 3
        assert alone.number == 3


class TestInwards:
    def test_what_moves_in_the_browser_moves_the_part_and_is_acknowledged(self, counters, heard):
        hear(counters, {"name": "a", "state": {"number": 4}}, {"name": "b", "state": {"number": 6}})
        assert (counters["a"].number, counters["b"].number) == (4, 6)
        assert heard[-1] == RECEIVED
        assert all(message.get("echo") for message, _ in heard[:-1])

    def test_a_parts_own_message_reaches_it(self, counters, heard):
        told = []
        counters["b"].on_msg(lambda _part, content, _buffers: told.append(content))
        hear(counters, {"name": "b", "state": {}, "content": {"do": "undo"}})
        assert (told, heard) == ([{"do": "undo"}], [RECEIVED])

    @pytest.mark.parametrize("message", [{"name": "nobody", "state": {}}, {"state": {}}])
    def test_a_message_that_makes_no_sense_holds_nothing_up(self, counters, heard, message):
        with pytest.raises(KeyError):
            counters["desk"]._hear(counters["desk"], {"sent": [message]}, [])
        assert heard == [RECEIVED]

    def test_a_value_that_the_part_refuses_holds_nothing_up(self, counters, heard, caplog):
        hear(counters, {"name": "a", "state": {"number": 99}})
        assert counters["a"].number == 1
        assert heard[-1] == RECEIVED


class TestTheScript:
    def test_it_holds_every_kind_and_one_export(self):
        script = desk.composed()
        assert script.count("export default") == 1
        for kind in desk.KINDS:
            assert f"\n{kind}: (() => {{" in script

    def test_a_script_without_an_export_is_refused(self, tmp_path, monkeypatch):
        (tmp_path / "matrix.js").write_text("const render = 1;")
        monkeypatch.setattr(desk, "HERE", tmp_path)
        with pytest.raises(ValueError, match=r"matrix\.js must have one default export, found 0"):
            desk.composed()


def test_an_explorer_is_five_models_to_the_browser():
    explorer = HeadExplorer()
    shown = [explorer, *explorer.children]
    assert len({*shown, *(widget.layout for widget in shown)}) == 5
