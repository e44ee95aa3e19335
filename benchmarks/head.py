"""Print what one head costs, forward and backward, beside PyTorch, plain NumPy and the products.

The sides have their turns in one process. Then the streaming head alone, as the tokens grow.
"""

import os

# A kernel chosen for this shell is not what a reader's machine runs; NumPy reads it as it loads.
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import numpy as np
from common import machine
from head_parts import growth, sides, turns

SHAPES = {(1, 2, 2): 60, (1, 128, 64): 20, (8, 128, 64): 15, (1, 1024, 64): 6, (1, 4096, 64): 3}
"""Batch, tokens and width -> rounds."""
TOKENS = (2048, 4096, 8192, 16384, 32768)
BARS = [
    ((1, 2, 2), "attnlib", "PyTorch explicit", 0.5),
    ((1, 128, 64), "attnlib", "PyTorch explicit", 1.0),
    ((8, 128, 64), "attnlib", "PyTorch explicit", 1.0),
    ((1, 1024, 64), "attnlib", "PyTorch explicit", 1.0),
    ((1, 4096, 64), "attnlib", "PyTorch explicit", 0.75),
    ((1, 4096, 64), "streaming", "PyTorch fused", 0.9),
    ((1, 4096, 64), "streaming", "six products", 1.3),
]
"""A shape in float64, a side, the other side, and at most which ratio."""
ROOM = 300
"""Megabytes that the streaming head may need beyond its inputs for the most tokens."""


def main():
    """Measure, and print tables and bars."""
    print(machine.told())
    print(sides.threads())
    if not sides.PYTORCH:
        print("PyTorch is not installed here and is left out: `pip install -e .[bench]`")
    found = {dtype: _table(dtype) for dtype in (np.float64, np.float32)}
    most = _growth()
    print()
    for shape, side, other, bar in BARS:
        times = found[np.float64][shape]
        if other in times:
            ratio = times[side] / times[other]
            _told(ratio, bar, f"{side} / {other} at {shape}, float64")
    _told(most, ROOM, f"MB beyond the inputs at {TOKENS[-1]} tokens, streaming")


def _table(dtype):
    """Print the medians of every side, and give them by shape."""
    print(
        f"\nForward and backward, {dtype.__name__}, ms; in brackets: attnlib's, streaming's share"
    )
    found = {}
    for shape, rounds in SHAPES.items():
        times = turns.medians(sides.calls(shape, dtype), rounds)
        if not found:
            print(f"{'':<14}" + "".join(f"{name:>24}" for name in times))
        cells = [
            f"{each:.3g} ({times['attnlib'] / each:.2f}, {times['streaming'] / each:.2f})"
            for each in times.values()
        ]
        print(f"{shape!s:<14}" + "".join(f"{cell:>24}" for cell in cells), flush=True)
        found[shape] = times
    return found


def _growth():
    print(
        "\nStreaming, batch 1, width 64, float64\n"
        f"{'tokens':>8} {'s':>8} {'MB':>8} {'a grid, MB':>12}"
    )
    for tokens in TOKENS:
        one = growth.measure(tokens)
        grid = 8 * tokens**2 / 1e6
        row = f"{tokens:8} {one['seconds']:8.3g} {one['megabytes']:8.0f} {grid:12.0f}"
        print(row, flush=True)
    return one["megabytes"]


def _told(got, bar, what):
    print(f"{'met    ' if got <= bar else 'NOT MET'} {got:.3g}, at most {bar}: {what}")


if __name__ == "__main__":
    main()
