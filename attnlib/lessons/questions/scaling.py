"""The scale: what the division by sqrt(d_k) does, and what it is there for."""

import numpy as np

from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.lessons import examples
from attnlib.lessons.questions.kinds import Words, only
from attnlib.lessons.questions.mixing import softmax
from attnlib.lessons.widening import widen

PROBE_SCALED = Words(
    "Softmax of the scores [1, 0] gives the favoured key the weight {unscaled:.6f}. With dₖ = 2 "
    "both scores are first divided by √2. What is its weight then?",
    "The division brings the two scores closer to each other, so softmax chooses less sharply: "
    "the weight is {scaled:.6f}. The order stays, so the favoured key stays ahead.",
    {
        "more": (
            "division that sharpens",
            "does the difference between the scores grow or shrink when both are divided by √2?",
        ),
        "same": (
            "only the ratio of scores counts",
            "a common factor changes the difference of the scores, and softmax works with "
            "differences.",
        ),
        "flipped": (
            "order of the scores lost",
            "both scores are divided by the same positive number: which is larger then?",
        ),
    },
    {
        "more": "more",
        "same": "the same",
        "less": "less, but still more than a half",
        "flipped": "less than a half",
    },
)


def probe_scaled():
    """Ask whether the scale raises or lowers the favoured weight of the scores [1, 0]."""
    scores = np.array([1.0, 0.0])
    unscaled, scaled = softmax(scores)[0], softmax(scores / np.sqrt(2))[0]
    right = only(
        more=scaled > unscaled,
        same=scaled == unscaled,
        less=0.5 < scaled < unscaled,
        flipped=scaled < 0.5,
    )
    return PROBE_SCALED.choice(right, unscaled=unscaled, scaled=scaled)


SCORE_SPREAD = Words(
    "All components of a query and a key are independent, with mean 0 and variance 1, and "
    "dₖ = {width}. What is the standard deviation of their raw score q·k?",
    "Each of the {width} products has variance 1, and variances of independent terms add up, to "
    "{variance:g}. Its root is the standard deviation, √dₖ = {spread:g}: dividing by √dₖ brings "
    "it back to 1, whatever dₖ is. All of that rests on the assumptions.",
    {
        "variance instead of standard deviation": "that is the variance: the standard deviation "
        "is its root.",
        "the spread of a scaled score": "that is the spread of one product, or of the score after "
        "its division by √dₖ. The raw score is a sum of dₖ products.",
        "mean instead of spread": "that is the mean: positive and negative scores balance. How "
        "far from it do they lie?",
    },
)


def score_spread():
    """Ask for the standard deviation of a raw score of 64 features."""
    width = 64
    # Random signs have mean 0 and variance 1, and so does a product of two: an exact distribution.
    chances = np.ones(1)
    for _ in range(width):
        chances = np.convolve(chances, [0.5, 0.0, 0.5])
    score = np.arange(-width, width + 1)
    mean = chances @ score
    variance = chances @ (score - mean) ** 2
    spread = np.sqrt(variance)
    wrong = {
        "variance instead of standard deviation": variance,
        "the spread of a scaled score": spread / np.sqrt(width),
        "mean instead of spread": mean,
    }
    return SCORE_SPREAD.numbers(spread, wrong, width=width, variance=variance, spread=spread)


ZEROS_ADDED = Words(
    "Every query and every key gets four more features, all 0. What do the scores do?",
    "A zero adds nothing to a dot product, but it counts as a feature: the raw scores are now "
    "divided by √{wide} in place of √{narrow}. The weights get flatter, though nothing was added "
    "to tell the keys apart by.",
    {
        "neither": (
            "width counted by what is not zero",
            "the raw scores stay, that is right. By what are they divided?",
        ),
        "both": (
            "dot product taken for an average",
            "a dot product is a sum: what do four zeros add to it?",
        ),
        "raw": ("longer means larger", "what does a product of two zeros add to a sum?"),
    },
    {
        "neither": "nothing: neither raw nor scaled scores change",
        "scaled": "the raw scores stay, the scaled scores move closer to 0",
        "both": "raw and scaled scores both move closer to 0",
        "raw": "the raw scores grow, the scaled scores stay",
    },
)


def zeros_added():
    """Ask what features that are zero do to raw and scaled scores."""
    example = examples.load("worked-example")
    before = example.head()
    wide = [widen(x, before.key_width + 4, "zeros", seed=0) for x in (example.query, example.key)]
    after = scaled_dot_product_self_attention(*wide, example.value)
    raw, scaled = (
        np.linalg.norm(getattr(after, stage)) / np.linalg.norm(getattr(before, stage))
        for stage in ("raw_scores", "scaled_scores")
    )
    right = only(
        neither=raw == scaled == 1,
        scaled=raw == 1 and scaled < 1,
        both=raw < 1 and scaled < 1,
        raw=raw > 1 and np.isclose(scaled, 1),
    )
    return ZEROS_ADDED.choice(right, wide=after.key_width, narrow=before.key_width)


SCALE_DIVISOR = Words(
    "Someone divides the scores by dₖ in place of √dₖ, on components that are independent with "
    "mean 0 and variance 1. As dₖ grows, what do the weights become, compared with √dₖ?",
    "The spread of a raw score grows like √dₖ. Divided by dₖ it shrinks like 1/√dₖ, so the "
    "scores of a query come ever closer to each other: over four keys, the mean favoured weight "
    "falls from {first:.2f} at dₖ = {widths[0]} to {last:.2f} at dₖ = {widths[1]}. An even share "
    "is 0.25.",
    {
        "sharper": (
            "a larger divisor that sharpens",
            "dₖ is larger than √dₖ, so the scores come out smaller. What do small differences "
            "between scores make of the weights?",
        ),
        "same": (
            "scale without effect",
            "half the scores are half the differences, and softmax turns those into other weights.",
        ),
    },
    {
        "sharper": "sharper and sharper: one key gets nearly all",
        "flatter": "flatter and flatter: every key gets nearly the same",
        "same": "much the same: the divisor only sets the unit",
    },
)


def scale_divisor():
    """Ask what dividing by d_k in place of its root does."""
    widths = 4, 16, 64, 256
    by_width, by_root = np.array([_favoured_weights(width) for width in widths]).T
    gap = by_width - by_root
    right = only(
        sharper=np.all(gap > 0) and by_width[-1] > by_width[0],
        flatter=np.all(gap < 0) and by_width[-1] < by_width[0],
        same=np.allclose(gap, 0, rtol=0, atol=0.02),
    )
    ends = widths[0], widths[-1]
    return SCALE_DIVISOR.choice(right, first=by_width[0], last=by_width[-1], widths=ends)


def _favoured_weights(width):
    query, key, value = np.random.default_rng(2017).standard_normal((3, 64, 4, width))
    head = scaled_dot_product_self_attention(query, key, value)
    by_width = softmax(head.raw_scores / width)
    return by_width.max(axis=2).mean(), head.weights.max(axis=2).mean()


QUESTIONS = {
    "probe-scaled": probe_scaled,
    "score-spread": score_spread,
    "zeros-added": zeros_added,
    "scale-divisor": scale_divisor,
}
