"""One query's account: a column for each key, a row for each stage, and the sums over the keys.

A cell holds a number and, above it, the equation that it comes from.
"""

from dataclasses import dataclass
from html import escape

from attnlib.views import equations, style, tables

WRITTEN = f"max-width:190px;margin-left:auto;font-size:11.5px;color:{style.SOFT_INK}"
STAGE = f"{tables.HEADER};text-align:left;min-width:96px;max-width:150px"
CELL = f"{tables.CELL};background:{style.PAPER};color:{style.INK};vertical-align:bottom"


@dataclass(frozen=True)
class Entry:
    """A number of the account.

    Attributes
    ----------
    number : float or None
        What is printed with six decimals; None where only the equation stands.
    role : str
        One of `style.ROLES`; a probability gets a bar, as long as its share of the cell's width.
    written : str
        The equation that the number comes from, filled in; may be empty.
    """

    number: float | None
    role: str = "plain"
    written: str = ""


def ledger(title, note, columns, lines):
    """Show one account as a captioned table.

    Parameters
    ----------
    title, note : str
        The caption, and more words for it.
    columns : sequence of str
        The header of each column.
    lines : sequence of (str, sequence of Entry or None)
        A stage's header and its entries; None leaves a cell empty.

    Returns
    -------
    str
        HTML; title, note, headers and equations are escaped.
    """
    heads = "".join(
        f'<th scope="col" style="{tables.HEADER};text-align:right">{escape(column)}</th>'
        for column in columns
    )
    body = "".join(
        f'<tr><th scope="row" style="{STAGE}">{escape(stage)}</th>'
        f"{''.join(map(_cell, entries))}</tr>"
        for stage, entries in lines
    )
    return (
        f'<table style="{tables.TABLE}"><caption style="{tables.CAPTION}"><b>{escape(title)}</b>'
        f' <span style="color:{style.SOFT_INK}">{escape(note)}</span></caption>'
        f'<thead><tr><td style="{tables.HEADER}"></td>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _cell(entry):
    if entry is None:
        return f'<td style="{CELL};border:0"></td>'
    below = tables.below(entry.role)
    equals = "\N{NO-BREAK SPACE}=" if entry.written and entry.number is not None else ""
    written = f'<div style="{WRITTEN}">{escape(entry.written)}{equals}</div>'
    number = "" if entry.number is None else f"<b>{equations.printed(entry.number)}</b>"
    return (
        f'<td style="{CELL};border:{style.ROLES[entry.role].css}{below}">'
        f"{written if entry.written else ''}{number}{_bar(entry)}</td>"
    )


def _bar(entry):
    if entry.role != "probability":
        return ""
    share = f"width:{100 * entry.number:.1f}%;height:6px;background:{style.INK}"
    return f'<div style="background:{style.TINT};margin-top:3px"><div style="{share}"></div></div>'
