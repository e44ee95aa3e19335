"""The whole head under the hand: every entry of Q, K, V and d_k a slider, every stage in view."""

import logging
from functools import cached_property

import ipywidgets as widgets
import traitlets

from attnlib.core.errors import SelfAttentionError
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.explorers import files, states, taking
from attnlib.explorers.canvas import HeadCanvas
from attnlib.explorers.desk import Desk, Place
from attnlib.explorers.editable import Editable
from attnlib.explorers.editing import Editing
from attnlib.explorers.linked import LinkedReading
from attnlib.explorers.messages import keep_apart_from_cells
from attnlib.explorers.outlets import Outlets
from attnlib.explorers.toolbar import OWN, Toolbar
from attnlib.views import sentences
from attnlib.views.layout import quantities

LOG = logging.getLogger("attnlib")


class HeadExplorer(Editable, widgets.VBox):
    """One attention head whose every number can be moved.

    Parameters
    ----------
    query, key : array_like, optional
        Shape [1, tokens, d_k] or [tokens, d_k]; the worked example where nothing is given.
    value : array_like, optional
        Shape [1, tokens, d_v] or [tokens, d_v].
    grad_output : array_like, optional
        Shape of the output; ones on the diagonal where it is not given.
    labels : sequence of str, optional
        The tokens' own words, whatever stands in them.
    note : str, optional
        Where the numbers come from, for a line below the panel.

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
    reading : str
        The chosen cell as an equation with this state's numbers, and its gradient's.

    Raises
    ------
    ValueError
        If there is more than one batch item, or only some of Q, K and V are given, or labels are
        not one for each token.
    SelfAttentionError
        If the core refuses what is given.
    """

    SLIDERS = ("Q", "K", "V")
    """Matrices that have sliders."""
    GRIDS = None
    """Quantities in the picture, in a row; None: the whole head."""
    ARRANGEMENT = "attnlib-beside"
    """Where the sliders stand: beside the picture, or above it."""

    def __init__(self, query=None, key=None, value=None, grad_output=None, labels=None, note=""):
        start = self._own = states.as_inputs(query, key, value, grad_output, labels, note)
        # The picture before any widget: while their messages leave, it would wait for each.
        self._canvas = HeadCanvas(names=self.GRIDS)
        shown, picture = self._draw(start)
        plain = widgets.Layout()
        self._editing = Editing(start, self._redraw, plain)
        self._matrices = self._editing.matrices
        self._toolbar = Toolbar(
            states.PRESETS,
            states.PRESETS[0] if query is None and labels is None else OWN,
            start.query.shape[2],
            states.LARGEST_WIDTH,
            self._act,
            layout=plain,
            comm=Place(),
        )
        self._outlets = Outlets(self._canvas.layout, picture, self.summary, note, plain)
        self.pictures, self._numbers = self._outlets.pictures, None
        self._linked = LinkedReading(
            self._outlets.reader,
            self._outlets.words,
            self._matrices,
            self._editing.lock,
        )
        self._linked.follow(self._canvas.layout, shown)
        sliders = {name: self._matrices[name] for name in self.SLIDERS}
        outlets = {"reader": self._outlets.reader, "words": self._outlets.words}
        desk = Desk({"toolbar": self._toolbar, **sliders, **outlets}, layout=plain)
        super().__init__(
            [desk, *self._pictures()], _dom_classes=("attnlib-panel", self.ARRANGEMENT)
        )
        self._watch()

    @classmethod
    def from_head(cls, head, tokens, labels=None, item=0):
        """Open a few tokens of a head of any size, with the weights that they have there.

        Parameters
        ----------
        head : SelfAttentionForward or sequence of array_like
            The head, or its query, key and value.
        tokens : sequence of int
            Positions of up to 8 tokens, each once.
        labels : sequence of str, optional
            One for each token of the head, or one for each chosen token. Where all are chosen, the
            first is meant.
        item : int, default 0
            Which batch item.

        Returns
        -------
        HeadExplorer
            Its `note` says what was done to bring the head to a size that can be followed.

        Raises
        ------
        ValueError
            If it isn't a head, or there is no such item or token, or too many, or one twice, or
            labels of another count.

        See Also
        --------
        attnlib.lessons.projection.choose : What is kept, and how.
        """
        return cls(**taking.arguments(head, tokens, labels, item))

    def _pictures(self):
        return self.pictures.values()

    def __repr__(self):
        _, tokens, key_width = self.head.query.shape
        return (
            f"{type(self).__name__}(tokens={tokens}, key_width={key_width}, "
            f"value_width={self.head.value_width})"
        )

    @property
    def controls(self):
        """Every slider, by the name of what it moves."""
        entries = {name: self._matrices[name].entries for name in self.SLIDERS}
        return {**entries, "d_k": self._key_width}

    @cached_property
    def _key_width(self):
        """A slider for d_k, to hold in Python; the panel has one of its own, which has a name."""
        slider = widgets.IntSlider(self._editing.key_width, min=1, max=states.LARGEST_WIDTH)
        traitlets.link((self._editing, "key_width"), (slider, "value"))
        keep_apart_from_cells(slider)
        return slider

    @property
    def numbers(self):
        """Every quantity as tables: an `ipywidgets.HTML`, hidden below the panel until opened."""
        with self._editing.lock:
            if self._numbers is None:
                self._numbers = widgets.HTML(layout=widgets.Layout(display="none"))
                self._linked.tabulate(self._numbers)
                self.children = (*self.children, self._numbers)
        return self._numbers

    @property
    def summary(self):
        """The state of the head in a sentence."""
        return sentences.head_sentence(self.head, self._grad_output, self.labels)

    @property
    def labels(self):
        """The tokens' own words; empty where they have none."""
        return self._canvas.labels

    @property
    def note(self):
        """Where the numbers of this state come from; empty for most."""
        return self._editing.inputs().note

    @property
    def reading(self):
        """The chosen cell's equations with this state's numbers; empty where none is chosen."""
        return self._outlets.words.reading

    def choose(self, name, row, column):
        """Read one cell: its equation appears below the picture, and what it comes from is marked.

        Parameters
        ----------
        name : str
            ``"Q"``, ``"K"``, ``"V"``, ``"raw_scores"``, ``"scaled_scores"``, ``"weights"``,
            ``"output"``, or ``"d"`` and one of these for its gradient.
        row, column : int
            The cell.

        Raises
        ------
        ValueError
            If there is no such cell.
        """
        with self._editing.lock:
            self._linked.choose(name, row, column)

    def _act(self, word):
        """Do what a button of the toolbar says."""
        if word == "copy":
            self._toolbar.offer_code(self.code())
        elif word in files.KINDS:
            self._toolbar.offer_file(f"attention_head.{word}", files.KINDS[word], self._file(word))
        elif word in ("undo", "redo", "reset"):
            getattr(self, word)()

    def _watch(self):
        for matrix in self._matrices.values():
            matrix.observe(self._sharpen, "pixel_ratio")
        traitlets.link((self._toolbar, "key_width"), (self._editing, "key_width"))
        self._toolbar.observe(self._preset_chosen, "preset")
        self._toolbar.observe(self._filling_chosen, "new_features")
        self._toolbar.observe(self._tables_asked, "tables")

    def _tables_asked(self, change):
        self.numbers.layout.display = "" if change.new else "none"

    def _preset_chosen(self, change):
        self._editing.start = self._own if change.new == OWN else states.preset(change.new)
        self.reset()

    def _filling_chosen(self, change):
        self._editing.new_features = change.new

    def _sharpen(self, change):
        with self._editing.lock:
            self._canvas.scale = min(2.0, max(1.0, change.new))
            self._redraw()

    def _draw(self, inputs):
        """Compute a head and paint it; nothing changes where it is refused."""
        head = scaled_dot_product_self_attention(inputs.query, inputs.key, inputs.value)
        gradients = head.backward(inputs.grad_output)
        shown = quantities(head, gradients, inputs.grad_output)
        self._canvas.labels = inputs.labels
        picture = self._canvas.repaint(shown)
        self.head, self.gradients, self._grad_output = head, gradients, inputs.grad_output
        return shown, picture

    def _redraw(self):
        try:
            inputs = self._editing.inputs()
            shown, picture = self._draw(inputs)
            # First of all: it is what the eye follows.
            self._outlets.show(picture, self._canvas.layout)
            reading = self._linked.follow(self._canvas.layout, shown)
            words = {"summary": self.summary, "reading": reading, "note": inputs.note}
            self._outlets.words.say(**words, refusal="")
        except SelfAttentionError as refusal:
            self._outlets.refuse(refusal)
        except Exception as error:
            # In a callback nobody stands ready to catch this: the panel must tell it itself.
            LOG.exception("the explorer could not draw this setting")
            self._outlets.refuse(error)
        self._toolbar.can_undo = self._editing.changes.can_undo
        self._toolbar.can_redo = self._editing.changes.can_redo
