"""What stands above a central difference: the entry that moves, its step, and the precision."""

import traitlets

from attnlib.explorers.part import Part, source
from attnlib.lessons.moved_losses import PRECISIONS


class Chooser(Part):
    """An entry, a step and a precision to choose.

    Attributes
    ----------
    entries : list of list
        The matrix and the name of each entry that there is.
    entry : int
        The position of the chosen one.
    step : str
        h as it was typed: whoever computes with it says whether it is a step.
    precision : str
        One of `moved_losses.PRECISIONS`.
    """

    _esm = source("chooser.js")
    entries = traitlets.List().tag(sync=True)
    entry = traitlets.Int(0).tag(sync=True)
    step = traitlets.Unicode("0.5").tag(sync=True)
    precisions = traitlets.List(list(PRECISIONS)).tag(sync=True)
    precision = traitlets.Unicode(PRECISIONS[0]).tag(sync=True)
