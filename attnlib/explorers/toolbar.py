"""What stands above the matrices of an explorer: presets, d_k, undo and redo, copy and save."""

import traitlets

from attnlib.explorers.part import Part, source
from attnlib.lessons import examples
from attnlib.lessons.widening import NEW_FEATURES

FILES = (
    ("Picture (PNG)", "png"),
    ("Drawing (SVG)", "svg"),
    ("Numbers (JSON)", "json"),
    ("Arrays (NPZ)", "npz"),
)
OWN = "your own numbers"


class Toolbar(Part):
    """Controls that concern a whole head.

    Parameters
    ----------
    presets : sequence of str
        Names of examples to start from.
    preset : str
        The one that is shown, or `OWN`.
    key_width, largest_width : int
        d_k now and at most.
    act : callable
        Called with the word of a button: ``"undo"``, ``"redo"``, ``"reset"``, ``"copy"`` or a kind
        of file.

    Attributes
    ----------
    preset, key_width, new_features, tables, can_undo, can_redo
        Can be set and observed; `tables` says whether the tables are open.
    """

    KIND = "toolbar"
    _esm = source("toolbar.js")
    presets = traitlets.List().tag(sync=True)
    preset = traitlets.Unicode().tag(sync=True)
    key_width = traitlets.Int(1).tag(sync=True)
    largest_width = traitlets.Int(8).tag(sync=True)
    fillings = traitlets.List([[word, word] for word in NEW_FEATURES]).tag(sync=True)
    new_features = traitlets.Enum(NEW_FEATURES, NEW_FEATURES[0]).tag(sync=True)
    files = traitlets.List([list(pair) for pair in FILES]).tag(sync=True)
    tables = traitlets.Bool(False).tag(sync=True)
    can_undo = traitlets.Bool(False).tag(sync=True)
    can_redo = traitlets.Bool(False).tag(sync=True)

    def __init__(self, presets, preset, key_width, largest_width, act, **traits):
        titles = [[examples.load(name).title, name] for name in presets]
        own = [[OWN, OWN]] if preset == OWN else []
        super().__init__(
            presets=own + titles,
            preset=preset,
            key_width=key_width,
            largest_width=largest_width,
            **traits,
        )
        self.on_msg(lambda _widget, content, _buffers: act(content.get("do")))

    def offer_code(self, text):
        """Put Python on the reader's clipboard."""
        self.send({"kind": "copy", "text": text})

    def offer_file(self, name, media_type, content):
        """Save a file in the reader's browser.

        Parameters
        ----------
        name, media_type : str
            As the browser needs them.
        content : bytes
            The file.
        """
        self.send({"kind": "file", "name": name, "type": media_type}, buffers=[content])
