"""Where an explorer shows its state: the picture, its readable cells, the words."""

import ipywidgets as widgets

from attnlib.explorers.desk import Place
from attnlib.explorers.reading import Reader, Words

STALE = "attnlib-stale"


class Outlets:
    """The parts of a panel that change with the head.

    Parameters
    ----------
    frame : Layout
        What stands in the picture.
    picture : bytes
        The first picture, as PNG.
    summary : str
        The first state in words.
    note : str
        Where its numbers come from.
    plain : ipywidgets.Layout
        Of every part that has no size of its own.

    Attributes
    ----------
    pictures : dict of str to ipywidgets.Image
        ``"head"``: every stage and gradient.
    reader : Reader
        The cells over the picture.
    words : Words
        The summary, the reading of the chosen cell, and a refusal while there is one.
    """

    # Each part is made with all that it shows: a message more is a wait before the first picture.
    def __init__(self, frame, picture, summary, note, plain):
        size = {"width": str(frame.width), "height": str(frame.height)}
        image = widgets.Image(
            value=picture, format="png", layout=plain, _dom_classes=("attnlib-picture",), **size
        )
        self.pictures = {"head": image}
        self.reader = Reader(frame, layout=plain, comm=Place())
        self.words = Words(summary=summary, note=note, layout=plain, comm=Place())

    def show(self, picture, frame):
        """Show the picture of an accepted setting.

        Parameters
        ----------
        picture : bytes
            PNG.
        frame : Layout
            What stands in it.
        """
        image = self.pictures["head"]
        if image.width == str(frame.width):
            image.value = picture
        else:
            with image.hold_sync():
                image.width, image.value = str(frame.width), picture
        if self.words.refusal:
            self.pictures["head"].remove_class(STALE)

    def refuse(self, error):
        """Say why a setting can't be drawn, and mark the last picture as not belonging to it."""
        self.pictures["head"].add_class(STALE)
        self.words.refusal = (
            f"Not drawn. {str(error) or type(error).__name__} "
            "The dashed frame marks the last setting that could be drawn."
        )
