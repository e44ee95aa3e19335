"""Words for an unknown departure: where, by how much, and what is regular about it."""

from itertools import permutations
from math import log, sqrt

import numpy as np

from attnlib.lessons.checking import comparing
from attnlib.lessons.checking.verdicts import TITLES

AXES = {
    "weights": ("batch items", "queries", "keys"),
    "output": ("batch items", "queries", "features"),
    "query": ("batch items", "tokens", "features"),
    "key": ("batch items", "tokens", "features"),
    "value": ("batch items", "tokens", "features"),
}
AXES["raw_scores"] = AXES["scaled_scores"] = AXES["weights"]
# 6 factorial is the most orders of one axis that are tried.
LONGEST = 6


def where(stage, got, expected):
    """Say where a stage departs most, by how much, and in how many entries.

    Parameters
    ----------
    stage : str
        A forward stage, or the input of a gradient.
    got, expected : numpy.ndarray
        The hand-in's and the right one.

    Returns
    -------
    str
        One or two sentences that do not give the right entry away.
    """
    title = TITLES[stage]
    if got.shape != expected.shape:
        return f"The {title} has the shape {got.shape}, where {expected.shape} was expected."
    index = comparing.worst(got, expected)
    if comparing.broken(got):
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(got))[0])
        return f"The {title} holds {got[index]} at {index}."
    single = np.float32 in (got.dtype, expected.dtype)
    departs = comparing.departing(got, expected, comparing.SINGLE if single else comparing.ROUNDED)
    difference = abs(float(got[index]) - float(expected[index]))
    return (
        f"The {title} departs in {int(departs.sum())} of {departs.size} entries, most at {index}, "
        f"by {difference:.3g}."
    )


def regularity(stage, got, expected):
    """Say what is regular about a departure, or give an empty text.

    Digits cut off, a constant ratio, a constant difference, exchanged axes, another order along
    one axis, one factor for each query, or weights that do not sum to 1.
    """
    if comparing.broken(got) or comparing.alike(got, expected, comparing.SINGLE):
        return ""
    for found in (_rounded, _exchanged, _ratio, _difference, _reordered, _row_factors, _row_sums):
        words = found(stage, got, expected)
        if words:
            return words
    return ""


def factor_in_words(factor):
    """Print a factor, and the simple number that it comes from where there is one."""
    words = f"{factor:.6g}"
    simple = {"1/{}": 1 / factor, "sqrt({})": factor**2, "1/sqrt({})": factor**-2}
    if abs(factor - round(factor)) > 1e-6:
        for form, number in simple.items():
            if 1 < number < 1e5 and abs(number - round(number)) < 1e-6 * number:
                return f"{words} = {form.format(round(number))}"
    return words


def constant_ratio(got, expected):
    """Return the one factor between two arrays, or None where there is none."""
    if got.shape != expected.shape or got.size == 0:
        return None
    norm = float(np.sum(expected.astype(float) ** 2))
    if norm == 0:
        return None
    ratio = float(np.sum(got.astype(float) * expected)) / norm
    return ratio if ratio and comparing.alike(got / ratio, expected, comparing.SINGLE) else None


def _rounded(stage, got, expected):
    if got.shape != expected.shape:
        return ""
    for digits in range(1, 6):
        if comparing.alike(got, expected.round(digits)):
            return f"Every entry is the right one, rounded to {digits} decimals."
    return ""


def _ratio(stage, got, expected):
    ratio = constant_ratio(got, expected)
    if ratio is None or abs(ratio - 1) < comparing.SINGLE:
        return ""
    return f"Every entry is the right one times {factor_in_words(ratio)}."


def _difference(stage, got, expected):
    if got.shape != expected.shape or got.size < 2:
        return ""
    shift = float(np.mean(got - expected))
    same = comparing.alike(got - shift, expected, comparing.SINGLE)
    return f"Every entry is the right one plus {shift:.6g}." if same else ""


def _exchanged(stage, got, expected):
    if got.ndim != expected.ndim or got.ndim < 2:
        return ""
    for order in permutations(range(got.ndim)):
        if order == tuple(range(got.ndim)):
            continue
        if comparing.alike(got, expected.transpose(order), comparing.SINGLE):
            return f"The entries are right, and the axes are in the order {order}."
    return ""


