"""The right head as four steps, so that a wrong head is written as the one step that it gets wrong.

Written apart from core: a slip there would otherwise go unseen in every wrong head at once.
"""

import math
from types import SimpleNamespace

import numpy as np


def softmax(scores, axis=-1):
    """Share 1 out along an axis, or several, in proportion to the exponentials of the scores.

    Parameters
    ----------
    scores : numpy.ndarray
        Shape [batch, queries, keys].
    axis : int, tuple of int or None, default -1
        Where the weights sum to 1: the keys, if nothing is said.

    Returns
    -------
    numpy.ndarray
        In the shape of the scores.
    """
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


RIGHT = {
    "raw_scores": lambda made: made.query @ made.key.swapaxes(1, 2),
    "scaled_scores": lambda made: made.raw_scores / math.sqrt(made.d_k),
    "weights": lambda made: softmax(made.scaled_scores),
    "output": lambda made: made.weights @ made.value,
}


def head_with(**replaced):
    """Return the right head with some steps replaced.

    Parameters
    ----------
    **replaced : callable or None
        A stage's name and the step that makes it from what is made so far: the attributes
        ``query``, ``key``, ``value``, ``d_k`` and the earlier stages. None leaves the stage out.

    Returns
    -------
    callable
        ``(query, key, value)`` to a dict of the stages.
    """
    steps = {stage: step for stage, step in (RIGHT | replaced).items() if step}

    def head(query, key, value):
        made = SimpleNamespace(query=query, key=key, value=value, d_k=query.shape[2])
        # Some of these heads overflow: that is what they are there to show.
        with np.errstate(all="ignore"):
            for stage, step in steps.items():
                setattr(made, stage, step(made))
        return {stage: getattr(made, stage) for stage in steps}

    return head
