"""Where finite inputs overflow on the way: whether they can, and the first entry that did."""

import math

import numpy as np

from attnlib.core import errors

SAFE = {kind: float(np.finfo(kind).max) * 2.0**-20 for kind in (np.float64, np.float32)}
"""So far below the largest float that no rounding of a sum that fits into memory can reach it."""


def may_overflow(bounds, dtype):
    """Whether a stage with entries up to one of these bounds may have overflowed on the way."""
    return max(bounds) >= SAFE[dtype.type]


def lower(value, reach):
    """Give values whose sum over all tokens can't overflow, and the factor that they lack.

    The factor is a power of two, and 1 unless the values are near the largest float.
    """
    tokens = value.shape[1]
    if not may_overflow((tokens * reach,), value.dtype):
        return value, 1.0
    factor = 2.0 ** (tokens.bit_length() + 1)
    return value / value.dtype.type(factor), factor


def check_stage(stage, array, at=(0, 0, 0)):
    """Refuse a stage that overflowed as ``non-finite-stage``.

    Parameters
    ----------
    stage : str
        Its name.
    array : numpy.ndarray
        The stage, or a part of it.
    at : tuple of int
        Where the part begins.
    """
    index = first_non_finite(array)
    if index is not None:
        raise _overflowed(stage, index, array[index], array.dtype, at)


def check_spread(stage, scores, at=(0, 0, 0)):
    """Refuse finite scores that are further below their row's largest than a float can tell.

    Parameters are those of `check_stage`; `scores` has the shape [items, queries, keys].
    """
    top = scores.max(axis=2, keepdims=True, initial=-math.inf)
    with np.errstate(over="ignore"):
        index = first_non_finite(scores.min(axis=2, keepdims=True, initial=math.inf) - top)
        if index is not None:
            row = scores[index[:2]] - top[index]
            index = (*index[:2], int(np.argmin(np.isfinite(row))))
            raise _overflowed(stage, index, row[index[2]], row.dtype, at)


def _overflowed(stage, index, entry, dtype, at):
    where = tuple(begin + i for begin, i in zip(at, index, strict=False))
    return errors.non_finite_stage(stage, where, entry, str(dtype))


def first_non_finite(array):
    """The index of the first NaN or infinity, or None."""
    if array.size == 0 or array.dtype.kind != "f":
        return None
    # The extremes of an array show NaN and infinities without a mask as large as the array.
    if math.isfinite(array.min()) and math.isfinite(array.max()):
        return None
    before = 0
    for block in np.nditer(array, flags=["external_loop", "buffered"], order="C"):
        finite = np.isfinite(block)
        if not finite.all():
            found = np.unravel_index(before + np.argmin(finite), array.shape)
            return tuple(int(i) for i in found)
        before += block.size
    return None