def _reordered(stage, got, expected):
    if got.shape != expected.shape or got.ndim != 3:
        return ""
    for axis, length in enumerate(got.shape):
        if not 1 < length <= LONGEST:
            continue
        for order in permutations(range(length)):
            if comparing.alike(got, np.take(expected, order, axis), comparing.SINGLE):
                names = AXES[stage][axis]
                return f"The entries are right, and the {names} are in the order {order}."
    return ""


def _row_factors(stage, got, expected):
    if got.shape != expected.shape or got.ndim != 3:
        return ""
    norms = np.sum(expected.astype(float) ** 2, axis=-1, keepdims=True)
    if np.any(norms == 0):
        return ""
    factors = np.sum(got * expected, axis=-1, keepdims=True) / norms
    if not comparing.alike(got, factors * expected, comparing.SINGLE):
        return ""
    low, high = float(factors.min()), float(factors.max())
    return f"Each query has a factor of its own, from {low:.4g} to {high:.4g}."


def _row_sums(stage, got, expected):
    if stage != "weights" or got.ndim != 3:
        return ""
    sums = got.sum(axis=-1)
    if comparing.alike(sums, np.ones_like(sums), comparing.SINGLE):
        return ""
    return (
        f"Each query's weights over the keys should sum to 1; here they sum to between "
        f"{sums.min():.4g} and {sums.max():.4g}."
    )


def solved(output, value):
    """Return the weights with which the values give the output, or None where not one set does."""
    several = value.shape[1] > value.shape[2]
    if several or output.shape != value.shape or comparing.broken(output):
        return None
    weights = output @ np.linalg.pinv(value)
    return weights if comparing.alike(weights @ value, output, comparing.SINGLE) else None


def mixture(output, value):
    """Say what is odd about the weights that an output was mixed with.

    Parameters
    ----------
    output, value : numpy.ndarray
        Shape [batch, tokens, d_v]; with more tokens than features nothing can be said.

    Returns
    -------
    str
        One sentence, or an empty text where nothing is odd.
    """
    if value.shape[1] > value.shape[2]:
        return ""
    weights = solved(output, value)
    if weights is None:
        odd = output.shape == value.shape and not comparing.broken(output)
        return "It is no mixture of the values of its own batch item." if odd else ""
    sums = weights.sum(axis=-1)
    if not comparing.alike(sums, np.ones_like(sums), comparing.SINGLE):
        return (
            "It is a mixture of the values with weights that sum, for a query, to between "
            f"{sums.min():.4g} and {sums.max():.4g}."
        )
    zeros = np.argwhere(np.abs(weights) < comparing.SINGLE)
    if len(zeros):
        first = tuple(int(i) for i in zeros[0])
        return (
            f"It is a mixture of the values in which {len(zeros)} of {weights.size} weights are "
            f"0, first that at {first}."
        )
    return "Some weights of the mixture are negative." if np.any(weights < 0) else ""


def score_factor(output, weights, value, raw_scores):
    """Find the constant c with which the softmax of c times the raw scores gives the weights.

    Parameters
    ----------
    output, weights : numpy.ndarray or None
        What was handed in; the output is solved for the weights where there are none.
    value, raw_scores : numpy.ndarray
        The values, and the right raw scores.

    Returns
    -------
    float or None
        The factor, where one fits all queries.
    """
    if weights is None:
        weights = solved(output, value)
        if weights is None:
            return None
    tokens = value.shape[1]
    if weights.shape != raw_scores.shape or tokens < 2 or not np.all(weights > 0):
        return None
    logs = np.log(weights)
    logs = logs - logs.mean(axis=-1, keepdims=True)
    spread = raw_scores - raw_scores.mean(axis=-1, keepdims=True)
    factor = float(np.sum(logs * spread) / np.sum(spread**2))
    sums = np.allclose(weights.sum(axis=-1), 1)
    return factor if sums and comparing.alike(logs, factor * spread, 1e-6) else None


def scale_in_words(factor, width):
    """Say by which number the raw scores are multiplied, beside the one that the width asks for."""
    words = factor_in_words(factor)
    if factor > 0 and width > 1:
        power = log(factor) / log(width)
        # Half powers are those that people write.
        if abs(2 * power - round(2 * power)) < comparing.SINGLE:
            words = f"{factor:.6g} = d_k^{round(2 * power) / 2:g}"
    return (
        f"Every raw score is multiplied by {words}, where d_k = {width} asks for "
        f"1/sqrt({width}) = {1 / sqrt(width):.6g}."
    )
