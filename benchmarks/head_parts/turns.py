"""Times of several calls in turn."""

import statistics
import time

REST = 0.02
"""Seconds in which the threads of the side before, which wait for more work at full speed, give up
waiting: PyTorch's and BLAS's would otherwise take a core from whoever comes next."""
IN_TURN = 5
"""Calls of a side one after another, of which the first is not counted."""


def medians(calls, rounds):
    """Time each call in every round.

    Parameters
    ----------
    calls : dict of str to callable
        What is timed.
    rounds : int
        How often each has its turn.

    Returns
    -------
    dict of str to float
        Milliseconds, the median of all turns.
    """
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(REST)
            turn = [_one(call) for _ in range(IN_TURN)]
            times[name] += turn[1:]
    return {name: statistics.median(each) for name, each in times.items()}


def _one(call):
    begin = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - begin)
