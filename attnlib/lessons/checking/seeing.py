"""Whether an input can show a mistake at all: where it can't, a gradient check proves nothing."""

import numpy as np

from attnlib.lessons.checking.backward_naming import answer, backward_mistakes, heads_of
from attnlib.lessons.checking.backward_trials import departing, near, right_gradients
from attnlib.lessons.mistakes import load

NEEDS_WHOLE_NUMBERS = ("gradient-integer-buffer",)


def sees(id, fixture):
    """Say whether a mistake of the way back shows on a fixture, in each of its forms.

    Parameters
    ----------
    id : str
        A mistake of the way back.
    fixture : Fixture
        Inputs and a grad_output.

    Returns
    -------
    bool
        False where at least one wrong function that makes it gives the right gradients there.

    Raises
    ------
    ValueError
        If the catalogue has no such mistake of the way back.
    """
    mistake = load(id)
    if mistake.direction != "backward":
        raise ValueError(f"id must name a mistake of the way back, got {id!r}, which is forward")
    return all(_shows(head, fixture) for head in heads_of(mistake))


def unseen(*fixtures):
    """Return the ids of the mistakes of the way back that pass unseen on all of these fixtures.

    Mistakes that show on whole numbers only are left out.
    """
    return tuple(
        mistake.id
        for mistake in backward_mistakes()
        if mistake.id not in NEEDS_WHOLE_NUMBERS
        and any(not any(_shows(head, f) for f in fixtures) for head in heads_of(mistake))
    )


def why_unseen(fixture):
    """Say why mistakes pass unseen on a fixture.

    Returns
    -------
    tuple of str
        One reason each; none where the sizes and the numbers hide nothing known.
    """
    batch, tokens, width = fixture.query.shape
    value_width = fixture.value.shape[2]
    if batch == 0:
        return ("an empty batch has no entry to compare",)
    reasons = []
    if tokens == 1:
        reasons.append("with one token every weight is 1, so dQ and dK are 0")
    elif _nothing_to_choose(fixture):
        reasons.append(
            "grad_output has the same dot product with every value of an item (as all ones have "
            "where the values' rows have equal sums), so no weight matters to the loss, and dQ "
            "and dK are 0 whatever scale, sign or product made them"
        )
    elif all(_is_zero(fixture, name) for name in ("query", "key")):
        reasons.append("dQ and dK are 0 there, so a factor or a sign in them can't show")
    if np.all(fixture.grad_output == 1):
        reasons.append("with all ones a grad_output that isn't used can't show")
    if batch == 1:
        reasons.append("with one item a sum over the batch can't show")
    if width == 1:
        reasons.append("with d_k = 1 the scale is 1")
    if width in (tokens, value_width) or tokens == value_width:
        reasons.append("where two of T, d_k and d_v are equal one can stand for the other")
    return tuple(reasons)


def demand_proof(fixtures):
    """Refuse fixtures on which a wrong way back would pass.

    Raises
    ------
    ValueError
        If some mistake of the catalogue shows on none of them; it says which, and why.
    """
    hidden = unseen(*fixtures)
    if not hidden:
        return
    reasons = {reason: None for fixture in fixtures for reason in why_unseen(fixture)}
    raise ValueError(
        f"fixtures must show every mistake of the way back, and {len(hidden)} would pass on these "
        f"({', '.join(hidden)}): {'; '.join(reasons) or 'the numbers hide them'}; draw Q, K, V and "
        "grad_output at random, with B = 2 and T, d_k and d_v all different"
    )


def _shows(head, fixture):
    found = answer(head, fixture)
    return isinstance(found, Exception) or bool(departing(fixture, found))


def _nothing_to_choose(fixture):
    grad_weights = fixture.grad_output @ fixture.value.swapaxes(1, 2)
    spread = grad_weights - grad_weights.mean(axis=2, keepdims=True)
    size = np.max(np.abs(grad_weights), initial=0)
    return np.max(np.abs(spread), initial=0) <= 1e-9 * size


def _is_zero(fixture, name):
    right = right_gradients(fixture)[name]
    return near(np.zeros_like(right), right, fixture, name)
