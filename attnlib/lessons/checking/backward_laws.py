"""What is regular about a wrong gradient, and which laws of the way back it breaks."""

import math

import numpy as np

from attnlib.lessons.checking import describing
from attnlib.lessons.checking.backward_trials import ORDER, near, right_gradients, sizes
from attnlib.lessons.checking.fixtures import right

SYMBOLS = {"query": "dQ", "key": "dK", "value": "dV"}


def regular(trials, name):
    """Say how one gradient resembles the right one, or return an empty text.

    Parameters
    ----------
    trials : sequence of Trial
        Those on which the gradient departs, one at least.
    name : str
        ``"query"``, ``"key"`` or ``"value"``.

    Returns
    -------
    str
        One sentence: it is a multiple, another input's, or right but for an order.
    """
    first = trials[0]
    due = right_gradients(first.fixture)[name]
    return (
        _multiple(trials, name)
        or _another(trials, name)
        or describing.regularity(name, first.gradients[name], due)
    )


def factor(got, expected, fixture, name):
    """Return the constant that makes `got` of `expected`, or None."""
    square = float(np.sum(expected * expected))
    if got.shape != expected.shape or not square or not np.isfinite(got).all():
        return None
    ratio = float(np.sum(got * expected)) / square
    return ratio if near(got, ratio * expected, fixture, name, ratio) else None


def constant(fixtures, ratios):
    """Name a ratio by the sizes that it follows from fixture to fixture, or give its digits."""
    if np.allclose(ratios, -1, rtol=1e-4, atol=0):
        return "-1: the size is right and the sign is wrong"
    digits = f"{ratios[0]:.5g}"
    for label, value in _constants().items():
        expected = [value(*fixture.query.shape, fixture.value.shape[2]) for fixture in fixtures]
        if np.allclose(ratios, expected, rtol=1e-4, atol=0):
            return f"{digits} = {label}"
    return digits


def _constants():
    above = {
        "sqrt(d_k)": lambda batch, tokens, width, value_width: math.sqrt(width),
        "d_k": lambda batch, tokens, width, value_width: width,
        "sqrt(d_v)": lambda batch, tokens, width, value_width: math.sqrt(value_width),
        "d_v": lambda batch, tokens, width, value_width: value_width,
        "T": lambda batch, tokens, width, value_width: tokens,
        "B": lambda batch, tokens, width, value_width: max(1, batch),
    }
    return above | {f"1/{label}": _inverse(value) for label, value in above.items()}


def _inverse(value):
    return lambda *sizes: 1 / value(*sizes)


def _multiple(trials, name):
    fixtures, ratios = [], []
    for trial in trials:
        due = right_gradients(trial.fixture)[name]
        # A gradient that is 0 has no multiple but itself.
        if near(np.zeros_like(due), due, trial.fixture, name):
            continue
        fixtures.append(trial.fixture)
        ratios.append(factor(trial.gradients[name], due, trial.fixture, name))
    if not ratios or None in ratios:
        return ""
    if np.allclose(ratios, 0, atol=1e-5):
        return f"{SYMBOLS[name]} is 0 throughout."
    said = constant(fixtures, ratios)
    return f"On '{fixtures[0].name}' every entry of {SYMBOLS[name]} is the right one times {said}."


def _another(trials, name):
    for other in ORDER:
        if other != name and all(_is(trial, name, other) for trial in trials):
            return f"What stands for {SYMBOLS[name]} is the right {SYMBOLS[other]}."
    return ""


def _is(trial, name, other):
    due = right_gradients(trial.fixture)[other]
    return near(trial.gradients[name], due, trial.fixture, other)


def score_factor(trial):
    """Return the factor of the raw scores that the weights behind dV have, or None.

    Notes
    -----
    ``dV = W^T dO`` is solved for W where d_v is at least the number of tokens.
    """
    fixture, found = trial.fixture, trial.gradients
    if "value" not in trial.departing or found["value"].shape != fixture.value.shape:
        return None
    if not np.isfinite(found["value"]).all():
        return None
    weights = (found["value"] @ np.linalg.pinv(fixture.grad_output)).swapaxes(1, 2)
    if not near(weights.swapaxes(1, 2) @ fixture.grad_output, found["value"], fixture, "value"):
        return None
    raw_scores = right(fixture).raw_scores
    return describing.score_factor(None, weights, fixture.value, raw_scores)


def broken_laws(trial):
    """Say which laws of a right way back the gradients break, in its order.

    Parameters
    ----------
    trial : Trial
        One with gradients.

    Returns
    -------
    tuple of str
        One sentence a law; none where a gradient has another shape or is not finite.

    Notes
    -----
    Each query's weights sum to 1, so ``sum_j dV_j = sum_i dO_i``. The same vector added to all
    keys changes no weight, so ``sum_j dK_j = 0``. Q times c and K over c change no score, so
    ``sum Q dQ = sum K dK``.
    """
    fixture, found = trial.fixture, trial.gradients
    due = right_gradients(fixture)
    if any(
        found[name].shape != due[name].shape or not np.isfinite(found[name]).all() for name in ORDER
    ):
        return ()
    size = sizes(fixture)
    tokens = fixture.query.shape[1]
    said = []
    values = found["value"].sum(axis=1) - fixture.grad_output.sum(axis=1)
    if not _zero(values, tokens * size["value"]):
        said.append(
            "dV summed over the tokens should equal grad_output summed over the tokens, and "
            "doesn't: look at the weights that dV is made with."
        )
    if not _zero(found["key"].sum(axis=1), tokens * size["key"]):
        said.append(
            "dK summed over the keys should be 0 in each feature, and isn't: look at the way back "
            "through the softmax, and at the product that makes dK."
        )
    sides = (fixture.query * found["query"] - fixture.key * found["key"]).sum(axis=(1, 2))
    terms = size["query"] * np.abs(fixture.query).sum() + size["key"] * np.abs(fixture.key).sum()
    if not _zero(sides, terms):
        said.append(
            "In each item the sum of Q dQ should equal the sum of K dK, and doesn't: dQ and dK "
            "are not made from the same gradient of the scores, or not with the same scale."
        )
    return tuple(said)


def _zero(x, size):
    return np.max(np.abs(x), initial=0) <= 1e-6 * size
