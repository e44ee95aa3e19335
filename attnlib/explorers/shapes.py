"""Shapes to play with: choose every axis of Q, K and V, read what comes out or why nothing does."""

import threading

import ipywidgets as widgets
import numpy as np

from attnlib.core.errors import SelfAttentionError
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.explorers.controls import MatrixControl
from attnlib.explorers.picker import Picker
from attnlib.explorers.reading import Words
from attnlib.lessons import axes
from attnlib.views import sentences, tables
from attnlib.views.shape_page import shapes_of

AXES = ("batch", "tokens", "width")
LONGEST = 64
"""A longer axis can only be typed; beyond this the head would take its time."""
START = next(iter(axes.SHAPES))
OWN = "your own shapes"
FITTING = widgets.Layout(width="870px")
"""Of its own, so that no refusal widens the panel; the page may narrow it."""


class ShapeControl(MatrixControl):
    """One slider for each axis of each input."""

    BOUNDS = (0.0, 8.0, 1.0)

    @staticmethod
    def role_of(name):
        """Shapes have a border of their own."""
        return "shape", f"of each input · type up to {LONGEST}"

    def _name_all(self, rows, columns):
        self.row_names = self.row_labels = list(axes.OPERANDS[:rows])
        self.column_names = self.column_labels = list(AXES[:columns])


def _length(axis):
    """A typed number as the length of an axis: whole, not negative, quick to compute with."""
    return int(min(max(round(axis), 0), LONGEST)) if np.isfinite(axis) else 0


class ShapeExplorer(widgets.VBox):
    """The shapes of a head, from those of its inputs.

    Attributes
    ----------
    controls : dict
        ``controls["query"]["tokens"]`` is the slider of that axis, and so for every other.
    cases : Picker
        Shapes to start from, right ones and wrong ones; the names are those of `axes.SHAPES`.
    numbers : ipywidgets.HTML
        The shapes as a table of the same rows always; an axis that a refusal is about is framed.
    refusal : SelfAttentionError or None
        What the core says to these shapes.
    """

    def __init__(self):
        self._matrix = ShapeControl("Shapes", axes.SHAPES[START])
        self._matrix.folds = False
        self._lock = threading.RLock()
        self._words = Words()
        options = [["Shapes", name, name] for name in (*axes.SHAPES, OWN)]
        self.cases = Picker(label="Start from", options=options, value=START)
        self.numbers = widgets.HTML()
        self.refusal = None
        self._show()
        body = widgets.HBox([self._matrix, self.numbers]).add_class("attnlib-body")
        super().__init__([self.cases, body, self._words], layout=FITTING)
        self.add_class("attnlib-panel")
        self._matrix.observe(lambda _change: self._follow(), "values")
        self.cases.observe(self._case_chosen, "value")

    def __repr__(self):
        return f"ShapeExplorer({self.shapes})"

    @property
    def controls(self):
        """The slider of each axis, by input and axis."""
        return {
            operand: dict(zip(AXES, entries, strict=True))
            for operand, entries in zip(axes.OPERANDS, self._matrix.entries, strict=True)
        }

    @property
    def shapes(self):
        """The shapes of Q, K and V, as the sliders say."""
        return [tuple(_length(axis) for axis in row) for row in self._matrix.values]

    def _case_chosen(self, change):
        if change.new != OWN:
            self._matrix.values = axes.SHAPES[change.new]

    def _follow(self):
        with self._lock:
            lengths = [list(map(float, shape)) for shape in self.shapes]
            if self._matrix.values != lengths:
                self._correct(lengths)
                return
            known = (name for name, shapes in axes.SHAPES.items() if shapes == self.shapes)
            self.cases.value = next(known, OWN)
            self._show()

    def _correct(self, lengths):
        """Put in the sliders what the head is given, where something else was typed."""
        self._matrix.values = lengths
        for entries in self._matrix.entries:
            for entry in entries:
                entry.min, entry.max = 0.0, max(ShapeControl.BOUNDS[1], entry.value)

    def _show(self):
        given = dict(zip(axes.OPERANDS, self.shapes, strict=True))
        try:
            head = scaled_dot_product_self_attention(
                *(np.broadcast_to(0.0, shape) for shape in given.values())
            )
        except SelfAttentionError as refusal:
            self.refusal = refusal
            self._words.refusal = f"Refused ({refusal.kind}): {refusal}"
            self._words.summary = ""
            self.numbers.value = tables.shapes(given, axes.faults(refusal))
            return
        self.refusal = None
        self._words.refusal = ""
        self.numbers.value = tables.shapes(shapes_of(head))
        self._words.summary = sentences.shape_sentence(shapes_of(head))
