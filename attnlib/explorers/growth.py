"""What a longer sequence costs on the machine at hand: counted at once, measured when asked for."""

import logging
import threading

import ipywidgets as widgets

from attnlib.explorers.messages import keep_apart_from_cells
from attnlib.explorers.reading import Words
from attnlib.lessons import growth
from attnlib.views.growth import HEIGHT, WIDTH, growth_figure, growth_page, measured_page

LOG = logging.getLogger("attnlib")
READY = "Nothing is measured yet."
PAUSE = 0.5
"""Seconds before each case, in which the browser paints the last one on the same cores."""


class GrowthExplorer(widgets.VBox):
    """Memory and time of the head with grids and of the one without, as sequences grow.

    Parameters
    ----------
    biggest : dict, optional
        Head -> the most tokens to measure, as `lessons.growth.BIGGEST`.

    Attributes
    ----------
    controls : dict
        ``"measure"`` and ``"stop"``: buttons.
    progress : ipywidgets.IntProgress
        How many cases are done.
    pictures : dict of str to ipywidgets.Image
        ``"growth"``: lines for what was counted, marks for what was measured.
    numbers : ipywidgets.HTML
        What was measured, as a table.
    measured : tuple of Measured
        The same as records.
    """

    def __init__(self, biggest=None):
        self._biggest = dict(growth.BIGGEST if biggest is None else biggest)
        self._counted = growth.count()
        self._thread, self._stopping = None, threading.Event()
        self.measured = ()
        layout = widgets.Layout(width="auto")
        self.controls = {
            "measure": widgets.Button(description="Measure on this machine", layout=layout),
            "stop": widgets.Button(description="Stop", disabled=True, layout=layout),
        }
        self.progress = widgets.IntProgress(0, max=len(growth.cases(self._biggest)))
        self._state = widgets.Label(READY)
        size = {"width": f"{WIDTH}px", "height": f"{HEIGHT}px"}
        self.pictures = {"growth": widgets.Image(format="png", layout=widgets.Layout(**size))}
        self.numbers = widgets.HTML()
        self._show()
        words = Words(summary=repr(growth_page(self._counted)))
        words.layout.max_width = f"{WIDTH}px"
        bar = widgets.HBox([*self.controls.values(), self.progress, self._state])
        super().__init__([bar, *self.pictures.values(), words, self.numbers])
        self.add_class("attnlib-panel")
        self.controls["measure"].on_click(lambda _button: self.start())
        self.controls["stop"].on_click(lambda _button: self._stopping.set())
        keep_apart_from_cells(*self.controls.values())

    def __repr__(self):
        return f"GrowthExplorer(biggest={self._biggest!r})"

    @property
    def summary(self):
        """What is counted and measured, in words."""
        return repr(growth_figure(self._counted, self.measured))

    def start(self):
        """Begin to measure, unless that is under way; the kernel stays free meanwhile."""
        if self._thread is None or not self._thread.is_alive():
            self._stopping.clear()
            self._thread = threading.Thread(target=self._measure, daemon=True)
            self._thread.start()

    def wait(self):
        """Wait until what was begun has ended."""
        if self._thread is not None:
            self._thread.join()

    def _measure(self):
        self._running(True)
        self.measured, self.progress.value = (), 0
        cases = growth.cases(self._biggest)
        try:
            self._say(cases)
            self._stopping.wait(PAUSE)
            for measured in growth.measurements(self._biggest):
                self.measured = (*self.measured, measured)
                self.progress.value = len(self.measured)
                self._show()
                self._say(cases)
                if self._stopping.wait(PAUSE):
                    break
        except Exception as error:
            # In a thread nobody stands ready to catch this: the panel must tell it itself.
            LOG.exception("the explorer could not measure")
            self._state.value = f"Stopped: {str(error) or type(error).__name__}."
        else:
            done, all_of_them = len(self.measured), len(cases)
            ended = "Done" if done == all_of_them else "Stopped"
            self._state.value = f"{ended}: {done} of {all_of_them} measured."
        finally:
            self._running(False)

    def _say(self, cases):
        """Name the case that comes next."""
        for head, tokens in cases[len(self.measured) :][:1]:
            self._state.value = f"Measuring T = {tokens:,}, {head} …"

    def _show(self):
        self.pictures["growth"].value = growth_figure(self._counted, self.measured).png()
        self.numbers.value = measured_page(self.measured).html if self.measured else ""

    def _running(self, running):
        self.controls["measure"].disabled = running
        self.controls["stop"].disabled = not running
