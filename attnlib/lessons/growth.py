"""What a longer sequence costs: memory and time of the head with grids, and of the one without.

What must grow can be counted from shapes; what a machine makes of it has to be measured on it.
"""

import time
import tracemalloc
from dataclasses import dataclass

import numpy as np

from attnlib.core import tiles
from attnlib.core.head import scaled_dot_product_self_attention
from attnlib.core.streaming import streaming_self_attention

WIDTH = 64
"""d_k and d_v of every head that is counted or measured here."""
GRIDS = 6
"""Raw scores, scaled scores and weights, and the gradient of each."""
ARRAYS = 8
"""Q, K, V and the output, and the gradient of each."""
COUNTED = tuple(2**power for power in range(8, 16))
"""Tokens that are counted: 256 to 32768."""
BIGGEST = {"with grids": 2048, "tile by tile": 4096}
"""head -> the most tokens that are measured: a few seconds in all, in memory that any machine has.
"""


@dataclass(frozen=True)
class Growth:
    """What one head needs, forward and backward, counted from its shapes.

    Attributes
    ----------
    tokens : int
        T.
    grid : int
        Bytes of a single [T, T] array.
    with_grids : int
        Bytes of all that the head with grids keeps: six grids, and eight arrays [T, d].
    tile_by_tile : int
        Bytes of the same eight arrays, three numbers for each query and two tiles.
    products : int
        Multiplications in the six products of matrices; tile by tile, that of queries and keys is
        done twice, which changes nothing in how they grow.
    """

    tokens: int
    grid: int
    with_grids: int
    tile_by_tile: int
    products: int


def count(tokens=COUNTED, width=WIDTH, dtype=np.float64):
    """Count what heads of growing length need.

    Parameters
    ----------
    tokens : sequence of int
        T of each head.
    width : int, default 64
        d_k and d_v.
    dtype : dtype, default float64
        Of every number.

    Returns
    -------
    tuple of Growth
        One for each T.

    Raises
    ------
    ValueError
        If T or the width is not positive.
    """
    if width < 1 or min(tokens) < 1:
        raise ValueError(f"tokens and width must be 1 or more, got {tuple(tokens)} and {width}")
    size = np.dtype(dtype).itemsize
    return tuple(_counted(each, width, size) for each in tokens)


def _counted(tokens, width, size):
    grid, arrays = size * tokens**2, ARRAYS * size * tokens * width
    tile = size * min(tokens, tiles.QUERIES) * min(tokens, tiles.KEYS)
    return Growth(
        tokens,
        grid,
        GRIDS * grid + arrays,
        arrays + 3 * size * tokens + 2 * tile,
        6 * tokens**2 * width,
    )


@dataclass(frozen=True)
class Measured:
    """One head forward and backward, on this machine.

    Attributes
    ----------
    head : str
        One of `BIGGEST`.
    tokens : int
        T.
    seconds : float
        The fastest of a few runs.
    peak : int
        The most bytes at a time that NumPy held beyond the inputs.
    """

    head: str
    tokens: int
    seconds: float
    peak: int


def cases(biggest=None):
    """List what `measurements` measures, in its order.

    Parameters
    ----------
    biggest : dict, optional
        As `BIGGEST`, with fewer or more tokens.

    Returns
    -------
    list of tuple
        Head and tokens: 256, twice as many, and so on.
    """
    biggest = BIGGEST if biggest is None else biggest
    return [(head, T) for T in COUNTED for head in HEADS if biggest[head] >= T]


def measurements(biggest=None, width=WIDTH, spend=0.4):
    """Measure both heads on this machine, one case after the other.

    Parameters
    ----------
    biggest : dict, optional
        As for `cases`.
    width : int, default 64
        d_k and d_v.
    spend : float, default 0.4
        Seconds after which a case is not run once more.

    Yields
    ------
    Measured
        As soon as it is known; who has seen enough leaves the loop.
    """
    for head, tokens in cases(biggest):
        inputs = np.random.default_rng(tokens).standard_normal((4, 1, tokens, width))
        peak = _peak(HEADS[head], inputs)
        yield Measured(head, tokens, _fastest(HEADS[head], inputs, spend), peak)


def _with_grids(query, key, value, grad_output):
    head = scaled_dot_product_self_attention(query, key, value)
    return head, head.backward(grad_output)


def _tile_by_tile(query, key, value, grad_output):
    head = streaming_self_attention(query, key, value)
    return head, head.backward(grad_output)


HEADS = {"with grids": _with_grids, "tile by tile": _tile_by_tile}


def _fastest(run, inputs, spend):
    """A short run is repeated often: of many, one is undisturbed."""
    fastest, end = np.inf, time.perf_counter() + spend
    while True:
        start = time.perf_counter()
        run(*inputs)
        stop = time.perf_counter()
        fastest = min(fastest, stop - start)
        if stop > end:
            return fastest


def _peak(run, inputs):
    """NumPy tells `tracemalloc` of every array; this run also warms up, and isn't timed."""
    traced = tracemalloc.is_tracing()
    if not traced:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        # Kept until the peak is read, as whoever asked for it would keep it.
        kept = run(*inputs)
        _, peak = tracemalloc.get_traced_memory()
        del kept
        return peak - before
    finally:
        if not traced:
            tracemalloc.stop()
