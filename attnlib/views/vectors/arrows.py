"""Arrows as broken lines, so that one artist holds all of them and moves them at once."""

import numpy as np

BARB, SPREAD = 8, np.deg2rad(26)
"""Length of an arrow's barbs in pixels, and their angle to its shaft."""
TINY = 2
"""An arrow of fewer pixels has no barbs."""


def strokes(segments):
    """Lay segments into one broken line.

    Parameters
    ----------
    segments : numpy.ndarray
        Shape [count, 2, 2]: start and end of each.

    Returns
    -------
    numpy.ndarray
        Shape [2, 3 * count]: x and y, with NaN after each segment.
    """
    broken = np.full((len(segments), 3, 2), np.nan)
    broken[:, :2] = segments
    return broken.reshape(-1, 2).T


def barbs(arrows):
    """Draw the heads of arrows as two strokes each.

    Parameters
    ----------
    arrows : numpy.ndarray
        Shape [count, 2, 2]: start and tip of each, in pixels.

    Returns
    -------
    numpy.ndarray
        Shape [2 * drawn, 2, 2]: the strokes of all arrows that are not tiny.
    """
    shafts = arrows[:, 0] - arrows[:, 1]
    lengths = np.hypot(*shafts.T)
    seen = lengths > TINY
    size = np.minimum(BARB, lengths[seen] / 2) / lengths[seen]
    backwards, tips = shafts[seen] * size[:, None], arrows[seen, 1]
    turned = []
    for angle in (SPREAD, -SPREAD):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        turned.append(np.stack([tips, tips + backwards @ turn], axis=1))
    return np.concatenate(turned)
