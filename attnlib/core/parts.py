"""A head part by part: each goes through all stages while it is in the cache, on a core of its own.

A part is some whole items of the batch, or some queries of one item. Heads of one shape are always
cut in the same way, so that no bit depends on the number of cores.
"""

import math

from attnlib.core import products, sharing

ROWS = 128
"""How many queries of a long sequence go together: their rows of a grid still fit a cache."""
ENTRIES = 2**16
"""How many entries of a grid the short sequences that go together have."""
ALONE = 2**15
"""A product of fewer steps is computed by one thread in every BLAS."""


def take(steps, grid, width):
    """Take every step for every part of a head: no part's step before all steps ahead of it.

    Parameters
    ----------
    steps : sequence of tuple
        Each a function, the arrays of which it is given the part's items and rows, and those of
        which it is given the part's items, all with the batch as their first axis.
    grid : tuple of int
        The batch, the tokens and the tokens again.
    width : int
        Of queries and keys.
    """
    work = math.prod(grid) * width
    if work < ALONE and grid[0] * grid[1] ** 2 <= ENTRIES:
        for fill, by_rows, by_items in steps:
            fill(*by_rows, *by_items)
        return
    parts = cut(*grid[:2])
    if _whole_items(grid[1]):
        sharing.share(parts, lambda part: [_take_one(step, *part) for step in steps], work)
    else:
        for step in steps:
            sharing.share(parts, lambda part, step=step: _take_one(step, *part), work)


def cut(batch, tokens):
    """List the parts: the items and the rows of each."""
    if _whole_items(tokens):
        step = max(1, ENTRIES // tokens**2)
        return [(slice(i, i + step), slice(None)) for i in range(0, max(1, batch), step)]
    # Rows beyond a multiple of BLAS's step are left to the last part.
    step = -(-tokens // (tokens // ROWS) // products.STEP) * products.STEP
    rows = [slice(i, min(i + step, tokens)) for i in range(0, tokens, step)]
    return [(slice(i, i + 1), each) for i in range(batch) for each in rows]


def _take_one(step, items, rows):
    fill, by_rows, by_items = step
    fill(*(x[items, rows] for x in by_rows), *(x[items] for x in by_items))


def _whole_items(tokens):
    return tokens < 2 * ROWS
