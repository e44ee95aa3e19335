"""How far a computed array lies from the exact one: as a whole, row by row, entry by entry."""

from dataclasses import dataclass

import numpy as np

FULL = np.finfo(float).tiny / np.finfo(float).eps
"""Below it, what made the number may have underflowed and lost digits: it is left out."""


@dataclass(frozen=True)
class Error:
    """The error of one array.

    Attributes
    ----------
    share : float
        The largest difference over the largest exact entry; NaN where that underflows.
    row_share : float
        The same of each row by itself, and of these the worst.
    ulps : numpy.ndarray
        Each entry's difference in units in its own last place.
    """

    share: float
    row_share: float
    ulps: np.ndarray


def between(computed, exact):
    """Compare an array with exact numbers, each given as a double and the rest.

    Parameters
    ----------
    computed : numpy.ndarray
        Two axes.
    exact : tuple of two numpy.ndarray
        As `exact.stages` gives them.

    Returns
    -------
    Error
    """
    nearest, rest = exact
    # The first difference is exact wherever the computed number is any good.
    difference = np.abs((computed - nearest) - rest)
    sizes = np.abs(nearest)
    told = sizes >= FULL
    return Error(
        share=_share(difference.max(), sizes.max()),
        row_share=max(map(_share, difference.max(axis=1), sizes.max(axis=1)), key=_known),
        ulps=difference[told] / np.spacing(sizes[told]),
    )


def _share(difference, largest):
    return float(difference / largest) if largest >= FULL else np.nan


def _known(share):
    return -1.0 if np.isnan(share) else share


@dataclass(frozen=True)
class Summary:
    """Median and worst over the heads of one kind."""

    share: float
    worst_share: float
    worst_row_share: float
    ulps: float
    worst_ulps: float


def summary(errors):
    """Summarize the errors of one stage over many heads, none of which underflows everywhere."""
    ulps = np.concatenate([error.ulps for error in errors])
    shares = [error.share for error in errors]
    return Summary(
        share=float(np.nanmedian(shares)),
        worst_share=float(np.nanmax(shares)),
        worst_row_share=float(np.nanmax([error.row_share for error in errors])),
        ulps=float(np.median(ulps)),
        worst_ulps=float(ulps.max()),
    )
