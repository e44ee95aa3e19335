"""Habits of code, not of attention: buffers, roundings, leftover names and changed inputs.

Some of these heads write to what they are given: hand them copies.
"""

import math

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax

right = head_with()
# As if an earlier cell of the notebook had made it.
LEFTOVER = np.random.default_rng(6).standard_normal(60)


def filling(make_buffer):
    """Return the head that writes its output into a buffer made beforehand."""

    @np.errstate(all="ignore")
    def head(query, key, value):
        stages = right(query, key, value)
        buffer = make_buffer(query, value)
        buffer[...] = stages["output"]
        return stages | {"output": buffer}

    return head


def scores_in_buffer(made):
    """Write the scaled scores into a buffer of the queries' type."""
    scaled = np.zeros(made.raw_scores.shape, dtype=made.query.dtype)
    scaled[...] = made.raw_scores / math.sqrt(made.d_k)
    return scaled


def rounding(digits):
    """Return the head whose weights are rounded on their way into the mixture."""
    return head_with(weights=lambda made: softmax(made.scaled_scores).round(digits))


def leftover_like(array):
    """Return the leftover array, in the shape and type of another."""
    return np.resize(LEFTOVER, array.shape).astype(np.result_type(array, np.float32))


def scaling_in_place(query, key, value):
    """Divide the caller's own queries, and compute the right output from them."""
    query /= math.sqrt(query.shape[2])
    scaled = head_with(raw_scores=None, scaled_scores=lambda made: query @ key.swapaxes(1, 2))
    return scaled(query, key, value)


def centring_in_place(query, key, value):
    """Take the mean key away from the caller's own keys: the weights do not change."""
    key -= key.mean(axis=1, keepdims=True)
    stages = right(query, key, value)
    return {stage: stages[stage] for stage in ("weights", "output")}


def answering_in_place(query, key, value):
    """Write the output over the caller's own values."""
    stages = right(query, key, value)
    value[...] = stages["output"]
    return stages


IGNORING = (
    (
        "value is not read",
        head_with(output=lambda made: made.weights @ leftover_like(made.value)),
    ),
    (
        "key is not read",
        head_with(raw_scores=lambda made: made.query @ leftover_like(made.key).swapaxes(1, 2)),
    ),
    (
        "query is not read",
        head_with(raw_scores=lambda made: leftover_like(made.query) @ made.key.swapaxes(1, 2)),
    ),
)

MISTAKES = (
    Mistake(
        id="integer-buffer",
        title="Results are written into an array of whole numbers",
        paragraph=(
            "The array that takes the results was made with the type of the inputs. When those "
            "are whole numbers, every result is cut off to a whole number on its way in, without "
            "a word. Small examples typed by hand, such as [[1, 0], [2, 3]], are whole numbers. "
            "Make the array with `dtype=float`, or let the product make it."
        ),
        question="What is the dtype of the array that your results are written to?",
        signature="With whole numbers as inputs, the results have no digits after the point.",
        stage="output",
        head=filling(lambda query, value: np.zeros_like(value)),
        variants=(
            ("the scaled scores are cut off", head_with(scaled_scores=scores_in_buffer)),
            ("whatever the inputs", filling(lambda query, value: np.zeros(value.shape, int))),
        ),
    ),
    Mistake(
        id="value-width-assumed",
        title="The values are assumed to be as wide as the keys",
        paragraph=(
            "The array for the output is made in the shape of Q, or d_k is used where d_v is "
            "meant. It works as long as both widths are equal, as they are in most examples, and "
            "raises an error otherwise. The output has one row a query and one column a feature "
            "of V: take its width from the values."
        ),
        question="What is the width of your output if V has four features and Q has five?",
        signature="It raises unless d_v = d_k, and is right there.",
        stage="call",
        head=filling(lambda query, value: np.zeros_like(query, dtype=float)),
        variants=(
            (
                "reshaped to the width of Q",
                head_with(
                    output=lambda made: (made.weights @ made.value).reshape(made.query.shape)
                ),
            ),
        ),
    ),
    Mistake(
        id="rounded-intermediates",
        title="The weights are rounded before they mix",
        paragraph=(
            "The weights are rounded for the eye, and then the rounded ones are used. Their sum "
            "is no longer exactly 1 and the last digits of the output drift. Worked examples on "
            "paper do this, and a `round` in the code is easily left behind. Round only what you "
            "print."
        ),
        question="Do your weights have more digits than you see?",
        signature="The weights end after a few digits; the output is off in about the same one.",
        stage="weights",
        head=rounding(4),
        variants=(("to 3 digits", rounding(3)), ("to 2 digits", rounding(2))),
    ),
    Mistake(
        id="input-modified",
        title="The head changes its inputs",
        paragraph=(
            "The answer is right, but an input is not what it was before: `query /= root` divides "
            "the caller's own array. A second call with the same arrays then gives another "
            "answer, far from the line at fault. Write `query = query / root`, which makes a new "
            "array."
        ),
        question="If you call your head twice with the same arrays, are the answers equal?",
        signature="The first call is right, and an input differs after it.",
        stage="call",
        head=scaling_in_place,
        variants=(
            ("the keys are centred in place", centring_in_place),
            ("the output overwrites the values", answering_in_place),
        ),
    ),
    Mistake(
        id="argument-ignored",
        title="A leftover variable is used instead of an argument",
        paragraph=(
            "The head reads a name of the notebook, such as `V`, where it has an argument "
            "`value`. It is right for as long as both hold the same numbers, and after that it "
            "still answers for the old ones. Use the arguments only; restarting the kernel and "
            "running all cells brings such names to light."
        ),
        question="Does your result change with each of its three arguments?",
        signature="The result does not change when one of the arguments does.",
        stage="output",
        head=IGNORING[0][1],
        variants=IGNORING,
    ),
)
