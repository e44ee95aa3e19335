"""Where an explorer shows its state: the picture, the words, the tables, and the last refusal."""

from html import escape

import ipywidgets as widgets

from attnlib.views import tables
from attnlib.views.layout import head_layout

STALE = "attnlib-stale"


class Outlets:
    """The parts of a panel that change with the head.

    Attributes
    ----------
    pictures : dict of str to ipywidgets.Image
        ``"head"``: every stage and gradient.
    numbers : ipywidgets.HTML
        Every quantity as tables; it lies in `folder`.
    words : ipywidgets.HTML
        The summary, and a refusal while there is one.
    folder : ipywidgets.Accordion
        Holds `numbers`, closed at first.
    """

    def __init__(self):
        frame = head_layout(1, 1, 1)
        size = {"width": f"{frame.width}px", "height": f"{frame.height}px"}
        picture = widgets.Image(format="png", layout=widgets.Layout(**size, flex="0 0 auto"))
        self.pictures = {"head": picture}
        self.numbers = widgets.HTML()
        # A fixed height, so that a refusal doesn't move what stands below the panel.
        self.words = widgets.HTML(layout=widgets.Layout(height="66px", overflow="auto"))
        self.folder = widgets.Accordion([self.numbers], titles=["Every number as a table"])
        self._summary = ""

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
        self._summary = summary
        self.pictures["head"].value = picture
        self.pictures["head"].remove_class(STALE)
        self.numbers.value = tables.of_layout(layout, shown)
        self.words.value = f'<div style="line-height:20px">{escape(summary)}</div>'

    def refuse(self, error):
        """Say why a setting can't be drawn, and mark the last picture as not belonging to it."""
        self.pictures["head"].add_class(STALE)
        self.words.value = (
            '<div style="line-height:20px"><b>Not drawn.</b> '
            f"{escape(str(error) or type(error).__name__)}<br>The dashed frame marks the last "
            f"setting that could be drawn: {escape(self._summary)}</div>"
        )
