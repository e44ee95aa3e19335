"""Beyond the grid: what it would cost, and how a query does without it, there and back."""

import numpy as np

from attnlib.core.streaming import streaming_self_attention
from attnlib.lessons import examples, growth
from attnlib.lessons.online_softmax import trace
from attnlib.lessons.questions.kinds import Words, only

GRID_MEMORY = Words(
    "A head reads {tokens} tokens. Its scores alone are a grid of T × T numbers, 8 bytes each in "
    "float64. How many GB is this one grid, at a billion bytes a GB?",
    "{tokens} × {tokens} × 8 bytes are {size:.2f} GB, and a head that keeps raw scores, scaled "
    "scores, weights and the gradient of each holds six such grids. Twice the tokens are four "
    "times the bytes.",
    {
        "one byte for each number": "that counts the numbers. How many bytes does each take?",
        "float32 instead of float64": "that would be right for 4 bytes a number.",
        "bits instead of bytes": "8 bytes are 64 bits; the question is about bytes.",
    },
)


def grid_memory():
    """Ask for the bytes of one grid of 16384 tokens."""
    tokens = 16384
    (counted,) = growth.count([tokens])
    right = counted.grid / 1e9
    wrong = {
        "one byte for each number": right / 8,
        "float32 instead of float64": right / 2,
        "bits instead of bytes": right * 8,
    }
    return GRID_MEMORY.numbers(right, wrong, tokens=tokens, size=right)


LARGER_SCORE = Words(
    "A query reads its keys one after the other. It keeps the largest score so far, m, the sum of "
    "exp(s − m) and the sum of exp(s − m) times value. The next key has a larger score, m′. What "
    "must be done to both sums before this key's own terms are added?",
    "What stands in the sums was counted from m and has to be counted from m′: exp(s − m′) is "
    "exp(s − m) times exp(m − m′). One factor for each query sets right all that it has read, "
    "without looking at any key again.",
    {
        "nothing": (
            "powers of two kinds added",
            "the old terms were counted from m and the new ones from m′: may they be added?",
        ),
        "larger": (
            "factor turned round",
            "measured from a larger score, does an old term exp(s − m) become larger or smaller?",
        ),
        "anew": (
            "the larger score takes all",
            "the keys read before still have a share, if a smaller one.",
        ),
    },
    {
        "nothing": "nothing: the new terms are added to the old ones",
        "smaller": "both are multiplied by exp(m − m′)",
        "larger": "both are multiplied by exp(m′ − m)",
        "anew": "both start again from 0",
    },
)


def larger_score():
    """Ask how running sums follow a larger score."""
    head = examples.load("worked-example").head()
    first, second = trace(head, 0)
    gap = first.largest - second.largest
    new = second.powers @ head.value[0, 1:]
    answers = {
        key: (factor * first.mixture + new) / (factor * first.total + second.powers.sum())
        for key, factor in (
            ("nothing", 1.0),
            ("smaller", np.exp(gap)),
            ("larger", np.exp(-gap)),
            ("anew", 0.0),
        )
    }
    holds = {key: np.allclose(found, head.output[0, 0]) for key, found in answers.items()}
    return LARGER_SCORE.choice(only(**holds))


STREAMING_BACKWARD = Words(
    "The way back through softmax needs every weight. A head that went tile by tile has forgotten "
    "them; of each query it kept the output and λ, the logarithm of the sum of exp(s) over its "
    "keys. What does it need to send exact gradients back?",
    "A weight is exp(s − λ), and s can be computed again from the query and the key. So a tile of "
    "weights is made anew, used and forgotten: more arithmetic, and no grid.",
    {
        "grid": (
            "weights can only be kept",
            "what is needed to compute one score again, and what to make a weight of it?",
        ),
        "output": (
            "the output stands for the weights",
            "two sets of weights can mix values to the same output: would their gradients agree?",
        ),
        "estimate": (
            "forgotten is lost",
            "is anything that exp(s − λ) needs only known roughly?",
        ),
    },
    {
        "grid": "the whole grid of weights: it has to be kept after all",
        "anew": "Q, K, V and λ: every weight can be computed again",
        "output": "the output alone: no weight is needed",
        "estimate": "nothing can bring them back: its gradients are estimates",
    },
)


def streaming_backward():
    """Ask what the way back needs when no weight was kept."""
    example = examples.load("worked-example")
    head, grad_output = example.head(), example.grad_output
    streamed = streaming_self_attention(example.query, example.key, example.value)
    again = np.exp(head.scaled_scores - streamed.log_sum_exp[..., None])
    grads, expected = streamed.backward(grad_output), head.backward(grad_output)
    exact = all(
        np.allclose(getattr(grads, name), getattr(expected, name), rtol=0, atol=1e-12)
        for name in ("query", "key", "value")
    )
    right = only(
        grid=grads.weights is not None,
        anew=exact and np.allclose(again, head.weights),
        output=np.allclose(expected.query, 0),
        estimate=not exact,
    )
    return STREAMING_BACKWARD.choice(right)


QUESTIONS = {
    "grid-memory": grid_memory,
    "larger-score": larger_score,
    "streaming-backward": streaming_backward,
}
