"""One entry moved to both sides: L on the way, its secant against its tangent, and the numbers.

The picture measures moves in steps of h, so that what stands on its axes never changes; the numbers
stand in the table and the sentence beside it.
"""

import math

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attnlib.views import numbers, readings, style, tables
from attnlib.views.frame import POINT
from attnlib.views.showing import Picture

WIDTH, HEIGHT = 520, 330
MATRICES = {"query": "Q", "key": "K", "value": "V"}
TICKS = ((-1, "x − h"), (0, "x"), (1, "x + h"))
LOOKS = {
    "loss": {"color": style.RULE, "linestyle": "solid", "linewidth": 5 * POINT},
    "secant": {"color": style.INK, "linestyle": "solid", "linewidth": 1.6 * POINT},
    "tangent": {"color": style.MARK, "linestyle": "dashed", "linewidth": 2 * POINT},
}
KEYS = {"loss": "L (broad)", "secant": "secant (thin)", "tangent": "tangent (dashed)"}
"""line -> how it is named above the axes; breadth and dashes tell them apart, not colour."""


def secant_axes(scale=1):
    """Make a private figure with the axes of a secant picture, all that is the same for every one.

    Parameters
    ----------
    scale : float, default 1
        Device pixels for each pixel of the picture.

    Returns
    -------
    matplotlib.axes.Axes
        On a new figure with an Agg canvas, unknown to pyplot.
    """
    figure = Figure(figsize=(WIDTH / style.DPI, HEIGHT / style.DPI), dpi=style.DPI * scale)
    FigureCanvasAgg(figure)
    figure.set_facecolor(style.PAPER)
    axes = figure.add_axes((0.09, 0.11, 0.88, 0.77))
    axes.set_xlim(-1.6, 1.6)
    axes.set_ylim(-1.15, 1.15)
    axes.set_autoscale_on(False)
    positions, names = zip(*TICKS, strict=True)
    axes.set_xticks(positions, names, size=13 * POINT, color=style.INK)
    axes.set_yticks([0], ["L(x)"], size=13 * POINT, color=style.INK)
    axes.grid(color=style.RULE, linewidth=0.6 * POINT, linestyle="dotted")
    for share, (line, words) in zip((0.0, 0.29, 0.63), KEYS.items(), strict=True):
        across = (share, share + 0.07)
        axes.plot(across, (1.07, 1.07), transform=axes.transAxes, clip_on=False, **LOOKS[line])
        axes.text(
            share + 0.09,
            1.07,
            words,
            size=13 * POINT,
            va="center_baseline",
            color=style.INK,
            transform=axes.transAxes,
        )
    return axes


def draw_secant(axes, difference):
    """Draw L round one entry, the secant through its two moved losses, and the tangent.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        From `secant_axes`.
    difference : EntryDifference
        What is shown; only the first artist has as many points as its path.

    Returns
    -------
    list of matplotlib.artist.Artist
        L, the secant, the tangent, and the three losses.
    """
    step = difference.step
    rise = difference.path - difference.objective
    ends = difference.offsets[[0, -1]]
    middle = (difference.above + difference.below) / 2 - difference.objective
    secant = middle + ends * difference.slope
    tangent = ends * difference.closed_form
    losses = np.array([difference.below, difference.objective, difference.above])
    marks = losses - difference.objective
    limit = np.max(np.abs(np.concatenate([rise, secant, tangent, marks]))) or 1.0
    (line,) = axes.plot(difference.offsets / step, rise / limit, **LOOKS["loss"])
    (chord,) = axes.plot(ends / step, secant / limit, **LOOKS["secant"])
    (touch,) = axes.plot(ends / step, tangent / limit, **LOOKS["tangent"])
    (dots,) = axes.plot(
        (-1, 0, 1),
        marks / limit,
        linestyle="none",
        marker="o",
        markersize=8 * POINT,
        markerfacecolor=style.PAPER,
        markeredgecolor=style.INK,
        markeredgewidth=1.6 * POINT,
    )
    return [line, chord, touch, dots]


