"""One head in fifty digits, each number told as a double and what the double leaves over."""

import mpmath
import numpy as np

DIGITS = 50


def stages(query, key, value, grad_output):
    """Compute every stage there and back.

    Parameters
    ----------
    query, key, value, grad_output : numpy.ndarray
        Of one head, without a batch axis.

    Returns
    -------
    dict
        Stage to two arrays: the exact numbers rounded to doubles, and the rest.
    """
    with mpmath.workdps(DIGITS):
        q, k, v, g = (_rows(array) for array in (query, key, value, grad_output))
        root = mpmath.sqrt(query.shape[1])
        raw = _times(q, k)
        scaled = [[score / root for score in row] for row in raw]
        weights = [_softmax(row) for row in scaled]
        grad_weights = _times(g, v)
        grad_scaled = [_through(*rows) for rows in zip(weights, grad_weights, strict=True)]
        grad_raw = [[entry / root for entry in row] for row in grad_scaled]
        exact = {
            "raw_scores": raw,
            "scaled_scores": scaled,
            "weights": weights,
            "output": _times(weights, _turned(v)),
            "grad value": _times(_turned(weights), _turned(g)),
            "grad weights": grad_weights,
            "grad scaled_scores": grad_scaled,
            "grad raw_scores": grad_raw,
            "grad query": _times(grad_raw, _turned(k)),
            "grad key": _times(_turned(grad_raw), _turned(q)),
        }
        return {stage: _parts(rows) for stage, rows in exact.items()}


def _rows(array):
    return [[mpmath.mpf(entry) for entry in row] for row in array.tolist()]


def _turned(rows):
    return list(zip(*rows, strict=True))


def _times(left, right):
    """Every row of one with every row of the other: left times right, transposed."""
    return [[mpmath.fdot(zip(a, b, strict=True)) for b in right] for a in left]


def _softmax(scores):
    powers = [mpmath.exp(score) for score in scores]
    whole = mpmath.fsum(powers)
    return [power / whole for power in powers]


def _through(weights, grad_weights):
    """Difference by difference: less the mean, fifty digits would cancel where one weight is 1."""
    return [
        weight * mpmath.fdot(zip(weights, (mine - other for other in grad_weights), strict=True))
        for weight, mine in zip(weights, grad_weights, strict=True)
    ]


def _parts(rows):
    nearest = [[float(number) for number in row] for row in rows]
    rest = [
        [float(number - near) for number, near in zip(*pair, strict=True)]
        for pair in zip(rows, nearest, strict=True)
    ]
    return np.array(nearest), np.array(rest)
