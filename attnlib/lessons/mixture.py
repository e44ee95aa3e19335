"""Outputs as mixtures of values: the arrows that add up to each, and the hull that holds them all.

The weights of a query are positive and sum to 1, so its output is a convex combination of the
values: it can lie between them and never beyond them.
"""

import numpy as np

from attnlib.lessons.evidence import weighted_values


def steps(head, item=0):
    """Add the weighted values of each query one after another.

    Parameters
    ----------
    head : SelfAttentionForward
        The head.
    item : int, default 0
        The batch item.

    Returns
    -------
    numpy.ndarray
        Shape [tokens (query), tokens (key) + 1, d_v]: for each query the origin, then where it
        stands after each key's term. The last is its output.

    Notes
    -----
    o_i = sum_j A_ij v_j, the product A V of Vaswani et al. (2017), eq. 1, term by term.
    """
    terms = weighted_values(head)[item]
    origin = np.zeros_like(terms[:, :1])
    return np.concatenate([origin, np.cumsum(terms, axis=1)], axis=1)


def hull(points):
    """Find the corners of the smallest convex shape that holds all points.

    Parameters
    ----------
    points : array_like
        Shape [count, 2].

    Returns
    -------
    numpy.ndarray
        Shape [corners, 2], counter-clockwise: one corner where all points are one, two where they
        lie on a line.

    Raises
    ------
    ValueError
        If there is no point, or a point doesn't have two coordinates.

    Notes
    -----
    Andrew's monotone chain: sort the points, then walk along them and back, each time leaving out
    what doesn't turn left.
    """
    points = _in_plane(points)
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    # A cross product multiplies two coordinates: far from 1 it would leave the range of a float.
    # A power of two comes off and goes back on without rounding.
    power = np.frexp(np.abs(ordered).max())[1]
    near_one = np.ldexp(ordered, -power)
    there, back = _chain(near_one), _chain(near_one[::-1])
    return np.ldexp(np.concatenate([there[:-1], back[:-1]]), power)


def beyond(corners, points):
    """Say how far points lie outside a hull.

    Parameters
    ----------
    corners : array_like
        Shape [corners, 2], from `hull`.
    points : array_like
        Shape [count, 2].

    Returns
    -------
    numpy.ndarray
        Shape [count]: 0 inside and on the border; outside, the distance to the line through the
        side that is crossed furthest, or to the segment or point that the hull is.

    Raises
    ------
    ValueError
        If there is no corner or no point, or one of them doesn't have two coordinates.
    """
    corners, points = _in_plane(corners), _in_plane(points)
    if len(corners) == 1:
        return _lengths(points - corners[0])
    if len(corners) == 2:
        start, side = corners[0], corners[1] - corners[0]
        share = np.clip((points - start) @ side / (side @ side), 0, 1)
        return _lengths(points - start - share[:, None] * side)
    sides = np.roll(corners, -1, axis=0) - corners
    outwards = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / _lengths(sides)[:, None]
    away = np.einsum("pcf,cf->pc", points[:, None] - corners, outwards)
    return np.maximum(away.max(axis=1), 0)


def _in_plane(points):
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(
            f"points must have the shape [count, 2] with at least one point, got "
            f"{list(points.shape)}: choose two features, such as value[:, :2]"
        )
    return points


def _chain(ordered):
    """One side of the hull: the points that a walk along `ordered` turns left at."""
    kept = []
    for point in ordered:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0:
            kept.pop()
        kept.append(point)
    return kept


def _turn(start, middle, end):
    """Positive where the way from start over middle to end turns left."""
    (x, y), (u, v) = middle - start, end - middle
    return x * v - y * u


def _lengths(vectors):
    return np.hypot(vectors[:, 0], vectors[:, 1])
