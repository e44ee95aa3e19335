"""Mistakes in gathering the gradients: summed, averaged, overwritten, or not the loss's at all."""

import numpy as np

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.way_back import WayBack, leaving


def _each(change, places=(0, 1, 2)):
    """A backward function that changes dQ, dK and dV (0, 1, 2), or some of them, at the end."""

    def changed(back):
        found = enumerate(back.gradients())
        return tuple(change(grad) if place in places else grad for place, grad in found)

    return leaving(changed)


def _divided(count):
    """A backward function whose gradients are all divided by a count of the output's sizes."""

    def change(back):
        divisor = back.weights.dtype.type(max(1, count(*back.output.shape)))
        return tuple(grad / divisor for grad in back.gradients())

    return leaving(change)


def _last_only(grad):
    kept = np.zeros_like(grad)
    kept[-1:] = grad[-1:]
    return kept


def _overwritten(*places):
    """A backward function whose loop assigns to dQ, dK or dV (0, 1, 2), so only its end counts."""

    def change(back):
        grads = [grad.copy() for grad in back.gradients()]
        grad_raw = back.grad_scores * back.scale
        for token in range(grad_raw.shape[1]):
            parts = (
                grad_raw[:, :, token, None] * back.key[:, None, token],
                grad_raw[:, token, :, None] * back.query[:, None, token],
                back.weights[:, token, :, None] * back.grad_output[:, None, token],
            )
            for place in places:
                grads[place][:] = parts[place]
        return tuple(grads)

    return leaving(change)


def _of_the_sum(query, key, value, grad_output):
    return WayBack(query, key, value, np.ones_like(grad_output)).gradients()


def _in_the_type_of_the_input(query, key, value, grad_output):
    grads = WayBack(query, key, value, grad_output).gradients()
    return tuple(
        grad.astype(np.asarray(operand).dtype)
        for grad, operand in zip(grads, (query, key, value), strict=True)
    )


