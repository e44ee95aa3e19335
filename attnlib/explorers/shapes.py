"""Shapes to play with: choose every axis of Q, K and V, read what comes out or why nothing does."""

import ipywidgets as widgets
import numpy as np

from attnlib.core.errors import SelfAttentionError
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.explorers.controls import MatrixControl
from attnlib.explorers.reading import Words
from attnlib.views import sentences, tables

OPERANDS = ("query", "key", "value")
AXES = ("batch", "tokens", "width")
LONGEST = 512
START = [[1, 2, 2], [1, 2, 2], [1, 2, 3]]


class ShapeControl(MatrixControl):
    """One slider for each axis of each input."""

    BOUNDS = (0.0, 8.0, 1.0)

    @staticmethod
    def role_of(name):
        """Shapes have a border of their own."""
        return "shape", "[batch, tokens, width] of each input"

    def _name_all(self, rows, columns):
        self.row_names = self.row_labels = list(OPERANDS[:rows])
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
    numbers : ipywidgets.HTML
        The shapes as a table.
    refusal : SelfAttentionError or None
        What the core says to these shapes.
    """

    def __init__(self):
        self._matrix = ShapeControl("Shapes", START)
        self._matrix.folds = False
        self._words = Words()
        self.numbers = widgets.HTML()
        self.refusal = None
        self._show()
        super().__init__([self._matrix, self.numbers, self._words])
        self.add_class("attnlib-panel")
        self._matrix.observe(lambda _change: self._show(), "values")

    def __repr__(self):
        return f"ShapeExplorer({self.shapes})"

    @property
    def controls(self):
        """The slider of each axis, by input and axis."""
        return {
            operand: dict(zip(AXES, entries, strict=True))
            for operand, entries in zip(OPERANDS, self._matrix.entries, strict=True)
        }

    @property
    def shapes(self):
        """The shapes of Q, K and V, as the sliders say."""
        return [tuple(_length(axis) for axis in row) for row in self._matrix.values]

    def _show(self):
        try:
            head = scaled_dot_product_self_attention(
                *(np.broadcast_to(0.0, shape) for shape in self.shapes)
            )
        except SelfAttentionError as refusal:
            self.refusal = refusal
            self._words.refusal = f"Refused ({refusal.kind}): {refusal}"
            self._words.summary = ""
            self.numbers.value = tables.shapes(dict(zip(OPERANDS, self.shapes, strict=True)))
            return
        self.refusal = None
        self._words.refusal = ""
        stages = (*OPERANDS, "raw_scores", "weights", "output")
        shapes = {stage: getattr(head, stage).shape for stage in stages}
        self.numbers.value = tables.shapes(shapes)
        self._words.summary = sentences.shape_sentence(shapes)
