"""Questions to answer before looking, with right answers that the head itself computes.

Each question also knows some wrong answers: what comes out when one step of the head is taken
another way. `answer` tells the reader which of those theirs is, and what to look at again. The
questions themselves stand in `attnlib.lessons.questions`.
"""

import reprlib
from dataclasses import dataclass

import numpy as np

from attnlib.lessons.questions import (
    growing,
    matching,
    mixing,
    opening,
    reaching,
    returning,
    scaling,
    separating,
)
from attnlib.lessons.questions.kinds import Choice

TOLERANCE = 5e-3
"""Answers are judged to two decimals: the reader reckons by hand."""

THEMES = (matching, mixing, scaling, separating, returning, reaching, growing, opening)
QUESTIONS = {name: make for theme in THEMES for name, make in theme.QUESTIONS.items()}
"""name -> the function that makes the question."""

NAMES = tuple(QUESTIONS)
"""Every question's name, in teaching order."""

UNANSWERED = "Not answered yet."


@dataclass(frozen=True)
class Verdict:
    """What became of an answer; as text, it is what the reader sees.

    Attributes
    ----------
    passed : bool or None
        None while the question is not answered.
    message : str
        In words.
    misconception : str or None
        The name of the mistake, where it is recognized.
    reasoning : str
        Why the right answer is right; empty while there is no whole answer.
    """

    passed: bool | None
    message: str
    misconception: str | None = None
    reasoning: str = ""

    def __repr__(self):
        return self.message


def question(name):
    """Make the question of this name.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    Choice or Numbers
        The question with its right answer, computed afresh.

    Raises
    ------
    ValueError
        If there is no such question; the message lists those there are.
    """
    if name not in NAMES:
        raise ValueError(f"there is no question {name!r}: choose one of {', '.join(NAMES)}")
    return QUESTIONS[name]()


def answer(name, value=None):
    """Judge an answer to a question.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    value : array_like or str, optional
        The answer: numbers, or the letter (or the words) of an option; None if there is none yet.

    Returns
    -------
    Verdict
        Never an error for an answer of any kind.

    Raises
    ------
    ValueError
        If there is no such question; the message lists those there are.
    """
    asked = question(name)
    if value is None:
        return Verdict(None, f"{asked.listing}\n{UNANSWERED}")
    judge = _judge_choice if isinstance(asked, Choice) else _judge_numbers
    return judge(asked, value)


def in_a_cell(name):
    """Write the call that answers a question without a form, its answer left out."""
    return f'predictions.answer("{name}", {question(name).blank})'


def _judge_choice(asked, value):
    if not (isinstance(value, str) or value is ...):
        return _misfit(asked, value)
    given = "..." if value is ... else " ".join(value.split()).lower()
    if given in ("", "..."):
        return Verdict(False, f"Not yet: nothing is chosen; the answer is {asked.form}.")
    for key, (letter, words) in zip(asked.options, asked.lettered.items(), strict=True):
        if given in (letter, key, words.lower()):
            right = key == asked.right
            return _right(asked) if right else _wrong(asked, key, "another option holds")
    return _misfit(asked, value)


def _judge_numbers(asked, value):
    try:
        given = np.array(_fitted(value, asked.right.shape))
    except Exception:
        # Whatever the reader's own object does when it is read, it is no answer.
        return _misfit(asked, value)
    missing = int(np.isnan(given).sum())
    if missing:
        noun = "number is" if missing == 1 else "numbers are"
        return Verdict(False, f"Not yet: {missing} {noun} missing.")
    same = np.isclose(given, asked.right, rtol=0, atol=TOLERANCE)
    if same.all():
        return _right(asked)
    differ = f"{np.sum(~same)} of {same.size} numbers differ" if same.ndim else "it differs"
    return _wrong(asked, given, differ)


def _right(asked):
    return Verdict(True, f"Right. {asked.reasoning}", reasoning=asked.reasoning)


def _wrong(asked, given, otherwise):
    for known in asked.misconceptions:
        if _same(given, known.answer):
            message = f"Not yet ({known.name}): {known.hint}"
            return Verdict(False, message, known.name, asked.reasoning)
    return Verdict(False, f"Not yet: {otherwise}. Look once more.", reasoning=asked.reasoning)


def _same(given, known):
    if isinstance(known, str):
        return given == known
    return np.allclose(given, known, rtol=0, atol=TOLERANCE)


def _misfit(asked, value):
    return Verdict(False, f"Not yet: the answer is {asked.form}; yours is {_shown(value)}.")


def _shown(value):
    try:
        return reprlib.repr(value)
    except Exception:
        return f"of type {type(value).__name__}"


def _fitted(value, shape):
    """Lay numbers out in a shape; what is left out becomes NaN, what is too much is an error."""
    if value is None or value is ... or (isinstance(value, str) and not value.strip()):
        return np.full(shape, np.nan)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not shape:
        # A single number may come in brackets: [8].
        return _fitted(*value, ()) if isinstance(value, (list, tuple)) else float(value)
    if not isinstance(value, (list, tuple)) or len(value) > shape[0]:
        raise ValueError(f"expected {shape[0]} entries")
    parts = [*value, *[None] * (shape[0] - len(value))]
    return [_fitted(part, shape[1:]) for part in parts]
