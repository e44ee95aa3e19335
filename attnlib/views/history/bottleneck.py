"""The one context measured: what is left of each word in it, and what the other models keep."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from attnlib.lessons.history import context_sensitivity
from attnlib.views import numbers, style, tables
from attnlib.views.frame import POINT
from attnlib.views.history.alignment_layout import fitted
from attnlib.views.history.alignments import FONT
from attnlib.views.shape_page import SHEET
from attnlib.views.showing import Page, Picture

SIZE = (960, 340)
"""Width and height of the picture in pixels."""
LETTERS = 14
"""The most characters of a word beside its bar."""
HATCH = "////"


def fading_figure(history, shares):
    """Draw how far each word still moves the fixed context, and how that falls with distance.

    Parameters
    ----------
    history : ModelHistory
        One run; its words get a bar each.
    shares : numpy.ndarray
        Shape [draws, tokens], from `bottleneck.traces`: the same for many draws of the weights,
        divided by that of the last token.

    Returns
    -------
    Picture
        Bars on the left, the middle half of the draws on the right; both on logarithmic scales.
    """
    _, moves = context_sensitivity(history.earlier)
    figure = Figure(figsize=(SIZE[0] / style.DPI, SIZE[1] / style.DPI), dpi=2 * style.DPI)
    FigureCanvasAgg(figure)
    figure.set_facecolor(style.PAPER)
    draw_moves(figure.add_axes((0.13, 0.15, 0.31, 0.72)), history.tokens, moves)
    draw_fading(figure.add_axes((0.60, 0.15, 0.37, 0.72)), shares)
    return Picture(figure, f"{_moves_sentence(history.tokens, moves)} {_fading_sentence(shares)}")


def draw_moves(axes, tokens, moves):
    """Draw one bar for each word.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Any axes.
    tokens : sequence of str
        The words.
    moves : numpy.ndarray
        Shape [tokens], positive.

    Returns
    -------
    matplotlib.container.BarContainer
        A bar for each word, the first word uppermost, as long as the word's move.
    """
    least = 10.0 ** np.floor(np.log10(moves.min()) - 0.3)
    places = np.arange(len(moves))
    bars = axes.barh(places, moves, color=style.BAR, edgecolor=style.INK, linewidth=0.8 * POINT)
    axes.set_xscale("log")
    axes.set_xlim(least, 10.0 ** np.ceil(np.log10(moves.max()) + 0.9))
    axes.set_ylim(len(moves) - 0.4, -0.6)
    axes.bar_label(
        bars, [_brief(move) for move in moves], padding=4 * POINT, size=11 * POINT, color=style.INK
    )
    names = [f"{fitted(token, LETTERS)} {i}" for i, token in enumerate(tokens)]
    axes.set_yticks(places, names, family=FONT)
    _finish(
        axes, "How far each word still moves the context", "for a unit move of the word's vector"
    )
    axes.xaxis.set_minor_locator(NullLocator())
    _plain_powers(axes.set_xticks, axes.get_xlim())
    return bars


def draw_fading(axes, shares):
    """Draw the median of many draws over the distance from the end, and their middle half.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Any axes.
    shares : numpy.ndarray
        Shape [draws, tokens]; the last column is 1.

    Returns
    -------
    tuple
        The line of medians and the band between the quartiles.
    """
    low, middle, high = np.quantile(shares[:, ::-1], (0.25, 0.5, 0.75), axis=0)
    later = np.arange(shares.shape[1])
    band = axes.fill_between(
        later, low, high, facecolor=style.PAPER, edgecolor=style.SOFT_INK, hatch=HATCH, linewidth=0
    )
    (line,) = axes.plot(later, middle, "o-", color=style.INK, markersize=3, linewidth=1.4)
    axes.set_xlim(-1, len(later))
    axes.set_yscale("log")
    axes.set_ylim(low.min() / 3, 3)
    title = f"Share of the last word's move: {len(shares)} draws"
    _finish(axes, title, "words that follow (line: median; hatched: middle half)")
    axes.yaxis.set_minor_locator(NullLocator())
    _plain_powers(axes.set_yticks, axes.get_ylim())
    return line, band


def cost_table(costs):
    """Show what each model does and keeps, for several lengths.

    Parameters
    ----------
    costs : sequence of Cost
        From `bottleneck.costs`.

    Returns
    -------
    Page
        A row for each model and length.
    """
    columns = ("model", "words", "pairs scored", "steps in a row", "numbers kept")
    heads = "".join(
        f'<th scope="col" style="{tables.HEADER};text-align:{"right" if position else "left"}">'
        f"{name}</th>"
        for position, name in enumerate(columns)
    )
    rows, before = [], None
    for cost in costs:
        line, before = style.INK if cost.name != before else style.RULE, cost.name
        name = cost.name.replace("-", " ")
        cells = (name, cost.tokens, cost.pairs, cost.waiting, cost.kept)
        rows.append("<tr>" + "".join(_cell(cell, line) for cell in cells) + "</tr>")
    caption = (
        "<b>What each model does and keeps</b>"
        "<div>the decoders take as many steps as there are words</div>"
        "<div>steps in a row: each waits for the one before</div>"
        "<div>numbers kept: what a decoder step, or a query, can read of the sentence</div>"
    )
    table = (
        f'<table style="{tables.TABLE};border-collapse:collapse"><caption style="{tables.CAPTION}">'
        f"{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
    html = f'<div style="{SHEET}">{table}</div>'
    return Page(html, " ".join(_cost_sentence(cost) for cost in costs))


def _cell(content, line):
    side = "left" if isinstance(content, str) else "right"
    return (
        f'<td style="padding:3px 10px;text-align:{side};border-top:1px solid {line};'
        f'background:{style.PAPER};color:{style.INK}">{content}</td>'
    )


def _cost_sentence(cost):
    name = cost.name.replace("-", " ")
    return (
        f"{name}, {cost.tokens} words: {cost.pairs} pairs scored, steps in a row: {cost.waiting}, "
        f"{cost.kept} numbers kept."
    )


def _finish(axes, title, below):
    axes.set_title(title, size=13 * POINT, weight="bold", color=style.INK, loc="left")
    axes.set_xlabel(below, size=11 * POINT, color=style.INK)
    axes.tick_params(labelsize=11 * POINT, colors=style.INK, length=3)
    axes.spines[["top", "right"]].set_visible(False)


def _plain_powers(set_ticks, limits):
    """Ticks at powers of ten, five at most, printed without raised digits."""
    low, high = np.log10(limits)
    exponents = np.arange(np.ceil(low), np.floor(high) + 1)
    exponents = exponents[:: -(-len(exponents) // 5)]
    set_ticks(10.0**exponents, [_brief(10.0**exponent) for exponent in exponents])


def _brief(number):
    """Three digits; of a number below 0.0001, one and its power of ten."""
    if number >= 1e-4:
        return f"{number:.3g}"
    return numbers.signed(f"{number:.0e}".replace("e-0", "e-"))


def _moves_sentence(tokens, moves):
    parts = [f"{token} by {numbers.fixed(move)}" for token, move in zip(tokens, moves, strict=True)]
    return f"A unit move of each word moves the context at most so far: {', '.join(parts)}."


def _fading_sentence(shares):
    first = np.median(shares[:, 0])
    return (
        f"Over {len(shares)} draws, the first of {shares.shape[1]} words moves it "
        f"{_brief(first)} times as far as the last, in the median."
    )
