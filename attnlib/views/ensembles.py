"""What a score's divisor does as d_k grows: curves over d_k, and the same numbers as tables.

The three divisors are told apart by marker, by line style and by a label at the line's end.
"""

import math

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attnlib.lessons.ensembles import DIVISORS
from attnlib.views import numbers, style, tables
from attnlib.views.frame import POINT
from attnlib.views.showing import Page, Picture

WIDTH, HEIGHT = 800, 570
PANEL = (285, 190)
LEFT, TOP, ACROSS, DOWN = 55, 45, 400, 287
LINE_HEIGHT = 15
"""Pixels: the picture, a panel, the first panel's corner, the way to the next, a label."""

PAPER = f"display:inline-block;background:{style.PAPER};color:{style.INK};padding:8px 12px 0"
"""Captions stand outside a table's own background, and would be lost on a dark page."""

LINES = {
    "1": {"marker": "o", "linestyle": "solid", "markerfacecolor": style.INK},
    "√dₖ": {"marker": "s", "linestyle": "dashed", "markerfacecolor": style.PAPER},
    "dₖ": {"marker": "^", "linestyle": "dotted", "markerfacecolor": style.SOFT_INK},
}

SPREAD, ENTROPY, ALL, MIDDLE = (
    ("score_spread", "Spread of the scores", "standard deviation"),
    ("entropy", "Entropy of the weights", "mean of the queries, nats"),
    ("grad_query", "dQ, all queries", "root mean square"),
    ("grad_query_middle", "dQ, middle query", "half of the queries have less"),
)
PANELS = (SPREAD, ENTROPY, ALL, MIDDLE)
FORWARD = (SPREAD, ENTROPY, ("largest_weight", "Largest weight", "mean of the queries"))
BACKWARD = (
    ("grad_scores", "Gradient of the scores", "root mean square"),
    ALL,
    MIDDLE,
    ("grad_query_top", "Top tenth of the queries", "its share of the squares of dQ"),
)
"""Measure of an ensemble, its title, and how it is taken."""


def ensemble_figure(ensemble):
    """Draw spread, entropy and dQ over d_k, a line for each divisor.

    Parameters
    ----------
    ensemble : attnlib.lessons.ensembles.Ensemble
        The measures.

    Returns
    -------
    Picture
        Four panels, and in words their values at the largest d_k.
    """
    figure = Figure(figsize=(WIDTH / style.DPI, HEIGHT / style.DPI), dpi=2 * style.DPI)
    FigureCanvasAgg(figure)
    figure.set_facecolor(style.PAPER)
    for place, (measure, title, note) in enumerate(PANELS):
        axes = _panel_axes(figure, *divmod(place, 2))
        _write_words(axes, title, note)
        most = ensemble.largest_entropy if measure == "entropy" else None
        draw_panel(axes, ensemble.widths, getattr(ensemble, measure), most)
        if most is not None:
            draw_bound(axes, most, f"equal weights: ln {ensemble.tokens} = {most:.4f}")
    return Picture(figure, _description(ensemble))


def ensemble_page(ensemble, measures=FORWARD + BACKWARD):
    """Show measures as tables, a d_k a row and a divisor a column.

    Parameters
    ----------
    ensemble : attnlib.lessons.ensembles.Ensemble
        The measures.
    measures : sequence of tuple, optional
        Such as `FORWARD` or `BACKWARD`: attribute, title and note of each.

    Returns
    -------
    Page
        One table a measure, with four decimals.
    """
    rows = [f"dₖ = {width}" for width in ensemble.widths]
    columns = [f"÷ {name}" for name in DIVISORS]
    html = "".join(
        tables.matrix(
            title, getattr(ensemble, measure).T, "plain", rows, columns, digits=4, second=note
        )
        for measure, title, note in measures
    )
    return Page(f'<div style="{PAPER}">{html}</div>', _description(ensemble, measures))


