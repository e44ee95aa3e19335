"""A gallery of wrong heads: choose a mistake, see its grids beside the right ones."""

import logging
import threading

import ipywidgets as widgets

from attnlib.explorers.picker import Picker
from attnlib.lessons.mistakes import CATALOGUE, load
from attnlib.views.verdicts import mistake_page

LOG = logging.getLogger("attnlib")
# Of its own, so that no page widens the panel; the browser may narrow it.
FITTING = widgets.Layout(width="870px", max_width="100%")
FIRST = "softmax-over-queries"
WAYS = {"forward": "On the way forward", "backward": "On the way back"}


class MistakeGallery(widgets.VBox):
    """Every mistake that the checker knows by name, one at a time.

    Attributes
    ----------
    choice : Picker
        The mistakes by title, in the order in which a head is computed; its value is an id.
    page : ipywidgets.HTML
        The chosen one beside the right head, and the sign that gives it away.
    """

    def __init__(self, mistake=FIRST):
        # Refused here, in words, rather than by the list.
        load(mistake)
        self._lock = threading.RLock()
        self.choice = Picker(
            label="Mistake",
            options=[[WAYS[m.direction], m.title, m.id] for m in CATALOGUE.values()],
            value=mistake,
        )
        self.page = widgets.HTML(layout=FITTING)
        self._summary = ""
        self._show()
        super().__init__([self.choice, self.page], layout=FITTING)
        self.add_class("attnlib-panel")
        self.choice.observe(lambda _change: self._show(), "value")

    def __repr__(self):
        return f"MistakeGallery({self.choice.value!r})"

    @property
    def summary(self):
        """The chosen mistake in words."""
        return self._summary

    def _show(self):
        with self._lock:
            try:
                page = mistake_page(CATALOGUE[self.choice.value])
                self.page.value, self._summary = page.html, repr(page)
            except Exception as error:
                # In a callback nobody stands ready to catch this: the panel must tell it itself.
                LOG.exception("the gallery could not show %s", self.choice.value)
                self.page.value = self._summary = (
                    f"This mistake could not be shown ({type(error).__name__})."
                )