MISTAKES = (
    Mistake(
        id="gradient-overwritten-not-added",
        title="A gradient is overwritten where it should be added",
        paragraph=(
            "A loop over the queries writes each query's share to dK or dV with `=`, so that only "
            "the last query's share is left. Each key and each value served every query, and what "
            "serves several times gets the sum of all shares; so does one array used both as query "
            "and as key. Start from zeros and use `+=`."
        ),
        question="After the second turn of your loop, what is left of what the first turn found?",
        signature="Each gradient so made is the share of the last query alone, and right where "
        "there is one token.",
        stage="value",
        head=_overwritten(1, 2),
        direction="backward",
        variants=(
            ("in dK only", _overwritten(1)),
            ("in dV only", _overwritten(2)),
            ("in dQ only, over the keys", _overwritten(0)),
            ("in dQ and dK, over the pairs", _overwritten(0, 1)),
            ("in all three", _overwritten(0, 1, 2)),
        ),
    ),
    Mistake(
        id="gradient-summed-over-batch",
        title="The gradients are summed over the batch",
        paragraph=(
            "The batch axis is summed away, as it is for a weight matrix that all items share. "
            "Q, K and V have items of their own, so nothing is shared and nothing is to be summed. "
            "Each gradient has the shape of its input: leave the batch axis alone."
        ),
        question="Does the second item's loss depend on the first item's queries?",
        signature="The shapes lack the batch, or all items have one gradient; with a batch of one "
        "the numbers are right.",
        stage="value",
        head=_each(lambda grad: grad.sum(axis=0)),
        direction="backward",
        variants=(
            ("the axis is kept", _each(lambda grad: grad.sum(axis=0, keepdims=True))),
            ("the same for all", _each(lambda grad: 0 * grad + grad.sum(axis=0, keepdims=True))),
            ("in dK and dV only", _each(lambda grad: grad.sum(axis=0), places=(1, 2))),
            (
                "in dK and dV only, the same for all",
                _each(lambda grad: 0 * grad + grad.sum(axis=0), places=(1, 2)),
            ),
        ),
    ),
    Mistake(
        id="gradient-of-one-item",
        title="Only one batch item's gradients come back",
        paragraph=(
            "A loop over the batch writes every item's gradients to the same place, and the last "
            "item's are left; or `[0]` was used to be rid of an axis. With a batch of one all is "
            "well, so it shows late. Keep one gradient for each item, in the shape of the input."
        ),
        question="With two items in the batch, where are the first one's gradients kept?",
        signature="The gradients are right for one item, and missing or wrong for the others.",
        stage="value",
        head=_each(lambda grad: grad[-1]),
        direction="backward",
        variants=(
            ("the axis is kept", _each(lambda grad: grad[-1:])),
            ("the others stay 0", _each(_last_only)),
            ("the same for all", _each(lambda grad: 0 * grad + grad[-1:])),
            ("the first", _each(lambda grad: grad[0])),
            ("the first, the axis is kept", _each(lambda grad: grad[:1])),
        ),
    ),
    Mistake(
        id="gradient-averaged",
        title="The gradients are averaged",
        paragraph=(
            "All three gradients are divided by the number of items, of tokens or of outputs. A "
            "mean in the loss does so, but then grad_output already holds that division. The way "
            "back through the head has none of its own: send grad_output back as it came."
        ),
        question="Is there a mean between the inputs and the output of the head?",
        signature="All three gradients, dV too, are too small by one whole number: B, T, or a "
        "product of sizes.",
        stage="value",
        head=_divided(lambda batch, tokens, width: batch),
        direction="backward",
        variants=(
            ("over the tokens", _divided(lambda batch, tokens, width: tokens)),
            ("over the features", _divided(lambda batch, tokens, width: width)),
            ("over items and tokens", _divided(lambda batch, tokens, width: batch * tokens)),
            ("over all outputs", _divided(lambda batch, tokens, width: batch * tokens * width)),
            ("the batch is gone", _each(lambda grad: grad.sum(axis=0) / max(1, len(grad)))),
        ),
    ),
    Mistake(
        id="gradient-sign-flipped",
        title="The sign of the gradient is flipped",
        paragraph=(
            "The gradients point downhill. A step of descent has a minus, and it slips into the "
            "gradient; or the row term and dW change places in their difference, which flips dQ "
            "and dK alone. A gradient points to where the loss grows: the minus belongs to the "
            "step."
        ),
        question="If an input moves a little along your gradient, does the loss grow or fall?",
        signature="Every entry has the right size and the wrong sign.",
        stage="value",
        head=_each(np.negative),
        direction="backward",
        variants=(
            ("in dQ and dK", _each(np.negative, places=(0, 1))),
            ("in dQ only", _each(np.negative, places=(0,))),
            ("in dK only", _each(np.negative, places=(1,))),
            ("in dV only", _each(np.negative, places=(2,))),
        ),
    ),
    Mistake(
        id="grad-output-ignored",
        title="grad_output isn't used",
        paragraph=(
            "The gradients are those of the output's plain sum: ones are sent back, whatever came "
            "in. A trial run often starts from ones, and they stay. Start the way back from "
            "grad_output, the derivative of the loss for each entry of the output."
        ),
        question="If grad_output is doubled, what do your gradients do?",
        signature="The gradients stay the same when grad_output changes; every feature of dV has "
        "the same column.",
        stage="value",
        head=_of_the_sum,
        direction="backward",
    ),
    Mistake(
        id="gradient-integer-buffer",
        title="The gradients are kept as whole numbers",
        paragraph=(
            "A gradient is written to an array made with `np.zeros_like(query)`. Where the query "
            "holds whole numbers so does the new array, and what is written loses its fraction "
            "without a word. Say the type: `np.zeros(query.shape)`, or `dtype=float`."
        ),
        question="What type do your gradients have if Q, K and V were typed in as whole numbers?",
        signature="All is right for floats; for whole numbers every gradient is cut towards 0.",
        stage="value",
        head=_in_the_type_of_the_input,
        direction="backward",
    ),
)
