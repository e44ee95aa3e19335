"""Queries meet keys: scores, and what can be read from them before any softmax."""

import numpy as np

from attnlib.core.tape import exp, log_softmax
from attnlib.lessons import examples
from attnlib.lessons.questions.kinds import Words, only

RAW_SCORES = Words(
    "Write all four entries of QKᵀ: a row for each query, a column for each key.",
    "Entry (i, j) is the dot product of query i with key j: multiply feature by feature, add.",
    {
        "Q times K without the transpose": "that is Q times K as it stands: pair query rows with "
        "key rows, feature by feature.",
        "scaled scores": "those are already divided by √2: the raw scores come first.",
        "signs left out": "the sizes are right, a sign is not: the product of a positive and a "
        "negative number is taken off the sum.",
        "products not added up": "those are single products of features: a score adds up the "
        "products of one query with one key.",
        "queries against queries": "those are the queries' products with each other: every query "
        "meets the keys.",
    },
)


def raw_scores():
    """Ask for all four entries of QKᵀ."""
    example = examples.load("worked-example")
    query, key, head = example.query[0], example.key[0], example.head()
    wrong = {
        "Q times K without the transpose": query @ key,
        "scaled scores": head.scaled_scores[0],
        "signs left out": np.abs(query) @ np.abs(key).T,
        "products not added up": query * key,
        "queries against queries": query @ query.T,
    }
    rows, columns = ("query 0", "query 1"), ("key 0", "key 1")
    return RAW_SCORES.numbers(head.raw_scores[0], wrong, rows, columns)


FAVOURED_KEYS = Words(
    "Which key does each query favour? Write one key number for each query.",
    "Each query's largest score wins, and softmax keeps the order of the scores.",
    {
        "own key, or smallest score": "here those are each token's own key, and the keys with the "
        "smallest scores: only the scores count, and a larger one means a better match.",
        "counted from 1": "the keys are counted from 0: there are key 0 and key 1.",
    },
)


def favoured_keys():
    """Ask which key each query favours."""
    weights = examples.load("worked-example").head().weights[0]
    right = np.argmax(weights, axis=1)
    wrong = {
        "own key, or smallest score": np.argmin(weights, axis=1),
        "counted from 1": right + 1,
    }
    return FAVOURED_KEYS.numbers(right, wrong, columns=("query 0", "query 1"), whole=True)


MOVED_KEY = Words(
    "Add 1 to both features of key 0. Which of the four scores change?",
    "Every query meets key 0 once, and those scores stand below each other in its column. The "
    "scores with key 1 are made without key 0.",
    {
        "row": (
            "a key taken for a row",
            "a row belongs to a query. Which scores are made with key 0?",
        ),
        "corner": (
            "only the token's own query",
            "query 1 meets key 0 too: every query is compared with every key.",
        ),
        "all": (
            "scores taken for weights",
            "a score knows one query and one key only. All four weights may change, because "
            "softmax lets the keys of a query compete, but that comes later.",
        ),
    },
    {
        "row": "those of query 0: a row of the grid",
        "corner": "only that of query 0 with key 0",
        "column": "those of both queries with key 0: a column of the grid",
        "all": "all four",
    },
)


def moved_key():
    """Ask which scores change when key 0 moves."""
    example = examples.load("worked-example")
    before = example.head().raw_scores[0]
    example.key[0, 0] += 1
    changed = example.head().raw_scores[0] != before
    row, column = np.indices(changed.shape)
    right = only(
        row=np.array_equal(changed, row == 0),
        corner=np.array_equal(changed, (row == 0) & (column == 0)),
        column=np.array_equal(changed, column == 0),
        all=changed.all(),
    )
    return MOVED_KEY.choice(right)


NEGATIVE_SCORE = Words(
    "Query 1 scores {other:g} with key 0 and {score:g} with key 1. What does the {score:g} say?",
    "Softmax turns every score into a number above 0, and a lower score into a smaller one: here "
    "the two weights are {weights[0]:.6f} and {weights[1]:.6f}.",
    {
        "subtracted": (
            "negative weight",
            "a weight comes from exp of a score, and exp of any number is above 0.",
        ),
        "excluded": (
            "weight exactly zero",
            "exp of a negative number is small, but it is not 0. Leaving a key out altogether "
            "takes a mask.",
        ),
        "size": (
            "sign of a score ignored",
            "the sign counts: features that point against each other make a poor match.",
        ),
    },
    {
        "subtracted": "value 1 is taken away from the output: its weight is negative",
        "excluded": "key 1 is left out: its weight is exactly 0",
        "worse": "key 1 matches far worse than key 0: its weight is small, yet above 0",
        "size": "key 1 matches nearly as well: only the size of a score counts",
    },
)


def negative_score():
    """Ask what a negative score says."""
    head = examples.load("worked-example").head()
    (other, score), weights = head.raw_scores[0, 1], head.weights[0, 1]
    by_size = exp(log_softmax(np.abs(head.scaled_scores[0, 1])))
    right = only(
        subtracted=weights[1] < 0,
        excluded=weights[1] == 0,
        worse=0 < weights[1] < by_size[1] / 2,
        size=np.isclose(weights[1], by_size[1]),
    )
    return NEGATIVE_SCORE.choice(right, other=other, score=score, weights=weights)


QUESTIONS = {
    "raw-scores": raw_scores,
    "favoured-keys": favoured_keys,
    "moved-key": moved_key,
    "negative-score": negative_score,
}
