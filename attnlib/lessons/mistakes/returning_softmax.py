"""Mistakes on the way back through the softmax: dS is wrong, so dQ and dK are, and dV is right."""

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.way_back import leaving


def _scores(change):
    """A backward function whose dS is what `change` makes of a `WayBack`."""
    return leaving(lambda back: back.gradients(change(back)))


def _less(back, term):
    return back.weights * (back.grad_weights - term)


def _total(x, axis=2):
    return np.sum(x, axis=axis, keepdims=True)


def _mean(x):
    return np.mean(x, axis=2, keepdims=True)


MISTAKES = (
    Mistake(
        id="softmax-gradient-skipped",
        title="The softmax has no way back",
        paragraph=(
            "dW is handed on as dS, as if each weight were its own score. It happens where softmax "
            "and mixture were written as one line, so that no line is left to send back. Moving "
            "one score moves every weight of its query, so the softmax needs a step of its own: "
            "dS = W (dW - sum over keys of W dW)."
        ),
        question="If one score of a query grows, which of that query's weights change?",
        signature="dV is right; dQ and dK stay far from 0 even where a query is sure of one key.",
        stage="query",
        head=_scores(lambda back: back.grad_weights),
        direction="backward",
    ),
    Mistake(
        id="row-sum-missing",
        title="The softmax's row sum is missing",
        paragraph=(
            "dS is taken as W times dW, as for a plain exponential. The sum below the fraction is "
            "easily taken for a constant, but every score of the query stands in it. For each "
            "query, take the sum over keys of W dW from dW before multiplying by W."
        ),
        question="What must the gradients of one query's scores add up to, if adding the same "
        "number to all of these scores changes nothing?",
        signature="dV is right; dK summed over the keys should be 0 in each feature, and isn't.",
        stage="query",
        head=_scores(lambda back: back.products),
        direction="backward",
    ),
    Mistake(
        id="diagonal-only",
        title="Only the diagonal of the softmax's Jacobian is used",
        paragraph=(
            "dS is taken as W (1 - W) dW, as if each score changed its own weight only. That is "
            "the sigmoid's derivative, remembered from networks with one output. Off the diagonal "
            "the Jacobian holds -W_i W_j, for a weight that grows takes from the others."
        ),
        question="When one weight of a query grows, what happens to its other weights, and where "
        "does that enter your gradient?",
        signature="dV is right; dK summed over the keys should be 0 in each feature, and isn't; "
        "each entry of dS has the sign of dW.",
        stage="query",
        head=_scores(lambda back: back.products * (1 - back.weights)),
        direction="backward",
    ),
    Mistake(
        id="row-term-wrong",
        title="The softmax's row term holds the wrong number",
        paragraph=(
            "A term is taken from dW, but not the right one: half of it, a plain mean, a sum over "
            "the wrong axis, or it is added. The slip is an axis, a sign or a bracket, or a buffer "
            "read before it was full. There is one term for each query, the sum over its keys of "
            "W dW; it is taken from dW, and W multiplies what is left."
        ),
        question="Is your row term, query by query, the sum over features of output times "
        "grad_output?",
        signature="dV is right; the row term differs from the sum over features of output times "
        "grad_output, to which it must be equal.",
        stage="query",
        head=_scores(lambda back: _less(back, back.row_term / 2)),
        direction="backward",
        variants=(
            ("added", _scores(lambda back: _less(back, -back.row_term))),
            ("not weighted", _scores(lambda back: _less(back, _total(back.grad_weights)))),
            ("a plain mean", _scores(lambda back: _less(back, _mean(back.grad_weights)))),
            ("divided by T", _scores(lambda back: _less(back, _mean(back.products)))),
            ("over the queries", _scores(lambda back: _less(back, _total(back.products, 1)))),
            ("over the item", _scores(lambda back: _less(back, _total(back.products, (1, 2))))),
            ("outside the bracket", _scores(lambda back: back.products - back.row_term)),
            ("one a feature", _scores(lambda back: _less(back, back.output * back.grad_output))),
        ),
    ),
    Mistake(
        id="log-softmax-gradient",
        title="The way back is that of log-softmax",
        paragraph=(
            "dS is taken as dW - W (sum over keys of dW): the derivative of the logarithm of a "
            "softmax. It is the form found first, for it belongs to the usual loss of a "
            "classifier. Here dW is the gradient of the weights, not of their logarithms: put W dW "
            "in the place of dW."
        ),
        question="Is the gradient that you start from that of the weights, or of their logarithms?",
        signature="dV is right and dK sums to 0 over the keys; yet dQ and dK stay far from 0 even "
        "where a query is sure of one key.",
        stage="query",
        head=_scores(lambda back: back.grad_weights - back.weights * _total(back.grad_weights)),
        direction="backward",
    ),
)
