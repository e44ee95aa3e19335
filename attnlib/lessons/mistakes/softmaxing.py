"""Wrong ways to turn scores into weights."""

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax


def over(axis):
    """Return the head whose softmax runs along another axis, or several."""
    return head_with(weights=lambda made: softmax(made.scaled_scores, axis))


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
            "shows it. Queries and keys are easily confused when one says rows and columns. "
            "Normalize along the axis of the keys, the last one."
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
)
