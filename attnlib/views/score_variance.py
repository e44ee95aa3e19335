"""The variance argument as a table: what is expected of random dot products, and what they do."""

from attnlib.views import tables
from attnlib.views.ensembles import PAPER
from attnlib.views.showing import Page


def variance_page(kinds):
    """Show what dot products of random vectors have for mean and variance, a kind a row.

    Parameters
    ----------
    kinds : sequence of attnlib.lessons.score_variance.DotProducts
        The measurements.

    Returns
    -------
    Page
        One table: expected and measured.
    """
    entries = [
        [kind.expected_mean, kind.mean, kind.expected_variance, kind.variance] for kind in kinds
    ]
    columns = ("mean, expected", "measured", "variance, expected", "measured")
    html = tables.matrix(
        f"Dot products of {kinds[0].width} components",
        entries,
        "plain",
        [kind.name for kind in kinds],
        columns,
        digits=2,
        second=f"{kinds[0].pairs} pairs of each kind",
    )
    parts = (
        f"{kind.name}: variance {kind.variance:.2f}, expected {kind.expected_variance:.0f}"
        for kind in kinds
    )
    return Page(f'<div style="{PAPER}">{html}</div>', "; ".join(parts) + ".")
