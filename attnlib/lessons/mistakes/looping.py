"""Slips of the loops over queries, keys and items."""

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax


def without_last_query(made):
    """Leave the last row of the output as it was made: zeros."""
    output = made.weights @ made.value
    output[:, -1] = 0
    return output


def without_last_key(made):
    """Share the weights out over all keys but the last."""
    weights = np.zeros(made.scaled_scores.shape, made.scaled_scores.dtype)
    if weights.shape[2] > 1:
        weights[..., :-1] = softmax(made.scaled_scores[..., :-1])
    return weights


def without_last_feature(made):
    """Add up each dot product over all features but the last."""
    return made.query[..., :-1] @ made.key[..., :-1].swapaxes(1, 2)


def sums_carried_on(made):
    """Never set the sum under the softmax back to 0 between two queries."""
    scores = made.scaled_scores
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True).cumsum(axis=1)


def carried_through_the_batch(made):
    """Never set the mixture back to 0, not even between two items."""
    output = made.weights @ made.value
    return output.reshape(-1, output.shape[2]).cumsum(axis=0).reshape(output.shape)


LEFT_OUT = (
    ("the last query gets no output", head_with(output=without_last_query)),
    ("the last key gets no weight", head_with(weights=without_last_key)),
    ("the last feature is left out of the scores", head_with(raw_scores=without_last_feature)),
)

MISTAKES = (
    Mistake(
        id="token-left-out",
        title="A loop stops one too early",
        paragraph=(
            "A loop runs to T - 1 where it should run to T, so the last query gets no output, or "
            "the last key no weight. `range(n)` already leaves n out, and one more is easily "
            "taken off. Run over `range(T)`."
        ),
        question="Which token does your loop treat last, and which is the last one there is?",
        signature="The last token has no output or no weight, or the last feature no influence.",
        stage="output",
        head=LEFT_OUT[0][1],
        variants=LEFT_OUT,
    ),
    Mistake(
        id="accumulator-not-reset",
        title="A sum is carried on from one query to the next",
        paragraph=(
            "The sum that collects a query's mixture, or the one under its softmax, is set to 0 "
            "before the loop over the queries instead of inside it. The first query is right, and "
            "each later one drags all before it along. Set the sum to 0 where a query begins."
        ),
        question="What does your sum hold at the moment when the second query begins?",
        signature="The first query is right, and each later one is not.",
        stage="output",
        head=head_with(output=lambda made: (made.weights @ made.value).cumsum(axis=1)),
        variants=(
            ("not between items either", head_with(output=carried_through_the_batch)),
            ("the sum under the softmax", head_with(weights=sums_carried_on)),
        ),
    ),
    Mistake(
        id="mixture-overwritten-not-added",
        title="The mixture is overwritten where it should be added to",
        paragraph=(
            "The loop over the keys writes weight times value with `=`, so each key erases the "
            "one before it and only the last is left. The line looks right, for each turn of the "
            "loop does compute the right share. Start from 0 and use `+=`."
        ),
        question="After the loop over the keys, what is left of the first key's share?",
        signature="Each output is the last value times its weight.",
        stage="output",
        head=head_with(output=lambda made: made.weights[..., -1:] * made.value[:, -1:]),
    ),
)
