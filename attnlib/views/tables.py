"""Matrices as HTML tables: selectable, readable aloud, crisp at any zoom.

Untrusted notebooks keep inline styles, captions and header scopes, and drop style sheets, ids and
aria attributes; so that is all that is used here, and every cue stands in the caption as a word.
"""

from html import escape

import numpy as np

from attnlib.views import numbers, style, token_names
from attnlib.views.token_words import html

TABLE = (
    f"border-collapse:separate;border-spacing:3px;display:inline-table;margin:0 18px 12px 0;"
    f"vertical-align:top;background:{style.PAPER};color:{style.INK};font-size:14px"
)
CAPTION = f"caption-side:top;text-align:left;color:{style.INK};padding:2px 0"
HEADER = f"font-weight:normal;color:{style.SOFT_INK};background:{style.PAPER};padding:2px 6px"
CELL = "font-family:monospace;text-align:right;padding:3px 8px"
"""Inline styles; explicit paper and ink, so that a dark page never hides the text."""
ROW = "white-space:nowrap;line-height:20px"
"""So that a row is one line high whatever stands in it."""

SHAPED = {
    "query": "[B, T, d_k]",
    "key": "[B, T, d_k]",
    "value": "[B, T, d_v]",
    "raw_scores": "[B, T, T]",
    "weights": "[B, T, T]",
    "output": "[B, T, d_v]",
}
"""array -> its axes: B batch items, T tokens, d_k and d_v features."""


def matrix(
    title,
    entries,
    role,
    rows,
    columns,
    note="",
    digits=6,
    marks=None,
    totals=None,
    total="sum",
    second=None,
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
    second : str, optional
        The caption's second line, in place of the border's cue: for a table of no role.

    Returns
    -------
    str
        HTML; titles, notes and labels are escaped, and labels are no mathematics either.
    """
    heads = "".join(
        f'<th scope="col" style="{HEADER};text-align:right">{html(column)}</th>'
        for column in (columns if totals is None else (*columns, total))
    )
    body = "".join(
        f'<tr><th scope="row" style="{HEADER}">{html(row)}</th>'
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
    line = style.ROLES[role].cue if second is None else second
    small += f'<div style="color:{style.SOFT_INK}">{escape(line)}</div>'
    return (
        f'<table style="{TABLE}"><caption style="{CAPTION}"><b>{escape(title)}</b>{small}</caption>'
        f'<thead><tr><td style="{HEADER}"></td>{heads}</tr></thead><tbody>{body}</tbody></table>'
    )


def below(role):
    """The line under a cell that a role asks for beside its border, as inline style."""
    return f";border-bottom:4px double {style.INK}" if role == "probability" else ""


def shapes(shapes, faults=None):
    """Show the shapes of a head's arrays as a table, an array a row and an axis a column.

    Parameters
    ----------
    shapes : dict of str to tuple of int
        Three axes each, by the names in `SHAPED`; an array that is missing is shown as refused.
        The table has the same rows, as high, whatever is missing.
    faults : dict of tuple to str, optional
        (array, axis) -> what is wrong there: the axis is framed, and the words stand beside it.

    Returns
    -------
    str
        HTML.
    """
    faults = faults or {}
    rows = "".join(_shape_row(name, shapes.get(name), faults) for name in SHAPED)
    sides = {"axes": "left", "remark": "left"}
    heads = "".join(
        f'<th scope="col" style="{HEADER};{ROW};text-align:{sides.get(head, "right")}">{head}</th>'
        for head in ("axes", "batch", "tokens", "last", "remark")
    )
    return (
        f'<table style="{TABLE}"><caption style="{CAPTION}"><b>Shapes</b></caption><thead><tr>'
        f'<td style="{HEADER}"></td>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _shape_row(name, shape, faults):
    marks = {axis: words for (array, axis), words in faults.items() if array == name}
    cells = "".join(
        f'<td style="{CELL};{ROW};border:{style.ROLES["plain"].css};background:{style.PAPER};'
        f"color:{style.INK}"
        f'{_outline(style.CHOSEN_MARK if axis in marks else "")}">{length}</td>'
        for axis, length in enumerate(shape or ["\N{EN DASH}"] * 3)
    )
    note = "refused" if shape is None else "; ".join(marks.values())
    words = f"{HEADER};{ROW};text-align:left;font-size:13px"
    return (
        f'<tr><th scope="row" style="{words}">{escape(name.replace("_", " "))}</th>'
        f'<td style="{words}">{SHAPED[name]}</td>{cells}'
        f'<td style="{words};min-width:118px;color:{style.INK}">{escape(note)}</td>'
        "</tr>"
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
            token_names.all_named(place.row_letter, place.rows, layout.labels),
            token_names.all_named(place.column_letter, place.columns, layout.labels),
            place.note,
            digits,
            marks={cell[1:]: mark for cell, mark in marks.items() if cell[0] == place.name},
        )
        for place in layout.places
    )


def _cell(entry, role, digits, mark=""):
    number = numbers.signed(numbers.fixed(entry, digits))
    return (
        f'<td style="{CELL};border:{style.ROLES[role].css}{below(role)};background:{style.PAPER};'
        f'color:{style.INK}{_outline(mark)}">{number}</td>'
    )


def _outline(mark):
    """A line round a cell that takes no room, so that nothing moves when it comes or goes."""
    return f";outline:{mark};outline-offset:1px" if mark else ""
