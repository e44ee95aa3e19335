"""Choosing a cell and reading it: the layer of buttons over a picture, and the words below it."""

import traitlets

from attnlib.explorers.part import Part, source

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
        super().__init__(grids=[_grid(place) for place in frame.places], **traits)

    def follow(self, frame):
        """Lay the cells where another picture has them."""
        self.grids = [_grid(place) for place in frame.places]


def _grid(place):
    across, down = place.edges()
    return {
        "name": place.name,
        "title": place.title,
        "across": across.tolist(),
        "down": down.tolist(),
        "row_names": [f"{NAMES[place.row_letter]} {row}" for row in range(place.rows)],
        "column_names": [f"{NAMES[place.column_letter]} {c}" for c in range(place.columns)],
    }


class Words(Part):
    """The state in words; all of it is shown as text, never as markup.

    Attributes
    ----------
    summary, reading, refusal : str
        The head in a sentence, the chosen cell's equations, and why a setting isn't drawn.
    """

    KIND = "words"
    _esm = source("words.js")
    # Every panel has words: its whole style sheet comes with them, once.
    _css = source("panel.css")
    summary = traitlets.Unicode().tag(sync=True)
    reading = traitlets.Unicode().tag(sync=True)
    refusal = traitlets.Unicode().tag(sync=True)

    def say(self, **words):
        """Set any of the words, as one message."""
        with self.hold_sync():
            for name, text in words.items():
                setattr(self, name, text)