def secant_figure(difference):
    """Show one entry's two perturbed losses, the secant and the tangent.

    Parameters
    ----------
    difference : EntryDifference
        One entry and step.

    Returns
    -------
    Picture
        The figure, its three losses labelled, and its description.
    """
    axes = secant_axes(scale=2)
    *_, dots = draw_secant(axes, difference)
    losses = (difference.below, difference.objective, difference.above)
    sides = ("left", "center", "right")
    for x, y, loss, side in zip(*dots.get_data(), losses, sides, strict=True):
        above = y > 0
        axes.annotate(
            _printed(loss, _digits(difference)),
            (x, y),
            (0, (14 if above else -14) * POINT),
            textcoords="offset points",
            size=12 * POINT,
            ha=side,
            va="bottom" if above else "top",
            color=style.INK,
            bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 1, "alpha": 0.8},
        )
    return Picture(axes.figure, difference_sentence(difference))


def difference_table(difference):
    """Show the numbers of one central difference.

    Parameters
    ----------
    difference : EntryDifference
        One entry and step.

    Returns
    -------
    str
        HTML.
    """
    rows = {
        "L(x + h)": difference.above,
        "L(x)": difference.objective,
        "L(x − h)": difference.below,
        "slope": difference.slope,
        "closed form": difference.closed_form,
    }
    digits = _digits(difference)
    lines = [(name, _printed(number, digits)) for name, number in rows.items()]
    lines.append(("error", _power(difference.error)))
    lines.append(("expected truncation, h² L‴ ÷ 6", _power(difference.truncation)))
    lines.append(("expected rounding, eps ÷ 2h × Σ|O dO|", _power(difference.rounding)))
    body = "".join(
        f'<tr><th scope="row" style="{tables.HEADER};text-align:left">{name}</th>'
        f'<td style="{tables.CELL};border:{style.ROLES["plain"].css};color:{style.INK}">{number}'
        "</td></tr>"
        for name, number in lines
    )
    caption = (
        f"<b>{entry_name(difference.operand, difference.index)}</b> "
        f"x = {_printed(difference.entry, 6)}, h = {difference.step:g}, {difference.precision}"
    )
    return (
        f'<table style="{tables.TABLE}"><caption style="{tables.CAPTION}">{caption}</caption>'
        f"<tbody>{body}</tbody></table>"
    )


def difference_sentence(difference):
    """Tell one central difference in words.

    Returns
    -------
    str
        The entry, its two losses, slope and closed form, and which error is to be expected.
    """
    where = entry_name(difference.operand, difference.index)
    below, above = (
        _printed(loss, _digits(difference)) for loss in (difference.below, difference.above)
    )
    slope, closed_form = (_printed(x, 6) for x in (difference.slope, difference.closed_form))
    return (
        f"{where} moved by h = {difference.step:g} to each side: L(x − h) = {below}, "
        f"L(x + h) = {above}, slope {slope}; the closed form says {closed_form}. "
        f"{cause_sentence(difference)}"
    )


def cause_sentence(difference):
    """Say which of the two errors is larger at this step."""
    if difference.above == difference.below and difference.error:
        return "Both losses round to one number, so the slope is 0 whatever the truth."
    if difference.truncation == 0 and difference.operand == "value":
        return "L is a straight line in every value, so only rounding is left."
    if difference.truncation > difference.rounding:
        return "Most of the error is truncation: L bends between x − h and x + h."
    return "Most of the error is rounding: the two losses differ in their last digits only."


def entry_name(operand, index):
    """Name an entry as the other views do: ``Q[q₀, 1]``; a batch item beyond the first is told."""
    item, row, column = index
    batch = f", batch item {item}" if item else ""
    return f"{readings.title(MATRICES[operand], row, column)}{batch}"


def _digits(difference):
    """As many decimals as tell two losses that are a step apart: six for wide steps."""
    most = {"float64": 16, "float32": 8}[difference.precision]
    return min(most, max(6, 3 - math.floor(math.log10(difference.step))))


def _printed(number, digits):
    return numbers.signed(numbers.fixed(number, digits))


def _power(number):
    return numbers.signed(f"{number:.1e}") if number else "0"
