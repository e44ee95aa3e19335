"""Three alignment pictures of a sentence that the learner types."""

import logging
from threading import RLock

import ipywidgets as widgets

from attnlib.explorers.history_canvas import HEIGHT, WIDTH, HistoryCanvas
from attnlib.explorers.messages import keep_apart_from_cells
from attnlib.explorers.outlets import STALE
from attnlib.explorers.reading import Words
from attnlib.lessons.history import model_history
from attnlib.views.history.alignment_layout import MOST
from attnlib.views.history.alignment_words import alignment_tables, history_sentence

LOG = logging.getLogger("attnlib")
LARGEST_SEED = 9999
START = ("birds", "sing")


class HistoryExplorer(widgets.VBox):
    """One sentence, read by the three models of the history.

    Parameters
    ----------
    words : sequence of str, default ("birds", "sing")
        One to eight words without spaces.
    steps : int, default 2
        Steps of the two decoders, 1 to 8.
    seed : int, default 0
        Chooses the word vectors and the models' weights; they are drawn, not trained.

    Attributes
    ----------
    controls : dict
        ``"words"``, ``"steps"`` and ``"seed"``: the widgets, whose `value` can be set and observed.
    history : ModelHistory
        The last setting that could be run.
    pictures : dict of str to ipywidgets.Image
        ``"alignments"``: the three grids.
    numbers : ipywidgets.HTML
        The same as tables, every word whole.

    Raises
    ------
    ValueError
        If the sentence or the number of steps is refused.
    """

    def __init__(self, words=START, steps=2, seed=0):
        self._lock, self._canvas, self._held = RLock(), HistoryCanvas(), False
        self.history = _run(tuple(words), steps, seed)
        self.controls = _controls(self.history.tokens, steps, seed)
        size = widgets.Layout(width=f"{WIDTH}px", height=f"{HEIGHT}px")
        self.pictures = {"alignments": widgets.Image(format="png", layout=size)}
        self._words = Words(layout=widgets.Layout(width=f"{WIDTH}px"))
        self.numbers = widgets.HTML(layout=widgets.Layout(display="none"))
        stage = widgets.Box([self.pictures["alignments"]])
        self._tables = widgets.ToggleButton(description="Tables")
        self._tables.observe(self._fold, "value")
        bar = widgets.HBox([*self.controls.values(), self._tables])
        keep_apart_from_cells(*self.controls.values(), self._tables)
        super().__init__([bar, stage.add_class("attnlib-stage"), self._words, self.numbers])
        self.add_class("attnlib-panel")
        self._show(self.history)
        for control in self.controls.values():
            control.observe(self._changed, "value")

    def __repr__(self):
        words, steps, seed = self.history.tokens, len(self.history.bridge.weights), self._seed
        return f"HistoryExplorer(words={words!r}, steps={steps}, seed={seed})"

    @property
    def summary(self):
        """What the three models did, in a sentence."""
        return history_sentence(self.history)

    @property
    def refusal(self):
        """Why the present setting isn't drawn; empty where it is."""
        return self._words.refusal

    def set(self, words=None, steps=None, seed=None):
        """Set any of the three at once; the picture is drawn once.

        Parameters
        ----------
        words : sequence of str, optional
            The sentence, word by word.
        steps, seed : int, optional
            As for the explorer itself; what isn't given stays as it is.

        Raises
        ------
        ValueError
            If the sentence or the number of steps is refused; then nothing has changed.
        """
        given = {"words": words, "steps": steps, "seed": seed}
        with self._lock:
            now = self._setting() | {name: x for name, x in given.items() if x is not None}
            _run(**now)
            self._held = True
            try:
                for name, x in now.items():
                    self.controls[name].value = " ".join(x) if name == "words" else x
            finally:
                self._held = False
            self._changed()

    def _setting(self):
        values = {name: control.value for name, control in self.controls.items()}
        return values | {"words": tuple(values["words"].split())}

    def _changed(self, _change=None):
        with self._lock:
            if self._held:
                return
            try:
                self._show(_run(**self._setting()))
            except ValueError as refusal:
                self._refuse(refusal)
            except Exception as error:
                # In a callback nobody stands ready to catch this: the panel must tell it itself.
                LOG.exception("the explorer could not draw this setting")
                self._refuse(error)

    def _show(self, history):
        picture = self._canvas.repaint(history)
        self.history, self._seed = history, self.controls["seed"].value
        self.pictures["alignments"].value = picture
        self.pictures["alignments"].remove_class(STALE)
        self._words.say(refusal="", summary=self.summary)
        if self._tables.value:
            self.numbers.value = alignment_tables(history).html

    def _refuse(self, error):
        self.pictures["alignments"].add_class(STALE)
        why = str(error) or type(error).__name__
        self._words.refusal = f"Not drawn: {why}. The dashed frame marks the last picture."

    def _fold(self, change):
        with self._lock:
            self.numbers.value = alignment_tables(self.history).html if change.new else ""
            self.numbers.layout.display = "" if change.new else "none"


def _run(words, steps, seed):
    """Run the three models, or say what there is no room for."""
    if not words:
        raise ValueError(f"no word yet. Type 1 to {MOST} words, with spaces between them")
    if len(words) > MOST:
        raise ValueError(f"{len(words)} words, but there is room for {MOST}. Leave some out")
    if any(len(word.split()) != 1 for word in words):
        raise ValueError(f"a word has no space in it, got {words!r}: pass each word by itself")
    if not 1 <= steps <= MOST:
        raise ValueError(f"steps must be 1 to {MOST}, got {steps!r}: choose a number in between")
    if not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"seed must be 0 to {LARGEST_SEED}, got {seed!r}: choose a smaller one")
    return model_history(words, steps, seed)


def _controls(words, steps, seed):
    style = {"description_width": "initial"}
    count = widgets.Layout(width="170px")
    return {
        "words": widgets.Text(
            " ".join(words),
            description=f"Sentence, 1 to {MOST} words",
            placeholder="type a sentence",
            style=style,
            layout=widgets.Layout(width="455px"),
        ),
        "steps": widgets.BoundedIntText(
            steps, min=1, max=MOST, description="Decoder steps", style=style, layout=count
        ),
        "seed": widgets.BoundedIntText(
            seed, min=0, max=LARGEST_SEED, description="Seed", style=style, layout=count
        ),
    }
