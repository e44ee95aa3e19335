"""Memory and time against the number of tokens: lines for counted ones, marks for measured ones.

All axes are logarithmic: a straight line is a power of T, and the steeper it is, the higher.
"""

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attnlib.views import style, tables
from attnlib.views.frame import POINT
from attnlib.views.showing import Page, Picture

WIDTH, HEIGHT = 860, 400
LOOKS = {
    "with grids": ("solid", "s", "with_grids"),
    "tile by tile": ("dashed", "o", "tile_by_tile"),
}
"""head -> its line, its marks, and the count that it needs."""
SHAPES = {"with grids": "solid, squares", "tile by tile": "dashed, circles"}
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def size(count):
    """Say a number of bytes in three digits: 2.15 GB."""
    for unit, name in UNITS:
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"


def duration(seconds):
    """Say a time in three digits: 14.2 ms."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def growth_figure(counted, measured=()):
    """Draw memory and time against the number of tokens.

    Parameters
    ----------
    counted : sequence of Growth
        The lines.
    measured : sequence of Measured, optional
        The marks.

    Returns
    -------
    Picture
        Memory on the left; on the right time, in multiples of that of the shortest sequence.
    """
    figure = Figure(figsize=(WIDTH / style.DPI, HEIGHT / style.DPI), dpi=style.DPI * 2)
    FigureCanvasAgg(figure)
    figure.set_facecolor(style.PAPER)
    tokens = [each.tokens for each in counted]
    memory = _axes(figure, (0.09, 0.15, 0.39, 0.74), tokens, "Memory, forward and backward")
    time = _axes(
        figure, (0.59, 0.15, 0.39, 0.74), tokens, f"Time, as a multiple of T = {tokens[0]}"
    )
    draw_memory(memory, counted, measured)
    draw_time(time, counted, measured)
    return Picture(figure, _sentence(counted, measured))


def draw_memory(axes, counted, measured=()):
    """Draw the bytes that each head needs, and those of a single grid.

    Returns
    -------
    list of matplotlib.artist.Artist
        A line for each head, the line of one grid, and the marks of each head that has any.
    """
    tokens = [each.tokens for each in counted]
    artists = []
    for head, (line, _, name) in LOOKS.items():
        needed = [getattr(each, name) for each in counted]
        artists += axes.plot(tokens, needed, color=style.INK, linewidth=1.8 * POINT, linestyle=line)
        _write(axes, (tokens[-2], needed[-2]), head, (-8, 4), "right")
    grid = [each.grid for each in counted]
    artists += axes.plot(tokens, grid, color=style.SOFT_INK, linewidth=1.4 * POINT, linestyle=":")
    _write(axes, (tokens[-3], grid[-3]), "one grid", (10, -12), "left")
    _scale(axes, [1e6, 1e7, 1e8, 1e9, 1e10], size)
    marks = {head: [(x.tokens, x.peak) for x in measured if x.head == head] for head in LOOKS}
    return [*artists, *_draw_marks(axes, marks)]


def draw_time(axes, counted, measured=()):
    """Draw how the time must grow if products are all it takes, and how it did grow.

    Returns
    -------
    list of matplotlib.artist.Artist
        The expected line, and the marks of each head that has any.
    """
    first = counted[0]
    expected = [each.products / first.products for each in counted]
    tokens = [each.tokens for each in counted]
    artists = axes.plot(
        tokens, expected, color=style.SOFT_INK, linewidth=1.4 * POINT, linestyle="dotted"
    )
    _write(axes, (tokens[-3], expected[-3]), "twice T,\nfour times the products", (-8, 4), "right")
    _scale(axes, [1, 10, 100, 1e3, 1e4], lambda times: f"{times:,.0f} ×")
    marks = {head: _multiples(measured, head) for head in LOOKS}
    return [*artists, *_draw_marks(axes, marks)]


def _multiples(measured, head):
    own = [each for each in measured if each.head == head]
    return [(each.tokens, each.seconds / own[0].seconds) for each in own]


def _draw_marks(axes, marks):
    return [
        axes.plot(
            *zip(*points, strict=True),
            marker=LOOKS[head][1],
            linestyle="none",
            markersize=8 * POINT,
            markeredgecolor=style.INK,
            markerfacecolor=style.INK if head == "with grids" else style.PAPER,
        )[0]
        for head, points in marks.items()
        if points
    ]


def _axes(figure, place, tokens, title):
    axes = figure.add_axes(place)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(tokens[0] / 1.3, tokens[-1] * 1.3)
    axes.set_title(title, size=13 * POINT, color=style.INK, loc="left")
    axes.set_xlabel("tokens T", size=13 * POINT, color=style.INK)
    axes.set_xticks(tokens[::2], [f"{each:,}" for each in tokens[::2]])
    axes.grid(color=style.GRID, linewidth=1 * POINT)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=11 * POINT, colors=style.INK)
    return axes


def _scale(axes, ticks, words):
    axes.set_yticks(ticks, [words(tick) for tick in ticks])
    axes.set_ylim(ticks[0] / 2, ticks[-1] * 10)
    axes.minorticks_off()


def _write(axes, at, words, offset, ha):
    axes.annotate(
        words,
        at,
        tuple(part * POINT for part in offset),
        textcoords="offset points",
        size=11 * POINT,
        color=style.INK,
        ha=ha,
        va="bottom",
        linespacing=1.3,
    )


def growth_page(counted):
    """Show what was counted as a table, a number of tokens a row.

    Parameters
    ----------
    counted : sequence of Growth
        What is shown.

    Returns
    -------
    Page
        One grid, and all that each head needs forward and backward.
    """
    rows = [
        (f"{x.tokens:,}", size(x.grid), size(x.with_grids), size(x.tile_by_tile)) for x in counted
    ]
    columns = ("tokens T", "one grid", "head with grids", "head tile by tile")
    caption = "<b>Memory, counted</b> forward and backward, d = 64, float64"
    return Page(_table(caption, columns, rows), _sentence(counted, ()))


def measured_page(measured):
    """Show what was measured as a table, a number of tokens a row.

    Parameters
    ----------
    measured : sequence of Measured
        Of either head.

    Returns
    -------
    Page
        Time and memory of both heads; a dash where a head was not measured.
    """
    found = {(each.tokens, each.head): each for each in measured}
    rows = []
    for tokens in sorted({each.tokens for each in measured}):
        pair = [found.get((tokens, head)) for head in LOOKS]
        times = [duration(each.seconds) if each else "–" for each in pair]
        peaks = [size(each.peak) if each else "–" for each in pair]
        rows.append((f"{tokens:,}", *times, *peaks))
    columns = ("tokens T", *(f"time, {head}" for head in LOOKS), *(f"memory, {h}" for h in LOOKS))
    caption = "<b>Measured on this machine</b> forward and backward, d = 64, float64"
    lines = "; ".join(
        f"T = {each.tokens}, {each.head}: {duration(each.seconds)}, {size(each.peak)}"
        for each in measured
    )
    return Page(_table(caption, columns, rows), f"Measured on this machine: {lines or 'nothing'}.")


def _table(caption, columns, rows):
    right = f"{tables.HEADER};text-align:right"
    heads = "".join(f'<th scope="col" style="{right}">{column}</th>' for column in columns)
    border = style.ROLES["plain"].css
    cell = f"{tables.CELL};border:{border};background:{style.PAPER};color:{style.INK}"
    body = "".join(
        f'<tr><th scope="row" style="{right}">{first}</th>'
        + "".join(f'<td style="{cell}">{each}</td>' for each in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<table style="{tables.TABLE}">'
        f'<caption style="{tables.CAPTION};background:{style.PAPER}">{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def _sentence(counted, measured):
    first, last = counted[0], counted[-1]
    words = (
        f"From T = {first.tokens} to {last.tokens}, {SHAPES['with grids']}: the head with grids "
        f"needs {size(first.with_grids)} to {size(last.with_grids)}; {SHAPES['tile by tile']}: "
        f"tile by tile it needs {size(first.tile_by_tile)} to {size(last.tile_by_tile)}; dotted: "
        f"one grid, {size(first.grid)} to {size(last.grid)}. The products of "
        f"matrices grow by {last.products / first.products:,.0f} in both."
    )
    return words + (f" {measured_page(measured)!r}" if measured else "")
