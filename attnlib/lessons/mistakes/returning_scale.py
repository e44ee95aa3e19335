"""Mistakes with the scale on the way back: dQ and dK are off by a constant factor."""

import math

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.way_back import WayBack, leaving


def gradient_scale_missing(query, key, value, grad_output):
    """Forget on the way back to Q and K that every score was divided by sqrt(d_k).

    Parameters
    ----------
    query, key : array_like
        Shape [batch, tokens, d_k].
    value, grad_output : array_like
        Shape [batch, tokens, d_v].

    Returns
    -------
    tuple of numpy.ndarray
        dQ and dK, each too large by sqrt(d_k), and the right dV.
    """
    return WayBack(query, key, value, grad_output).gradients(scale=1.0)


def _instead(scale):
    """A backward function that multiplies by ``scale(back)`` where 1 / sqrt(d_k) is due."""
    return leaving(lambda back: back.gradients(scale=scale(back)))


def _one_sided(scale):
    """The same in dQ only, and in dK only."""

    def in_query(back):
        return back.gradients(scale=scale(back))[0], *back.gradients()[1:]

    def in_key(back):
        grad_query, _, grad_value = back.gradients()
        return grad_query, back.gradients(scale=scale(back))[1], grad_value

    return ("in dQ only", leaving(in_query)), ("in dK only", leaving(in_key))


MISTAKES = (
    Mistake(
        id="gradient-scale-missing",
        title="The scale is missing on the way back",
        paragraph=(
            "The scores were divided by √d_k on the way forward, and their gradient is not. "
            "The scale is a constant, so it is easily thought to have no derivative; but a factor "
            "on the way forward is the same factor on the way back. Multiply dS by 1/√d_k "
            "once, before the two products with K and Q."
        ),
        question="If every score is made half as large, what happens to the slope of the loss "
        "along a query?",
        signature="dV is right, and dQ and dK are √d_k times too large, entry for entry.",
        stage="query",
        head=gradient_scale_missing,
        direction="backward",
        variants=_one_sided(lambda back: 1.0),
    ),
    Mistake(
        id="gradient-scaled-twice",
        title="The scale is applied twice on the way back",
        paragraph=(
            "dS is multiplied by 1/√d_k and a product with it once more, or d_k is taken "
            "for its root: both divide by d_k. It comes easily when one function scales the "
            "scores' gradient and the next scales Q and K. Count the divisions on the way forward; "
            "there are as many on the way back."
        ),
        question="How many times was each score divided on the way forward, and on your way back?",
        signature="dV is right, and dQ and dK are √d_k times too small, entry for entry.",
        stage="query",
        head=_instead(lambda back: back.scale**2),
        direction="backward",
        variants=_one_sided(lambda back: back.scale**2),
    ),
    Mistake(
        id="gradient-scale-inverted",
        title="The way back multiplies by √d_k",
        paragraph=(
            "dS is multiplied by √d_k instead of divided by it, as if the way back had to "
            "undo the way forward. A gradient isn't an inverse: where the forward pass multiplies "
            "by a number, so does the backward pass. Use the same 1/√d_k."
        ),
        question="Does a gradient undo a factor, or carry it?",
        signature="dV is right, and dQ and dK are d_k times too large, entry for entry.",
        stage="query",
        head=_instead(lambda back: 1 / back.scale),
        direction="backward",
        variants=_one_sided(lambda back: 1 / back.scale),
    ),
    Mistake(
        id="gradient-scale-wrong-width",
        title="The way back takes its scale from elsewhere",
        paragraph=(
            "dS is divided by √d_v, by √T or by a constant where √d_k is due. On the way back V "
            "and grad_output are at hand first, so their shape is read in place of the query's; "
            "with square inputs nothing shows. Keep the forward pass's scale, or read the last "
            "axis of Q again."
        ),
        question="What gave the scale on the way forward, and what gives it here?",
        signature="dV is right; dQ and dK are off by one factor, entry for entry, such as "
        "√(d_k / d_v), and right where the two numbers agree.",
        stage="query",
        head=_instead(lambda back: 1 / math.sqrt(back.value.shape[2])),
        direction="backward",
        variants=(
            ("the number of tokens T", _instead(lambda back: 1 / math.sqrt(back.query.shape[1]))),
            ("the constant 8, the root of 64", _instead(lambda back: 1 / 8)),
        ),
    ),
)
