"""What every small widget of ours is: one class for all of a kind, its script beside this file."""

from pathlib import Path

import anywidget
import traitlets

from attnlib.explorers.messages import keep_apart_from_cells

HERE = Path(__file__).parent


def source(name):
    """A file of this folder as a trait that the browser gets.

    Parameters
    ----------
    name : str
        Of a script or a style sheet.

    Returns
    -------
    traitlets.Unicode
        Its text.
    """
    return traitlets.Unicode((HERE / name).read_text(encoding="utf-8")).tag(sync=True)


class Part(anywidget.AnyWidget):
    """A widget whose `_esm`, and `_css` if it has one, are made by `source`.

    With ``comm=Place()`` it stands on a `Desk`, and the browser doesn't see it by itself.
    """

    _anywidget_id = traitlets.Unicode().tag(sync=True)

    @traitlets.observe("comm")
    def _keep_apart(self, change):
        if change.new is not None:
            keep_apart_from_cells(self)

    @traitlets.default("_anywidget_id")
    def _name_of_kind(self):
        return f"{type(self).__module__}.{type(self).__name__}"

    def add_traits(self, **traits):
        """Add what isn't there yet.

        anywidget adds traits to each instance, and traitlets then makes a class for that instance
        alone: a third of the time in which a panel is made.
        """
        missing = {name: trait for name, trait in traits.items() if not self.has_trait(name)}
        if missing:
            super().add_traits(**missing)
