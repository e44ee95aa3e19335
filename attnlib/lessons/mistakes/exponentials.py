"""Softmaxes that run along the right axis and do another thing than a softmax does."""

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with, softmax


def weighing(normalize):
    """Return the head whose weights are another function of the scaled scores."""
    return head_with(weights=lambda made: normalize(made.scaled_scores))


def shares(numbers):
    """Divide each row by its sum."""
    return numbers / numbers.sum(axis=-1, keepdims=True)


def largest(scores):
    """Return the largest score of each query, with its axis kept."""
    return scores.max(axis=-1, keepdims=True)


def log_softmax(scores):
    """Return the logarithm of the weights."""
    shifted = scores - largest(scores)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


MISTAKES = (
    Mistake(
        id="normalized-without-exp",
        title="The scores are divided by their sum, without exp",
        paragraph=(
            "Each row is divided by its sum, so it does sum to 1. But negative scores stay "
            "negative, and a sum near 0 blows everything up. It is half of the softmax, and the "
            "half that shows in the row sums. Take the exponential of the scores first."
        ),
        question="What makes every weight positive, whatever the sign of its score?",
        signature="Each query's weights sum to 1, yet some are negative or above 1.",
        stage="weights",
        head=weighing(shares),
        variants=(
            ("with absolute values", weighing(lambda scores: shares(abs(scores)))),
            ("with squares", weighing(lambda scores: shares(scores**2))),
            ("with negative scores set to 0", weighing(lambda scores: shares(scores.clip(min=0)))),
            (
                "with the smallest score subtracted",
                weighing(lambda scores: shares(scores - scores.min(axis=-1, keepdims=True))),
            ),
        ),
    ),
    Mistake(
        id="exp-not-normalized",
        title="The exponentials are not divided by their sum",
        paragraph=(
            "The weights are exp of the scores and nothing more: positive, in the right order, "
            "and of any total. It is the other half of the softmax, and a heat map looks much "
            "the same. Divide each query's exponentials by their sum."
        ),
        question="To what do the weights of one query sum?",
        signature="Each query's weights are the right ones times a factor of its own.",
        stage="weights",
        head=weighing(lambda scores: np.exp(scores - largest(scores))),
        variants=(("without the maximum", weighing(np.exp)),),
    ),
    Mistake(
        id="weights-are-logarithms",
        title="The logarithms of the weights mix the values",
        paragraph=(
            "A log-softmax stands where the softmax should. Its numbers are the logarithms of the "
            "weights, so none is above 0. Libraries offer both functions side by side, and the "
            "log form is the one used in losses. Take exp of it, or use the softmax."
        ),
        question="What is the sign of your weights?",
        signature="No weight is above 0, and exp of the weights sums to 1 for each query.",
        stage="weights",
        head=weighing(log_softmax),
    ),
    Mistake(
        id="sigmoid-instead-of-softmax",
        title="Each score is squashed alone, by a sigmoid",
        paragraph=(
            "Every weight lies between 0 and 1, but it depends on its own score only: the keys do "
            "not compete. Two keys with the score 0 both get one half, and so do ten. For two "
            "choices the two functions are close relatives, which invites the exchange. Use the "
            "softmax over the keys."
        ),
        question="If one key's score rises, what should happen to the weights of the other keys?",
        signature="A score of 0 always gets the weight 0.5, however many keys there are.",
        stage="weights",
        head=weighing(lambda scores: 1 / (1 + np.exp(-scores))),
    ),
    Mistake(
        id="softmax-base-two",
        title="The softmax raises 2, not e, to the scores",
        paragraph=(
            "Powers of 2 are shared out instead of powers of e, which softens the weights as if "
            "all scores were multiplied by ln 2. Fast kernels do use `exp2`, but they multiply "
            "the scores by log2(e) first, and a copied line may leave that out. Use `exp`."
        ),
        question="By what factor does a weight grow when its score grows by 1?",
        signature="A score larger by 1 gets twice the weight, not e ≈ 2.7 times.",
        stage="weights",
        head=weighing(lambda scores: shares(np.exp2(scores - largest(scores)))),
    ),
    Mistake(
        id="sign-flipped",
        title="The sign of the scores is flipped",
        paragraph=(
            "Each query attends most to the key that is least like it. It usually comes from the "
            "stable softmax: the maximum minus the score was written for the score minus the "
            "maximum. Rows still sum to 1. Subtract the maximum from the score."
        ),
        question="Does the largest score of a query get its largest weight?",
        signature="Each query's weights stand in the opposite order of its scores.",
        stage="weights",
        head=weighing(lambda scores: softmax(-scores)),
        variants=(
            (
                "the maximum minus the score",
                weighing(lambda scores: shares(np.exp(largest(scores) - scores))),
            ),
            (
                "a negative scale",
                head_with(scaled_scores=lambda made: -made.raw_scores / made.d_k**0.5),
            ),
        ),
    ),
)
