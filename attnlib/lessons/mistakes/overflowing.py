"""Heads that are right on paper and on small numbers, and fail on large ones."""

import numpy as np

from attnlib.lessons.mistakes.exponentials import largest, shares, weighing
from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with

right = head_with()


def shifted_by(maximum):
    """Return the head whose softmax subtracts something else than each query's own maximum."""
    return weighing(lambda scores: shares(np.exp(scores - maximum(scores))))


def cut_at(most):
    """Return the head that cuts its scores off at a number, and needs no maximum then."""
    return weighing(lambda scores: shares(np.exp(scores.clip(-most, most))))


def never_below(start):
    """Return a running maximum that starts at a finite number instead of minus infinity."""
    return lambda scores: np.maximum(largest(scores), start)


@np.errstate(all="ignore")
def in_half_precision(query, key, value):
    """Compute the whole head in float16, and say nothing of it in the type of the answer."""
    halves = right(*(np.asarray(x).astype(np.float16) for x in (query, key, value)))
    dtype = np.result_type(query, np.float32)
    return {stage: made.astype(dtype) for stage, made in halves.items()}


@np.errstate(all="ignore")
def left_in_half_precision(query, key, value):
    """Compute the whole head in float16 and return it so."""
    return right(*(np.asarray(x).astype(np.float16) for x in (query, key, value)))


@np.errstate(all="ignore")
def weights_in_half_precision(query, key, value):
    """Keep only the weights in float16, to save memory."""
    stages = right(query, key, value)
    weights = stages["weights"].astype(np.float16).astype(stages["weights"].dtype)
    return stages | {"weights": weights, "output": weights @ value}


SENTINELS = (
    ("it starts at -10000", shifted_by(never_below(-10000))),
    ("it starts at 0", shifted_by(never_below(0))),
)

MISTAKES = (
    Mistake(
        id="softmax-without-maximum",
        title="The softmax does not subtract the maximum",
        paragraph=(
            "exp of a large score is too large for a float: it becomes infinite, and infinity "
            "over infinity is NaN. Scores far below 0 all become 0, and 0/0 is NaN too. On small "
            "numbers everything is right, so small examples never show it. Subtract each query's "
            "largest score before exp; the weights do not change."
        ),
        question="What is exp(1000) in floating point?",
        signature="Small scores are right; a score of 1000 gives NaN, or 0 if NaN is replaced.",
        stage="weights",
        head=shifted_by(lambda scores: 0),
        variants=(
            (
                "NaN replaced by 0",
                weighing(lambda scores: np.nan_to_num(shares(np.exp(scores)))),
            ),
        ),
    ),
    Mistake(
        id="softmax-global-maximum",
        title="One maximum is subtracted from all queries",
        paragraph=(
            "The maximum was taken over the whole matrix and not for each query. A query whose "
            "scores all lie far below it is left with exp of very negative numbers, which are 0, "
            "and 0/0 is NaN. It is right whenever the queries are alike. Take the maximum along "
            "the axis of the keys."
        ),
        question="How many maxima do you subtract, and how many queries are there?",
        signature="A query with scores far below those of another gets NaN.",
        stage="weights",
        head=shifted_by(np.max),
        variants=(
            (
                "one for each item",
                shifted_by(lambda scores: scores.max(axis=(1, 2), keepdims=True)),
            ),
        ),
    ),
    Mistake(
        id="softmax-finite-sentinel",
        title="The running maximum starts at a finite number",
        paragraph=(
            "The loop that looks for the largest score starts from 0, or from a number that "
            "seemed low enough, such as -10000. Where all scores of a query lie below it, that "
            "number is subtracted instead of their maximum, exp gives only zeros, and 0/0 is NaN. "
            "Start from minus infinity, or from the first score."
        ),
        question="What is your maximum before it has seen any score?",
        signature="A query whose scores are all very negative gets NaN.",
        stage="weights",
        head=SENTINELS[0][1],
        variants=SENTINELS,
    ),
    Mistake(
        id="scores-clipped",
        title="The scores are clipped before the softmax",
        paragraph=(
            "To keep exp from overflowing, the scores are cut off at a fixed number. Two scores "
            "beyond it become equal and share their weight evenly, though one may be far ahead. "
            "Nothing shows until scores are that large. Subtract each query's maximum instead: it "
            "costs no information."
        ),
        question="What do two scores of 60 and 70 become on their way into your softmax?",
        signature="Scores beyond the cut get equal weights.",
        stage="weights",
        head=cut_at(50),
        variants=(("at -10 and 10", cut_at(10)),),
    ),
    Mistake(
        id="half-precision",
        title="The head computes in half precision",
        paragraph=(
            "float16 keeps about three digits and ends at 65504. Results are off in the fourth "
            "digit, and a large product Q Kᵀ is infinite before any scale can help. It is chosen "
            "for speed, or inherited from the inputs. Compute in float32 or float64, or at least "
            "scale the queries before the product."
        ),
        question="In which type are your scores held, and what is the largest number it has?",
        signature="Three digits are right and the rest are not; scores above 65504 are infinite.",
        stage="raw_scores",
        head=in_half_precision,
        variants=(
            ("returned as float16", left_in_half_precision),
            ("only the weights", weights_in_half_precision),
        ),
    ),
)
