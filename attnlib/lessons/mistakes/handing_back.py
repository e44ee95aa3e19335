"""Heads that go wrong at the end: what they return, in which shape, or that they raise."""

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.steps import head_with

right = head_with()


def handing_back(choose):
    """Return the head that computes all stages rightly and hands back something else."""

    def head(query, key, value):
        stages = right(query, key, value)
        return stages | {"output": choose(stages)}

    return head


def first_of(stages):
    """Return the first item only, as a `return` inside the loop over the batch does."""
    return stages["output"][0]


def undefined_name(query, key, value):
    """Stop as Python stops at a name that was never given."""
    raise NameError("name 'scores' is not defined")


def too_many_arguments(query, key, value):
    """Stop as Python stops at a function called with one argument too many."""
    raise TypeError("softmax() takes 1 positional argument but 2 were given")


def unfinished(query, key, value):
    """Stop at a step that is still to be written."""
    raise NotImplementedError("the softmax is still to be written")


SHAPES = (
    ("only the first item", handing_back(first_of)),
    (
        "tokens and features exchanged",
        handing_back(lambda stages: stages["output"].swapaxes(1, 2)),
    ),
    ("averaged over the tokens", handing_back(lambda stages: stages["output"].mean(1))),
    ("summed over the tokens", handing_back(lambda stages: stages["output"].sum(1))),
    ("axes of size 1 removed", handing_back(lambda stages: np.squeeze(stages["output"]))),
    (
        "batch and tokens merged",
        handing_back(lambda stages: stages["output"].reshape(-1, stages["output"].shape[2])),
    ),
    ("an axis too many", handing_back(lambda stages: stages["output"][:, None])),
)

MISTAKES = (
    Mistake(
        id="returns-weights",
        title="The weights are returned instead of the output",
        paragraph=(
            "All stages are right, and then the wrong one is handed back, or (weights, output) "
            "where (output, weights) is expected. With as many tokens as features even the shape "
            "is right. Return the output first."
        ),
        question="Does what you return go by queries and keys, or by queries and features?",
        signature="For each query there is one number a key, where one a feature of V is expected.",
        stage="output",
        head=handing_back(lambda stages: stages["weights"]),
        variants=(
            (
                "the scaled scores, not the weights",
                handing_back(lambda stages: stages["scaled_scores"]),
            ),
            ("the raw scores, not the weights", handing_back(lambda stages: stages["raw_scores"])),
        ),
    ),
    Mistake(
        id="wrong-shape",
        title="The output has another shape",
        paragraph=(
            "The numbers may be right, but axes are missing, exchanged or merged. A `return` that "
            "is indented into the loop hands back one item; a `squeeze`, a mean over the tokens "
            "or a leftover transpose does the rest. Return [batch, tokens, d_v], one row a query, "
            "for every batch size."
        ),
        question="What shape should the output have, axis by axis, and what has yours?",
        signature="The shape of the output is not [batch, tokens, d_v].",
        stage="output",
        head=SHAPES[0][1],
        variants=SHAPES,
    ),
    Mistake(
        id="raises",
        title="The head raises an error",
        paragraph=(
            "The call stops before it returns anything, and the error is not the trace of a "
            "mistake known here: a name that is not defined, a wrong number of arguments, a step "
            "that is still to be written. Read its last line first, then find the line of your "
            "own code above it. Mend that line and hand the head in again."
        ),
        question="Which line of your own is the last one that ran, and what did it work on?",
        signature="Nothing is returned; the error says at which line it stopped.",
        stage="call",
        head=undefined_name,
        variants=(
            ("a name that is not defined", undefined_name),
            ("too many arguments", too_many_arguments),
            ("not written yet", unfinished),
        ),
    ),
)