def draw_panel(axes, widths, measure, most=None):
    """Draw one measure over d_k.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Their scales are set here.
    widths : sequence of int
        The values of d_k, on a logarithmic scale.
    measure : numpy.ndarray
        Shape [divisors, widths], in the order of `lessons.ensembles.DIVISORS`.
    most : float, optional
        The largest possible value: the scale is then even and starts at 0, else logarithmic.

    Returns
    -------
    tuple of list
        The lines, with their divisors as labels, and the texts at their ends.
    """
    axes.set_xscale("log")
    axes.set_xlim(min(widths) / 1.25, max(widths) * 1.12)
    axes.set_xticks(widths, [str(width) for width in widths])
    if most is None:
        _ten_by_ten(axes, np.min(measure), np.max(measure))
    else:
        axes.set_ylim(0, 1.2 * most)
        ticks = range(math.floor(most) + 1)
        axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    lines = [
        axes.plot(
            widths,
            row,
            color=style.INK,
            markeredgecolor=style.INK,
            markersize=6 * POINT,
            linewidth=1.4 * POINT,
            label=name,
            **LINES[name],
        )[0]
        for name, row in zip(DIVISORS, measure, strict=True)
    ]
    return lines, _name_ends(axes, lines)


def draw_bound(axes, most, words):
    """Draw a level line that no curve can cross, with its name above it."""
    line = axes.axhline(most, color=style.SOFT_INK, linewidth=POINT, zorder=0)
    text = axes.annotate(
        words,
        xy=(0.02, most),
        xycoords=("axes fraction", "data"),
        xytext=(0, 5 * POINT),
        textcoords="offset points",
        size=11 * POINT,
        color=style.SOFT_INK,
    )
    return line, text


def _panel_axes(figure, row, column):
    left, top = LEFT + column * ACROSS, TOP + row * DOWN
    width, height = PANEL
    axes = figure.add_axes(
        (left / WIDTH, 1 - (top + height) / HEIGHT, width / WIDTH, height / HEIGHT)
    )
    axes.tick_params(labelsize=11 * POINT, labelcolor=style.INK, color=style.RULE, width=POINT)
    for side, spine in axes.spines.items():
        spine.set(visible=side in ("left", "bottom"), color=style.RULE, linewidth=POINT)
    return axes


def _write_words(axes, title, note):
    above = axes.annotate(
        title,
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 16 * POINT),
        textcoords="offset points",
        size=13 * POINT,
        weight="bold",
        color=style.INK,
    )
    axes.annotate(
        note,
        xy=(1, 0),
        xycoords=above,
        xytext=(7 * POINT, 0),
        textcoords="offset points",
        size=11 * POINT,
        color=style.SOFT_INK,
        va="bottom",
    )
    axes.set_xlabel("dₖ, width of queries and keys", size=11 * POINT, color=style.INK)


def _ten_by_ten(axes, least, most):
    """Set a logarithmic scale around these values; powers of ten get ticks, or 1, 2, 5 and on."""
    low, high = least / 1.6, most * 1.6
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    powers = 10.0 ** np.arange(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    steps = (1,) if high / low >= 100 else (1, 2, 5)
    ticks = [tick for tick in np.ravel(np.outer(powers, steps)) if low <= tick <= high]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])


def _name_ends(axes, lines):
    """Write each line's divisor at its end; lines that end close together get names apart."""
    points = axes.figure.dpi / 72
    levels = [axes.transData.transform(line.get_xydata()[-1])[1] / points for line in lines]
    texts, free = [], -math.inf
    for place in np.argsort(levels, kind="stable"):
        level = max(levels[place], free)
        free = level + LINE_HEIGHT * POINT
        texts.append(
            axes.annotate(
                f"÷ {lines[place].get_label()}",
                xy=(1, lines[place].get_ydata()[-1]),
                xycoords=("axes fraction", "data"),
                xytext=(5 * POINT, level - levels[place]),
                textcoords="offset points",
                size=12 * POINT,
                color=style.INK,
                va="center",
            )
        )
    return texts


def _description(ensemble, measures=PANELS):
    parts = []
    for measure, title, note in measures:
        ends = ", ".join(
            f"{numbers.fixed(end, 4)} (÷ {name})"
            for name, end in zip(DIVISORS, getattr(ensemble, measure)[:, -1], strict=True)
        )
        parts.append(f"{title} ({note}): {ends}")
    return f"At dₖ = {ensemble.widths[-1]}, by the divisor of the scores. {'; '.join(parts)}."
