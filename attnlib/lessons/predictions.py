"""Questions to answer before looking, with right answers that the head itself computes.

Each question also knows some wrong answers: what comes out when one step of the head is taken
another way. `answer` tells the reader which of those theirs is, and what to look at again.
"""

from dataclasses import dataclass, field

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons import examples

TOLERANCE = 5e-3
"""Answers are judged to two decimals: the reader reckons by hand."""


@dataclass(frozen=True, eq=False)
class Question:
    """One question and how to judge an answer.

    Attributes
    ----------
    text : str
        The question.
    right : numpy.ndarray
        The right answer.
    reasoning : str
        Why it is right.
    misconceptions : dict of str to numpy.ndarray
        What to look at again -> the wrong answer that shows it.
    """

    text: str
    right: np.ndarray
    reasoning: str
    misconceptions: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """What became of an answer; as text, it is what the reader sees.

    Attributes
    ----------
    passed : bool or None
        None while the question is not answered.
    message : str
        In words.
    """

    passed: bool | None
    message: str

    def __repr__(self):
        return self.message


def answer(name, value=None):
    """Judge an answer to a question.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    value : array_like, optional
        The answer; None if there is none yet.

    Returns
    -------
    Verdict
        Never an error for an answer of any kind.

    Raises
    ------
    ValueError
        If there is no such question; the message lists those there are.
    """
    if name not in QUESTIONS:
        raise ValueError(f"there is no question {name!r}: choose one of {', '.join(NAMES)}")
    question = QUESTIONS[name]()
    if value is None:
        return Verdict(None, f"{question.text}\nNot answered yet.")
    given = _as_numbers(value)
    if given is None or given.shape != question.right.shape:
        return Verdict(
            False, f"Not yet: the answer is made of {_form(question.right)}; yours is {value!r}."
        )
    if np.allclose(given, question.right, rtol=0, atol=TOLERANCE):
        return Verdict(True, f"Right. {question.reasoning}")
    for hint, wrong in question.misconceptions.items():
        if wrong.shape == given.shape and np.allclose(given, wrong, rtol=0, atol=TOLERANCE):
            return Verdict(False, f"Not yet: {hint}")
    wrong = int(np.sum(~np.isclose(given, question.right, rtol=0, atol=TOLERANCE)))
    return Verdict(False, f"Not yet: {wrong} of {given.size} numbers differ. Look once more.")


def _as_numbers(value):
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _form(right):
    if right.ndim == 2:
        return f"{right.shape[0]} rows of {right.shape[1]} numbers"
    return f"{right.size} numbers in a list"


def _raw_scores():
    example = examples.load("worked-example")
    query, key = example.query[0], example.key[0]
    return Question(
        "Write all four entries of QKᵀ: a row for each query, a column for each key.",
        example.head().raw_scores[0],
        "Entry (i, j) is the dot product of query i with key j: multiply feature by feature, add.",
        {
            "that is Q times K as it stands: pair query rows with key rows, feature by feature.": (
                query @ key
            ),
            "those are already divided by √2: the raw scores come first.": (
                example.head().scaled_scores[0]
            ),
        },
    )


def _favoured_keys():
    weights = examples.load("worked-example").head().weights[0]
    return Question(
        "Which key does each query favour? Write one key number for each query.",
        np.argmax(weights, axis=1).astype(float),
        "Each query's largest score wins, and softmax keeps the order of the scores.",
        {
            "here those are each token's own key, and the keys with the smallest scores: only the "
            "scores count, and a larger one means a better match.": (
                np.argmin(weights, axis=1).astype(float)
            ),
        },
    )


def _output_shape():
    query = key = np.zeros((4, 7, 3))
    head = scaled_dot_product_self_attention(query, key, np.zeros((4, 7, 5)))
    return Question(
        "Q and K have the shape [4, 7, 3] and V has [4, 7, 5]. What is the output's shape?",
        np.array(head.output.shape, dtype=float),
        "There is one output for each batch item and query, and it is as wide as a value.",
        {
            "that is the shape of the queries: an output is made of values.": (
                np.array(head.query.shape, dtype=float)
            ),
            "that is the shape of the weights: they still have to mix the values.": (
                np.array(head.weights.shape, dtype=float)
            ),
        },
    )


QUESTIONS = {
    "raw-scores": _raw_scores,
    "favoured-keys": _favoured_keys,
    "output-shape": _output_shape,
}
"""name -> the function that makes the question."""

NAMES = tuple(QUESTIONS)
"""Every question's name, in teaching order."""
