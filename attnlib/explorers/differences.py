"""Pick an entry and see its two perturbed losses: a central difference under the hand."""

import logging
import threading

import ipywidgets as widgets
import numpy as np

from attnlib.explorers import states
from attnlib.explorers.chooser import Chooser
from attnlib.explorers.outlets import STALE
from attnlib.explorers.reading import Words
from attnlib.lessons.differences import entry_difference
from attnlib.lessons.moved_losses import OPERANDS
from attnlib.views import differences, png

LOG = logging.getLogger("attnlib")
NAMES = ("queries", "keys", "values")


class DifferenceExplorer(widgets.VBox):
    """One entry of Q, K or V moved by h to each side, its secant beside its tangent.

    Parameters
    ----------
    query, key, value, grad_output : array_like, optional
        As for `HeadExplorer`; the worked example where nothing is given.

    Attributes
    ----------
    controls : Chooser
        `entry`, `step` and `precision` can be read, set and observed.
    difference : EntryDifference or None
        Of the last setting that could be computed.
    pictures : dict of str to ipywidgets.Image
        ``"secant"``.
    numbers : ipywidgets.HTML
        The losses, slopes and errors as a table.

    Raises
    ------
    ValueError, SelfAttentionError
        As `HeadExplorer` does.
    """

    def __init__(self, query=None, key=None, value=None, grad_output=None):
        self._inputs = states.as_inputs(query, key, value, grad_output)
        self._lock = threading.RLock()
        self._canvas = SecantCanvas()
        self.difference = None
        self._cells = [
            (operand, index)
            for operand in OPERANDS
            for index in np.ndindex(getattr(self._inputs, operand).shape)
        ]
        titles = dict(zip(OPERANDS, NAMES, strict=True))
        names = [[titles[name], differences.entry_name(name, index)] for name, index in self._cells]
        self.controls = Chooser(entries=names)
        size = {"width": f"{differences.WIDTH}px", "height": f"{differences.HEIGHT}px"}
        picture = widgets.Image(format="png", layout=widgets.Layout(**size))
        self.pictures = {"secant": picture}
        self.numbers = widgets.HTML()
        self._words = Words(layout=widgets.Layout(max_width="900px"))
        self._redraw()
        body = widgets.HBox([picture, self.numbers]).add_class("attnlib-body")
        super().__init__([self.controls, body, self._words])
        self.add_class("attnlib-panel")
        self.controls.observe(lambda _change: self._redraw(), ["entry", "step", "precision"])

    def __repr__(self):
        found = self.difference
        if found is None:
            return "DifferenceExplorer(nothing drawn)"
        where = differences.entry_name(found.operand, found.index)
        return f"DifferenceExplorer({where}, step={found.step:g}, precision={found.precision!r})"

    @property
    def summary(self):
        """The shown difference in words."""
        return self._words.summary

    @property
    def refusal(self):
        """Why the chosen setting isn't shown; empty where it is."""
        return self._words.refusal

    def choose(self, operand, row, column):
        """Choose the entry that moves.

        Parameters
        ----------
        operand : str
            ``"query"``, ``"key"`` or ``"value"``.
        row, column : int
            Token and feature.

        Raises
        ------
        ValueError
            If there is no such entry.
        """
        cell = (operand, (0, row, column))
        if cell not in self._cells:
            raise ValueError(
                f"there is no entry {operand!r} [{row}, {column}] here: choose one of "
                f"{', '.join(OPERANDS)} and a token and feature that it has"
            )
        self.controls.entry = self._cells.index(cell)

    def _redraw(self):
        with self._lock:
            try:
                found = self._computed()
                self.pictures["secant"].value = self._canvas.repaint(found)
                self.difference = found
                self.numbers.value = differences.difference_table(found)
                self._words.summary = differences.difference_sentence(found)
                self._words.refusal = ""
                self.pictures["secant"].remove_class(STALE)
            except ValueError as refusal:
                self._refuse(refusal)
            except Exception as error:
                # In a callback nobody stands ready to catch this: the panel must tell it itself.
                LOG.exception("the explorer could not show this difference")
                self._refuse(error)

    def _computed(self):
        chosen, text = self.controls.entry, self.controls.step
        if not 0 <= chosen < len(self._cells):
            raise ValueError(f"there is no entry number {chosen}: choose one of {len(self._cells)}")
        try:
            step = float(text)
        except ValueError:
            raise ValueError(f"step must be a number, got {text!r}: try 1e-6") from None
        precision = self.controls.precision
        return entry_difference(
            **self._inputs.arrays,
            operand=self._cells[chosen][0],
            index=self._cells[chosen][1],
            step=step,
            precision=precision,
        )

    def _refuse(self, error):
        self.pictures["secant"].add_class(STALE)
        self._words.refusal = (
            f"Not drawn. {str(error) or type(error).__name__}. "
            "The dashed frame marks the last difference that could be drawn."
        )


class SecantCanvas:
    """A secant picture whose frame is drawn once; only its lines are drawn anew.

    It owns one private matplotlib figure. It is not safe for two threads at once: whoever holds it
    holds a lock.
    """

    def __init__(self, scale=2):
        self._axes = differences.secant_axes(scale)
        self._canvas = self._axes.figure.canvas
        self._canvas.draw()
        self._frame = self._canvas.copy_from_bbox(self._axes.figure.bbox)

    def repaint(self, difference):
        """Draw one difference over the kept frame.

        Parameters
        ----------
        difference : EntryDifference
            What is shown.

        Returns
        -------
        bytes
            A PNG file.
        """
        self._canvas.restore_region(self._frame)
        for artist in differences.draw_secant(self._axes, difference):
            self._axes.draw_artist(artist)
            artist.remove()
        pixels = np.ascontiguousarray(np.asarray(self._canvas.buffer_rgba())[..., :3])
        return png.encode(pixels)
