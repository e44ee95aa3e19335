"""Wrong ways to turn scores into weights: along which axes, and how often."""

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax


def over(axis):
    """Return the head whose softmax runs along another axis, or several."""
    return head_with(weights=lambda made: softmax(made.scaled_scores, axis))


def over_flattened_rows(made):
    """Put the queries of all items into one long column of rows, and normalize down it."""
    batch, queries, keys = made.scaled_scores.shape
    rows = made.scaled_scores.reshape(batch * queries, keys)
    return softmax(rows, axis=0).reshape(batch, queries, keys)


def losing_axis(maximum_kept, total_kept):
    """Return the head whose maximum, or total, of each row loses the axis it stood on."""

    def weights(made):
        scores = made.scaled_scores
        powers = np.exp(scores - scores.max(axis=-1, keepdims=maximum_kept))
        return powers / powers.sum(axis=-1, keepdims=total_kept)

    return head_with(weights=weights)


def losing_axis_without_maximum(made):
    """Divide by a total that lost its axis, where no maximum was subtracted before."""
    powers = np.exp(made.scaled_scores)
    return powers / powers.sum(axis=-1)


ALL_AT_ONCE = (("one for each item", over((1, 2))), ("one for the whole batch", over(None)))

MISTAKES = (
    Mistake(
        id="softmax-on-raw-scores",
        title="The softmax reads the unscaled scores",
        paragraph=(
            "The scaled scores are computed and right, and then the softmax is given the raw ones. "
            "Two names that look alike, and an old line that was not changed, are enough. The "
            "result is that of a missing scale. Give the softmax the scaled scores."
        ),
        question="Which of your variables goes into the softmax?",
        signature="The scaled scores are right, and the weights are not their softmax.",
        stage="weights",
        head=head_with(weights=lambda made: softmax(made.raw_scores)),
    ),
    Mistake(
        id="softmax-over-queries",
        title="The softmax runs over the queries",
        paragraph=(
            "The weights that one key gets from all queries sum to 1, where the weights that one "
            "query gives to all keys should. Shapes and totals are right, and training hardly "
            "shows it. Which axis holds the keys is easily forgotten. Normalize along the "
            "axis of the keys, the last one."
        ),
        question="Who shares out a total of 1: each query over the keys, or each key?",
        signature="For each key the weights over the queries sum to 1; for a query they do not.",
        stage="weights",
        head=over(1),
    ),
    Mistake(
        id="softmax-over-batch",
        title="The softmax runs over the batch",
        paragraph=(
            "Each weight is compared with the weight at the same place in the other items, so "
            "items that have nothing to do with each other change each other. With a single item "
            "every weight is 1. A function with `axis=0` as its default leads here. Normalize "
            "along the axis of the keys, the last one."
        ),
        question="Should a second item in the batch change the weights of the first?",
        signature="Each weight, summed over the items of the batch, gives 1.",
        stage="weights",
        head=over(0),
    ),
    Mistake(
        id="softmax-over-flattened-rows",
        title="The softmax runs over the queries of all items at once",
        paragraph=(
            "The scores were reshaped to [batch × queries, keys], and the softmax then ran down "
            "that long column of rows. One item and one query give weights of 1, whatever the "
            "scores. Flattening first is harmless; normalizing along axis 0 afterwards is not. "
            "Normalize along the last axis, before or after the reshape."
        ),
        question="After your reshape, which axis holds the keys?",
        signature="For each key, the weights over the queries of all items together sum to 1.",
        stage="weights",
        head=head_with(weights=over_flattened_rows),
    ),
    Mistake(
        id="softmax-over-everything",
        title="One softmax over the whole matrix",
        paragraph=(
            "All scores of an item, or of the whole batch, share one total of 1, so most queries "
            "get far too little weight and their outputs shrink. A sum without an axis sums over "
            "everything, and many functions do that unless told otherwise. Name the axis of the "
            "keys in the maximum and in the sum."
        ),
        question="How many sums does your softmax divide by, and how many queries are there?",
        signature="All weights of an item, or of the batch, sum to 1 together.",
        stage="weights",
        head=ALL_AT_ONCE[0][1],
        variants=ALL_AT_ONCE,
    ),
    Mistake(
        id="softmax-lost-axis",
        title="The sum over the keys lost its axis",
        paragraph=(
            "The sum over the keys has shape [batch, queries] instead of [batch, queries, 1]. "
            "Broadcasting lines it up with the last axes, so a query is divided by the totals of "
            "others, or NumPy raises an error because the sizes do not fit. A square matrix hides "
            "it. Write `keepdims=True` in the maximum and in the sum."
        ),
        question="What is the shape of the sum that you divide by?",
        signature="It raises unless the batch size fits; if it runs, other queries mix in.",
        stage="weights",
        head=losing_axis(maximum_kept=True, total_kept=False),
        variants=(
            ("the maximum lost its axis", losing_axis(maximum_kept=False, total_kept=True)),
            ("the maximum and the sum lost it", losing_axis(maximum_kept=False, total_kept=False)),
            ("no maximum is subtracted", head_with(weights=losing_axis_without_maximum)),
        ),
    ),
    Mistake(
        id="softmax-missing",
        title="There is no softmax",
        paragraph=(
            "The scaled scores themselves mix the values. They can be negative and sum to "
            "anything, so an output can lie far outside the range of the values. All shapes are "
            "right, so nothing complains. Put the scores through a softmax before the mixture."
        ),
        question="Can a weight be negative?",
        signature="The weights are the scaled scores; some are negative.",
        stage="weights",
        head=head_with(weights=lambda made: made.scaled_scores),
        variants=(("the raw scores are taken", head_with(weights=lambda made: made.raw_scores)),),
    ),
    Mistake(
        id="softmax-twice",
        title="The softmax is taken twice",
        paragraph=(
            "The weights go through a second softmax. As they all lie between 0 and 1, the second "
            "one makes them nearly even. It happens when a function already returns weights and "
            "its caller expects scores. Take the softmax once."
        ),
        question="What does each function that you call return: scores or weights?",
        signature="No weight of a query is more than e ≈ 2.7 times another.",
        stage="weights",
        head=head_with(weights=lambda made: softmax(softmax(made.scaled_scores))),
    ),
)
