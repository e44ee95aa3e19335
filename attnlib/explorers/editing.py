"""The numbers under the hand: the inputs of a head as sliders, changed, undone and redone."""

import threading
from contextlib import contextmanager

import numpy as np
import traitlets

from attnlib.explorers import states
from attnlib.explorers.changes import Changes
from attnlib.explorers.controls import MatrixControl
from attnlib.explorers.desk import Place
from attnlib.lessons.widening import NEW_FEATURES, widen

OPERANDS = {"Q": "query", "K": "key", "V": "value"}
SEEDS = {"Q": 1, "K": 2}
"""Of the random features that a wider d_k may bring."""


class Editing(traitlets.HasTraits):
    """Sliders for Q, K, V and d_k, and the changes made with them.

    Parameters
    ----------
    start : Inputs
        What the sliders show at first, and after a reset.
    redraw : callable
        Called without arguments once for each change, with `lock` held.
    plain : ipywidgets.Layout
        Of every control.

    Attributes
    ----------
    matrices : dict of str to MatrixControl
        By ``"Q"``, ``"K"`` and ``"V"``.
    key_width : int
        d_k; can be set and observed.
    new_features : str
        What a wider d_k brings: one of `widening.NEW_FEATURES`.
    changes : Changes
        The states gone through.
    start : Inputs
        What a reset goes back to.
    lock : threading.RLock
        Held while anything changes: callbacks may run beside cells, in another thread.
    """

    key_width = traitlets.Int(1, min=1, max=states.LARGEST_WIDTH)

    def __init__(self, start, redraw, plain):
        super().__init__(key_width=start.query.shape[2])
        self.start, self._redraw = start, redraw
        self.lock = threading.RLock()
        self.new_features = NEW_FEATURES[0]
        self.changes = Changes(start)
        self._kept = self._not_under_sliders(start)
        self._holding = 0
        self.matrices = {}
        for name, operand in OPERANDS.items():
            rows = getattr(start, operand)[0].tolist()
            self.matrices[name] = MatrixControl(
                name, rows, start.labels, layout=plain, comm=Place()
            )
        for matrix in self.matrices.values():
            matrix.observe(self._moved, "values")
        self.observe(self._width_moved, "key_width")

    def inputs(self):
        """What the sliders say now.

        Returns
        -------
        Inputs
            Fresh arrays; entries may be anything that was typed, NaN and infinities included.
        """
        arrays = {
            operand: np.array(self.matrices[name].values)[None]
            for name, operand in OPERANDS.items()
        }
        return states.Inputs(**arrays, **self._kept)

    @staticmethod
    def _not_under_sliders(inputs):
        return {name: getattr(inputs, name) for name in ("grad_output", "labels", "note")}

    def load(self, inputs, recorded=True):
        """Set all sliders, as one change.

        Parameters
        ----------
        inputs : Inputs
            What they are to show.
        recorded : bool, default True
            Whether the change can be undone.
        """
        with self.one_change(recorded=recorded):
            self._kept = self._not_under_sliders(inputs)
            for name, operand in OPERANDS.items():
                self.matrices[name].show(getattr(inputs, operand)[0].tolist(), inputs.labels)
            self.key_width = inputs.query.shape[2]

    def undo(self):
        """Go one change back."""
        with self.lock:
            self.load(self.changes.undo(), recorded=False)

    def redo(self):
        """Take the last undo back."""
        with self.lock:
            self.load(self.changes.redo(), recorded=False)

    @contextmanager
    def one_change(self, what=None, recorded=True):
        """Hold back drawing and recording until all that belongs to one change is set.

        Parameters
        ----------
        what : object, optional
            Which slider moves, so that a drag is one change.
        recorded : bool, default True
            Whether the change can be undone.
        """
        with self.lock:
            self._holding += 1
            try:
                yield
            finally:
                self._holding -= 1
            if self._holding:
                return
            if recorded:
                self.changes.record(self.inputs(), what)
            self._redraw()

    def _moved(self, change):
        with self.one_change(states.moved(change.owner.name, change.old, change.new)):
            pass

    def _width_moved(self, change):
        with self.one_change("d_k"):
            inputs = self.inputs()
            if change.new == inputs.query.shape[2]:
                return
            for name, seed in SEEDS.items():
                matrix = getattr(inputs, OPERANDS[name])
                wider = widen(matrix, change.new, self.new_features, seed)
                self.matrices[name].values = wider[0].tolist()
