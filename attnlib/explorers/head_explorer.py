"""The whole head under the hand: every entry of Q, K, V and d_k a slider, every stage in view."""

import logging
import threading
from contextlib import contextmanager

import ipywidgets as widgets
import numpy as np

from attnlib.core.errors import SelfAttentionError
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.explorers import states
from attnlib.explorers.canvas import HeadCanvas
from attnlib.explorers.controls import MatrixControl
from attnlib.explorers.outlets import Outlets
from attnlib.lessons import examples
from attnlib.lessons.widening import NEW_FEATURES, widen
from attnlib.views import sentences
from attnlib.views.layout import quantities

LOG = logging.getLogger("attnlib")
OPERANDS = {"Q": "query", "K": "key", "V": "value"}
SEEDS = {"Q": 1, "K": 2}
"""Of the random features that a wider d_k may bring."""
OWN = "your own numbers"
LABEL = {"description_width": "initial"}


class HeadExplorer(widgets.VBox):
    """One attention head whose every number can be moved.

    Parameters
    ----------
    query, key : array_like, optional
        Shape [1, tokens, d_k] or [tokens, d_k]; the worked example where nothing is given.
    value : array_like, optional
        Shape [1, tokens, d_v] or [tokens, d_v].
    grad_output : array_like, optional
        Shape of the output; ones on the diagonal where it is not given.

    Attributes
    ----------
    controls : dict
        ``controls["Q"][t][f]`` is the entry of query t, feature f, and so for ``"K"`` and ``"V"``;
        ``controls["d_k"]`` is a slider. Each has `value`, `min`, `max`, `step` and can be observed.
    head : SelfAttentionForward
        The last setting that the core accepted.
    gradients : SelfAttentionGradients
        Of the same setting.
    pictures : dict of str to ipywidgets.Image
        The pictures by name.
    numbers : ipywidgets.HTML
        Every quantity as tables.

    Raises
    ------
    ValueError
        If there is more than one batch item, or only some of Q, K and V are given.
    SelfAttentionError
        If the core refuses what is given.
    """

    def __init__(self, query=None, key=None, value=None, grad_output=None):
        self._start = states.as_inputs(query, key, value, grad_output)
        self._preset = states.PRESETS[0] if query is None else OWN
        self._grad_output = self._start.grad_output
        self._lock = threading.RLock()
        self._holding = 0
        self._canvas = HeadCanvas()
        self._matrices = {
            name: MatrixControl(name, getattr(self._start, operand)[0].tolist())
            for name, operand in OPERANDS.items()
        }
        self._outlets = Outlets()
        self.pictures, self.numbers = self._outlets.pictures, self._outlets.numbers
        self._make_toolbar()
        sliders = widgets.VBox(list(self._matrices.values())).add_class("attnlib-sliders")
        body = widgets.HBox([sliders, self.pictures["head"]]).add_class("attnlib-body")
        super().__init__([self._toolbar, body, self._outlets.words, self._outlets.folder])
        self.add_class("attnlib-panel")
        self._redraw()
        self._watch()

    def __repr__(self):
        _, tokens, key_width = self.head.query.shape
        return (
            f"HeadExplorer(tokens={tokens}, key_width={key_width}, "
            f"value_width={self.head.value_width})"
        )

    @property
    def controls(self):
        """Every slider, by the name of what it moves."""
        entries = {name: matrix.entries for name, matrix in self._matrices.items()}
        return {**entries, "d_k": self._key_width}

    @property
    def summary(self):
        """The state of the head in a sentence."""
        return sentences.head_sentence(self.head, self._grad_output)

    def set(self, query=None, key=None, value=None, grad_output=None):
        """Set any of the inputs whole; the picture is redrawn once.

        Parameters
        ----------
        query, key, value, grad_output : array_like, optional
            Shapes as for the explorer itself; what is not given stays as it is.

        Raises
        ------
        SelfAttentionError, ValueError
            If the new inputs don't go together; then nothing has changed.
        """
        with self._lock:
            given = {"query": query, "key": key, "value": value, "grad_output": grad_output}
            given = {name: x for name, x in given.items() if x is not None}
            self._load(states.as_inputs(**{**vars(self._inputs()), **given}))

    def reset(self):
        """Go back to what the explorer, or the last preset, started from."""
        self._load(self._start)

    def code(self):
        """Write Python that rebuilds this very state.

        Returns
        -------
        str
            Two statements; run, they give an explorer with the same numbers to the last bit.
        """
        return states.code_of(self._inputs())

    def _make_toolbar(self):
        titles = [(examples.load(name).title, name) for name in states.PRESETS]
        own = [(OWN, OWN)] if self._preset == OWN else []
        self._presets = widgets.Dropdown(
            options=own + titles, value=self._preset, description="Start from", style=LABEL
        )
        self._key_width = widgets.IntSlider(
            value=self._start.query.shape[2],
            min=1,
            max=states.LARGEST_WIDTH,
            description="d_k",
            style=LABEL,
        )
        self._new_features = widgets.Dropdown(
            options=NEW_FEATURES, description="new features", style=LABEL
        )
        self._reset = widgets.Button(
            description="Reset", tooltip="Back to the numbers at the start"
        )
        for control, width in (
            (self._presets, "260px"),
            (self._key_width, "230px"),
            (self._new_features, "190px"),
            (self._reset, "80px"),
        ):
            control.layout.width = width
        self._toolbar = widgets.HBox(
            [self._presets, self._key_width, self._new_features, self._reset],
            layout=widgets.Layout(flex_flow="row wrap"),
        )

    def _watch(self):
        for matrix in self._matrices.values():
            matrix.observe(self._moved, "values")
            matrix.observe(self._sharpen, "pixel_ratio")
        self._key_width.observe(self._width_moved, "value")
        self._presets.observe(self._preset_chosen, "value")
        self._reset.on_click(lambda _button: self.reset())

    def _inputs(self):
        arrays = {
            operand: np.array(self._matrices[name].values)[None]
            for name, operand in OPERANDS.items()
        }
        return states.Inputs(**arrays, grad_output=self._grad_output)

    @contextmanager
    def _one_redraw(self):
        """Hold back drawing until all that belongs to one change is set."""
        with self._lock:
            self._holding += 1
            try:
                yield
            finally:
                self._holding -= 1
            if not self._holding:
                self._redraw()

    def _load(self, inputs):
        with self._one_redraw():
            self._grad_output = inputs.grad_output
            for name, operand in OPERANDS.items():
                self._matrices[name].values = getattr(inputs, operand)[0].tolist()
            self._key_width.value = inputs.query.shape[2]

    def _moved(self, _change):
        with self._one_redraw():
            pass

    def _width_moved(self, change):
        with self._one_redraw():
            inputs = self._inputs()
            if change.new == inputs.query.shape[2]:
                return
            for name, seed in SEEDS.items():
                matrix = getattr(inputs, OPERANDS[name])
                wider = widen(matrix, change.new, self._new_features.value, seed)
                self._matrices[name].values = wider[0].tolist()

    def _preset_chosen(self, change):
        if change.new != OWN:
            self._start = states.preset(change.new)
        self._load(self._start)

    def _sharpen(self, change):
        with self._lock:
            self._canvas.scale = min(2.0, max(1.0, change.new))
        self._moved(change)

    def _redraw(self):
        try:
            inputs = self._inputs()
            head = scaled_dot_product_self_attention(inputs.query, inputs.key, inputs.value)
            gradients = head.backward(inputs.grad_output)
            shown = quantities(head, gradients, inputs.grad_output)
            picture = self._canvas.repaint(shown)
            self.head, self.gradients = head, gradients
            self._outlets.show(picture, self._canvas.layout, shown, self.summary)
        except SelfAttentionError as refusal:
            self._outlets.refuse(refusal)
        except Exception as error:
            # In a callback nobody stands ready to catch this: the panel must tell it itself.
            LOG.exception("the explorer could not draw this setting")
            self._outlets.refuse(error)
