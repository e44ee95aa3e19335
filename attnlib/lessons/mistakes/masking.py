"""Masks and dropout in a head that has neither."""

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax

SEED = 4


def allowed(scores):
    """Return which query may see which key under a causal mask, as True and False."""
    return np.tri(*scores.shape[-2:], dtype=bool)


def with_mask(allow, fill=-np.inf):
    """Return the head that fills the scores of forbidden keys before the softmax."""
    return head_with(
        weights=lambda made: softmax(
            np.where(allow(made.scaled_scores), made.scaled_scores, fill).astype(
                made.scaled_scores.dtype
            )
        )
    )


def masked_products(made):
    """Multiply the dot products by a mask of zeros and ones."""
    products = made.query @ made.key.swapaxes(1, 2)
    return products * allowed(products)


def without_itself(scores):
    """Forbid each token its own key."""
    return ~np.eye(scores.shape[-1], dtype=bool)


def dropped(numbers, share=0.5, rescale=True):
    """Set a share of the entries to 0, drawn from a fixed seed, and make up for it."""
    kept = np.random.default_rng(SEED).random(numbers.shape) >= share
    return numbers * kept / (1 - share if rescale else 1)


def dropping(**how):
    """Return the head that drops some of its weights."""
    return head_with(weights=lambda made: dropped(softmax(made.scaled_scores), **how))


MISTAKES = (
    Mistake(
        id="causal-mask-applied",
        title="A mask hides some keys",
        paragraph=(
            "Scores of some keys are set to minus infinity, so a query cannot look at them: the "
            "first sees only itself, the last sees all. Language models need such a mask, and "
            "much example code has it. This head has none: every query sees every key. Leave the "
            "mask out."
        ),
        question="Which keys may the first query look at in your head?",
        signature="Some weights are exactly 0, at fixed places, and the sums are still 1.",
        stage="weights",
        head=with_mask(allowed),
        variants=(
            ("-1e9 stands for minus infinity", with_mask(allowed, -1e9)),
            ("-10000 stands for minus infinity", with_mask(allowed, -1e4)),
            (
                "the scaled scores keep the mask",
                head_with(
                    scaled_scores=lambda made: np.where(
                        allowed(made.raw_scores), made.raw_scores / made.d_k**0.5, -np.inf
                    )
                ),
            ),
            ("the past is hidden", with_mask(lambda scores: allowed(scores).T)),
            ("each token is hidden from itself", with_mask(without_itself)),
        ),
    ),
    Mistake(
        id="mask-after-softmax",
        title="A mask is applied after the softmax",
        paragraph=(
            "Weights are set to 0 when they have already been shared out, so the rest of a row no "
            "longer sums to 1 and its output is too short. It reads as the same step in another "
            "place. This head has no mask; one that has sets scores to minus infinity before the "
            "softmax."
        ),
        question="When some weights are taken away, who gives their share to the others?",
        signature="Some weights are exactly 0, the others are right, and their sum is below 1.",
        stage="weights",
        head=head_with(
            weights=lambda made: softmax(made.scaled_scores) * allowed(made.scaled_scores)
        ),
        variants=(
            (
                "the past is hidden",
                head_with(
                    weights=lambda made: softmax(made.scaled_scores) * allowed(made.scaled_scores).T
                ),
            ),
        ),
    ),
    Mistake(
        id="mask-multiplied-before-softmax",
        title="A mask of zeros and ones meets the scores",
        paragraph=(
            "Scores of hidden keys are multiplied by 0. But a score of 0 is a score like any "
            "other: exp(0) = 1, so a hidden key still gets weight, and more than a seen one with "
            "a negative score. In a sum a zero changes nothing; under a softmax it is one score "
            "more. This head has no mask; one that has sets scores to minus infinity."
        ),
        question="What weight does a score of 0 get beside a score of -2?",
        signature="No weight is 0, and yet a key's weight depends on where it stands.",
        stage="weights",
        head=head_with(
            weights=lambda made: softmax(made.scaled_scores * allowed(made.scaled_scores))
        ),
        variants=(
            (
                "the raw scores are multiplied",
                head_with(raw_scores=masked_products),
            ),
            (
                "the mask is added to the scores",
                head_with(
                    weights=lambda made: softmax(made.scaled_scores + allowed(made.scaled_scores))
                ),
            ),
        ),
    ),
    Mistake(
        id="dropout-active",
        title="Dropout is active",
        paragraph=(
            "Some weights are set to 0 at random and the others are enlarged, so the answer is "
            "another one at each call. Training code has this step and a switch to turn it off, "
            "which is easily forgotten. This head has no dropout. Leave it out, or call "
            "`.eval()` first."
        ),
        question="Do you get the same answer twice from the same input?",
        signature="Weights are either 0 or right times one factor, and two calls may differ.",
        stage="weights",
        head=dropping(),
        variants=(
            ("one weight in ten is dropped", dropping(share=0.1)),
            ("what is left is not enlarged", dropping(rescale=False)),
            (
                "the output is dropped",
                head_with(output=lambda made: dropped(made.weights @ made.value)),
            ),
        ),
    ),
)
