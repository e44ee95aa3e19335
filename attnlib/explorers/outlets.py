"""Where an explorer shows its state: the picture, its readable cells, the words, the tables."""

import ipywidgets as widgets

from attnlib.explorers.reading import Reader, Words

STALE = "attnlib-stale"


class Outlets:
    """The parts of a panel that change with the head.

    Parameters
    ----------
    frame : Layout
        Any layout of the picture's size.

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
        Every quantity as tables; hidden at first.
    """

    def __init__(self, frame):
        size = {"width": f"{frame.width}px", "height": f"{frame.height}px"}
        picture = widgets.Image(format="png", layout=widgets.Layout(**size))
        self.pictures = {"head": picture}
        self.reader = Reader()
        self.stage = widgets.Box([picture, self.reader]).add_class("attnlib-stage")
        self.words = Words()
        self.numbers = widgets.HTML(layout=widgets.Layout(display="none"))

    def show(self, picture, summary):
        """Show an accepted setting.

        Parameters
        ----------
        picture : bytes
            PNG.
        summary : str
            The state in words.
        """
        self.pictures["head"].value = picture
        if self.words.refusal:
            self.words.refusal = ""
            self.pictures["head"].remove_class(STALE)
        self.words.summary = self.reader.description = summary

    def show_tables(self, shown):
        """Show the tables, or hide them."""
        self.numbers.layout.display = "" if shown else "none"

    def refuse(self, error):
        """Say why a setting can't be drawn, and mark the last picture as not belonging to it."""
        self.pictures["head"].add_class(STALE)
        self.words.refusal = (
            f"Not drawn. {error or type(error).__name__} "
            "The dashed frame marks the last setting that could be drawn."
        )
