"""Medians, 95th percentiles and how far they wander on a busy machine."""

import statistics

BLOCKS = 5


def of(milliseconds):
    """Describe a series of times.

    Parameters
    ----------
    milliseconds : list of float
        In the order in which they were measured.

    Returns
    -------
    dict
        Count, median, p95, and the smallest and largest median of five equal parts of the series.
    """
    count = len(milliseconds)
    parts = [milliseconds[i * count // BLOCKS : (i + 1) * count // BLOCKS] for i in range(BLOCKS)]
    medians = [statistics.median(part) for part in parts if part]
    return {
        "count": count,
        "median": statistics.median(milliseconds),
        "p95": sorted(milliseconds)[min(count - 1, int(0.95 * count))],
        "lowest": min(medians),
        "highest": max(medians),
    }


def line(name, series):
    """Print one series as a row of the table."""
    return (
        f"{name:<44} {series['median']:8.2f} {series['p95']:8.2f} "
        f"{series['lowest']:8.2f} – {series['highest']:<8.2f} {series['count']:5d}"
    )


HEADER = f"{'milliseconds':<44} {'median':>8} {'p95':>8} {'of five parts':>19} {'count':>7}"
