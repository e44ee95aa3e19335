"""One query reads its keys tile by tile, with every number of the head under the hand."""

import ipywidgets as widgets

from attnlib.explorers.head_explorer import HeadExplorer
from attnlib.explorers.messages import keep_apart_from_cells
from attnlib.explorers.states import LARGEST_TOKENS
from attnlib.lessons.online_softmax import trace
from attnlib.views.tile_table import tile_table


class TileExplorer(HeadExplorer):
    """Scores and weights as ever, and below them how a query gets its answer without keeping them.

    Takes what `HeadExplorer` takes.

    Attributes
    ----------
    reader, tile : ipywidgets.BoundedIntText
        The query that reads, and how many keys it reads at a time.
    page : ipywidgets.HTML
        The table of the tiles.
    """

    ARRANGEMENT = "attnlib-above"
    GRIDS = ("scaled_scores", "weights", "output")

    def _pictures(self):
        self.reader = _number("Query", 0, min=0, max=self.head.query.shape[1] - 1)
        self.tile = _number("Keys in a tile", 1, min=1, max=LARGEST_TOKENS)
        self.page = widgets.HTML()
        self._tabulate()
        for control in (self.reader, self.tile):
            control.observe(lambda _change: self._tabulate(), "value")
        keep_apart_from_cells(self.reader, self.tile)
        below = widgets.VBox([widgets.HBox([self.reader, self.tile]), self.page])
        return [*super()._pictures(), below]

    def _redraw(self):
        super()._redraw()
        self.reader.max = self.head.query.shape[1] - 1
        self._tabulate()

    def _tabulate(self):
        with self._editing.lock:
            query = self.reader.value
            self.page.value = tile_table(trace(self.head, query, self.tile.value), query).html


def _number(description, value, **limits):
    """A field for a whole number: JupyterLab leaves its arrow keys alone, unlike a list's."""
    return widgets.BoundedIntText(
        value,
        description=description,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="170px"),
        **limits,
    )
