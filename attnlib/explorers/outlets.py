"""Where an explorer shows its state: the picture, its readable cells, the words, the tables."""

import ipywidgets as widgets

from attnlib.explorers.reading import Reader, Words
from attnlib.views import tables
from attnlib.views.layout import head_layout

STALE = "attnlib-stale"


class Outlets:
    """The parts of a panel that change with the head.

    Attributes
    ----------
    pictures : dict of str to ipywidgets.Image
        ``"head"``: every stage and gradient.
    reader : Reader
        The cells over the picture.
    stage : ipywidgets.Box
        Picture and reader, one over the other.
    words : Words
        The summary, the reading of the chosen cell, and a refusal while there is one.
    numbers : ipywidgets.HTML
        Every quantity as tables.
    folder : ipywidgets.Accordion
        Holds `numbers`, closed at first.
    """

    def __init__(self):
        frame = head_layout(1, 1, 1)
        size = {"width": f"{frame.width}px", "height": f"{frame.height}px"}
        picture = widgets.Image(format="png", layout=widgets.Layout(**size))
        self.pictures = {"head": picture}
        self.reader = Reader()
        self.stage = widgets.Box([picture, self.reader]).add_class("attnlib-stage")
        self.words = Words()
        self.numbers = widgets.HTML()
        self.folder = widgets.Accordion([self.numbers], titles=["Every number as a table"])
        self._layout = None

    def show(self, picture, layout, shown, summary):
        """Show an accepted setting.

        Parameters
        ----------
        picture : bytes
            PNG.
        layout : Layout
            What stands in the picture.
        shown : dict of str to numpy.ndarray
            From `layout.quantities`.
        summary : str
            The state in words.
        """
        self.pictures["head"].value = picture
        if self.words.refusal:
            self.words.refusal = ""
            self.pictures["head"].remove_class(STALE)
        if layout is not self._layout:
            self.reader.follow(layout)
            self._layout = layout
        self.words.summary = self.reader.description = summary
        self.numbers.value = tables.of_layout(layout, shown)

    def refuse(self, error):
        """Say why a setting can't be drawn, and mark the last picture as not belonging to it."""
        self.pictures["head"].add_class(STALE)
        self.words.refusal = (
            f"Not drawn. {error or type(error).__name__} "
            "The dashed frame marks the last setting that could be drawn."
        )
