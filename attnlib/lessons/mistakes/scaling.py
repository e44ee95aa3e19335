"""Wrong ways to divide the scores by the root of d_k."""

import math

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax


def divided_by(divisor):
    """Return the head whose raw scores are divided by what `divisor` makes of the inputs."""
    return head_with(scaled_scores=lambda made: made.raw_scores / divisor(made))


def times(factor):
    """Return the head whose raw scores are multiplied by what `factor` makes of the inputs."""
    return head_with(scaled_scores=lambda made: made.raw_scores * factor(made))


def scaled_twice(made):
    """Divide by the root of d_k where the scores are made, and once more before the softmax."""
    return made.raw_scores / math.sqrt(made.d_k) / math.sqrt(made.d_k)


WRONG_WIDTHS = (
    (
        "the root of d_v, the width of the values",
        divided_by(lambda made: math.sqrt(made.value.shape[2])),
    ),
    (
        "the root of T, the number of tokens",
        divided_by(lambda made: math.sqrt(made.query.shape[1])),
    ),
    (
        "the root of B, the number of items",
        divided_by(lambda made: math.sqrt(max(1, len(made.query)))),
    ),
    ("8, the root of 64", divided_by(lambda made: 8)),
    ("the constant 64", divided_by(lambda made: 64)),
    ("the root of 512", divided_by(lambda made: math.sqrt(512))),
)

MISTAKES = (
    Mistake(
        id="scale-missing",
        title="The scale is missing",
        paragraph=(
            "The softmax gets the raw dot products. They grow with the width d_k, so a few keys "
            "take nearly all the weight and hardly any gradient flows. It is easy to overlook, "
            "for every shape is right and the weights still sum to 1. Divide the scores by the "
            "square root of d_k before the softmax."
        ),
        question="What happens to the scores between the product Q Kᵀ and the softmax?",
        signature="The scaled scores equal the raw scores, so each query's weights are too uneven.",
        stage="scaled_scores",
        head=divided_by(lambda made: 1),
    ),
    Mistake(
        id="scale-by-width",
        title="The scores are divided by d_k instead of its root",
        paragraph=(
            "The scores are divided by d_k itself, so the weights come out too even. Either the "
            "square root was forgotten, or the scores were divided by the root twice, once in "
            "each of two places: both are the same function. Divide by the square root of d_k, "
            "once."
        ),
        question="By what number do you divide when d_k is 4, and how many times?",
        signature="The scaled scores are too small by the factor √d_k.",
        stage="scaled_scores",
        head=divided_by(lambda made: made.d_k),
        variants=(("scaled twice", head_with(scaled_scores=scaled_twice)),),
    ),
    Mistake(
        id="scale-inverted",
        title="The scores are multiplied by √d_k",
        paragraph=(
            "The root multiplies the scores where it should divide them, so the softmax is far "
            "too sure of one key. A name such as `scale` does not say whether it is √d_k or its "
            "inverse, which makes the slip easy. Divide by the root, or multiply by 1/√d_k."
        ),
        question="Should a wider d_k make the scaled scores larger or smaller?",
        signature="The scaled scores are too large by the factor d_k.",
        stage="scaled_scores",
        head=times(lambda made: math.sqrt(made.d_k)),
    ),
    Mistake(
        id="scale-wrong-width",
        title="The root is taken of another number than d_k",
        paragraph=(
            "The scores are divided by a root, but of another size: the width of the values, the "
            "number of tokens, the batch size, or a constant copied from elsewhere. Nothing shows "
            "while all these sizes are equal. Read d_k from the last axis of the queries or keys."
        ),
        question="Which axis of which array does the number under your root come from?",
        signature="Every scaled score is off by one constant factor, which d_k does not explain.",
        stage="scaled_scores",
        head=WRONG_WIDTHS[0][1],
        variants=WRONG_WIDTHS,
    ),
    Mistake(
        id="scale-half-width",
        title="d_k ** 1 / 2 is half of d_k",
        paragraph=(
            "In Python `d ** 1 / 2` means `(d ** 1) / 2`, half of d and not its root. At d = 4 "
            "both are 2, so a small example hides it. Write `d ** 0.5` or `math.sqrt(d)`."
        ),
        question="What does your scale come to when you print it for d_k = 9?",
        signature="The scaled scores are too small by √d_k / 2, and right where d_k is 4.",
        stage="scaled_scores",
        head=divided_by(lambda made: made.d_k**1 / 2),
        variants=(("multiplied by d_k / 2", times(lambda made: made.d_k**1 / 2)),),
    ),
    Mistake(
        id="scale-zero",
        title="The scale is zero",
        paragraph=(
            "The factor 1/√d_k was rounded down to 0, by `//` or by `int(...)`. All scaled scores "
            "are then 0 and every query attends evenly to all keys, whatever Q and K are. Divide "
            "with `/` and keep the scale a float."
        ),
        question="Do your scaled scores still depend on Q and K?",
        signature="Every weight is 1/T although the raw scores differ.",
        stage="scaled_scores",
        head=times(lambda made: 1 // math.sqrt(made.d_k)),
        variants=(
            ("rounded by int()", times(lambda made: int(1 / math.sqrt(made.d_k)))),
            ("zero for every width", times(lambda made: 0)),
        ),
    ),
    Mistake(
        id="scale-after-softmax",
        title="The division comes after the softmax",
        paragraph=(
            "The softmax gets the raw scores, and its weights are divided by √d_k. The weights of "
            "a query then sum to 1/√d_k, and every output is too short. The formula names both "
            "steps, and their order is easily lost when they are written on one line. Divide the "
            "scores, then take the softmax."
        ),
        question="To what do the weights of one query sum, and to what should they?",
        signature="Each query's weights sum to 1/√d_k instead of 1.",
        stage="weights",
        head=head_with(
            scaled_scores=None,
            weights=lambda made: softmax(made.raw_scores) / math.sqrt(made.d_k),
        ),
        variants=(
            (
                "the output is divided",
                head_with(
                    scaled_scores=None,
                    weights=lambda made: softmax(made.raw_scores),
                    output=lambda made: made.weights @ made.value / math.sqrt(made.d_k),
                ),
            ),
            (
                "divided before and after",
                head_with(
                    weights=lambda made: softmax(made.scaled_scores) / math.sqrt(made.d_k),
                ),
            ),
        ),
    ),
)
