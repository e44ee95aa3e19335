"""When two arrays count as equal: within the rounding errors of the coarser of their types."""

import numpy as np

DOUBLE, SINGLE, HALF = 1e-9, 1e-5, 1e-2
# Between the two lies an answer in double precision that was computed in single precision.
ROUNDED = 1e-6


def alike(got, expected, tolerance=None):
    """Say whether two arrays are equal, up to rounding errors.

    Parameters
    ----------
    got, expected : numpy.ndarray
        Of any shape.
    tolerance : float, optional
        The largest difference, relative to the largest finite entry expected, or to 1 where that
        is larger. By default 1e-9, or 1e-5 if one of the two holds single precision.

    Returns
    -------
    bool
        Shapes must be equal; NaN and infinities are equal to themselves only.
    """
    if got.shape != expected.shape:
        return False
    if tolerance is None:
        tolerance = SINGLE if np.float32 in (got.dtype, expected.dtype) else DOUBLE
    return not np.any(departing(got, expected, tolerance))


def departing(got, expected, tolerance):
    """Return which entries differ, as booleans, for arrays of one shape."""
    finite = np.abs(expected[np.isfinite(expected)])
    scale = max(1.0, float(np.max(finite, initial=0)))
    with np.errstate(all="ignore"):
        near = np.abs(got.astype(float) - expected) <= tolerance * scale
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    return ~(near | same)


def error(got, expected):
    """Return the largest difference, relative as in `alike`; infinite for NaN or another shape."""
    if got.shape != expected.shape:
        return np.inf
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(got.astype(float) - expected), initial=0) / scale
    return float(np.nan_to_num(largest, nan=np.inf))


def worst(got, expected):
    """Return the index of the entry that differs most, or None where shapes differ."""
    if got.shape != expected.shape or got.size == 0:
        return None
    with np.errstate(all="ignore"):
        difference = np.abs(got.astype(float) - expected)
    flat = np.argmax(np.where(np.isnan(difference), np.inf, difference))
    return tuple(int(i) for i in np.unravel_index(flat, got.shape))


def broken(array):
    """Say whether an array holds NaN or an infinity."""
    return not np.all(np.isfinite(array))
