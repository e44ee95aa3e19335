"""Products of matrices in which equal rows and equal columns give equal numbers, to the last bit.

BLAS computes the rows and columns that are left over beyond a multiple of its step in another order
of additions. Two tokens with equal keys would then get scores that differ in the last bit. And it
adds up all terms of an entry one after another: in pieces, the sums are rounded less.
"""

import numpy as np

STEP = 8
"""A multiple of every BLAS kernel's step in rows and columns."""
FEW = 4
"""Up to so many rows and columns, all are computed in one order."""
PIECE, PIECES = 64, 4
"""How many terms are added up in one piece, and in how many pieces at most: with more, the calls
would cost more time than they save."""


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
        left, right = _padded(left, more_rows, 0), _padded(right, 0, more_columns)
        whole = np.empty((*out.shape[:-2], rows + more_rows, columns + more_columns), out.dtype)
        _in_pieces(left, right, whole)
        out[...] = whole[..., :rows, :columns]
    else:
        _in_pieces(left, right, out)


def _in_pieces(left, right, out):
    terms = left.shape[-1]
    if not PIECE < terms <= PIECES * PIECE:
        np.matmul(left, right, out=out)
        return
    np.matmul(left[..., :PIECE], right[..., :PIECE, :], out=out)
    for start in range(PIECE, terms, PIECE):
        part = slice(start, start + PIECE)
        out += left[..., part] @ right[..., part, :]


def _padded(matrix, rows, columns):
    if not rows and not columns:
        return matrix
    *items, height, width = matrix.shape
    padded = np.zeros((*items, height + rows, width + columns), matrix.dtype)
    padded[..., :height, :width] = matrix
    return padded
