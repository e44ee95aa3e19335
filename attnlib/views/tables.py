"""Matrices as HTML tables: selectable, readable aloud, crisp at any zoom.

Untrusted notebooks keep inline styles, captions and header scopes, and drop style sheets, ids and
aria attributes; so that is all that is used here, and every cue stands in the caption as a word.
"""

from html import escape

import numpy as np

from attnlib.views import numbers, style

TABLE = (
    f"border-collapse:separate;border-spacing:3px;display:inline-table;margin:0 18px 12px 0;"
    f"vertical-align:top;background:{style.PAPER};color:{style.INK};font-size:14px"
)
CAPTION = f"caption-side:top;text-align:left;color:{style.INK};padding:2px 0"
HEADER = f"font-weight:normal;color:{style.SOFT_INK};background:{style.PAPER};padding:2px 6px"
CELL = "font-family:monospace;text-align:right;padding:3px 8px"
"""Inline styles; explicit paper and ink, so that a dark page never hides the text."""


def matrix(
    title, entries, role, rows, columns, note="", digits=6, marks=None, totals=None, total="sum"
):
    """Show one matrix as a captioned table.

    Parameters
    ----------
    title : str
        The caption, such as ``"Scores"``.
    entries : numpy.ndarray
        Shape [rows, columns].
    role : str
        One of `style.ROLES`: it chooses the border, and its cue joins the caption.
    rows, columns : sequence of str
        Header of each row and column.
    note : str, optional
        More words for the caption, before the cue.
    digits : int, default 6
        Decimals of each number.
    marks : dict of tuple to str, optional
        (row, column) -> a line round this cell, as CSS.
    totals : sequence of float, optional
        One more number for each row, in a plain last column.
    total : str, default "sum"
        The header of that column.

    Returns
    -------
    str
        HTML; titles, notes and labels are escaped.
    """
    heads = "".join(
        f'<th scope="col" style="{HEADER};text-align:right">{escape(column)}</th>'
        for column in (columns if totals is None else (*columns, total))
    )
    body = "".join(
        f'<tr><th scope="row" style="{HEADER}">{escape(row)}</th>'
        + "".join(
            _cell(entry, role, digits, (marks or {}).get((position, column), ""))
            for column, entry in enumerate(line)
        )
        + ("" if totals is None else _cell(totals[position], "plain", digits))
        + "</tr>"
        for position, (row, line) in enumerate(zip(rows, np.asarray(entries), strict=True))
    )
    small = f' <span style="color:{style.SOFT_INK}">{escape(note)}</span>' if note else ""
    # On a line of its own, so that tables of different roles that stand in a row stay level.
    small += f'<div style="color:{style.SOFT_INK}">{style.ROLES[role].cue}</div>'
    return (
        f'<table style="{TABLE}"><caption style="{CAPTION}"><b>{escape(title)}</b>{small}</caption>'
        f'<thead><tr><td style="{HEADER}"></td>{heads}</tr></thead><tbody>{body}</tbody></table>'
    )


def below(role):
    """The line under a cell that a role asks for beside its border, as inline style."""
    return f";border-bottom:4px double {style.INK}" if role == "probability" else ""


def shapes(shapes):
    """Show shapes as a table, an array a row and an axis a column.

    Parameters
    ----------
    shapes : dict of str to tuple of int
        Three axes each.

    Returns
    -------
    str
        HTML.
    """
    rows = "".join(
        f'<tr><th scope="row" style="{HEADER}">{escape(name.replace("_", " "))}</th>'
        + "".join(
            f'<td style="{CELL};border:{style.ROLES["plain"].css};color:{style.INK}">{axis}</td>'
            for axis in shape
        )
        + "</tr>"
        for name, shape in shapes.items()
    )
    heads = "".join(
        f'<th scope="col" style="{HEADER};text-align:right">{axis}</th>'
        for axis in ("batch", "tokens", "width or keys")
    )
    return (
        f'<table style="{TABLE}"><caption style="{CAPTION}"><b>Shapes</b></caption><thead><tr>'
        f'<td style="{HEADER}"></td>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    )


def of_layout(layout, shown, chosen=None, sources=(), digits=6):
    """Show every grid of a picture as a table, in the picture's order.

    Parameters
    ----------
    layout : Layout
        The grids.
    shown : dict of str to numpy.ndarray
        From `layout.quantities`.
    chosen : tuple, optional
        Name, row and column of a cell to frame with a solid line.
    sources : iterable of tuple, optional
        Cells to frame with a dashed line.
    digits : int, default 6
        Decimals of each number.

    Returns
    -------
    str
        HTML.
    """
    marks = {tuple(source): style.SOURCE_MARK for source in sources}
    marks |= {tuple(chosen): style.CHOSEN_MARK} if chosen else {}
    return "".join(
        matrix(
            place.title,
            shown[place.name],
            place.role,
            numbers.labels(place.row_letter, place.rows),
            [numbers.label(place.column_letter, column) for column in range(place.columns)],
            place.note,
            digits,
            marks={cell[1:]: mark for cell, mark in marks.items() if cell[0] == place.name},
        )
        for place in layout.places
    )


def _cell(entry, role, digits, mark=""):
    number = numbers.signed(numbers.fixed(entry, digits))
    line = f";outline:{mark};outline-offset:1px" if mark else ""
    return (
        f'<td style="{CELL};border:{style.ROLES[role].css}{below(role)};background:{style.PAPER};'
        f'color:{style.INK}{line}">{number}</td>'
    )
