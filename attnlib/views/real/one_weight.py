"""How a query's scores become its weights: a key a row, from the raw score to the share."""

from attnlib.views import equations, numbers, style, tables
from attnlib.views.shape_page import SHEET
from attnlib.views.showing import Page
from attnlib.views.token_words import html, label, spoken

COLUMNS = ("raw score", "scaled score s", "exp(s)", "weight")
CELL = f"{tables.CELL};border:{style.ROLES['plain'].css};color:{style.INK};background:{style.PAPER}"
NAME = f"{tables.HEADER};color:{style.INK};text-align:left;white-space:nowrap"
BAR = 120
"""Pixels of the bar of a key that has all the weight."""


def weight_page(one):
    """Show how one weight comes from its query's scores over all keys.

    Parameters
    ----------
    one : OneWeight
        From `one_weight.follow`.

    Returns
    -------
    Page
        A row for each key, the followed one framed, then the sums, then the one weight as an
        equation.
    """
    heads = "".join(
        f'<th scope="col" style="{tables.HEADER};text-align:right">{name}</th>' for name in COLUMNS
    )
    columns = zip(one.raw_scores, one.scaled_scores, one.powers, one.weights, strict=True)
    rows = "".join(_row(one, key, entries) for key, entries in enumerate(columns))
    reader, read = (_named(one, place) for place in (one.query, one.key))
    caption = (
        f"<b>Layer {one.layer}, head {one.head}: the weights of {reader}</b>"
        "<div>a key a row; the followed key has a frame; the bar is the weight once more</div>"
    )
    page = (
        f'<div style="{SHEET}"><table style="{tables.TABLE};border-spacing:2px">'
        f'<caption style="{tables.CAPTION}">{caption}</caption><thead><tr>'
        f'<td style="{tables.HEADER}"></td>{heads}<td style="{tables.HEADER}"></td></tr></thead>'
        f"<tbody>{rows}{_sums(one)}</tbody></table>"
        f"<div>{_sentence(one, read)}</div></div>"
    )
    return Page(page, _description(one))


def _row(one, key, entries):
    frame = f";outline:{style.CHOSEN_MARK};outline-offset:-2px" if key == one.key else ""
    cells = "".join(
        f'<td style="{CELL}{frame}">{_printed(entry, digits)}</td>'
        for entry, digits in zip(entries, (3, 3, 3, 6), strict=True)
    )
    wide = round(BAR * one.weights[key])
    bar = (
        f'<td style="{tables.HEADER};text-align:left;min-width:{BAR}px">'
        f'<span style="display:inline-block;width:{wide}px;height:10px;background:{style.INK}">'
        "</span></td>"
    )
    return f'<tr><th scope="row" style="{NAME}">{_named(one, key)}</th>{cells}{bar}</tr>'


def _named(one, place):
    return f"<bdi>{html(label(one.tokens[place], place))}</bdi>"


def _sums(one):
    blank = f'<td style="{tables.HEADER}"></td>'
    cells = "".join(
        f'<td style="{CELL};font-weight:bold">{_printed(entry, digits)}</td>'
        for entry, digits in ((one.total, 3), (one.weights.sum(), 6))
    )
    return f'<tr><th scope="row" style="{NAME}">sum</th>{blank}{blank}{cells}{blank}</tr>'


def _sentence(one, name):
    power = _printed(one.powers[one.key], 3)
    return (
        f"Weight of {name}: exp({_printed(one.scaled_scores[one.key], 3)}) ÷ "
        f"{_printed(one.total, 3)} = {power} ÷ {_printed(one.total, 3)} = "
        f"{equations.printed(one.weights[one.key])}"
    )


def _printed(number, digits):
    return numbers.signed(numbers.fixed(number, digits))


def _description(one):
    query, key = (spoken(one.tokens[place], place) for place in (one.query, one.key))
    width = len(one.products)
    return (
        f"Layer {one.layer}, head {one.head}: {query} against {len(one.tokens)} keys. For {key}: "
        f"raw score {_printed(one.raw_scores[one.key], 3)}, divided by √{width}: "
        f"{_printed(one.scaled_scores[one.key], 3)}. {_sentence(one, key)}."
    )
