"""The error of central differences against their step: a V on logarithmic axes."""

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attnlib.views import style
from attnlib.views.frame import POINT
from attnlib.views.showing import Picture

WIDTH, HEIGHT = 760, 480
LEAST, MOST = 1e-12, 30.0
"""The errors that the picture has room for."""
LOOKS = {
    "float64": {"linestyle": "solid", "marker": "s", "markerfacecolor": style.INK},
    "float32": {"linestyle": "dashed", "marker": "o", "markerfacecolor": style.PAPER},
}
SHAPES = {"float64": "squares, solid", "float32": "circles, dashed"}
BESIDE = {"float64": ((64, 0), "left", "center"), "float32": ((-24, 11), "right", "top")}
"""Where the words of each ring stand, clear of the lines."""
EXPECTED = {"color": style.SOFT_INK, "linestyle": "dotted", "linewidth": 1.4 * POINT}


def step_curve_figure(*curves, step=1e-6, tolerance=2e-6):
    """Draw the largest error of a slope against the step, for each precision.

    Parameters
    ----------
    *curves : StepErrors
        One for each precision.
    step, tolerance : float
        Those of the gradient check, marked by lines.

    Returns
    -------
    Picture
        Both axes logarithmic; and the description, with the bottom of each curve.
    """
    axes = _axes(curves[0].steps)
    draw_check(axes, step, tolerance)
    for curve in curves:
        draw_curve(axes, curve)
    _label_expected(axes, curves[0])
    return Picture(axes.figure, _sentence(curves, step, tolerance))


def draw_curve(axes, curve):
    """Draw the measured errors of one precision, the expected ones, and a ring at the bottom.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Both scales logarithmic.
    curve : StepErrors
        What is shown.

    Returns
    -------
    list of matplotlib.artist.Artist
        The measured line, the expected truncation, the expected rounding, and the ring.
    """
    look = LOOKS[curve.precision]
    (measured,) = axes.plot(
        curve.steps,
        curve.largest,
        color=style.INK,
        linewidth=1.8 * POINT,
        markersize=7 * POINT,
        markeredgecolor=style.INK,
        **look,
    )
    (truncation,) = axes.plot(curve.steps, curve.truncation, zorder=1, **EXPECTED)
    (rounding,) = axes.plot(curve.steps, curve.rounding, zorder=1, **EXPECTED)
    at = (curve.best_step, curve.largest[curve.bottom])
    (ring,) = axes.plot(
        *at,
        marker="o",
        linestyle="none",
        markersize=17 * POINT,
        markerfacecolor="none",
        markeredgecolor=style.MARK,
        markeredgewidth=2 * POINT,
    )
    words = f"bottom of {curve.precision}\nh = {curve.best_step:g}"
    _write(axes, at, words, *BESIDE[curve.precision])
    first = (curve.steps[0], curve.largest[0])
    words = f"{curve.precision} ({SHAPES[curve.precision]})"
    _write(axes, first, words, (6, 10), "left")
    return [measured, truncation, rounding, ring]


def draw_check(axes, step, tolerance):
    """Mark the step and the tolerance of the gradient check by a line each."""
    look = {"color": style.MARK, "linewidth": 1 * POINT, "linestyle": "dashdot", "zorder": 0}
    lines = [axes.axvline(step, **look), axes.axhline(tolerance, **look)]
    _write(axes, (step, MOST), f"step of the check {step:g}", (4, -4), "left", "top")
    left = axes.get_xlim()[0]
    _write(axes, (left, tolerance), f"its tolerance {tolerance:g}", (5, -4), "left", "top")
    return lines


def _axes(steps):
    figure = Figure(figsize=(WIDTH / style.DPI, HEIGHT / style.DPI), dpi=style.DPI * 2)
    FigureCanvasAgg(figure)
    figure.set_facecolor(style.PAPER)
    axes = figure.add_axes((0.1, 0.12, 0.87, 0.85))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(steps[0] / 2, steps[-1] * 2)
    axes.set_ylim(LEAST / 5, MOST)
    axes.set_xlabel("step h", size=13 * POINT, color=style.INK)
    axes.set_ylabel("largest error of a slope", size=13 * POINT, color=style.INK)
    axes.set_xticks(steps, [f"{step:.0e}" for step in steps])
    ticks = [10.0**power for power in range(-12, 1, 2)]
    axes.set_yticks(ticks, [f"{tick:.0e}" for tick in ticks])
    axes.tick_params(labelsize=11 * POINT, colors=style.INK)
    axes.minorticks_off()
    return axes


def _label_expected(axes, curve):
    """Name the dotted lines."""
    at = (curve.steps[2], curve.rounding[2])
    _write(axes, at, "expected rounding\neps × Σ|O dO| ÷ 2h", (14, 4), "left")
    at = (curve.steps[-3], curve.truncation[-3])
    _write(axes, at, "expected truncation\nh² × |L‴| ÷ 6", (9, -4), "left", "top")


def _write(axes, at, words, offset, ha, va="bottom"):
    return axes.annotate(
        words,
        at,
        tuple(part * POINT for part in offset),
        textcoords="offset points",
        size=11 * POINT,
        color=style.INK,
        ha=ha,
        va=va,
        linespacing=1.3,
        bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 1},
    )


def _sentence(curves, step, tolerance):
    counts = "+".join(str(getattr(curves[0], name).shape[1]) for name in ("query", "key", "value"))
    bottoms = "; ".join(
        f"in {curve.precision} it is smallest at h = {curve.best_step:g}" for curve in curves
    )
    passing = " and ".join(_passing(curve, tolerance) for curve in curves)
    return (
        f"Largest error of a central difference over {counts} entries against the step h, both on "
        f"logarithmic axes. Each curve is a V: {bottoms}. To the left rounding grows like eps ÷ h, "
        f"to the right truncation grows like h². Lines mark the check's step {step:g} and its "
        f"tolerance {tolerance:g}; {passing}."
    )


def _passing(curve, tolerance):
    # Which steps pass at the edges is a matter of rounding, and differs by machine.
    some = "some steps pass" if curve.largest.min() <= tolerance else "no step passes"
    return f"{some} in {curve.precision}"
