"""All small widgets of one panel as one: a browser compiles one script and hears one comm for them.

A widget of its own costs a comm, a script and a view each: six of them took longer than all the
rest of opening a panel.
"""

import re
import uuid

import traitlets

from attnlib.explorers.part import HERE, Part

KINDS = ("matrix", "toolbar", "reader", "words")
"""Scripts whose parts can stand on a desk."""


def composed():
    """Put the scripts of all kinds and the desk's own into one.

    Returns
    -------
    str
        ``KINDS``, which holds what each kind exports, and the desk.
    """
    kinds = []
    for kind in KINDS:
        script = (HERE / f"{kind}.js").read_text(encoding="utf-8")
        inner, exports = re.subn(r"^export default ", "return ", script, flags=re.MULTILINE)
        if exports != 1:
            raise ValueError(f"{kind}.js must have one default export, found {exports}")
        kinds.append(f"{kind}: (() => {{\n{inner}}})(),\n")
    desk = (HERE / "desk.js").read_text(encoding="utf-8")
    return f"const KINDS = {{\n{''.join(kinds)}}};\n{desk}"


class Place:
    """A part's place on a desk: what a comm would be to a widget of its own.

    Attributes
    ----------
    desk : Desk or None
        Who carries the messages; until there is one, there is nobody to hear them.
    """

    def __init__(self):
        self.comm_id, self.name, self.desk = uuid.uuid4().hex, None, None

    def send(self, data=None, metadata=None, buffers=None):
        """Send what a widget says to its own view."""
        if self.desk is None or data["method"] == "echo_update":
            return
        if data["method"] == "custom":
            message = {"content": data["content"]}
        else:
            message = {"state": data["state"], "echo": data["method"] == "echo_update"}
        self.desk.send({"name": self.name, **message}, buffers=buffers)

    def on_msg(self, callback):
        """Nothing to do: the desk knows its parts."""

    def close(self, *_arguments, **_keywords):
        """Leave the desk."""
        self.desk = None


def _states(_kinds, desk):
    return {
        name: {"kind": kind, "state": _own_state(desk.occupants[name])}
        for name, kind in desk.kinds.items()
    }


def _own_state(part):
    state = part.get_state()
    return {key: value for key, value in state.items() if key not in COMMON}


COMMON = frozenset({*Part.class_trait_names(sync=True), "_esm", "_css"})
"""What every widget has, and a part on a desk has no use for."""


class Desk(Part):
    """The one widget that a browser sees of many parts.

    Parameters
    ----------
    occupants : dict of str to Part
        In the order of the keyboard; each was made with ``comm=Place()``, and the name of its
        script is among `KINDS`.

    Attributes
    ----------
    occupants : dict of str to Part
        The parts.
    kinds : dict of str to str
        The script of each.
    """

    _esm = traitlets.Unicode(composed()).tag(sync=True)
    _css = traitlets.Unicode((HERE / "panel.css").read_text(encoding="utf-8")).tag(sync=True)
    kinds = traitlets.Dict().tag(sync=True, to_json=_states)

    def __init__(self, occupants, **traits):
        self.occupants = occupants
        super().__init__(kinds={name: part.KIND for name, part in occupants.items()}, **traits)
        for name, part in occupants.items():
            part.comm.name, part.comm.desk = name, self
        self.on_msg(self._hear)

    def _hear(self, _desk, content, _buffers):
        try:
            for message in content["sent"]:
                part = self.occupants[message["name"]]
                if message["state"]:
                    _tell(part, {"method": "update", "state": message["state"]})
                if message.get("content"):
                    _tell(part, {"method": "custom", "content": message["content"]})
        finally:
            # The browser holds the next message back until then.
            self.send({"received": True})


def _tell(part, data):
    part._handle_msg({"content": {"data": data}, "buffers": []})
