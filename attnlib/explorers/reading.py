"""Choosing a cell and reading it: the layer of buttons over a picture, and the words below it."""

import traitlets

from attnlib.explorers.part import Part, source
from attnlib.views import token_names

NAMES = {"q": "query", "k": "key", "v": "value", "o": "output", "": "feature"}


class Reader(Part):
    """The cells of a picture, to be chosen by mouse or keyboard.

    Parameters
    ----------
    frame : views.layout.Layout
        What stands in the picture.

    Attributes
    ----------
    chosen : list
        Name of the quantity, row, column; an empty name for none.
    sources : list of list
        The cells that the chosen one comes from.
    """

    KIND = "reader"
    _esm = source("reader.js")
    grids = traitlets.List().tag(sync=True)
    chosen = traitlets.List(["", 0, 0]).tag(sync=True)
    sources = traitlets.List().tag(sync=True)

    def __init__(self, frame, **traits):
        super().__init__(grids=_grids(frame), **traits)

    def follow(self, frame):
        """Lay the cells where another picture has them."""
        self.grids = _grids(frame)


def _grids(frame):
    return [_grid(place, frame.labels) for place in frame.places]


def _grid(place, labels):
    across, down = place.edges()
    return {
        "name": place.name,
        "title": place.title,
        "across": across.tolist(),
        "down": down.tolist(),
        "row_names": _names(place.row_letter, place.rows, labels),
        "column_names": _names(place.column_letter, place.columns, labels),
    }


def _names(letter, count, labels):
    labels = labels if letter else ()
    return [token_names.spoken(f"{NAMES[letter]} {t}", t, labels) for t in range(count)]


class Words(Part):
    """The state in words; all of it is shown as text, never as markup.

    Attributes
    ----------
    summary, reading, refusal : str
        The head in a sentence, the chosen cell's equations, and why a setting isn't drawn.
    note : str
        Where the numbers come from; it stands below the others, and is empty for most heads.
    """

    KIND = "words"
    _esm = source("words.js")
    # Every panel has words: its whole style sheet comes with them, once.
    _css = source("panel.css")
    summary = traitlets.Unicode().tag(sync=True)
    reading = traitlets.Unicode().tag(sync=True)
    refusal = traitlets.Unicode().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)

    def say(self, **words):
        """Set any of the words, as one message."""
        with self.hold_sync():
            for name, text in words.items():
                setattr(self, name, text)
