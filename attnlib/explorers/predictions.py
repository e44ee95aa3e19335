"""Predictions as forms: the reader commits an answer, and only then sees what became of it."""

import logging
import threading

import traitlets

from attnlib.explorers.part import Part, source
from attnlib.lessons.predictions import NAMES, UNANSWERED, answer, in_a_cell, question

__all__ = ["NAMES", "QuestionForm", "answer", "ask"]

LOG = logging.getLogger("attnlib")


class QuestionForm(Part):
    """One question with a choice, a number or a grid to fill in.

    The browser shows and sends; it never holds the right answer. All that is shown is shown as
    text, never as markup.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Attributes
    ----------
    text : str
        The question.
    options : list of str
        What there is to choose from; empty where numbers are asked for.
    rows, columns : list of str
        What the axes of a grid count; a list of numbers has columns only, one number neither.
    given : object
        The last answer that came from the browser: a letter, a number, a list or a grid.
    passed : bool or None
        What became of it.
    message : str
        The same in words.
    reasoning : str
        After a wrong answer: the reasoning, for those who ask for it; a right answer's message has
        it.
    commits : int
        How many answers have been committed.

    Raises
    ------
    ValueError
        If there is no such question; the message lists those there are.
    """

    _esm = source("question.js")
    _css = source("question.css")
    text = traitlets.Unicode().tag(sync=True)
    options = traitlets.List().tag(sync=True)
    rows = traitlets.List().tag(sync=True)
    columns = traitlets.List().tag(sync=True)
    given = traitlets.Any(None, allow_none=True).tag(sync=True)
    passed = traitlets.Bool(None, allow_none=True).tag(sync=True)
    message = traitlets.Unicode(UNANSWERED).tag(sync=True)
    reasoning = traitlets.Unicode().tag(sync=True)
    commits = traitlets.Int().tag(sync=True)

    def __init__(self, name):
        asked = question(name)
        self._name, self._listing = name, asked.listing
        # Messages may come in another thread than the one that runs the cells.
        self._lock = threading.RLock()
        super().__init__(
            text=asked.text,
            options=list(getattr(asked, "lettered", {}).values()),
            rows=list(getattr(asked, "rows", ())),
            columns=list(getattr(asked, "columns", ())),
        )
        self.on_msg(self._received)

    def __repr__(self):
        how = f"To answer in a cell: {in_a_cell(self._name)}"
        return f"{self._listing}\n{how}\n{self.message}"

    def _repr_mimebundle_(self, **kwargs):
        # What stands in a saved notebook must be whole: widgets cut their text at 110 characters.
        data, *rest = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": repr(self)}, *rest

    def commit(self, value):
        """Judge an answer and show what became of it.

        Parameters
        ----------
        value : object
            A letter, a number, a list or a grid of numbers; None stands for one left out.
        """
        with self._lock, self.hold_sync():
            try:
                verdict = answer(self._name, ... if value is None else value)
                self.passed, self.message = verdict.passed, verdict.message
                self.reasoning = "" if verdict.passed else verdict.reasoning
            except Exception as error:
                # In a callback nobody stands ready to catch this: the form must tell it itself.
                LOG.exception("an answer to %s could not be judged", self._name)
                self.passed, self.reasoning = None, ""
                self.message = (
                    f"This answer could not be judged: {str(error) or type(error).__name__}"
                )
            self.commits += 1

    def _received(self, _widget, content, _buffers):
        if isinstance(content, dict) and "commit" in content:
            with self._lock:
                self.given = content["commit"]
                self.commit(self.given)


def ask(name):
    """Ask a question in a form.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    QuestionForm
        As the last line of a cell, it is shown; as text, it reads as the question.

    Raises
    ------
    ValueError
        If there is no such question; the message lists those there are.
    """
    return QuestionForm(name)
