"""One step of a head, checked by itself: the other steps are put round it, and they are right."""

import math
from dataclasses import replace

import numpy as np

from attnlib.lessons.checker import check_forward

STEPS = {
    "scores": "raw_scores",
    "scale": "scaled_scores",
    "softmax": "weights",
    "mix": "output",
}
"""What a step is called -> the stage that it computes."""


def check_stage(step, function):
    """Check one step of a forward pass on its own.

    Parameters
    ----------
    step : str
        ``"scores"``: ``(query, key)`` to the raw scores; ``"scale"``: ``(raw_scores, key_width)``
        to the scaled scores; ``"softmax"``: ``(scaled_scores)`` to the weights; or ``"mix"``:
        ``(weights, value)`` to the output. Arrays are [batch, tokens, features] and
        [batch, queries, keys].
    function : callable
        The step; one that returns ``...`` is not attempted yet.

    Returns
    -------
    Verdict
        That of a head whose other steps are right.

    Raises
    ------
    ValueError
        If there is no such step.
    """
    if step not in STEPS:
        raise ValueError(f"there is no step {step!r}: choose one of {', '.join(STEPS)}")
    verdict = check_forward(_head_with(step, function))
    if verdict.passed or verdict.stage == "call":
        return verdict
    # No other step can be the first to depart, whatever the head as a whole looks like.
    return replace(verdict, stage=STEPS[step])


def _head_with(name, function):
    """Return a head of right steps, one of them replaced; it ends where that one is misshapen."""
    steps = {**RIGHT, name: function}

    def head(query, key, value):
        made = {}
        made["raw_scores"] = steps["scores"](query, key)
        shape = (*query.shape[:2], key.shape[1])
        for step, rest in (("scale", query.shape[2:]), ("softmax", ()), ("mix", (value,))):
            before = list(made.values())[-1]
            if not _goes_on(before, shape):
                return made if before is not None else None
            # A copy: a step that works in place must not spoil the stage before it.
            made[STEPS[step]] = steps[step](np.array(before), *rest)
        return made if made["output"] is not None else None

    return head


def _goes_on(stage, shape):
    """Whether the next right step can take what the last one made."""
    return np.shape(stage) == shape and np.asarray(stage).dtype.kind in "fiub"


def _softmax(scores):
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    return powers / powers.sum(axis=2, keepdims=True)


RIGHT = {
    "scores": lambda query, key: query @ key.swapaxes(1, 2),
    "scale": lambda raw_scores, key_width: raw_scores / math.sqrt(key_width),
    "softmax": _softmax,
    "mix": lambda weights, value: weights @ value,
}
