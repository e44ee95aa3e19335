"""Mistakes at the first step back, from the output to the values and the weights."""

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.way_back import leaving, swap


def _values(change):
    """A backward function whose dV is what `change` makes of a `WayBack`."""
    return leaving(lambda back: (*back.gradients()[:2], change(back)))


def _weights(change):
    """A backward function whose dW is what `change` makes of a `WayBack`."""
    return leaving(lambda back: back.gradients(back.through_softmax(change(back))))


def _reshaped(back):
    batch, tokens, width = back.value.shape
    return back.grad_output @ back.value.reshape(batch, width, tokens)


MISTAKES = (
    Mistake(
        id="value-gradient-not-transposed",
        title="The weights aren't transposed on the way back to V",
        paragraph=(
            "dV is taken as W dO, the forward product over again. The shapes fit, for W is square, "
            "so nothing is raised. A value gathers from every query that looked at it: sum over "
            "queries, which is the transpose of W times dO."
        ),
        question="Over which axis of the weights does one value's gradient sum: over the queries "
        "that read it, or over the keys?",
        signature="dV summed over the tokens should equal dO summed over the tokens, and doesn't.",
        stage="value",
        head=_values(lambda back: back.weights @ back.grad_output),
        direction="backward",
    ),
    Mistake(
        id="value-gradient-from-scores",
        title="The values' gradient uses scores in place of weights",
        paragraph=(
            "dV is taken from the scaled or the raw scores, not from the weights. Both grids have "
            "the same shape and often stand side by side in what the forward pass kept. The output "
            "was mixed by the weights: use those."
        ),
        question="Which grid multiplied the values on the way forward?",
        signature="dV summed over the tokens should equal dO summed over the tokens, and doesn't.",
        stage="value",
        head=_values(lambda back: swap(back.scores) @ back.grad_output),
        direction="backward",
        variants=(
            ("raw", _values(lambda back: swap(back.query @ swap(back.key)) @ back.grad_output)),
        ),
    ),
    Mistake(
        id="value-gradient-scaled",
        title="The values' gradient is scaled too",
        paragraph=(
            "dV is divided by √d_k like dQ and dK. One line that scales all three looks tidy; "
            "but the scale stands in the scores, and V never passes through them. Scale dS alone."
        ),
        question="Does the scale stand on the way from the values to the output?",
        signature="dQ and dK are right, and dV is √d_k times too small, entry for entry.",
        stage="value",
        head=_values(lambda back: back.grad_value * back.scale),
        direction="backward",
    ),
    Mistake(
        id="value-not-transposed-on-the-way-back",
        title="The values aren't transposed on the way back to the weights",
        paragraph=(
            "dW is taken as dO V, or with V reshaped to fit. Where T and d_v are equal nothing is "
            "raised; elsewhere the product fails, and a reshape silences it and mixes features "
            "with tokens. A weight's gradient is the dot product of its query's dO with its key's "
            "value: dO times V with its last two axes exchanged."
        ),
        question="Which two vectors does the gradient of one weight multiply, along which axis?",
        signature="dV is right; a product of [T, d_v] with [T, d_v] fails where T and d_v differ.",
        stage="query",
        head=_weights(lambda back: back.grad_output @ back.value),
        direction="backward",
        variants=(("reshaped", _weights(_reshaped)),),
    ),
)
