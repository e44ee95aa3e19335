"""One query reads its keys tile by tile, with every number of the head under the hand."""

import ipywidgets as widgets

from attnlib.explorers.head_explorer import HeadExplorer
from attnlib.explorers.messages import keep_apart_from_cells
from attnlib.lessons.online_softmax import trace
from attnlib.views import numbers
from attnlib.views.tile_table import tile_table


class TileExplorer(HeadExplorer):
    """Scores and weights as ever, and below them how a query gets its answer without keeping them.

    Takes what `HeadExplorer` takes.

    Attributes
    ----------
    reader : ipywidgets.Dropdown
        The query that reads.
    tile : ipywidgets.BoundedIntText
        How many keys it reads at a time.
    page : ipywidgets.HTML
        The table of the tiles.
    """

    ARRANGEMENT = "attnlib-above"
    GRIDS = ("scaled_scores", "weights", "output")

    def _pictures(self):
        style = {"description_width": "initial"}
        self.reader = widgets.Dropdown(options=_names(self.head), description="Query", style=style)
        self.tile = widgets.BoundedIntText(
            1, min=1, max=8, description="Keys in a tile", style=style
        )
        self.reader.layout.width = self.tile.layout.width = "170px"
        self.page = widgets.HTML()
        self._tabulate()
        for control in (self.reader, self.tile):
            control.observe(lambda _change: self._tabulate(), "value")
        keep_apart_from_cells(self.reader, self.tile)
        below = widgets.VBox([widgets.HBox([self.reader, self.tile]), self.page])
        return [*super()._pictures(), below]

    def _redraw(self):
        super()._redraw()
        names = _names(self.head)
        if names != list(self.reader.options):
            self.reader.options = names
        self._tabulate()

    def _tabulate(self):
        with self._editing.lock:
            query = self.reader.value or 0
            self.page.value = tile_table(trace(self.head, query, self.tile.value), query).html


def _names(head):
    count = head.query.shape[1]
    return list(zip(numbers.labels("q", count), range(count), strict=True))
