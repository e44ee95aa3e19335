"""Products of matrices in which equal rows and equal columns give equal numbers, to the last bit.

BLAS computes the rows and columns that are left over beyond a multiple of its step in another order
of additions. Two tokens with equal keys would then get scores that differ in the last bit.
"""

import numpy as np

STEP = 8
"""A multiple of every BLAS kernel's step in rows and columns."""
FEW = 4
"""Up to so many rows and columns, all are computed in one order."""


def product(left, right, out):
    """Multiply matrices into `out`.

    Parameters
    ----------
    left, right : numpy.ndarray
        Shapes [..., rows, terms] and [..., terms, columns].
    out : numpy.ndarray
        Shape [..., rows, columns]: filled.
    """
    rows, columns = out.shape[-2:]
    if (rows % STEP or columns % STEP) and (rows > FEW or columns > FEW):
        more_rows, more_columns = -rows % STEP, -columns % STEP
        left = _padded(left, more_rows, 0)
        right = _padded(right, 0, more_columns)
        out[...] = (left @ right)[..., :rows, :columns]
    else:
        np.matmul(left, right, out=out)


def _padded(matrix, rows, columns):
    if not rows and not columns:
        return matrix
    *items, height, width = matrix.shape
    padded = np.zeros((*items, height + rows, width + columns), matrix.dtype)
    padded[..., :height, :width] = matrix
    return padded
